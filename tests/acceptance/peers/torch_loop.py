"""A training loop of PyTorch on synthetic images, as its ImageNet example has it, with its steps and phases named by NVTX ranges: a
program for `roof profile` to record. Prints one line of JSON."""

import argparse
import json
import sys
import time
from pathlib import Path

import torch
from torch.cuda import nvtx

sys.path.append(str(Path(__file__).resolve().parents[3] / "tools/peers"))
from torch_step import captured  # noqa: E402


def model_of(name):
    try:
        import torchvision
        return getattr(torchvision.models, name)()
    except ImportError:
        layers = [torch.nn.Conv2d(3, 64, 7, 2, 3), torch.nn.BatchNorm2d(64), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1)]
        for _ in range(4):
            layers += [torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.BatchNorm2d(64), torch.nn.ReLU()]
        return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 1000))


def ranged(name, function):
    nvtx.range_push(name)
    try:
        return function()
    finally:
        nvtx.range_pop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after these, whatever steps are left")
    parser.add_argument("--graph", action="store_true", help="capture a step as a CUDA graph, and replay it")
    options = parser.parse_args()
    model = model_of(options.model).cuda()
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    images, labels = (torch.empty(options.batch, 3, 224, 224, device="cuda"), torch.zeros(options.batch, dtype=torch.int64, device="cuda"))

    def load():
        images.copy_(torch.randn(images.shape))
        labels.copy_(torch.randint(1000, labels.shape))

    def train():
        optimizer.zero_grad()
        loss = ranged("forward", lambda: criterion(model(images), labels))
        ranged("backward", loss.backward)
        ranged("optimizer", optimizer.step)
        return loss

    replayed = captured(torch, train) if options.graph else None
    seconds = []
    begin_of_all = time.perf_counter()
    for step in range(options.steps):
        begin = time.perf_counter()
        nvtx.range_push(f"step {step}")
        ranged("data", load)
        loss = replayed() if replayed else train()
        torch.cuda.synchronize()
        nvtx.range_pop()
        seconds.append(time.perf_counter() - begin)
        if time.perf_counter() - begin_of_all > options.seconds:
            break
    print(json.dumps({"torch": torch.__version__, "model": options.model, "batch": options.batch, "seconds": seconds, "loss": loss.item()}))


if __name__ == "__main__":
    main()

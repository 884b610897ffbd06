#!/usr/bin/env python3
"""Training steps of a torchvision network under PyTorch on the CPU, timed on request.

A step is what `roof run` times: gradients cleared, forward, mean cross-entropy, backward, SGD with momentum 0.9 and weight
decay 1e-4 on every parameter, on one resident batch of random images of 3x224x224, dropout on. bf16 is PyTorch's own
mixed precision: fp32 weights and updates, convolutions and matrix products in bf16 (torch.autocast).

It speaks in lines of JSON. The first, when it is ready, says what it is; then each line it reads is a number of steps, and
each line it writes is {"seconds": [...]}, one number per step. Between requests it waits and takes no processor time. With
--steps it answers once and ends:

    torch_step.py --model resnet50 --batch 16 --steps 10
    torch_step.py --model vgg16 --batch 8 --precision bf16 --layout contiguous --compile --steps 5

Needs PyTorch and torchvision: pip install torch torchvision --index-url https://download.pytorch.org/whl/cpu
"""

import argparse
import contextlib
import inspect
import json
import re
import resource
import sys
import time

REMEDY = ("needs PyTorch and torchvision: pip install torch torchvision --index-url "
          "https://download.pytorch.org/whl/cpu (on Debian: apt-get install python3-torch python3-torchvision)")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="as torchvision names it: alexnet, vgg16_bn, resnet50, ...")
    parser.add_argument("--batch", type=int, required=True, help="images per step")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--layout", choices=["channels_last", "contiguous"], default="channels_last",
                        help="of images and weights in memory [channels_last]")
    parser.add_argument("--compile", action="store_true", help="torch.compile the network (PyTorch 2)")
    parser.add_argument("--threads", type=int, help="[PyTorch's choice]")
    parser.add_argument("--warmup", type=int, default=2, help="steps before it is ready [2]")
    parser.add_argument("--steps", type=int, help="time this many steps once, and end")
    return parser.parse_args(arguments)


def import_torchvision(torch):
    """torchvision, also where its compiled operators do not load, as beside another build of PyTorch. No network here uses
    them, but its import says properties of some, and fails where they are not declared: so they are, by name alone."""
    declared = None
    while True:
        try:
            import torchvision  # pylint: disable=import-outside-toplevel
            torchvision.declared = declared  # declarations end with this object
            return torchvision
        except RuntimeError as error:
            lacking = re.search(r"operator torchvision::(\w+) does not exist", str(error))
            if not lacking:
                raise
            for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
                del sys.modules[name]
            declared = declared or torch.library.Library("torchvision", "DEF")
            declared.define(f"{lacking[1]}(Tensor of) -> Tensor")


def optimizer_of(torch, parameters):
    """SGD in one pass over the parameters where this PyTorch has it, for it is the fastest."""
    # The rate is small so that random labels do not make numbers overflow; time does not depend on it.
    settings = {"lr": 1e-4, "momentum": 0.9, "weight_decay": 1e-4}
    if "fused" in inspect.signature(torch.optim.SGD.__init__).parameters:
        try:
            return torch.optim.SGD(parameters, fused=True, **settings), "fused"
        except RuntimeError:
            pass
    return torch.optim.SGD(parameters, **settings), "plain"


def make_step(torch, torchvision, options):
    """A function that does one step and returns its loss, and the name of the optimizer's kind."""
    torch.manual_seed(0)
    network = getattr(torchvision.models, options.model)(num_classes=1000)
    layout = torch.channels_last if options.layout == "channels_last" else torch.contiguous_format
    network = network.to(memory_format=layout).train()
    images = torch.randn(options.batch, 3, 224, 224).to(memory_format=layout)
    labels = torch.randint(0, 1000, (options.batch,))
    measure = torch.nn.CrossEntropyLoss()
    optimizer, kind = optimizer_of(torch, list(network.parameters()))
    run = torch.compile(network) if options.compile else network

    def mixed():
        if options.precision == "fp32":
            return contextlib.nullcontext()
        return torch.autocast("cpu", dtype=torch.bfloat16)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with mixed():
            loss = measure(run(images).float(), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step, kind


def timed(step, count):
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - begin)
    return {"seconds": seconds,
            "peak_memory_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


def say(answer):
    print(json.dumps(answer), flush=True)


def main(arguments):
    options = parse_arguments(arguments)
    try:
        import torch  # pylint: disable=import-outside-toplevel
        torchvision = import_torchvision(torch)
    except ImportError as error:
        print(f"torch_step: {error}; {REMEDY}", file=sys.stderr)
        return 2
    if options.compile and not hasattr(torch, "compile"):
        print(f"torch_step: --compile needs PyTorch 2, this is {torch.__version__}", file=sys.stderr)
        return 2
    if options.threads:
        torch.set_num_threads(options.threads)
    step, kind = make_step(torch, torchvision, options)
    losses = [step() for _ in range(max(1, options.warmup))]
    say({"ready": True, "torch": torch.__version__, "torchvision": torchvision.__version__,
         "threads": torch.get_num_threads(), "layout": options.layout, "compiled": options.compile, "sgd": kind,
         "loss": losses[0]})
    if options.steps:
        say(timed(step, options.steps))
        return 0
    for line in sys.stdin:
        say(timed(step, int(line)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Losses of PyTorch training a torchvision network on a folder of images: {"losses": [...]} on standard output.

As `roof run --data`: class/image.jpg, a random crop of 0.08 to 1 of the area at 224x224, flipped every other time, scaled as
ImageNet's images are; SGD with momentum 0.9 and weight decay 1e-4 from random parameters, 1000 outputs.

    torch_curve.py --model resnet18 --batch 16 --data photos --steps 300 --lr 0.01
"""

import argparse
import itertools
import json
import sys

from torch_step import imported


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--data", required=True, help="a folder of class/image.jpg")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--threads", type=int)
    return parser.parse_args(arguments)


def batches(torch, torchvision, options):
    """Yields batches endlessly, in a new order each epoch."""
    transforms = torchvision.transforms
    cut = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
                              transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    images = torchvision.datasets.ImageFolder(options.data, cut)
    loader = torch.utils.data.DataLoader(images, options.batch, shuffle=True, drop_last=True)
    return itertools.chain.from_iterable(itertools.repeat(loader))


def losses_of(torch, torchvision, options):
    torch.manual_seed(0)
    network = getattr(torchvision.models, options.model)(num_classes=1000).train()
    optimizer = torch.optim.SGD(network.parameters(), lr=options.lr, momentum=0.9, weight_decay=1e-4)
    measure = torch.nn.CrossEntropyLoss()
    for images, labels in itertools.islice(batches(torch, torchvision, options), options.steps):
        optimizer.zero_grad(set_to_none=True)
        loss = measure(network(images), labels)
        loss.backward()
        optimizer.step()
        yield loss.item()


def main(arguments):
    options = parse_arguments(arguments)
    libraries = imported("torch_curve")
    if libraries is None:
        return 2
    torch, torchvision = libraries
    if options.threads:
        torch.set_num_threads(options.threads)
    print(json.dumps({"losses": list(losses_of(torch, torchvision, options))}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

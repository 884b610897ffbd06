#!/usr/bin/env python3
"""Reference values of training from PyTorch in double precision, for tests/engine/data: CSV on standard output.

Batch 2 of 3x224x224; parameters, images and labels by the hashed recipe (workloads/model/hashed.hpp), no dropout or stochastic
depth, batch norm in training mode, mean cross-entropy, SGD with learning rate 0.01, momentum 0.9, weight decay 1e-4 on every parameter. Of the
gradients, those of the first and of the last weight: the whole way back lies between the two.

    torch_parity.py vgg11:5 resnet34:5 resnet101:1 > parity_family.csv        a model and its number of steps
    torch_parity.py squeezenet1_1_gelu:5                                      its ReLUs are GELUs, every second by tanh
    torch_parity.py layer_norm:5 attention:5 llama:5 tokens:5 vision:5        networks of tests/engine/layers/small_networks.hpp
    torch_parity.py gpt2:5 vit_b_16:5                                         GPT-2 of 64 tokens
    torch_parity.py configs/config_qwen2.json:5 configs/config_qwen2.json/decode:1   a decoder of tests/engine/data, by transformers
    torch_parity.py attention_adamw:5                                         AdamW, learning rate 0.001, others as PyTorch has them
"""

import argparse
import collections
import csv
import math
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "tools/peers"))
from torch_published import published  # noqa: E402
from torch_step import imported, network_of  # noqa: E402
from torch_transformers import GPT2, token_network, transformer_block  # noqa: E402

BATCH, CLASSES = 2, 1000
INPUT_SEED, FIRST_PARAMETER_SEED, FIRST_PROJECTION_SEED, CACHE_SEED = 1, 100, 9000, 30000


def mix(x):
    """A 32-bit hash, computed in 64-bit numbers."""
    x = x ^ (x >> 16)
    x = (x * 0x7FEB352D) & 0xFFFFFFFF
    x = x ^ (x >> 15)
    x = (x * (0x846CA68B - 2**32)) & 0xFFFFFFFF
    return x ^ (x >> 16)


def unit(torch, seed, count):
    """u(seed, 0) to u(seed, count - 1): exact, in [-0.5, 0.5)."""
    index = mix(torch.arange(count, dtype=torch.int64))
    mixed = mix((index + seed * 0x9E3779B9) & 0xFFFFFFFF)
    return (mixed >> 8).double() / 2.0**24 - 0.5


def filled(torch, seed, shape, scale, offset):
    """The values rounded to fp32, in which every program starts."""
    return (unit(torch, seed, math.prod(shape)) * scale + offset).float().double().reshape(shape)


def norms(torch):
    return (torch.nn.BatchNorm2d, torch.nn.LayerNorm, torch.nn.RMSNorm)


EMBEDDING_DEVIATION = 0.02


def gains(torch, model, network):
    """Gains of convolutions and hidden linear layers. Networks without norms are damped."""
    if ".json" in model or any(isinstance(layer, norms(torch)) for layer in network.modules()):
        return 1.0, 1.0
    return (0.75 if model == "alexnet" else 0.85), 0.25


def scale_and_offset(torch, model, network, name, parameter):
    owner, kind = name.rsplit(".", 1)
    layer = None if ".json" in model else network.get_submodule(owner)
    if isinstance(layer, norms(torch)) or (layer is None and re.search("norm|ln_", owner)):
        return (0.5, 1.0) if kind == "weight" else (0.2, 0.0)
    if isinstance(layer, torch.nn.Embedding) or (layer is None and re.search("embed|wte|wpe", owner)):
        return 2 * math.sqrt(3) * EMBEDDING_DEVIATION, 0.0
    if kind == "bias":
        return 0.1, 0.0
    fan_in = math.prod(parameter.shape[1:])
    convolution, hidden = gains(torch, model, network)
    if parameter.dim() == 4:
        return 2 * math.sqrt(6 / fan_in) * convolution, 0.0
    if parameter.shape[0] == CLASSES:
        return 2 * math.sqrt(3 / fan_in) * 0.1, 0.0
    return 2 * math.sqrt(6 / fan_in) * hidden, 0.0


def with_gelus(torch, network):
    """Replaces the ReLUs, in the order of the modules, by GELUs, every second by the approximation by tanh."""
    relus = [(owner, name) for owner in network.modules() for name, layer in owner.named_children()
             if isinstance(layer, torch.nn.ReLU)]
    for k, (owner, name) in enumerate(relus):
        setattr(owner, name, torch.nn.GELU(approximate="tanh" if k % 2 else "none"))
    return network


def map_norm(torch, channels, eps=1e-5, kind="LayerNorm"):
    """Over the channels of each position. PyTorch's norms are over the last axis, so maps are turned for it and back."""

    class MapNorm(getattr(torch.nn, kind)):
        def forward(self, input):
            return super().forward(input.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    return MapNorm(channels, eps)


def layer_norm_network(torch, channels=32):
    """Blocks as ConvNeXt's."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, wide):
            super().__init__()
            self.layers = nn.Sequential(nn.Conv2d(wide, wide, 5, padding=2, groups=wide), map_norm(torch, wide, 1e-6),
                                        nn.Conv2d(wide, 2 * wide, 1), nn.GELU(), nn.Conv2d(2 * wide, wide, 1))

        def forward(self, x):
            return self.layers(x) + x

    return nn.Sequential(collections.OrderedDict(
        stem=nn.Conv2d(3, channels, 4, stride=4), stem_norm=map_norm(torch, channels), a=Block(channels), down_norm=map_norm(torch, channels),
        down=nn.Conv2d(channels, 2 * channels, 2, stride=2), b=Block(2 * channels), relu_norm=map_norm(torch, 2 * channels), relu=nn.ReLU(),
        pool=nn.AdaptiveAvgPool2d(1), flat=nn.Flatten(), head_norm=nn.LayerNorm(2 * channels, eps=1e-6),
        head=nn.Linear(2 * channels, CLASSES)))


def rotated(torch, x, theta=10000.0):
    """Rotary positions of [...][positions][channels], by halves as in Llama."""
    channels = x.shape[-1]
    angles = torch.outer(torch.arange(x.shape[-2], dtype=torch.float64), theta ** (-torch.arange(0, channels, 2, dtype=torch.float64) / channels))
    angles = torch.cat((angles, angles), -1)
    left, right = x.chunk(2, -1)
    return x * angles.cos().to(x) + torch.cat((-right, left), -1) * angles.sin().to(x)


def map_attention(torch, channels, heads, kv_heads, causal, turns):
    """On [batch][channels][height][width]; `turns`: with rotary positions, and without biases."""
    nn = torch.nn

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Conv2d(channels, channels // heads * (heads + 2 * kv_heads), 1, bias=not turns)
            self.project = nn.Conv2d(channels, channels, 1, bias=not turns)

        def forward(self, x):
            batch, _, height, width = x.shape
            all_heads = self.qkv(x).reshape(batch, heads + 2 * kv_heads, channels // heads, height * width).transpose(2, 3)
            q, k, v = all_heads.split((heads, kv_heads, kv_heads), 1)
            if turns:
                q, k = rotated(torch, q), rotated(torch, k)
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=turns)
            return self.project(y.transpose(2, 3).reshape(batch, channels, height, width))

    return Attention()


def attention_network(torch, kind="LayerNorm", channels=48):
    """Blocks as a vision transformer's, of which the second is causal; with RMS norms as Llama's."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, causal):
            super().__init__()
            self.norm1, self.attention, self.norm2 = map_norm(torch, channels), map_attention(torch, channels, 3, 3, causal, False), map_norm(torch, channels)
            self.layers = nn.Sequential(nn.Conv2d(channels, 2 * channels, 1), nn.GELU(), nn.Conv2d(2 * channels, channels, 1))

        def forward(self, x):
            x = self.attention(self.norm1(x)) + x
            return self.layers(self.norm2(x)) + x

    class LlamaBlock(nn.Module):
        def __init__(self, _):
            super().__init__()
            self.norm1, self.attention = map_norm(torch, channels, kind=kind), map_attention(torch, channels, 4, 2, True, True)
            self.norm2 = map_norm(torch, channels, kind=kind)
            self.gate, self.up = (nn.Conv2d(channels, 2 * channels, 1, bias=False) for _ in range(2))
            self.down = nn.Conv2d(2 * channels, channels, 1, bias=False)

        def forward(self, x):
            x = self.attention(self.norm1(x)) + x
            y = self.norm2(x)
            return self.down(nn.functional.silu(self.gate(y)) * self.up(y)) + x

    block = Block if kind == "LayerNorm" else LlamaBlock
    return nn.Sequential(collections.OrderedDict(
        stem=nn.Conv2d(3, channels, 16, stride=16), a=block(False), b=block(True), norm=map_norm(torch, channels, kind=kind),
        pool=nn.AdaptiveAvgPool2d(1), flat=nn.Flatten(), head=nn.Linear(channels, CLASSES)))


def vision_transformer(torch, patch, channels, heads, blocks):
    """torchvision's, with the class token behind the first convolution."""
    nn = torch.nn

    class Vision(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, channels, patch, stride=patch)
            self.class_token, self.positions = nn.Embedding(1, channels), nn.Embedding((224 // patch) ** 2 + 1, channels)
            all_blocks = [transformer_block(torch, channels, heads, 4, False, 1e-6, "none") for _ in range(blocks)]
            self.blocks, self.norm = nn.Sequential(*all_blocks), nn.LayerNorm(channels, 1e-6)
            self.head = nn.Linear(channels, CLASSES)

        def forward(self, x):
            x = self.stem(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.class_token.weight.expand(len(x), 1, -1), x], 1) + self.positions.weight
            return self.head(self.norm(self.blocks(x))[:, 0])

    return Vision()


VISION = {"vision": dict(patch=32, channels=48, heads=3, blocks=2), "vit_b_16": dict(patch=16, channels=768, heads=12, blocks=12)}
TOKENS = {"tokens": dict(vocabulary=1000, channels=48, heads=3, tokens=40, blocks=2, wide=2),
          "gpt2": dict(GPT2["gpt2"], tokens=64)}


def batch_of(torch, model, network):
    """Images and labels, or tokens and a label for each."""
    if model not in TOKENS and ".json" not in model:
        images = filled(torch, INPUT_SEED, (BATCH, 3, 224, 224), 2 * math.sqrt(3), 0.0)
        return images, torch.tensor([(7 + 389 * n) % CLASSES for n in range(BATCH)])
    tokens, vocabulary = (network.tokens, network.vocabulary) if ".json" in model else (TOKENS[model]["tokens"], TOKENS[model]["vocabulary"])
    numbers = mix(torch.arange(BATCH * tokens, dtype=torch.int64)) % vocabulary
    return numbers.reshape(BATCH, tokens), torch.tensor([(7 + 389 * n) % vocabulary for n in range(BATCH * tokens)])


def hashed_network(torch, torchvision, model):
    if model == "layer_norm":
        network = layer_norm_network(torch)
    elif model == "attention":
        network = attention_network(torch)
    elif model in TOKENS:
        network = token_network(torch, **TOKENS[model])
    elif ".json" in model:
        network = published(torch, model, lambda k, shape: filled(torch, CACHE_SEED + k, shape, 2 * math.sqrt(3), 0.0))
    elif model in VISION:
        network = vision_transformer(torch, **VISION[model])
    elif model == "llama":
        network = attention_network(torch, "RMSNorm")
    else:
        network = network_of(torchvision, model.removesuffix("_gelu"), CLASSES)
    network = network.double().train()
    if model.endswith("_gelu"):
        with_gelus(torch, network)
    for layer in network.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0
    with torch.no_grad():
        for k, (name, parameter) in enumerate(network.named_parameters()):
            scale, offset = scale_and_offset(torch, model, network, name, parameter)
            parameter.copy_(filled(torch, FIRST_PARAMETER_SEED + k, parameter.shape, scale, offset))
    return network


def gradient_rows(torch, network):
    parameters = list(network.named_parameters())
    weights = [k for k, (_, parameter) in enumerate(parameters) if parameter.dim() > 1]
    for k in (weights[0], weights[-1]):
        name, gradient = parameters[k][0], parameters[k][1].grad.double().flatten()
        yield "grad_l2", name, gradient.norm().item()
        yield "grad_proj", name, (gradient * 2 * unit(torch, FIRST_PROJECTION_SEED + k, gradient.numel())).sum().item()


def reference(torch, torchvision, model, steps, variant):
    """Yields (quantity, name, value)."""
    network = hashed_network(torch, torchvision, model.removesuffix("_adamw"))
    images, labels = batch_of(torch, model, network)
    if variant != "fp64":
        layout = torch.channels_last if variant == "channels_last" else torch.contiguous_format
        network = network.float().to(memory_format=layout)
        images = images if model in TOKENS else images.float().to(memory_format=layout)
    parameters = [parameter for _, parameter in network.named_parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=0.001) if model.endswith("_adamw") else torch.optim.SGD(
        parameters, lr=0.01, momentum=0.9, weight_decay=1e-4)
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        yield "loss", str(step), loss.item()
        if step > 0 and step + 1 == steps:
            return
        loss.backward()
        if step == 0:
            yield from gradient_rows(torch, network)
        optimizer.step()


def model_and_steps(text):
    found = re.fullmatch(r"([\w./]+):([1-9]\d*)", text)
    if not found:
        raise argparse.ArgumentTypeError("model:steps, such as resnet34:5")
    return found[1], int(found[2])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=model_and_steps, metavar="MODEL:STEPS")
    parser.add_argument("--variant", choices=["fp64", "fp32", "channels_last", "no_onednn"], default="fp64",
                        help="fp32 ones show how far legitimate implementations stand apart [fp64]")
    options = parser.parse_args(arguments)
    libraries = imported("torch_parity")
    if libraries is None:
        return 2
    torch, torchvision = libraries
    torch.backends.mkldnn.enabled = options.variant != "no_onednn"
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["model", "quantity", "name", "value"])
    for model, steps in options.models:
        for row in reference(torch, torchvision, model, steps, options.variant):
            table.writerow([re.sub(r"(.*/)?(\w+)\.json", r"\2", model).replace("/", "_"), *row[:2], repr(row[2])])
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

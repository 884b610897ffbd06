"""The least bytes that cross into the memory nearer than each level (docs/method.md, section 5, the hierarchical model)."""

import math

REGISTERS = {"avx512": 32 * 64, "avx2": 16 * 32, "sse": 16 * 16}  # bytes of the vector registers of a core
SIZES = {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2}
# size and stride of the windows of the convolutions that are not 3 x 3 with stride 1, by model and layer: the networks as published
WINDOWS = {"alexnet": {"features.0": (11, 4), "features.3": (5, 1)}} | {
    name: {"conv1": (7, 2)} | {f"layer{n}.0.conv1": (3, 2) for n in (2, 3, 4)} | {f"layer{n}.0.downsample.0": (1, 2) for n in (2, 3, 4)}
    for name in ("resnet18", "resnet34")}
WINDOWS["resnet50"] = {"conv1": (7, 2)} | {f"layer{n}.{m}.conv{k}": (1, 1) for n in (1, 2, 3, 4) for m in range(6) for k in (1, 3)} | {
    f"layer{n}.0.conv2": (3, 2) for n in (2, 3, 4)} | {"layer1.0.downsample.0": (1, 1)} | {f"layer{n}.0.downsample.0": (1, 2) for n in (2, 3, 4)}
NETWORKS = (*WINDOWS, "vgg16")


def registers(implementation):
    found = [size for name, size in REGISTERS.items() if name in implementation]
    return found[0] if found else None


def readers(step, part):
    """Windows that read an input value."""
    if part.kind == "linear":
        return 1
    size, stride = WINDOWS.get(step.row["model"], {}).get(part.name.split("+")[0], (3, 1))
    return math.ceil(size / stride) ** 2


def part_crossing(step, part):
    levels = step.roofs.levels
    if not part.low:
        return None
    as_counted = [(part.low, part.high(level.nearer)) for level in levels]
    if part.kind not in ("convolution", "linear"):
        return as_counted
    if step.row["model"] not in NETWORKS:
        return None  # its windows are not known
    windows, nearest = readers(step, part), registers(part.implementation)
    if part.phase == "update" and nearest is not None:
        return as_counted
    if nearest is None or "winograd" in part.implementation or "fft" in part.implementation:
        return None
    size, processors, found = SIZES[step.row["precision"]], max(1, step.row.threads), []
    for level in levels:
        # The registers are each processor's own; a cache counts whole, as if shared, which is the lower bound.
        values, holders = (level.nearer / size, 1) if level.nearer else (nearest / size, processors)
        products = 2 if part.phase == "backward" else 1
        flops = part.calculated / products
        bound = size * products * (flops / math.sqrt(windows * values) - 2 * values * holders)
        high = part.high(level.nearer)
        found.append((min(max(part.low, bound), high), high))
    return found


def crossing(step, point):
    """(low, high) for each level, nearest first; None where the bytes of a part are not known."""
    if not step.roofs:
        return None
    each = [part_crossing(step, part) for part in point.parts]
    if not each or any(part is None for part in each):
        return None
    return [(sum(part[at][0] for part in each), sum(part[at][1] for part in each)) for at in range(len(step.roofs.levels))]

"""The least bytes that cross into the memory nearer than each level (docs/method.md, section 5, the hierarchical model)."""

import math

import recordings
from reading import table

REGISTERS = {"avx512": 32 * 64, "avx2": 16 * 32, "sse": 16 * 16}  # bytes of the vector registers of a core
SIZES = {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2}
# size and stride of the windows of the convolutions that are not 3 x 3 with stride 1, by model and layer: the networks as published
WINDOWS = {"alexnet": {"features.0": (11, 4), "features.3": (5, 1)}} | {
    name: {"conv1": (7, 2)} | {f"layer{n}.0.conv1": (3, 2) for n in (2, 3, 4)} | {f"layer{n}.0.downsample.0": (1, 2) for n in (2, 3, 4)}
    for name in ("resnet18", "resnet34")}
WINDOWS["resnet50"] = {"conv1": (7, 2)} | {f"layer{n}.{m}.conv{k}": (1, 1) for n in (1, 2, 3, 4) for m in range(6) for k in (1, 3)} | {
    f"layer{n}.0.conv2": (3, 2) for n in (2, 3, 4)} | {"layer1.0.downsample.0": (1, 1)} | {f"layer{n}.0.downsample.0": (1, 2) for n in (2, 3, 4)}
WINDOWS["vit_b_16"] = {"conv_proj": (16, 16)}
NETWORKS = (*WINDOWS, "vgg11", "vgg11_bn", "vgg16", "gpt2", "llama_1b")


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
    own = [part.low + part.again(level.nearer) for level in levels]
    as_counted = [(low, max(low, part.high(level.nearer))) for low, level in zip(own, levels)]
    if part.kind not in ("convolution", "linear"):
        return as_counted
    if step.row["model"] not in NETWORKS:
        return as_counted if part.again(0) else None  # its windows are not known
    windows, nearest = readers(step, part), registers(part.implementation)
    if part.phase == "update" and nearest is not None:
        return as_counted
    if nearest is None or "winograd" in part.implementation or "fft" in part.implementation:
        return as_counted if part.again(0) else None
    size, processors, found = SIZES[step.row["precision"]], max(1, step.row.threads), []
    for level, (low, high) in zip(levels, as_counted):
        # The registers are each processor's own; a cache counts whole, as if shared, which is the lower bound.
        values, holders = (level.nearer / size, 1) if level.nearer else (nearest / size, processors)
        products = 2 if part.phase == "backward" else 1
        flops = part.calculated / products
        bound = size * products * (flops / math.sqrt(windows * values) - 2 * values * holders)
        found.append((min(max(low, bound), high), high))
    return found


def counted(step):
    """{(layer, phase): {level: bytes}} of counters over a whole step, a phase or a layer; kernels alone find other contents of the caches."""
    if not hasattr(step.study, "counted_bytes"):
        sums = {}
        for record in table(step.study.folder.path / "counters.csv"):
            if record["scope"] != "kernel":
                of = sums.setdefault((record["id"], record.get("layer") or "", record.get("phase") or ""), {})
                of[record["metric"]] = (of.get(record["metric"], (0.0, ""))[0] + float(record["value"]), record["unit"])
        step.study.counted_bytes = {key: recordings.work_of(metrics)[1] for key, metrics in sums.items()}
    return step.study.counted_bytes


def with_counts(step, point, each):
    """Counted bytes in place of others; none if a level is then still unknown. `each`: (low, high, how they are known) of each level, or none."""
    name = point.name if point.scope == "layer" else ""
    phase = "" if point.scope == "step" else point.phase
    levels = counted(step).get((step.row.id, name, phase), {})
    found = [(levels[level.name], levels[level.name], "counter") if level.name in levels else of
             for level, of in zip(step.roofs.levels, each or [None] * len(step.roofs.levels))]
    return None if any(of is None for of in found) else found


def moved(step, point):
    """(low, high, how they are known) for each level, nearest first; none where they are not known."""
    if not step.roofs or not point.low:
        return None
    if point.scope == "layer":
        own = part_crossing(step, point.parts[0])
        return with_counts(step, point, own and [(low, high, "analytic") for low, high in own])
    each = [moved(step, layer) for layer in step.layers if point.scope == "step" or layer.phase == point.phase]
    sums = None
    if each and all(each):
        sums = [(sum(of[at][0] for of in each), sum(of[at][1] for of in each), "analytic" if any(of[at][2] == "analytic" for of in each) else "counter")
                for at in range(len(step.roofs.levels))]
    return with_counts(step, point, sums)


def crossing(step, point):
    """(low, high) for each level."""
    found = moved(step, point)
    return found and [(low, high) for low, high, _ in found]

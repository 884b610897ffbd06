"""What binds a step and what to do about it (docs/method.md, section 7, What binds a step, and what to do)."""

import math
import statistics
from dataclasses import dataclass

import told
from reading import number


UNEXPLAINED, WORTHWHILE, BUSY, MOST = 0.5, 0.01, 0.1, 3
OTHER_WORK = ("model", "data", "parameters", "lr", "optimizer", "tokens", "phase", "round")
AXES = ("batch", "precision", "algorithm", "threads", "placement", "pages", "graph", "deterministic", "ranks", "scaling", "communication", "bucket_mb",
        "batch_norm", *OTHER_WORK)


@dataclass
class Action:
    what: str
    seconds: float
    sense: str
    known: str


def waited(step, left):
    """What other programs took of the step, of what is left of it."""
    share, _ = busy_cost(step.row) if step.row.ranks == 1 else (None, None)
    return max(0.0, min(left, (share or 0.0) * step.step.time))


def times(step):
    """Seconds by what binds, and all of them; the levels of memory by their names."""
    compute, levels, of_nearer, unexplained = 0.0, {}, {}, 0.0
    for layer in step.layers or [step.step]:
        if layer.verdict == "compute":
            compute += layer.time
        elif layer.verdict == "bandwidth":
            levels[layer.bound] = levels.get(layer.bound, 0.0) + layer.time
            of_nearer[layer.bound] = of_nearer.get(layer.bound, 0.0) + layer.time * step.nearer_may_bind(layer)
        elif layer.verdict != "unknown":
            unexplained += layer.time
    inside = sum(layer.time for layer in step.layers or [step.step])
    exposed, wait = (float(step.row[f"{name}_median_s"] or 0) for name in ("exposed", "data"))
    left = max(0.0, step.step.time - inside - exposed)
    at_rest = waited(step, left)
    levels = {level + (" or a nearer level" if 2 * of_nearer[level] > seconds else ""): seconds for level, seconds in levels.items()}
    return {"compute": compute, "levels": levels, "unexplained": unexplained, "outside the layers": left - at_rest,
            "waiting for a processor": at_rest, "communication": exposed, "waiting for data": wait, "all": max(step.step.time, inside) + wait}


def no_roof_binds(step):
    of = times(step)
    return of["unexplained"] + of["outside the layers"] >= UNEXPLAINED * of["all"]


def has_bytes_of_others(row):
    """A step on a GPU by our own kernels of batch norms, whose bytes are not those of its operations (docs/method.md, section 5)."""
    by_kernels = any(layer["kind"] == "batch_norm" and "roof:" in layer["implementation"] for layer in row.layers)
    return row["device"].startswith("gpu") and by_kernels and "the bytes are those of the tensors that its operations read and write" not in row["description"]


def took_turns(row):
    """Ranks on one device, whose time is not one of ranks side by side (docs/parallel.md, On GPUs)."""
    return "they take turns, and this time is not one of ranks side by side" in row["remarks"]


def sense(roof_may_be_higher, bytes_may_be_more):
    return {(True, True): "about", (True, False): "at least", (False, True): "up to"}.get((roof_may_be_higher, bytes_may_be_more), "")


def differs_in(one, other):
    """The axis in which alone two rows differ, if there is one."""
    axes = [name for name in AXES if one[name] != other[name]]
    both = len(axes) == 1 and one[axes[0]] and other[axes[0]] and axes[0] not in OTHER_WORK
    return axes[0] if both and one["bench"] == other["bench"] and one["device"] == other["device"] else None


def ratio_is_above_one(slow, fast):
    """Section 8: the interval of the ratio of two rates, of five samples each at least."""
    a, b = slow.images_per_second, fast.images_per_second
    down = math.hypot(math.log(b[0] / b[1]), math.log(a[2] / a[0]))
    return b[0] / a[0] * math.exp(-down) > 1 and min(slow.step.samples, fast.step.samples) >= 5


def upper_ratio(fast, slow):
    """Section 8: the upper end of the rate of the slow one over that of the fast one."""
    a, b = fast.images_per_second, slow.images_per_second
    return b[0] / a[0] * math.exp(math.hypot(math.log(b[2] / b[0]), math.log(a[0] / a[1])))


def may_be_busy(slow, fast):
    """Whether what other programs cost the slow one may be the difference."""
    cost, known = busy_cost(slow.row)
    if known is None and is_busy(slow.row.cells):
        cost = 1  # it is not known
    return bool(cost) and upper_ratio(fast, slow) >= 1 - cost


def disturbed(row):
    """(disturbed samples, all that count or were disturbed, the reasons)."""
    found = [sample["disturbance"] for sample in row.samples if sample.get("disturbance")]
    return len(found), len(found) + sum(sample.get("used", "1") == "1" and not sample.get("disturbance") for sample in row.samples), ", ".join(sorted(set(found)))


def disturbances(row):
    count, taken, reasons = disturbed(row)
    if not count and is_busy(row.cells):
        return "the machine was busy"
    return f"{count} of {taken} samples disturbed: {reasons}" if count else f"no disturbance was recorded in {told.counted(taken, 'sample')}"


def actions(step):
    """The most worthwhile things to do, the most seconds first."""
    row, found, by_kind = step.row, [], {}
    if took_turns(row) or has_bytes_of_others(row):
        return []
    for layer in step.layers:
        if layer.bound:
            of = by_kind.setdefault(f"{layer.kind if layer.kind == layer.phase else f'{layer.kind} {layer.phase}'} at its roofs", [0.0, False, False])
            of[0] += layer.headroom
            of[1] |= step.roof_may_be_higher(layer)
            of[2] |= step.bytes_may_be_more(layer)
    found += [Action(what, seconds, sense(higher, more), "analytic") for what, (seconds, higher, more) in by_kind.items()]
    if step.layers:
        found.append(Action("less time outside the layers", times(step)["outside the layers"], "up to", "measured"))
    best = {}
    for other in step.study.steps:
        axis = differs_in(row, other.row)
        if axis and not took_turns(other.row) and ratio_is_above_one(step, other) and not may_be_busy(step, other) and other.images_per_second[0] > best.get(axis, (0, 0))[0]:
            best[axis] = (other.images_per_second[0], other)
    for axis, (fastest, other) in best.items():
        for_images = f", for as many {told.items([row])}" if other.row.images != row.images else ""
        found.append(Action(f"{axis} {other.row[axis]} instead of {row[axis]}{for_images}", row.images / step.images_per_second[0] - row.images / fastest, "", "measured"))
    bf16, own = (step.roofs.compute.get(name) if step.roofs else None for name in ("bf16", row["precision"]))
    measured = any(other.row["device"] == row["device"] and other.row["precision"] == "bf16" for other in step.study.steps)
    smaller = BYTES[row["precision"]] / BYTES["bf16"] if bf16 and own and row["phase"] == "decode" else 1
    if bf16 and own and not measured and (smaller > 1 or (not own.at_least and bf16.low > own.high)) and runs_in_bf16(step) and step.layers:
        predicted, _, _ = step.what_if(smaller, bf16.median / own.median)
        found.append(Action(f"bf16 instead of {row['precision']}", step.step.time - predicted, "up to" if no_roof_binds(step) else "about", "analytic"))
    of = times(step)
    found.append(Action("communication hidden behind the backward pass", of["communication"], "up to", "measured"))
    found.append(Action("no wait for data", of["waiting for data"], "up to", "measured"))
    found_disturbed, taken, _ = disturbed(row)
    share, known = busy_cost(row) if row.ranks == 1 else (None, None)
    if share is not None:
        found.append(Action("a quiet machine", share * step.step.time, "about", known))
    elif found_disturbed and found_disturbed >= BUSY * taken:
        found.append(Action(f"a quiet machine ({disturbances(row)})", step.step.time - step.step.times[1], "about", "measured"))
    found = [action for action in found if action.seconds >= WORTHWHILE * of["all"]]
    return sorted(found, key=lambda action: -action.seconds)[:MOST]


BYTES = {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2}


def runs_in_bf16(step):
    """docs/training.md: a CPU needs AVX-512, to decode AVX2, a GPU compute capability 8.0."""
    machine, device = step.study.folder.machine, step.row["device"]
    if device == "cpu":
        return ("avx2" if step.row["phase"] == "decode" else "avx512") in (machine.get("isa") or [])
    first = device.partition(",")[0]
    facts = next((its.get("facts") or {} for its in machine["devices"] if its["name"] == first), {})
    return float(facts.get("compute capability") or 0) >= 8


LIMITS = {"others_processors": 0.1, "stolen_processors": 0.02, "waited_share": 0.02, "shared_share": 0.1}


def is_busy(cells):
    """docs/method.md, section 1, A busy machine: of a row or a sample."""
    return any((number(cells.get(name)) or 0) > limit for name, limit in LIMITS.items())


def busy_cost(row):
    """Its share, how it is known."""
    if not is_busy(row.cells):
        return None, None
    used = row.used() if row.ok else []
    every = [float(sample["launch_s"]) for sample in used]
    quiet = [float(sample["launch_s"]) for sample in used if not is_busy(sample)]
    if len(quiet) >= 3:
        return max(0, 1 - statistics.median(quiet) / statistics.median(every)), "measured"
    waited, stolen = number(row["waited_share"]), number(row["stolen_processors"])
    if waited is None and stolen is None or (number(row["shared_share"]) or 0) > LIMITS["shared_share"]:
        return None, None
    return min(1, (waited or 0) + (stolen or 0) / max(1, row.threads)), "counter"

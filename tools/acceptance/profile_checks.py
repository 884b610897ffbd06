"""Checks of a folder of `roof profile` or `roof run --profile`: counters in PyTorch's training loop, phases of kernels
in its CUDA graphs, phases counted by ranges, probes under their own roofs, and the cost of tracing. Each check raises
Failed."""

import re
from collections import Counter, defaultdict

from measuring import Failed
from pages import rows

L2 = "lts__t_bytes.sum"
PHASES_WITHIN = 0.05    # of the step: work between phases, and different cache contents in a pass
ROOF_WITHIN = 0.10      # of the measured roof of the same probe
TRACING_AT_MOST = 4e-6  # seconds for each kernel; 1.8e-6 and 2.6e-6 on two H100 with CUPTI 13.0


def remarks(folder):
    return "; ".join(row["remarks"] or row["reason"] for row in rows(folder / "measurements.csv"))


def check_counted_program(folder, phases=("forward", "backward")):
    """Checks that kernels of these phases were counted, with the same names as in the trace."""
    counted = [row for row in rows(folder / "counters.csv") if row["metric"] == L2]
    if not counted:
        raise Failed(f"no kernel was counted: {remarks(folder)}")
    missing = set(phases) - {row["phase"] for row in counted}
    if missing:
        raise Failed(f"no kernel of {' and '.join(sorted(missing))} was counted: {remarks(folder)}")
    traced = {row["name"] for row in rows(folder / "kernels.csv")}
    strange = {row["name"] for row in counted} - traced if traced else set()
    if len(strange) > len(traced) / 10:
        raise Failed(f"{len(strange)} kernels were counted and never traced, as {min(strange)}")


def check_graph_phases(folder):
    """Checks that nearly all kernels of CUDA graphs have a phase."""
    in_graph = [row for row in rows(folder / "kernels.csv") if row["graph_node"]]
    if not in_graph:
        raise Failed("no kernel of a CUDA graph was recorded")
    named = sum(bool(row["phase"]) for row in in_graph) / len(in_graph)
    if named < 0.9:
        raise Failed(f"{named:.0%} of the graphs' kernels have a phase")


def sums(folder, scope):
    found = defaultdict(float)
    for row in rows(folder / "counters.csv"):
        if row["scope"] == scope and row["unit"] != "s":
            found[row["metric"]] += float(row["value"])
    return found


def check_phases(folder):
    """Checks that the counts of phases add up to the step: FLOPs and bytes of L2."""
    step, phases = sums(folder, "step"), sums(folder, "phase")
    if not phases:
        raise Failed(f"no phase was counted: {remarks(folder)}")
    for metric, whole in step.items():
        if whole > 0 and ("_op_" in metric or "ops_path" in metric or metric == L2):
            if not abs(phases[metric] / whole - 1) <= PHASES_WITHIN:  # NaN is not within it
                raise Failed(f"{metric}: phases add up to {phases[metric]:.4g}, the step is {whole:.4g}")


def check_probes_on_roofs(table):
    """Checks that each counted probe of FLOPs or device memory takes the time that its own roof allows. `table`:
    counted.csv of a report."""
    placed = {(row["row"], row["kernel"]): float(row["attainable_s"]) / float(row["time_s"])
              for row in rows(table) if row["attainable_s"] and float(row["time_s"]) > 0 and row["category"] == "probe"}
    if not placed:
        raise Failed("no probe was placed under a roof")
    far = [f"{kernel} of {row}: {share:.3f}" for (row, kernel), share in placed.items() if abs(share - 1) > ROOF_WITHIN]
    if far:
        raise Failed("of the roof they were measured on: " + "; ".join(far))


def check_cost_of_tracing(folder):
    """Checks the remark on the cost of tracing in each profiled row."""
    kernels = Counter(row["id"] for row in rows(folder / "kernels.csv"))
    for row in rows(folder / "measurements.csv"):
        found = re.search(r"tracing made a launch ([\d.]+)% (slower|faster) \(median of (\d+) with it", row["remarks"])
        if not found:
            raise Failed(f"the cost of tracing is not said: {row['remarks']}")
        percent, way, launches = found.groups()
        if way == "faster":
            continue
        each = float(percent) / 100 * float(row["launch_median_s"]) * int(launches) / max(1, kernels[row["id"]])
        if each > TRACING_AT_MOST:
            raise Failed(f"tracing took {1e6 * each:.1f} us for each kernel, and made a step {percent}% slower")

"""What must be seen of `roof profile` and `roof run --profile` on a real GPU, beyond the probes' read-back: counters in PyTorch's
training loop, layers of kernels in its CUDA graphs, phases counted by ranges, probes under their own roofs, the cost of tracing.

`steps()` gives each check as a name and a function that throws RuntimeError; tools/gpu_acceptance runs them.
"""

import csv
import re
import sys
from collections import defaultdict
from pathlib import Path

LOOP = Path(__file__).resolve().parent / "torch_loop.py"
L2 = "lts__t_bytes.sum"
PHASES_WITHIN = 0.05    # of the step: what lies between phases, and caches that a pass finds otherwise
ROOF_WITHIN = 0.10      # of the roof the same probe was measured to be
TRACING_AT_MOST = 0.05  # of a step's time


def rows(path):
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def remarks(folder):
    return "; ".join(row["remarks"] or row["reason"] for row in rows(folder / "measurements.csv"))


def check_counted_program(folder):
    """Kernels of forward and backward were counted under their names, and traced under the same ones."""
    counted = [row for row in rows(folder / "counters.csv") if row["metric"] == L2]
    if not counted:
        raise RuntimeError(f"no kernel was counted: {remarks(folder)}")
    missing = {"forward", "backward"} - {row["phase"] for row in counted}
    if missing:
        raise RuntimeError(f"no kernel of {' and '.join(sorted(missing))} was counted: {remarks(folder)}")
    traced = {row["name"] for row in rows(folder / "kernels.csv")}
    strange = {row["name"] for row in counted} - traced if traced else set()
    if len(strange) > len(traced) / 10:
        raise RuntimeError(f"{len(strange)} kernels were counted and never traced, as {min(strange)}")


def check_graph_layers(folder):
    """Of the kernels that ran in CUDA graphs, nearly all have a phase."""
    in_graph = [row for row in rows(folder / "kernels.csv") if row["graph_node"]]
    if not in_graph:
        raise RuntimeError("no kernel of a CUDA graph was recorded")
    named = sum(bool(row["phase"]) for row in in_graph) / len(in_graph)
    if named < 0.9:
        raise RuntimeError(f"{named:.0%} of the graphs' kernels have a phase")


def sums(folder, scope):
    found = defaultdict(float)
    for row in rows(folder / "counters.csv"):
        if row["scope"] == scope and row["unit"] != "s":
            found[row["metric"]] += float(row["value"])
    return found


def check_phases(folder):
    """The phases, counted as stretches, add up to the step: FLOPs and bytes of L2."""
    step, phases = sums(folder, "step"), sums(folder, "phase")
    if not phases:
        raise RuntimeError(f"no phase was counted: {remarks(folder)}")
    for metric, whole in step.items():
        if whole > 0 and ("_op_" in metric or "ops_path" in metric or metric == L2):
            if abs(phases[metric] / whole - 1) > PHASES_WITHIN:
                raise RuntimeError(f"{metric}: phases add up to {phases[metric]:.4g}, the step is {whole:.4g}")


def check_probes_on_roofs(table):
    """Each counted probe of FLOPs or of device memory takes the time that its own roof allows. `table`: counted.csv of a report."""
    placed = {(row["row"], row["kernel"]): float(row["attainable_s"]) / float(row["time_s"])
              for row in rows(table) if row["attainable_s"] and float(row["time_s"]) > 0 and row["category"] == "probe"}
    if not placed:
        raise RuntimeError("no probe was placed under a roof")
    far = [f"{kernel} of {row}: {share:.3f}" for (row, kernel), share in placed.items() if abs(share - 1) > ROOF_WITHIN]
    if far:
        raise RuntimeError("of the roof they were measured on: " + "; ".join(far))


def check_cost_of_tracing(folder):
    """The remark that each profiled row carries."""
    found = re.findall(r"tracing made a launch ([\d.]+)% (slower|faster)", remarks(folder))
    if not found:
        raise RuntimeError(f"the cost of tracing is not said: {remarks(folder)}")
    worst = max(float(percent) / 100 if way == "slower" else 0 for percent, way in found)
    if worst > TRACING_AT_MOST:
        raise RuntimeError(f"tracing made a step {worst:.1%} slower")


def steps(roof, out, run, libraries):
    """(name, function) of each check, in order. `run` is that of tools/gpu_acceptance: command, log, timeout, environment."""
    def loop(name, options, more=()):
        run([roof, "profile", *options, "--out", out / name, "--", sys.executable, LOOP, *more], out / f"{name}.log", 400,
            LD_LIBRARY_PATH=libraries)
        return out / name

    def our_step(name, *more):
        run([roof, "run", "resnet18", "--batch", 32, "--device", "gpu:0", "--profile", *more, "--out", out / name],
            out / f"{name}.log", 300, accepted=(0, 1), LD_LIBRARY_PATH=libraries)
        return out / name

    def probes():
        run([roof, "report", out / "read-back", "--calibration", out / "calibration", "--out", out / "read-back.html",
             "--data", out / "read-back-data"], out / "read-back-report.log", 60, LD_LIBRARY_PATH=libraries)
        return out / "read-back-data" / "counted.csv"

    return (("PyTorch counted after tracing", lambda: check_counted_program(
                loop("torch-counted", ("--after", 2, "--seconds", 3, "--counters"), ("--steps", 1000000, "--seconds", 60)))),
            ("PyTorch counted from its start", lambda: check_counted_program(
                loop("torch-counted-alone", ("--from-start", "--counters", "--kernels", 500), ("--steps", 6)))),
            ("PyTorch's CUDA graphs have phases", lambda: check_graph_layers(
                loop("torch-graph", ("--from-start",), ("--graph",)))),
            ("our phases counted by ranges", lambda: check_phases(our_step("phases", "--no-graph"))),
            ("the cost of tracing", lambda: check_cost_of_tracing(our_step("tracing"))),
            ("probes under their own roofs", lambda: check_probes_on_roofs(probes())))

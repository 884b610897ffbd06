"""Hardware checks of the recorders: counted kernels of a running program, phases in its CUDA graphs and in our own
steps, and probes under the roofs they were measured on."""

import re
import sys
from collections import Counter, defaultdict

from acceptance.scene import PEERS
from acceptance.steps.profiles import step_of
from measuring import Countdown, Failed
from pages import rows

KERNELS = "60"  # counted one by one, with a launch for each pass: 0.2 s each
SMALL = ("--model", "alexnet", "--batch", "8")  # its backward pass begins after some 30 kernels
SECONDS_OF_LOOP = "16"
SECONDS_OF_AFTER = 32  # the loop, its start and its end
L2 = "lts__t_bytes.sum"
PHASES_WITHIN = 0.05    # of the step: work between phases, and different cache contents in a pass
ROOF_WITHIN = 0.10      # of the measured roof of the same probe
TRACING_AT_MOST = 4e-6  # seconds for each kernel; 1.8e-6 and 2.6e-6 on two H100 with CUPTI 13.0


# -------------------------------------------------------------------------------------------------- checks, each of which raises Failed

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


# ------------------------------------------------------------------------------------------------------------------------ steps

def record_loop(scene, name, seconds, options, loop=()):
    """Records PyTorch's training loop under `roof profile` and returns the folder."""
    folder = scene.fresh(name)
    scene.run([scene.roof, "profile", *options, "--out", folder, "--", sys.executable, PEERS / "torch_loop.py", *loop], f"{name}.log",
              seconds)
    return folder


def count_pytorch(scene, seconds):
    """Counts from the first kernel, and if there is time after two seconds of tracing."""
    time_left = Countdown(seconds)
    alone = record_loop(scene, "torch-counted-alone", seconds, ("--from-start", "--counters", "--kernels", KERNELS),
                        (*SMALL, "--steps", "2"))
    check_counted_program(alone)
    if time_left.left < SECONDS_OF_AFTER:
        return "counted from the first kernel only"
    loop = (*SMALL, "--steps", "1000000", "--seconds", SECONDS_OF_LOOP)
    after = record_loop(scene, "torch-counted", time_left.left,
                        ("--after", "2", "--seconds", "2", "--counters", "--kernels", KERNELS), loop)
    check_counted_program(after, ())  # counting begins anywhere in a step
    return remarks(after)


def record_graphs(scene, seconds):
    """Checks the phases of kernels in PyTorch's CUDA graphs, and so the assumed numbering of nodes."""
    check_graph_phases(record_loop(scene, "torch-graph", seconds, ("--from-start",), ("--graph",)))


def record_our_steps(scene, seconds):
    """Checks the phases of a step, which is counted kernel by kernel, and the cost of tracing it as a graph. The network is that of the
    step ncu, whose engines are remembered. Kernels are not counted one by one: the step ncu does that."""
    folder = scene.fresh("our-steps")
    scene.run([*step_of(scene), "--profile-steps", "--out", folder], "our-steps.log", seconds)
    check_phases(folder)
    check_cost_of_tracing(folder)
    return remarks(folder)


def place_probes(scene, seconds):
    """Checks the probes of the steps calibration and read-back against their roofs."""
    if not (scene.out / "read-back" / "counters.csv").exists() or not (scene.out / "calibration" / "measurements.csv").exists():
        raise Failed("the steps calibration and read-back come first")
    data = scene.fresh("read-back-data")
    scene.run([scene.roof, "report", scene.out / "read-back", "--calibration", scene.out / "calibration", "--out",
               scene.out / "read-back.html", "--data", data], "read-back-report.log", seconds)
    check_probes_on_roofs(data / "counted.csv")

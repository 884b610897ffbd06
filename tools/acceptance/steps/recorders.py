"""Hardware checks of the recorders: counted kernels of a running program, phases in its CUDA graphs and in our own
steps, and probes under the roofs they were measured on."""

import sys

from acceptance import profile_checks
from acceptance.scene import PEERS
from acceptance.steps.profiles import step_of
from measuring import Countdown, Failed

KERNELS = "60"  # counted one by one, with a launch for each pass: 0.2 s each
SMALL = ("--model", "alexnet", "--batch", "8")  # its backward pass begins after some 30 kernels
SECONDS_OF_LOOP = "16"
SECONDS_OF_AFTER = 32  # the loop, its start and its end


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
    profile_checks.check_counted_program(alone)
    if time_left.left < SECONDS_OF_AFTER:
        return "counted from the first kernel only"
    loop = (*SMALL, "--steps", "1000000", "--seconds", SECONDS_OF_LOOP)
    after = record_loop(scene, "torch-counted", time_left.left,
                        ("--after", "2", "--seconds", "2", "--counters", "--kernels", KERNELS), loop)
    profile_checks.check_counted_program(after, ())  # counting begins anywhere in a step
    return profile_checks.remarks(after)


def record_graphs(scene, seconds):
    """Checks the phases of kernels in PyTorch's CUDA graphs, and so the assumed numbering of nodes."""
    profile_checks.check_graph_phases(record_loop(scene, "torch-graph", seconds, ("--from-start",), ("--graph",)))


def record_our_steps(scene, seconds):
    """Checks the phases of a step, which is counted kernel by kernel, and the cost of tracing it as a graph. The network is that of the
    step ncu, whose engines are remembered. Kernels are not counted one by one: the step ncu does that."""
    folder = scene.fresh("our-steps")
    scene.run([*step_of(scene), "--profile-steps", "--out", folder], "our-steps.log", seconds)
    profile_checks.check_phases(folder)
    profile_checks.check_cost_of_tracing(folder)
    return profile_checks.remarks(folder)


def place_probes(scene, seconds):
    """Checks the probes of the steps calibration and read-back against their roofs."""
    if not (scene.out / "read-back" / "counters.csv").exists() or not (scene.out / "calibration" / "measurements.csv").exists():
        raise Failed("the steps calibration and read-back come first")
    data = scene.fresh("read-back-data")
    scene.run([scene.roof, "report", scene.out / "read-back", "--calibration", scene.out / "calibration", "--out",
               scene.out / "read-back.html", "--data", data], "read-back-report.log", seconds)
    profile_checks.check_probes_on_roofs(data / "counted.csv")

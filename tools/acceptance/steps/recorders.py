"""What the recorders have never shown on hardware: a program's kernels counted as it launches them, phases in its CUDA graphs and of our
own steps, probes under the roofs they were measured on."""

import sys

import profile_checks

from acceptance.programs import Countdown, Failed
from acceptance.scene import PEERS

KERNELS = "250"  # counted one by one, each launched again for every pass


def checked(check, *what):
    try:
        check(*what)
    except RuntimeError as error:
        raise Failed(str(error)) from error


def record_loop(scene, name, seconds, options, loop=()):
    """The folder of PyTorch's training loop under `roof profile`."""
    folder = scene.fresh(name)
    scene.run([scene.roof, "profile", *options, "--out", folder, "--", sys.executable, PEERS / "torch_loop.py", *loop], f"{name}.log",
              seconds)
    return folder


def count_pytorch(scene, seconds):
    """From its first kernel, then after two seconds of tracing."""
    time_left = Countdown(seconds)
    alone = record_loop(scene, "torch-counted-alone", 0.6 * seconds, ("--from-start", "--counters", "--kernels", KERNELS), ("--steps", "2"))
    checked(profile_checks.check_counted_program, alone)
    loop = ("--steps", "1000000", "--seconds", str(int(time_left.left - 5)))
    after = record_loop(scene, "torch-counted", time_left.left,
                        ("--after", "2", "--seconds", "2", "--counters", "--kernels", KERNELS), loop)
    checked(profile_checks.check_counted_program, after)
    return profile_checks.remarks(after)


def record_graphs(scene, seconds):
    """Phases of kernels that run in PyTorch's CUDA graphs: that nodes are numbered as assumed."""
    checked(profile_checks.check_graph_phases, record_loop(scene, "torch-graph", seconds, ("--from-start",), ("--graph",)))


def record_our_steps(scene, seconds):
    """Launch by launch, whose phases are counted as they run; and as a graph, for what tracing costs."""
    time_left = Countdown(seconds)

    def step(name, time, *options):
        folder = scene.fresh(name)
        scene.run([scene.roof, "run", "alexnet", "--batch", "32", "--device", "gpu:0", "--profile", *options, "--out", folder],
                  f"{name}.log", time, accepted=(0, 1))
        return folder

    checked(profile_checks.check_phases, step("our-phases", seconds * 0.7, "--no-graph"))
    graph = step("our-graph", time_left.left)
    checked(profile_checks.check_cost_of_tracing, graph)
    return profile_checks.remarks(graph)


def place_probes(scene, seconds):
    """What the steps calibration and read-back left."""
    if not (scene.out / "read-back" / "counters.csv").exists() or not (scene.out / "calibration" / "measurements.csv").exists():
        raise Failed("the steps calibration and read-back come first")
    data = scene.fresh("read-back-data")
    scene.run([scene.roof, "report", scene.out / "read-back", "--calibration", scene.out / "calibration", "--out",
               scene.out / "read-back.html", "--data", data], "read-back-report.log", seconds)
    checked(profile_checks.check_probes_on_roofs, data / "counted.csv")

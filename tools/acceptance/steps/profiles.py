"""Compares recordings with known values: the probes' FLOPs and bytes by our counters, a training step by our counters
and by Nsight Compute, and a recorded training loop of PyTorch."""

import json
import sys

from acceptance import read_back
from acceptance.scene import PEERS, ROOT
from measuring import Countdown, Failed

PLAN = ROOT / "configs" / "profile" / "read-back.yaml"
REPORT_SECONDS = 10
NCU_SECONDS = 25
NCU_LAUNCHES = 80
NCU_WITHIN = 0.05


def step_of(scene):
    model, batch = scene.network("alexnet", 8)
    return [scene.roof, "run", model, "--batch", batch, "--precision", "bf16", "--device", "gpu:0", "--deterministic", "--steps", 2]


def keep(path, lines):
    path.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


def read_probes_back(scene, seconds):
    """Raises Failed if counters differ from the known values."""
    folder = scene.fresh("read-back")
    scene.run([scene.roof, "sweep", PLAN, "--out", folder], "read-back.log", seconds, accepted=(0, 1))
    lines = list(read_back.compare(folder))
    if not lines:
        raise Failed("no probe was counted; read-back.log and the remarks in read-back/measurements.csv say why")
    keep(scene.out / "read-back.json", lines)
    far = [f"{line['row']}: {line['ratio']:.4f} of the {line['what']} known" for line in lines if not line["is_near"]]
    if far:
        raise Failed("; ".join(far))
    return f"{len(lines)} probes"


def count_beside_ncu(scene, seconds):
    """Compares each kernel's largest launch by our counters and by Nsight Compute, for a training step with the same
    launches in every run. The two runs are sequential, because only one profiler can be active. The first run stores
    the chosen engines, so the second does not search."""
    time_left = Countdown(seconds)
    folder = scene.fresh("ncu-ours")
    scene.run([*step_of(scene), "--no-graph", "--profile", "--out", folder], "ncu-ours.log", time_left.left - NCU_SECONDS, accepted=(0, 1))
    said = scene.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--cache-control", "none", "--clock-control", "none",
                      "--metrics", ",".join(read_back.formulas()), "--launch-count", NCU_LAUNCHES, *step_of(scene), "--no-graph", "--out",
                      scene.fresh("ncu-theirs")], "ncu.csv", time_left.left, accepted=(0, 1))
    lines = list(read_back.beside_ncu(folder, said))
    if not lines:
        raise Failed("ncu and roof saw no kernel in common; ncu.csv and the remarks in ncu-ours/measurements.csv say more")
    keep(scene.out / "ncu.json", lines)
    near = sum(abs(line["ratio"] - 1) <= NCU_WITHIN for line in lines)
    far = max(lines, key=lambda line: abs(line["ratio"] - 1))
    return (f"{near} of {len(lines)} kernels' metrics within {100 * NCU_WITHIN:g}%; the farthest: {far['kernel']} {far['metric']} "
            f"{far['ratio']:.4f}")


def record_pytorch(scene, seconds):
    """Records PyTorch and places it under the ceilings of the calibration, if there is one."""
    time_left = Countdown(seconds)
    folder = scene.fresh("torch-profile")
    scene.run([scene.roof, "profile", "--from-start", "--out", folder, "--", sys.executable, PEERS / "torch_loop.py"],
              "torch-profile.log", time_left.left - REPORT_SECONDS)
    kernels = read_back.rows(folder / "kernels.csv")
    if not any(row["phase"] == "backward" for row in kernels):
        raise Failed("no kernel of the backward pass was recorded; torch-profile.log says more")
    calibration = ["--calibration", scene.out / "calibration"] if (scene.out / "calibration" / "measurements.csv").exists() else []
    scene.run([scene.roof, "report", folder, *calibration, "--out", scene.out / "torch-profile.html"], "torch-report.log",
              time_left.left)
    return f"{len(kernels)} kernels{'' if calibration else ', under no ceilings: the step calibration comes first'}"

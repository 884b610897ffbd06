"""Compares recordings with known values: the probes' FLOPs and bytes by our counters, a training step by our counters
and by Nsight Compute, and a recorded training loop of PyTorch."""

import csv
import json
import re
import sys
from collections import defaultdict

from acceptance.scene import PEERS, ROOT
from measuring import Countdown, Failed
from pages import rows

PLAN = ROOT / "configs" / "profile" / "read-back.yaml"
REPORT_SECONDS = 10
NCU_SECONDS = 25
NCU_LAUNCHES = 80
NCU_WITHIN = 0.05
TABLE = ROOT / "configs" / "counters" / "nvidia.yaml"
ROW = re.compile(r"quantity: ([\w.]+), +set: \w+, +metric: ([\w.]+), +factor: ([\d.e-]+)")
FLOPS_WITHIN = 0.01
BYTES_WITHIN = 0.03


# --------------------------------------------------------------------------------------------------------- known and counted

def formulas(text=None):
    """{metric: (quantity, factor)} from the table of metrics. A metric has the same meaning on every chip."""
    found = ROW.findall(TABLE.read_text(encoding="utf-8") if text is None else text)
    return {metric: (quantity, float(factor)) for quantity, metric, factor in found}


def quantities(folder, scope="step"):
    """{row id: {quantity: value}} of the amounts counted over whole launches."""
    meaning = formulas()
    found = defaultdict(lambda: defaultdict(float))
    for row in rows(folder / "counters.csv"):
        if row["scope"] == scope and row["metric"] in meaning:
            quantity, factor = meaning[row["metric"]]
            found[row["id"]][quantity] += factor * float(row["value"])
    return found


def compare(folder):
    """Yields a line for each counted probe: quantity, known and counted values, their ratio, and whether it is close
    enough to 1."""
    counted = quantities(folder)
    for row in rows(folder / "measurements.csv"):
        found = counted.get(row["id"])
        if row["status"] != "ok" or not found:
            continue
        flops = sum(value for quantity, value in found.items() if quantity.startswith(("flops.", "tensor.")))
        if row["bench"] == "bandwidth":
            yield line(row, "bytes of device memory", float(row["compulsory_bytes"] or 0), found["bytes.device"], BYTES_WITHIN)
        else:
            yield line(row, "FLOPs", float(row["flops"] or 0), flops, FLOPS_WITHIN)


def line(row, what, known, counted, within):
    ratio = counted / known if known else 0
    return {"row": row["id"], "what": what, "known": known, "counted": counted, "ratio": ratio,
            "within": within, "is_near": abs(ratio - 1) <= within}


def largest_of_ncu(text):
    """{(kernel, metric): largest value} of `ncu --csv --page raw --print-units base`. Lines above the table are skipped."""
    lines = text.splitlines()
    first = next((i for i, one in enumerate(lines) if one.startswith('"ID"')), None)
    if first is None:
        raise Failed("Nsight Compute printed no table")
    found = defaultdict(list)
    for row in csv.DictReader(lines[first:]):
        if not row.get("ID"):  # the line of units
            continue
        for metric in formulas():
            if row.get(metric):
                found[row["Kernel Name"].split("(")[0], metric].append(float(row[metric].replace(",", "")))
    return {key: max(values) for key, values in found.items()}


def beside_ncu(folder, text):
    """Yields a line for each kernel and metric in both: our largest launch, Nsight Compute's, and their ratio. The
    program must launch the same kernels in every run, such as a training step. Times under replay are left out."""
    ours = defaultdict(list)
    for row in rows(folder / "counters.csv"):
        if row["scope"] == "kernel" and row["name"] and row["unit"] != "s":
            ours[row["name"].split("(")[0], row["metric"]].append(float(row["value"]))
    theirs = largest_of_ncu(text)
    for (kernel, metric), values in sorted(ours.items()):
        if theirs.get((kernel, metric)):
            other = theirs[kernel, metric]
            yield {"kernel": kernel, "metric": metric, "ours": max(values), "ncu": other, "ratio": max(values) / other}


# ------------------------------------------------------------------------------------------------------------------------ steps

def step_of(scene):
    model, batch = scene.network("alexnet", 8)
    return [scene.roof, "run", model, "--batch", batch, "--precision", scene.narrow, "--device", "gpu:0", "--deterministic", "--steps", 2]


def keep(path, lines):
    path.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


def read_probes_back(scene, seconds):
    """Raises Failed if counters differ from the known values."""
    folder = scene.fresh("read-back")
    scene.run([scene.roof, "sweep", PLAN, "--out", folder], "read-back.log", seconds, accepted=(0, 1))
    lines = list(compare(folder))
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
                      "--metrics", ",".join(formulas()), "--launch-count", NCU_LAUNCHES, *step_of(scene), "--no-graph", "--out",
                      scene.fresh("ncu-theirs")], "ncu.csv", time_left.left, accepted=(0, 1))
    lines = list(beside_ncu(folder, said))
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
    kernels = rows(folder / "kernels.csv")
    if not any(row["phase"] == "backward" for row in kernels):
        raise Failed("no kernel of the backward pass was recorded; torch-profile.log says more")
    calibration = ["--calibration", scene.out / "calibration"] if (scene.out / "calibration" / "measurements.csv").exists() else []
    scene.run([scene.roof, "report", folder, *calibration, "--out", scene.out / "torch-profile.html"], "torch-report.log",
              time_left.left)
    return f"{len(kernels)} kernels{'' if calibration else ', under no ceilings: the step calibration comes first'}"

"""Compares hardware counters of the probes with the values known by design, and with Nsight Compute."""

import csv
import re
from collections import defaultdict
from pathlib import Path

from measuring import Failed
from pages import rows

TABLE = Path(__file__).resolve().parents[2] / "configs" / "counters" / "nvidia.yaml"
ROW = re.compile(r"quantity: ([\w.]+), +set: \w+, +metric: ([\w.]+), +factor: ([\d.e-]+)")
FLOPS_WITHIN = 0.01
BYTES_WITHIN = 0.03


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

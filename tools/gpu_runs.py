"""What tools/gpu_tables writes of the runs on one NVIDIA H200, from its folders in results/examples: Markdown, by section of the page."""

import json
import re
import statistics
import tempfile
from operator import itemgetter
from pathlib import Path

import pages
from measuring import run

EXAMPLES = Path(__file__).resolve().parent.parent / "results" / "examples"
RUNS = EXAMPLES / "nvidia-h200"
LARGEST = 14  # layers of the table of kernels
LINE = 64  # bytes that a row of latency counts for each dependent load
MEGABYTE = 1e6


def folder(start):
    (found,) = RUNS.glob(f"*{start}Z-*")
    return found


CALIBRATION, QUICK, MORE, SUSTAINED = (folder(start) for start in ("T181558", "T184807", "T184852", "T184814"))
BEFORE, AFTER = folder("T181331"), folder("T190205")
TRAINED = (BEFORE, AFTER, folder("T190424"), folder("T181747"), folder("T190216"))
RANKS = {"one rank, both batches": folder("T184711"), "graph": folder("T184719"), "launches": folder("T184743")}


def revision(of):
    return of.name.rpartition("-")[2][:8]


def rows(of, name="measurements.csv"):
    return [row for row in pages.rows(of / name) if name != "measurements.csv" or row["status"] == "ok"]


def reported(of, roof, table):
    """A table of `roof report --data`, of steps under the calibration."""
    given = ["--calibration", CALIBRATION] if of in TRAINED else []
    with tempfile.TemporaryDirectory() as numbers:
        run([roof, "report", of, *given, "--out", f"{numbers}/report.html", "--data", numbers, "--brief"], accepted=(0, 1))
        return pages.rows(f"{numbers}/{table}.csv")


def of_steps():
    lines = [[step["step"], step["status"], f"{step['seconds']:g} s", step["build"].split("(")[1][:8], step["reason"]]
             for path in (RUNS / "steps-dcfd76af.json", RUNS / "steps-c6fc8c57.json") for step in json.loads(path.read_text(encoding="utf-8"))]
    return pages.as_markdown(["step", "end", "took", "revision", "remark"], lines)


def three(value):
    """Three digits, also where the last is 0."""
    return f"{float(value):#.3g}".rstrip(".")


def milliseconds(seconds):
    return f"{three(1e3 * float(seconds))} ms"


def estimated(row, roof):
    more = [word for axis in ("tokens", "phase") if row[axis] for word in (f"--{axis}", row[axis])]
    done = run([roof, "estimate", row["model"], "--batch", row["batch"], "--precision", row["precision"], *more, "--on", CALIBRATION, "--json"])
    return next(one for one in json.loads(done.text)["machines"] if one["roofs_known"] == "measured")


def of_training(roof):
    """Measured steps beside what the roofs allow the operations that ran, and beside `roof estimate`, which knows only the layers."""
    lines = []
    for of in TRAINED:
        (row,), (verdict,) = rows(of), reported(of, roof, "verdict")
        guess, took = estimated(row, roof), float(row["launch_median_s"])
        what = f"{row['model']} {row['phase']}".strip() + (f", {row['tokens']} tokens" if row["tokens"] else "")
        rate = f"{float(verdict['tokens_per_s']):.0f} tokens/s" if verdict["tokens_per_s"] else f"{float(verdict['images_per_s']):.0f} images/s"
        interval = ", ".join(three(1e3 * float(row[f'launch_{end}_s'])) for end in ("low", "high"))
        lines.append([what, row["batch"], revision(of), f"{milliseconds(took)} [{interval}]", rate, f"{float(row['memory_bytes']) / 1e9:.2f} GB",
                      f"{milliseconds(verdict['attainable_s'])}, {100 * float(verdict['share_of_attainable']):.0f}%" if verdict["attainable_s"] else "unknown: bytes of layers",
                      *(f"{milliseconds(guess[key])}, {took / guess[key]:.2f}" for key in ("layer_by_layer_s", "without_overlap_s", "at_once_s"))])
    return pages.as_markdown(["bf16", "batch", "revision", "step [95%]", "rate", "memory", "roofs allow, reached", "layer by layer, took", "without overlap, took",
                              "network at once, took"], lines)


def of_kernels():
    """GPT-2's step by layer and phase: milliseconds of its kernels, before and after."""
    def times(of):
        found, kernels = {}, rows(of, "kernels.csv")
        steps = len({kernel["correlation"] for kernel in kernels})
        for kernel in kernels:
            key = (re.sub(r"^h\.\d+\.", "blocks: ", kernel["layer"]), kernel["phase"])
            found[key] = found.get(key, 0.0) + 1e3 * float(kernel["duration_s"]) / steps
        return found
    before, after = times(BEFORE), times(AFTER)
    order = sorted(before | after, key=lambda key: -max(before.get(key, 0), after.get(key, 0)))
    def line(name, phase, keys):
        return [name, phase, *(f"{sum(times.get(key, 0) for key in keys):.2f}" for times in (before, after))]
    lines = [line(*key, [key]) for key in order[:LARGEST]]
    lines += [line(f"{len(order) - LARGEST} others", "", order[LARGEST:]), line("all", "", order)]
    return pages.as_markdown(["layer", "phase", f"{revision(BEFORE)}, ms", f"{revision(AFTER)}, ms"], lines)


def of_attention():
    lines = [[row["pass"], row["precision"], row["engine"], f"{float(row['us_by_ours']):.0f}", f"{float(row['us_by_cudnn']):.1f}",
              f"{float(row['us_by_ours']) / float(row['us_by_cudnn']):.3g}"]
             for row in rows(RUNS, "attention.csv") if float(row["us_by_ours"]) > 1000]
    return pages.as_markdown(["pass", "", "engine", "our kernels, us", "cuDNN, us", "ratio"], lines)


def losses(of):
    found = pages.grouped((sample for sample in rows(of, "samples.csv") if sample["loss"]), lambda sample: sample["id"])
    return {row: [float(sample["loss"]) for sample in samples] for row, samples in found.items()}


def of_ranks():
    (alone,) = losses(RANKS["one rank, both batches"]).values()
    lines = []
    for name, of in list(RANKS.items())[1:]:
        both = losses(of)
        for row in rows(of):
            apart = max(abs(one / other - 1) for one, other in zip(both[row["id"]], alone))
            lines.append([name, row["communication"], str(len(both[row["id"]])), f"{apart:.1e}", milliseconds(row["launch_median_s"])])
    return pages.as_markdown(["", "communication", "losses", "farthest from one rank's", "step"], lines)


def of_quick(roof):
    key = itemgetter("kind", "level", "operation", "isa", "precision", "condition")
    full = {key(one): float(one["rate_median_per_s"]) for one in reported(CALIBRATION, roof, "ceilings")}
    apart = {key(one): float(one["rate_median_per_s"]) / full[key(one)] - 1 for one in reported(QUICK, roof, "ceilings") if key(one) in full}
    within = [change for change in apart.values() if abs(change) <= 0.02]
    others = ", ".join(f"{' '.join(word for word in (one[4] or one[1], one[2], one[3]) if word)} {100 * change:+.1f}%"
                       for one, change in apart.items() if abs(change) > 0.02)
    return f"Of {len(apart)} ceilings of the quick calibration, {len(within)} are within 2% of the full one's" + (f"; the others: {others}" if others else "") + " (`measured`)."


def median_rate(found, quantity="compulsory_bytes"):
    return statistics.median(float(row[quantity]) / float(row["launch_median_s"]) for row in found)


def of_l2():
    """Loads past the L1 by how many multiprocessors read the same lines, and by the size of the set."""
    found = [row for row in rows(MORE) if row["bench"] == "bandwidth" and row["isa"] == "cg"]
    sizes, paths = (list(dict.fromkeys(row[axis] for row in found)) for axis in ("working_set_bytes", "path"))
    rates = {key: f"{median_rate(some) / 1e12:.2f}" for key, some in pages.grouped(found, itemgetter("path", "working_set_bytes")).items()}
    return pages.as_markdown(["TB/s", *(f"{float(size) / MEGABYTE:.3g} MB" for size in sizes)], [[path, *(rates[path, size] for size in sizes)] for path in paths])


def of_more():
    """The other rows of configs/run/gpu_more.yaml: medians over the rounds."""
    others = (row for row in rows(MORE) if row["bench"] != "ert" and not (row["bench"] == "bandwidth" and row["isa"] == "cg"))
    groups = pages.grouped(others, itemgetter("bench", "operation", "isa", "precision", "path", "working_set_bytes"))
    lines = []
    for (bench, operation, isa, precision, path, size), found in groups.items():
        if bench.endswith("latency"):
            value = f"{three(1e9 * LINE / median_rate(found))} ns"
        else:
            quantity = "flops" if found[0]["flops"] else "compulsory_bytes"
            value = f"{three(median_rate(found, quantity) / 1e12)} T{'FLOP' if quantity == 'flops' else 'B'}/s"
        lines.append([bench, " ".join(word for word in (operation, isa, precision, path) if word), f"{float(size) / MEGABYTE:,.3f}".rstrip("0").rstrip(".") + " MB" if size else "", value])
    return pages.as_markdown(["bench", "point", "set", "median of the rounds"], lines)


def of_sustained():
    lines = []
    for row in rows(SUSTAINED):
        watts = float(row["energy_median_j"]) / float(row["sustained_median_s"])
        lines.append([f"{row['precision']} {row['operation']} ({row['isa']})", f"{float(row['flops']) / float(row['launch_median_s']) / 1e12:.1f} TFLOP/s",
                      f"{float(row['flops']) / float(row['sustained_median_s']) / 1e12:.1f} TFLOP/s", f"{float(row['sustained_clock_hz']) / 1e9:.2f} GHz",
                      f"{watts:.0f} W", f"{float(row['instant_power_w']):.0f} W of {float(row['power_limit_w']):.0f} W"])
    return pages.as_markdown(["", "burst", "over 12 s", "clock", "joules over seconds", "power at a moment, of its limit"], lines)


def sections(roof):
    """{section of results/examples/nvidia-h200.md: text}, but for the ceilings."""
    return {"steps": of_steps(), "training": of_training(roof), "kernels": of_kernels(), "attention": of_attention(), "ranks": of_ranks(), "quick": of_quick(roof),
            "l2": of_l2(), "sustained": of_sustained(), "more": of_more()}

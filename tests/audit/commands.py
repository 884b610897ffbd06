"""The other commands that show figures of a folder: compare, whatif, place, estimate, export, check; by their JSON and files."""

import csv
import io
import json
import math
import re

import baseline
import exported
from exported import CHECKED
from tables import TABLES, step_record

CHANGES = {"DRAM=2x,fp32=1.5x": {"DRAM": 2, "fp32": 1.5}, "L1=4x,L2=0.5x": {"L1": 4, "L2": 0.5}}
POINT = {"flops": 2e9, "bytes": 3e7, "seconds": 0.05}
FORWARD = {"batch_norm": 8, "relu": 1, "add": 1}  # FLOPs of an output element: docs/method.md, section 4


def what_if(step, factors):
    """Each layer keeps its share of its roof; time outside the layers stays."""
    predicted, least, under = step.step.time, 0.0, {}
    for layer in step.layers:
        changed = {name: seconds / factors.get(name, 1) for name, seconds in layer.allows.by_roof.items()}
        if changed:
            longest = max(changed, key=changed.get)
            predicted += layer.time * (changed[longest] / layer.allows.seconds - 1)
            seconds = changed[longest] / layer.allows.seconds * min(layer.allows.seconds, layer.time)
            least += seconds
            under[longest] = under.get(longest, 0.0) + seconds
    return predicted, least, max(under, key=under.get) if under else ""


def audit_what_if(findings, run, study, folder):
    for text, factors in CHANGES.items():
        devices = {step.row["device"] for step in study.steps}
        shown = json.loads(run("whatif", folder, "--set", text, "--json"))["rows"]
        expected = []
        for step in study.steps:
            if step.step.bound:
                predicted, least, under = what_if(step, factors)
                expected.append(step_record(step) | {"change": "", "before": step.step.time, "predicted": predicted, "least": least, "under": under, "no_reason": "", "analytic": "analytic"})
        exported.rows(findings, "whatif --json", CHECKED["data"]["what_if"], shown if devices else [], expected)


def audit_compare(findings, run, study, before, folders):
    shown = json.loads(run("compare", *folders, "--json"))
    earlier = {step.row.id: step for step in before.steps}
    wanted = {step.row.id: baseline.record("step", "", step.row.id, earlier[step.row.id].step, step.step) for step in study.steps if step.row.id in earlier}
    findings.text("compare: steps", sorted(one["id"] for one in shown["steps"]), sorted(wanted))
    for one in shown["steps"]:
        record = wanted.get(one["id"])
        if not record:
            continue
        findings.subject = one["id"]
        for side, times, step in (("a", record["before"], earlier[one["id"]]), ("b", record["now"], next(step for step in study.steps if step.row.id == one["id"]))):
            for part, value in zip(("median", "low", "high"), times):
                findings.exact(f"compare: {side}.{part}", one[side][part], value)
            findings.exact(f"compare: {side}.n", one[side]["n"], step.step.samples)
        for part, value in zip(("median", "low", "high"), record["ratio"]):
            findings.exact(f"compare: ratio.{part}", one["ratio"][part], value)
        findings.text("compare: verdict", one["verdict"], record["verdict"])
    findings.exact("compare: steps_not_judged", shown["steps_not_judged"], len(wanted))


def audit_place(findings, run, study, calibration):
    devices = {made.device for made in study.made if made.kind == "compute"}
    if "cpu" not in devices:
        return
    shown = json.loads(run("place", "--flops", POINT["flops"], "--bytes", "30MB", "--seconds", POINT["seconds"], "--on", calibration, "--json"))["points"][0]
    roofs = study.roofs_at("cpu", 10**9)
    allowed = {"fp32": POINT["flops"] / roofs.compute["fp32"].median} | {level.name: POINT["bytes"] / level.best_rate for level in reversed(roofs.levels)}
    bound = max(allowed, key=allowed.get)
    memory = roofs.levels[-1].best_rate
    wanted = {"attainable_s": allowed[bound], "bytes": POINT["bytes"], "flops": POINT["flops"], "time_s": POINT["seconds"], "headroom_s": max(0.0, POINT["seconds"] - allowed[bound]),
              "intensity_flop_per_byte": POINT["flops"] / POINT["bytes"], "rate_byte_per_s": POINT["bytes"] / POINT["seconds"], "rate_flop_per_s": POINT["flops"] / POINT["seconds"],
              "ridge_flop_per_byte": roofs.compute["fp32"].median / memory, "roof_threads": roofs.threads, "share_of_attainable": allowed[bound] / POINT["seconds"],
              "times_as_fast": POINT["seconds"] / allowed[bound],
              "share_is_upper_bound": (roofs.compute["fp32"] if bound == "fp32" else roofs.level(bound).best).at_least}
    wanted["nearer_level_may_bind"] = False
    if bound != "fp32":
        elsewhere = max(0.0, POINT["bytes"] - roofs.level(bound).nearer) / POINT["bytes"]
        wanted["nearer_level_may_bind"] = elsewhere * allowed[bound] < max(seconds for name, seconds in allowed.items() if name != bound)
    for name, value in shown.items():
        if name in wanted:
            findings.exact(f"place: {name}", value, wanted[name])
        elif name == "binds":
            findings.text("place: binds", value, bound)
        elif isinstance(value, (int, float)):
            findings.lacks(f"place: {name}", value)


def audit_export(findings, run, study, calibration):
    for form, name in (("csv", "ceilings"), ("points", "placements")):
        columns = {column: rule for column, rule in CHECKED["data"][name].items() if column != "study"}
        shown = list(csv.DictReader(io.StringIO(run("export", calibration, "--format", form))))
        records = [record for record in TABLES[name]([study]) if name == "placements" or record["made"] is not None]
        exported.rows(findings, f"export {form}", columns, shown, records if name == "ceilings" else [])
    for device in dict.fromkeys(made.device for made in study.made):
        roofs = study.roofs_at(device, 10**9)
        if not roofs or not roofs.levels or not roofs.compute:
            continue
        ert = json.loads(run("export", calibration, "--format", "ert", "--device", device))["empirical"]
        for shown, wanted in ((ert["gbytes"]["data"], {level.name: level.best_rate for level in roofs.levels}),
                              (ert["gflops"]["data"], {f"{name.upper()} GFLOPs": roof.median for name, roof in roofs.compute.items()})):
            findings.text("export ert: names", sorted(name for name, _ in shown), sorted(wanted))
            for name, value in shown:
                findings.exact(f"export ert: {name}", value, wanted.get(name, 0) / 1e9)
        rates = {(level.name, level.best.operation): level.best_rate for level in roofs.levels} | {(name, roof.operation): roof.median for name, roof in roofs.compute.items()}
        rows = re.findall(r"\|\s*(\S+) \|\s*(\S+) \|\s*(\d+) \|\s*([\d.]+) \|", run("export", calibration, "--format", "likwid", "--device", device))
        findings.text("export likwid: rows", len(rows), len(rates))
        for name, operation, threads, value in rows:
            findings.checked += 1
            if abs(float(value) - rates.get((name, operation), 0) / 1e6) > 0.0051 or int(threads) > roofs.threads:  # a roof may be that of fewer
                findings.differs("export likwid", (name, operation, threads, value), rates.get((name, operation)))
        peaks(findings, run, calibration, device, roofs)
        if {"fp64", "fp32"} & set(roofs.compute):
            carm(findings, run("export", calibration, "--format", "carm", "--device", device), study, device, roofs)


def peaks(findings, run, calibration, device, roofs):
    """The forms that hold one peak for a precision, and the bandwidth of memory."""
    levels = {level.name: level.best_rate for level in roofs.levels}
    rates = {name: roof.median for name, roof in roofs.compute.items()}
    if "DRAM" not in levels:
        return
    shown = json.loads(run("export", calibration, "--format", "tracelens", "--device", device))
    findings.exact("export tracelens: mem_bw_gbps", shown["mem_bw_gbps"], levels["DRAM"] / 1e9)
    matrix = {name.removeprefix("matrix_"): value for name, value in shown["max_achievable_tflops"].items() if name.startswith("matrix_")}
    findings.text("export tracelens: names", sorted(matrix), sorted(set(rates) - {"tf32", "fp4", "int32"}))
    for name, value in matrix.items():
        findings.exact(f"export tracelens: matrix_{name}", value, rates[name] / 1e12)
    half = rates.get("bf16", rates.get("fp16"))
    if half:
        sim, = json.loads(run("export", calibration, "--format", "inference-sim", "--device", device)).values()
        findings.exact("export inference-sim: TFlopsPeak", sim["TFlopsPeak"], half / 1e12)
        findings.exact("export inference-sim: BwPeakTBs", sim["BwPeakTBs"], levels["DRAM"] / 1e12)
    text = run("export", calibration, "--format", "prometheus")
    for metric, label, wanted in (("bandwidth_bytes", "level", levels), ("compute_flops", "precision", rates)):
        found = re.findall(rf'^roof_{metric}_per_second{{(.*)}} (\S+)$', text, re.MULTILINE)
        mine = {re.search(rf'\b{label}="([^"]*)"', labels)[1]: value for labels, value in found if f'device="{device}"' in labels}
        findings.text(f"export prometheus: {label}s", sorted(mine), sorted(wanted))
        for name, value in mine.items():
            findings.exact(f"export prometheus: {name}", float(value), wanted.get(name, 0))


def carm(findings, text, study, device, roofs):
    """The roofs of loads and multiply-adds that the CARM tool reads; 0 for a level that was not measured."""
    _, heading, *rows = list(csv.reader(io.StringIO(text)))
    loads = {}
    for made in study.made:  # at the threads that the row names
        if (made.device, made.operation, made.threads, made.kind) == (device, "load", roofs.threads, "bandwidth") and not made.condition:
            loads[made.level] = max(loads.get(made.level, 0), made.sustained.rate[0])
    for row in rows:
        precision = {"dp": "fp64", "sp": "fp32"}[row[2]]
        for at, level in zip((9, 11, 13, 15), ("L1", "L2", "L3", "DRAM")):
            findings.checked += 1
            if abs(float(row[at]) - loads.get(level, 0) / 1e9) > 0.000051:
                findings.differs(f"export carm: {level}", row[at], loads.get(level))
        findings.checked += 1
        if abs(float(row[17]) - roofs.compute[precision].median / 1e9) > 0.000051 or int(row[3]) != roofs.threads:
            findings.differs("export carm: FP", row[17], roofs.compute[precision].median)


def audit_check(findings, run, study, folder):
    shown = json.loads(run("check", folder, "--json"))
    findings.exact("check: rows", shown["rows"], len(study.folder.rows))
    findings.exact("check: damaged_rows", shown["damaged_rows"], sum(row.status == "damaged" for row in study.folder.rows))


def audit_estimate(findings, run, model, batch):
    """FLOPs from shapes: two per multiply-add; a step is three forward passes, less the gradient of the images."""
    shown = json.loads(run("estimate", model, "--batch", batch, "--json"))
    forward = 0
    for layer in shown["layers"]:
        place, outputs = f"estimate: {model}: {layer['name']}", math.prod(layer["output_shape"])
        if layer["kind"] in ("convolution", "linear"):
            channels = layer["output_shape"][1]
            products = [2 * outputs // channels * (layer["parameters"] - bias) for bias in (0, channels)]
            findings.text(f"{place}: flops", layer["forward_flops"] in products, True)
            forward += layer["forward_flops"]
        elif layer["kind"] in FORWARD:
            findings.exact(f"{place}: flops", layer["forward_flops"], FORWARD[layer["kind"]] * outputs)
    first = next(layer["forward_flops"] for layer in shown["layers"] if layer["kind"] == "convolution")
    for name, value in {"forward": forward, "backward_weights": forward, "backward_data": forward - first, "step": 3 * forward - first}.items():
        findings.exact(f"estimate: {model}: {name}", shown["flops"][name], value)


def audit(findings, run, study, folder, calibration):
    audit_what_if(findings, run, study, folder)
    audit_place(findings, run, study, calibration)
    audit_check(findings, run, study, folder)

"""Records of the tables of ceilings: the ceilings themselves, levels, sweeps, curves, data sheets."""

import functools
import math
from pathlib import Path

import yaml

import fitted as of_folder
from levels import reported
from reading import number

ROOT = Path(__file__).resolve().parents[2]
UNITS = {"bandwidth": "B/s", "compute": "FLOP/s", "latency": "lines/s"}


def cores(study, made):
    """Cores under the threads of a ceiling; multiprocessors of a GPU."""
    machine = study.calibration.machine
    facts = next((its.get("facts") or {} for its in machine["devices"] if its["name"] == made.device), {})
    if made.device.startswith("gpu") and int(facts.get("multiprocessors") or 0):
        return int(facts["multiprocessors"])
    smt = max(1, machine.get("smt") or 1)
    if made.point.row["placement"] == "siblings":
        return math.ceil(made.threads / smt)
    return min(max(made.threads, 1), max(1, machine.get("cores") or 1))


def spec_of(study, made):
    specs = next((its.get("spec_rates") or [] for its in study.calibration.machine["devices"] if its["name"] == made.device), [])
    return next((spec for spec in specs if (spec["kind"], spec["level"], spec["operation"]) == (made.kind, made.level, made.operation)
                 and spec["isa"] in ("", made.isa) and spec["precision"] in ("", made.precision)), None)


def record(study, made):
    found, row = made.sustained, made.point.row
    clock = made.clock or None
    per_clock = (found.per_clock or tuple(rate / clock for rate in found.rate)) if clock or found.per_clock else None
    of_core = per_clock[0] / cores(study, made) if per_clock else None
    spec = spec_of(study, made)
    share = of_core / spec["per_clock"] if spec and of_core else None
    at_least = found.state == "at least"
    return {"made": made, "device": made.device, "kind": made.kind, "level": made.level, "operation": made.operation, "precision": made.precision, "isa": made.isa,
            "threads": made.threads, "rate": found.rate, "low": found.rate[1] if found.samples != 1 else None, "high": found.rate[2] if found.samples != 1 and not at_least else None,
            "seen_high": found.rate[2], "unit": UNITS[made.kind], "samples": found.samples, "extent_low": float(made.extent[0]), "extent_high": float(made.extent[1]),
            "condition": made.condition, "working_set_exact": made.working_set, "variant": row["variant"], "clock": float(made.clock), "state": found.state, "rounds": found.rounds,
            "known": of_folder.timed(row), "study": study.name, "at_least": at_least,
            "nearer_share": min(1.0, made.nearer / made.working_set) if made.kind == "bandwidth" and made.working_set else None,
            "per_clock": of_core, "of_spec": share, "verdict": "" if found.state == "steady" else found.state, "spec": spec}


def ceilings(studies):
    for study in studies:
        for made in study.made:
            yield record(study, made)
        for group in dict.fromkeys(row["device"] for row in study.folder.steps if "," in row["device"]):
            yield from added_records(study, group)


def added_records(study, group):
    """The sums of the roofs of several devices (docs/parallel.md, Under which roof)."""
    kind, _, numbers = group.partition(":")
    devices = [f"{kind}:{number}" for number in numbers.split(",")]
    members = [study.calibrated_as(device) for device in devices]
    parts = [study.roofs_at(member, 10**9) for member in members]
    roofs = study.roofs_at(group, 0)
    if not roofs:
        return
    how = ", added: ".join(["measured", " + ".join(device + (f" (as {member})" if member != device else "") for device, member in zip(devices, members))])
    sums = [("core", roof) for roof in roofs.compute.values()] + [(level.name, loop) for level in roofs.levels for loop in level.loops.values()]
    for level, of in sums:
        extents = [next((made.extent for made in study.made if made.device == part.device and made.threads == part.threads and made.level == level
                         and made.operation == of.operation and not made.condition), (0, 0)) for part in parts]
        at_least = of.at_least
        yield {"made": None, "device": group, "kind": of.kind, "level": level, "operation": of.operation, "precision": of.precision, "isa": of.isa, "threads": of.threads,
               "rate": (of.median, of.low, of.high), "low": of.low, "high": None if at_least else of.high, "seen_high": of.high, "unit": UNITS[of.kind], "samples": of.samples,
               "extent_low": float(sum(low for low, _ in extents)), "extent_high": float(sum(high for _, high in extents)), "condition": "", "working_set_exact": 0.0,
               "variant": how, "clock": 0.0, "state": of.state, "rounds": of.rounds, "known": "measured", "study": study.name, "at_least": at_least,
               "device_unless_cpu": group, "condition_unless_level": "", "verdict": "" if of.state == "steady" else of.state, "of_spec": None,
               "nearer_share": None}


def capacity(machine, level):
    """What the machine reports for that many threads; None where nothing is reported."""
    told_ = reported(machine, level.device, level.name)
    if not told_ or not told_.get("capacity_bytes"):
        return None
    each = max(1, (told_.get("shared_by_threads") or 0) // max(1, machine.get("smt") or 1))
    return float(told_["capacity_bytes"] * min(max(math.ceil(level.threads / each), 1), max(1, told_.get("instances") or 1)))


def levels(studies):
    for study in studies:
        machine, all_ = study.calibration.machine, study.measured_levels
        several = len({ceiling.device for ceiling in study.made}) > 1
        for level in all_:
            size = capacity(machine, level)
            contradiction = bool(size and level.edge and abs(math.log2(level.edge / size)) > 1)
            seen = {other.threads for other in all_ if (other.device, other.name) == (level.device, level.name)}
            unseen = sorted({other.threads for other in all_ if other.device == level.device} - seen)
            yield {"study": study.name, "device": level.device if several else "", "of_device": level.device, "level": level.name, "threads": level.threads, "first": level.first, "last": level.last,
                   "beyond": level.beyond or None, "reported": size if size is not None else None, "sharing": level.sharing, "contradiction": float(contradiction),
                   "instances": level.sharing if level.sharing != "unclear" else "", "unseen": unseen, "agrees": bool(size and level.edge) and not contradiction}


def axis(row, name):
    return row[name] or None


def bandwidth(studies):
    for study in studies:
        for point in study.sweep_points:
            row = point.row
            if row["role"] == "bandwidth" and point.rounds and point.set:
                yield {"study": study.name, "device": row["device"], "bench": row["bench"], **{name: axis(row, name) for name in ("operation", "isa", "placement", "pages", "path")},
                       "threads": row.threads, "working_set": point.set, "rate": point.sustained.rate, "samples": point.sustained.samples, "rounds": point.rounds,
                       "known": of_folder.timed(row)}


def over_curve(study, device, precision, threads):
    """(levels under loads, compute roof) of a curve."""
    roofs = study.roofs_at(device, threads)
    if not roofs:
        return None, None
    return [(level.name, level.loops["load"].median if "load" in level.loops else level.best_rate) for level in roofs.levels], roofs.compute.get(precision)


def ert(studies):
    for study in studies:
        points = of_folder.points(study)
        for point in points:
            row = point.row
            if not (row["role"] == "compute" and point.rounds and row["intensity"] and point.set and float(row["flops"] or 0) and float(row["compulsory_bytes"] or 0)):
                continue
            intensity = float(row["flops"]) / float(row["compulsory_bytes"])
            roofs, compute = over_curve(study, row["device"], row["precision"], row.threads)
            holds = {level.name: level.last for level in study.measured_levels if level.device == row["device"] and level.threads == (study.roofs_at(row["device"], row.threads) or row).threads}
            at = next((index for index, (name, _) in enumerate(roofs or []) if index + 1 == len(roofs) or holds.get(name, point.set) >= point.set), None)
            allows = min(compute.median, roofs[at][1] * intensity) if at is not None and compute else None
            yield {"study": study.name, "device": row["device"], "precision": row["precision"], "threads": row.threads, "working_set": point.set, "intensity": intensity,
                   "rate": point.sustained.rate, "samples": point.sustained.samples, "level": roofs[at][0] if at is not None else "", "allows": allows,
                   "known": of_folder.timed(study.calibration.rows[0]) if study.calibration.rows else ""}


@functools.cache
def sheets():
    return [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "configs" / "machines").glob("*.yaml"))]


def data_sheets(studies):
    for study in studies:
        for device in study.calibration.machine["devices"]:
            sheet = next((sheet for sheet in sheets() if device["model"] in (sheet.get("models") or [])), None)
            mine = [made for made in study.made if made.device == device["name"] and not made.condition]
            if not sheet or not mine:
                continue
            most = max(made.threads for made in study.made if made.device == device["name"])
            for precision, peak in sheet["peaks"].items():
                roof = study.roofs_at(device["name"], most).compute.get(precision)
                if roof:
                    yield sheet_record(study, device["name"], precision, float(peak), roof, sheet)
            for level in sheet["levels"]:
                of = [its for its in study.roofs_at(device["name"], most).levels if its.name == level["name"]]
                if of and level.get("bandwidth"):
                    yield sheet_record(study, device["name"], level["name"], float(level["bandwidth"]), of[0].best, sheet)


def sheet_record(study, device, what, spec, roof, sheet):
    rate = roof.median, roof.low, roof.high
    return {"study": study.name, "device": device, "what": what, "rate": rate, "spec": spec, "share": rate[0] / spec, "unit": UNITS[roof.kind],
            "source": f"{sheet['title']}: {'; '.join(sheet['sources'])}"}


CEILING_TABLES = {"ceilings": ceilings, "levels": levels, "bandwidth": bandwidth, "ert": ert, "data_sheets": data_sheets}

"""The calibrations, PyTorch's products and copies before and after, and the tables of peers and goals. The ceilings contain
their share of the spec at the clock of each launch; data-sheet bandwidths are in configs/machines."""

import csv
import json
import re
import statistics
import sys
import time

import pages

from acceptance.scene import PEERS, ROOT, SMALL_PLANS
from measuring import Failed, errors_of, last_line

# The ceiling to compare with each peer's number: its kind, and the values of its fields.
BESIDE = {
    "matmul bf16": ("compute", {"operation": "matmul", "precision": "bf16"}),
    "matmul fp16": ("compute", {"operation": "matmul", "precision": "fp16"}),
    "matmul tf32": ("compute", {"operation": "matmul", "precision": "tf32"}),
    "matmul fp32": ("compute", {"operation": "matmul", "precision": "fp32"}),
    "matmul fp64": ("compute", {"operation": "matmul", "precision": "fp64"}),
    "copy": ("bandwidth", {"operation": "copy", "level": "DRAM"}),
    "read": ("bandwidth", {"operation": "load", "level": "DRAM"}),
}
RAW = ("fma", "tile")
MACHINES = ROOT / "configs" / "machines"
INTERVAL = 0.01
OF_DATA_SHEET = 0.92
SECONDS = {"calibration": 60, "quick-calibration": 15}

#: Name, kind, fields of the ceilings, minimum share of the spec at the measured clock.
SHARES = (
    ("fp32 fma", "compute", {"operation": "fma", "precision": "fp32"}, 0.98),
    ("fp64 fma", "compute", {"operation": "fma", "precision": "fp64"}, 0.98),
    ("bf16 tensor cores", "compute", {"operation": "tile", "precision": "bf16"}, 0.97),
    ("fp8 tensor cores", "compute", {"operation": "tile", "precision": "fp8"}, 0.97),
    ("shared memory", "bandwidth", {"operation": "load", "level": "shared"}, 0.95),
)
#: Levels without a spec: bytes per clock and multiprocessor, to be compared with the tables of RRZE's gpu-benches.
BY_HAND = ("L1", "L2")


# ------------------------------------------------------------ ceilings beside goals, one line each: met, missed or not seen

def spec_bandwidth(devices):
    """Device-memory bandwidth of the first GPU in byte/s, by its data sheet; None if the card has no sheet."""
    models = [device["model"] for device in devices if device["kind"] == "gpu"]
    for sheet in sorted(MACHINES.glob("*.yaml")) if models else ():
        text = sheet.read_text(encoding="utf-8")
        named = re.search(r"^models: \[(.*)\]", text, re.M)
        if named and models[0] in [word.strip() for word in named[1].split(",")]:
            return float(re.search(r"name: DRAM, bandwidth: ([\d.e]+)", text)[1])
    return None


def goal(what, seen, wanted, at_most=False):
    end = "not seen" if seen is None else "met" if (seen <= wanted if at_most else seen >= wanted) else "missed"
    return {"goal": what, "seen": seen, "wanted": f"{'at most' if at_most else 'at least'} {wanted:g}", "is": end}


def ratio(a, b):
    return a / b if a and b else None


def of_ceilings(ceilings, column, kind, fields):
    """The maximum of a column over the ceilings with these fields; None without values."""
    return max((c[column] for c in ceilings if c["kind"] == kind and c.get(column) and
                all(c.get(k) == v for k, v in fields.items())), default=None)


def goal_rows(ceilings, beside, sheet, seconds):
    """Yields the lines. `beside`: rows by name, with ours, peer, ratio, raw issue rate; `seconds`: durations of the
    calibrations."""
    for name in ("read", "copy", "matmul bf16"):
        yield goal(f"{name}: ours / peer", beside[name]["ratio"], 1)
    yield goal("read: ours / data sheet", ratio(beside["read"]["ours"], sheet), OF_DATA_SHEET)
    yield goal("bf16: raw issue rate / cuBLASLt", ratio(beside["matmul bf16"]["raw issue rate"], beside["matmul bf16"]["ours"]), 1)
    for name, kind, fields, least in SHARES:
        yield goal(f"{name}: share of what is promised at the clock", of_ceilings(ceilings, "share_of_spec", kind, fields), least)
    for level in BY_HAND:
        seen = of_ceilings(ceilings, "per_clock_and_core", "bandwidth", {"operation": "load", "level": level})
        yield {"goal": f"{level}: bytes per clock and multiprocessor", "seen": seen, "wanted": "gpu-benches' within 5%", "is": "by hand"}
    inside = [c["high"] is not None and c["high"] - c["low"] <= 2 * INTERVAL * c["median"] for c in ceilings]
    yield goal(f"share of ceilings with an interval inside {100 * INTERVAL:g}%", sum(inside) / len(inside) if inside else None, 1)
    for name, most in SECONDS.items():
        yield goal(f"{name}: seconds", seconds.get(name), most, at_most=True)


# ------------------------------------------------------------------------------------------------------------------------ steps

def ceilings_in(log):
    """The ceilings that `roof calibrate --json` printed. Raises Failed with its last message if there are none."""
    ceilings = json.JSONDecoder().raw_decode(log.read_text(encoding="utf-8"))[0]["ceilings"]
    if not ceilings:
        raise Failed(last_line(errors_of(log).read_text(encoding="utf-8")) if errors_of(log).exists() else "no ceiling was measured")
    return ceilings


def rows_beside(ceilings, rounds):
    """One row for each peer's number: ours, the peer's median over its rounds, and the ratio."""
    for name, (kind, fields) in BESIDE.items():
        seen = [round[name] for round in rounds if round.get(name)]
        ours = of_ceilings(ceilings, "median", kind, fields)
        peer = statistics.median(seen) if seen else None
        raw = None
        if kind == "compute":
            found = [of_ceilings(ceilings, "median", kind, {**fields, "operation": operation}) for operation in RAW]
            raw = max((rate for rate in found if rate), default=None)
        yield {"what": name, "ours": ours, "peer": peer, "rounds": len(seen),
               "ratio": ours / peer if ours and peer else None, "raw issue rate": raw}


def in_words(value):
    if value is None:
        return "-"
    return str(value) if isinstance(value, (int, str)) else f"{value:.4g}"


def as_markdown(rows):
    return pages.as_markdown(list(rows[0]), [map(in_words, row.values()) for row in rows]) + "\n"


def read_json(path, otherwise):
    """Returns `otherwise` if the file is missing or truncated."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return otherwise


def write_tables(out):
    """Writes the results so far: peers.csv, and peers.md with the goals."""
    rounds = [read_json(path, {}) for path in sorted(out.glob("peers-*.json"))]
    ceilings = read_json(out / "ceilings.json", [])
    rows = list(rows_beside(ceilings, rounds))
    with open(out / "peers.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    model = read_json(out / "doctor.json", {"machine": {"devices": []}})["machine"]["devices"]
    wanted = goal_rows(ceilings, {row["what"]: row for row in rows}, spec_bandwidth(model),
                        read_json(out / "seconds.json", {}))
    (out / "peers.md").write_text(as_markdown(rows) + "\n" + as_markdown(list(wanted)), encoding="utf-8")


def measure_peers(name):
    def round(scene, seconds):
        text = scene.run([sys.executable, PEERS / "torch_gpu.py"], f"peers-{name}.json", seconds)
        write_tables(scene.out)
        missing = [peer for peer in BESIDE if peer not in json.loads(text)]
        return f"without {', '.join(missing)}; peers-{name}.json.err says why" if missing else None
    return round


def keep_seconds(out, name, seconds):
    known = read_json(out / "seconds.json", {})
    (out / "seconds.json").write_text(json.dumps({**known, name: seconds}) + "\n", encoding="utf-8")


def run_calibration(scene, name, seconds, *more):
    begin = time.monotonic()
    chosen = ["--plan", SMALL_PLANS / f"{name}.yaml"] if scene.is_small else more
    folder = scene.fresh(name)
    scene.run([scene.roof, "calibrate", "--device", "gpu:0", "--json", "--out", folder, *chosen], f"{name}.json", seconds, accepted=(0, 1))
    keep_seconds(scene.out, name, time.monotonic() - begin)
    return ceilings_in(scene.out / f"{name}.json")


def words_of(ceilings, folder):
    """Raises Failed if a row failed: a probe computed something else than its reference, or the device had a fault."""
    wide = [c for c in ceilings if c["high"] is None or c["high"] - c["low"] > 2 * INTERVAL * c["median"]]
    failed = [row for row in pages.rows(folder / "measurements.csv") if row["status"] == "failed"]
    if failed:
        raise Failed(f"{len(failed)} rows failed, the first: {failed[0]['id']}: {failed[0]['reason']}")
    dropped = sum(row["disturbance"] != "" for row in pages.rows(folder / "samples.csv"))
    return (f"{len(ceilings)} ceilings, {len(wide)} of them with an interval beyond {100 * INTERVAL:g}%; "
            f"{dropped} launches disturbed")


def calibrate(scene, seconds):
    ceilings = run_calibration(scene, "calibration", seconds)
    (scene.out / "ceilings.json").write_text(json.dumps(ceilings, indent=1) + "\n", encoding="utf-8")
    write_tables(scene.out)
    return words_of(ceilings, scene.out / "calibration")


def calibrate_quickly(scene, seconds):
    ceilings = run_calibration(scene, "quick-calibration", seconds, "--quick")
    write_tables(scene.out)
    return words_of(ceilings, scene.out / "quick-calibration")


def sweep_plan(step, plan):
    def sweep(scene, seconds):
        return scene.measure(step, ["sweep", SMALL_PLANS / f"{step}.yaml" if scene.is_small else f"run/{plan}"], seconds)
    return sweep

"""The calibrations, PyTorch's products and copies before and after, and the tables of peers and goals."""

import csv
import json
import statistics
import sys
import time

import pages

from acceptance import goals
from acceptance.scene import PEERS, SMALL_PLANS
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
        ours = goals.of_ceilings(ceilings, "median", kind, fields)
        peer = statistics.median(seen) if seen else None
        raw = None
        if kind == "compute":
            found = [goals.of_ceilings(ceilings, "median", kind, {**fields, "operation": operation}) for operation in RAW]
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
    wanted = goals.rows(ceilings, {row["what"]: row for row in rows}, goals.spec_bandwidth(model),
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
    wide = [c for c in ceilings if c["high"] is None or c["high"] - c["low"] > 2 * goals.INTERVAL * c["median"]]
    failed = [row for row in pages.rows(folder / "measurements.csv") if row["status"] == "failed"]
    if failed:
        raise Failed(f"{len(failed)} rows failed, the first: {failed[0]['id']}: {failed[0]['reason']}")
    dropped = sum(row["disturbance"] != "" for row in pages.rows(folder / "samples.csv"))
    return (f"{len(ceilings)} ceilings, {len(wide)} of them with an interval beyond {100 * goals.INTERVAL:g}%; "
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

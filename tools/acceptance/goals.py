"""Compares the ceilings with goals, one line each: met, missed or not seen. The ceilings contain their share of the
spec at the clock of each launch; data-sheet bandwidths are in configs/machines."""

import re
from pathlib import Path

MACHINES = Path(__file__).resolve().parents[2] / "configs" / "machines"
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


def spec_bandwidth(devices):
    """Device-memory bandwidth of the first GPU in byte/s, by its data sheet; None if the card has no sheet."""
    models = [device["model"] for device in devices if device["kind"] == "gpu"]
    for sheet in sorted(MACHINES.glob("*.yaml")) if models else ():
        text = sheet.read_text(encoding="utf-8")
        named = re.search(r"^models: \[(.*)\]", text, re.M)
        if named and models[0] in [word.strip() for word in named[1].split(",")]:
            return float(re.search(r"name: DRAM, bandwidth: ([\d.e]+)", text)[1])
    return None


def line(what, seen, wanted, at_most=False):
    end = "not seen" if seen is None else "met" if (seen <= wanted if at_most else seen >= wanted) else "missed"
    return {"goal": what, "seen": seen, "wanted": f"{'at most' if at_most else 'at least'} {wanted:g}", "is": end}


def ratio(a, b):
    return a / b if a and b else None


def of_ceilings(ceilings, column, kind, fields):
    """The maximum of a column over the ceilings with these fields; None without values."""
    return max((c[column] for c in ceilings if c["kind"] == kind and c.get(column) and
                all(c.get(k) == v for k, v in fields.items())), default=None)


def rows(ceilings, beside, sheet, seconds):
    """Yields the lines. `beside`: rows by name, with ours, peer, ratio, raw issue rate; `seconds`: durations of the
    calibrations."""
    for name in ("read", "copy", "matmul bf16"):
        yield line(f"{name}: ours / peer", beside[name]["ratio"], 1)
    yield line("read: ours / data sheet", ratio(beside["read"]["ours"], sheet), OF_DATA_SHEET)
    yield line("bf16: raw issue rate / cuBLASLt", ratio(beside["matmul bf16"]["raw issue rate"], beside["matmul bf16"]["ours"]), 1)
    for name, kind, fields, least in SHARES:
        yield line(f"{name}: share of what is promised at the clock", of_ceilings(ceilings, "share_of_spec", kind, fields), least)
    for level in BY_HAND:
        seen = of_ceilings(ceilings, "per_clock_and_core", "bandwidth", {"operation": "load", "level": level})
        yield {"goal": f"{level}: bytes per clock and multiprocessor", "seen": seen, "wanted": "gpu-benches' within 5%", "is": "by hand"}
    inside = [c["high"] is not None and c["high"] - c["low"] <= 2 * INTERVAL * c["median"] for c in ceilings]
    yield line(f"share of ceilings with an interval inside {100 * INTERVAL:g}%", sum(inside) / len(inside) if inside else None, 1)
    for name, most in SECONDS.items():
        yield line(f"{name}: seconds", seconds.get(name), most, at_most=True)

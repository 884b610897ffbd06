"""Roofs over seconds (docs/method.md, What lasts, and joules)."""

from dataclasses import replace

from energy_tables import probes_repeated, work
from reading import number

SECONDS = 2  # of the counted launches together


def point(row, without=("round",)):
    return [word for word in row.id.split(" ") if word.split("=")[0] not in without]


def is_of(probe, made):
    """A probe of the ceiling's point; in memory of any set that no cache serves."""
    if probe["role"] != made.kind or made.level != "DRAM" or not probe["working_set_bytes"]:
        return probe["role"] == made.kind and point(probe) == point(made.point.row)
    alike = [point(row, ("round", "working_set")) for row in (probe, made.point.row)]
    return number(probe["working_set_bytes"]) >= made.extent[0] and alike[0] == alike[1]


def is_undisturbed(probe, made):
    """Its windows agree within 3%, and arithmetic lost no more than its clock did."""
    median, low, high = (number(probe[f"sustained_{part}_s"]) for part in ("median", "low", "high"))
    if (high - low) / 2 > 0.03 * median:
        return False
    clock = number(probe["sustained_clock_hz"])
    if made.kind != "compute" or made.device != "cpu" or not clock or not made.clock:
        return True
    return work(probe) / median / clock >= 0.97 * made.sustained.rate[0] / made.clock


def ceilings(study, calibrated):
    """The ceilings with the rates of the probes that were repeated, and of their level or precision no others; none without such probes."""
    key = lambda c: (c.device, c.kind, c.precision if c.kind == "compute" else c.level, c.threads)
    probes, found, repeated = probes_repeated(study), [], set()
    for made, ceiling in zip(study.made, calibrated):
        probe = next((row for row in probes if is_of(row, made) and is_undisturbed(row, made)), None)
        if probe:
            median, low, high = (work(probe) / number(probe[f"sustained_{part}_s"]) for part in ("median", "high", "low"))
            ceiling = replace(ceiling, median=median, low=low, high=high, state="seen once", rounds=0, lasting=True)
            repeated.add(key(ceiling))
        found.append(ceiling)
    return [c for c in found if c.lasting or c.condition or c.kind == "latency" or key(c) not in repeated] if repeated else []


def lasts(row):
    """Whether the step ran for seconds."""
    return bool(number(row["sustained_median_s"])) or int(row["samples"] or 0) * (row.step[0] or 0) >= SECONDS


def among(roofs, row):
    """Whether roofs over seconds are among those over the row."""
    own = roofs and roofs.compute.get(row["precision"])
    return bool(own and own.lasting or roofs and any(level.best.lasting for level in roofs.levels))

"""The atlas: one digest for each machine, from anybody, in a file that has the machine's name (results/atlas). It
compares machines of different kinds, which a fleet never does."""

import html
import math
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from roof.fleet.digests import LARGEST, Digest, parse_digest
from roof.fleet.folders import exported, read_regular
from roof.fleet.tables import Cell, Table, number, page, percent
from roof.texts import InputError, how_many, si

BUILT_IN = Path(__file__).with_name("machines")  #: the machines that come with roof
NO_NODE = "unknown"  #: in place of a node's name
MOST_OF_SPEC = 1.02
PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8", "int32")
LEVELS = ("L1", "L2", "L3", "DRAM")
DRAWN = ("fp64", "fp32", "bf16", "fp8")
MULTIPLY_ADDS = (("fma", "dot", "tile", "widened"), ("mul+add",))  #: the first that a precision has, else any operation
NAME = re.compile(r"(\S+) (?:(?:compute \S+ (?P<mix>\S+) (?P<precision>\S+) \S+)|(?:bandwidth (?P<level>\S+) "
                  r"(?P<access>\S+))) threads=(?P<threads>\d{1,9})(?P<condition>.*)")


class Roof(NamedTuple):
    """What a digest's name of a ceiling tells, with its rate: "cpu compute core fma fp32 avx512 threads=2"."""

    of: str  #: a precision or a memory level
    operation: str
    value: float
    low: float
    high: float
    is_bound: bool

    def rank(self) -> Tuple[Any, ...]:
        return *(self.of in PRECISIONS and self.operation in names for names in MULTIPLY_ADDS), self.value

    def text(self) -> str:
        return ("≥ " if self.is_bound else "") + si(self.value, "B/s" if self.of not in PRECISIONS else "FLOP/s")


class Device(NamedTuple):
    """A device of a machine, and the roofs over it at its most threads, by precision and level."""

    machine: str
    digest: Digest
    name: str
    threads: int
    roofs: Dict[str, Roof]


def _devices(machine: str, digest: Digest) -> List[Device]:
    roofs: Dict[str, Dict[int, Dict[str, Roof]]] = defaultdict(lambda: defaultdict(dict))  # by device and threads
    for name, (value, low, high, *_) in zip(digest.ceilings.names, digest.ceilings.numbers.T):
        found = NAME.fullmatch(name)
        if found and not found["condition"]:
            of, is_bound = found["precision"] or found["level"], math.isinf(high)
            roof = Roof(of, found["mix"] or found["access"], value, low, value if is_bound else high, is_bound)
            best = roofs[found[1]][int(found["threads"])]
            best[of] = max(best.get(of, roof), roof, key=Roof.rank)
    return [Device(machine, digest, device, max(best), best[max(best)]) for device, best in roofs.items()]


def read_machine(name: str, file: bytes) -> List[Device]:
    """The devices of a file of the atlas, which `name` and ".csv" name. Raises InputError as parse_digest() and for a
    name that is not of small letters, digits and hyphens; a digest that names a node; a steady ceiling 2% above what
    the core's spec allows; no device with both the bandwidth of DRAM and a peak."""
    if not re.fullmatch("[a-z0-9-]+", name):
        raise InputError(f"atlas: '{name}' is no name of a machine: small letters, digits and hyphens, as in "
                         "amd-epyc-zen4-2cpu")
    digest, _ = parse_digest(file, f"{name}.csv")
    if digest.node != NO_NODE:
        raise InputError(f"{name}: it names the node {digest.node}; `roof atlas add` leaves the name out")
    rates = digest.ceilings
    for ceiling, state, value, spec in zip(rates.names, rates.states, rates.value, rates.spec):
        if state == "steady" and spec > 0 and value > MOST_OF_SPEC * spec:
            raise InputError(f"{name}: {ceiling} is {percent(value / spec)} of what the core's spec allows")
    devices = _devices(name, digest)
    if not any("DRAM" in device.roofs and set(device.roofs) & set(PRECISIONS) for device in devices):
        raise InputError(f"{name}: no device has both the bandwidth of DRAM and a peak")
    return devices


def read_devices(place: Path) -> Tuple[List[Device], int]:
    """Of a file of an atlas, a results folder, or all files of a folder; and the status of a damaged calibration."""
    if (place / "measurements.csv").exists():
        text, status = exported(place, "atlas")
        return read_machine("here", text), status
    if not place.is_dir():
        try:
            text = read_regular(os.path.realpath(place), LARGEST)
        except InputError as error:
            raise InputError(f"cannot read {place}: {error}") from error
        return read_machine(place.stem, text), 0
    files = sorted(place.glob("*.csv"))
    if not files:
        raise InputError(f"atlas: there are no digests in '{place}'")
    return [device for file in files for device in read_devices(file)[0]], 0


def _ridge(device: Device) -> Optional[Cell]:
    """FLOP/B at which the memory and the fp32 roof meet, with three significant digits."""
    memory, peak = device.roofs.get("DRAM"), device.roofs.get("fp32")
    ridge = peak.value / memory.value if memory and peak else 0.0
    return number(ridge, f"{ridge:.{max(0, 2 - math.floor(math.log10(ridge)))}f}") if 0 < ridge < math.inf else None


def atlas_table(devices: List[Device]) -> Table:
    keys = {key: f"{key}_{'flop' if key in PRECISIONS else 'byte'}_per_s" for key in PRECISIONS + LEVELS}
    titles = [f"{key} = {of}" for key, of in keys.items()]
    rates = {of: lambda d, key=key: number(d.roofs[key].value, d.roofs[key].text()) if key in d.roofs else None
             for key, of in keys.items()}
    last = "ridge, fp32 = ridge_fp32_flop_per_byte | = kind | day = time | = revision"
    rates.update(device=lambda d: d.name, ridge_fp32_flop_per_byte=_ridge, kind=lambda d: d.digest.kind,
                 revision=lambda d: d.digest.revision, time=lambda d: Cell(d.digest.time, d.digest.time[:10]))
    columns = " | ".join(["machine | device | threads", *titles, last])
    table = Table("", columns, devices, **rates).without_empty_columns()
    table.expendable = ["day", "int32", "tf32", "int8", "L1", "L2"]
    table.expendable += ["device"] * (len({d.machine for d in devices}) == len(devices))
    return table


SHAPES = ('<circle class="shape" cx="{x}" cy="{y}" r="4"/>', '<path class="shape" d="M{x} {y}m-4-4h8v8h-8z"/>',
          '<path class="shape" d="M{x} {y}m0-5l5 9h-10z"/>', '<path class="shape" d="M{x} {y}m0-5l5 5-5 5-5-5z"/>')


def _picture(points: List[Tuple[Device, Roof, Roof]]) -> str:
    """SVG: peaks over the bandwidth of memory, with lines of equal ridge points; both axes are logarithmic."""
    left, top, width, height = 90, 30, 950, 520
    memories, peaks = ([point[k].value for point in points] for k in (1, 2))
    (x0, x1), (y0, y1) = ((min(of) / 2, max(of) * 2) for of in (memories, peaks + memories))

    def at(x: float, y: float) -> Tuple[float, float]:
        across, up = math.log(x / x0) / math.log(x1 / x0), math.log(y / y0) / math.log(y1 / y0)
        return left + width * across, top + height * (1 - up)

    parts = [f'<rect class="axis" x="{left}" y="{top}" width="{width}" height="{height}"/>']
    for ridge in (1, 10, 100):
        low, high = max(x0, y0 / ridge), min(x1, y1 / ridge)
        if low < high:
            (xa, ya), (xb, yb) = at(low, low * ridge), at(high, high * ridge)
            parts.append(f'<path class="ridge" fill="none" d="M{xa:.1f} {ya:.1f}L{xb:.1f} {yb:.1f}"/><text '
                         f'class="tick end" x="{xb - 6:.1f}" y="{yb + 14:.1f}">ridge at {ridge} FLOP/B</text>')
    for low, high, unit in ((x0, x1, "B/s"), (y0, y1, "FLOP/s")):
        for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1):
            rate, factor, is_x = 10.0**power, 10.0 ** (power // 3 * 3), unit == "B/s"
            x, y = at(rate, y0) if is_x else at(x0, rate)
            grid = f"M{x:.1f} {top}v{height}" if is_x else f"M{left} {y:.1f}h{width}"
            side, x, y = ("middle", x, y + 18) if is_x else ("end", x - 8, y + 4)
            parts.append(f'<path class="grid" d="{grid}"/><text class="tick {side}" x="{x:.1f}" y="{y:.1f}">'
                         f'{rate / factor:g} {html.escape(si(factor, unit).split(" ")[1])}</text>')
    named: Dict[str, Tuple[float, str]] = {}
    for device, memory, peak in points:
        (x, y), place = at(memory.value, peak.value), DRAWN.index(peak.of)
        (x_low, y_high), (x_high, y_low) = at(memory.low, peak.high), at(memory.high, peak.low)
        title = html.escape(f"{device.machine}, {device.name}: {peak.of} {peak.text()}, DRAM {memory.text()}")
        lines = f"M{x_low:.1f} {y:.1f}H{x_high:.1f}M{x:.1f} {y_high:.1f}V{y_low:.1f}"
        parts.append(f'<g class="s{place}"><title>{title}</title><path class="interval" d="{lines}"/>'
                     f'{SHAPES[place].format(x=f"{x:.1f}", y=f"{y:.1f}")}</g>')
        text = f'<text class="name" x="{x + 9:.1f}" y="{y - 7:.1f}">{html.escape(device.machine)}</text>'
        named[device.machine] = min(named.get(device.machine, (math.inf, "")), (y, text), key=lambda one: one[0])
    parts += [text for _, text in named.values()]
    for place, key in enumerate(DRAWN):
        x, shape = left + 90 * place, SHAPES[place].format(x=left + 90 * place, y=14)
        parts.append(f'<g class="s{place}">{shape}</g><text x="{x + 10}" y="18">{key}</text>')
    parts.append(f'<text class="middle" x="565" y="{top + height + 42}">bandwidth of DRAM (B/s)</text>'
                 '<text class="middle" transform="rotate(-90)" x="-290" y="16">multiply-adds (FLOP/s)</text>')
    return '<svg width="1060" height="616" role="img" aria-label="Peaks over the bandwidth of memory">' \
           f'{"".join(parts)}</svg>'


def atlas_page(devices: List[Device]) -> str:
    machines = how_many(len({device.machine for device in devices}), "machine")
    lead = (f"{machines}, measured by roof, each in one calibration. ≥ stands before a lower bound: what was measured "
            "where the machine was disturbed. Peaks are multiply-adds, bandwidths the fastest access, both with the most "
            "threads.")
    points = [(d, d.roofs["DRAM"], d.roofs[key]) for d in devices for key in DRAWN if {"DRAM", key} <= d.roofs.keys()]
    figure = f'<figure><figcaption>Peaks over the bandwidth of memory</figcaption>\n<div class="scroll">' \
             f'{_picture(points)}</div></figure>\n' if points else ""
    body = f'<p class="lead">{html.escape(lead)}</p>\n<section>\n{figure}{atlas_table(devices).html()}</section>\n'
    return page("atlas of measured roofs", "Atlas of measured roofs", body)

"""`perf stat -j`: a JSON object on each line; `perf stat -x`: values between separators. An event may have a line for each core, socket or
memory channel, and a modifier or a PMU in its name: `EVENT:u`, `cpu/EVENT/u`, `cpu_core/EVENT/`."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from roof.errors import InputError
from roof.importing import Imported, quantities
from roof.importing.counted import CountedWork, Metrics, add_processor
from roof.importing.files import Source
from roof.importing.quantities import shown

AGGREGATED = ("cpu", "core", "socket", "die", "cluster", "cache", "node", "thread")
LONGEST = 1 << 16  #: characters of a line
#: [time] [core, number of processors] value, unit, event, [with -r: their scatter in %,] run time, percent …
SEPARATED = {one: re.compile(r"(?:(?P<interval> *[0-9]+\.[0-9]+)S)?(?:(?P<cpu>[^S\"]*)S(?:[0-9]+S)?)??(?P<value>[0-9.]+|<[a-z ]+>)S"
                             r"(?P<unit>[A-Za-z/%]*)S(?P<event>[A-Za-z][^\"]*?)S(?:[0-9.]{1,9}%S)?[0-9]+S(?P<share>[0-9]{1,3}[.,][0-9]{2})(?:S|$)"
                             .replace("S", re.escape(one))) for one in (",", ";", "\t", "|", " ")}
FOR_PEOPLE = "Performance counter stats for"
ADVICE = "`perf stat -j -o FILE -e duration_time,… PROGRAM` writes a file that can be read"

NAME = re.compile(r"(?:(?P<unit>[A-Za-z]\w*)/)?(?P<event>[^/\s]+?)(?:/(?P<in>[a-zA-Z]*)|:(?P<by>[ukhvGHIpPSDWebR]+))?(?: \[.*\])?")
ARITHMETIC = re.compile(r"FP_ARITH_INST_RETIRED[._:](SCALAR|128B_PACKED|256B_PACKED|512B_PACKED)_(SINGLE|DOUBLE)")
#: FLOPs of an instruction in single precision. Intel's events already count a multiply-add twice.
WIDTHS = {"SCALAR": 1.0, "128B_PACKED": 4.0, "256B_PACKED": 8.0, "512B_PACKED": 16.0}
AMD = re.compile(r"FP_RET_SSE_AVX_OPS\.ALL|RETIRED_SSE_AVX_FLOPS_ALL|RETIRED_SSE_AVX_FLOPS:ANY")
#: Lines of 64 bytes between memory and the last cache. `part`: of two controllers or sub-channels, which have the whole only together.
MEMORY = re.compile(r"(?P<a>.*)_SCH(?P<part>[01])\.(?P<way>RD|WR|ALL)|(?P<c>UNC_MC)(?P<of>[01])_(?P<to>RD|WR)CAS_COUNT_FREERUN|"
                    r"(?P<b>.*(?:CAS_COUNT|CAS_CMD))[._:](?P<in>RD|WR|READ|WRITE|ALL)|DATA_(?P<io>READ|WRITE|TOTAL)S?")
WAYS = {"READ": "RD", "WRITE": "WR", "TOTAL": "ALL"}
LINE = 64.0


def parsed(line: str) -> Optional[Dict[str, Any]]:
    """The line as one of -j; None for others."""
    if line.startswith("{"):
        try:
            found = json.loads(line)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None
    for pattern in SEPARATED.values():
        if match := pattern.match(line):
            cells = {key: cell for key, cell in match.groupdict().items() if cell is not None}
            return {**cells, "counter-value": cells["value"], "pcnt-running": cells["share"]}
    return None


def is_line(line: str) -> bool:
    return '"counter-value"' in line and '"event"' in line if line.startswith("{") else parsed(line[:LONGEST]) is not None


def reads(path: Path, head: bytes) -> bool:
    lines = [line for line in map(str.strip, head.decode("utf-8", "replace").splitlines()) if line and not line.startswith("#")]
    return any(map(is_line, lines[:20])) or any(line.startswith(FOR_PEOPLE) for line in lines)


class Events:
    """The counts of a file, added over cores, sockets and channels."""

    def __init__(self, source: Source) -> None:
        self.metrics: Metrics = {}
        self.uncounted: Dict[str, str] = {}
        self.scaled = False  #: some counted only part of the time
        text = source.text()
        for line_number, line in enumerate(text.splitlines(keepends=True), 1):
            where = f"{source.name}:{line_number}"
            if not line.endswith("\n"):
                raise InputError(f"{where}: the line is cut off")
            if line.strip() and not line.lstrip().startswith("#"):
                self.add(line.strip(), where)
        if not self.metrics:
            raise InputError(f"{source.name}: no event was counted")

    def add(self, line: str, where: str) -> None:
        if len(line) > LONGEST:
            raise InputError(f"{where}: the line is longer than 64 KiB, as none of perf's is")
        of = parsed(line)
        if of is None and line.startswith(FOR_PEOPLE):
            raise InputError(f"{where}: this is the text of `perf stat` for people; {ADVICE}")
        if "," in str((of or {}).get("share")) or (of is None and re.match(r"\{.*: *\"?[0-9]+,[0-9]", line)):
            raise InputError(f"{where}: perf's numbers have decimal commas: run perf stat with LC_ALL=C")
        if of is None:
            raise InputError(f"{where}: this is not a line of `perf stat -j` or `-x`; {ADVICE}")
        if "interval" in of:
            raise InputError(f"{where}: it was made with -I (intervals), but a row is one run: leave -I out")
        event, text = ("" if of.get(key) is None else str(of[key]) for key in ("event", "counter-value"))
        if not event or not text:
            return
        if text.startswith("<"):
            self.uncounted[event] = text
            return
        value, unit = quantities.number(text), quantities.unit(str(of.get("unit") or ""))
        if value is None or value < 0:
            advice = "; run perf stat with LC_ALL=C" if "," in text else ""
            raise InputError(f"{where}: {shown(event)}: '{shown(text)}' is not a count{advice}")
        if unit is None:
            raise InputError(f"{where}: {shown(event)}: the unit '{shown(str(of['unit']))}' is unknown")
        share = quantities.number(str(of.get("pcnt-running", "")))
        self.scaled = self.scaled or (share is not None and share < 99.5)
        if event in self.metrics and not any(key in of for key in AGGREGATED):
            raise InputError(f"{where}: {shown(event)} occurs twice: the file has several runs; import them one by one")
        before, value = self.metrics.get(event, (0.0, ""))[0], value * unit[0]
        self.metrics[event] = (max(before, value) if "duration_time" in event else before + value, unit[1])


def split(event: str) -> Tuple[str, str, str]:
    """The PMU ("" for the only one of the processor), the event in capitals, and whether user (u) or kernel (k) alone counted."""
    match = NAME.fullmatch(event)
    if not match:
        return "", event.upper(), ""
    modes = set(match["in"] or match["by"] or "") & {"u", "k"}
    return "" if match["unit"] in (None, "cpu") else match["unit"], match["event"].upper(), "".join(modes) if len(modes) == 1 else ""


def whole(counts: Dict[Tuple[str, str], float]) -> float:
    """The sum over PMUs; in each the count of user and kernel, or what there is of them."""
    return sum(counts.get((pmu, ""), counts.get((pmu, "u"), 0.0) + counts.get((pmu, "k"), 0.0)) for pmu in {pmu for pmu, _ in counts})


def count_flops(events: Events, work: CountedWork, remarks: List[str]) -> None:
    counts: Dict[Tuple[str, str], Dict[Tuple[str, str], float]] = defaultdict(dict)
    for name, (value, _) in events.metrics.items():
        pmu, event, mode = split(name)
        if match := ARITHMETIC.fullmatch(event):
            counts["fp32" if match[2] == "SINGLE" else "fp64", match[1]].setdefault((pmu, mode), value)
        elif AMD.search(event):
            work.add("", value)
            work.missing.append(f"precision: AMD's {shown(name)} counts single and double together")
    uncounted = {split(name): text for name, text in events.uncounted.items() if ARITHMETIC.fullmatch(split(name)[1])}
    has_512 = any(width == "512B_PACKED" for _, width in counts) or any("512B" in event and "not counted" in text
                                                                        for (_, event, _), text in uncounted.items())
    for precision, size in (("fp32", 1.0), ("fp64", 0.5)):
        seen = [width for width in WIDTHS if (precision, width) in counts]
        if len(seen) == 4 or (seen == list(WIDTHS)[:3] and not has_512):  # three widths are all that a processor without AVX-512 has
            work.add(precision, sum(max(1.0, WIDTHS[width] * size) * whole(counts[precision, width]) for width in seen))
            is_sure = len(seen) == 4 or any("512B" in event for _, event, _ in uncounted) or any(pmu == "cpu_core" for pmu, _ in counts[precision, "SCALAR"])
            if not is_sure:
                remarks.append(f"FLOPs of {precision} are of three widths, which are all that a processor without AVX-512 has; on another "
                               "count the events of 512 bits as well")
        elif seen:
            work.missing.append(f"FLOPs of {precision}: only {len(seen)} of the 4 widths were counted (scalar, 128B, 256B, 512B)")
    if any(pmu == "cpu_atom" for pmu, _, _ in uncounted) and work.flops:
        work.at_least = True
        work.missing.append("FLOPs of the E cores (cpu_atom): nothing counted them")
    if not work.flops and not work.missing:
        work.missing.append("FLOPs: there is no metric")


def count_bytes(events: Events, work: CountedWork) -> None:
    ways: Dict[str, Dict[str, Dict[str, float]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    for name, (value, unit) in events.metrics.items():
        pmu, event, _ = split(name)
        match = MEMORY.fullmatch(event)
        if match and (match["io"] is None or "imc" in pmu):  # one spelling of the events is enough, and two are not added up
            way = match["way"] or match["to"] or match["in"] or match["io"]
            spelling = match["a"] or match["b"] or match["c"] or "DATA"
            ways[spelling][WAYS.get(way, way)][match["part"] or match["of"] or ""] += value * (1.0 if unit == "byte" else LINE)
    reasons: List[str] = []
    for of in ways.values():
        if any(parts.keys() in ({"0"}, {"1"}) for parts in of.values()):
            reasons.append("bytes at DRAM: one of two sub-channels or controllers was counted")
        elif "RD" in of and "WR" in of:
            work.bytes["DRAM"] = sum(sum(of[way].values()) for way in ("RD", "WR"))
            return
        elif "ALL" in of:
            work.bytes["DRAM"] = sum(of["ALL"].values())
            return
        else:
            reasons.append("bytes at DRAM: only one direction was counted")
    work.missing += reasons[:1]


def read(source: Source) -> Imported:
    events, work, imported = Events(source), CountedWork(), Imported("perf stat")
    count_flops(events, work, imported.remarks)
    count_bytes(events, work)
    times = [value for name, (value, unit) in events.metrics.items() if split(name)[1] == "DURATION_TIME" and unit == "s" and value > 0]
    if not times:
        imported.missing.append("time: add the event duration_time")
    add_processor(imported, source.row, times[:1], work, events.metrics)
    if events.uncounted:
        imported.missing.append("not counted: " + ", ".join(f"{shown(one)} ({shown(why)})" for one, why in events.uncounted.items()))
    if events.scaled:
        imported.remarks.append("More events were requested than there are counters. perf multiplexed and scaled them, so counts are estimates.")
    return imported

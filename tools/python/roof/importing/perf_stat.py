"""`perf stat -j`: a JSON object on each line; `perf stat -x`: values between separators. An event may have a line for
each core, socket or channel, and a modifier or a PMU in its name: `EVENT:u`, `cpu/EVENT/u`, `cpu_core/EVENT/`."""

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Dict, List, Optional, Tuple

from roof.importing import Imported, counted
from roof.importing.counted import CountedWork, Metrics, add_processor, shown
from roof.importing.files import Source
from roof.texts import InputError

AGGREGATED = ("cpu", "core", "socket", "die", "cluster", "cache", "node", "thread")
LONGEST = 1 << 16  #: characters of a line
#: [time] [core, number of processors] value, unit, event, [with -r: their scatter in %,] [cgroup,] run time, percent
#: … The separator S is what stands around the unit, so that it is found first; M: an event's modes; C: the decimal
#: commas of some languages.
FIELDS = (r"(?:(?P<interval> *[0-9]+\.[0-9]+)S)?(?:(?P<cpu>(?:(?!S)[^\"])*)S(?:[0-9]+S)?)??"
          r"(?P<value>[0-9.C]+|<[a-z ]+>)S(?P<unit>[A-Za-z/%]*)S(?P<event>[A-Za-z][^\"]*?)S"
          r"(?:[0-9.]{1,9}%S)?(?:(?!MS)(?=[^S\"]*[^S\"0-9.%])(?P<cgroup>[^S\"]*)S)?"
          r"[0-9]+S(?P<share>[0-9]+[.,][0-9]{2})(?:S|$)")
SEPARATOR = re.compile(r'(?<=[0-9.>])([^\w.<>"%]{1,3}?)[A-Za-z/%]*\1[A-Za-z]')
#: one alone, behind empty fields
METRIC = re.compile(r'.{0,40}?([^\w.<>"%]{1,3}?)\1{3}(?:-?[0-9]{1,20}[.,][0-9]{1,20}|-?nan)?\1')
FOR_PEOPLE = "Performance counter stats for"

MODES = "[ukhvGHIpPSDWebR]+"
NAME = re.compile(r"(?:(?P<pmu>[A-Za-z]\w*)/)?(?P<event>[^/\s]+?)"
                  rf"(?:/(?P<in>[a-zA-Z]*)|:(?P<by>{MODES}))?(?: \[.*\])?")
ARITHMETIC = re.compile(r"FP_ARITH_(?:INST|OPS)_RETIRED2?[._:]"
                        r"(SCALAR|128B_PACKED|256B_PACKED|512B_PACKED)_(SINGLE|DOUBLE|HALF)")
#: Numbers in 128 bits. Intel's events already count a multiply-add twice.
KINDS = {"SINGLE": ("fp32", 4.0), "DOUBLE": ("fp64", 2.0), "HALF": ("fp16", 8.0)}
WIDTHS = {"SCALAR": 0.0, "128B_PACKED": 1.0, "256B_PACKED": 2.0, "512B_PACKED": 4.0}
#: FLOPs themselves: those of Intel's E cores by precision, and AMD's.
WHOLE = re.compile(r"FP_FLOPS_RETIRED[._:](?:(?P<fp32>FP32|SP)|(?P<fp64>FP64|DP))|.*FP_RET_SSE_AVX_OPS\.ALL|"
                   r"RETIRED_SSE_AVX_FLOPS(?:_ALL|:ANY)")
#: Lines of 64 bytes between memory and the last cache. Sub-channels and controllers 0 and 1 have the whole together.
MEMORY = re.compile(r"(.*)_SCH([01])\.(RD|WR|ALL)|(UNC_MC)([01])_(RD|WR)CAS_COUNT_FREERUN|"
                    r"(.*(?:CAS_COUNT|CAS_CMD))()[._:](RD|WR|READ|WRITE|ALL)|(DATA_)()(READ|WRITE|TOTAL)S?")
WAYS = {"READ": "RD", "WRITE": "WR", "TOTAL": "ALL"}


@lru_cache
def fields_by(separator: str) -> Any:
    letters = {"S": re.escape(separator), "M": MODES, "C": "," * (separator != ",")}
    return re.compile(re.sub("[SMC]", lambda found: letters[found[0]], FIELDS))


def parsed(line: str) -> Optional[Dict[str, Any]]:
    """The line as one of -j; None for others."""
    if line.startswith("{"):
        try:
            found = json.loads(line)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None
    by = SEPARATOR.search(line)
    match = fields_by(by[1]).match(line) if by else None
    cells = {key: cell for key, cell in match.groupdict().items() if cell is not None} if match else None
    return {**cells, "counter-value": cells["value"], "pcnt-running": cells["share"]} if cells else None


def reads(head: str) -> bool:
    lines = [line for line in map(str.strip, head.splitlines()) if line and line[0] != "#"]
    return any(line.startswith(FOR_PEOPLE) for line in lines) or any(
        '"counter-value"' in line and '"event"' in line if line[0] == "{" else parsed(line[:LONGEST])
        for line in lines[:20])


@dataclass
class Events:
    """The counts of a file, added over cores, sockets and channels."""

    metrics: Metrics = field(default_factory=dict)
    uncounted: Dict[str, str] = field(default_factory=dict)
    scaled: bool = False  #: some counted only part of the time
    cgroup: Optional[str] = None

    def add(self, line: str, where: str) -> None:
        of = parsed(line) if len(line) <= LONGEST else None
        if "," in str((of or {}).get("share")) or (of is None and re.match(r"\{.*: *\"?[0-9]+,[0-9]", line[:LONGEST])):
            raise InputError(f"{where}: perf's numbers have decimal commas: run perf stat with LC_ALL=C")
        if of is None:
            is_text = line.startswith(FOR_PEOPLE)
            what = "the text of `perf stat` for people" if is_text else "not a line of `perf stat -j` or `-x`"
            raise InputError(f"{where}: this is {what}; `perf stat -j -o FILE -e duration_time,… PROGRAM` writes a "
                             "file that can be read")
        if "interval" in of:
            raise InputError(f"{where}: it was made with -I (intervals), but a row is one run: leave -I out")
        event, text, unit_text, share = ("" if of.get(key) is None else str(of[key])
                                         for key in ("event", "counter-value", "unit", "pcnt-running"))
        if not event or not text:
            return
        if self.cgroup not in (None, of.get("cgroup", "")):
            raise InputError(f"{where}: the file has the cgroups {shown(self.cgroup)} and "
                             f"{shown(of.get('cgroup', ''))}, but a row is one run: count them one by one")
        self.cgroup = of.get("cgroup", "")
        if text.startswith("<"):
            self.uncounted[event] = text
            return
        value, unit = counted.number(text), counted.unit(unit_text)
        if value is None or value < 0:
            advice = "; run perf stat with LC_ALL=C" if "," in text else ""
            raise InputError(f"{where}: {shown(event)}: '{shown(text)}' is not a count{advice}")
        if unit is None:
            raise InputError(f"{where}: {shown(event)}: the unit '{shown(unit_text)}' is unknown")
        self.scaled = self.scaled or (counted.number(share) or 100.0) < 99.5
        if event in self.metrics and not any(key in of for key in AGGREGATED):
            raise InputError(f"{where}: {shown(event)} occurs twice: the file has several runs; import them one by one")
        before, value = self.metrics.get(event, (0.0, ""))[0], value * unit[0]
        self.metrics[event] = (max(before, value) if "duration_time" in event else before + value, unit[1])


def split(event: str) -> Tuple[str, str, str]:
    """The PMU ("" for the only one of the processor), the event in capitals, and u or k: user or kernel alone."""
    match = NAME.fullmatch(event)
    if not match:
        return "", event.upper(), ""
    modes, pmu = set(match["in"] or match["by"] or "") & {"u", "k"}, match["pmu"] or "cpu"
    return "" if pmu == "cpu" else pmu, match["event"].upper(), "".join(modes) if len(modes) == 1 else ""


def count_flops(events: Events, work: CountedWork, remarks: List[str]) -> None:
    # by precision and width, the counts of each PMU and mode
    counts: Any = defaultdict(lambda: defaultdict(dict))
    units = set()  # that counted
    lacks = False  # what a part of the processor did
    for name, (value, _) in events.metrics.items():
        pmu, event, mode = split(name)
        width = "all"
        if match := ARITHMETIC.fullmatch(event):
            precision, width = KINDS[match[2]][0], match[1]
        elif match := WHOLE.fullmatch(event):
            precision = match.lastgroup or ""
            work.missing += [f"precision: AMD's {shown(name)} counts single and double together"] * (not precision)
        elif "AMX" in event and value:
            work.missing.append(f"FLOPs of AMX: no formula is known for {shown(name)}")
            lacks = True
        if match:
            counts[precision][width].setdefault((pmu, mode), value)
            units.add(pmu)
    uncounted = [(*split(name)[:2], text) for name, text in events.uncounted.items()]
    widest = [text for _, event, text in uncounted if "512B_PACKED" in event]
    has_512 = any("512B_PACKED" in widths for widths in counts.values()) or any("not counted" in of for of in widest)

    def total(of: Any) -> Any:  # over PMUs; in each the count of user and kernel, or what there is of them
        return sum(of.get((pmu, ""), of.get((pmu, "u"), 0) + of.get((pmu, "k"), 0)) for pmu in {one[0] for one in of})

    for precision, lanes in (("", 0.0), *KINDS.values()):
        widths = counts[precision]
        if "all" in widths:
            work.flops[precision] += total(widths.pop("all"))
        if len(widths) == 4 or len(widths) == 3 and not has_512:  # all without AVX-512
            work.flops[precision] += sum((WIDTHS[width] * lanes or 1.0) * total(of) for width, of in widths.items())
            if len(widths) == 3 and not widest and "cpu_core" not in units:
                remarks.append(f"FLOPs of {precision} are of three widths, which are all that a processor without "
                               "AVX-512 has; on another count the events of 512 bits as well")
        elif widths:
            work.missing.append(f"FLOPs of {precision}: only {len(widths)} of the 4 widths were counted "
                                "(scalar, 128B, 256B, 512B)")
    # What is supported and was not counted did not run on these cores.
    units.update(pmu for pmu, _, text in uncounted if "not counted" in text)
    if work.flops and "cpu_core" in units and "cpu_atom" not in units:
        work.missing.append("FLOPs of the E cores (cpu_atom): nothing counted them")
        lacks = True
    work.at_least = bool(work.flops) and lacks
    work.missing += ["FLOPs: there is no metric"] * (not work.flops and not work.missing)


def count_bytes(events: Events, work: CountedWork) -> None:
    # by kind of memory, then by spelling of the event
    memories: Any = defaultdict(lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(float))))
    for name, (value, unit) in events.metrics.items():
        pmu, event, _ = split(name)
        match = MEMORY.fullmatch(event)
        if match and ("imc" in pmu or match.lastindex != 12):
            spelling, part, way = (group for group in match.groups() if group is not None)
            memory = "HBM" if "HBM" in f"{pmu.upper()} {event}" else "DDR"
            memories[memory][spelling][WAYS.get(way, way)][part] += value * (1.0 if unit == "byte" else 64.0)
    moved, missing = zip(*map(bytes_of, memories.values())) if memories else ((), ())
    if None not in moved:
        work.moved = sum(moved) if moved else None
    work.missing += dict.fromkeys(one for one in missing if one)


def bytes_of(spellings: Dict[str, Dict[str, Dict[str, float]]]) -> Tuple[Optional[float], str]:
    """The bytes of one kind of memory, or what was not counted. One spelling is enough, and two are not added up."""
    missing = ""
    for of in spellings.values():
        known = [of[way] for way in ("RD", "WR")] if "RD" in of and "WR" in of else [of["ALL"]] if "ALL" in of else []
        if known and all(parts.keys() not in ({"0"}, {"1"}) for parts in known):
            return sum(sum(parts.values()) for parts in known), ""
        what = "of two sub-channels or controllers" if known else "direction"
        missing = f"bytes at DRAM: only one {what} was counted"
    return None, missing


def read(source: Source) -> Imported:
    events, work, imported = Events(), CountedWork(), Imported("perf stat")
    for number, line in enumerate(source.text().splitlines(keepends=True), 1):
        if not line.endswith("\n"):
            raise InputError(f"{source.name}:{number}: the line is cut off")
        line = line.strip()
        if line and not line.startswith("#") and not METRIC.match(line):
            events.add(line, f"{source.name}:{number}")
    if not events.metrics:
        raise InputError(f"{source.name}: no event was counted")
    count_flops(events, work, imported.remarks)
    count_bytes(events, work)
    seconds = max((value for name, (value, unit) in events.metrics.items() if split(name)[1] == "DURATION_TIME"
                   and unit == "s"), default=0.0)
    imported.missing += ["time: add the event duration_time"] * (not seconds)
    add_processor(imported, source.row, seconds, work, events.metrics)
    if events.uncounted:
        names = (f"{shown(name)} ({shown(why)})" for name, why in events.uncounted.items())
        imported.missing.append(f"not counted: {', '.join(names)}")
    if events.scaled:
        imported.remarks.append("More events were requested than there are counters. perf multiplexed and scaled them, "
                                "so counts are estimates.")
    return imported

"""`likwid-perfctr`'s CSV, of LIKWID 4.0 to 5.4: tables, each under a line "TABLE,[Region name,]Group 1 Metric,GROUP,rows". Reads the metrics
by hardware thread; each region becomes a row, and each group of it where there are several: they were measured one after the other."""

import csv
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from roof.errors import InputError
from roof.importing import Imported, quantities
from roof.importing.counted import CountedWork, Metrics, add_processor
from roof.importing.files import Source
from roof.importing.quantities import shown
from roof.texts import how_many, si

#: A table: of each metric the values by hardware thread in SI units (None where LIKWID has none), the unit, and what stands behind it.
Table = Dict[str, Tuple[List[Optional[float]], str, str]]
HEADER = re.compile(r'^"?TABLE"?([,;\t]).*Group [0-9]+ ', re.MULTILINE)
KIND = re.compile(r"Group ([0-9]+) (\w+)( \w+)?")
#: "DP [MFLOP/s]", before 4.3 "DP MFLOP/s", and "DP [MFLOP/s] (AVX assumed)".
METRIC = re.compile(r"(?P<name>.*?) *(?:\[(?P<unit>[^]]*)\] *(?P<behind>.*)|(?P<bare>[^] ]+/s))")
ABSENT = ("nan", "-nan", "-", "inf", "-inf", "nil", "")
PRECISIONS = {"SP": "fp32", "DP": "fp64", "HP": "fp16", "BF16": "bf16"}
#: Of A64FX LIKWID lists the FLOPs that vectors of each width would do; the processor's own have 512 bits.
ENDS = ("", " (FP+SVE512)", " (FP)", " VSX")
MEMORY = ("Memory data volume", "HBM data volume")
WAYS = (("Memory read data volume", "Memory load data volume"),
        ("Memory write data volume", "Memory writeback data volume", "Memory evict data volume"))
CHANNELS = re.compile(r"Memory data volume \(channels? (.+)\)")


def reads(path: Path, head: bytes) -> bool:
    return bool(HEADER.search(head.decode("utf-8", "replace")))


class Tables:
    """The tables of a file by region, number and name of the group: one for each rank that wrote into it."""

    def __init__(self, source: Source) -> None:
        text = source.text()
        first = HEADER.search(text)
        self.lines: Iterator[List[str]] = csv.reader(text.splitlines(keepends=True), delimiter=first[1] if first else ",")
        self.name, self.number, region = source.name, 0, ""
        self.of: Dict[str, Dict[Tuple[int, str], List[Table]]] = defaultdict(lambda: defaultdict(list))
        while (cells := self.next()) is not None:
            if cells[:1] == ["TABLE"]:
                self.table(cells, region)
            elif cells[:3] == ["STRUCT", "Info", "5"]:  # LIKWID 4.0 names the region in the next line: number, group, region
                region = ((self.next() or []) + [""] * 3)[2]
        if not text.endswith("\n"):
            raise InputError(f"{self.name}:{self.number}: the line is cut off")

    def next(self) -> Optional[List[str]]:
        try:
            cells = next(self.lines, None)
        except csv.Error as error:
            raise InputError(f"{self.name}:{self.number + 1}: this is no CSV: {error}") from None
        self.number = self.lines.line_num  # type: ignore[attr-defined]
        return cells

    def row(self) -> List[str]:
        cells = self.next()
        if not cells or cells[0] in ("TABLE", "STRUCT"):
            raise InputError(f"{self.name}:{self.number - (cells is not None)}: the table is cut off after this line")
        return cells

    def table(self, cells: List[str], region: str) -> None:
        at, kind = next(((at, match) for at, cell in enumerate(cells) if (match := KIND.fullmatch(cell))), (0, None))
        if kind is None:
            return
        region = ",".join(cells[1:at])[len("Region "):] or region  # a comma in a region's name is not quoted
        group, rows, *_ = [*cells[at + 1:], "", ""]
        if not re.fullmatch(r"[0-9]{1,6}", rows):
            raise InputError(f"{self.name}:{self.number}: the number of rows is missing")
        threads = [cell for cell in self.row()[1:] if cell]
        lines = [self.metric(self.row(), len(threads)) for _ in range(int(rows))] if kind[2] == "Metric" and not kind[3] else []
        if lines and not any(thread.startswith("GPU") for thread in threads):
            self.of[region][int(kind[1]), group].append({name: of for name, *of in filter(None, lines)})  # type: ignore[misc]

    def metric(self, cells: List[str], threads: int) -> Optional[Tuple[Any, ...]]:
        """Name, values, unit and what stands behind it. None for a metric in no known unit."""
        match = METRIC.fullmatch(cells[0].strip()[:200])
        unit = quantities.unit(match["unit"] if match["bare"] is None else match["bare"]) if match else None
        if not match or unit is None:
            return None
        if len(cells) < threads + 1:
            raise InputError(f"{self.name}:{self.number}: {len(cells) - 1} values, not {threads}")
        values = [None if text.strip() in ABSENT else quantities.number(text) for text in cells[1:threads + 1]]
        wrong = next((text for text, value in zip(cells[1:], values) if value is None and text.strip() not in ABSENT), None)
        if wrong is not None:
            raise InputError(f"{self.name}:{self.number}: {shown(cells[0])}: '{shown(wrong)}' is not a number")
        return match["name"], [None if value is None else value * unit[0] for value in values], unit[1], match["behind"] or ""


def find(table: Table, unit: str, *names: str) -> Optional[List[Optional[float]]]:
    """The first of these metrics that has the unit and a value."""
    return next((table[name][0] for name in names if name in table and table[name][1] == unit and any(
        value is not None for value in table[name][0])), None)


def flops_in(table: Table, group: str) -> Dict[str, Tuple[float, str]]:
    """By precision ("": unknown), with what LIKWID assumed: rates over each thread's own time."""
    found: Dict[str, Tuple[float, str]] = {}
    times = find(table, "s", "Runtime (RDTSC)", "Runtime") or []
    of_group = PRECISIONS.get(group.rpartition("_")[2])  # before 4.3 some groups call their FLOPs "MFLOP/s" alone
    names = {precision: [short + end for end in ENDS] + [""] * (precision == of_group) for short, precision in PRECISIONS.items()}
    for precision, known in {**names, "": ["FP rate"]}.items():
        if (rates := find(table, "FLOP/s", *known)) and len(times) == len(rates):
            flops = sum(rate * time for rate, time in zip(rates, times) if rate is not None and time is not None)
            if flops >= 0:
                found[precision] = flops, next(table[name][2] for name in known if table.get(name, (None,))[0] is rates)
    return found


def volume(table: Table, *names: str) -> Optional[float]:
    """Bytes of all threads. None where there is no value, and below 0: counters that overflowed."""
    amount = sum(value for value in find(table, "byte", *names) or [-1.0] if value is not None)
    return amount if amount >= 0 else None


def bytes_in(table: Table) -> Dict[str, float]:
    """By level. Of a level's two ways both are needed."""
    ways = [volume(table, *names) for names in WAYS]
    known = {"L2": volume(table, "L2 data volume", "L2D data volume"), "L3": volume(table, "L3 data volume"), "DRAM": volume(table, *MEMORY)}
    if known["DRAM"] is None and None not in ways:
        known["DRAM"] = sum(way or 0.0 for way in ways)
    return {level: amount for level, amount in known.items() if amount is not None}


def work_of(tables: List[Table], group: str) -> CountedWork:
    """Of all ranks. What one of them lacks is not counted."""
    work = CountedWork()
    flops, volumes = [flops_in(table, group) for table in tables], [bytes_in(table) for table in tables]
    for precision in flops[0]:
        assumed = flops[0][precision][1]
        if assumed:
            work.missing.append(f"FLOPs of {precision}: LIKWID does not know the width of the instructions: {shown(assumed)}")
        elif all(precision in one for one in flops):
            work.add(precision, sum(one[precision][0] for one in flops))
            work.missing += [] if precision else ["precision: LIKWID counts FLOPs of all precisions together"]
    work.bytes = {level: sum(one[level] for one in volumes) for level in volumes[0] if all(level in one for one in volumes)}
    for name, match in ((name, CHANNELS.fullmatch(name)) for name in tables[0]):
        if match and (amount := sum(volume(table, name) or 0.0 for table in tables)):
            work.missing.append(f"bytes at DRAM: {si(amount, 'B')} went over the channels {shown(match[1])}, which are a part of the "
                                f"processor's; {shown(group)} has no others, so measure the group of the rest as well (MEM1 and MEM2)")
    if not work.flops and not any(one.startswith("FLOPs") for one in work.missing):
        work.missing.append("FLOPs: measure the group FLOPS_SP, FLOPS_DP or MEM_SP")
    return work


def read(source: Source) -> Imported:
    imported = Imported("likwid-perfctr")
    for region, groups in Tables(source).of.items():
        often = Counter(group for _, group in groups)
        for (number, group), tables in groups.items():
            which = [group if often[group] == 1 else f"{group} {number}"] if len(groups) > 1 else []
            name = " ".join([source.row, *([region] if region else []), *which])
            times = [time for table in tables for time in find(table, "s", "Runtime (RDTSC)", "Runtime") or [] if time is not None]
            if max(times, default=0.0) <= 0:
                imported.missing.append("time: Runtime (RDTSC) is missing")
            metrics: Metrics = {}
            for metric, (values, unit, _) in ((metric, of) for table in tables for metric, of in table.items()):
                metrics[metric] = metrics.get(metric, (0.0,))[0] + sum(value for value in values if value is not None), unit
            add_processor(imported, name, [max(times)] if max(times, default=0.0) > 0 else [], work_of(tables, group), metrics)
            if len(tables) > 1:
                imported.remarks.append(f"{shown(name)}: {how_many(len(tables), 'table')}, as of ranks that ran together: FLOPs and "
                                        "bytes are their sums, the time is the longest.")
    if not imported.rows:
        raise InputError(f"{source.name}: it holds no table of metrics by hardware thread")
    imported.remarks.append("Values in counters.csv are sums over the hardware threads.")
    return imported

"""`likwid-perfctr`'s CSV, of LIKWID 4.0 to 5.4: tables, each under "TABLE,[Region name,]Group 1 Metric,GROUP,rows".
Reads the metrics by hardware thread; each region becomes a row, and each group of it where there are several, since
they were measured one after the other."""

import re
from collections import Counter, defaultdict
from typing import Dict, List, Optional, Tuple

from roof.importing import Imported, counted
from roof.importing.counted import CountedWork, Metrics, add_processor, shown
from roof.importing.files import Source
from roof.texts import InputError, si

Values = List[Optional[float]]  #: by hardware thread in SI units; None where LIKWID has none
#: The values of each metric, the unit, and what stands behind it.
Table = Dict[str, Tuple[Values, str, Optional[str]]]
HEADER = re.compile(r'^"?TABLE"?([,;\t]).*Group [0-9]+ ', re.MULTILINE)
FOR_PEOPLE = re.compile(r"^\| +(?:Metric|Event) +\| ", re.MULTILINE)
KIND = re.compile(r"Group ([0-9]+) (\w+)( \w+)?")
#: "DP [MFLOP/s]", before 4.3 "DP MFLOP/s", and "DP [MFLOP/s] (AVX assumed)".
METRIC = re.compile(r"(?P<name>.*?) *(?:\[(?P<unit>[^]]*)\] *(?P<behind>.*)|(?P<bare>[^] ]+/s))")
ABSENT = ("nan", "-nan", "-", "inf", "-inf", "nil", "")
RUNTIME = ("Runtime (RDTSC)", "Runtime")
PRECISIONS = {"SP": "fp32", "DP": "fp64", "HP": "fp16", "BF16": "bf16"}
#: Of A64FX LIKWID lists the FLOPs that vectors of each width would do; the processor's own have 512 bits.
VARIANTS = ("", " (FP+SVE512)", " (FP)", " VSX")
MEMORY = ("Memory data volume", "HBM data volume")
WAYS = (("Memory read data volume", "Memory load data volume"),
        ("Memory write data volume", "Memory writeback data volume", "Memory evict data volume"))
CHANNELS = re.compile(r"Memory data volume \(channels? (.+)\)")


def reads(head: str) -> bool:
    return bool(HEADER.search(head) or FOR_PEOPLE.search(head))


def metrics_in(lines: List[Tuple[str, List[str]]], threads: int) -> Table:
    """The lines of a table. Metrics in no known unit are left out."""
    found: Table = {}
    for where, cells in lines:
        match = METRIC.fullmatch(cells[0].strip()[:200])
        if not match or (unit := counted.unit(match["bare"] or match["unit"])) is None:
            continue
        if len(cells) < threads + 1:
            raise InputError(f"{where}: {len(cells) - 1} values, not {threads}")
        values: Values = []
        for text in map(str.strip, cells[1:threads + 1]):
            value = counted.number(text)
            if value is None and text not in ABSENT:
                raise InputError(f"{where}: {shown(cells[0])}: '{shown(text)}' is not a number")
            values.append(None if value is None else value * unit[0])
        found[match["name"]] = values, unit[1], match["behind"]
    return found


def tables_in(source: Source) -> Dict[str, Dict[Tuple[int, str], List[Table]]]:
    """By region, and by number and name of the group: a table for each rank that wrote into the file."""
    name, text = source.name, source.text()
    first = HEADER.search(text)
    if not first:
        raise InputError(f"{name}: these are likwid-perfctr's tables for people; `likwid-perfctr -o FILE.csv …` writes "
                         "a file that can be read")
    rows = [*source.table(text, first[1]), ("", [])]  # an empty row ends the last table
    found: Dict[str, Dict[Tuple[int, str], List[Table]]] = defaultdict(lambda: defaultdict(list))
    of_struct = ""
    for at, (where, cells) in enumerate(rows):
        if cells[:3] == ["STRUCT", "Info", "5"]:  # LIKWID 4.0 names the region in the next line: number, group, region
            of_struct = [*rows[at + 1][1], "", "", ""][2]
        kinds = [(place, match) for place, cell in enumerate(cells) if (match := KIND.fullmatch(cell))]
        if cells[:1] != ["TABLE"] or not kinds:
            continue
        place, kind = kinds[0]
        region = ",".join(cells[1:place])[len("Region "):] or of_struct  # a comma in a region's name is not quoted
        group, count, *_ = [*cells[place + 1:], "", ""]
        if not re.fullmatch(r"[0-9]{1,6}", count):
            raise InputError(f"{where}: the number of rows is missing")
        lines = rows[at + 1:at + 2 + int(count)]
        whole = next((number for number, (_, line) in enumerate(lines) if not line or line[0] in ("TABLE", "STRUCT")),
                     len(lines))
        if whole < int(count) + 1:
            raise InputError(f"{rows[at + whole][0]}: the table is cut off after this line")
        threads = [cell for cell in lines[0][1][1:] if cell]
        if kind[2] == "Metric" and not kind[3] and not any(thread.startswith("GPU") for thread in threads):
            found[region][int(kind[1]), group].append(metrics_in(lines[1:], len(threads)))
    return found


def find(table: Table, unit: str, *names: str) -> Values:
    """The first of these metrics that has the unit and a value; empty if there is none."""
    return next((table[name][0] for name in names if name in table and table[name][1] == unit
                 and any(value is not None for value in table[name][0])), [])


def flops_in(table: Table, group: str) -> Dict[str, Tuple[float, Optional[str]]]:
    """By precision ("": unknown), with what LIKWID assumed: rates over each thread's own time."""
    found: Dict[str, Tuple[float, Optional[str]]] = {}
    times = find(table, "s", *RUNTIME)
    of_group = PRECISIONS.get(group.rpartition("_")[2])  # before 4.3 some groups call their FLOPs "MFLOP/s" alone
    names = {precision: [short + variant for variant in VARIANTS] + [""] * (precision == of_group)
             for short, precision in PRECISIONS.items()}
    for precision, known in {**names, "": ["FP rate"]}.items():
        rates = find(table, "FLOP/s", *known)
        flops = sum(rate * time for rate, time in zip(rates, times) if rate is not None and time is not None)
        if rates and times and flops >= 0:
            found[precision] = flops, next(of[2] for of in map(table.get, known) if of and of[0] is rates)
    return found


def volume(table: Table, *names: str) -> Optional[float]:
    """Bytes of all threads. None where there is no value, and below 0: counters that overflowed."""
    amount = sum(value for value in find(table, "byte", *names) or [-1.0] if value is not None)
    return amount if amount >= 0 else None


def work_of(tables: List[Table], group: str) -> CountedWork:
    """Of all ranks. What one of them lacks is not counted."""
    work, flops, moved = CountedWork(), [flops_in(table, group) for table in tables], []
    for precision, (_, assumed) in flops[0].items():
        if assumed:
            work.missing.append(f"FLOPs of {precision}: LIKWID does not know the instructions' width: {shown(assumed)}")
        elif all(precision in one for one in flops):
            work.flops[precision] += sum(one[precision][0] for one in flops)
            work.missing += ["precision: LIKWID counts FLOPs of all precisions together"] * (not precision)
    for table in tables:  # of the two ways both are needed
        ways, whole = [volume(table, *names) for names in WAYS], volume(table, *MEMORY)
        moved.append(sum(filter(None, ways), 0.0) if whole is None and None not in ways else whole)
    work.moved = None if None in moved else sum(filter(None, moved), 0.0)
    for name, match in ((name, CHANNELS.fullmatch(name)) for name in tables[0]):
        if match and (amount := sum(volume(table, name) or 0.0 for table in tables)):
            work.missing.append(f"bytes at DRAM: {si(amount, 'B')} went over the channels {shown(match[1])}, which are "
                                f"a part of the processor's; {shown(group)} has no others, so measure the group of the "
                                "rest as well (MEM1 and MEM2)")
    if not work.flops and not any(one.startswith("FLOPs") for one in work.missing):
        work.missing.append("FLOPs: measure the group FLOPS_SP, FLOPS_DP or MEM_SP")
    return work


def read(source: Source) -> Imported:
    imported, regions = Imported("likwid-perfctr"), tables_in(source)
    for region, groups in regions.items():
        often = Counter(group for _, group in groups)
        for (number, group), tables in groups.items():
            which = (group if often[group] == 1 else f"{group} {number}") if len(groups) > 1 else ""
            name = " ".join(filter(None, (source.row, region, which)))
            seconds = max((time for table in tables for time in find(table, "s", *RUNTIME) if time is not None),
                          default=0.0)
            imported.missing += ["time: Runtime (RDTSC) is missing"] * (seconds <= 0)
            metrics: Metrics = {}
            for metric, (values, unit, _) in (of for table in tables for of in table.items()):
                amount = sum(value for value in values if value is not None)
                metrics[metric] = metrics.get(metric, (0.0, ""))[0] + amount, unit
            before = f"{shown(name)}: " if len(regions) > 1 or len(groups) > 1 else ""
            add_processor(imported, name, seconds, work_of(tables, group), metrics, before)
            if len(tables) > 1:
                imported.remarks.append(f"{shown(name)}: {len(tables)} tables, as of ranks that ran together: FLOPs "
                                        "and bytes are their sums, the time is the longest.")
    if not imported.rows:
        raise InputError(f"{source.name}: it holds no table of metrics by hardware thread")
    imported.remarks.append("Values in counters.csv are sums over the hardware threads.")
    return imported

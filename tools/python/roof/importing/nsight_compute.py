"""Nsight Compute's CSV in two forms: a line for each metric (details, and metrics selected by name), or a line for each
launch with a column for each metric and a second line of units (raw). The program's output precedes the header; ranks
may have written several tables."""

import re
from collections import defaultdict
from typing import Dict, Iterator, List, Optional, Set, Tuple

from roof.importing import Counter, Imported, Kernel, Row, counted
from roof.importing.counted import CountedWork, Metrics, count_work, set_work, shown
from roof.importing.files import Source
from roof.texts import InputError

Rows = Iterator[Tuple[str, List[str]]]
TIME, CYCLES = "gpu__time_duration.sum", "smsp__cycles_elapsed.avg.per_second"
#: Another program that saved the table may have left the quotes out, put an index before it, changed the separator, or
#: turned the columns.
HEADER = re.compile(r'^(?=.*\bID\b).*([,;\t])"?Kernel Name\b.*$', re.MULTILINE)
LOG = re.compile(r"^==(ERROR|WARNING)== (.*)$|^ *Metric Name +Metric (?:Unit|Value)|^==PROF== ", re.MULTILINE)
LOCALE = "export it again with LC_ALL=C"
GROUPED = re.compile(f"[0-9][{counted.BLANKS}][0-9]{{3}}")
TEXT, BELOW = "were not numbers (n/a, text)", "were below 0"
#: A sum's rate over time or over cycles: prefix, ending, and the factor. "derived__smsp__…_x2" counts multiply-adds
#: twice; "derived__sm__…_x2" is the peak.
RATES = (("", ".sum.per_second", 0, 1.0), ("", ".sum.per_cycle_elapsed", 1, 1.0), ("derived__smsp__", "_x2", 1, 0.5))


def reads(head: str) -> bool:
    return bool(HEADER.search(head) or LOG.search(head))


def whole(text: str) -> Optional[int]:
    value = counted.number(text)
    return int(value) if value is not None and 0 <= value < 1e15 and value % 1 == 0 else None


class Launch:
    def __init__(self, number: int, table: int, cells: Dict[str, str]) -> None:
        self.number, self.table, self.name = number, table, cells["Kernel Name"]
        self.device, self.stream = f"gpu:{whole(cells.get('Device', '')) or 0}", whole(cells.get("Stream", ""))
        self.grid, self.block = (re.sub(r"[^0-9x]", "", cells.get(name, "").replace(",", "x"))  # "(128, 1, 1)": 128x1x1
                                 for name in ("Grid Size", "Block Size"))
        self.metrics: Metrics = {}

    def add_sums(self) -> None:
        """Those that follow from rates, as the sets "full" and "roofline" have them. What was counted stays."""
        (seconds, unit), (hertz, of_cycles) = (self.metrics.get(name, (0.0, "")) for name in (TIME, CYCLES))
        lengths = (seconds * (unit == "s"), seconds * (unit == "s") * hertz * (of_cycles in ("Hz", "cycle/s")))
        for name, (value, unit) in list(self.metrics.items()):
            for prefix, end, over_cycles, factor in RATES:
                if name.startswith(prefix) and name.endswith(end) and lengths[over_cycles] > 0:
                    stem = name[:len(name) - len(end)].removeprefix("derived__")
                    amount = value * factor * lengths[over_cycles]
                    self.metrics.setdefault(f"{stem}.sum", (amount, unit.partition("/")[0]))


class Tables:
    """The launches of a file by their IDs in each process: its host, its number, and how many tables before have the
    same two, which are of other nodes or containers."""

    def __init__(self, source: Source) -> None:
        self.name, text = source.name, source.text()
        self.launches: Dict[Tuple[str, str, int], Dict[int, Launch]] = defaultdict(dict)
        self.again: Dict[Tuple[int, str, str], int] = {}
        self.unknown_units: Set[str] = set()
        self.left_out = {TEXT: 0, BELOW: 0}
        header, logged = HEADER.search(text), {match[1]: match[2] for match in LOG.finditer(text)}
        self.error = shown(logged.get("ERROR", ""))
        if not header and (why := logged.get("ERROR") or logged.get("WARNING")):
            raise InputError(f"{self.name}: Nsight Compute counted nothing: {shown(why)}")
        if not header:
            raise InputError(f"{self.name}: this is Nsight Compute's log or its text for people; `ncu --csv --page raw "
                             "--print-units base --log-file FILE PROGRAM` writes a file that can be read")
        by, begin = header[1], header.start()

        def rows() -> Rows:
            return (row for row in source.table(text, by, begin) if row[1] and not row[1][0].startswith("=="))

        where, columns = next(rows())
        self.raw = "Metric Name" not in columns
        if "ID" not in columns or "Invocations" in columns:
            raise InputError(f"{where}: this is Nsight Compute's summary, without launches: leave --print-summary out")
        for column in ["Kernel Name"] + ["Metric Value"] * (not self.raw):
            if column not in columns:
                raise InputError(f"{where}: there is no column '{column}'")
        # The decimal mark of the metrics' values. Other cells, as the compute capability, have a point everywhere.
        of_values = [at for at, name in enumerate(columns) if "__" in name or name == "Metric Value"]
        values = {cells[at] for _, cells in rows() for at in of_values if at < len(cells)}
        marks = set(map(counted.mark_of, values)) - {""}
        if len(marks) > 1:
            raise InputError(f"{self.name}: some of its numbers have decimal points, others decimal commas; {LOCALE}")
        self.mark = marks.pop() if marks else "," if any(map(GROUPED.search, values)) else "."
        self.read(rows(), columns)
        if not self.launches:
            raise InputError(f"{self.name}: it holds no launch of a kernel")

    def read(self, rows: Rows, columns: List[str]) -> None:
        width, table = len(columns), 0
        units: Dict[str, str] = {}
        # A line of a metric in a file with rules ends with an empty "Rule Name".
        short = columns.index("Rule Name") + 1 if "Rule Name" in columns and not self.raw else width
        metrics = [name for name in columns if "__" in name]
        for where, line in rows:
            if line == columns:
                table, units = table + 1, {}
                continue
            if len(line) not in (width, short):
                raise InputError(f"{where}: {len(line)} cells, not {width}; with --log-file FILE ncu's lines are apart "
                                 "from the program's")
            cells = dict(zip(columns, line))
            if self.raw and not units:
                units = cells
                if cells["ID"]:
                    raise InputError(f"{where}: the line of units is missing")
                continue
            of = ([(name, units[name], cells[name]) for name in metrics] if self.raw
                  else [(cells["Metric Name"], cells.get("Metric Unit", ""), cells["Metric Value"])])
            launch = self.launch(cells, table, where, of[0][0] if of else "")
            for name, unit, value in of:
                if name:
                    self.add(launch, name, unit, value, where)

    def launch(self, cells: Dict[str, str], table: int, where: str, metric: str) -> Launch:
        """The launch of a line. A table that has a metric of an earlier one's launch again is of another process."""
        number, name, host, process = (cells.get(column, "")
                                       for column in ("ID", "Kernel Name", "Host Name", "Process ID"))
        if (place := whole(number)) is None or not name:
            what = "its ID is not the number of a launch" if name else "the kernel's name is missing"
            raise InputError(f"{where}: {what}")
        again = self.again.setdefault((table, host, process), 0)
        known = self.launches.get((host, process, again), {}).get(place)
        if known and known.table < table and (metric in known.metrics or known.name != name):
            again = self.again[table, host, process] = table - 1
        launches = self.launches[host, process, again]
        if place not in launches:
            launches[place] = Launch(place, table, cells)
        if launches[place].name != name:
            raise InputError(f"{where}: its ID is that of another kernel")
        return launches[place]

    def add(self, launch: Launch, metric: str, unit_text: str, text: str, where: str) -> None:
        name = TIME if metric == "Duration" else metric
        value, unit, is_sum = counted.number(text, self.mark), counted.unit(unit_text), name.endswith(".sum")
        if value is None and is_sum and re.match(r"[-0-9]", text):
            raise InputError(f"{where}: {shown(metric)}: '{shown(text)}' is not a number; {LOCALE}")
        if value is None or (is_sum and value < 0):
            self.left_out[TEXT if value is None else BELOW] += 1
        elif unit is None:
            self.unknown_units.add(shown(unit_text))
        elif is_sum and unit[0] == 1 and unit[1] in ("byte", "inst", "sector") and value % 1:
            raise InputError(f"{where}: {shown(metric)}: '{shown(text)}' is not a whole number of {unit[1]}: its "
                             f"thousands may be separated by points; {LOCALE}")
        else:
            known = launch.metrics.setdefault(name, (value * unit[0], unit[1]))
            if known[0] != value * unit[0] and "__" in metric and name != TIME:
                raise InputError(f"{where}: {shown(metric)} occurs twice with different values")


def add_row(row: Row, launches: List[Launch], imported: Imported) -> None:
    """Time, counted work and records of all launches. Amounts that any launch lacks are left out."""
    imported.rows.append(row)
    for launch in launches:
        launch.add_sums()
    works, total = [count_work(launch.metrics) for launch in launches], CountedWork()
    imported.missing += [one for work in works for one in work.missing]
    for work in works if all(work.flops for work in works) else ():
        for precision, flops in work.flops.items():
            total.flops[precision] += flops
    moved = [work.moved for work in works if work.moved is not None]
    total.moved = sum(moved) if len(moved) == len(works) else None
    times = [launch.metrics[TIME] for launch in launches if TIME in launch.metrics]
    row.times = [sum(seconds for seconds, _ in times)] if len(times) == len(launches) else []
    imported.missing += (["bytes at DRAM: missing for some launches"] * (0 < len(moved) < len(works))
                         + [f"time: {TIME} is missing for some launches"] * (not row.times))
    set_work(row, total, imported)
    for one in launches:
        seconds, unit = one.metrics.get(TIME, (0.0, ""))
        if unit == "s":
            row.records.append(Kernel(device=one.device, stream=one.stream, name=one.name, grid=one.grid,
                                      block=one.block, duration=round(seconds * 1e9)))
        row.records += [Counter(device=one.device, scope="kernel", name=one.name, launch=one.number, metric=metric,
                                value=value, unit=of) for metric, (value, of) in sorted(one.metrics.items())]


def read(source: Source) -> Imported:
    tables = Tables(source)
    imported = Imported("Nsight Compute, " + ("raw page" if tables.raw else "details page"))
    hosts = {host for host, _, _ in tables.launches}
    for (host, process, again), launches in tables.launches.items():
        which = f" {host}" * (len(hosts) > 1) + f" process {process}" + f" table {again + 1}" * (again > 0)
        of_devices: Dict[str, List[Launch]] = defaultdict(list)
        for _, launch in sorted(launches.items()):
            of_devices[launch.device].append(launch)
        for device, of_device in sorted(of_devices.items()):
            add_row(Row(device, {"model": source.row + which * (len(tables.launches) > 1)}), of_device, imported)
    imported.remarks.append("Times are those of Nsight Compute, which runs kernels one by one, by default with cold "
                            "caches and locked clocks. They differ from the times of the run.")
    imported.remarks += [f"Nsight Compute reported: {tables.error}"] * bool(tables.error)
    imported.remarks += [f"Metrics in the unit '{unit}' were left out: the unit is unknown."
                         for unit in sorted(tables.unknown_units)]
    imported.remarks += [f"{count} values {what} and were left out." for what, count in tables.left_out.items()
                         if count]
    return imported

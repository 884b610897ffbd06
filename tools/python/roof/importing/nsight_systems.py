"""Nsight Systems' SQLite export, with times in nanoseconds. A table exists only if it has records; columns depend on the version."""

import sqlite3
import time
from collections import Counter as Tally
from contextlib import closing
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from roof.errors import InputError
from roof.importing import Call, Copy, Imported, Kernel, Memory, Range, Wait
from roof.importing.files import SQLITE, Source
from roof.importing.timeline import Process, rows_of, timed
from roof.texts import how_many

LATEST = 4 * 10**18  #: nanoseconds since 1970
SECONDS = 600  #: that a statement may take
CUPTI = "CUPTI_ACTIVITY_KIND_"
#: By CUPTI's numbers (CUpti_ActivityMemcpyKind) and the export's for copies of unified memory.
COPIES = (None, "H2D", "D2H", "H2D", "D2H", "D2D", "D2D", "D2D", "D2D", "H2H", "P2P", "H2D", "D2H", "D2D")
#: CUPTI's numbers (CUpti_ActivityMemoryKind), for exports without a table of them.
MEMORIES = {1: "Pageable", 2: "Pinned", 3: "Device", 4: "Array", 5: "Managed", 6: "Device Static", 7: "Managed Static"}
WAITS = (None, "event", "stream wait", "stream", "context")
#: Databases of others: the begin of a table's name, whose it is, and what to do.
OTHERS = ((f"{CUPTI}CONCURRENT_KERNEL", "nvprof", "profile with `nsys profile --trace=cuda,nvtx`"),
          ("rocpd_", "rocprofv3", "record with torch.profiler, whose traces of AMD GPUs are read"),
          ("rocpd", "rocprof", "record with torch.profiler, whose traces of AMD GPUs are read"))


def reads(path: Path, head: bytes) -> bool:
    return head.startswith(SQLITE)


def memory_in(label: Optional[str]) -> Optional[str]:
    """The kind of memory that a text of Nsight or PyTorch names; None if there is none."""
    words = ("pageable", "pinned", "device", "managed", "array", "host")
    found = next((word for word in words if word in (label or "").lower()), None)
    return {"array": "device", "host": None}.get(found or "", found)


class Database:
    def __init__(self, source: Source, base: sqlite3.Connection) -> None:
        self.name, self.base = source.name, base
        self.largest = source.path.stat().st_size
        kinds = {name: kind for name, kind in base.execute("SELECT name, type FROM sqlite_master")}
        self.tables = {name.lower(): name for name, kind in kinds.items() if kind == "table"}
        self.others = {name.lower() for name, kind in kinds.items() if kind != "table"}
        self.strings = dict(self.select("StringIds", ("id", "value"), 2))
        self.left_out: Tally = Tally()

    def select(self, table: str, columns: Tuple[str, ...], required: int) -> Iterator[List[Any]]:
        """The rows of a table, if it exists; None for a column that does not, of which the first `required` must. Raises InputError."""
        if table.lower() in self.others:
            raise InputError(f"{self.name}: '{table}' is no table")
        name = self.tables.get(table.lower())
        if name is None:
            return
        there = {one[1] for one in self.base.execute(f'PRAGMA table_info("{name}")')}
        missing = next((column for column in columns[:required] if column not in there), None)
        if missing:
            raise InputError(f"{self.name}: table {table}: it has no column '{missing}'")
        chosen = ", ".join(f'"{column}"' if column in there else "NULL" for column in columns)
        for number, row in enumerate(self.base.execute(f'SELECT {chosen} FROM "{name}"')):
            if 2 * number > self.largest:  # a row takes two bytes or more
                raise InputError(f"{self.name}: table {table}: it gives more rows than the file can hold")
            yield list(row)

    def text(self, number: Any) -> Optional[str]:
        if number is None:
            return None
        if number not in self.strings:
            raise InputError(f"{self.name}: StringIds has no string {number}")
        return str(self.strings[number])

    def timed(self, table: str, columns: Tuple[str, ...], required: int = 0) -> Iterator[List[Any]]:
        """Rows that begin with a start and a duration in place of start and end; both None where CUPTI could not collect the times.
        Those that are none are left out."""
        for row in self.select(table, ("start", "end", *columns), 2 + required):
            start, end = row[:2]
            if start == 0 and end == 0:
                row[:2] = [None, 0]
            elif isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= LATEST:
                row[1] = end - start
            else:
                self.left_out[table] += 1
                continue
            yield row


def whole(value: Any) -> Optional[int]:
    return value if isinstance(value, int) and 0 <= value < 2**64 else None


def extent(*sizes: Any) -> Optional[str]:
    return None if sizes[0] is None else "x".join(map(str, sizes))


def name_of_device(number: Any) -> str:
    return f"gpu:{whole(number) or 0}"


def copy_kind(number: Any, source: Optional[str], destination: Optional[str], name: str) -> str:
    """A copy of an unknown kind is named by the memories that it joins."""
    if not isinstance(number, int) or not 0 <= number < len(COPIES):
        raise InputError(f"{name}: copyKind {number} is unknown")
    ends = ["H" if one in ("pageable", "pinned") else "D" for one in (source, destination)]
    return COPIES[number] or "2".join(ends)


class Export:
    """The processes of an export. A thread's number has that of its process above the lowest 24 bits."""

    def __init__(self, base: Database) -> None:
        self.base, self.processes = base, {}  # type: Database, Dict[Any, Process]
        labels = dict(base.select("ENUM_CUDA_MEM_KIND", ("id", "label"), 2)) or MEMORIES
        self.memories = {number: memory_in(str(label)) for number, label in labels.items()}
        for start, duration, name, thread, correlation in base.timed(f"{CUPTI}RUNTIME", ("nameId", "globalTid", "correlationId"), 1):
            text = base.text(name) or ""
            if start is not None:
                self.of(thread).calls.append(Call(
                    thread=whole(thread), correlation=whole(correlation), name=text, start=start, duration=duration,
                    domain="runtime" if text.startswith("cuda") else "driver"))
        self.read_ranges()
        self.read_kernels()
        self.read_copies()
        self.read_others()

    def of(self, identity: Any) -> Process:
        """The process of a thread or process; the only one there is where the export does not tell."""
        key = whole(identity)
        if key is None and self.processes:
            return next(iter(self.processes.values()))
        return self.processes.setdefault((key or 0) >> 24, Process())

    def read_ranges(self) -> None:
        for start, end, text, string, thread in self.base.select("NVTX_EVENTS", ("start", "end", "text", "textId", "globalTid"), 2):
            if isinstance(start, int) and isinstance(end, int) and 0 < start <= end <= LATEST:  # marks and names of threads have no end
                name = str(text) if text is not None else self.base.text(string) or ""
                name = name.split(", op_id = ")[0].split(", seq = ")[0]  # PyTorch's emit_nvtx numbers each call
                self.of(thread).ranges.append(Range(thread=whole(thread), name=name, start=start, duration=end - start))

    def read_kernels(self) -> None:
        columns = ("deviceId", "streamId", "correlationId", "globalPid")
        sizes = ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
                 "dynamicSharedMemory", "graphNodeId", "demangledName", "shortName")
        for start, duration, device, stream, correlation, process, *rest in self.base.timed(f"{CUPTI}KERNEL", columns + sizes):
            shared = None if None in rest[7:9] else sum(whole(one) or 0 for one in rest[7:9])
            self.of(process).device.append(Kernel(
                device=name_of_device(device), stream=whole(stream), correlation=whole(correlation), start=start, duration=duration,
                name=self.base.text(rest[11] if rest[10] is None else rest[10]) or "", grid=extent(*rest[:3]), block=extent(*rest[3:6]),
                registers=whole(rest[6]), shared_bytes=shared, graph_node=whole(rest[9])))
        for start, duration, device, stream, correlation, process, graph in self.base.timed(
                f"{CUPTI}GRAPH_TRACE", (*columns, "graphId")):
            self.of(process).device.append(Kernel(
                device=name_of_device(device), stream=whole(stream), correlation=whole(correlation), start=start, duration=duration,
                name=f"CUDA graph {graph}"))

    def read_copies(self) -> None:
        for start, duration, number, size, device, stream, correlation, process, source, destination in self.base.timed(
                f"{CUPTI}MEMCPY", ("copyKind", "bytes", "deviceId", "streamId", "correlationId", "globalPid", "srcKind", "dstKind"), 2):
            ends = self.memories.get(source), self.memories.get(destination)
            self.of(process).device.append(Copy(
                device=name_of_device(device), stream=whole(stream), correlation=whole(correlation), start=start, duration=duration,
                kind=copy_kind(number, *ends, self.base.name), source=ends[0], destination=ends[1], bytes=whole(size)))
        for start, duration, size, device, stream, correlation, process in self.base.timed(
                f"{CUPTI}MEMSET", ("bytes", "deviceId", "streamId", "correlationId", "globalPid")):
            self.of(process).device.append(Copy(
                device=name_of_device(device), stream=whole(stream), correlation=whole(correlation), start=start, duration=duration,
                kind="memset", bytes=whole(size)))

    def read_others(self) -> None:
        for start, duration, kind, device, stream, correlation, process in self.base.timed(
                f"{CUPTI}SYNCHRONIZATION", ("syncType", "deviceId", "streamId", "correlationId", "globalPid")):
            named = WAITS[kind] if kind in range(len(WAITS)) else None
            self.of(process).device.append(Wait(device=name_of_device(device), stream=whole(stream), correlation=whole(correlation),
                                                kind=named, start=start, duration=duration))
        operations = dict(self.base.select("ENUM_CUDA_DEV_MEM_EVENT_OPER", ("id", "label"), 2))
        for start, operation, size, address, device, memory, process in self.base.select(
                "CUDA_GPU_MEMORY_USAGE_EVENTS", ("start", "memoryOperationType", "bytes", "address", "deviceId", "memKind", "globalPid"), 3):
            if operation in operations:
                self.of(process).device.append(Memory(
                    device=name_of_device(device), action="allocate" if str(operations[operation]).startswith("Alloc") else "free",
                    memory=self.memories.get(memory), address=whole(address), bytes=whole(size), start=whole(start)))


def read(source: Source) -> Imported:
    until = time.monotonic() + SECONDS
    try:
        with closing(sqlite3.connect(f"{source.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            connection.set_progress_handler(lambda: time.monotonic() > until, 100_000)
            return imported(source, Database(source, connection))
    except sqlite3.OperationalError as error:
        raise InputError(f"{source.name}: {error}") from None
    except (sqlite3.Error, OverflowError, UnicodeDecodeError, MemoryError) as error:
        raise InputError(f"{source.name}: the database is damaged or cut off: {error}") from None


def imported(source: Source, base: Database) -> Imported:
    whose = next((other for other in OTHERS if any(name.startswith(other[0].lower()) for name in base.tables)), None)
    if whose and "stringids" not in base.tables:
        raise InputError(f"{source.name}: this is a database of {whose[1]}, not an export of Nsight Systems; {whose[2]}")
    if "stringids" not in base.tables and not any(name.startswith(CUPTI.lower()) for name in base.tables):
        raise InputError(f"{source.name}: this database is no export of Nsight Systems")
    export = Export(base)
    if not any(process.calls or process.device for process in export.processes.values()):
        raise InputError(f"{source.name}: it holds no kernels, no copies and no CUDA calls; record with --trace=cuda,nvtx")
    models = {name_of_device(number): str(name) for number, name in base.select("TARGET_INFO_GPU", ("id", "name"), 0)}
    found = Imported("Nsight Systems, SQLite export", models=models)
    processes = {key: process for key, process in export.processes.items() if process.device} or export.processes
    timed(found, rows_of(source.row, processes).values())
    if f"{CUPTI}GRAPH_TRACE".lower() in base.tables:
        found.missing.append("kernels within CUDA graphs: record with --cuda-graph-trace=node")
    for table, count in base.left_out.items():
        found.remarks.append(f"left out: {how_many(count, 'record')} of {table} whose times are none")
    return found

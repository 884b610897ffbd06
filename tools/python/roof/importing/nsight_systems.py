"""Nsight Systems' SQLite export, with times in nanoseconds. A table exists only if it has records; columns depend on
the version."""

import sqlite3
import time
from collections import Counter as Tally
from collections import defaultdict
from contextlib import closing
from typing import Any, Dict, Iterator

from roof.importing import Call, Copy, Imported, Kernel, Memory, Range, Wait
from roof.importing.files import SQLITE, Source
from roof.importing.timeline import Process, gpu, memory_in, number, rows_of, timed
from roof.texts import InputError, how_many

LATEST = 4 * 10**18  #: nanoseconds since 1970
SECONDS = 600  #: that a statement may take
CUPTI = "CUPTI_ACTIVITY_KIND_"
#: By CUPTI's numbers (CUpti_ActivityMemcpyKind) and the export's for copies of unified memory.
COPIES = (None, "H2D", "D2H", "H2D", "D2H", "D2D", "D2D", "D2D", "D2D", "H2H", "P2P", "H2D", "D2H", "D2D")
#: CUPTI's numbers (CUpti_ActivityMemoryKind), for exports without a table of them.
MEMORIES = dict(enumerate(("", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static")))
#: Tables of what ran on a device: the record, the columns that must be there, and others.
DEVICE = {"KERNEL": (Kernel, "", "gridX gridY gridZ blockX blockY blockZ registersPerThread staticSharedMemory "
                                 "dynamicSharedMemory graphNodeId demangledName shortName"),
          "GRAPH_TRACE": (Kernel, "", "graphId"), "MEMCPY": (Copy, "copyKind bytes", "srcKind dstKind"),
          "MEMSET": (Copy, "", "bytes"), "SYNCHRONIZATION": (Wait, "", "syncType")}
WAITS = dict(enumerate((None, "event", "stream wait", "stream", "context")))
#: Databases of others: the begin of a table's name, whose it is, and what to do.
OTHERS = ((f"{CUPTI}CONCURRENT_KERNEL", "nvprof", "profile with `nsys profile --trace=cuda,nvtx`"),
          ("rocpd_", "rocprofv3", "record with torch.profiler, whose traces of AMD GPUs are read"),
          ("rocpd", "rocprof", "record with torch.profiler, whose traces of AMD GPUs are read"))


def reads(head: str) -> bool:
    return head.startswith(SQLITE)


def is_time(start: Any, end: Any) -> bool:
    return isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= LATEST


class Export:
    """An export; a record is a dictionary by columns. A thread's number has that of its process above 24 bits."""

    def __init__(self, source: Source, base: sqlite3.Connection) -> None:
        self.name, self.base, self.largest = source.name, base, source.path.stat().st_size
        self.left_out: Tally = Tally()
        self.processes: Dict[int, Process] = defaultdict(Process)
        made = [(str(name), kind == "table" and page)
                for name, kind, page in base.execute("SELECT name, type, rootpage FROM sqlite_master")]
        self.tables = {name.lower(): name for name, is_stored in made if is_stored}
        self.others = {name.lower() for name, is_stored in made if not is_stored}  # views, and what a program computes
        self.strings = self.pairs("StringIds", "value")
        if "stringids" not in self.tables:
            for begin, whose, how in OTHERS:
                if any(name.startswith(begin.lower()) for name in self.tables):
                    raise InputError(f"{self.name}: this is a database of {whose}, not an export of Nsight Systems; "
                                     f"{how}")
            if not any(name.startswith(CUPTI.lower()) for name in self.tables):
                raise InputError(f"{self.name}: this database is no export of Nsight Systems")
        labels = self.pairs("ENUM_CUDA_MEM_KIND", "label") or MEMORIES
        self.memories = {kind: memory_in(label) for kind, label in labels.items()}
        self.read_host()
        self.read_device()

    def select(self, table: str, required: str, columns: str = "") -> Iterator[Dict[str, Any]]:
        """The records of a table, if it exists; None for a column that does not. Raises InputError."""
        if table.lower() in self.others:
            raise InputError(f"{self.name}: '{table}' is no table")
        name = self.tables.get(table.lower())
        if name is None:
            return
        there = {one[1] for one in self.base.execute(f'PRAGMA table_info("{name}")')}
        for column in required.split():
            if column not in there:
                raise InputError(f"{self.name}: table {table}: it has no column '{column}'")
        wanted = f"{required} {columns}".split()
        chosen = ", ".join(f'"{column}"' if column in there else "NULL" for column in wanted)
        for count, row in enumerate(self.base.execute(f'SELECT {chosen} FROM "{name}"')):
            if 2 * count > self.largest:  # a record takes two bytes or more
                raise InputError(f"{self.name}: table {table}: it gives more rows than the file can hold")
            yield dict(zip(wanted, row))

    def pairs(self, table: str, column: str) -> Dict[Any, str]:
        return {one["id"]: str(one[column]) for one in self.select(table, f"id {column}")}

    def text(self, place: Any) -> str:
        if place is not None and place not in self.strings:
            raise InputError(f"{self.name}: StringIds has no string {place}")
        return self.strings.get(place, "")

    def timed(self, table: str, required: str, columns: str) -> Iterator[Dict[str, Any]]:
        """Records with start and duration: None and 0 where CUPTI has no times. Wrong ones are left out."""
        for one in self.select(CUPTI + table, f"start end {required}", columns):
            if one["start"] == 0 and one["end"] == 0:
                one["start"], one["duration"] = None, 0
            elif is_time(one["start"], one["end"]):
                one["duration"] = one["end"] - one["start"]
            else:
                self.left_out[CUPTI + table] += 1
                continue
            yield one

    def of(self, identity: Any) -> Process:
        """The process of a thread or process; the first one where the export does not tell."""
        key = number(identity)
        return self.processes[next(iter(self.processes), 0) if key is None else key >> 24]

    def read_host(self) -> None:
        for one in self.timed("RUNTIME", "nameId", "globalTid correlationId"):
            text = self.text(one["nameId"])
            if one["start"] is not None:
                self.of(one["globalTid"]).calls.append(
                    Call(thread=number(one["globalTid"]), correlation=number(one["correlationId"]), name=text,
                         start=one["start"], duration=one["duration"],
                         domain="runtime" if text.startswith("cuda") else "driver"))
        for one in self.select("NVTX_EVENTS", "start end", "text textId globalTid"):
            if is_time(one["start"], one["end"]) and one["start"]:  # marks and names of threads have no end
                name = str(one["text"]) if one["text"] is not None else self.text(one["textId"])
                name = name.split(", op_id = ")[0].split(", seq = ")[0]  # PyTorch's emit_nvtx numbers each call
                self.of(one["globalTid"]).ranges.append(Range(thread=number(one["globalTid"]), name=name,
                                                              start=one["start"], duration=one["end"] - one["start"]))

    def read_device(self) -> None:
        for table, (kind, required, columns) in DEVICE.items():
            for one in self.timed(table, required, f"deviceId streamId correlationId globalPid {columns}"):
                record = kind(device=gpu(one["deviceId"]), stream=number(one["streamId"]), start=one["start"],
                              correlation=number(one["correlationId"]), duration=one["duration"])
                if table == "KERNEL":
                    shared = [number(one[f"{part}SharedMemory"]) for part in ("static", "dynamic")]
                    record.name = self.text(one["shortName"] if one["demangledName"] is None else one["demangledName"])
                    record.grid, record.block = (
                        None if one[f"{of}X"] is None else "x".join(str(one[of + axis]) for axis in "XYZ")
                        for of in ("grid", "block"))
                    record.registers, record.graph_node = number(one["registersPerThread"]), number(one["graphNodeId"])
                    record.shared_bytes = None if None in shared else sum(shared)
                elif table == "GRAPH_TRACE":
                    record.name = f"CUDA graph {one['graphId']}"
                elif table == "SYNCHRONIZATION":
                    record.kind = WAITS.get(one["syncType"])
                else:
                    record.kind, record.bytes = "memset", number(one["bytes"])
                if table == "MEMCPY":
                    copies = one["copyKind"]
                    if not isinstance(copies, int) or not 0 <= copies < len(COPIES):
                        raise InputError(f"{self.name}: copyKind {copies} is unknown")
                    ends = [self.memories.get(one[end]) for end in ("srcKind", "dstKind")]
                    record.source, record.destination = ends
                    letters = ("H" if end in ("pageable", "pinned") else "D" for end in ends)
                    # A copy of an unknown kind is named by the memories that it joins.
                    record.kind = COPIES[copies] or "2".join(letters)
                self.of(one["globalPid"]).device.append(record)
        operations = self.pairs("ENUM_CUDA_DEV_MEM_EVENT_OPER", "label")
        for one in self.select("CUDA_GPU_MEMORY_USAGE_EVENTS", "start memoryOperationType bytes",
                               "address deviceId memKind globalPid"):
            operation = operations.get(one["memoryOperationType"])
            if operation is not None:
                self.of(one["globalPid"]).device.append(
                    Memory(device=gpu(one["deviceId"]), action="allocate" if operation.startswith("Alloc") else "free",
                           memory=self.memories.get(one["memKind"]), address=number(one["address"]),
                           bytes=number(one["bytes"]), start=number(one["start"])))


def read(source: Source) -> Imported:
    until = time.monotonic() + SECONDS
    try:
        with closing(sqlite3.connect(f"{source.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            connection.set_progress_handler(lambda: time.monotonic() > until, 100_000)
            return imported(source, Export(source, connection))
    except sqlite3.OperationalError as error:
        raise InputError(f"{source.name}: {error}") from None
    except (sqlite3.Error, OverflowError, UnicodeDecodeError, MemoryError) as error:
        raise InputError(f"{source.name}: the database is damaged or cut off: {error}") from None


def imported(source: Source, export: Export) -> Imported:
    if not any(process.calls or process.device for process in export.processes.values()):
        raise InputError(f"{source.name}: it holds no kernels, no copies and no CUDA calls; record with "
                         "--trace=cuda,nvtx")
    models = {gpu(one["id"]): str(one["name"]) for one in export.select("TARGET_INFO_GPU", "id name")}
    found = Imported("Nsight Systems, SQLite export", models=models)
    timed(found, rows_of(source.row, export.processes).values())
    if f"{CUPTI}GRAPH_TRACE".lower() in export.tables:
        found.missing.append("kernels within CUDA graphs: record with --cuda-graph-trace=node")
    for table, count in export.left_out.items():
        found.remarks.append(f"left out: {how_many(count, 'record')} of {table} whose times are none")
    return found

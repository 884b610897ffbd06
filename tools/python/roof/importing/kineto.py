"""PyTorch's profile: Chrome's trace format, with times in microseconds, which keep all digits: some count from 1970."""

import re
from collections import Counter as Tally
from collections import defaultdict
from decimal import Decimal
from typing import Any, Dict, List, Optional, Tuple

from roof.importing import Call, Copy, Counter, Imported, Kernel, Memory, Range, Row, counted
from roof.importing.events import Document
from roof.importing.files import HEAD, Source
from roof.importing.operators import Operators, Span, processor_row, set_work
from roof.importing.timeline import MISSING, Process, gpu, kind_in, memory_in, number, rows_of, timed
from roof.importing.traced import Traced, has_formula, work_of
from roof.texts import InputError, how_many, printable
from roof.work import Work

FARTHEST = 4 * 10**18  #: nanoseconds
MODULE = "nn.Module: "
#: What the events of a category are. "old": in 2021, operators and ranges; "": nothing, or what repeats others.
KINDS = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "copy", "Memcpy": "copy", "gpu_memset": "fill",
         "Memset": "fill", "cuda_profiler_range": "counters", "python_function": "module", "user_annotation": "range",
         "cpu_op": "operator", "Operator": "old", "fwdbwd": "flow", "Runtime": "call",
         **dict.fromkeys(("gpu_user_annotation", "Trace", "overhead", "cuda_sync", "cpu_instant_event", "ac2g", ""),
                         "")}
CALLS = re.compile(r"\w+_(runtime|driver)")
#: Parts of a copy's name; roctracer's old names last.
DIRECTIONS = {"HtoD": "H2D", "DtoH": "D2H", "PtoP": "P2P", "HtoH": "H2H", "HostToDevice": "H2D", "DeviceToHost": "D2H",
              "HostToHost": "H2H"}
VENDORS = {"xpu": "Intel GPU", "mtia": "MTIA", "privateuse1": "another accelerator", "npu": "NPU"}


def reads(head: str) -> bool:
    text = head.lstrip()
    if text.startswith("["):
        return '"ph"' in text
    return text.startswith("{") and ('"traceEvents"' in text or len(head) >= HEAD and '"schemaVersion"' in text)


def nanoseconds(value: Any) -> Optional[int]:
    """Of microseconds: 1690000000000041.123, 1.69e15; None for what is no time."""
    try:
        time = Decimal(str(value)) * 1000
        return int(time) if -FARTHEST <= time <= FARTHEST else None
    except (ValueError, ArithmeticError):  # no number, or one that is none
        return None


def real(value: Any) -> Optional[float]:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if abs(found) < 1e300 else None


def extent(value: Any) -> Optional[str]:
    return "x".join(map(str, value)) if type(value) is list else None


class Trace:
    """The events by what they are. Processes are those of the host; a device's records find theirs by correlation."""

    def __init__(self) -> None:
        self.events = 0
        self.left, self.wrong = Tally(), []  # type: Tally, List[str]
        self.kinds = dict(KINDS)
        self.processes: Dict[Any, Process] = defaultdict(Process)
        self.threads: Dict[Any, Dict[Any, List[Span]]] = defaultdict(lambda: defaultdict(list))
        self.flows: Dict[Any, Dict[Any, List[Any]]] = defaultdict(lambda: defaultdict(lambda: [None, None]))
        self.device: Dict[Any, List[Any]] = defaultdict(list)  #: by device and process as the events have them
        self.vendor = "cuda"
        self.names: Dict[str, str] = {}
        self.works: Dict[Any, Optional[Traced]] = {}
        self.ranges = 0  #: with counters

    def add(self, event: Any) -> None:
        self.events += 1
        if type(event) is not dict:
            return
        name, phase, category = event.get("name"), event.get("ph"), event.get("cat")
        if type(category) is not str:
            category = ""
        kind = self.kinds.get(category)
        if kind is None:
            kind = self.kinds[category] = "call" if CALLS.fullmatch(category) else "other"
        if type(name) is not str:
            name = ""
        if kind == "module" and not name.startswith(MODULE):
            return
        args = event.get("args")
        if type(args) is not dict:
            args = {}
        process, thread = event.get("pid"), event.get("tid")
        process, thread = (one if type(one) is int else str(one) for one in (process, thread))
        if name == "[memory]":  # of PyTorch's allocator on a device: its bytes, negative for a release to the pool
            size, start = args.get("Bytes"), nanoseconds(event.get("ts"))
            if number(args.get("Device Type")) == 1 and isinstance(size, int) and start is not None:
                self.processes[process].device.append(
                    Memory(device=gpu(args.get("Device Id")), action="free" if size < 0 else "allocate", memory="pool",
                           address=number(args.get("Addr")), bytes=abs(size), start=start))
        if kind == "flow" and phase in ("s", "f"):
            self.flows[process][str(event.get("id"))][phase == "f"] = thread, nanoseconds(event.get("ts"))
        if phase != "X" or kind in ("", "flow"):
            return
        name = self.names.setdefault(name, name)
        if kind == "counters":  # of a kernel, by CUPTI; its times are none: the profiler divides the whole equally
            self.device[gpu(process), process] += [
                Counter(device=gpu(process), scope="kernel", name=name, launch=self.ranges, metric=metric,
                                    value=found, unit="")
                            for metric, value in sorted(args.items()) if (found := real(value)) is not None]
            self.ranges += 1
            return
        if kind == "other":
            self.left[category] += 1
            return
        start, duration = nanoseconds(event.get("ts")), nanoseconds(event.get("dur"))
        if start is None or duration is None or duration < 0:
            self.wrong.append(f"event {self.events}, '{printable(name[:100])}'")
            return
        if kind == "old":
            kind = "range" if kind_in(name) != "nvtx" and not name.startswith("autograd::") else "operator"
        if kind == "operator":
            dims = args.get("Input Dims")
            span = Span(start, start + duration, kind, name, self.work(name, args), type(dims) is list and any(dims),
                        "Sequence number" in args and not args.get("Fwd thread id"))
        elif kind == "module":
            span = Span(start, start + duration, kind, name[len(MODULE):])
        elif kind == "range":
            self.processes[process].ranges.append(Range(None if type(thread) is str else thread, None, name, start,
                                                        duration))
            span = Span(start, start + duration, kind, name)
        elif kind == "call":
            self.vendor = category.partition("_")[0]
            call = Call(None if type(thread) is str else thread, number(args.get("correlation")), None, None,
                        "driver" if category.endswith("driver") else "runtime", name, start, duration)
            self.processes[process].calls.append(call)
            span = Span(start, start, kind, name, call)
        else:
            self.add_device(kind, name, start, duration, process, args)
            return
        self.threads[process][thread].append(span)

    def work(self, name: str, args: Dict[str, Any]) -> Optional[Traced]:
        """By its shapes, or of a kernel that Inductor made by what Inductor says."""
        if "kernel_flop" in args or "kernel_num_gb" in args:
            flops, size = real(args.get("kernel_flop")) or 0.0, 1e9 * (real(args.get("kernel_num_gb")) or 0.0)
            made = Traced(Work(flops, flops, size, size), "compiled", "")
            return made if min(flops, size) >= 0 < max(flops, size) else None
        if not has_formula(name):
            return None
        dims, strides, *others = (args.get(key) if isinstance(args.get(key), list) else []
                                  for key in ("Input Dims", "Input Strides", "Input type", "Concrete Inputs"))
        if strides:  # a sparse tensor has none, and how many of its numbers are stored nobody says
            dims = [extents if stride else [] for extents, stride in zip(dims, strides)]
        inputs = [dims, *others]
        call = name, repr(inputs)
        if call not in self.works:
            self.works[call] = work_of(name, *inputs)
        return self.works[call]

    def add_device(self, kind: str, name: str, start: int, duration: int, process: Any, args: Dict[str, Any]) -> None:
        where = gpu(args.get("device")), number(args.get("stream")), number(args.get("correlation")), None, None
        begin = start if start or duration else None
        if kind == "kernel":
            self.device[where[0], process].append(
                Kernel(*where, name, begin, duration, extent(args.get("grid")), extent(args.get("block")),
                       *(number(args.get(key)) for key in ("registers per thread", "shared memory",
                                                                          "graph node id"))))
            return
        before, arrow, after = name.partition("->")
        kind = "memset" if kind == "fill" else next((kind for part, kind in DIRECTIONS.items() if part in name), "D2D")
        ends = (memory_in(before), memory_in(after)) if arrow else (None, None)
        self.device[where[0], process].append(Copy(*where, kind, *ends, number(args.get("bytes")), begin, duration))

    def assign(self) -> None:
        """Gives each record of a device to a process: that of the call with its correlation. Of several, that to which
        most records of the device can belong, and of equals one that has no device yet; ranks whose traces were joined
        may call their devices alike."""
        hosts = {key: {call.correlation: call.start for call in one.calls if call.correlation is not None}
                 for key, one in self.processes.items() if one.calls}
        taken: Tally = Tally()
        for _, records in sorted(self.device.items(), key=lambda item: str(item[0])):
            havings = [[key for key, begun in hosts.items() if getattr(record, "correlation", None) in begun]
                       for record in records]
            tally = Tally(key for record, having in zip(records, havings) for key in having
                          if (record.start or 0) >= hosts[key][record.correlation])
            owner = max(hosts, key=lambda key: (tally[key], -taken[key]), default=next(iter(self.processes), None))
            taken.update([owner])
            for record, having in zip(records, havings):
                self.processes[having[0] if len(having) == 1 else owner].device.append(record)

    def operators(self, key: Any) -> Operators:
        return Operators(self.threads.get(key, {}), self.flows.get(key, {}), self.processes[key].started())


def read(source: Source) -> Imported:
    trace, document = Trace(), Document(source)
    for event in document.events():
        trace.add(event)
    found = Imported("PyTorch profiler")
    if trace.wrong:
        found.remarks.append(f"left out: {how_many(len(trace.wrong), 'event')} whose time or duration is none, "
                             f"first {trace.wrong[0]}")
    if document.mended:
        found.remarks.append(f"{how_many(document.mended, 'event')} held quotes that PyTorch does not escape; "
                             "with_stack=False avoids them")
    for key, process in trace.processes.items():
        process.multiplying = {thread for thread, spans in trace.threads.get(key, {}).items()
                               if any(span.kind == "operator" and has_formula(span.name) for span in spans)}
        mixed = process.mixed()
        if mixed:
            raise InputError(f"{source.name}: " + " and ".join(
                f"thread {one.thread} has '{printable(one.name[:100])}'" for one in mixed)
                + " at the same time; profile one thread that has steps alone, or each in a process")
    found.remarks += [f"not read, of '{printable(category)}': {how_many(count, 'event')}"
                      for category, count in sorted(trace.left.items())]
    if any(process.calls for process in trace.processes.values()) or trace.device:
        add_devices(source, trace, document, found)
        return found
    keys = [key for key, threads in trace.threads.items()
            if any(s.kind == "operator" for spans in threads.values() for s in spans)]
    if not keys:
        raise InputError(f"{source.name}: none of its {trace.events} events is an operator, a kernel, a copy or a call "
                         "of a device's library")
    for key in keys:
        found.rows.append(Row("cpu", {"model": f"{source.row} process {key}" if len(keys) > 1 else source.row}))
        process = trace.processes[key]
        steps = process.steps()
        others = process.multiplying - {one.thread for one in steps}
        if steps and others:
            found.remarks.append("a step counts what other threads ran during it: " + ", ".join(sorted(map(str, others))))
        processor_row(found.rows[-1], trace.operators(key), steps, found)
    return found


def add_devices(source: Source, trace: Trace, document: Document, found: Imported) -> None:
    properties = document.others.get("deviceProperties")
    for one in properties if isinstance(properties, list) else []:
        if isinstance(one, dict):
            found.models[gpu(one.get("id"))] = str(one.get("name", ""))
    trace.assign()
    processes = dict(trace.processes)
    by_process = {key: trace.operators(key) for key in processes}
    steps = {key: process.steps() for key, process in processes.items()}
    for key, operators in by_process.items():
        operators.name(steps[key])
    rows = rows_of(source.row, processes)
    shown = {key for key, _ in rows}
    for key, process in processes.items():
        if process.calls and key not in shown:
            found.remarks.append(f"left out: {how_many(len(process.calls), 'call')} of process {key}, which started "
                                 "nothing on a device")
    for _, device in rows:
        found.models.setdefault(device, VENDORS.get(trace.vendor, ""))
    timed(found, rows.values())
    for (key, device), row in rows.items():
        if by_process[key].has_shapes:
            set_work(row, by_process[key].split(steps[key])[0], by_process[key], found)
        if row.flops and MISSING in found.missing:
            found.missing.remove(MISSING)
            found.missing.append("bytes: this is a recording of times; Nsight Compute counts them")
            found.remarks.append("FLOPs are those of one step's operators that have a formula, from their shapes")
    for row in found.rows:
        add_counted(row, found)


def add_counted(row: Row, found: Imported) -> None:
    """The FLOPs of CUPTI's counters, which are of the whole recording; where it marks steps they are a remark alone."""
    sums: Dict[str, Tuple[float, str]] = {}
    for counter in row.of(Counter):
        sums[counter.metric] = sums.get(counter.metric, (0.0, ""))[0] + counter.value, ""
    if not sums:
        return
    work = counted.count_work(sums)
    if any(one.kind == "step" for one in row.of(Range)):
        found.remarks.append(f"{sum(work.flops.values()):.0f} FLOPs were counted on {row.device} in the whole "
                             "recording, not by steps")
    else:
        counted.set_work(row, work, found)
        row.known = "counter"
    found.missing = [one for one in found.missing if one != MISSING]
    found.missing += [one for one in work.missing if one.startswith("FLOPs")] + ["bytes: CUPTI counted none"]

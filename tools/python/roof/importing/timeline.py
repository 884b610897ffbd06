"""Recordings of times, from the records of the processes in them: phases, steps, and a row for each process and device.

A step is what it launched: it begins when its range does, but not before the device is done with what was launched earlier, and ends with its range,
or later with the last that it launched."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple

from roof.errors import InputError
from roof.importing import Call, Copy, Imported, Kernel, Memory, Range, Record, Row

#: The first word of a range's name, and its phase; as in ert/recording/range_names.cpp.
PHASES = {word: phase for phase, words in {"forward": "forward distributeddataparallel fwd loss criterion", "backward": "backward bwd autograd",
                                           "update": "optimizer optimiser update opt", "data": "data dataloader load enumerate",
                                           "synchronise": "allreduce nccl synchronise"}.items() for word in words.split()}
#: A step has a number, or nothing but its word: "step 12", "ProfilerStep#3", "iteration", "step[DECODE bs=1]"; not "batch_norm".
STEP = re.compile(r"(profilerstep|steps?|iteration|iter|batch)([\s#:=_./(\[-]*\d+([\s/:of]+\d+)?\s*[)\]]?|\s*\[.*\])?\s*", re.IGNORECASE)
MOST_DEVICES = 512
DEEPEST = 16  #: ranges of phases that are looked at

MISSING = "FLOPs and bytes: this is a recording of times; Nsight Compute counts them"


def phase_in(name: str) -> str:
    letters = re.match("[A-Za-z]*", name)
    return PHASES.get(letters.group().lower(), "") if letters else ""


def kind_in(name: str) -> str:
    return "step" if STEP.fullmatch(name[:200]) else "phase" if phase_in(name) else "nvtx"


def memory_in(label: Optional[str]) -> Optional[str]:
    """The kind of memory that a text of Nsight or PyTorch names; None if there is none."""
    words = ("pageable", "pinned", "device", "managed", "array", "host")
    found = next((word for word in words if word in (label or "").lower()), None)
    return {"array": "device", "host": None}.get(found or "", found)


@dataclass
class Process:
    """The records of one process. Those of `device` have a device, and no start where it is not known."""

    calls: List[Call] = field(default_factory=list)
    device: List[Any] = field(default_factory=list)
    ranges: List[Range] = field(default_factory=list)


def mark_ranges(ranges: List[Range]) -> List[Range]:
    """Sets the kinds of the ranges. Returns the steps in their order: none within another, and PyTorch's own where there are any."""
    for one in ranges:
        one.kind = kind_in(one.name)
    steps = sorted((one for one in ranges if one.kind == "step"), key=lambda one: (one.start, -one.duration))
    by_profiler = any(one.name.startswith("ProfilerStep") for one in steps)
    kept: List[Range] = []
    for one in steps:
        within = kept and one.start + one.duration <= kept[-1].start + kept[-1].duration
        if within or not one.duration or by_profiler and not one.name.startswith("ProfilerStep"):
            one.kind = "nvtx"
        else:
            kept.append(one)
    return kept


def whole_steps(steps: List[Range], starts: List[int]) -> List[Range]:
    """Without the steps that were cut off, which have less than half of the most calls, and without those that have none though
    the process made some. `starts`: of the calls, sorted."""
    calls = [bisect_left(starts, step.start + step.duration) - bisect_left(starts, step.start) for step in steps]
    most = max(calls, default=0)
    for step, count in zip(steps, calls):
        if 2 * count < most or starts and not count:
            step.kind = "nvtx"
    return [step for step in steps if step.kind == "step"]


def attribute_phases(process: Process) -> None:
    """What the host launched during a phase belongs to it."""
    phases = sorted((one for one in process.ranges if phase_in(one.name)), key=lambda one: one.start)
    begins = [one.start for one in phases]
    caused: Dict[Any, str] = {}
    for call in process.calls:
        if not call.phase:
            last = bisect_right(begins, call.start)
            running = (phases[at] for at in range(last - 1, max(-1, last - 1 - DEEPEST), -1))
            call.phase = next((phase_in(one.name) for one in running if call.start < one.start + one.duration), None)
        if call.phase:
            caused[call.correlation] = call.phase
    for record in process.device:
        if not record.phase and isinstance(record, (Kernel, Copy)):
            record.phase = caused.get(record.correlation)


def launched_work(process: Process, device: str) -> List[Tuple[int, int]]:
    """When each kernel and copy was launched, and when it ended; sorted. A stream runs in order: what no call is known of was launched after what ran
    before it, and else when it began. But where calls are missing only of what ran first, those were before the recording."""
    begun = {call.correlation: call.start for call in process.calls if call.correlation is not None}
    streams: Dict[Any, List[Any]] = {}
    for one in process.device:
        if one.device == device and isinstance(one, (Kernel, Copy)) and one.start is not None:
            streams.setdefault(one.stream, []).append(one)
    work, complete = [], True
    for records in streams.values():
        records.sort(key=lambda one: one.start)
        last: Optional[int] = None
        for one in records:
            complete = complete and (last is None or one.correlation in begun)
            last = begun.get(one.correlation, last)
            work.append((last, one.start, one.start + one.duration, records))
    known = {id(records) for last, *_, records in work if last is not None}
    return sorted(((0 if complete and id(records) in known else start) if last is None else last, end) for last, start, end, records in work)


def on_device(steps: List[Range], process: Process, device: str) -> List[Range]:
    """The steps as the device ran them."""
    work = launched_work(process, device)
    launched, ends = [when for when, _ in work], list(accumulate((end for _, end in work), max))
    moved = []
    for step in steps:
        before, after = bisect_left(launched, step.start), bisect_left(launched, step.start + step.duration)
        begin = max(step.start, ends[before - 1]) if before else step.start
        end = max(step.start + step.duration, ends[after - 1]) if after > before else step.start + step.duration
        if begin >= end:
            begin, end = step.start, step.start + step.duration
        moved.append(Range(thread=step.thread, kind="step", name=step.name, start=begin, duration=end - begin))
    return moved


def span_of(records: Iterable[Record]) -> Optional[Tuple[int, int]]:
    timed: List[Any] = [one for one in records if getattr(one, "start", None) is not None and not isinstance(one, Memory)]
    return (min(one.start for one in timed), max(one.start + one.duration for one in timed)) if timed else None


def rows_of(name: str, processes: Dict[Any, Process]) -> Dict[Tuple[Any, str], Row]:
    """A row for each process and device; `name` becomes the row's, with the process where several share a device."""
    keys = [(key, device) for key,
            process in sorted(processes.items(), key=lambda item: str(item[0])) for device in sorted({one.device for one in process.device})]
    keys = keys or [(key, "gpu:0") for key in list(processes)[:1]]
    if len(keys) > MOST_DEVICES:
        raise InputError(f"{name}: {len(keys)} devices, more than machines have")
    rows: Dict[Tuple[Any, str], Row] = {}
    for key, device in keys:
        shared = sum(other == device for _, other in keys) > 1
        process = processes[key]
        attribute_phases(process)
        steps = whole_steps(mark_ranges(process.ranges), sorted(call.start for call in process.calls))
        moved = on_device(steps, process, device)
        started: Dict[Any, Set[str]] = {}
        for one in process.device:
            if isinstance(one, (Kernel, Copy)) and one.correlation is not None:
                started.setdefault(one.correlation, set()).add(one.device)
        records: List[Any] = [one for one in process.device if one.device == device]
        records += [call for call in process.calls if device in started.get(call.correlation, {device})]
        span = span_of(records + process.ranges)
        times = [step.duration / 1e9 for step in moved] or ([(span[1] - span[0]) / 1e9] if span else [])
        records += moved + [one for one in process.ranges if one.kind != "step"]
        rows[key, device] = Row(device, {"model": f"{name} process {key}" if shared else name}, times=times, records=records)
    return rows


def shift(rows: Iterable[Row]) -> None:
    """Times count from the first record. An allocation may precede it."""
    records = {id(record): record for row in rows for record in row.records if hasattr(record, "start")}
    span = span_of(records.values())
    for record in records.values():
        if record.start is not None and span:  # type: ignore[attr-defined]
            record.start = max(0, record.start - span[0])  # type: ignore[attr-defined]


def timed(imported: Imported, rows: Iterable[Row]) -> Imported:
    imported.rows += rows
    shift(imported.rows)
    imported.missing.append(MISSING)
    return imported

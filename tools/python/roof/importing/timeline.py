"""Recordings of times, from the records of the processes in them: phases, steps, and a row for each process and device.

A step is what it launched: it begins when its range does, but not before the device is done with what was launched
earlier, and ends with its range, or later with the last that it launched."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter as Tally
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple

from roof.importing import Copy, Imported, Kernel, Memory, Range, Row
from roof.texts import InputError

#: The first word of a range's name, and its phase; as in ert/recording/range_names.cpp.
PHASES = {word: phase for phase, words in {
    "forward": "forward distributeddataparallel fwd loss criterion", "backward": "backward bwd autograd",
    "update": "optimizer optimiser update opt", "data": "data dataloader load enumerate",
    "synchronise": "allreduce nccl synchronise"}.items() for word in words.split()}
WORDS = re.compile("([a-z]*)([^a-z]+(?:and[^a-z]+)*([a-z]+))?")
LOSSES = ("loss", "criterion")
#: A step has a number, or nothing but its word: "step 12", "ProfilerStep#3", "step[DECODE bs=1]"; not "batch_norm".
STEP = re.compile(r"(profilerstep|steps?|iteration|iter|batch)"
                  r"([\s#:=_./(\[-]*\d+([\s/:of]+\d+)?\s*[)\]]?|\s*\[.*\])?\s*", re.IGNORECASE)
MEMORIES = {"pageable": "pageable", "pinned": "pinned", "device": "device", "managed": "managed", "array": "device",
            "host": None}
MOST_DEVICES = 512
DEEPEST = 16  #: ranges of phases that are looked at

MISSING = "FLOPs and bytes: this is a recording of times; Nsight Compute counts them"


def phase_in(name: str) -> str:
    """By the first word; "loss" gives way to the second ("loss.backward()"), and two other phases are none."""
    word, _, other = (one or "" for one in WORDS.match(name[:200].lower()).groups())  # type: ignore[union-attr]
    phase, next_phase = PHASES.get(word, ""), PHASES.get(other, "")
    if not phase or next_phase in ("", phase) or other in LOSSES:
        return phase
    return next_phase if word in LOSSES else ""


def kind_in(name: str) -> str:
    return "step" if STEP.fullmatch(name[:200]) else "phase" if phase_in(name) else "nvtx"


def memory_in(label: Optional[str]) -> Optional[str]:
    """The kind of memory that a text of Nsight or PyTorch names; None if there is none."""
    return next((kind for word, kind in MEMORIES.items() if word in (label or "").lower()), None)


def number(value: Any) -> Optional[int]:
    """A whole number of 64 bits, or a text of one; None for all else."""
    if type(value) is str and value.isdecimal() and len(value) < 21:
        value = int(value)
    return value if type(value) is int and 0 <= value < 2**64 else None


def gpu(value: Any) -> str:
    return f"gpu:{number(value) or 0}"


def end_of(one: Any) -> int:
    return one.start + one.duration  # type: ignore[no-any-return]


@dataclass
class Process:
    """The records of one process. Those of `device` have a device, and no start where it is not known."""

    calls: List[Any] = field(default_factory=list)
    device: List[Any] = field(default_factory=list)
    ranges: List[Any] = field(default_factory=list)
    multiplying: Set[Any] = field(default_factory=set)  #: threads with operators that have a formula

    def started(self) -> Dict[Any, List[Any]]:
        """The kernels and copies that each correlation started."""
        found: Dict[Any, List[Any]] = defaultdict(list)
        for one in self.device:
            if isinstance(one, (Kernel, Copy)) and one.correlation is not None:
                found[one.correlation].append(one)
        return found

    def marked(self) -> List[Any]:
        """The ranges that may be steps in their order: PyTorch's own where there are any."""
        steps = [one for one in self.ranges if kind_in(one.name) == "step" and one.duration]
        steps = [one for one in steps if one.name.startswith("ProfilerStep")] or steps
        return sorted(steps, key=lambda one: (one.start, -one.duration))

    def mixed(self) -> Optional[Tuple[Any, Any]]:
        """Two steps at once, of two threads that multiply."""
        last: Any = None
        for one in self.marked():
            if one.thread in self.multiplying:
                if last and one.thread != last.thread and one.start < end_of(last):
                    return last, one
                last = one if last is None or end_of(one) > end_of(last) else last
        return None

    def steps(self) -> List[Any]:
        """Sets the kinds of the ranges. Returns the steps in their order. They are of the thread that makes most calls;
        where no thread makes any, of the threads that multiply. Left out are a step within another, one that was cut
        off and so has less than half of the most calls, and one without calls where others have some."""
        for one in self.ranges:
            one.kind = "nvtx" if (kind := kind_in(one.name)) == "step" else kind
        steps, calls = self.marked(), Tally(call.thread for call in self.calls) or Tally(self.multiplying)
        most = max((calls[one.thread] for one in steps), default=0)
        kept: List[Any] = []
        for one in steps:
            if calls[one.thread] == most and not (kept and end_of(one) <= end_of(kept[-1])):
                kept.append(one)
        starts = sorted(call.start for call in self.calls)
        counts = [bisect_left(starts, end_of(step)) - bisect_left(starts, step.start) for step in kept]
        most = max(counts, default=0)
        kept = [step for step, count in zip(kept, counts) if 2 * count >= most and (count or not starts)]
        for step in kept:
            step.kind = "step"
        return kept

    def attribute_phases(self) -> None:
        """What the host launched during a phase belongs to it."""
        phases = sorted((one for one in self.ranges if phase_in(one.name)), key=lambda one: one.start)
        begins = [one.start for one in phases]
        caused: Dict[Any, str] = {}
        for call in self.calls:
            if not call.phase:
                last = bisect_right(begins, call.start)
                running = (phases[at] for at in range(last - 1, max(-1, last - 1 - DEEPEST), -1))
                call.phase = next((phase_in(one.name) for one in running if call.start < end_of(one)), None)
            if call.phase:
                caused[call.correlation] = call.phase
        for record in self.device:
            if not record.phase and isinstance(record, (Kernel, Copy)):
                record.phase = caused.get(record.correlation)

    def launched(self, device: str) -> List[Tuple[int, int]]:
        """When each kernel and copy was launched, and when it ended; sorted. A stream runs in order: what no call is
        known of was launched after what ran before it, and else when it began. But where calls are missing only of what
        ran first, those were before the recording."""
        begun = {call.correlation: call.start for call in self.calls if call.correlation is not None}
        streams: Dict[Any, List[Any]] = defaultdict(list)
        for one in self.device:
            if one.device == device and isinstance(one, (Kernel, Copy)) and one.start is not None:
                streams[one.stream].append(one)
        work, complete = [], True
        for records in streams.values():
            records.sort(key=lambda one: one.start)
            last: Optional[int] = None
            for one in records:
                complete = complete and (last is None or one.correlation in begun)
                last = begun.get(one.correlation, last)
                work.append((last, one, id(records)))
        known = {stream for last, _, stream in work if last is not None}
        return sorted(((0 if complete and stream in known else one.start) if last is None else last, end_of(one))
                      for last, one, stream in work)

    def on_device(self, steps: List[Any], device: str) -> List[Any]:
        """The steps as the device ran them."""
        work = self.launched(device)
        launched, ends = [when for when, _ in work], list(accumulate((end for _, end in work), max))
        moved = []
        for step in steps:
            before, after = bisect_left(launched, step.start), bisect_left(launched, end_of(step))
            begin = max(step.start, ends[before - 1]) if before else step.start
            end = max(end_of(step), ends[after - 1]) if after > before else end_of(step)
            if begin >= end:
                begin, end = step.start, end_of(step)
            moved.append(Range(thread=step.thread, kind="step", name=step.name, start=begin, duration=end - begin))
        return moved


def span_of(records: Iterable[Any]) -> Optional[Tuple[int, int]]:
    timed = [one for one in records if getattr(one, "start", None) is not None and not isinstance(one, Memory)]
    return (min(one.start for one in timed), max(map(end_of, timed))) if timed else None


def rows_of(name: str, processes: Dict[Any, Process]) -> Dict[Tuple[Any, str], Row]:
    """A row for each process and device; `name` becomes the row's, with the process where several share a device."""
    keys = [(key, device) for key, process in sorted(processes.items(), key=lambda item: str(item[0]))
            for device in sorted({one.device for one in process.device})]
    keys = keys or [(key, "gpu:0") for key in list(processes)[:1]]
    if len(keys) > MOST_DEVICES:
        raise InputError(f"{name}: {len(keys)} devices, more than machines have")
    rows: Dict[Tuple[Any, str], Row] = {}
    for key, device in keys:
        process, shared = processes[key], sum(other == device for _, other in keys) > 1
        process.attribute_phases()
        moved = process.on_device(process.steps(), device)
        started = {of: {one.device for one in records} for of, records in process.started().items()}
        records = [one for one in process.device if one.device == device]
        records += [call for call in process.calls if device in started.get(call.correlation, {device})]
        span = span_of(records + process.ranges)
        times = [step.duration / 1e9 for step in moved] or ([(span[1] - span[0]) / 1e9] if span else [])
        records += moved + [one for one in process.ranges if one.kind != "step"]
        rows[key, device] = Row(device, {"model": f"{name} process {key}" if shared else name}, times=times,
                                records=records)
    return rows


def timed(imported: Imported, rows: Iterable[Row]) -> Imported:
    """Adds the rows. Times count from the first record; an allocation may precede it."""
    imported.rows += rows
    records = {id(record): record for row in imported.rows for record in row.records if hasattr(record, "start")}
    span = span_of(records.values())
    for record in records.values():
        if record.start is not None and span:
            record.start = max(0, record.start - span[0])
    imported.missing.append(MISSING)
    return imported

"""PyTorch's operators in a trace: which layer, phase and step a call belongs to, its FLOPs, and what has no formula."""

import re
import statistics
from bisect import bisect_right
from collections import Counter as Tally
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

from roof.importing import Call, Copy, Imported, Kernel, Layer, Range, Record, Row
from roof.importing.timeline import phase_in
from roof.importing.traced import Traced, is_known, short
from roof.texts import si
from roof.work import Work

PHASES = ("forward", "backward", "update")
SMALLEST = 0.01  #: share of the time from which an operator without a formula is named
MASK = "attention is counted in full where the trace does not tell its mask"
COMPILING = "(dynamo_timed)"  #: in names of ranges in which PyTorch traces a model, whose operators do not run
OUTSIDE = "kernels outside operators"
#: Names of kernels that multiply numbers of fp32 as TF32: their operators have fp32, too.
TF32 = re.compile(r"tf32|_s1688(gemm|fprop|dgrad|wgrad)", re.IGNORECASE)


class Span(NamedTuple):
    """What ran on a thread: an operator, a module, a range, or a call of a device's library (`what` is its record)."""

    start: int
    end: int
    kind: str  #: operator, module, range, call
    name: str
    what: Any = None  #: an operator's work, by its shapes
    shaped: bool = False


@dataclass
class Unit:
    """The work of an operator: the outermost that has a formula. The precision is that of the innermost, which ran."""

    work: Traced
    precision: str
    kind: str
    devices: set = field(default_factory=set)  #: that what it launched ran on


@dataclass
class Outermost:
    """The outermost call of an operator, with what ran within it."""

    start: int
    end: int
    name: str
    module: str
    marked: Optional[str]  #: the phase of the range that it ran in; "" if that is none of a step
    units: List[Unit] = field(default_factory=list)
    calls: List[Call] = field(default_factory=list)
    layer: str = ""
    phase: str = "forward"


class Operators:
    """The operators of one process. `started`: what each correlation started on devices."""

    def __init__(self, threads: Dict[Any, List[Span]], flows: Dict[Any, List[Any]], started: Dict[Any, List[Record]]) -> None:
        self.threads: Dict[Any, List[Outermost]] = {}
        self.started, self.unknown = started, defaultdict(Tally)  # type: ignore[var-annotated]
        self.has_shapes = any(span.shaped for spans in threads.values() for span in spans)
        self.has_modules = any(span.kind == "module" for spans in threads.values() for span in spans)
        for thread, spans in threads.items():
            self.threads[thread] = self.nest(spans)
        self.begins = {thread: [one.start for one in calls] for thread, calls in self.threads.items()}
        self.by_flow(flows)

    def nest(self, spans: List[Span]) -> List[Outermost]:
        """One pass over a thread; each stack holds the spans of its kind that have not ended. Time that no formula covers goes to the innermost
        operator: on a device that of the kernels it launched, on a CPU its own."""
        outermost: List[Outermost] = []
        stacks: Dict[str, List[Any]] = {"operator": [], "module": [], "range": [], "compiling": []}
        # of each operator on the stack: its end, the unit that covers it
        counted: List[Tuple[int, Optional[Unit]]] = []
        for span in sorted(spans, key=lambda one: (one.start, -one.end)):
            for stack in stacks.values():
                while stack and stack[-1].end <= span.start:
                    stack.pop()
            while counted and counted[-1][0] <= span.start:
                counted.pop()
            if span.kind == "call":
                self.launch(span.what, outermost[-1] if stacks["operator"] else None, stacks["operator"], counted)
                continue
            if span.kind == "operator" and stacks["compiling"]:
                continue
            if span.kind == "operator":
                if not stacks["operator"]:
                    marked = phase_in(stacks["range"][-1].name) if stacks["range"] else None
                    module = stacks["module"][-1].name if stacks["module"] else ""
                    outermost.append(Outermost(span.start, span.end, span.name, module, marked))
                self.count(span, outermost[-1], stacks["operator"], counted)
            if span.kind != "range" or phase_in(span.name):
                stacks[span.kind].append(span)
            elif COMPILING in span.name:
                stacks["compiling"].append(span)
        return outermost

    def count(self, span: Span, into: Outermost, above: List[Span], counted: List[Any]) -> None:
        unit = counted[-1][1] if counted else None
        work: Optional[Traced] = span.what
        if unit is None and work is not None:
            unit = Unit(work, work.precision, work.kind)
            into.units.append(unit)
        elif unit is not None and work is not None and work.multiplies and work.precision:
            unit.precision = work.precision
            if work.work.contraction_flops == unit.work.work.contraction_flops:
                unit.work = work  # its bytes are those of the types that ran
        if not self.started:
            own = span.end - span.start
            self.add_unknown("cpu", span.name, unit, own)
            if above:
                self.add_unknown("cpu", above[-1].name, counted[-1][1], -own)
        counted.append((span.end, unit))

    def add_unknown(self, device: str, name: str, unit: Optional[Unit], time: int) -> None:
        self.unknown[device][""] += time
        if unit is None and not is_known(name):
            self.unknown[device][name] += time

    def launch(self, call: Call, into: Optional[Outermost], above: List[Span], counted: List[Any]) -> None:
        unit = counted[-1][1] if counted else None
        if into is not None:
            into.calls.append(call)
        name = call.name if "GraphLaunch" in call.name else above[-1].name if above else ""
        for record in self.started.get(call.correlation, ()) if call.correlation is not None else ():
            if unit is not None:
                unit.devices.add(record.device)  # type: ignore[attr-defined]
            if isinstance(record, Kernel):
                if unit is not None and unit.precision == "fp32" and TF32.search(record.name):  # type: ignore[attr-defined]
                    unit.precision = "tf32"
                record_name = name if name else record.name if is_known(record.name) else OUTSIDE
                self.add_unknown(record.device, record_name, unit, record.duration)  # type: ignore[attr-defined]

    def at(self, thread: Any, moment: Optional[int]) -> Optional[Outermost]:
        """The call that runs at a moment."""
        if moment is None or thread not in self.threads:
            return None
        place = bisect_right(self.begins[thread], moment) - 1
        call = self.threads[thread][place] if place >= 0 else None
        return call if call and moment < call.end else None

    def by_flow(self, flows: Dict[Any, List[Any]]) -> None:
        """A gradient belongs to the layer of the operator whose gradient it is; the operators after it belong to the same layer."""
        self.pairs = [(self.at(*begin), self.at(*end)) for begin, end in flows.values() if begin and end]

    def name(self, steps: List[Range]) -> None:
        """Layers and phases: a layer is a module, or else an operator with its place in the step."""
        places: Tally = Tally()
        for calls in self.threads.values():
            for call, step in zip(calls, steps_of(calls, steps)):
                call.phase = "forward" if call.marked is None else call.marked if call.marked in PHASES else ""
                if call.name.startswith("autograd::") or "Backward" in call.name:
                    call.phase = "backward"
                if call.phase == "forward":
                    own = short(call.name)
                    call.layer = call.module or f"{own} {places[step, own]}"
                    places[step, own] += 1
                elif call.phase == "update":
                    call.layer = "optimizer"
        for begin, end in self.pairs:
            if begin and end and begin is not end:
                end.phase, end.layer = "backward", begin.layer
        for calls in self.threads.values():
            last = "backward"
            for call in calls:
                if call.phase == "backward":
                    last = call.layer = call.layer or last

    def label(self) -> None:
        """Calls of a device's library, and what they started, get the layer of the operator that made them, and in a gradient its phase."""
        for call in (call for calls in self.threads.values() for call in calls):
            for made in call.calls:
                for record in [made, *(self.started.get(made.correlation, ()) if made.correlation is not None else ())]:
                    if isinstance(record, (Call, Kernel, Copy)):
                        record.layer = call.layer
                        record.phase = "backward" if call.phase == "backward" else record.phase


def steps_of(calls: List[Outermost], steps: List[Range]) -> Iterable[Optional[int]]:
    """The number of the step in which each call begins; None outside."""
    at = [one.start for one in steps]
    for call in calls:
        step = bisect_right(at, call.start) - 1
        yield step if step >= 0 and call.start < steps[step].start + steps[step].duration else None


@dataclass
class Part:
    """A layer in one phase of one step."""

    seconds: float = 0.0
    kind: str = ""
    work: Work = field(default_factory=Work)
    has_work: bool = False
    multiplies: bool = False

    def add(self, call: Outermost) -> None:
        self.seconds += (call.end - call.start) / 1e9
        for unit in call.units:
            if not self.has_work or unit.work.multiplies and not self.multiplies:
                self.kind = unit.kind
            self.has_work, self.multiplies = True, self.multiplies or unit.work.multiplies
            self.work += unit.work.work
        self.kind = self.kind or short(call.name)


@dataclass
class Step:
    """What ran in a step."""

    parts: Dict[Tuple[str, str], Part] = field(default_factory=dict)
    work: Work = field(default_factory=Work)
    by_precision: Tally = field(default_factory=Tally)
    calls: int = 0

    def add(self, call: Outermost, device: str) -> None:
        self.parts.setdefault((call.layer, call.phase), Part()).add(call)
        self.calls += 1
        for unit in call.units:
            if not device or device in unit.devices:
                self.work += unit.work.work
                self.by_precision[unit.precision] += unit.work.work.contraction_flops


def split(operators: Operators, steps: List[Range], device: str = "") -> Tuple[List[Step], List[Range]]:
    """The steps of a trace, and their ranges; all of it is one where none is marked. Steps in which less than half of the most operators ran were cut
    off and are left out. `device`: only work that ran there."""
    operators.name(steps)
    made = [Step() for _ in steps or [None]]
    for calls in operators.threads.values():
        for call, number in zip(calls, steps_of(calls, steps)):
            if not steps:
                number = 0
            if number is not None and call.phase:
                made[number].add(call, device)
    most = max(step.calls for step in made)
    whole = [place for place, step in enumerate(made) if 2 * step.calls >= most]
    return [made[place] for place in whole], [steps[place] for place in whole] if steps else []


def set_work(row: Row, steps: List[Step], operators: Operators, imported: Imported) -> None:
    """The FLOPs of one step: of several, the median's. What has no formula and took more than 1% of the time makes them a lower bound."""
    step = sorted(steps, key=lambda one: one.work.contraction_flops)[(len(steps) - 1) // 2]
    flops = step.work.contraction_flops
    row.flops, row.known = flops or None, "analytic"
    row.executed = flops - step.work.masked if step.work.masked else None
    precision = max(step.by_precision, key=lambda one: step.by_precision[one], default="")
    if precision and flops:
        row.point["precision"] = precision
        each = [f"{si(count, 'FLOP')} in {name or 'another precision'}" for name, count in step.by_precision.most_common() if count > 0]
        if len(each) > 1:
            imported.remarks.append(f"FLOPs of several precisions: {', '.join(each)}; the row counts them together, as {precision}")
    unknown = operators.unknown[row.device]
    total = unknown.pop("", 0)
    named = [(time, name) for name, time in unknown.items() if time > SMALLEST * total > 0]
    if named and operators.has_shapes:
        row.at_least = flops > 0
        bound = f"FLOPs: ≥ {si(flops, 'FLOP')}, a lower bound: " if flops else "FLOPs: "
        imported.missing.append(bound + "no formula is known for "
                                + ", ".join(f"{name} ({100 * time / total:.3g}% of the time{' of ' + row.device if row.device != 'cpu' else ''})"
                                            for time, name in sorted(named, reverse=True)))
    if step.work.unread_mask and MASK not in imported.remarks:
        imported.remarks.append(MASK)


def processor_row(row: Row, operators: Operators, marked: List[Range], imported: Imported) -> None:
    """The row of a CPU: its times, phases, layers and FLOPs."""
    steps, ranges = split(operators, marked)
    calls = [call for calls in operators.threads.values() for call in calls if call.phase]
    row.times = [one.duration / 1e9 for one in ranges]
    if not ranges and calls:
        row.times = [(max(call.end for call in calls) - min(call.start for call in calls)) / 1e9]
    for phase in PHASES:
        seconds = [sum(part.seconds for (_, of), part in step.parts.items() if of == phase) for step in steps]
        row.phases[phase] = seconds if any(seconds) else []
    if not operators.has_shapes:
        imported.missing.append("FLOPs: the trace has no shapes; profile with record_shapes=True")
    set_work(row, steps, operators, imported)
    imported.missing.append("bytes of the step: operators without a formula have none; the layers that have one show theirs")
    if not operators.has_modules:
        imported.remarks.append("layers are operators by their place in the step; profile with with_stack=True for modules")
    kinds: Dict[str, str] = {}
    for layer, phase in dict.fromkeys(name for step in steps for name in step.parts):
        parts = [step.parts[layer, phase] for step in steps if (layer, phase) in step.parts]
        last = parts[-1]
        kind = kinds.setdefault(layer, "optimizer" if phase == "update" else last.kind)
        flops = statistics.median_low(part.work.flops for part in parts)
        row.layers.append(Layer(layer, kind if phase == "backward" else last.kind if phase != "update" else "optimizer", phase,
                                [part.seconds for part in parts], flops, flops - last.work.masked if last.work.masked else None, last.work.compulsory,
                                last.work.no_reuse))

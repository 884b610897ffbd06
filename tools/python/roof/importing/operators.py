"""PyTorch's operators in a trace: which layer, phase and step a call belongs to, its FLOPs, and what has no formula."""

import re
import statistics
from bisect import bisect_right
from collections import Counter as Tally
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

from roof.importing import Call, Copy, Imported, Kernel, Layer, Record, Row
from roof.importing.timeline import phase_in
from roof.importing.traced import Traced, is_known, short
from roof.steps import PHASES
from roof.texts import si
from roof.work import Work

SMALLEST = 0.01  #: share of the time from which an operator without a formula is named
MASK = "attention is counted in full where the trace does not tell its mask"
COMPILING = "(dynamo_timed)"  #: in names of ranges in which PyTorch traces a model, whose operators do not run
OUTSIDE = "kernels outside operators"
PYTHON = "PythonDispatchMode"  #: the operator of a mode of PyTorch, which runs in Python what it does not know
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
    with_gradient: bool = False  #: it may have one, so it is of a forward pass


@dataclass
class Outermost:
    """The outermost call of an operator, with what ran within it."""

    start: int
    end: int
    name: str
    module: str
    marked: Optional[str]  #: the phase of the range that it ran in; "" if that is none of a step
    units: List[Traced] = field(default_factory=list)
    calls: List[Any] = field(default_factory=list)
    layer: str = ""
    phase: str = "forward"
    #: operators that a gradient runs again for a checkpoint, each with the names of what ran within it
    again: List[Tuple[Span, Set[str]]] = field(default_factory=list)

    def add_inner(self, span: Span) -> None:
        if self.again and span.start < self.again[-1][0].end and not span.with_gradient:
            self.again[-1][1].add(short(span.name))
        elif span.with_gradient and "Backward" in self.name:
            self.again.append((span, set()))

    def drop_unrun(self) -> None:
        """A checkpoint detaches what it saves, and stops within the last operator when all is saved, before that runs.
        What it had kept instead comes from its Python."""
        saves = any("detach" in names for _, names in self.again)
        unrun = [id(one.what) for number, (one, names) in enumerate(self.again, 1)
                 if saves and names <= {"detach", PYTHON} and (PYTHON in names or number == len(self.again))]
        self.units = [one for one in self.units if id(one) not in unrun or not one.work.contraction_flops]


class Operators:
    """The operators of one process. `started`: what each correlation started on devices."""

    def __init__(self, threads: Dict[Any, List[Span]], flows: Dict[Any, List[Any]],
                 started: Dict[Any, List[Record]]) -> None:
        self.started, self.unknown = started, defaultdict(Tally)  # type: ignore[var-annotated]
        self.is_linked = False  #: a call started something on a device
        self.has_shapes = any(span.shaped for spans in threads.values() for span in spans)
        self.has_modules = any(span.kind == "module" for spans in threads.values() for span in spans)
        self.threads = {thread: self.nest(spans) for thread, spans in threads.items()}
        begins = {thread: [one.start for one in calls] for thread, calls in self.threads.items()}

        def at(thread: Any, moment: Optional[int]) -> Optional[Outermost]:  # the call that runs then
            place = bisect_right(begins.get(thread, ()), moment) - 1 if moment is not None else -1
            call = self.threads[thread][place] if place >= 0 else None
            return call if call and moment < call.end else None

        #: A forward operator and the one that computes its gradient.
        self.pairs = [(at(*begin), at(*end)) for begin, end in flows.values() if begin and end]

    def nest(self, spans: List[Span]) -> List[Outermost]:
        """One pass over a thread; each stack holds the spans of its kind that have not ended. Time that no formula
        covers goes to the innermost operator: on a device that of the kernels it launched, on a CPU its own."""
        outermost: List[Outermost] = []
        stacks: Dict[str, List[Span]] = {"operator": [], "module": [], "range": [], "formula": [],
                                         "compiling": []}
        made: List[Traced] = []
        for span in sorted(spans, key=lambda one: (one.start, -one.end)):
            for stack in stacks.values():
                while stack and stack[-1].end <= span.start:
                    stack.pop()
            operators = stacks["operator"]
            unit = operators[-1].what if operators else None  # that covers it
            if span.kind == "call":
                if operators:
                    outermost[-1].calls.append(span.what)
                    outermost[-1].add_inner(span)
                self.launch(span.what, operators[-1].name if operators else "", unit)
            elif span.kind == "operator" and not stacks["compiling"]:
                if not operators:
                    marked = phase_in(stacks["range"][-1].name) if stacks["range"] else None
                    module = stacks["module"][-1].name if stacks["module"] else ""
                    outermost.append(Outermost(span.start, span.end, span.name, module, marked))
                before = unit
                if span.what is not None:
                    work = replace(span.what, devices=set(), within=[])
                    if unit is None:
                        unit = work
                        outermost[-1].units.append(unit)
                    else:
                        stacks["formula"][-1].what.within.append(work)
                        if work.precision and work.work.contraction_flops > 0:
                            unit.precision = work.precision
                    stacks["formula"].append(span._replace(what=work))
                    made.append(work)
                if not self.started:
                    self.add_unknown("cpu", span.name, unit, span.end - span.start)
                    if operators:
                        self.add_unknown("cpu", operators[-1].name, before, span.start - span.end)
                operators.append(span._replace(what=unit))
                outermost[-1].add_inner(operators[-1])
            elif span.kind == "module" or span.kind == "range" and phase_in(span.name):
                stacks[span.kind].append(span)
            elif span.kind == "range" and COMPILING in span.name:
                stacks["compiling"].append(span)
        for work in reversed(made):
            work.settle()
        for call in outermost:
            call.drop_unrun()
        return outermost

    def add_unknown(self, device: str, name: str, unit: Optional[Traced], time: int) -> None:
        self.unknown[device][""] += time
        if unit is None and not is_known(name):
            self.unknown[device][name] += time

    def launch(self, call: Any, operator: str, unit: Optional[Traced]) -> None:
        graph = call.name if "GraphLaunch" in call.name else ""
        for record in self.started.get(call.correlation, ()) if call.correlation is not None else ():
            self.is_linked = True
            if unit is not None:
                unit.devices.add(record.device)
            if isinstance(record, Kernel):
                if unit is not None and unit.precision == "fp32" and TF32.search(record.name):
                    unit.precision = "tf32"
                name = record.name if is_known(record.name) else operator or OUTSIDE
                self.add_unknown(record.device, graph or name, unit, record.duration)

    def name(self, steps: List[Any]) -> None:
        """Layers and phases: a layer is a module, or else an operator with its place in the step. A gradient belongs to
        the layer of the operator whose gradient it is, as do the operators after it. Calls of a device's library, and
        what they started, get the layer of the operator that made them, and in a gradient its phase."""
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
                for made in call.calls:
                    for record in [made,
                                   *(self.started.get(made.correlation, ()) if made.correlation is not None else ())]:
                        if isinstance(record, (Call, Kernel, Copy)):
                            record.layer = call.layer
                            record.phase = "backward" if call.phase == "backward" else record.phase

    def split(self, steps: List[Any]) -> Tuple[List[List[Outermost]], List[Any]]:
        """The calls of each step, and the steps' ranges; all calls are one where none is marked. Steps in which less
        than half of the most operators ran were cut off and are left out."""
        made: List[List[Outermost]] = [[] for _ in steps or [None]]
        for calls in self.threads.values():
            for call, number in zip(calls, steps_of(calls, steps) if steps else [0] * len(calls)):
                if number is not None and call.phase:
                    made[number].append(call)
        most = max(map(len, made))
        whole = [place for place, calls in enumerate(made) if 2 * len(calls) >= most]
        return [made[place] for place in whole], [steps[place] for place in whole] if steps else []


def steps_of(calls: List[Outermost], steps: List[Any]) -> Iterable[Optional[int]]:
    """The number of the step in which each call begins; None outside."""
    at = [one.start for one in steps]
    for call in calls:
        step = bisect_right(at, call.start) - 1
        yield step if step >= 0 and call.start < steps[step].start + steps[step].duration else None


def set_work(row: Row, steps: List[List[Outermost]], operators: Operators, imported: Imported) -> None:
    """The FLOPs of one step: of several, the median's; of what ran on the row's device, where the trace tells it. What
    has no formula and took more than 1% of the time makes them a lower bound."""
    is_linked = operators.is_linked and any(call.calls for calls in operators.threads.values() for call in calls)
    all_units = [[unit for call in calls for unit in call.units if not is_linked or row.device in unit.devices]
                 for calls in steps]
    by_flops = sorted(((Work.sum(unit.work for unit in units), units) for units in all_units),
                      key=lambda one: one[0].contraction_flops)
    work, units = by_flops[(len(steps) - 1) // 2]
    flops = work.contraction_flops
    by_precision: Tally = Tally()
    for unit in units:
        by_precision[unit.precision] += unit.work.contraction_flops
    imported.set_flops(row, +by_precision)
    row.executed, row.known = flops - work.masked if work.masked else None, "analytic"
    unknown = operators.unknown[row.device]
    total = unknown.pop("", 0)
    named = sorted(((time, name) for name, time in unknown.items() if time > SMALLEST * total > 0), reverse=True)
    if named and operators.has_shapes:
        row.at_least = flops > 0
        bound = f"FLOPs: ≥ {si(flops, 'FLOP')}, a lower bound: " if flops else "FLOPs: "
        where = f" of {row.device}" if row.device != "cpu" else ""
        imported.missing.append(f"{bound}no formula is known for " + ", ".join(
            f"{name} ({100 * time / total:.3g}% of the time{where})" for time, name in named))
    imported.remarks += [MASK] * (work.unread_mask > 0)


def processor_row(row: Row, operators: Operators, marked: List[Any], imported: Imported) -> None:
    operators.name(marked)
    steps, ranges = operators.split(marked)
    calls = [call for calls in operators.threads.values() for call in calls if call.phase]
    row.times = [one.duration / 1e9 for one in ranges]
    if not ranges and calls:
        row.times = [(max(call.end for call in calls) - min(call.start for call in calls)) / 1e9]
    # a layer in one phase: its calls in each step that has some
    parts: Dict[Tuple[str, str], List[List[Outermost]]] = {}
    seconds: List[Dict[str, float]] = []  # of each step, by phase
    for calls in steps:
        of_step: Dict[Tuple[str, str], List[Outermost]] = defaultdict(list)
        seconds.append(dict.fromkeys(PHASES, 0.0))
        for call in calls:
            of_step[call.layer, call.phase].append(call)
        for part, its in of_step.items():
            parts.setdefault(part, []).append(its)
            seconds[-1][part[1]] += seconds_of(its)
    row.phases = {phase: [one[phase] for one in seconds] if any(one[phase] for one in seconds) else []
                  for phase in PHASES}
    if not operators.has_shapes:
        imported.missing.append("FLOPs: the trace has no shapes; profile with record_shapes=True")
    set_work(row, steps, operators, imported)
    imported.missing.append("bytes of the step: operators without a formula have none; the layers that have one show "
                            "theirs")
    if not operators.has_modules:
        imported.remarks.append("layers are operators by their place in the step; profile with with_stack=True for "
                                "modules")
    kinds: Dict[str, str] = {}
    for (layer, phase), in_steps in parts.items():
        units = [[unit for call in its for unit in call.units] for its in in_steps]
        works = [Work.sum(unit.work for unit in one) for one in units]
        multiplies = [unit for unit in units[-1] if unit.work.contraction_flops > 0]
        own = (multiplies or units[-1])[0].kind if units[-1] else short(in_steps[-1][0].name)
        kind = kinds.setdefault(layer, "optimizer" if phase == "update" else own)
        flops, last = statistics.median_low(work.flops for work in works), works[-1]
        row.layers.append(Layer(layer, {"backward": kind, "update": "optimizer"}.get(phase, own), phase,
                                list(map(seconds_of, in_steps)), flops, flops - last.masked if last.masked else None,
                                last.compulsory, last.no_reuse))


def seconds_of(calls: List[Outermost]) -> float:
    return sum((call.end - call.start) / 1e9 for call in calls)

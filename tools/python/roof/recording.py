"""`record` and `profile`: from a model's steps to a results folder."""

import os
import time
import warnings
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from roof import folder as results
from roof.estimates import Estimate, columns, estimate
from roof.host import describe, throttling_between, use_between
from roof.recorder import COMPILED, Recorder
from roof.steps import BEFORE_OPTIMIZER, LOSS, OPTIMIZER, PHASES, CpuClock, CudaClock, Key, Step
from roof.texts import how_many
from roof.work import Work

DESCRIPTION = ("Training steps of a PyTorch model, recorded by hooks. FLOPs are those of contractions, forward and "
               "both gradients; the update is apart. Bytes are those of the operators' operands, each moved once per "
               "operator.")
KINDS = {LOSS: "loss", BEFORE_OPTIMIZER: "update", OPTIMIZER: "update"}


@dataclass
class Recording:
    """A recorded model: its folder, and its steps after those that were only counted."""

    folder: Path
    steps: List[Step] = field(default_factory=list, repr=False)
    work: Dict[Key, Work] = field(default_factory=dict, repr=False)
    remarks: List[str] = field(default_factory=list)
    start_up: float = 0.0  #: seconds from the beginning of the recording to the first step

    @property
    def seconds(self) -> Estimate:
        """The step without the wait for data."""
        return estimate([step.total() for step in self.steps])

    @property
    def flops(self) -> float:
        """FLOPs of a step's contractions."""
        return sum(work.contraction_flops for work in self.work.values())

    @property
    def executed_flops(self) -> float:
        """The same without the pairs of attention that a causal mask or a window leaves out."""
        return self.flops - sum(work.masked for work in self.work.values())

    def layers(self) -> List[Dict[str, Any]]:
        """Layer, phase, median seconds, FLOPs, executed FLOPs and bytes of each part, the longest first."""
        rows = []
        for phase, layer in parts_of(self.steps):
            work = self.work.get((phase, layer), Work())
            seconds = estimate([step.seconds.get((phase, layer), 0.0) for step in self.steps]).median
            rows.append({"layer": layer, "phase": phase, "seconds": seconds, "flops": work.flops,
                         "executed_flops": work.flops - work.masked, "bytes": work.compulsory})
        return sorted(rows, key=lambda row: -row["seconds"])  # type: ignore[operator]

    def _repr_html_(self) -> str:
        from roof.notebook import html_of

        return html_of(self.folder)


def parts_of(steps: List[Step]) -> List[Key]:
    """All keys, by phase and in the order of their first appearance."""
    keys = dict.fromkeys(key for step in steps for key in step.seconds)
    return [key for phase in PHASES for key in keys if key[0] == phase]


def clock_for(model: Any) -> Tuple[Any, str]:
    """The clock of the device that holds the model, and the device's name in roof."""
    parameter = next(model.parameters(), None)
    if parameter is None or parameter.device.type != "cuda":
        return CpuClock(), "cpu"
    import torch

    return CudaClock(torch.cuda, parameter.device), f"gpu:{parameter.device.index or 0}"


#: What the caller says about a recording; None: as the model says.
Named = namedtuple("Named", "name batch precision machine replace")


@contextmanager
def record(folder: Union[str, Path], model: Any, *, name: Optional[str] = None, batch: Optional[int] = None,
           precision: Optional[str] = None, machine: Optional[str] = None,
           replace: bool = False) -> Iterator[Recording]:
    """Records every training step of `model` within the block, and writes them to `folder` at its end.

    A step begins with the model's forward pass and ends with the optimiser's step, or without one with the backward
    pass; an optimiser that asks for passes itself is the whole step. The first two steps are counted and, if there are
    more, not timed. Without an exception nothing is printed.

    folder: a new results folder; name: the model's name [its class]; batch: inputs per step [the first extent of the
    first input]; precision: fp32, bf16, … [as the parameters or autocast say]; machine: the name of the machine [as
    `roof doctor` says]; replace: whether an earlier recording in the folder is replaced, at the end of the block.
    Of several ranks that run one script, rank N writes `folder-rankN`, and rank 0 `folder`; see Recording.folder.
    Raises RuntimeError if no step was complete, FileExistsError if the folder has results that are not to be replaced.
    """
    folder = results.require_free(results.of_rank(folder), replace)
    clock, device = clock_for(model)
    recorder, recording = Recorder(model, clock), Recording(folder)
    began = time.perf_counter()
    recorder.start()
    try:
        yield recording
    finally:
        recorder.stop()
    recording.start_up = recorder.first_pass - began if recorder.first_pass else 0.0
    steps, left_over = recorder.steps()
    finish(recording, recorder, steps, device, Named(name, batch, precision, machine, replace), left_over=left_over,
           remarks=["the cost of recording was not measured; roof.profile measures it"])


def profile(model: Any, loss: Callable[[Any, Any], Any], batch: Tuple[Any, Any], *, steps: int = 10,
            optimizer: Optional[Any] = None, folder: Union[str, Path, None] = None, name: Optional[str] = None,
            precision: Optional[str] = None, machine: Optional[str] = None, replace: bool = False) -> Recording:
    """Trains `model` for `steps` recorded steps on one batch, and as many without recording, in turns: the cost of
    recording.

    loss: a function of the output and the target; batch: (inputs, target), inputs a tensor, a tuple or a dictionary of
    arguments; optimizer: [SGD with learning rate 0.01, momentum 0.9 and weight decay 1e-4]; folder:
    [results/pytorch-NAME]; the others as in `record`. The model is trained: its parameters change.
    """
    import torch

    name = name or model.__class__.__name__
    folder = Path("results") / f"pytorch-{name}" if folder is None else folder
    place = results.require_free(results.of_rank(folder), replace)
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    clock, device = clock_for(model)
    inputs = batch[0]

    def step() -> Tuple[float, Any]:
        optimizer.zero_grad()
        begin = clock.stamp()
        out = (model(**inputs) if isinstance(inputs, dict)
               else model(*inputs) if isinstance(inputs, (tuple, list)) else model(inputs))
        value = loss(out, batch[1])
        value.backward()
        optimizer.step()
        return clock.seconds([begin, clock.stamp()])[1], value.detach()

    recorder = Recorder(model, clock)
    began = time.perf_counter()
    for number in range(4):  # two are counted; a compiler works in the others
        if number < 2 or recorder.watch is not None:
            recorder.start()
            step()
            recorder.stop()
    recorder.steps()
    recording = Recording(place, start_up=time.perf_counter() - began)
    recorder.to_count = 0
    plain: List[float] = []
    recorded: List[Step] = []
    losses: List[float] = []
    for _ in range(steps):
        plain.append(step()[0])
        recorder.start()
        _, value = step()
        recorder.stop()
        recorded += recorder.steps()[0]
        losses.append(float(value))
    without, with_it = estimate(plain), estimate([one.total() for one in recorded])
    remark = (f"recording cost {100 * (with_it.median / without.median - 1):.1f}%: {with_it.median:.6g} s with it "
              f"[{with_it.low:.6g}, {with_it.high:.6g}], {without.median:.6g} s without it "
              f"[{without.low:.6g}, {without.high:.6g}], {steps} steps each in turns")
    finish(recording, recorder, recorded, device, Named(name, None, precision, machine, replace), losses=losses,
           remarks=[remark])
    return recording


def finish(recording: Recording, recorder: Recorder, steps: List[Step], device: str, named: Named, *,
           left_over: int = 0, losses: Optional[List[float]] = None, remarks: List[str]) -> None:
    """Leaves out the counted steps, and writes the folder."""
    import torch

    if not steps:
        raise RuntimeError("no training step of the model was recorded: the block must run its forward pass, and not "
                           "within a function that was compiled: record torch.compile(model)")
    timed = [step for step in steps if not step.untimed]
    recording.steps, recording.work = timed or steps[-1:], recorder.work
    if not timed:
        remarks.append("the step that was timed was also counted or compiled, which slows it: record "
                       f"{len(steps) + 1} steps or more")
    if left_over:
        remarks.append(f"left out: {how_many(left_over, 'forward pass', 'forward passes')} after the last update")
    remarks.append(f"start-up {recording.start_up:.6g} s before the first step")
    rank, ranks = results.rank_of_environment()
    recording.remarks = remarks + recorder.remarks + ([f"rank {rank} of {ranks}"] if ranks > 1 else [])
    if recorder.host:
        recording.remarks += throttling_between(*recorder.host)
    own = getattr(recorder.model, COMPILED, recorder.model)
    point = {"model": named.name or own.__class__.__name__, "batch": str(named.batch or recorder.batch or ""),
             "precision": named.precision or recorder.precision or "",
             "threads": str(torch.get_num_threads()) if device == "cpu" else ""}
    machine = describe(named.machine)
    machine["versions"]["pytorch"] = torch.__version__
    if all(known["name"] != device for known in machine["devices"]):
        machine["devices"].append({"name": device, "kind": "gpu", "model": torch.cuda.get_device_name(int(device[4:])),
                                   "levels": []})
    total, used = Work.sum(recording.work.values()), recording.steps
    row: results.Row = {"id": results.identity("pytorch", device, point), "bench": "pytorch", "role": "step",
                        "device": device, **point, "status": "ok", **columns("launch", [step.total() for step in used]),
                        "samples": len(used), "discarded": len(steps) - len(used),
                        **columns("data", [step.data for step in used])}
    for phase in PHASES:
        row.update(columns(phase, [step.phase(phase) for step in used]))
    recording.remarks += remarks_on(total)
    if recorder.watch is not None:
        recording.remarks.append(recorder.watch.remark(recorder.kernels))
    if recorder.host:
        beside = use_between(*recorder.host)
        if results.rank_of_environment()[1] > 1:  # other ranks are processes of this step
            beside.pop("others_processors", None)
        row.update(beside)
    row.update({"flops": total.contraction_flops, **columns_of(total, total.contraction_flops),
                "flops_at_least": "1" if total.uncounted and total.contraction_flops else "",
                "time_known": "measured", "started_utc": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "description": DESCRIPTION, "remarks": "; ".join(recording.remarks)})
    samples: List[results.Row] = [
        {"launch_s": step.total(), "data_s": step.data, **{f"{phase}_s": step.phase(phase) for phase in PHASES},
         "loss": losses[number] if losses else "", "used": int(any(step is one for one in used))}
        for number, step in enumerate(steps)]
    layers = [layer_row(recording, recorder, key) for key in parts_of(used)]
    rest = machine, f"training steps of {point['model']} in PyTorch", row, samples, layers, named.replace
    try:
        results.write(recording.folder, *rest)
    except FileExistsError as error:  # it was free at the beginning: the steps are kept in a folder of their own
        recording.folder = recording.folder.with_name(f"{recording.folder.name}-process{os.getpid()}")
        warnings.warn(f"{error}; the recording is in {recording.folder}", stacklevel=2)
        results.write(recording.folder, *rest)


def columns_of(work: Work, flops: float) -> results.Row:
    """Those that a step and a layer have behind their FLOPs."""
    return {"executed_flops": flops - work.masked if work.masked else "", "compulsory_bytes": work.compulsory,
            "no_reuse_bytes": work.no_reuse, "work_known": "analytic"}


def remarks_on(total: Work) -> List[str]:
    remarks = []
    if total.attention:
        remarks.append(f"FLOPs of attention: {total.attention:,.0f} of all pairs of query and key, "
                       f"{total.attention - total.masked:,.0f} executed, {total.again:,.0f} of these for scores that "
                       "the backward pass computes again")
    if total.unread_mask:
        remarks.append(f"{total.unread_mask:,.0f} FLOPs of attention have a mask of values, which is not read: all "
                       "pairs count as executed")
    if total.uncounted:
        remarks.append("not counted: " + ", ".join(sorted(total.uncounted)))
    return remarks


def layer_row(recording: Recording, recorder: Recorder, key: Key) -> results.Row:
    phase, layer = key
    work, kernels = recording.work.get(key, Work()), recorder.kernels.get(key, [])
    others = dict.fromkeys(module for kernel in kernels for module in kernel.others)
    made = ("Inductor: " + ", ".join(dict.fromkeys(kernel.name for kernel in kernels))
            + ("; also for " + ", ".join(others) if others else ""))
    return {"layer": recorder.optimizer_name if layer == OPTIMIZER else layer,
            "kind": KINDS.get(layer) or recorder.kinds.get(layer, ""), "phase": phase,
            **columns("time", [step.seconds.get(key, 0.0) for step in recording.steps]),
            "samples": len(recording.steps), "flops": work.flops, **columns_of(work, work.flops),
            "implementation": made if kernels else "PyTorch"}

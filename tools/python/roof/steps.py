"""Stamps of time, on a CPU of its clock, on a GPU events of the current stream; and from marks of time to steps: pure
arithmetic, without PyTorch.

A mark is a time and a key. The time from a mark to the next belongs to its key, so the keys of a step add up to it. A
key is (phase, layer), or None for time that belongs to no step, such as the wait for data."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Collection, Dict, List, Optional, Sequence, Tuple

Key = Tuple[str, str]

FORWARD, BACKWARD, UPDATE = "forward", "backward", "update"
PHASES = (FORWARD, BACKWARD, UPDATE)
#: Parts that are no layers.
LOSS = "loss"
BEFORE_MODEL = "before the model"  #: backward through what made its inputs
BEFORE_OPTIMIZER = "before the optimizer"
OPTIMIZER = "optimizer"


@dataclass
class Step:
    """Seconds of a step by key, and of the wait before it."""

    seconds: Dict[Key, float] = field(default_factory=Counter)
    data: float = 0.0
    ends_with_update: bool = False
    passes: int = 0  #: forward passes
    untimed: bool = False  #: it was counted or compiled, which slows it
    cycles: List[int] = field(default_factory=list)  #: their numbers

    def phase(self, phase: str) -> float:
        return sum(time for (of, _), time in self.seconds.items() if of == phase)

    def total(self) -> float:
        return sum(self.seconds.values())


def cycles_of(times: Sequence[float], keys: Sequence[Optional[Key]], begins: Sequence[int],
              untimed: Collection[int] = ()) -> List[Step]:
    """One cycle for each forward pass of the model, and for the beginning of an update that makes passes itself.

    `begins`: indices of the marks that begin one. The last mark only ends. `untimed`: numbers of cycles that are not to
    be timed."""
    cycles = []
    for number, begin in enumerate(begins):
        end = begins[number + 1] if number + 1 < len(begins) else len(times) - 1
        cycle = Step(passes=int(keys[begin] != (UPDATE, OPTIMIZER)), untimed=number in untimed, cycles=[number])
        for i in range(begin, end):
            key, duration = keys[i], times[i + 1] - times[i]
            if key is not None:
                cycle.seconds[key] += duration
        before = begin - 1
        while number > 0 and before > begins[number - 1] and keys[before] is None:
            cycle.data += times[before + 1] - times[before]
            before -= 1
        cycle.ends_with_update = any(keys[i] == (UPDATE, OPTIMIZER) and keys[i + 1] is None for i in range(begin, end))
        if (UPDATE, OPTIMIZER) not in cycle.seconds:  # what follows the backward pass is then the wait for the next one
            cycle.seconds.pop((UPDATE, BEFORE_OPTIMIZER), None)
        cycles.append(cycle)
    return cycles


def steps_of(cycles: Sequence[Step]) -> Tuple[List[Step], int]:
    """Cycles up to an update are one step (accumulated gradients); without any update each cycle is one.

    Returns the steps and the number of cycles left over, whose update was not recorded."""
    if not any(cycle.ends_with_update for cycle in cycles):
        return list(cycles), 0
    steps: List[Step] = []
    open_cycles: List[Step] = []
    for cycle in cycles:
        open_cycles.append(cycle)
        if not cycle.ends_with_update:
            continue
        step = Step(data=sum(one.data for one in open_cycles), ends_with_update=True)
        for one in open_cycles:
            step.passes += one.passes
            step.untimed = step.untimed or one.untimed
            step.cycles += one.cycles
            step.seconds.update(one.seconds)  # which adds
        steps.append(step)
        open_cycles = []
    return steps, len(open_cycles)


class CpuClock:
    """The monotonic clock of the process, in nanoseconds."""

    stamp = staticmethod(time.perf_counter_ns)

    def seconds(self, stamps: Sequence[int]) -> list[float]:
        return [1e-9 * (stamp - stamps[0]) for stamp in stamps]


class CudaClock:
    """Events of a GPU's current stream: the time when the GPU reached them, not when the program asked for them.

    `cuda` is `torch.cuda`, or an imitation in a test."""

    def __init__(self, cuda: Any, device: Any = None) -> None:
        self._cuda = cuda
        self._device = device

    def stamp(self) -> Any:
        event = self._cuda.Event(enable_timing=True)
        event.record(self._cuda.current_stream(self._device))
        return event

    def seconds(self, stamps: Sequence[Any]) -> list[float]:
        """The times of the stamps, in seconds since the first. Waits for the GPU."""
        self._cuda.synchronize(self._device)
        return [1e-3 * stamps[0].elapsed_time(stamp) for stamp in stamps]

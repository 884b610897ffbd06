"""Stamps of time: on a CPU its clock, on a GPU events of the current stream."""

import time
from typing import Any, Sequence


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

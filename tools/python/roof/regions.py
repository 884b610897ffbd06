"""Regions of a Python program, in the file that roof.h writes for C and C++: calls, time and declared work by name.

    from roof import region

    with region("solve", flops=2e9, bytes=3e8):   # the work of one call, if you know it
        solve(x)

    ROOF_REGIONS=regions.csv python program.py
    roof place regions.csv

Without ROOF_REGIONS nothing is recorded. Of nested regions of one name the outermost is timed. Threads are added up:
calls and work are sums, seconds those of the thread with the most. Work on a GPU ends later than the call that starts
it: synchronise before the region ends."""

import atexit
import csv
import os
import threading
import time
from contextlib import ContextDecorator
from types import SimpleNamespace
from typing import Any, Dict, List, Optional

PATH: Optional[str] = os.environ.get("ROOF_REGIONS")


class _Thread(threading.local):
    def __init__(self) -> None:
        self.totals: Dict[str, Any] = {}  #: of each region on this thread
        _threads.append(self.totals)


_threads: List[Dict[str, Any]] = []
_this = _Thread()


class region(ContextDecorator):
    """A part of the program, as a context or a decorator. FLOPs and bytes to and from memory are those of one call; 0
    is unknown."""

    __slots__ = ("name", "flops", "bytes")

    def __init__(self, name: str, flops: float = 0, bytes: float = 0) -> None:
        self.name, self.flops, self.bytes = name, flops, bytes

    def __enter__(self) -> "region":
        if PATH is not None:
            total = _this.totals.get(self.name)
            if total is None:
                total = _this.totals[self.name] = SimpleNamespace(calls=0, depth=0, seconds=0.0, flops=0.0, bytes=0.0)
            total.depth += 1
            if total.depth == 1:
                total.began = time.perf_counter()
        return self

    def __exit__(self, *exception: Any) -> None:
        if PATH is None:
            return
        now = time.perf_counter()
        total = _this.totals[self.name]
        total.depth -= 1
        total.flops += self.flops
        total.bytes += self.bytes
        if total.depth == 0:
            total.seconds += now - total.began
            total.calls += 1


def _write(path: str) -> None:
    names = dict.fromkeys(name for totals in _threads for name in totals)
    with open(path.replace("%p", str(os.getpid())), "w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["name", "calls", "threads", "seconds", "flops", "bytes"])
        for name in names:
            all_of = [totals[name] for totals in _threads if name in totals and totals[name].calls]
            flops, bytes_ = sum(total.flops for total in all_of), sum(total.bytes for total in all_of)
            if all_of:
                lines.writerow([" ".join(name.split("\n")), sum(total.calls for total in all_of), len(all_of),
                                f"{max(total.seconds for total in all_of):.9f}", flops or "", bytes_ or ""])


if PATH is not None:
    atexit.register(_write, PATH)

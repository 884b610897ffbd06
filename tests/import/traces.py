"""Traces of PyTorch and exports of Nsight Systems that are made for a test, and their import."""

import json
import os
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from roof.importing.files import import_file

DATA = Path(__file__).parent / "data"


def of_bytes(content, name="x"):
    """Imports a file of these bytes."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / name
        file.write_bytes(content)
        return import_file(file)


def of_events(events, **others):
    return of_bytes(json.dumps({"schemaVersion": 1, **others, "traceEvents": events}).encode())


def of_sql(statements):
    """Imports a database that is made by these statements."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "x"
        base = sqlite3.connect(file)
        base.executescript("PRAGMA synchronous = OFF;" + statements)
        base.close()
        return import_file(file)


def event(category, name, start, duration, pid=1, tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args}


def operator(name, start, duration, dims=(), types=(), values=(), **where):
    return {**event("cpu_op", name, start, duration, **where),
            "args": {"Input Dims": list(dims), "Input type": list(types) or ["float"] * len(dims), "Concrete Inputs": list(values)}}


def launch(start, correlation, name="cudaLaunchKernel", category="cuda_runtime", **where):
    return event(category, name, start, 1, correlation=correlation, **where)


def kernel(start, duration, correlation, name="gemm", device=0, stream=7):
    return event("kernel", name, start, duration, pid=device, tid=stream, device=device, stream=stream, correlation=correlation)


def product(start, correlation, pid=1, device=0, length=50, name="aten::mm"):
    """A product of 64x128 and 128x256, 4,194,304 FLOPs, launched 10 us after it begins, 200 us before it runs."""
    return [operator(name, start, 100, [[64, 128], [128, 256]], pid=pid, tid=pid), launch(start + 10, correlation, pid=pid, tid=pid),
            kernel(start + 210, length, correlation, device=device)]


PRODUCT = 2 * 64 * 128 * 256


def steps(number=3, pid=1, device=0, first=1690000000000000, name="ProfilerStep#{}"):
    """Steps of 900 us, one each 1000 us, with a product each."""
    return [one for step in range(number) for one in [event("user_annotation", name.format(step), first + 1000 * step, 900, pid=pid, tid=pid),
                                                      *product(first + 1000 * step + 10, 100 + step, pid, device)]]


def roof(*words):
    """The command, by its Python alone where there is no program."""
    return subprocess.run([os.environ["ROOF_PROGRAM"], *map(str, words)], capture_output=True, text=True, check=False, timeout=120)

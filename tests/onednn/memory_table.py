"""What memory a step takes, beside what its row says: measured without a limit, then within a control group of the size that the row says,
and of 0.9 of it, where the row must be refused and nothing killed. Needs a control group for memory that this user may make (root).

usage: memory_table.py [--sample] [--csv FILE] ROOF [ROW ...]     (a row's name, or the beginning of one; all of them by default)

Measured: the process's peak (VmHWM). Of two ranks the peaks of both, with memory that they share counted once.
"""

import argparse
import contextlib
import csv
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NETWORKS = ["alexnet", *(f"vgg{n}{norm}" for norm in ("", "_bn") for n in (11, 13, 16, 19)), *(f"resnet{n}" for n in (18, 34, 50, 101, 152))]
DECODERS = [f"config_{name}" for name in ("gpt2", "llama", "mistral", "qwen2")]
FILES = ["mobilenet_v2", "squeezenet1_1", "shufflenet_v2_x1_0"]
SAMPLE = ["resnet18 train sgd, 1 thread", "config_qwen2 prefill, 2 threads", "config_llama decode, 1 thread", "config_gpt2 train adamw, 2 ranks"]
LEAST, APART = 0.92, 40e6  # of what the row says, or so many bytes from it


def rows():
    """Name and arguments of each."""
    for name in [*NETWORKS, *FILES, *DECODERS]:
        tokens = name in DECODERS
        file = f"{HERE}/../engine/data/configs/{name}.json" if tokens else f"{HERE}/../model/data/onnx/{name}.onnx" if name in FILES else name
        phases = [("train", "sgd"), ("train", "adamw"), ("forward", "")] + ([("prefill", ""), ("decode", "")] if tokens else [])
        places = [("1 thread", 1, 1), ("2 threads", 2, 1), ("2 ranks", 2, 2)]
        for phase, optimizer in phases:
            for place, threads, ranks in places:
                if ranks > 1 and phase != "train":
                    continue
                length = 16 if name == "config_mistral" else 64
                yield (" ".join(filter(None, (name, phase, optimizer))) + f", {place}",
                       [file, "--batch", 1 + tokens, "--threads", threads, "--phase", phase, *(["--optimizer", optimizer] if optimizer else []),
                        *(["--tokens", length] if tokens else []), *(["--ranks", ranks] if ranks > 1 else []),
                        "--data", "hashed", "--parameters", "hashed", "--steps", 3])


class Group:
    """A control group of version 1 or 2 in which a process runs. Raises OSError where none can be made."""

    def __init__(self, limit=None):
        line = next((line for line in Path("/proc/self/cgroup").read_text().splitlines() if ":memory:" in line), None)
        root = Path("/sys/fs/cgroup/memory" if line else "/sys/fs/cgroup")
        self.folder = root / f"roof-memory-{os.getpid()}"
        self.folder.mkdir()
        try:
            if limit:
                (self.folder / ("memory.limit_in_bytes" if line else "memory.max")).write_text(str(int(limit)))
        except OSError:
            self.folder.rmdir()
            raise

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def processes(self):
        return (self.folder / "cgroup.procs").read_text().split()

    def end(self):
        for _ in range(100):
            with contextlib.suppress(OSError):
                return self.folder.rmdir()
            time.sleep(0.05)


def status_of(process):
    """Kilobytes by name; empty for a process that has ended."""
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return {}
    return {name: int(number) for name, number in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.M)}


def measured(roof, arguments, limit=None):
    """The status of the program, its row, and its peak memory in bytes."""
    group = Group(limit)
    with tempfile.TemporaryDirectory() as out:
        try:
            process = subprocess.Popen([roof, "run", *map(str, arguments), "--out", f"{out}/run"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True, preexec_fn=group.enter)
            peaks = {}
            while process.poll() is None:
                for one in group.processes():
                    now = status_of(one)
                    if "VmHWM" in now:
                        before = peaks.get(one, (0, 0))
                        peaks[one] = (max(before[0], now["VmHWM"]), max(before[1], now["RssShmem"]))
                time.sleep(0.01)
            said = process.stderr.read()
        finally:
            group.end()
        file = Path(out, "run", "measurements.csv")
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        row = next(csv.DictReader(line for line in lines if not line.startswith("#")), None)
    # Each rank touches its own part of the shared blocks, and those of the others that it adds.
    own = sum(peak - shared for peak, shared in peaks.values())
    shared = max((shared for _, shared in peaks.values()), default=0)
    ranks = max(1, len(peaks))
    return process.returncode, row, 1024 * (own + shared * ranks * ranks / (2 * ranks - 1)), said


def check(roof, name, arguments):
    """The line of the table; its last column says what is wrong."""
    wrong = []
    status, row, peak, said = measured(roof, arguments)
    if row is None or row["status"] != "ok":
        return [name, "", "", "", "", f"without a limit: {row['reason'] if row else said[-200:]}"]
    says = float(row["memory_bytes"])
    if peak > says or peak < min(LEAST * says, says - APART):
        wrong.append("the peak")
    tried = []
    for share, wanted in ((1, "ok"), (0.9, "out_of_memory")):
        status, row, _, said = measured(roof, arguments, share * says)
        got = f"killed ({status})" if status < 0 or row is None else row["status"]
        tried.append(got)
        if got != wanted:
            wrong.append(f"at {share}: {row['reason'] if row else said[-200:]}")
    return [name, f"{says / 1e6:.1f}", f"{peak / 1e6:.1f}", f"{peak / says:.3f}", *tried, "; ".join(wrong)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("roof")
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    try:
        Group().end()
    except OSError as error:
        print(f"no control group can be made here: {error}")
        return 77
    wanted = SAMPLE if options.sample else options.rows
    table = [["row", "says_MB", "peak_MB", "share", "at_1", "at_0.9", "wrong"]]
    for name, arguments in rows():
        if wanted and not any(name.startswith(one) for one in wanted):
            continue
        table.append(check(options.roof, name, arguments))
        print(*(f"{cell:>{width}}" for cell, width in zip(table[-1], ('<40', 8, 8, 6, 14, 14, ''))), flush=True)
        if options.csv:
            with open(options.csv, "w", newline="", encoding="utf-8") as out:
                csv.writer(out, lineterminator="\n").writerows(table)
    bad = sum(1 for line in table[1:] if line[-1])
    print(f"{len(table) - 1} rows, {bad} of them wrong")
    return 1 if bad or len(table) == 1 else 0


if __name__ == "__main__":
    sys.exit(main())

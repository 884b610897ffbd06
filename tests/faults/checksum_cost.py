"""What the checksums of a results folder cost: bytes of each file with and without them, and the processor time of `roof report` on both, in
turns. checksums.csv counts as cost.

usage: checksum_cost.py ROOF FOLDER... [--runs N]
"""

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

COLUMN = re.compile(r",(row|block)_checksum(:\w+)?$")


def plain(text):
    lines = text.splitlines()
    return "".join(line.rpartition(",")[0] + "\n" for line in lines) if COLUMN.search(lines[0]) else text


def seconds_of_report(roof, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([roof, "report", folder, "--out", os.devnull, "--plain"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def percent(with_them, without):
    return f"{100 * (with_them / without - 1):+.2f}%"


def compare(roof, folder, runs):
    with tempfile.TemporaryDirectory() as scratch:
        copies = {name: Path(scratch, name, "run") for name in ("without", "with")}
        print(folder)
        for copy in copies.values():
            shutil.copytree(folder, copy)
        (copies["without"] / "checksums.csv").unlink(missing_ok=True)
        for file in sorted(copies["without"].glob("*.csv")):
            text = file.read_text(encoding="utf-8")
            file.write_text(plain(text), encoding="utf-8")
            lines, bytes_without = text.count("\n"), len(plain(text).encode())
            print(f"  {file.name:20} {lines:7} lines of {bytes_without / lines:5.0f} bytes: {percent(len(text.encode()), bytes_without)}")
        sizes = {name: sum(file.stat().st_size for file in copy.iterdir()) for name, copy in copies.items()}
        print(f"  all files: {percent(sizes['with'], sizes['without'])} of {sizes['without']} bytes")
        if runs < 2:
            return
        ratios = []
        for _ in range(runs):
            seconds = {name: seconds_of_report(roof, copy) for name, copy in copies.items()}
            ratios.append(seconds["with"] / seconds["without"])
        quarter = statistics.quantiles(ratios, n=4)
        print(f"  time of roof report: {percent(quarter[1], 1)}, quartiles {percent(quarter[0], 1)} to {percent(quarter[2], 1)}, {runs} pairs")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("roof")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    for one in options.folders:
        compare(Path(options.roof).resolve(), one, options.runs)

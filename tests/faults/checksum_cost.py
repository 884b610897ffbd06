"""What the checksums of a results folder cost: bytes of each file with and without the column, and the processor time of `roof report` on both,
in turns.

usage: checksum_cost.py ROOF FOLDER... [--runs N]
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import zlib
from pathlib import Path

COLUMN = ",crc32"


def plain(text):
    lines = text.splitlines()
    return "".join(line.rpartition(",")[0] + "\n" for line in lines) if lines[0].endswith(COLUMN) else text


def proven(text):
    crc, out = 0, []
    for line in text.splitlines():
        crc = zlib.crc32((line + "\n").encode(), crc)
        out.append(f"{line},{crc:08x}\n" if out else f"{line}{COLUMN}\n")
    return "".join(out)


def seconds_of_report(roof, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([roof, "report", folder, "--out", os.devnull, "--plain"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(roof, folder, runs):
    with tempfile.TemporaryDirectory() as scratch:
        copies = {name: Path(scratch, name, "run") for name in ("without", "with")}
        sizes = {name: 0 for name in copies}
        print(folder)
        for name, copy in copies.items():
            shutil.copytree(folder, copy)
            (copy / "checksums.csv").unlink(missing_ok=True)
        for file in sorted(copies["with"].glob("*.csv")):
            text = plain(file.read_text(encoding="utf-8"))
            texts = {"without": text, "with": proven(text)}
            for name, copy in copies.items():
                (copy / file.name).write_text(texts[name], encoding="utf-8")
                sizes[name] += len(texts[name].encode())
            lines = text.count("\n")
            print(f"  {file.name:20} {lines:7} lines of {len(text.encode()) / lines:5.0f} bytes: "
                  f"{100 * (len(texts['with'].encode()) / len(text.encode()) - 1):+5.2f}%")
        print(f"  all files: {100 * (sizes['with'] / sizes['without'] - 1):+.2f}% of {sizes['without']} bytes")
        ratios = []
        for _ in range(runs):
            seconds = {name: seconds_of_report(roof, copy) for name, copy in copies.items()}
            ratios.append(seconds["with"] / seconds["without"] - 1)
        quarter = statistics.quantiles(ratios, n=4)
        print(f"  time of roof report: {100 * quarter[1]:+.2f}%, quartiles {100 * quarter[0]:+.2f}% to {100 * quarter[2]:+.2f}%, {runs} pairs")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("roof")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    for one in options.folders:
        compare(Path(options.roof).resolve(), one, options.runs)

#!/usr/bin/env python3
"""Plants bugs by chance in the readers and writers of files, or in the host's code of GPUs, and runs the tests of these until one notices:
conditions that are never or always true, other comparisons, statements left out, arguments in another order, numbers one higher. Those of C++
are built at once and switched on by a variable, those of Python are written one at a time. Sources are changed in place and put back, also
after an interrupt.

usage: tests/faults/seeded_bugs.py [files|gpu] [--build BUILD] [--count N] [--seed N] [--jobs N] [--sources REGEX] [--only NUMBER,...]

Exit status 1 if fewer than 95% were noticed, 90% of those in the host's code of GPUs.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from bug_sites import changed_python, sites_of_cpp

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "tools/python/roof"
PYTHON = {"": ["folder", "configs"], "fleet": ["digests", "folders", "nodes"], "onnx_reading": ["values", "walk", "folding"],
          "importing": ["files", "events", "key_averages", "kineto", "likwid", "nsight_compute", "nsight_systems", "perf_stat", "ert_roofline"]}
OF_PYTHON = {"": "^python: .*(folder|program|recorded|estimated)", "fleet": "^fleet: ", "onnx_reading": "^python: .*(ONNX|estimated)",
             "importing": "^import: "}
OF_FILES = "^faults: .*(accident|kills and failing|power cuts|neighbour|folder of others|several users)"


class Campaign(NamedTuple):
    """Where bugs are planted in C++, and what is run first for each folder: a program with its arguments."""
    sources: dict  # {folder: (names of files, or None for all, [programs])}
    first: dict    # {program: names of its sources of tests that are run before the whole}
    targets: list  # what else is built
    last: list     # patterns of ctest, run in this order
    least: float   # the share that must be noticed


PARTS = ["test_gpu", "test_nccl", "test_parallel", "test_emulated_choices", "test_cudnn"]
KERNELS, ENGINE = ["test_emulated_gpu [kernels]~[operations]", "test_emulated_gpu ~[kernels]~[.]"], ["test_emulated_gpu [operations]"]
CAMPAIGNS = {
    "files": Campaign(
        {"ert/base": (["checksum", "compressed", "csv", "csv_lines", "files", "yaml_text"], ["test_base", "test_method"]),
         "ert/method/results": (["folders", "look_file", "neighbours", "read", "results", "seal"], ["test_method"]),
         "ert/recording": (["fields", "record_files"], ["test_recording"]),
         "analysis/fleet": (["digest", "health", "make_digest"], ["test_analysis", "test_tools"]),
         "analysis/table": (["table"], ["test_analysis"]),
         "workloads/model": (["config", "onnx_fold", "onnx_node", "onnx_tensors", "onnx_values"], ["test_model"])},
        {"test_method": ["damage", "folders", "folder_without_rows", "headers_and_runs", "locks", "look_file", "looks", "neighbours", "read", "results",
                         "run_directory", "sustain"],
         "test_analysis": ["digest", "table", "sinks"], "test_tools": ["health"]},
        ["fake_roof", "inject", "record_writes", "accidents"], [OF_FILES], 0.95),
    "gpu": Campaign(
        {"ert/gpu": (None, [*PARTS, *KERNELS, *ENGINE]), "ert/gpu/probes": (None, ["test_gpu", *KERNELS]),
         "workloads/cudnn": (None, ["test_cudnn", *ENGINE]), "workloads/cudnn/library": (None, ["test_emulated_choices", *ENGINE, "test_cudnn"]),
         "workloads/nccl": (None, ["test_nccl", *ENGINE]), "workloads/parallel": (None, ["test_parallel"])},
        {}, ["roof_emulated"],
        ["^emulated_gpu: (two GPUs of|two ranks have|ranks that meet)", "^parallel: |^nccl: ", "^emulated_gpu: (roof measures|the GPU acceptance|each chip)"],
        0.90)}
HEADER = """#pragma once
#include <cstdlib>
namespace roof {
inline bool planted(int number)
{
    static const char* const chosen = std::getenv("ROOF_PLANTED");
    static const int one = chosen == nullptr ? -1 : std::atoi(chosen);
    return one == number;
}
}  // namespace roof
"""


class Bugs:
    def __init__(self, options):
        self.build, self.jobs, self.of = Path(options.build).resolve(), options.jobs, CAMPAIGNS[options.of]
        self.chance, self.wanted = random.Random(options.seed), re.compile(options.sources)
        self.cpp, self.python, self.texts = [], [], {}
        self.draw(options.count)

    def draw(self, count):
        """Of files, two of three in C++; each of a file by chance, in proportion to what it allows."""
        of_files = self.of is CAMPAIGNS["files"]
        sites = []
        for folder, (names, _) in self.of.sources.items():
            names = names or sorted(path.stem for path in (ROOT / folder).glob("*.cpp"))
            for file in filter(self.wanted.search, (f"{folder}/{name}.cpp" for name in names)):
                sites += [(file, *site) for site in sites_of_cpp(self.chance, (ROOT / file).read_text(encoding="utf-8"))]
        self.spare = self.chance.sample(sites, len(sites))
        lines = set()
        for site in self.spare:
            if len(self.cpp) < (count * 2 // 3 if of_files else count) and site[:2] not in lines:
                lines.add(site[:2])
                self.cpp.append(site)
        self.spare = [site for site in self.spare if site not in self.cpp]
        changes = []
        for folder, names in PYTHON.items() if of_files else ():
            for file in filter(self.wanted.search, ("/".join(filter(None, (PACKAGE, folder, f"{name}.py"))) for name in names)):
                counted, _ = changed_python((ROOT / file).read_text(encoding="utf-8"), -2)
                changes += [(file, wanted, folder) for wanted in range(counted.seen + 1)]
        self.python = self.chance.sample(changes, min(len(changes), count - len(self.cpp)))
        self.programs = list(dict.fromkeys(program for file, *_ in self.cpp for program in self.tests_of(file)))

    def tests_of(self, file):
        return self.of.sources[file.rsplit("/", 1)[0]][1]

    def prepare(self):
        """Plants all bugs of C++, and builds; a bug that does not compile is replaced by another."""
        (self.build / "planted.hpp").write_text(HEADER, encoding="utf-8")
        while self.cpp:
            self.plant()
            done = subprocess.run(["cmake", "--build", self.build, "--parallel", str(self.jobs), "--target",
                                   *dict.fromkeys(program.split()[0] for program in self.programs), *self.of.targets, "--", "-k", "0"],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return
            blamed = {(Path(name).name, int(line) - 1) for name, line in re.findall(r"([\w./\-]+\.cpp):(\d+):\d+: error", done.stdout)}
            odd = [number for number, (file, line, _) in enumerate(self.cpp) if (Path(file).name, line + 1) in blamed]  # below the line of plant()
            if not odd:
                raise SystemExit(done.stdout[-3000:])
            for number in odd:
                print(f"does not compile, and is replaced: {self.cpp[number][0]}:{self.cpp[number][1] + 1}: {self.cpp[number][2].strip()}")
                self.cpp[number] = self.spare.pop()

    def write(self, file, text):
        """Keeps what was there."""
        self.texts.setdefault(file, (ROOT / file).read_text(encoding="utf-8"))
        if (ROOT / file).read_text(encoding="utf-8") != text:
            (ROOT / file).write_text(text, encoding="utf-8")

    def put_back(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for file in list(self.texts):
            self.write(file, self.texts[file])

    def plant(self):
        changed = {}
        for number, (file, line, text) in enumerate(self.cpp):
            whole = self.texts.get(file) or (ROOT / file).read_text(encoding="utf-8")
            changed.setdefault(file, whole.split("\n"))[line] = text.replace("NUMBER", str(number))
        for file in self.texts.keys() - changed.keys():
            self.write(file, self.texts[file])
        for file, lines in changed.items():
            self.write(file, f'#include "{self.build}/planted.hpp"\n' + "\n".join(lines))

    def runs(self, number):
        """The commands that should notice a bug, in their order, with a name each."""
        if number < len(self.cpp):
            own = self.tests_of(self.cpp[number][0])
            for program in filter(self.of.first.get, own):
                names = ",".join(f"[#test_{name}]" for name in self.of.first[program])
                yield f"part of {program}", [self.build / "bin" / program, "-a", "-#", names]
            for program in dict.fromkeys([*own, *self.programs]):
                name, *arguments = program.split()
                yield program, [self.build / "bin" / name, "-a", *arguments]
            for tests in self.of.last:
                yield tests, self.ctest(tests)
            return
        folder = self.python[number - len(self.cpp)][2]
        for tests in dict.fromkeys([OF_PYTHON[folder], "^(python|fleet|import): ", *[OF_FILES] * bool(self.cpp)]):
            yield tests, self.ctest(tests)

    def ctest(self, tests):
        return ["ctest", "--test-dir", self.build, "-R", tests, "--stop-on-failure", "--timeout", "300", "--no-tests=error"]

    def fails(self, words, number):
        done = subprocess.run(words, cwd=self.build / "tests", env={**os.environ, "ROOF_PLANTED": str(number)}, capture_output=True, text=True, timeout=1200,
                              errors="replace", check=False)
        return done.returncode != 0, done.stdout[-1500:]

    def notices(self, number):
        if number >= len(self.cpp):
            file, wanted, _ = self.python[number - len(self.cpp)]
            whole = (ROOT / file).read_text(encoding="utf-8")
            change, text = changed_python(whole, wanted)
            self.write(file, text)
            what = f"{file}:{change.line}: {change.what}"
        else:
            file, line, text = self.cpp[number]
            what = f"{file}:{line + 1}: {text.strip()}".replace("NUMBER", "n")
        try:
            for name, words in self.runs(number):
                try:
                    if self.fails(words, number)[0]:
                        return what, name
                except subprocess.TimeoutExpired:
                    return what, f"{name}, which does not end"
            return what, None
        finally:
            if number >= len(self.cpp):
                self.write(file, whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("of", nargs="?", choices=list(CAMPAIGNS), default="files")
    parser.add_argument("--build", default=str(ROOT / "build"))
    for name, usual in (("count", 60), ("seed", 1), ("jobs", 2)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    for name in ("only", "sources"):
        parser.add_argument(f"--{name}", default="")
    options = parser.parse_args()
    bugs = Bugs(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    numbers = [int(one) for one in options.only.split(",") if one] or range(len(bugs.cpp) + len(bugs.python))
    try:
        if min(numbers) < len(bugs.cpp):
            bugs.prepare()
        return try_all(bugs, numbers, options.seed)
    finally:
        bugs.put_back()


def try_all(bugs, numbers, seed):
    whole = set()
    missed = 0
    for number in numbers:
        what, found = bugs.notices(number)
        missed += found is None
        if found and found not in whole:  # nothing is planted: it must pass
            whole.add(found)
            for failed, said in (bugs.fails(words, -1) for name, words in bugs.runs(number) if name == found):
                if failed:
                    raise SystemExit(f"{found} fails without a bug: {said}")
        print(f"{number:2} {found or 'NOT NOTICED'}: {what}", flush=True)
    print(f"{len(numbers) - missed} of {len(numbers)} planted bugs were noticed, seed {seed}")
    return 1 if len(numbers) - missed < bugs.of.least * len(numbers) else 0


if __name__ == "__main__":
    sys.exit(main())

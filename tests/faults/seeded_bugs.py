#!/usr/bin/env python3
"""Plants bugs by chance in the readers and writers of files, or in the host's code of GPUs, and runs the tests of these until one notices:
conditions that are never or always true, other comparisons, statements left out, arguments in another order, numbers one higher. Those of C++
are built at once and switched on by a variable, and only the tests that reach one are run, the fastest first; those of Python are written one at
a time. Sources are changed in place and put back, also after an interrupt; with --apart no source is changed, but the planted ones are compiled
and linked beside the build, which must be Ninja's.

usage: tests/faults/seeded_bugs.py [files|gpu|ranks] [--build BUILD] [--count N] [--seed N] [--jobs N] [--sources REGEX] [--only NUMBER,...]
                                   [--longest SECONDS] [--apart]

Exit status 1 if fewer than 95% were noticed, 90% of those in the host's code of GPUs.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import random
import re
import signal
import shlex
import subprocess
import sys
import time
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
    """Where bugs are planted in C++, and what may notice them."""
    sources: dict   # {folder: names of files, or None for all}
    programs: list  # tests of Catch2
    targets: list   # what else is built
    tests: list     # patterns of ctest
    least: float    # the share that must be noticed


CAMPAIGNS = {
    "files": Campaign(
        {"ert/base": ["checksum", "compressed", "csv_lines", "files", "yaml_text"],
         "ert/method/results": ["folders", "look_file", "neighbours", "read", "results", "seal"],
         "ert/recording": ["fields", "record_files"],
         "analysis/fleet": ["digest", "health"],
         "analysis/table": ["table"],
         "workloads/model": ["decoders", "onnx_fold", "onnx_node", "onnx_values"]},
        ["test_base", "test_method", "test_recording", "test_analysis", "test_tools", "test_model"],
        ["fake_roof", "inject", "record_writes", "accidents"], [OF_FILES], 0.95),
    "gpu": Campaign(
        dict.fromkeys(["ert/gpu", "ert/gpu/probes", "workloads/cudnn", "workloads/cudnn/library", "workloads/nccl", "workloads/parallel"]),
        ["test_gpu", "test_nccl", "test_parallel", "test_emulated_choices", "test_cudnn", "test_emulated_gpu"],
        ["roof_emulated", "ranks_program"],
        ["^emulated_gpu: (two GPUs of|two ranks have|ranks that meet|roof measures|a row says|the GPU acceptance|each chip)", "^parallel: ranks"], 0.90),
    "ranks": Campaign({"workloads/parallel": ["commands", "exchange", "place", "shared_memory", "world"]}, ["test_parallel"], [], [], 0.90)}
HEADER = """#pragma once
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>
namespace roof {
inline bool planted(int number)
{
    static const char* const chosen = std::getenv("ROOF_PLANTED");
    static const int one = chosen == nullptr ? -1 : std::atoi(chosen);
    static const char* const reached = std::getenv("ROOF_REACHED");
    static std::atomic<bool> seen[10000];
    if (reached != nullptr && !seen[number].exchange(true)) {
        const int kept = errno;
        const int file = ::open(reached, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        ::dprintf(file, "%d\\n", number);
        ::close(file);
        errno = kept;
    }
    return one == number;
}
}  // namespace roof
"""


class Test(NamedTuple):
    """A command that may notice bugs of C++, and what it takes without one."""
    name: str
    words: list
    folder: Path
    environment: dict
    seconds: float = 0


LISTING = """import sys, unittest
def all_of(one):
    return [test for each in one for test in all_of(each)] if isinstance(one, unittest.TestSuite) else [one]
for test in all_of(unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])):
    prepares = type(test).setUpClass.__func__ is not unittest.TestCase.setUpClass.__func__
    print(type(test).__name__ + ("" if prepares else "." + test._testMethodName))
"""


def parts_of(words, folder):
    """Words that run a part of a module of unittest, each: a class that prepares something, or a test. Else the words."""
    script = next((word for word in words if word.endswith(".py")), None)
    if "-B" not in words or ("unittest" not in words and script is None):
        return [words]
    module, before = (words[-1], words[-1] + ".") if "unittest" in words else (script[:-3], "")
    done = subprocess.run([*words[:words.index("-B") + 1], "-c", LISTING, module], cwd=folder, capture_output=True, text=True, check=True)
    wanted = "" if "unittest" in words else words[-1]
    return [[*words[:-1], before + part] for part in dict.fromkeys(done.stdout.split()) if part.startswith(wanted)]


class Bugs:
    def __init__(self, options):
        self.build, self.jobs, self.of = Path(options.build).resolve(), options.jobs, CAMPAIGNS[options.of]
        self.chance, self.wanted = random.Random(options.seed), re.compile(options.sources)
        self.folder, self.longest = (self.build / "planted" if options.apart else None), options.longest
        self.cpp, self.python, self.texts = [], [], {}
        self.reached_by = collections.defaultdict(list)  # {number of a bug in C++: tests}
        self.draw(options.count)

    def draw(self, count):
        """Of files, two of three in C++; each of a file by chance, in proportion to what it allows."""
        of_files = self.of is CAMPAIGNS["files"]
        sites = []
        for folder, names in self.of.sources.items():
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

    def prepare(self):
        """Plants all bugs of C++, and builds; a bug that does not compile is replaced by another, or left out."""
        (self.build / "planted.hpp").write_text(HEADER, encoding="utf-8")
        while self.cpp:
            self.plant()
            said = self.beside() if self.folder else self.made([*self.of.programs, *self.of.targets])
            if not said:
                break
            places = re.findall(r"([\w./\-]+\.cpp):(\d+):\d+: +(?:error|required from here)", said)
            blamed = {(Path(name).name, int(line) - 1) for name, line in places}
            odd = [number for number, (file, line, _) in enumerate(self.cpp) if (Path(file).name, line + 1) in blamed]  # below the line of plant()
            others = {name for name, _ in blamed} - {Path(self.cpp[number][0]).name for number in odd}
            odd += [number for number, (file, *_) in enumerate(self.cpp) if Path(file).name in others]  # what uses a bug does not compile
            if not odd:
                raise SystemExit(said[-3000:])
            for number in sorted(odd, reverse=True):
                print(f"does not compile, and is replaced: {self.cpp[number][0]}:{self.cpp[number][1] + 1}: {self.cpp[number][2].strip()}")
                self.cpp[number:number + 1] = [self.spare.pop()] if self.spare else []
        self.reach()

    def made(self, targets):
        """What a failed build says."""
        done = subprocess.run(["cmake", "--build", self.build, "--parallel", str(self.jobs), "--target", *targets, "--", "-k", "0"],
                              capture_output=True, text=True, check=False)
        return done.stdout if done.returncode else ""

    def beside(self):
        """Compiles the planted sources, and links the programs with them. What a failed compilation says."""
        objects = collections.defaultdict(list)  # {library: its planted objects}
        planted = {str(ROOT / file) for file, *_ in self.cpp}
        for entry in json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8")):
            output = re.search(r" -o (\S+)", entry["command"])[1]
            library = re.search(r"CMakeFiles/([^/]+)\.dir", output)[1]
            text = Path(entry["file"]).read_text(encoding="utf-8") if "/Unity/" in entry["file"] else f'#include "{entry["file"]}"\n'
            if not any(f'"{file}"' in text for file in planted):
                continue
            for file in planted:
                text = text.replace(f'"{file}"', f'"{self.folder / Path(file).relative_to(ROOT)}"')
            source = self.folder / f"{library}-{len(objects[library])}.cpp"
            source.write_text(text, encoding="utf-8")
            objects[library].append(str(source.with_suffix(".o")))
            command = entry["command"].replace(f" -o {output}", f" -o {source.with_suffix('.o')}").replace(f" {entry['file']}", f" {source}")
            done = subprocess.run(command, shell=True, cwd=entry["directory"], capture_output=True, text=True, check=False)
            if done.returncode:
                return done.stderr
        for program in self.of.programs:
            commands = subprocess.run(["ninja", "-C", self.build, "-t", "commands", f"bin/{program}"], capture_output=True, text=True, check=True)
            link = commands.stdout.strip().split("\n")[-1]
            own = [file for library in objects if f"lib{library}.a" in link for file in objects[library]]
            link = link.replace(f" -o bin/{program} ", f" {' '.join(own)} -o {self.folder / program} ")
            subprocess.run(link, shell=True, cwd=self.build, check=True)
        return ""

    def tests(self):
        """Every test of the campaign, alone where that can be."""
        for program in self.of.programs:
            file = (self.folder or self.build / "bin") / program
            listed = subprocess.run([file, "--list-test-names-only", "~[.]"], capture_output=True, text=True, check=False).stdout
            for name in filter(None, listed.split("\n")):
                yield Test(f"{program}: {name}", [file, "-a", re.sub(r"([\\,\[])", r"\\\1", name)], self.build / "tests", {})
        for pattern in self.of.tests:
            words = ["ctest", "--test-dir", self.build, "-R", pattern, "--show-only=json-v1"]
            for test in json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["tests"]:
                own = {each["name"]: each["value"] for each in test["properties"]}
                folder, words = Path(own["WORKING_DIRECTORY"]), test["command"]
                environment = dict(one.split("=", 1) for one in own.get("ENVIRONMENT", []))
                for part in parts_of(words, folder):
                    yield Test(test["name"] + (f": {part[-1]}" if part != words else ""), part, folder, environment)

    def reach(self):
        """Which tests reach which bugs; they run without one, and those that do not pass then, or are too long, are left out."""
        reached = self.build / "reached.txt"
        for test in self.tests():
            reached.unlink(missing_ok=True)
            begin = time.monotonic()
            failed, said = self.fails(test, -1, ROOF_REACHED=str(reached))
            test = test._replace(seconds=time.monotonic() - begin)
            if failed and failed != 77:
                print(f"fails without a bug, and is left out: {test.name}: {said}")
            if not failed and test.seconds <= self.longest and reached.exists():
                for number in set(reached.read_text(encoding="ascii").split()):
                    self.reached_by[int(number)].append(test)
        for tests in self.reached_by.values():
            tests.sort(key=lambda test: test.seconds)

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
            whole = f'#include "{self.build}/planted.hpp"\n' + "\n".join(lines)
            if self.folder is None:
                self.write(file, whole)
                continue
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / file).write_text(whole, encoding="utf-8")

    def runs(self, number):
        """The tests that may notice a bug, in their order."""
        if number < len(self.cpp):
            yield from self.reached_by[number]
            return
        folder = self.python[number - len(self.cpp)][2]
        for tests in dict.fromkeys([OF_PYTHON[folder], "^(python|fleet|import): ", *[OF_FILES] * bool(self.cpp)]):
            words = ["ctest", "--test-dir", self.build, "-R", tests, "--stop-on-failure", "--timeout", "300", "--no-tests=error"]
            yield Test(tests, words, self.build / "tests", {}, 100)

    def fails(self, test, number, **environment):
        """The exit status, which is not 0 where a test fails, and what it said."""
        before = {**os.environ, "OMP_WAIT_POLICY": "passive", **test.environment, "ROOF_PLANTED": str(number), **environment}
        with subprocess.Popen(test.words, cwd=test.folder, env=before, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              start_new_session=True) as run:
            try:
                said, _ = run.communicate(timeout=20 * test.seconds + 3 if test.seconds else 1200)
            except subprocess.TimeoutExpired:
                return 1, "it does not end"
            finally:  # with what it started and did not wait for
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(run.pid, signal.SIGKILL)
            return run.returncode, said[-1500:]

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
            for test in self.runs(number):
                failed, said = self.fails(test, number)
                if failed and failed != 77:
                    return what, test.name + (", which does not end" if said == "it does not end" else "")
            return what, None
        finally:
            if number >= len(self.cpp):
                self.write(file, whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("of", nargs="?", choices=list(CAMPAIGNS), default="files")
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--apart", action="store_true")
    for name, usual in (("count", 60), ("seed", 1), ("jobs", 2), ("longest", 60)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    for name in ("only", "sources"):
        parser.add_argument(f"--{name}", default="")
    options = parser.parse_args()
    bugs = Bugs(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    only = [int(one) for one in options.only.split(",") if one]
    try:
        if bugs.cpp and min(only, default=0) < len(bugs.cpp):
            bugs.prepare()
        numbers = only or range(len(bugs.cpp) + len(bugs.python))
        return try_all(bugs, numbers, options.seed)
    finally:
        bugs.put_back()


def outcomes(bugs, numbers):
    """(number, what is planted, the test that notices it) of each; several of C++ at once, for which no source is changed."""
    of_cpp = [number for number in numbers if number < len(bugs.cpp)]
    pool = concurrent.futures.ThreadPoolExecutor(bugs.jobs)
    try:
        yield from ((number, *found) for number, found in zip(of_cpp, pool.map(bugs.notices, of_cpp)))
    finally:
        pool.shutdown(cancel_futures=True)
    yield from ((number, *bugs.notices(number)) for number in numbers if number >= len(bugs.cpp))


def try_all(bugs, numbers, seed):
    whole = set()
    missed = 0
    for number, what, found in outcomes(bugs, numbers):
        missed += found is None
        if number >= len(bugs.cpp) and found and found not in whole:  # nothing is planted: it must pass
            whole.add(found)
            for failed, said in (bugs.fails(test, -1) for test in bugs.runs(number) if test.name == found):
                if failed:
                    raise SystemExit(f"{found} fails without a bug: {said}")
        print(f"{number:2} {found or ('NOT NOTICED' if list(bugs.runs(number)) else 'NOT REACHED')}: {what}", flush=True)
    print(f"{len(numbers) - missed} of {len(numbers)} planted bugs were noticed, seed {seed}")
    return 1 if len(numbers) - missed < bugs.of.least * len(numbers) else 0


if __name__ == "__main__":
    sys.exit(main())

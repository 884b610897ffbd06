#!/usr/bin/env python3
"""Plants bugs by chance in the readers and writers of files, or in the host's code of GPUs, and runs the tests of these until one notices:
conditions that are never or always true, other comparisons, statements left out, arguments in another order, numbers one higher. Those of C++
are built at once and switched on by a variable, those of Python are written one at a time. Sources are changed in place and put back, also
after an interrupt.

usage: tests/faults/seeded_bugs.py [files|gpu] [--build BUILD] [--count N] [--seed N] [--jobs N] [--sources REGEX] [--only NUMBER,...]

Exit status 1 if fewer than 95% were noticed, 90% of those in the host's code of GPUs.
"""

import argparse
import ast
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

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
        {"test_method": ["damage", "results", "folders", "headers_and_runs", "folder_without_rows", "locks", "look_file", "looks", "sustain"],
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
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


def parts(text, separators):
    """Where separators stand outside parentheses and quotes: (position, separator)."""
    found, depth, place, quote = [], 0, 0, ""
    while place < len(text):
        letter = text[place]
        if quote:
            place += letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "\"'" and not text[place - 1:place].isdigit():
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth < 0:
                return None
        elif depth == 0:
            for separator in separators:
                if text.startswith(f" {separator} ", place):
                    found.append((place, separator))
        place += 1
    return found if depth == 0 and not quote else None


def other_condition(chance, condition):
    """A change of a condition of C++, as text with NUMBER in the place of the bug's; None if there is none."""
    ways = [f"(!roof::planted(NUMBER) && ({condition}))", f"(roof::planted(NUMBER) || ({condition}))"]
    joints = parts(condition, ["&&", "||"])
    if joints is None or "<=>" in condition or " ? " in condition or re.match(r"(const )?[\w:<>]+[&*]* (const )?\w+ = ", condition):
        return None
    ends = [0, *[place + 4 for place, _ in joints]], [*[place for place, _ in joints], len(condition)]
    for begin, end in zip(*ends):
        part = condition[begin:end]
        compared = parts(part, list(COMPARISONS))
        if compared and len(compared) == 1 and not parts(part, ["=", "+=", "="]):
            place, sign = compared[0]
            left, right = part[:place], part[place + len(sign) + 2:]
            ways.append(condition[:begin] + f"(roof::planted(NUMBER) ? {left} {COMPARISONS[sign]} {right} : {left} {sign} {right})" + condition[end:])
        if len(joints) > 0:
            whole = "true" if (joints[0][1] == "&&") else "false"
            ways.append(condition[:begin] + f"(roof::planted(NUMBER) ? {whole} : ({part}))" + condition[end:])
    return chance.choice(ways)


def with_other_arguments(chance, line):
    """A line of C++ where a call has two of its arguments in another order, or a number is one higher; None if it has neither."""
    if '"' in line:
        return None
    ways = []
    for call in re.finditer(r"(?<![\w.>:])([A-Za-z_][\w.:]*(?:->\w+)*)\(([^()]*)\)", line):
        arguments = call.group(2).split(", ")
        for place in range(len(arguments) - 1):
            pair = arguments[place:place + 2]
            if pair[0] != pair[1] and all(re.fullmatch(r"[A-Za-z_*][\w.]*", each) for each in pair):
                other = ", ".join([*arguments[:place], *pair[::-1], *arguments[place + 2:]])
                changed = f"(roof::planted(NUMBER) ? {call.group(1)}({other}) : {call.group(0)})"
                ways.append(line[:call.start()] + changed + line[call.end():])
    for number in re.finditer(r"(?<![\w.'<\[{])(\d{1,4})(?![\w.'>\]])", line):
        value = int(number.group(1))
        ways.append(line[:number.start()] + f"(roof::planted(NUMBER) ? {value + 1} : {value})" + line[number.end():])
    return chance.choice(ways) if ways else None


def sites_of_cpp(chance, text):
    """(number of a line, its new text) for each bug that a source allows."""
    sites = []
    for number, line in enumerate(text.split("\n")):
        code = line.strip()
        if not line.startswith("    ") or code.startswith(("//", "#", '"')) or "constexpr" in line or "static" in line:
            continue
        found = re.match(r"(\s+(?:\} else |else )?if \()(.+)$", line)
        if found:
            rest = found.group(2)
            depth, end = 1, 0
            while end < len(rest) and depth:
                depth += {"(": 1, ")": -1}.get(rest[end], 0)
                end += 1
            condition = rest[:end - 1]
            if depth == 0 and ";" not in condition and "'" not in condition and '"(' not in condition:
                changed = other_condition(chance, condition)
                if changed:
                    sites.append((number, found.group(1) + changed + rest[end - 1:]))
            continue
        found = re.match(r"(\s+return )(.+);$", line)
        if found:
            joints = parts(found.group(2), ["&&", "||", *COMPARISONS])
            if joints and (changed := other_condition(chance, found.group(2))):
                sites.append((number, found.group(1) + changed + ";"))
                continue
        if (other := with_other_arguments(chance, line)) and code.endswith(";") and chance.random() < 0.5:
            sites.append((number, other))
            continue
        if re.match(r"\s+(?!return|throw|else|if|for|while|do|case|using|delete|co_|const |auto )[A-Za-z_][\w.:>\-\[\]*]*\(.*\);$", line) or \
           re.match(r"\s+[A-Za-z_][\w.\->\[\]]* (\+=|-=|=) .+;$", line):
            if parts(code[:-1], []) is not None and not re.match(r"\w+\(.*\)\s*:", code):
                sites.append((number, re.match(r"\s+", line).group(0) + "{ if (!roof::planted(NUMBER)) " + code + " }"))  # an else may follow
            continue
    return sites


class Change(ast.NodeTransformer):
    """Makes the n-th change that a tree of Python allows."""

    def __init__(self, wanted):
        self.wanted, self.seen, self.what, self.line = wanted, -1, "", 0

    def here(self, node):
        self.seen += 1
        if self.seen == self.wanted:
            self.line = node.lineno
        return self.seen == self.wanted

    def visit_If(self, node):
        self.generic_visit(node)
        for value in (False, True):
            if self.here(node):
                self.what = f"if {ast.unparse(node.test)} -> {value}"
                node.test = ast.copy_location(ast.Constant(value), node.test)
        return node

    def visit_Compare(self, node):
        self.generic_visit(node)
        swap = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In}
        if type(node.ops[0]) in swap and self.here(node):
            self.what = ast.unparse(node)
            node.ops[0] = swap[type(node.ops[0])]()
            self.what += " -> " + ast.unparse(node)
        return node

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        for place in range(len(node.values)):
            if len(node.values) > 1 and self.here(node):
                self.what = f"{ast.unparse(node)} without its part {place + 1}"
                del node.values[place]
                return node.values[0] if len(node.values) == 1 else node
        return node

    def visit_Constant(self, node):
        if type(node.value) is int and abs(node.value) < 1000 and self.here(node):
            self.what = f"{node.value} -> {node.value + 1}"
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node

    def visit_Expr(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Call) and self.here(node):
            self.what = f"without {ast.unparse(node)}"
            return ast.copy_location(ast.Pass(), node)
        return node

    def visit_Assign(self, node):
        """Limits in capitals that are numbers are a choice, as constexpr ones are: no bug is planted there."""
        chosen = all(isinstance(part, (ast.Constant, ast.BinOp, ast.operator)) for part in ast.walk(node.value))
        return node if chosen and all(isinstance(one, ast.Name) and one.id.isupper() for one in node.targets) else self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def changed_python(text, wanted):
    tree = ast.parse(text)
    change = Change(wanted)
    tree = ast.fix_missing_locations(change.visit(tree))
    return change, ast.unparse(tree)


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
                counted = Change(-2)
                counted.visit(ast.parse((ROOT / file).read_text(encoding="utf-8")))
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

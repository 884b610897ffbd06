#!/usr/bin/env python3
"""Plants bugs in the code that keeps, proves and reads files, one at a time, builds the tests of BUILD and runs those that should notice.

usage: tests/faults/planted_bugs.py [--build BUILD] [--jobs N] [NUMBER...]

Sources are changed in place and put back, also after an interrupt. Without numbers all bugs are planted. Exit status 1 if one was not noticed.
"""

import argparse
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTS = ["fake_roof", "inject", "record_writes", "accidents"]
CUTS = "power cuts lose no row"
KILLS = "kills and failing calls"

# What it is; the file; what stands there, and what comes in its place; the targets to build, and the tests that should notice.
BUGS = [
    ("the line of measurements.csv is written before its samples and layers", "ert/method/results/results.cpp",
     "                append_file(file, is_there(file)", "                if (false) append_file(file, is_there(file)",
     ["test_method"], "^method:"),
    ("machine.yaml and plan.yaml are not compared with checksums.csv", "ert/method/results/seal.cpp",
     "else if (end_of(file, entry.bytes) != entry.end)", "else if (is_csv(file) && end_of(file, entry.bytes) != entry.end)",
     ["test_method"], "^method:"),
    ("a doubled row is accepted", "ert/method/results/read.cpp",
     "if (what.empty() && place != nullptr && place->is_whole) what = \"the row appears twice\";", "", ["test_method"], "^method:"),
    ("a temporary file follows a link, and may be there", "ert/base/files.cpp",
     "temporary += \".\" + random_letters(letters) + \".part\";", "temporary += \".part\";", ["test_base"], "^base:"),
    ("what a killed run left is removed, not kept beside", "ert/method/results/results.cpp",
     "        append_file(beside, text", "        if (text.empty()) append_file(beside, text", ["test_method"], "^method:"),
    ("a page is written in place", "ert/base/files.cpp",
     "        return replace_file(end_of_links(file), content, is_there ? there.st_mode & permissions : of_new_file);",
     "    {\n        const Descriptor descriptor(end_of_links(file), O_WRONLY | O_CREAT | O_TRUNC, of_new_file);\n"
     "        if (const int error = write_all(descriptor.number(), content); error != 0) fail(\"write\", file, error);\n        return;\n    }",
     ["test_base", *FAULTS], f"{KILLS}|{CUTS}|^base:"),
    ("no file is flushed", "ert/base/files.cpp", "return ::fdatasync(descriptor) == 0 || is_missing(errno) ? 0 : errno;", "return descriptor < 0 ? errno : 0;", FAULTS, CUTS),
    ("no folder is flushed", "ert/base/files.cpp",
     "opened != -1 && ::fsync(opened) == 0 ? 0 : errno;", "opened != -1 ? 0 : errno;", FAULTS, CUTS),
    ("the name of a new folder is not flushed", "ert/base/files.cpp",
     "    for (const fs::path& made : missing) flush_folder_of(made);\n", "", FAULTS, CUTS),
    ("the longest line has 16 TiB", "ert/base/csv_lines.cpp", "std::size_t{16} << 20", "std::size_t{16} << 40", ["test_base"], "^base:"),
    ("a compressed file may hold eight times as much", "ert/base/compressed.cpp",
     "std::string text;\n    for (std::size_t room", "std::string text;\n    largest *= 8;\n    for (std::size_t room", ["test_base"], "^base:"),
    ("a newer calibration that is damaged is passed over without a word", "ert/method/results/folders.cpp",
     "    if (!damage.empty())\n        over", "    if (!damage.empty() && !why.empty())\n        over", ["test_tools"], "^tools:.*newer"),
    ("a removed lock is not noticed", "ert/base/files.cpp", "own.st_ino == there.st_ino)", "own.st_ino + 1 != 0)", ["test_method"], "^method:"),
    ("lists of an ONNX file are not bounded", "workloads/model/onnx_tensors.cpp", "if (count > most_listed)", "if (count > most_listed && count == 0)",
     ["test_model"], "^model:"),
    ("a median may lie outside its interval", "ert/method/results/read.cpp",
     "    return e.low <= e.median && e.median <= e.high;", "    return e.low <= e.median || e.low > e.median;", ["test_method"], "^method:"),
    ("what is cut off is removed before it is kept", "ert/method/results/results.cpp",
     "    in.seekg(static_cast<std::streamoff>(from));", "    in.seekg(static_cast<std::streamoff>(from));\n    std::stringstream kept;\n"
     "    kept << in.rdbuf();\n    cut_file(file, from);\n    append_file(beside, kept.str());", ["test_method"], "^method:.*opening"),
    ("a cell that begins with - is not guarded", "analysis/table/table.cpp", '"=+-@', '"=+@', ["test_analysis"], "^analysis:"),
    ("a cell that begins with @ is not guarded", "analysis/table/table.cpp", '"=+-@', '"=+-', ["test_analysis"], "^analysis:"),
    ("a folder that cannot be read ends a command", "ert/method/results/neighbours.cpp",
     "    found.unread = why_not_read(found.place);", "",
     ["fake_roof"], "no neighbour of a run"),
    ("the newest folder is that of the last name", "ert/method/results/neighbours.cpp",
     "return std::tie(one.time, one.place);", "return std::tie(one.place);", ["fake_roof"], "no neighbour of a run"),
    ("a file of another run is accepted", "ert/base/csv_lines.cpp", None, None, ["test_method"], "^method:.*another run"),
]


def planted(number):
    what, name, old, new, targets, tests = BUGS[number]
    file = ROOT / name
    text = file.read_text(encoding="utf-8")
    if old is None:  # the body of check_run()
        begin = text.index("{", text.index("void check_run("))
        changed = text[:begin + 1] + "\n    if (!run.empty() || run.empty()) return;" + text[begin + 1:]
    else:
        if text.count(old) != 1:
            raise SystemExit(f"bug {number}, {what}: {name} has changed, {text.count(old)} places fit")
        changed = text.replace(old, new)
    return file, text, changed, targets, tests


def notices(number, build, jobs):
    file, text, changed, targets, tests = planted(number)
    try:
        file.write_text(changed, encoding="utf-8")
        made = subprocess.run(["cmake", "--build", build, "--parallel", str(jobs), "--target", *targets], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            print(made.stdout[-2000:])
            return "does not compile"
        run = subprocess.run(["ctest", "--test-dir", build, "-R", tests, "--timeout", "300", "--stop-on-failure", "--no-tests=error"],
                             capture_output=True, text=True, check=False)
        failed = [line.split(" - ", 1)[1].strip() for line in run.stdout.splitlines()
                  if any(end in line for end in ("(Failed)", "(SEGFAULT)", "Subprocess aborted"))]  # one that is late noticed nothing
        return f"noticed by {failed[0]}" if failed else None
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the source is put back whole
        file.write_text(text, encoding="utf-8")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("numbers", nargs="*", type=int)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    numbers = options.numbers or range(len(BUGS))
    for number in numbers:
        planted(number)  # all fit before the first is planted
    missed = 0
    for number in numbers:
        found = notices(number, options.build, options.jobs)
        missed += found is None
        print(f"{number:2} {BUGS[number][0]}: {found or 'NOT NOTICED'}", flush=True)
    print(f"{len(numbers) - missed} of {len(numbers)} planted bugs were noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

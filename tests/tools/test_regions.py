"""roof.h in a program of a C and a C++ file, roof.f90 and `region` in Python: what they record, and that nothing is left without ROOF_REGIONS."""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARKED = Path(__file__).resolve().parent / "regions"
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic-errors", f"-I{ROOT}"]
PYTHON = """
import threading
from roof import region

with region("all"):
    for _ in range(4):
        with region("loop", flops=10, bytes=3):
            pass

@region("function")
def twice(again=True):
    if again:
        twice(False)

def both():
    with region("threads"):
        pass

twice()
threads = [threading.Thread(target=both) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

FORTRAN = """
program marked
  use roof
  implicit none
  integer :: i
  call roof_begin("all")
  do i = 1, 3
    call roof_begin("solve ")
    call roof_work("solve", 10d0, 4d0)
    call roof_end("solve")
  end do
  call roof_end("all")
end program
"""


class Regions(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def built(self):
        c, cxx = shutil.which("cc"), shutil.which("c++")
        if not c or not cxx:
            self.skipTest("there is no compiler")
        subprocess.run([c, "-std=c99", "-O2", *WARNINGS, "-c", MARKED / "marked.c", "-o", self.place / "marked.o"], check=True)
        subprocess.run([cxx, "-std=c++11", "-O2", *WARNINGS, "-pthread", MARKED / "other.cpp", self.place / "marked.o", "-o", self.place / "marked"], check=True)
        return self.place / "marked"

    def run_it(self, *command, **variables):
        names = {name: value for name, value in os.environ.items() if not name.startswith("ROOF_REGION")}
        return subprocess.run(command, env=names | variables, capture_output=True, text=True, check=False, cwd=self.place)

    def regions(self, file="regions.csv"):
        with open(self.place / file, encoding="utf-8", newline="") as lines:
            return {row["name"]: row for row in csv.DictReader(lines)}

    def test_calls_work_and_threads_of_all_files_are_in_one_table(self):
        program = self.built()
        done = self.run_it(program, ROOF_REGIONS="regions.csv", ROOF_REGION_EVENTS="faults=1:2,none=ffff:0")
        self.assertEqual((done.returncode, done.stdout), (0, "0 6 1\n"))
        regions = self.regions()
        self.assertEqual({name: (row["calls"], row["threads"], row["flops"], row["bytes"]) for name, row in regions.items()},
                         {"all": ("1", "1", "", ""), "loop": ("6", "1", "500", "120"), "threads": ("6", "2", "42", ""),
                          'a "name", with a line end': ("1", "1", "", "")})
        self.assertGreaterEqual(float(regions["all"]["seconds"]), float(regions["loop"]["seconds"]))
        self.assertEqual({row["none"] for row in regions.values()}, {""})
        self.assertTrue(regions["all"]["faults"] == "" or int(regions["all"]["faults"]) > 0)
        self.assertIn("1 ends of regions have no beginning", done.stderr)
        self.assertIn("1 regions were not ended", done.stderr)

    def test_without_the_variable_nothing_is_recorded(self):
        done = self.run_it(self.built())
        self.assertEqual((done.stdout, done.stderr), ("0 0 1\n", ""))
        self.assertFalse((self.place / "regions.csv").exists())

    def test_each_process_can_have_a_file(self):
        self.run_it(self.built(), ROOF_REGIONS="of-%p.csv")
        file, = self.place.glob("of-*.csv")
        self.assertTrue(file.stem.removeprefix("of-").isdigit())

    def test_a_file_that_cannot_be_written_and_a_wrong_event_are_said(self):
        done = self.run_it(self.built(), ROOF_REGIONS="none/regions.csv", ROOF_REGION_EVENTS="cycles")
        self.assertEqual(done.returncode, 0)
        self.assertIn("cannot write none/regions.csv: No such file", done.stderr)
        self.assertIn("'cycles' is not of the form", done.stderr)

    def test_a_fortran_program_writes_the_same_file(self):
        c, fortran = shutil.which("cc"), shutil.which("gfortran")
        if not c or not fortran:
            self.skipTest("there is no gfortran (Debian package gfortran)")
        header, module = (ROOT / "tools/regions" / name for name in ("roof.h", "roof.f90"))
        (self.place / "marked.f90").write_text(FORTRAN, encoding="utf-8")
        subprocess.run([c, "-std=c99", "-pedantic-errors", "-c", "-x", "c", header, "-o", "regions.o"], check=True, cwd=self.place)
        subprocess.run([fortran, "-std=f2008", "-pedantic", "-Wall", "-Werror", module, "marked.f90", "regions.o", "-o", "marked"], check=True, cwd=self.place)
        self.assertEqual(self.run_it(self.place / "marked", ROOF_REGIONS="regions.csv").stderr, "")
        self.assertEqual({name: (row["calls"], row["flops"], row["bytes"]) for name, row in self.regions().items()},
                         {"all": ("1", "", ""), "solve": ("3", "30", "12")})
        (self.place / "regions.csv").unlink()
        self.run_it(self.place / "marked")
        self.assertFalse((self.place / "regions.csv").exists())

    def test_python_writes_the_same_columns(self):
        (self.place / "program.py").write_text(PYTHON, encoding="utf-8")
        done = self.run_it(sys.executable, "program.py", PYTHONPATH=str(ROOT / "tools/python"), ROOF_REGIONS="regions.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({name: (row["calls"], row["threads"], row["flops"], row["bytes"]) for name, row in self.regions().items()},
                         {"all": ("1", "1", "", ""), "loop": ("4", "1", "40.0", "12.0"), "function": ("1", "1", "", ""), "threads": ("2", "2", "", "")})
        (self.place / "regions.csv").unlink()
        self.run_it(sys.executable, "program.py", PYTHONPATH=str(ROOT / "tools/python"))
        self.assertFalse((self.place / "regions.csv").exists())


if __name__ == "__main__":
    unittest.main()

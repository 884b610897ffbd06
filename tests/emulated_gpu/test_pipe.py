"""The real probes on emulated GPUs: plan, kernels, checks, rows and report. ROOF: a roof beside the emulated part."""
import csv
import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent


def roof(*arguments):
    return subprocess.run([os.environ["ROOF"], *map(str, arguments)], capture_output=True, text=True, check=False)


def rows_of(results):
    with open(results / "measurements.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader([line for line in file if not line.startswith("#")]))


class Fault(unittest.TestCase):
    def test_is_the_end_of_its_row_and_of_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "results")
            done = roof("sweep", HERE / "trap.yaml", "--out", results)
            rows = rows_of(results)
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertEqual(["ok", "failed", "ok"] * 2, [row["status"] for row in rows])
        for row in rows[1::3]:
            self.assertIn("cudaErrorLaunchFailure", row["reason"])
        self.assertEqual(2, done.stderr.count("gpu:0 had a fault; a new process measures what is left"), done.stderr)


class Calibration(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.results = pathlib.Path(folder.name, "results")
        cls.run_ = roof("sweep", HERE / "small.yaml", "--out", cls.results)
        cls.rows = rows_of(cls.results)

    def test_ends_without_an_error(self):
        self.assertEqual(0, self.run_.returncode, self.run_.stderr)
        self.assertNotIn("emulated gpu:", self.run_.stderr)  # how a fault of a kernel begins

    def test_measures_every_point_that_an_h100_has(self):
        wrong = [(row["bench"], row["operation"], row["isa"], row["status"], row["reason"]) for row in self.rows
                 if row["status"] != "ok" and row["isa"] != "tcgen05" and row["bench"] != "distance"
                 and (row["pages"] != "pageable" or not row["operation"].startswith("zero_copy"))]
        self.assertEqual([], wrong)
        self.assertGreater(len(self.rows), 40)

    def test_says_why_another_generation_is_needed(self):
        reasons = [row["reason"] for row in self.rows if row["isa"] == "tcgen05"]
        self.assertTrue(reasons and all("10.0" in reason for reason in reasons), reasons)

    def test_marks_every_row_as_emulated(self):
        for row in self.rows:
            if row["status"] == "ok":
                self.assertEqual("simulated", row["work_known"])
                self.assertIn("Emulated, not a measurement", row["remarks"])
            self.assertIn("Emulated, not a measurement", row["description"])
        machine = (self.results / "machine.yaml").read_text(encoding="utf-8")
        self.assertIn("not a measurement", machine)
        self.assertIn("-emulated", machine)

    def test_finds_the_rates_of_the_emulated_card(self):
        def rate(**wanted):
            (row,) = [row for row in self.rows if all(row[key] == value for key, value in wanted.items())]
            return float(row["compulsory_bytes"]) / float(row["launch_median_s"])
        gpu = {"bench": "bandwidth", "device": "gpu:0", "operation": "load", "isa": "cuda"}
        first = rate(**gpu, working_set_bytes="16384")
        second = rate(**gpu, working_set_bytes="131072")
        self.assertGreater(first, second)
        # Memory is not compared: blocks run in random order, so tiles of another pass are found in the L2.
        self.assertAlmostEqual(1, rate(**{**gpu, "device": "gpu:1"}, working_set_bytes="131072") / second, delta=0.1)

    def test_becomes_a_report_that_says_what_it_is(self):
        page = self.results / "report.html"
        done = roof("report", self.results, "--out", page)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("Emulated", page.read_text(encoding="utf-8"))
        self.assertNotIn("(measured)", self.run_.stdout)


if __name__ == "__main__":
    unittest.main()

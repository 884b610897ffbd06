"""The real probes on emulated GPUs: plan, kernels, checks, rows and report. ROOF: a roof beside the emulated part."""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).parent


def roof(*arguments, **environment):
    return subprocess.run([os.environ["ROOF"], *map(str, arguments)], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def rows_of(results):
    with open(results / "measurements.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader([line for line in file if not line.startswith("#")]))


class Fault(unittest.TestCase):
    def test_is_the_end_of_its_row_and_of_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "results")
            done = roof("sweep", HERE / "trap.yaml", "--out", results, ROOF_EMULATED_TRAP="1")
            rows = rows_of(results)
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertEqual(["ok", "failed", "ok"] * 2, [row["status"] for row in rows])
        for row in rows[1::3]:
            self.assertIn("cudaErrorLaunchFailure", row["reason"])
        self.assertEqual(2, done.stderr.count("gpu:0 had a fault; a new process measures what is left"), done.stderr)


class Wrong(unittest.TestCase):
    def test_results_of_a_kernel_are_the_failure_of_its_row(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "results")
            done = roof("sweep", HERE / "wrong.yaml", "--out", results, ROOF_EMULATED_WRONG="stream_kernel")
            rows = rows_of(results)
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertEqual(["failed", "ok"], [row["status"] for row in rows], [row["reason"] for row in rows])


class Digest(unittest.TestCase):
    def test_of_a_calibration_names_the_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "results")
            done = roof("calibrate", "--device", "gpu:0", "--plan", HERE / "wrong.yaml", "--out", results)
            digest = (results / "digest.csv").read_text(encoding="utf-8")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("Emulated H100", next(line for line in digest.splitlines() if line.startswith("fact,kind,")))


class Two_gpus(unittest.TestCase):
    ROWS = [("flops", "gpu:0"), ("flops", "gpu:1"), ("launch", "gpu:0"), ("launch", "gpu:1")]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = pathlib.Path(folder.name, "results")

    def calibrate(self, *options):
        done = roof("calibrate", "--plan", HERE / "two_gpus.yaml", "--node", "n1", *options, ROOF_EMULATED_GPUS="2")
        self.assertEqual(0, done.returncode, done.stderr)

    def side_by_side(self):
        self.calibrate("--device", "gpu", "--side-by-side", "--out", self.results)
        self.assertEqual([], list(self.results.glob("part-*")))
        rows = rows_of(self.results)
        self.assertEqual({"ok"}, {row["status"] for row in rows}, [row["reason"] for row in rows])
        return rows

    def test_are_measured_at_once_and_what_they_share_in_turn(self):
        rows = self.side_by_side()
        self.assertEqual(self.ROWS, [(row["bench"], row["device"]) for row in rows])
        digest = (self.results / "digest.csv").read_text(encoding="utf-8")
        self.assertIn("2 x Emulated H100", next(line for line in digest.splitlines() if line.startswith("fact,kind,")))
        for gpu in ("gpu:0", "gpu:1"):
            self.assertIn(f"ceiling,{gpu} compute", digest)
        self.assertEqual(rows, self.side_by_side())

    def test_go_on_after_an_accident_with_what_each_has_measured(self):
        part = self.results / "part-gpu:1"
        self.calibrate("--device", "gpu:1", "--without", "link,peer,allreduce,launch,network,network_pair", "--out", part)
        (before,) = rows_of(part)
        rows = self.side_by_side()
        self.assertEqual(self.ROWS, [(row["bench"], row["device"]) for row in rows])
        values = lambda row: {column: value for column, value in row.items() if "checksum" not in column}
        self.assertEqual(values(before), values(rows[1]))


class Training(unittest.TestCase):
    """A step on one GPU and on two, whose ranks are processes that exchange gradients by the emulated NCCL."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.run_ = roof("sweep", HERE / "training.yaml", "--out", folder.name + "/results", "--json")
        cls.rows = rows_of(pathlib.Path(folder.name, "results")) if cls.run_.returncode == 0 else []

    def test_is_measured_on_one_gpu_and_on_two(self):
        self.assertEqual(0, self.run_.returncode, self.run_.stderr)
        self.assertEqual(["ok"] * 3, [row["status"] for row in self.rows], self.run_.stderr)
        self.assertEqual(1, sum("2 ranks by NCCL" in row["variant"] for row in self.rows))

    def test_gives_the_losses_of_one_gpu_on_two(self):
        one, = (row["losses"] for row in json.loads(self.run_.stdout)["rows"] if row["device"] == "gpu:0" and row["precision"] == "fp32")
        two, = (row["losses"] for row in json.loads(self.run_.stdout)["rows"] if row["device"] == "gpu:0,1")
        for mine, other in zip(one, two, strict=True):
            self.assertAlmostEqual(mine, other, delta=1e-4)

    def test_says_in_each_row_that_it_is_emulated(self):
        for row in json.loads(self.run_.stdout)["rows"]:
            self.assertEqual("emulated", row["known"])
            self.assertIn("Emulated, not a measurement", row["remarks"])


class Sustained(unittest.TestCase):
    """What lasts, beside the emulated NVML, which counts 500 W in steps of 20 ms: windows of 0.15 s."""

    WATTS = 500
    LENGTH = 0.15  # seconds of a window

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        results = pathlib.Path(folder.name, "results")
        begin = time.monotonic()
        cls.run_ = roof("sweep", HERE / "sustained.yaml", "--out", results)
        cls.seconds = time.monotonic() - begin
        cls.rows = rows_of(results)
        if any("moves too rarely" in row["remarks"] for row in cls.rows):
            raise unittest.SkipTest("this machine is too busy: a launch takes longer than the counter's moves")
        with open(results / "samples.csv", newline="", encoding="utf-8") as file:
            cls.windows = [row for row in csv.DictReader(file) if row["window"]]

    def test_is_measured_with_power_and_joules(self):
        self.assertEqual(["ok"] * 3, [row["status"] for row in self.rows], self.run_.stderr)
        for row in self.rows:
            self.assertGreater(float(row["sustained_median_s"]), 0)
            self.assertEqual((500, 700), (float(row["instant_power_w"]), float(row["power_limit_w"])))
            self.assertGreater(float(row["energy_low_j"]), 0, row["remarks"])
        for row in self.rows[:2]:
            self.assertGreater(float(row["sustained_clock_hz"]), 0)

    def test_joules_are_the_watts_times_the_time_of_the_windows(self):
        """To a factor: a busy machine reads the counter late. How it is read to the last move is held on a manual clock (test_sustain)."""
        self.assertEqual({"whole", "forward", "forward and backward"}, {window["window"] for window in self.windows})
        self.assertEqual(50, len(self.windows))
        spent = [float(window["energy_j"]) * int(window["launches"] or 1) / self.WATTS for window in self.windows if window["energy_j"]]
        self.assertGreater(len(spent), 25)
        self.assertGreater(sum(spent), len(spent) * self.LENGTH / 2)
        self.assertLess(sum(spent), self.seconds)

    def test_probes_repeat_their_launch_within_one(self):
        for row, windows in zip(self.rows[:2], (self.windows[:10], self.windows[10:20]), strict=True):
            for window in windows:
                self.assertGreaterEqual(int(window["launches"]), int(0.99 * self.LENGTH / float(row["launch_median_s"])))

    def test_phases_add_up_to_the_step(self):
        step = self.rows[2]
        parts = [float(step[phase + "_energy_median_j"] or 0) for phase in ("forward", "backward", "update")]
        self.assertGreater(parts[0], 0)
        if all(parts):  # a busy machine does not tell every phase apart
            self.assertAlmostEqual(1, sum(parts) / float(step["energy_median_j"]), delta=1e-3)

    def test_is_shown_as_emulated(self):
        self.assertIn("What lasts", self.run_.stdout)
        self.assertIn("What lasts of each step, and joules", self.run_.stdout)


@unittest.skipIf(shutil.which("mpirun") is None, "no mpirun here: apt-get install openmpi-bin")
class Network(unittest.TestCase):
    """Messages between the GPUs of two ranks that mpirun starts, by the emulated NCCL."""

    @staticmethod
    def rows(results, device):
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2", os.environ["ROOF"], "calibrate", "--ranks", "2", "--quick",
                   "--device", device, "--out", results]
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env={**os.environ, **as_root})
        return rows_of(results) if results.exists() else done.stderr

    def test_is_measured_by_pairs_rings_and_all_reduces_between_gpus(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = self.rows(pathlib.Path(folder, "results"), "gpu:0,1")
        self.assertEqual({("network_pair", ""), ("network", "ring"), ("network", "allreduce")}, {(row["bench"], row["operation"]) for row in rows})
        for row in rows:
            self.assertEqual("ok", row["status"], row["reason"])
            self.assertIn("NCCL", row["variant"])
            self.assertIn("their messages cross its links between GPUs, not a network", row["remarks"])

    def test_wants_a_gpu_for_each_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = self.rows(pathlib.Path(folder, "results"), "gpu:0")
        self.assertEqual({"unsupported"}, {row["status"] for row in rows})
        self.assertIn("2 ranks were started on this machine for 1 GPU: each wants its own", rows[0]["reason"])


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
                 if row["status"] != "ok" and row["isa"] != "tcgen05"]
        self.assertEqual([], wrong)
        self.assertGreater(len(self.rows), 40)

    def test_holds_both_ends_of_each_copy(self):
        copies = {(row["bench"], row["operation"]): float(row["memory_bytes"]) for row in self.rows
                  if row["status"] == "ok" and row["operation"] in ("h2d", "d2h", "copy") and row["bench"] in ("link", "peer")}
        self.assertEqual({("link", "h2d"): 2, ("link", "d2h"): 2, ("peer", "copy"): 2},
                         {copy: held / 65536 for copy, held in copies.items()})

    def test_says_why_another_generation_is_needed(self):
        reasons = [row["reason"] for row in self.rows if row["isa"] == "tcgen05"]
        self.assertTrue(reasons and all("10.0" in reason for reason in reasons), reasons)

    def test_marks_every_row_as_emulated(self):
        for row in self.rows:
            if row["status"] == "ok":
                self.assertEqual(("simulated", "emulated"), (row["work_known"], row["time_known"]))
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
        first = rate(**gpu, working_set_bytes="65536")
        second = rate(**gpu, working_set_bytes="524288")
        self.assertGreater(first, second)
        # Memory is not compared: blocks run in random order, so tiles of another pass are found in the L2.
        self.assertAlmostEqual(1, rate(**{**gpu, "device": "gpu:1"}, working_set_bytes="524288") / second, delta=0.1)

    def test_becomes_a_report_that_says_what_it_is(self):
        page = self.results / "report.html"
        done = roof("report", self.results, "--out", page)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("Emulated", page.read_text(encoding="utf-8"))
        self.assertNotIn("(measured)", self.run_.stdout)


if __name__ == "__main__":
    unittest.main()

"""`roof profile` on a stand-in for a program with a driver, and on a CUPTI of our own making: the ends a program may come to, what
the folder then holds, and that the program never notices."""

import csv
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOF = os.environ["ROOF"]
PROGRAM = os.environ["DRIVER_STAND_IN"]


class Profile(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.folder = Path(self.holder.name) / "run"
        (Path(self.holder.name) / "results").mkdir()  # for runs without --out, in place of the user's folder

    def roof(self, *words, **options):
        return subprocess.run([ROOF, *words], capture_output=True, text=True, timeout=60, cwd=self.holder.name, **options)

    def profile(self, *program, options=("--from-start",), **more):
        return self.roof("profile", *options, "--out", self.folder, "--", *program, **more)

    def rows(self, name):
        path = self.folder / name
        if not path.exists():
            return []
        with path.open(newline="") as file:
            return list(csv.DictReader(file))

    def test_records_kernels_copies_and_calls_of_a_program(self):
        self.assertEqual(0, self.profile(PROGRAM).returncode)
        self.assertEqual(["first()", "second()"], [row["name"] for row in self.rows("kernels.csv")])
        self.assertEqual(["H2D"], [row["kind"] for row in self.rows("copies.csv")])
        self.assertEqual(2, len(self.rows("api.csv")))
        row, = self.rows("measurements.csv")
        self.assertEqual("ok", row["status"])
        self.assertEqual("gpu:1", row["device"])
        self.assertAlmostEqual(4e-6, float(row["launch_median_s"]))
        self.assertIn("17 records were dropped", row["remarks"])
        self.assertEqual({"program gpu:1 model=driver_stand_in"}, {row["id"] for row in self.rows("kernels.csv")})
        self.assertEqual([], list(self.folder.glob("process-*")))

    def test_makes_a_folder_that_reports_are_made_of(self):
        self.profile(PROGRAM)
        report = self.roof("report", self.folder, "--out", "report.html")
        self.assertEqual(0, report.returncode, report.stderr)
        self.assertTrue("cudaLaunchKernel" in (Path(self.holder.name) / "report.html").read_text())

    def test_keeps_only_what_lies_in_the_named_ranges(self):
        self.profile(PROGRAM, options=("--range", "step*"))
        self.assertEqual(["first()"], [row["name"] for row in self.rows("kernels.csv")])

    def test_counts_a_programs_kernels_from_its_first_one(self):
        said = self.profile(PROGRAM, "step", options=("--from-start", "--counters"))
        self.assertEqual(0, said.returncode, said.stderr)
        l2 = [row for row in self.rows("counters.csv") if row["metric"] == "lts__t_bytes.sum"]
        self.assertEqual([("first()", "conv1", "forward"), ("second()", "", "forward"), ("second()", "", "")],
                         [(row["name"], row["layer"], row["phase"]) for row in l2])
        self.assertEqual([], self.rows("kernels.csv"))
        row, = self.rows("measurements.csv")
        self.assertEqual(("ok", "gpu:1"), (row["status"], row["device"]))
        self.assertAlmostEqual(3 * 10e-9, float(row["launch_median_s"]))
        for words in ("gpu__time_duration", "launches of CUDA graphs were not counted", "collectives were not counted"):
            self.assertIn(words, row["remarks"])
        self.assertEqual("counter", row["work_known"])
        self.assertEqual(3 * 2 * 10, float(row["compulsory_bytes"]))  # read and written
        self.assertGreater(float(row["flops"]), 0)
        self.assertIn("each alone", row["description"])
        self.assertFalse((self.folder / "metrics.txt").exists())

    def test_counts_after_tracing_and_lets_the_program_go_when_there_are_enough(self):
        self.profile(PROGRAM, "steps", options=("--after", "0", "--seconds", "0.1", "--counters", "--kernels", "5",
                                                "--metrics", "traffic"))
        self.assertEqual(["first()", "second()"], [row["name"] for row in self.rows("kernels.csv")])
        counted = self.rows("counters.csv")
        self.assertEqual(5, len({row["launch"] for row in counted}))
        self.assertFalse(any("sass" in row["metric"] for row in counted))
        row, = self.rows("measurements.csv")
        self.assertIn("5 kernels were counted", row["remarks"])
        self.assertAlmostEqual(4e-6, float(row["launch_median_s"]))

    def test_says_why_nothing_was_counted(self):
        for variables, options, words in (
                ({"FAKE_CUPTI_FAILS": "privileges"}, ("--after", "0", "--seconds", "0.1"), "CAP_PERFMON"),
                ({}, ("--after", "0", "--seconds", "99"), "ended while it was traced")):
            with self.subTest(words):
                self.folder = Path(self.holder.name) / words
                self.profile(PROGRAM, "steps", options=(*options, "--counters"), env={**os.environ, **variables})
                row, = self.rows("measurements.csv")
                self.assertEqual("ok", row["status"])
                self.assertIn(words, row["remarks"])
                self.assertEqual([], self.rows("counters.csv"))

    def test_traces_from_the_start_what_it_may_not_count(self):
        self.profile(PROGRAM, "steps", options=("--from-start", "--counters"),
                     env={**os.environ, "FAKE_CUPTI_FAILS": "privileges"})
        self.assertEqual({"first()", "second()"}, {row["name"] for row in self.rows("kernels.csv")})
        row, = self.rows("measurements.csv")
        self.assertEqual("ok", row["status"])
        self.assertIn("CAP_PERFMON", row["remarks"])
        self.assertAlmostEqual(4e-6, float(row["launch_median_s"]))

    def test_says_so_when_it_is_told_of_no_launches(self):
        self.profile(PROGRAM, "step", options=("--from-start", "--counters"),
                     env={**os.environ, "FAKE_CUPTI_FAILS": "cuptiSubscribe"})
        row, = self.rows("measurements.csv")
        self.assertEqual("unsupported", row["status"])
        self.assertIn("reports no launch", row["reason"])

    def test_hands_on_input_output_and_exit_status(self):
        said = self.profile(PROGRAM, "echo", input="one\ntwo\n")
        self.assertEqual("one\ntwo\n", said.stdout)
        self.assertEqual(3, self.roof("profile", "--", PROGRAM, "fail").returncode)

    def test_hands_on_options_that_are_also_its_own(self):
        said = self.profile(PROGRAM, "--help")
        self.assertNotIn("Options", said.stdout + said.stderr)
        self.assertEqual("ok", self.rows("measurements.csv")[0]["status"])

    def test_writes_what_it_has_when_the_program_is_told_to_end(self):
        words = [ROOF, "profile", "--from-start", "--out", self.folder, "--", PROGRAM, "wait"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
            self.assertEqual("waiting\n", running.stdout.readline())
            running.send_signal(signal.SIGTERM)
            self.assertEqual(128 + signal.SIGTERM, running.wait(60))
        self.assertEqual(2, len(self.rows("kernels.csv")))

    def test_leaves_forked_children_alone(self):
        self.assertEqual(0, self.profile(PROGRAM, "fork").returncode)
        self.assertEqual(1, len(self.rows("measurements.csv")))

    def test_says_so_when_the_program_dies_of_itself(self):
        said = self.profile(PROGRAM, "abort")
        self.assertEqual(128 + signal.SIGABRT, said.returncode)
        self.assertIn("ended before it could write", self.rows("measurements.csv")[0]["reason"])

    def test_says_why_nothing_was_recorded(self):
        for variables, words in (({"FAKE_CUPTI_FAILS": "cuptiActivityEnable"}, "as the test wants it"),
                                 ({"ROOF_PROFILE_TEST": ""}, "initialised the CUDA driver")):
            with self.subTest(words):
                self.folder = Path(self.holder.name) / words
                deed = "no-cuda" if "ROOF_PROFILE_TEST" in variables else "end"
                said = self.profile(PROGRAM, deed, env={**os.environ, **variables})
                self.assertEqual(0, said.returncode)
                row, = self.rows("measurements.csv")
                self.assertEqual("unsupported", row["status"])
                self.assertIn(words, row["reason"])
                self.assertIn(words, said.stderr)

    def test_runs_a_plain_cuda_program_as_far_as_the_machine_lets_it(self):
        alone = subprocess.run([os.environ["CUDA_PROGRAM"]], capture_output=True, timeout=60)
        said = self.profile(os.environ["CUDA_PROGRAM"])
        self.assertEqual(alone.returncode, said.returncode)
        row, = self.rows("measurements.csv")
        if alone.returncode != 0:
            self.assertIn("no GPU activity was recorded", row["reason"])

    def test_names_a_program_that_is_not_there(self):
        said = self.profile("no-such-program")
        self.assertEqual(127, said.returncode)
        self.assertIn("cannot run 'no-such-program'", said.stderr)
        self.assertEqual(126, self.roof("profile", "--", "/").returncode)

    def test_refuses_what_makes_no_sense(self):
        for words in (("profile",), ("profile", "--seconds", "x", "--", PROGRAM),
                      ("profile", "--from-start", "--seconds", "3", "--", PROGRAM),
                      ("profile", "--kernels", "3", "--", PROGRAM),
                      ("profile", "--counters", "--kernels", "none", "--", PROGRAM),
                      ("profile", "--counters", "--metrics", "everything", "--", PROGRAM)):
            with self.subTest(words):
                said = self.roof(*words)
                self.assertEqual(2, said.returncode)
                self.assertNotEqual("", said.stderr)


if __name__ == "__main__":
    unittest.main()

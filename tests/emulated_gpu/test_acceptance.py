"""tools/gpu_acceptance on emulated GPUs of 9.0 and 7.5: a part of its steps, some seconds of work.
ROOF_EMULATED_BUILD: the folder of the build."""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "tools" / "gpu_acceptance"
STEPS = ("machine", "quick-calibration", "sustained", "more-ceilings", "parity", "kernel-times", "attention", "nccl", "training-ranks", "two-ranks", "training-sweep", "ncu", "pytorch-recorded")
LACKING = {"h100": ("ncu", "pytorch-recorded"), "t4": ("attention", "ncu", "pytorch-recorded")}


def accept(out, steps, **environment):
    """The finished run of these steps, and how each ended."""
    only = [word for step in steps for word in ("--only", step)]
    done = subprocess.run([sys.executable, "-B", PROGRAM, "--build", os.environ["ROOF_EMULATED_BUILD"], "--out", out, "--small",
                           "--minutes", "15", *only], capture_output=True, text=True, check=False, env={**os.environ, **environment})
    return done, {row["step"]: row for row in json.loads((out / "steps.json").read_text(encoding="utf-8"))}


class Acceptance(unittest.TestCase):
    card = "h100"
    steps = STEPS

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = pathlib.Path(folder.name, "acceptance")
        cls.done, cls.rows = accept(cls.out, cls.steps, ROOF_EMULATED_CARD=cls.card)

    def test_runs_the_steps_that_an_emulated_gpu_has(self):
        self.assertEqual(dict.fromkeys(self.steps, "ok") | dict.fromkeys(LACKING[self.card], "unavailable"),
                         {step: row["status"] for step, row in self.rows.items()}, self.rows)
        self.assertIn("not a measurement", self.rows["machine"]["reason"])

    def test_says_what_the_other_steps_lack(self):
        self.assertIn("part cupti is absent", self.rows["ncu"]["reason"])
        self.assertIn("roof_inject.so", self.rows["pytorch-recorded"]["reason"])

    def test_writes_all_into_one_file(self):
        with tarfile.open(self.out.with_suffix(".tar.gz")) as archive:
            self.assertLessEqual({"acceptance/summary.md", "acceptance/parity.txt", "acceptance/nccl-2.txt"}, set(archive.getnames()))
        self.assertIn("acceptance.tar.gz", self.done.stdout)


class BeforeBf16(Acceptance):
    card = "t4"
    steps = tuple(step for step in STEPS if step not in ("sustained", "two-ranks"))  # which are in fp32 on either card

    def test_says_that_cudnn_has_no_attention(self):
        self.assertEqual("cuDNN has attention from 8.0 on, and this GPU has 7.5", self.rows["attention"]["reason"])


class WithWrongResults(unittest.TestCase):
    """A kernel that stores wrong numbers is the failure of each step that checks it, and of no other."""

    def test_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            done, rows = accept(pathlib.Path(folder, "out"), ("parity", "nccl"), ROOF_EMULATED_WRONG="softmax")
            self.assertEqual(["failed", "ok"], [rows[step]["status"] for step in ("parity", "nccl")], rows)
            self.assertEqual(1, done.returncode)
            done, rows = accept(pathlib.Path(folder, "out"), ("quick-calibration",), ROOF_EMULATED_WRONG="chain_kernel")
            self.assertEqual("failed", rows["quick-calibration"]["status"], rows)
            self.assertIn("1 rows failed", rows["quick-calibration"]["reason"])
            done, rows = accept(pathlib.Path(folder, "out"), ("two-ranks",), ROOF_EMULATED_NCCL_ACCIDENT="wrong graph 1")
            self.assertEqual("failed", rows["two-ranks"]["status"], rows)
            self.assertIn("the ranks have different parameters after the same steps", rows["two-ranks"]["reason"])


if __name__ == "__main__":
    unittest.main()

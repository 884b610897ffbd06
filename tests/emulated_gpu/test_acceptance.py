"""tools/gpu_acceptance on an emulated GPU: a part of its steps, some seconds of work. ROOF_EMULATED_BUILD: the folder of the build."""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "tools" / "gpu_acceptance"
STEPS = ("machine", "parity", "nccl", "ncu", "pytorch-recorded")


class Acceptance(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = pathlib.Path(folder.name, "acceptance")
        only = [word for step in STEPS for word in ("--only", step)]
        cls.done = subprocess.run([sys.executable, "-B", PROGRAM, "--build", os.environ["ROOF_EMULATED_BUILD"], "--out", cls.out, "--small",
                                   "--minutes", "5", *only], capture_output=True, text=True, check=False)
        cls.rows = {row["step"]: row for row in json.loads((cls.out / "steps.json").read_text(encoding="utf-8"))}

    def test_runs_the_steps_that_an_emulated_gpu_has(self):
        self.assertEqual({"ok"}, {self.rows[step]["status"] for step in STEPS[:3]}, self.rows)
        self.assertIn("not a measurement", self.rows["machine"]["reason"])

    def test_says_what_the_other_steps_lack(self):
        self.assertEqual({"unavailable"}, {self.rows[step]["status"] for step in STEPS[3:]}, self.rows)
        self.assertIn("part cupti is absent", self.rows["ncu"]["reason"])
        self.assertIn("roof_inject.so", self.rows["pytorch-recorded"]["reason"])

    def test_writes_all_into_one_file(self):
        with tarfile.open(self.out.with_suffix(".tar.gz")) as archive:
            self.assertLessEqual({"acceptance/summary.md", "acceptance/parity.txt", "acceptance/nccl-2.txt"}, set(archive.getnames()))
        self.assertIn("acceptance.tar.gz", self.done.stdout)


if __name__ == "__main__":
    unittest.main()

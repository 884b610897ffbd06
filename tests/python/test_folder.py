import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from roof import folder

MACHINE = {"name": "made", "cpu_model": "a \"quoted\" one", "cores": 2, "threads": 2,
           "devices": [{"name": "cpu", "kind": "cpu", "model": "x",
                        "levels": [{"name": "L1", "capacity_bytes": 32768, "instances": 2, "shared_by_threads": 1}]}],
           "versions": {"pytorch": "2"}}
POINT = {"model": "mine", "batch": "8", "precision": "fp32", "data": "pytorch", "threads": "2"}


def row():
    def times(what, value):
        return {f"{what}_{end}_s": value for end in ("median", "low", "high")}

    return {"id": folder.identity("pytorch", "cpu", POINT), "bench": "pytorch", "role": "step", "device": "cpu", **POINT,
            "status": "ok", **times("launch", 0.4), "samples": 1, **times("forward", 0.3), **times("backward", 0.1),
            "flops": 4e9, "compulsory_bytes": 1e8, "no_reuse_bytes": 2e8,
            "work_known": "analytic", "remarks": "one, two"}


def layer(name, phase):
    return {"layer": name, "kind": "convolution", "phase": phase, "time_median_s": 0.1, "time_low_s": 0.1, "time_high_s": 0.1,
            "samples": 5, "flops": 2e9, "compulsory_bytes": 5e7, "no_reuse_bytes": 1e8, "work_known": "analytic"}


class Folder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name) / "mine"

    def write(self, **how):
        samples = [{"launch_s": 0.4, "forward_s": 0.3, "backward_s": 0.1, "loss": "", "used": 1}]
        return folder.write(self.folder, MACHINE, "a recording", row(), samples, [layer("conv, 1", "forward"), layer("conv2", "backward")], **how)

    def test_it_is_read_by_the_report_with_its_step_and_its_layers(self):
        self.write()
        done = subprocess.run([os.environ["ROOF_PROGRAM"], "report", self.folder, "--data", self.folder / "data"],
                              capture_output=True, text=True, check=False, cwd=self.folder, timeout=120)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertIn("mine", done.stdout)
        self.assertIn("400 ms", done.stdout)
        self.assertIn("one, two", done.stdout)
        self.assertIn("conv, 1", (self.folder / "data" / "placements.csv").read_text(encoding="utf-8"))

    def test_its_files_pass_every_check_and_a_changed_figure_does_not(self):
        self.write()
        check = [os.environ["ROOF_PROGRAM"], "check", self.folder]
        done = subprocess.run(check, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((0, "1 row, 0 of them damaged: nothing is wrong with this folder\n"), (done.returncode, done.stdout))
        file = self.folder / "layers.csv"
        file.write_text(file.read_text(encoding="utf-8").replace("5", "6", 1), encoding="utf-8")
        self.assertEqual(1, subprocess.run(check, capture_output=True, check=False, timeout=120).returncode)

    def test_a_folder_with_results_is_not_overwritten(self):
        self.write()
        with self.assertRaisesRegex(FileExistsError, "replace=True"):
            self.write()

    def test_a_recording_is_replaced_if_asked_and_what_was_made_of_it_does_not_count(self):
        self.write()
        (self.folder / "report.html").write_text("of the first", encoding="utf-8")
        self.write(replace=True)
        (self.folder / "report.html").write_text("of the second", encoding="utf-8")
        done = subprocess.run([os.environ["ROOF_PROGRAM"], "check", self.folder], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((0, "1 row, 0 of them damaged: nothing is wrong with this folder\n"), (done.returncode, done.stdout))

    def test_other_results_are_never_replaced(self):
        self.write()
        (self.folder / "plan.yaml").write_text("name: run\n", encoding="utf-8")
        with self.assertRaisesRegex(FileExistsError, "no recording"):
            self.write(replace=True)
        self.assertTrue((self.folder / "measurements.csv").exists())

    def test_a_row_is_named_by_its_axes_in_order_and_without_empty_ones(self):
        self.assertEqual("pytorch cpu model=mine batch=8 precision=fp32 data=pytorch threads=2", row()["id"])
        self.assertEqual("pytorch gpu:0 model=m", folder.identity("pytorch", "gpu:0", {"model": "m", "threads": ""}))


if __name__ == "__main__":
    unittest.main()

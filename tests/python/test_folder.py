import base64
import errno
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from unittest import mock

from roof import folder

MACHINE = {"name": "made", "cpu_model": "a \"quoted\" one", "cores": 2, "threads": 2,
           "devices": [{"name": "cpu", "kind": "cpu", "model": "x",
                        "levels": [{"name": "L1", "capacity_bytes": 32768, "instances": 2, "shared_by_threads": 1}]}], "versions": {"pytorch": "2"}}
POINT = {"model": "mine", "batch": "8", "precision": "fp32", "data": "pytorch", "threads": "2"}


def row():
    def times(what, value):
        return {f"{what}_{end}_s": value for end in ("median", "low", "high")}

    return {"id": folder.identity("pytorch", "cpu", POINT), "bench": "pytorch", "role": "step", "device": "cpu", **POINT, "status": "ok",
            **times("launch", 0.4), "samples": 1, **times("forward", 0.3), **times("backward", 0.1), "flops": 4e9, "compulsory_bytes": 1e8,
            "no_reuse_bytes": 2e8, "work_known": "analytic", "remarks": "one, two"}


def layer(name, phase):
    return {"layer": name, "kind": "convolution", "phase": phase, "time_median_s": 0.1, "time_low_s": 0.1, "time_high_s": 0.1, "samples": 5,
            "flops": 2e9, "compulsory_bytes": 5e7, "no_reuse_bytes": 1e8, "work_known": "analytic"}


def write_at_once(place, number, barrier, said, replace):
    samples = [{"launch_s": number + 1, "used": 1} for _ in range(200)]
    barrier.wait()
    try:
        folder.write(place, MACHINE, "a race", {**row(), "launch_median_s": number + 1}, samples, [layer("conv", "forward")], replace)
        said.put((number, "written"))
    except Exception as error:
        said.put((number, type(error).__name__))


def check_recording(place):
    """That the checksum of its row is that of all its lines, by docs/reliability.md."""
    header, line = (place / "measurements.csv").read_text(encoding="utf-8").splitlines()
    run = (place / "machine.yaml").read_text(encoding="utf-8").splitlines()[1].replace("run: ", "")
    line, stated = line.rsplit(",", 1)
    lines = [header.rsplit(",", 1)[0], line]
    for name in ("samples.csv", "layers.csv"):
        lines += (place / name).read_text(encoding="utf-8").splitlines()
    total = 0
    for one in [*lines, header]:
        total = (total * 0x5DEECE66D + zlib.crc32(one.encode())) % 2**48
    assert header.endswith(":" + run) and stated == base64.urlsafe_b64encode(total.to_bytes(6, "big")).decode()


def whole_recording(place):
    """The number of the writer."""
    check_recording(place)
    return int((place / "samples.csv").read_text(encoding="utf-8").splitlines()[1].split(",")[1]) - 1


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
        done = subprocess.run([os.environ["ROOF_PROGRAM"], "report", self.folder, "--data", self.folder / "data"], capture_output=True, text=True,
                              check=False, cwd=self.folder, timeout=120)
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

    def test_what_is_left_of_results_is_not_overwritten(self):
        self.folder.mkdir()
        for name in folder.RESULTS:
            (self.folder / name).write_text("all that is left", encoding="utf-8")
            for replace in (False, True):
                with self.assertRaises(FileExistsError):
                    self.write(replace=replace)
            self.assertEqual("all that is left", (self.folder / name).read_text(encoding="utf-8"))
            (self.folder / name).unlink()
        self.write()

    def test_a_recording_is_replaced_if_asked_and_what_was_made_of_it_does_not_count(self):
        self.write()
        (self.folder / "report.html").write_text("of the first", encoding="utf-8")
        self.write(replace=True)
        (self.folder / "report.html").write_text("of the second", encoding="utf-8")
        done = subprocess.run([os.environ["ROOF_PROGRAM"], "check", self.folder], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((0, "1 row, 0 of them damaged: nothing is wrong with this folder\n"), (done.returncode, done.stdout))

    def test_a_replacement_that_fails_leaves_the_old_recording_whole_and_nothing_else(self):
        self.write()
        before = {one.name: one.read_bytes() for one in self.folder.iterdir()}
        full = OSError(errno.ENOSPC, "No space left on device")
        for stage in ("write_files", "seal", "flush", "exchange"):
            with mock.patch.object(folder, stage, side_effect=full), self.assertRaises(OSError):
                self.write(replace=True)
            self.assertEqual(before, {one.name: one.read_bytes() for one in self.folder.iterdir() if one.name != ".lock"})
            self.assertEqual([self.folder], list(self.folder.parent.iterdir()))

    def test_a_first_recording_that_fails_leaves_nothing(self):
        with mock.patch.object(folder, "seal", side_effect=OSError(errno.ENOSPC, "No space left on device")), self.assertRaises(OSError):
            self.write()
        self.assertEqual([], list(self.folder.parent.iterdir()))

    def test_other_files_of_a_folder_stay(self):
        self.folder.mkdir()
        (self.folder / "notes.txt").write_text("mine", encoding="utf-8")
        self.write()
        self.write(replace=True)
        self.assertEqual("mine", (self.folder / "notes.txt").read_text(encoding="utf-8"))
        self.assertEqual([self.folder], list(self.folder.parent.iterdir()))

    def test_it_is_replaced_where_the_system_cannot_exchange_names_at_once(self):
        self.write()
        first = (self.folder / "machine.yaml").read_bytes()
        with mock.patch.object(folder.ctypes, "CDLL", return_value=object()):
            self.write(replace=True)
        self.assertNotEqual(first, (self.folder / "machine.yaml").read_bytes())
        self.assertEqual([self.folder], list(self.folder.parent.iterdir()))

    def test_a_locked_folder_is_not_replaced(self):
        self.write()
        with folder.locked(self.folder), self.assertRaisesRegex(FileExistsError, "another process writes"):
            self.write(replace=True)

    def test_of_processes_that_write_at_once_one_has_the_folder_and_it_is_whole(self):
        races = int(os.environ.get("ROOF_RACES", "8"))
        for race in range(races):
            replace = race % 2 == 1
            if replace:
                self.folder.mkdir()
                (self.folder / "notes.txt").write_text("mine", encoding="utf-8")
            barrier, said = multiprocessing.Barrier(4), multiprocessing.Queue()
            writers = [multiprocessing.Process(target=write_at_once, args=(self.folder, number, barrier, said, replace)) for number in range(4)]
            for one in writers:
                one.start()
            answers = [said.get(timeout=120) for _ in writers]
            for one in writers:
                one.join()
            written = [number for number, answer in answers if answer == "written"]
            self.assertLessEqual({answer for _, answer in answers}, {"written", "FileExistsError"})
            self.assertGreaterEqual(len(written), 1)
            if not replace:
                self.assertEqual(1, len(written))
            self.assertIn(whole_recording(self.folder), written)
            self.assertEqual([self.folder], list(self.folder.parent.iterdir()))
            shutil.rmtree(self.folder)
            if race % 50 == 49:
                print(f"{race + 1} races of four writers", file=sys.stderr, flush=True)

    def test_each_rank_has_its_folder(self):
        nothing = dict.fromkeys(("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",
                                 "PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS"), "")
        for variables, name in (({}, "mine"), ({"RANK": "0", "WORLD_SIZE": "4"}, "mine"), ({"RANK": "3", "WORLD_SIZE": "4"}, "mine-rank3"),
                                ({"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}, "mine"), ({"RANK": "x", "WORLD_SIZE": "4"}, "mine"),
                                ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, "mine-rank1"), ({"RANK": "2"}, "mine"),
                                ({"SLURM_PROCID": "7", "SLURM_NTASKS": "8"}, "mine-rank7"), ({"PMI_RANK": "1", "PMI_SIZE": "2"}, "mine-rank1")):
            with mock.patch.dict(os.environ, {**nothing, **variables}), mock.patch.dict(sys.modules, {"torch": None}):
                self.assertEqual(name, folder.of_rank(self.folder).name)

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

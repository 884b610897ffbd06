import base64
import errno
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from types import SimpleNamespace
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


def checksum(*lines):
    total = 0
    for one in lines:
        total = (total * 0x5DEECE66D + zlib.crc32(one.encode())) % 2**48
    return base64.urlsafe_b64encode(total.to_bytes(6, "big")).decode()


def check_recording(place):
    """That the checksum of its row is that of all its lines, by docs/reliability.md."""
    header, line = (place / "measurements.csv").read_text(encoding="utf-8").splitlines()
    run = (place / "machine.yaml").read_text(encoding="utf-8").splitlines()[1].replace("run: ", "")
    line, stated = line.rsplit(",", 1)
    lines = [header.rsplit(",", 1)[0], line]
    for name in ("samples.csv", "layers.csv"):
        lines += (place / name).read_text(encoding="utf-8").splitlines()
    assert header.endswith(":" + run) and stated == checksum(*lines, header)


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
        def exchange(at, part, at_too, place, flag):
            self.assertEqual((-100, -100, 2), (at, at_too, flag))  # AT_FDCWD and RENAME_EXCHANGE of Linux
            for old, new in ((part, part + b"2"), (place, part), (part + b"2", place)):
                os.rename(old, new)
            return 0

        self.write()
        systems = object(), SimpleNamespace(renameat2=lambda *_: -1), SimpleNamespace(renameat2=exchange)
        for system, renames in zip(systems, (4, 4, 1)):  # the first of them fails
            first = (self.folder / "machine.yaml").read_bytes()
            with mock.patch.object(folder.ctypes, "CDLL", return_value=system), \
                    mock.patch.object(Path, "rename", autospec=True, side_effect=Path.rename) as renamed:
                self.write(replace=True)
            self.assertEqual(renames, renamed.call_count)
            self.assertNotEqual(first, (self.folder / "machine.yaml").read_bytes())
            self.assertEqual([self.folder], list(self.folder.parent.iterdir()))

    def test_a_locked_folder_is_not_replaced(self):
        self.write()
        lock = self.folder / ".lock"
        with folder.locked(self.folder), self.assertRaisesRegex(FileExistsError, "another process writes"):
            self.write(replace=True)
        self.assertEqual(0o644, lock.stat().st_mode & 0o777)
        for change in (lock.unlink, lambda: (lock.unlink(), lock.touch())):
            with mock.patch.object(folder.fcntl, "flock", side_effect=lambda *_: change()), \
                    self.assertRaisesRegex(FileExistsError, "another process has replaced"):
                self.write(replace=True)
        with mock.patch.object(folder.fcntl, "flock", side_effect=OSError(errno.ENOLCK, "No locks available")):
            self.write(replace=True)

    def test_files_and_names_are_flushed_and_nothing_of_others(self):
        self.folder = self.folder.parent / "a" / "b" / ("m" * 240)
        self.write()
        (self.folder.parent / "a.csv").symlink_to("gone")
        os.mkfifo(self.folder.parent / "b.csv")
        opened, flushed = os.listdir("/proc/self/fd"), []

        def fsync(descriptor):
            path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
            flushed.append(re.sub("[a-z]{10}[.]part", "PART", path.name))
            if path.is_dir():
                raise OSError(errno.EINVAL, "Invalid argument")

        with mock.patch.object(os, "fsync", fsync):
            self.write(replace=True)
        files = ["checksums.csv", "layers.csv", "machine.yaml", "measurements.csv", "plan.yaml", "samples.csv"]
        self.assertEqual((files, [f".{'m' * 200}.PART", "b"]), (sorted(flushed[:6]), flushed[6:]))
        self.assertEqual(len(opened), len(os.listdir("/proc/self/fd")))
        broken = OSError(errno.EIO, "Input/output error")
        with mock.patch.object(os, "fsync", side_effect=broken), self.assertRaises(OSError):
            self.write(replace=True)

    def test_records_have_a_checksum_for_256_lines_and_a_table_of_rows_one_header(self):
        rows = [({"id": name, "status": "ok"}, [{"launch_s": 1, "used": 1}] * 2, []) for name in ("a", "b")]
        cells = [("a b", k) for k in range(257)]
        folder.put(self.folder, 'name: "import"\n', MACHINE, rows, [("memory.csv", ("id", "bytes"), cells)])
        header, *lines = (self.folder / "memory.csv").read_text(encoding="utf-8").splitlines()
        self.assertRegex(header, "^id,bytes,block_checksum:[a-z]{10}$")
        plain = [f"a b,{k}" for k in range(257)]
        first = checksum("id,bytes", *plain[:256], header)
        second = checksum(first, plain[256], header)
        self.assertEqual([*(f"{line}," for line in plain[:255]), f"a b,255,{first}", f"a b,256,{second}"], lines)
        self.assertEqual("id,launch_s,used\na,1,1\na,1,1\nb,1,1\nb,1,1\n", (self.folder / "samples.csv").read_text())
        self.assertFalse((self.folder / "layers.csv").exists())

    def test_what_stops_a_rename_is_told(self):
        self.folder.mkdir()
        (self.folder / "notes.txt").touch()
        with self.assertRaises(OSError) as raised:
            folder.put(self.folder, "", MACHINE, [(row(), [], [])])
        self.assertEqual(errno.ENOTEMPTY, raised.exception.errno)
        with mock.patch.object(Path, "rename", side_effect=OSError(errno.EXDEV, "Invalid cross-device link")), \
                self.assertRaises(OSError) as raised:
            self.write()
        self.assertEqual((errno.EXDEV, ["notes.txt"]), (raised.exception.errno, os.listdir(self.folder)))

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
        for variables, rank, ranks in (
                ({}, 0, 1), ({"RANK": "0", "WORLD_SIZE": "4"}, 0, 4), ({"RANK": "3", "WORLD_SIZE": "4"}, 3, 4),
                ({"RANK": "2"}, 0, 1), ({"RANK": "4", "WORLD_SIZE": "4"}, 0, 1),
                ({"SLURM_PROCID": "7", "SLURM_NTASKS": "8"}, 7, 8),
                ({"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}, 0, 1), ({"RANK": "x", "WORLD_SIZE": "4"}, 0, 1),
                ({"RANK": "0", "WORLD_SIZE": "1", "PMI_RANK": "1", "PMI_SIZE": "2"}, 1, 2),
                ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, 1, 2)):
            with mock.patch.dict(os.environ, {**nothing, **variables}), mock.patch.dict(sys.modules, {"torch": None}):
                self.assertEqual((rank, ranks), folder.rank_of_environment())
                self.assertEqual(f"mine-rank{rank}" if rank else "mine", folder.of_rank(self.folder).name)
        group = {"is_available": lambda: True, "is_initialized": lambda: True, "get_rank": lambda: 2,
                 "get_world_size": lambda: 3}
        for more, answer in (({}, (2, 3)), ({"is_initialized": lambda: False}, (0, 1)),
                             ({"is_available": lambda: False, "is_initialized": None}, (0, 1))):
            torch = SimpleNamespace(distributed=SimpleNamespace(**{**group, **more}))
            with mock.patch.dict(os.environ, nothing), mock.patch.dict(sys.modules, {"torch": torch}):
                self.assertEqual(answer, folder.rank_of_environment())

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

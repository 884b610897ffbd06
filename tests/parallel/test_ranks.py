"""roof with several ranks as a person starts it: the losses of one rank with all images, and no end without a word.

usage: test_ranks.py PATH_OF_ROOF; the class By_mpi is skipped where there is no mpirun.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOF = None
TRAIN = ["--data", "hashed", "--parameters", "hashed", "--steps", "3", "--json"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_roof(self, *words, before=(), status=0):
        done = subprocess.run([*before, ROOF, "run", *words], capture_output=True, text=True, cwd=self.folder.name, check=False,
                              timeout=120, env={**os.environ, **AS_ROOT})
        self.assertEqual(status, done.returncode, done.stderr)
        return done

    def row(self, *words, before=(), status=0):
        done = self.run_roof(*words, *TRAIN, "--out", str(Path(self.folder.name) / "-".join(words[1:])), before=before, status=status)
        rows = json.loads(done.stdout)["rows"]
        self.assertEqual(1, len(rows))
        return rows[0]

    def assert_same_losses(self, one, other, tolerance=1e-4):
        self.assertEqual(3, len(one["losses"]))
        for a, b in zip(one["losses"], other["losses"]):
            self.assertAlmostEqual(a, b, delta=tolerance * a)


class Started_by_roof(Ranks):
    def test_two_and_four_see_the_losses_of_one_with_all_images(self):
        alone = self.row("alexnet", "--batch", "4")
        for words in (["--batch", "2", "--ranks", "2"], ["--batch", "1", "--ranks", "4", "--communication", "serial"],
                      ["--batch", "4", "--ranks", "2", "--scaling", "strong", "--communication", "broadcast"]):
            row = self.row("alexnet", *words)
            self.assertEqual("ok", row["status"], row["reason"])
            self.assert_same_losses(alone, row)

    def test_a_batch_that_cannot_be_shared_out_is_a_row_with_that_reason(self):
        row = self.row("alexnet", "--batch", "3", "--ranks", "2", "--scaling", "strong")
        self.assertEqual("unsupported", row["status"])
        self.assertIn("cannot be shared out evenly", row["reason"])

    def start_endless(self):
        process = subprocess.Popen([ROOF, "run", "alexnet", "--batch", "1", "--ranks", "2", "--steps", "1000000", "--out", "rows"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder.name,
                                   start_new_session=True)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        while "Epoch" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
        self.assertEqual(1, len(children))
        return process, int(children[0])

    def test_a_rank_that_is_killed_ends_the_row_with_its_name(self):
        process, rank = self.start_endless()
        os.kill(rank, signal.SIGKILL)
        out, _ = process.communicate(timeout=30)
        self.assertEqual(1, process.returncode)
        self.assertIn("failed: rank 1 was ended by signal 9", out)

    def test_an_interrupt_ends_all_ranks(self):
        process, rank = self.start_endless()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(130, process.returncode)
        self.assertIn("to continue:", err)
        self.assertFalse(Path(f"/proc/{rank}").exists())

    def test_ranks_end_with_a_roof_that_is_killed(self):
        process, rank = self.start_endless()
        process.kill()
        process.wait()
        for _ in range(100):
            if not Path(f"/proc/{rank}").exists() or " Z " in Path(f"/proc/{rank}/stat").read_text(encoding="ascii"):
                return
            time.sleep(0.1)
        self.fail("rank 1 goes on")

    def test_nobody_starts_a_rank_by_hand(self):
        done = subprocess.run([ROOF, "rank"], capture_output=True, text=True, check=False, timeout=30)
        self.assertEqual(2, done.returncode)
        self.assertIn("roof itself starts", done.stderr)


@unittest.skipIf(shutil.which("mpirun") is None, "no mpirun here: apt-get install openmpi-bin")
class By_mpi(Ranks):
    def setUp(self):
        super().setUp()
        if not (Path(ROOF).parent / "roof_mpi.so").exists():
            self.skipTest("this build has no MPI part")

    @staticmethod
    def mpirun(ranks):
        return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]

    def test_two_and_four_see_the_losses_of_one_with_all_images(self):
        alone = self.row("alexnet", "--batch", "4")
        self.assert_same_losses(alone, self.row("alexnet", "--batch", "1", "--ranks", "4", before=self.mpirun(4)))
        row = self.row("alexnet", "--batch", "2", "--communication", "broadcast", before=self.mpirun(2))
        self.assert_same_losses(alone, row)
        self.assertIn("Open MPI", row["ranks"]["variant"])

    def test_statistics_of_batch_norm_cross_ranks(self):
        alone = self.row("resnet18", "--batch", "2")
        self.assert_same_losses(alone, self.row("resnet18", "--batch", "1", "--batch-norm", "synchronised", before=self.mpirun(2)),
                                1e-3)

    def test_another_number_of_ranks_is_a_row_that_says_what_to_do(self):
        row = self.row("alexnet", "--batch", "1", "--ranks", "4", before=self.mpirun(2))
        self.assertEqual("unsupported", row["status"])
        self.assertIn("mpirun -n 4", row["reason"])


if __name__ == "__main__":
    ROOF = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()

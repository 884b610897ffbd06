"""Kills one rank of a training step at a moment chosen by chance. Rank 0 must end by itself, with the row failed and a reason, or with the
row complete if the rank was at its end.

usage: test_killed_ranks.py RANKS_PROGRAM [TRIES]
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = None
TRIES = 20
LONGEST = 60  # seconds; a wait that names nobody ends after 300
WORDS = ["run", "alexnet", "--batch", "1,2", "--ranks", "3", "--steps", "3", "--data", "hashed", "--parameters", "hashed", "--out"]


def ranks_of(process):
    """The processes that rank 0 has started."""
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


class Killed(unittest.TestCase):
    def start(self, folder):
        return subprocess.Popen([PROGRAM, *WORDS, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def kill_one(self, chance, delay):
        """Whether a rank was there to be killed."""
        with tempfile.TemporaryDirectory() as folder, self.start(f"{folder}/run") as root:
            time.sleep(delay)
            ranks = ranks_of(root.pid)
            if ranks:
                try:
                    os.kill(chance.choice(ranks), signal.SIGKILL)
                except ProcessLookupError:
                    ranks = []
            try:
                _, said = root.communicate(timeout=LONGEST)
            except subprocess.TimeoutExpired:
                root.kill()
                self.fail(f"rank 0 is silent after a kill at {delay:.3f} s")
            self.assertIn(root.returncode, (0, 1), said)
            if root.returncode == 1:
                self.assertIn("failed", said)
            return bool(ranks)

    def test_rank_0_ends_and_says_why(self):
        chance = random.Random(1)
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, self.start(f"{folder}/run") as root:
            _, said = root.communicate(timeout=LONGEST)
            self.assertEqual(0, root.returncode, said)
        whole = time.monotonic() - begin
        killed = sum(self.kill_one(chance, chance.uniform(0, whole)) for _ in range(TRIES))
        print(f"{TRIES} runs of {whole:.2f} s, {killed} ranks killed, none silent", file=sys.stderr)
        self.assertGreater(killed, 0)


if __name__ == "__main__":
    PROGRAM = Path(sys.argv[1]).resolve()
    if len(sys.argv) > 2:
        TRIES = int(sys.argv[2])
    unittest.main(argv=sys.argv[:1])

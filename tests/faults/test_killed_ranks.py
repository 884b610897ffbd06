"""Kills ranks of a training step, each run one: at moments chosen by chance, and at calls chosen by chance out of all that a rank makes in its
life. Rank 0 must end by itself, with the row failed and a reason, or with the row complete if the rank was at its end.

usage: test_killed_ranks.py RANKS_PROGRAM LACK [KILLS]
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = LACK = None
KILLS = 20
LONGEST = 60  # seconds; a wait that names nobody ends after 300
WORDS = ["run", "alexnet", "--batch", "1,2", "--ranks", "3", "--steps", "3", "--data", "hashed", "--parameters", "hashed", "--out"]


def ranks_of(process):
    """The processes that rank 0 has started."""
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


class Killed(unittest.TestCase):
    def start(self, folder, life=None):
        environment = dict(os.environ)
        if life is not None:
            environment |= {"LD_PRELOAD": str(LACK), "ROOF_LACKS": f"life {life}"}
        return subprocess.Popen([PROGRAM, *WORDS, f"{folder}/run"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def end(self, root, where):
        """What rank 0 said. Fails if it is silent, or failed without a reason."""
        try:
            _, said = root.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            root.kill()
            self.fail(f"rank 0 is silent after a kill at {where}")
        self.assertIn(root.returncode, (0, 1), said)
        if root.returncode == 1:
            self.assertIn("failed", said)
        return said

    def wait_for_ranks(self, root):
        """The seconds until all ranks were there."""
        begin = time.monotonic()
        while len(ranks_of(root.pid)) < 2 and root.poll() is None:
            time.sleep(0.001)
        return time.monotonic() - begin

    def kill_at_a_moment(self, chance, longest):
        """Whether a rank was there to be killed."""
        with tempfile.TemporaryDirectory() as folder, self.start(folder) as root:
            self.wait_for_ranks(root)
            delay = chance.uniform(0, longest)
            time.sleep(delay)
            ranks = ranks_of(root.pid)
            try:
                if ranks:
                    os.kill(chance.choice(ranks), signal.SIGKILL)
            except ProcessLookupError:
                ranks = []
            self.end(root, f"{delay:.3f} s")
            return bool(ranks)

    def until_killed(self, kills, kill):
        killed = sum(kill() for _ in range(kills))
        runs = kills
        while killed < kills and runs < 3 * kills:
            killed += kill()
            runs += 1
        print(f"{runs} runs, {killed} ranks killed, none silent", file=sys.stderr)
        self.assertEqual(kills, killed)

    def test_at_any_moment(self):
        chance = random.Random(1)
        with tempfile.TemporaryDirectory() as folder, self.start(folder) as root:
            self.wait_for_ranks(root)
            begin = time.monotonic()
            self.end(root, "no time")
            life = time.monotonic() - begin
            self.assertEqual(0, root.returncode)
        self.until_killed((KILLS + 1) // 2, lambda: self.kill_at_a_moment(chance, life))

    def test_at_any_call(self):
        """Each rank is killed at this call, if it gets there before another's end is noticed."""
        chance = random.Random(2)
        with tempfile.TemporaryDirectory() as folder, self.start(folder, life=1 << 40) as root:
            calls = [int(number) for number in re.findall(r"calls: (\d+)", self.end(root, "no call"))]
        self.assertEqual((4, 0), (len(calls), root.returncode))  # two ranks in each of two rows

        def kill():
            call = chance.randrange(min(calls))
            with tempfile.TemporaryDirectory() as folder, self.start(folder, life=call) as root:
                self.end(root, f"call {call}")
                return root.returncode == 1

        self.until_killed(KILLS // 2, kill)


if __name__ == "__main__":
    PROGRAM, LACK = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    if len(sys.argv) > 3:
        KILLS = int(sys.argv[3])
    unittest.main(argv=sys.argv[:1])

"""Kills a sweep, or lets a system call fail, at each call that changes a file; then the same command continues. No complete row is lost or
doubled, and the finished folder is whole.

usage: test_kills.py FAKE_ROOF INJECT [TRIES]
"""

import csv
import itertools
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOF = INJECT = None
TRIES = 150
PLAN = """name: kills
run:
  - {bench: train, model: [tinynet, widenet], batch: [4, 8, 16]}
  - {bench: flops}
"""
KILLS = ("kill-before", "kill-half", "kill-after")
FAILURES = ("28", "5", "4", "122")  # ENOSPC, EIO, EINTR, EDQUOT


def run(folder, *words, fault=None):
    environment = {**os.environ, "LD_PRELOAD": str(INJECT)}
    environment.pop("ROOF_FAULT", None)
    if fault is not None:
        environment["ROOF_FAULT"] = fault
    return subprocess.run([ROOF, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


def sweep(folder, fault=None):
    return run(folder, "sweep", "plan.yaml", "--out", "run", fault=fault)


def rows(folder, name="measurements.csv"):
    """The complete lines, without the column of the checksums."""
    file = folder / "run" / name
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return list(csv.reader(text[:text.rfind("\n") + 1].splitlines()))[1:]


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "plan.yaml").write_text(PLAN, encoding="utf-8")
            done = sweep(place)
            cls.calls = int(done.stderr.split("calls: ")[1].split()[0])
            cls.ids = [row[0] for row in rows(place)]
            cls.samples = [row[:-1] for row in rows(place, "samples.csv")]
        assert done.returncode == 0 and cls.calls > 20 and len(cls.ids) == 10, done.stderr

    def check(self, actions, second):
        chance = random.Random(1)
        tries = list(itertools.product(range(self.calls), actions))
        while len(tries) < TRIES:
            tries.append((chance.randrange(self.calls), chance.choice(actions)))
        if TRIES < len(tries):
            tries = chance.sample(tries, TRIES)
        for call, action in tries:
            with self.subTest(call=call, action=action), tempfile.TemporaryDirectory() as folder:
                self.survive(Path(folder), [f"{call} {action}"] + second(chance))

    def survive(self, place, faults):
        (place / "plan.yaml").write_text(PLAN, encoding="utf-8")
        for fault in faults:
            before = rows(place)
            done = sweep(place, fault)
            self.assertIn(done.returncode, (0, 1, 2, -9), done.stderr)
            if done.returncode > 0:
                self.assertTrue(done.stderr.splitlines()[-1].startswith("roof: "), done.stderr)
            self.assertEqual(before, rows(place)[:len(before)])
        before = rows(place)
        done = sweep(place)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(before, rows(place)[:len(before)])
        self.assertEqual(self.ids, [row[0] for row in rows(place)])
        self.assertEqual(self.samples, [row[:-1] for row in rows(place, "samples.csv")])
        checked = run(place, "check", "run")
        self.assertEqual(0, checked.returncode, checked.stdout)

    def test_a_kill_at_any_call_loses_no_complete_row(self):
        self.check(KILLS, lambda chance: [f"{chance.randrange(12)} {chance.choice(KILLS)}"] if chance.random() < 0.5 else [])

    def test_a_failing_call_loses_no_complete_row_and_is_told(self):
        self.check(FAILURES, lambda chance: [])


if __name__ == "__main__":
    ROOF, INJECT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    if len(sys.argv) > 3:
        TRIES = int(sys.argv[3])
    unittest.main(argv=sys.argv[:1])

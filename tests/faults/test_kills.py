"""Kills a sweep, its continuing or a report, or lets a system call fail, at each call that changes a file; then the same command runs again. No
complete row is lost or doubled, the finished folder is whole, and a page is the old one or the new one.

usage: test_kills.py FAKE_ROOF INJECT [TRIES]
"""

import csv
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
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


def report(folder, fault=None):
    return run(folder, "report", "run", "--out", "page.html", "--data", "data", fault=fault)


def rows(folder, name="measurements.csv"):
    """The complete lines."""
    file = folder / "run" / name
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return list(csv.reader(text[:text.rfind("\n") + 1].splitlines()))[1:]


def calls_in(done):
    return int(done.stderr.split("calls: ")[1].split()[0])


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.half, cls.whole = Path(cls.scratch.name, "half"), Path(cls.scratch.name, "whole")
        for place in (cls.half, cls.whole):
            place.mkdir()
            (place / "plan.yaml").write_text(PLAN, encoding="utf-8")
        done = sweep(cls.whole)
        cls.calls = {"sweep": calls_in(done)}
        cls.ids = [row[0] for row in rows(cls.whole)]
        cls.samples = rows(cls.whole, "samples.csv")
        assert done.returncode == 0 and cls.calls["sweep"] > 20 and len(cls.ids) == 10, done.stderr
        cls.calls["report"] = calls_in(report(cls.whole))
        cls.page = (cls.whole / "page.html").read_text(encoding="utf-8")
        sweep(cls.half, f"{cls.calls['sweep'] // 2} kill-half")
        with tempfile.TemporaryDirectory() as folder:
            cls.calls["continue"] = calls_in(sweep(shutil.copytree(cls.half, Path(folder, "copy"))))

    def check(self, actions, second):
        chance = random.Random(1)
        tries = [(stage, call, action) for stage, calls in self.calls.items() for call in range(calls) for action in actions]
        if TRIES < len(tries):
            tries = chance.sample(tries, TRIES)
        while len(tries) < TRIES:
            stage = chance.choice(list(self.calls))
            tries.append((stage, chance.randrange(self.calls[stage]), chance.choice(actions)))
        for stage, call, action in tries:
            with self.subTest(stage=stage, call=call, action=action), tempfile.TemporaryDirectory() as folder:
                place = Path(folder, "place")
                shutil.copytree(self.half if stage == "continue" else self.whole, place)
                if stage == "sweep":
                    shutil.rmtree(place / "run")
                if stage == "report":
                    self.survive_report(place, f"{call} {action}")
                else:
                    self.survive(place, [f"{call} {action}"] + second(chance))

    def survive(self, place, faults):
        for fault in faults:
            before = rows(place)
            done = sweep(place, fault)
            self.check_end(done)
            self.assertEqual(before, rows(place)[:len(before)])
            if done.returncode == 0:  # nothing was left out without a word
                self.assertNotIn("remark: ", run(place, "check", "run").stdout)
        before = rows(place)
        done = sweep(place)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(before, rows(place)[:len(before)])
        self.assertEqual(self.ids, [row[0] for row in rows(place)])
        self.assertEqual(self.samples, rows(place, "samples.csv"))
        self.assert_whole(place)

    def survive_report(self, place, fault):
        page = place / "page.html"
        page.write_text("the old page", encoding="utf-8")
        self.check_end(report(place, fault))
        self.assertIn(page.read_text(encoding="utf-8"), ("the old page", self.page))
        self.assertEqual(0, report(place).returncode)
        self.assertEqual(self.page, page.read_text(encoding="utf-8"))
        self.assert_whole(place)

    def check_end(self, done):
        self.assertIn(done.returncode, (0, 1, 2, -9), done.stderr)
        if done.returncode > 0:
            self.assertTrue(done.stderr.splitlines()[-1].startswith("roof: "), done.stderr)

    def assert_whole(self, place):
        checked = run(place, "check", "run")
        self.assertEqual(0, checked.returncode, checked.stdout)

    def test_a_kill_at_any_call_loses_no_complete_row(self):
        self.check(KILLS, lambda chance: [f"{chance.randrange(12)} {chance.choice(KILLS)}"] if chance.random() < 0.5 else [])

    def test_a_kill_while_an_end_is_moved_loses_nothing_of_it(self):
        def lines(place):
            """Of the file and of what was moved out of it."""
            texts = [file.read_text(encoding="utf-8") for file in (place / "run").glob("samples.csv*")]
            return Counter(line for text in texts for line in text.splitlines() if line)

        for call in range(24):  # the opening of the folder
            with self.subTest(call=call), tempfile.TemporaryDirectory() as folder:
                place = Path(folder, "place")
                shutil.copytree(self.half, place)
                with open(place / "run" / "samples.csv", "a", encoding="utf-8") as file:
                    file.write("of a row\nwithout an end")
                before = lines(place)
                self.check_end(sweep(place, f"{call} kill-before"))
                self.assertEqual(Counter(), before - lines(place))

    def test_a_failing_call_loses_no_complete_row_and_is_told(self):
        self.check(FAILURES, lambda chance: [])


if __name__ == "__main__":
    ROOF, INJECT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    if len(sys.argv) > 3:
        TRIES = int(sys.argv[3])
    unittest.main(argv=sys.argv[:1])

"""tools/bench_comparisons: the goals for intervals and verdicts are met on times of steps that are made here, and a worse rule misses them."""

import importlib.machinery
import importlib.util
import math
import os
import random
import stat
import statistics
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "bench_comparisons"
loader = importlib.machinery.SourceFileLoader("bench_comparisons", str(TOOL))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(bench)

#: Answers as a rule would that takes every step for independent: the quarters of all, and a verdict whenever the medians differ by 1%.
WORSE = """#!/usr/bin/env python3
import statistics, sys
for line in sys.stdin:
    a, b = (sorted(float(x) for process in side.split("|") for x in process.split()) for side in line.split(";")[:2])
    ratio = statistics.median(b) / statistics.median(a)
    middle, half = statistics.median(a), (a[3 * len(a) // 4] - a[len(a) // 4]) / len(a) ** 0.5
    print(middle - half, middle + half, "slower" if ratio > 1.01 else "faster" if ratio < 1 / 1.01 else "no difference shown")
"""


class Comparisons(unittest.TestCase):
    def test_the_goals_are_met(self):
        missed = [row for row in bench.table(Path(os.environ["ROOF_JUDGE"]), count=80, seed=20) if not row[-1]]
        self.assertEqual([], missed)

    def test_a_rule_that_takes_steps_for_independent_misses_them(self):
        with tempfile.TemporaryDirectory() as folder:
            judge = Path(folder) / "judge"
            judge.write_text(WORSE, encoding="utf-8")
            judge.chmod(judge.stat().st_mode | stat.S_IXUSR)
            missed = {row[0] for row in bench.table(judge, count=40, seed=20) if not row[-1]}
        self.assertIn("covered, 20 steps of one process", missed)
        self.assertIn("false verdicts, four times the spread", missed)

    def test_the_made_steps_have_the_correlation_and_the_median_that_is_said(self):
        draw = random.Random(3)
        for correlation in bench.CORRELATIONS:
            machine = bench.Machine(draw, "normal", correlation, 1, [])
            noise = machine.noise(20000)
            mean = sum(noise) / len(noise)
            squares = sum((x - mean) ** 2 for x in noise)
            shown = sum((x - mean) * (y - mean) for x, y in zip(noise, noise[1:])) / squares
            self.assertAlmostEqual(correlation, shown, delta=0.03)
            self.assertAlmostEqual(machine.within, math.sqrt(squares / len(noise)), delta=0.1 * machine.within)


    def test_machines_drift_as_is_said_and_what_was_seen_at_one_time_is_not_judged(self):
        draw = random.Random(4)
        machine = bench.Machine(draw, "normal", 0, 1, [], (12,))
        machine.between = machine.within = 0
        machine.is_clock = False
        speeds = [math.log(float(machine.run(1, 1, 1))) for _ in range(20000)]
        deviation = math.hypot(machine.of_arithmetic * machine.drifts[0], (1 - machine.of_arithmetic) * machine.drifts[1])
        self.assertAlmostEqual(deviation, statistics.stdev(speeds), delta=0.03 * deviation)
        for roof, drift in zip(zip(*[look.split("|") for look in (machine.looks() for _ in range(2000))]), machine.drifts):
            rates = [math.log(float(rate)) for look in roof for rate in look.split()[1:]]
            self.assertAlmostEqual(math.hypot(drift, bench.READING), statistics.stdev(rates), delta=0.03 * drift)
        once = [bench.Machine(draw, "normal", 0, 1, [], (1,)) for _ in range(20)]
        self.assertEqual(1, bench.judged(Path(os.environ["ROOF_JUDGE"]), once, 6, 33, 1.5)["not judged"])


if __name__ == "__main__":
    unittest.main()

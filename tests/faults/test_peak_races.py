"""Four processes ask for a peak at once, and their probes are whole, starved, killed, refused or damaged by chance. Each answers with the peak, a
bound that says so, or a reason; what is kept is right, or a later call measures again.

usage: test_peak_races.py FAKE_ROOF INJECT [RACES [SEED]]
"""

import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

ROOF = INJECT = None
RACES, SEED = 8, 1
PACKAGE = Path(__file__).resolve().parents[2] / "tools/python"
PEAK = 1e11  # of two threads of tests/fakes/fake_registry.hpp, and its memory
MEMORY = 5e10
ROWS = "run:\n  - {bench: flops, threads: 2, isa: [scalar, avx2]}\n  - {bench: bandwidth}\n"  # the first has a tenth of the rate
PLANS = {"whole": ROWS, "starved": "end_after_seconds: 0.001\n" + ROWS, "later starved": "end_after_seconds: 0.02\n" + ROWS}
#: In the place of the program: what becomes of a probe is what the variable FATE says.
PROGRAM = """#!/bin/sh
[ "$1" = calibrate ] || exec {roof} "$@"
shift
while [ "$1" != --out ]; do shift; done
case "$FATE" in
  refused) echo "roof: no thread could be started" >&2; exit 2 ;;
  killed) export LD_PRELOAD={inject} ROOF_FAULT="$AT kill-half"; FATE=whole ;;
  damaged) {roof} calibrate --plan "{place}/whole.yaml" --out "$2" --json; sed -i 's/[1-9]/0/' "$2/measurements.csv"; exit ;;
esac
exec {roof} calibrate --plan "{place}/$FATE.yaml" --out "$2" --json
"""
ASK = """
import roof
for name, ask in (("fp32", lambda: roof.peak("fp32", "cpu")), ("DRAM", lambda: roof.bandwidth("DRAM", "cpu"))):
    try:
        rate = ask()
        print(name, float(rate), " ".join(rate.reason.split()))
    except (RuntimeError, ValueError) as error:
        print(name, "told", " ".join(str(error).split()))
"""


class PeakRaces(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.place = Path(scratch.name)
        for name, text in PLANS.items():
            (self.place / f"{name}.yaml").write_text(text, encoding="utf-8")
        program = self.place / "roof"
        program.write_text(PROGRAM.format(roof=ROOF, inject=INJECT, place=self.place), encoding="utf-8")
        program.chmod(0o755)

    def ask(self, cache, fate, at=0):
        more = {"FATE": fate, "AT": str(at), "ROOF_PROGRAM": str(self.place / "roof"), "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(PACKAGE),
                "ROOF_CALIBRATION": "", "HOME": str(self.place)}
        return subprocess.Popen([sys.executable, "-B", "-c", ASK], cwd=self.place, env={**os.environ, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def answers(self, process):
        out, err = process.communicate(timeout=600)
        self.assertEqual(0, process.returncode, err)
        return dict(line.split(" ", 1) for line in out.splitlines())

    def test_what_is_kept_is_right_or_measured_again(self):
        chance = random.Random(SEED)
        seen = Counter()
        for race in range(RACES):
            cache = self.place / f"cache{race}"
            fates = [chance.choice(["whole", "starved", "later starved", "killed", "refused", "damaged"]) for _ in range(4)]
            with self.subTest(race=race, fates=fates):
                asked = [self.ask(cache, fate, chance.randrange(40)) for fate in fates]
                said = [self.answers(process) for process in asked]
                for answer in said:
                    for name, right in (("fp32", PEAK), ("DRAM", MEMORY)):
                        rate, _, reason = answer[name].partition(" ")
                        seen[rate == "told"] += 1
                        if rate != "told" and not math.isclose(float(rate), right, rel_tol=1e-6):
                            self.assertLess(float(rate), right)
                            self.assertIn("not measured", reason)
                kept = [one for one in (cache / "roof").iterdir() if one.is_dir()]
                self.assertLessEqual(len(kept), 1, kept)  # no rest of a killed probe of another process, either
                for one in kept:
                    os.utime(one, (0, 0))
                later = self.answers(self.ask(cache, "whole"))
                for name, right in (("fp32", PEAK), ("DRAM", MEMORY)):
                    self.assertAlmostEqual(1, float(later[name].split(" ")[0]) / right, 6, (said, later))
            if (race + 1) % 20 == 0 or race + 1 == RACES:
                print(f"{race + 1} races of four: {seen[False]} rates, {seen[True]} reasons", file=sys.stderr, flush=True)
        self.assertEqual(8 * RACES, sum(seen.values()))


if __name__ == "__main__":
    ROOF, INJECT = (Path(word).resolve() for word in sys.argv[1:3])
    RACES = int(sys.argv[3]) if len(sys.argv) > 3 else RACES
    SEED = int(sys.argv[4]) if len(sys.argv) > 4 else SEED
    unittest.main(argv=sys.argv[:1])

"""Several processes at once: reports to one page, sweeps of one folder, a report and a check while a sweep writes, a lock that is removed while two
sweeps run, fleets that make one digest. No file is torn, each error has a sentence that names the other process, and the same command then
finds or makes a whole folder.

usage: test_races.py FAKE_ROOF [RACES]
"""

import csv
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOF = None
RACES = 20
PLAN = """name: races
run:
  - {bench: train, model: [tinynet, widenet], batch: [4, 8, 16, 32, 64]}
  - {bench: flops}
  - {bench: bandwidth}
"""


def start(folder, *words):
    return subprocess.Popen([ROOF, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ends(processes):
    """The exit status and the last line of standard error of each."""
    said = [process.communicate(timeout=600) for process in processes]
    return [(process.returncode, (err.strip().splitlines() or [""])[-1]) for process, (_, err) in zip(processes, said)]


class Races(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.place = Path(scratch.name)
        self.chance = random.Random(1)
        (self.place / "plan.yaml").write_text(PLAN, encoding="utf-8")

    def sweep(self):
        return start(self.place, "sweep", "plan.yaml", "--out", "run")

    def finished(self):
        """Measures what is left; the folder is then whole and has each row once."""
        self.assertEqual([(0, "")], [(status, "") for status, _ in ends([self.sweep()])])
        checked = start(self.place, "check", "run")
        out, _ = checked.communicate()
        self.assertEqual(0, checked.returncode, out)
        with open(self.place / "run" / "measurements.csv", encoding="utf-8") as file:
            ids = [row[0] for row in csv.reader(file)][1:]
        self.assertEqual(len(ids), len(set(ids)))
        return ids

    def test_reports_to_one_page(self):
        self.finished()
        for _ in range(RACES):
            done = ends([start(self.place, "report", "run", "--out", "page.html", "--data", "data") for _ in range(6)])
            self.assertEqual([(0, "")] * 6, done)
            self.assertTrue((self.place / "page.html").read_text(encoding="utf-8").rstrip().endswith("</html>"))
        self.assertEqual([], list(self.place.rglob("*.part")))

    def test_sweeps_of_one_folder(self):
        ids = self.finished()
        for _ in range(RACES):
            shutil.rmtree(self.place / "run")
            for status, last in ends([self.sweep() for _ in range(4)]):
                if status != 0:
                    self.assertEqual(2, status)
                    self.assertIn("another run is writing to", last)
            self.assertEqual(sorted(ids), sorted(self.finished()))

    def test_a_report_and_a_check_while_a_sweep_writes(self):
        self.finished()
        for _ in range(RACES):
            shutil.rmtree(self.place / "run")
            sweep = self.sweep()
            readers = [start(self.place, *words) for words in (["report", "run", "--out", "page.html"], ["check", "run"]) * 2]
            for status, last in ends(readers):
                self.assertIn(status, (0, 2), last)  # 2: nothing is there yet
                if status == 2:
                    self.assertTrue(last.startswith("roof: "), last)
            self.assertEqual(0, ends([sweep])[0][0])
            self.finished()

    def test_a_lock_that_is_removed_while_sweeps_run(self):
        ids = self.finished()
        for _ in range(RACES):
            shutil.rmtree(self.place / "run")
            sweeps = []
            for _ in range(3):
                sweeps.append(self.sweep())
                for _ in range(self.chance.randrange(200)):
                    try:
                        os.unlink(self.place / "run" / ".lock")
                    except FileNotFoundError:
                        pass
            done = ends(sweeps) + ends([self.sweep()])  # the last one alone
            for status, last in done:
                if status == 2:
                    self.assertRegex(last, "another run is writing to|was removed or replaced|the folder is damaged")
                if status == 1:
                    self.assertRegex(last, "^roof: (damaged: |[0-9]+ more; `roof check run` names all)")
            if done[-1][0] == 0:
                self.assertEqual(sorted(ids), sorted(self.finished()))
            else:  # two wrote between two looks at the lock: no row is lost without a word
                checked = start(self.place, "check", "run")
                out, _ = checked.communicate()
                self.assertEqual(1, checked.returncode, (out, done))

    def test_fleets_that_make_one_digest(self):
        python = [os.environ.get("ROOF_PYTHON", "python3"), "-c", "import numpy, pandas, scipy.special"]
        if subprocess.run(python, capture_output=True, check=False).returncode != 0:
            self.skipTest("NumPy, SciPy or pandas is not installed")
        self.finished()
        for _ in range(RACES):
            (self.place / "run" / "digest.csv").unlink()
            done = ends([start(self.place, "fleet", ".") for _ in range(4)])
            self.assertEqual([(2, "")] * 4, done)  # one node is too few to judge
            self.assertTrue((self.place / "run" / "digest.csv").exists())


if __name__ == "__main__":
    ROOF = Path(sys.argv[1]).resolve()
    if len(sys.argv) > 2:
        RACES = int(sys.argv[2])
    unittest.main(argv=sys.argv[:1])

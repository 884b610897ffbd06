"""Takes something from a run: the clock, threads, /proc, space for files, address space. Each run must end by itself, without a signal, with
rows of a status or with a sentence of roof; the rows that it wrote are whole.

usage: test_environment.py RANKS_PROGRAM LACK
"""

import contextlib
import csv
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = LACK = None
LONGEST = 120  # seconds
TRAIN = ["run", "alexnet", "--batch", "2,4", "--threads", "2", "--steps", "3", "--data", "hashed", "--parameters", "hashed"]
CALIBRATE = ["calibrate", "--quick"]


class Unloaded(Exception):
    """The system's loader found too little space for the libraries, before roof began."""


class Environment(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.runs = 0

    def roof(self, words, lacks=None, limit=None):
        environment = {**os.environ, "HOME": self.scratch.name}
        if lacks:
            environment |= {"LD_PRELOAD": str(LACK), "ROOF_LACKS": lacks}
        done = subprocess.run([PROGRAM, *words], cwd=self.scratch.name, env=environment, capture_output=True, text=True, timeout=LONGEST,
                              check=False, preexec_fn=(lambda: resource.setrlimit(limit[0], (limit[1], limit[1]))) if limit else None)
        if "error while loading shared libraries" in done.stderr:
            raise Unloaded
        self.assertIn(done.returncode, (0, 1, 2), (words, lacks, limit, done.stderr))
        return done

    def rows(self, folder):
        file = Path(folder, "measurements.csv")
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        return list(csv.DictReader(text[:text.rfind("\n") + 1].splitlines()))

    def measure(self, words, **lack):
        """The rows and what was said. A run that does not end well says why, in a row or in a sentence."""
        self.runs += 1
        folder = f"{self.scratch.name}/run{self.runs}"
        done = self.roof([*words, "--out", folder], **lack)
        rows = self.rows(folder)
        for row in rows:
            self.assertTrue(row["status"] == "ok" or row["reason"], row)
        if done.returncode != 0:
            self.assertTrue("roof: " in done.stderr or any(row["status"] != "ok" for row in rows), (words, lack, done.stderr))
        return folder, rows, done

    def test_a_clock_that_stands_still_ends_the_run_or_the_row(self):
        for words in (TRAIN, CALIBRATE):
            folder, rows, done = self.measure(words, lacks="clock 0")
            self.assertEqual((1, []), (done.returncode, rows))
            self.assertIn("clock does not advance", done.stderr)
        for readings in (30, 100, 300, 1000, 10000):
            with self.subTest(readings=readings):
                self.measure(TRAIN, lacks=f"clock {readings}")

    def test_threads_that_cannot_be_started_fail_the_row(self):
        for words in (TRAIN, CALIBRATE):
            folder, rows, done = self.measure(words, lacks="threads 0")
            failed = [row["reason"] for row in rows if row["status"] == "failed"]
            self.assertEqual(1, done.returncode, done.stderr)
            self.assertTrue(any("threads cannot be started" in reason for reason in failed) or "roof: " in done.stderr, failed)
            for threads in range(1, 7):
                with self.subTest(words=words[0], threads=threads):
                    self.measure(words, lacks=f"threads {threads}")

    def test_without_proc_rows_are_measured_and_read(self):
        folder, rows, done = self.measure(TRAIN, lacks="proc")
        self.assertEqual((0, ["ok", "ok"]), (done.returncode, [row["status"] for row in rows]), done.stderr)
        for words in (["check", folder], ["report", folder]):
            self.assertEqual(0, self.roof(words, lacks="proc").returncode)

    def test_a_folder_without_a_batch_fails_its_row_and_the_sweep_goes_on(self):
        folder = Path(self.scratch.name, "images", "class")
        folder.mkdir(parents=True)
        (folder / "broken.jpg").write_text("no image", encoding="utf-8")
        Path(self.scratch.name, "plan.yaml").write_text(
            f"run:\n  - {{bench: train, model: alexnet, batch: 2, data: [{folder.parent}, hashed], parameters: hashed, threads: 1}}\n",
            encoding="utf-8")
        _, rows, done = self.measure(["sweep", "plan.yaml"])
        self.assertEqual((1, ["failed", "ok"]), (done.returncode, [row["status"] for row in rows]), done.stderr)
        self.assertIn("broken.jpg", rows[0]["reason"])

    def test_a_folder_without_images_is_refused_before_the_first_row(self):
        folder = Path(self.scratch.name, "empty")
        folder.mkdir()
        Path(self.scratch.name, "plan.yaml").write_text(
            f"run:\n  - {{bench: train, model: alexnet, batch: 2, data: [hashed, {folder}], parameters: hashed, threads: 1}}\n", encoding="utf-8")
        done = self.roof(["sweep", "plan.yaml", "--out", str(Path(self.scratch.name, "run"))])
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertIn(f"'{folder}'", done.stderr)
        self.assertFalse(Path(self.scratch.name, "run", "measurements.csv").exists())

    def test_a_limit_of_the_file_size_loses_no_row(self):
        for size in (0, 100, 1000, 4000, 10000, 14000, 20000):
            with self.subTest(size=size):
                folder, before, done = self.measure(TRAIN, limit=(resource.RLIMIT_FSIZE, size))
                if done.returncode != 0:
                    self.assertIn("roof: ", done.stderr)
                done = self.roof([*TRAIN, "--out", folder])
                after = self.rows(folder)
                self.assertEqual(0, done.returncode, done.stderr)
                self.assertEqual(["ok", "ok"], [row["status"] for row in after])
                self.assertEqual(before, after[:len(before)])
                self.assertEqual(0, self.roof(["check", folder]).returncode)

    def test_a_limit_of_the_address_space_is_told(self):
        tried = 0
        for megabytes in (100, 150, 200, 300, 500, 1000, 2000):
            limit = (resource.RLIMIT_AS, megabytes << 20)
            with self.subTest(megabytes=megabytes), contextlib.suppress(Unloaded):
                self.measure(TRAIN, limit=limit)
                tried += 1
        self.assertGreater(tried, 2)

    def test_a_row_without_memory_is_a_result_and_another_folder_tries_it_again(self):
        words = ["2,10000" if word == "2,4" else word for word in TRAIN]
        limit = (resource.RLIMIT_AS, 300 << 20)
        folder, before, _ = self.measure(words, limit=limit)
        self.assertEqual(["ok", "out_of_memory"], [row["status"] for row in before])
        wanted, available = re.search(r"needs ([\d.]+) MB, available are ([\d.]+) MB", before[1]["reason"]).groups()
        self.assertLess(float(available), min(float(wanted), 300))
        self.assertEqual(0, self.roof([*words, "--out", folder]).returncode)
        self.assertEqual(before, self.rows(folder))
        _, rows, _ = self.measure(words)
        self.assertEqual(["ok", "ok"], [row["status"] for row in rows])


if __name__ == "__main__":
    PROGRAM, LACK = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

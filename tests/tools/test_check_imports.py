"""tools/check_imports: the figures of an import beside those of a second reading."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/import/data"
ROOF = os.environ["ROOF_PROGRAM"]

# Imports with the real program, then drops the last kernel and the last copy.
WRONG = """#!/bin/sh
"{roof}" "$@" || exit
for file in kernels copies; do sed -i '$d' "$4/$file.csv"; done
"""


class CheckImports(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name) / "files"
        self.folder.mkdir()

    def check(self, roof=ROOF):
        return subprocess.run([sys.executable, "-B", ROOT / "tools/check_imports", self.folder, "--roof", roof],
                              capture_output=True, text=True, check=False)

    def test_the_figures_of_each_kind_of_file_agree(self):
        for name in ("kineto.json", "ncu_details.csv", "ncu_rules.csv", "perf.json"):
            shutil.copy(DATA / name, self.folder)
        base = sqlite3.connect(self.folder / "nsys.sqlite")
        base.executescript((DATA / "nsys.sql").read_text(encoding="utf-8"))
        base.close()
        done = self.check()
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn("of 4 files, 0 differ", done.stdout)
        self.assertIn("perf.json: skipped", done.stdout)
        for figure in ("H2D pinned to device, bytes", "gpu:0, seconds in kernels", "whole steps", "step, bytes"):
            self.assertIn(figure, done.stdout)

    def test_a_figure_that_differs_is_marked(self):
        shutil.copy(DATA / "kineto.json", self.folder)
        wrong = self.folder.parent / "roof"
        wrong.write_text(WRONG.format(roof=ROOF), encoding="utf-8")
        wrong.chmod(0o755)
        done = self.check(wrong)
        self.assertEqual(1, done.returncode, done.stdout)
        marked = [line.split("  ")[2] for line in done.stdout.splitlines() if line.endswith("DIFFERS")]
        self.assertIn("gpu:0, kernels", marked)

    def test_a_file_that_is_not_imported_fails_and_a_folder_without_files_of_tools_is_told(self):
        (self.folder / "other.txt").write_text("hello\n", encoding="utf-8")
        self.assertEqual(2, self.check().returncode)
        text = (DATA / "kineto.json").read_text(encoding="utf-8")
        (self.folder / "kineto.json").write_text(text.replace('"dur": 20.500', '"dur": -20.5'), encoding="utf-8")
        done = self.check()
        self.assertEqual(1, done.returncode, done.stdout)


if __name__ == "__main__":
    unittest.main()

"""tools/gpu_tables: the pages say what the calibration in results/examples holds. ROOF_PROGRAM: the program."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("gpu_tables", str(ROOT / "tools/gpu_tables"))
tables = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_tables", LOADER))
LOADER.exec_module(tables)


class Pages(unittest.TestCase):
    def test_say_what_follows_from_the_files(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "tools" / "gpu_tables", "--check", "--roof", os.environ["ROOF_PROGRAM"]],
                              capture_output=True, text=True, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stdout), done.stderr)


class Texts(unittest.TestCase):
    one = {"rate_median_per_s": "7696931024913", "rate_low_per_s": "7696931024913", "rate_high_per_s": "", "unit": "B/s", "steadiness": "at least",
           "kind": "bandwidth", "level": "L2", "operation": "load", "precision": "", "isa": "cg", "condition": "", "working_set_bytes": "1",
           "rounds": "3", "clock_median_hz": "1.98e9"}

    def test_of_rates_show_three_digits_and_no_end_of_a_lower_bound(self):
        self.assertEqual("≥ 7.70 TB/s", tables.rate_text(self.one))
        steady = {**self.one, "steadiness": "steady", "rate_low_per_s": "7.6e12", "rate_high_per_s": "12e12"}
        self.assertEqual("7.70 TB/s [7.60, 12.00]", tables.rate_text(steady))
        self.assertEqual("132 TB/s [132, 133]", tables.rate_text({**steady, "rate_median_per_s": "131.9e12", "rate_low_per_s": "131.8e12",
                                                                  "rate_high_per_s": "132.6e12"}))

    def test_of_a_table_have_the_rate_per_clock_and_its_share_of_the_guide(self):
        machine = ("devices:\n  - name: cpu\n  - name: gpu:0\n    facts:\n      multiprocessors: 100\n    spec_rates:\n"
                   '      - {kind: bandwidth, level: L2, operation: load, isa: cg, precision: "", per_clock: 50, source: "a guide"}\n')
        text = tables.table_of([{**self.one, "rate_median_per_s": "7.92e12"}], machine)
        self.assertIn("| L2 load (cg) | ≥ 7.92 TB/s | 3 | at least | 1.98 GHz | 40 | 80.0% |", text)


if __name__ == "__main__":
    unittest.main()

"""tools/gpu_tables: the pages say what the calibration in results/examples holds. ROOF_PROGRAM: the program."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
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


    def test_beside_another_card_take_its_ceiling_of_the_same_name_and_of_the_same_place_in_the_list(self):
        machine = "multiprocessors: 100\n- name: gpu:0\n"
        words = {**self.one, "level": "words", "operation": "stride_1", "isa": "", "condition": "words", "steadiness": "at least"}
        first, second = {**words, "working_set_bytes": "3e7", "rate_median_per_s": "6e12"}, {**words, "working_set_bytes": "2.4e8", "rate_median_per_s": "3e12"}
        other = [{**words, "working_set_bytes": "2.5e7", "rate_median_per_s": "4e12"}, {**words, "working_set_bytes": "2e8", "rate_median_per_s": "2e12"}]
        text = tables.beside([first, second, self.one], other, machine)
        self.assertIn("| words stride_1 (words), half the L2 | ≥ 4.00 TB/s | ≥ 6.00 TB/s | 1.500 |", text)
        self.assertIn("| words stride_1 (words), four times the L2 | ≥ 2.00 TB/s | ≥ 3.00 TB/s | 1.500 |", text)
        self.assertIn("| L2 load (cg) | - | ≥ 7.70 TB/s | - |", text)


class Runs(unittest.TestCase):
    def test_kernels_are_milliseconds_of_a_step_by_layer_and_phase(self):
        head = "layer,phase,correlation,duration_s\n"
        runs = tables.gpu_runs
        with tempfile.TemporaryDirectory() as scratch:
            before, after = Path(scratch) / "1-aaaaaaaaaaaa", Path(scratch) / "2-bbbbbbbbbbbb"
            for of, lines in ((before, "h.0.mlp,forward,1,0.001\nh.11.mlp,forward,1,0.002\nh.0.mlp,forward,2,0.005\n"), (after, "h.0.mlp,forward,7,0.0015\nnew,update,7,0.0001\n")):
                of.mkdir()
                (of / "kernels.csv").write_text(head + lines, encoding="utf-8")
            with unittest.mock.patch.multiple(runs, BEFORE=before, AFTER=after):
                text = runs.of_kernels()
        self.assertIn("| layer | phase | aaaaaaaa, ms | bbbbbbbb, ms |", text)
        self.assertIn("| blocks: mlp | forward | 4.00 | 1.50 |", text)  # 8 ms of two steps
        self.assertIn("| new | update | 0.00 | 0.10 |", text)
        self.assertIn("| all |  | 4.00 | 1.60 |", text)

    def test_numbers_have_three_digits(self):
        self.assertEqual(["1.60", "24.0", "145", "0.175"], [tables.gpu_runs.three(value) for value in (1.5965, 23.99, 145.4, 0.17493)])


if __name__ == "__main__":
    unittest.main()

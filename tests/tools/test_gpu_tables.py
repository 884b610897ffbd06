"""tools/gpu_tables: the pages say what the calibration in results/examples holds. ROOF_PROGRAM: the program."""
import importlib.machinery
import importlib.util
import os
import re
import statistics
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


class Prose(unittest.TestCase):
    """Figures beside the tables: those that a person wrote into a sentence."""
    runs = tables.gpu_runs

    def has(self, page, *figures):
        text = " ".join((ROOT / "results/examples" / page).read_text(encoding="utf-8").split())
        for figure in figures:
            self.assertTrue(figure in text, f"{page} does not say: {figure}")

    def test_of_the_h100_follows_from_its_calibration(self):
        (folder,) = (path for path in tables.EXAMPLES.iterdir() if path.is_dir())
        rows, samples = self.runs.rows(folder), self.runs.rows(folder, "samples.csv")
        capped = [float(row["clock_median_hz"] or 0) for row in rows if "power cap" in row["remarks"]]
        clocks = [float(sample["clock_hz"] or 0) for sample in samples]
        over = [clock for clock in clocks if clock > 1.005 * 1.98e9]
        self.has("nvidia-h100-80gb-hbm3.md", f"the power cap in {len(capped)} rows",
                 f"in {sum(clock >= 1.975e9 for clock in capped)} of them the clock",
                 f"{len(over)} of its {len(clocks):,} samples", f"(to {max(clocks) / 1e9:.2f} GHz)")

    def test_of_the_h200s_steps_follows_from_their_rows(self):
        (gpt2,), (llama,), (resnet,) = map(self.runs.rows, (self.runs.AFTER, self.runs.TRAINED[4], self.runs.TRAINED[3]))
        low = re.match(r"the clock was below 98% of 1.98 GHz (in \d+ of \d+ launches, down to [\d.]+ GHz)", gpt2["remarks"])
        slower = re.search(r"tracing made a launch [\d.]+% slower", gpt2["remarks"])
        clock = statistics.median(float(sample["clock_hz"]) for sample in self.runs.rows(self.runs.AFTER, "samples.csv"))
        rounds = tables.pages.rows(ROOT / "results/examples/training-h200.csv")
        ours = [statistics.median(map(float, row["steps"].split())) for row in rounds if row["who"] == "roof"]
        self.has("nvidia-h200.md", low[1], slower[0], f"its median clock is {clock / 1e9:.4g} GHz where",
                 f"{float(resnet['compulsory_bytes']) / 1e9:.1f} GB, where",
                 f"{float(llama['compulsory_bytes']) / 1e9:.2f} GB take",
                 f"{16 * 1024 / statistics.median(ours) / 1000:.0f},000 tokens/s of ours")

    def waited(self, size, path):
        found = [row for row in self.runs.rows(self.runs.MORE) if (row["bench"], row["path"]) == ("latency", path)
                 and abs(float(row["working_set_bytes"]) / 1e6 - size) < 1]
        return f"{1e9 * self.runs.LINE / self.runs.median_rate(found):.0f}"

    def loads(self, path, low=0, high=100):
        """TB/s past the L1, of each set between so many megabytes."""
        rates = {}
        for row in self.runs.rows(self.runs.MORE):
            if (row["bench"], row["isa"], row["path"]) == ("bandwidth", "cg", path):
                rates.setdefault(float(row["working_set_bytes"]) / 1e6, []).append(row)
        return [f"{self.runs.median_rate(rows) / 1e12:.1f}" for size, rows in rates.items() if low < size < high]

    def ends(self, path, low=0, high=100):
        return " to ".join(end(self.loads(path, low, high), key=float) for end in (min, max))

    def test_of_the_h200s_l2_follows_from_more_ceilings(self):
        near, far, beyond = self.waited(25, "alone"), self.waited(42, "alone"), self.waited(67, "alone")
        self.has("nvidia-h200.md", f"waits {near} ns up to 25 MB, {far} at 42 and 50 MB, and {beyond} at 67 MB",
                 f"memory has {self.waited(268, '')}")
        self.has("gpu.md", f"{self.ends('readers:4')} by 4, {self.ends('readers:8')} TB/s by 8",
                 f"{', '.join(self.loads('readers:4', 40))} by 4; {', '.join(self.loads('readers:1', 40))} by 1",
                 f"{self.ends('readers:all', 0, 26)} up to 25 MB, {self.ends('readers:all', 26)} beyond",
                 f"{near} ns up to 25 MB (277 cycles)", f"at 67 MB: {beyond} ns")


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

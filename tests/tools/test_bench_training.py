"""tools/bench_training: programs are visited in turns, PyTorch at its best, and ratios are those of one round."""

import importlib.machinery
import importlib.util
import io
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True

LOADER = importlib.machinery.SourceFileLoader("bench_training", str(ROOT / "tools/bench_training"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_training", LOADER))
LOADER.exec_module(bench)

# Stands for both programs: as PyTorch it answers requests, as roof it prints one row; each call is noted in a file.
FAKE = """\
import json, sys
who, log, words = sys.argv[1], sys.argv[2], sys.argv[3:]
def note(text):
    with open(log, "a") as file: file.write(who + " " + text + "\\n")
def option(name): return words[words.index(name) + 1]
if who == "torch":
    if "--compile" in words: sys.exit("needs PyTorch 2")
    slow = option("--layout") == "contiguous"
    print(json.dumps({"ready": True, "torch": "9.9", "layout": option("--layout"), "compiled": False, "sgd": "fused"}), flush=True)
    for line in sys.stdin:
        note(option("--layout") + " " + line.strip())
        print(json.dumps({"seconds": [0.4 if slow else 0.2] * int(line), "peak_memory_bytes": 2000}), flush=True)
else:
    note(option("--algorithm") + " " + option("--steps"))
    if option("--algorithm") == "winograd": print(json.dumps({"rows": [{"status": "unsupported", "reason": "none here"}]})); sys.exit()
    seconds = 0.05 if option("--algorithm") == "auto" else 0.1
    print(json.dumps({"rows": [{"status": "ok", "step_seconds": {"median": seconds}, "peak_memory_bytes": 1000, "remarks": None}]}))
"""


def visit(number, who, seconds, algorithm="direct", fraction=""):
    return bench.Visit(number, who, "net", 4, "fp32", algorithm if who == "roof" else "", seconds, 1000.0, fraction, "", "")


class Compares(unittest.TestCase):
    def test_within_rounds(self):
        visits = [visit(1, "torch", 2.0), visit(1, "roof", 1.0), visit(2, "torch", 8.0), visit(2, "roof", 4.0),
                  visit(3, "torch", 3.0), visit(3, "roof", 1.0)]
        (found,) = bench.compare(visits)
        self.assertEqual((2.0, 2.0, 3.0, 3), (found.ratio, found.low, found.high, found.rounds))

    def test_leaves_out_rows_without_a_peer(self):
        self.assertEqual([], bench.compare([visit(1, "roof", 1.0)]))

    def test_shows_means_by_algorithm_and_the_least_row(self):
        visits = [visit(1, "torch", 4.0), visit(1, "roof", 2.0, fraction=0.5), visit(1, "roof", 1.0, "auto")]
        text = bench.table(bench.compare(visits))
        self.assertIn("fp32 direct: geometric mean 2.000 over 1 rows; least 2.000 (net, batch 4)", text)
        self.assertIn("fp32 auto: geometric mean 4.000", text)
        self.assertIn("50%", text)

    def test_reads_what_it_writes(self):
        visits = [visit(1, "torch", 2.0), visit(1, "roof", 1.0, fraction=0.25)]
        with tempfile.TemporaryDirectory() as folder:
            bench.write_csv(f"{folder}/visits.csv", visits)
            self.assertEqual(visits, bench.read_csv(f"{folder}/visits.csv"))


class Measures(unittest.TestCase):
    def run_it(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            fake, log = Path(folder) / "fake.py", Path(folder) / "log"
            fake.write_text(FAKE, encoding="utf-8")
            command = f"{sys.executable} {fake}"
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err):
                status = bench.main(["--models", "net", "--batches", "4", "--roof", f"{command} roof {log}",
                                     "--python", f"{command} torch {log}", "--seconds", "1", *arguments])
            calls = log.read_text(encoding="utf-8").split("\n") if log.exists() else []
            return status, out.getvalue(), err.getvalue(), calls

    def test_in_turns_with_the_fastest_pytorch(self):
        status, out, _, calls = self.run_it("--rounds", "2", "--algorithms", "direct,auto")
        self.assertEqual(0, status)
        self.assertEqual(["torch channels_last 5", "roof direct 6", "roof auto 6"] * 2, calls[-7:-1])
        self.assertIn("torch contiguous 3", calls)
        self.assertIn("geometric mean 2.000", out)
        self.assertIn("geometric mean 4.000", out)
        self.assertIn("torch 9.9, channels_last, fused SGD", out)

    def test_leaves_out_what_cannot_be_had(self):
        status, out, err, _ = self.run_it("--rounds", "1", "--algorithms", "winograd,direct")
        self.assertEqual(0, status)
        self.assertIn("none here", err)
        self.assertNotIn("winograd", out)

    def test_says_what_is_missing(self):
        done = subprocess.run([sys.executable, "-I", "-S", ROOT / "tools/peers/torch_step.py", "--model", "alexnet",
                               "--batch", "1"], capture_output=True, text=True, check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("pip install torch", done.stderr)
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            status = bench.main(["--models", "alexnet", "--batches", "1", "--python", f"{sys.executable} -I -S"])
        self.assertEqual(2, status)
        self.assertIn("pip install torch", err.getvalue())


if __name__ == "__main__":
    unittest.main()

"""tools/bench_training: programs run in turns, PyTorch in its fastest variant, and ratios use values of one round."""

import argparse
import importlib.machinery
import importlib.util
import io
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))

from training import curve, programs, sets, table  # pylint: disable=wrong-import-position

LOADER = importlib.machinery.SourceFileLoader("bench_training", str(ROOT / "tools/bench_training"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_training", LOADER))
LOADER.exec_module(bench)

# Replaces both programs: as PyTorch it answers requests; as roof it prints one row and writes its samples. Each call is
# logged to a file.
FAKE = """\
import json, os, sys
who, log, words = sys.argv[1], sys.argv[2], sys.argv[3:]
def note(text):
    with open(log, "a") as file: file.write(who + " " + text + "\\n")
def option(name): return words[words.index(name) + 1]
def sample(seconds, used): return f"train,{seconds},0,0,0,0,1,,,{used}\\n"
if who == "torch":
    if "--compile" in words: sys.exit("needs PyTorch 2")
    slow = option("--layout") == "contiguous"
    print(json.dumps({"ready": True, "torch": "9.9", "layout": option("--layout"), "compiled": False, "optimizer": "fused SGD"}), flush=True)
    for line in sys.stdin:
        note(option("--layout") + " " + line.strip())
        print(json.dumps({"seconds": [0.4 if slow else 0.2] * int(line), "peak_memory_bytes": 2000}), flush=True)
else:
    note(option("--algorithm") + " " + option("--steps"))
    if option("--algorithm") == "winograd": print(json.dumps({"rows": [{"status": "unsupported", "reason": "none here"}]})); sys.exit()
    seconds = 0.05 if option("--algorithm") == "auto" else 0.1
    os.makedirs(option("--out"))
    with open(option("--out") + "/samples.csv", "w") as file:
        file.write("id,launch_s,data_s,forward_s,backward_s,update_s,loss,clock_hz,disturbance,used\\n" + sample(9, 0))
        file.write(sample(seconds, 1) * (int(option("--steps")) - 1))
    print(json.dumps({"rows": [{"status": "ok", "time_median_s": seconds, "remarks": None}]}))
"""


def round(number, who, steps, algorithm="direct", fraction=""):
    return table.Round(number, who, "net", 4, "fp32", algorithm if who == "roof" else "", steps, 1000.0, fraction, "", "")


class Sets(unittest.TestCase):
    def test_ratios_are_those_of_the_medians_within_a_round(self):
        found = {("auto", 0): [1.0, 2.0, 1.0], ("auto", 1): [1.1, 2.2, 1.1], ("direct", 0): [2.0, 4.0, 2.0], ("direct", 1): [2.2, 4.4, 2.2]}
        text = sets.as_text(found, {})
        self.assertIn("upper end of the intervals 1.100", text)
        self.assertIn("auto over direct: 0.500 [0.500, 0.500]", text)

    def test_choices_are_judged_by_what_the_other_sets_measured(self):
        """Two passes. Set 1 chose b for the second by a disturbed time of a; the others measured 2 s of a and 3 s of b."""
        kept = [({"a": 1.0, "b": 9.0}, {"a": 8.0, "b": 3.5}, "b"), ({"a": 1.0}, {"a": 2.0, "b": 3.0}, "a"), ({"a": 1.5}, {"a": 2.5}, "a")]
        with tempfile.TemporaryDirectory() as folder:
            for number, (first, second, chosen) in enumerate(kept):
                path = Path(folder, str(number), "roof", "machine", "convolutions.csv")
                path.parent.mkdir(parents=True)
                lines = [f"{shape},forward,{name},{'decided' if name == best else ''},{2 * least} {least}"
                         for shape, times, best in (("one", first, "a"), ("two", second, chosen)) for name, least in times.items()]
                path.write_text("\n".join(["shape,pass,implementation,choice,seconds", *lines, "one,\"forward, direct\",b,decided,0.1"]),
                                encoding="utf-8")
            choices = {number: sets.choices_of(Path(folder, str(number))) for number in range(3)}
        over = sets.by_other_sets(choices)
        self.assertAlmostEqual((1.0 + 3.0) / (1.0 + 2.0), over[0])
        self.assertAlmostEqual(1, over[1])
        self.assertAlmostEqual(1, over[2])

    def test_each_set_has_its_own_cache_and_one_run_before_the_rounds(self):
        calls = []

        def run(_options, row, steps, _folder, *_more, cache):
            calls.append((row.algorithm, steps, cache.name))
            return [0.5] * steps, 0, {}

        options = bench.parse_arguments(["--sets", "2", "--models", "net", "--batches", "4", "--rounds", "3", "--seconds", "2"])
        with unittest.mock.patch.object(sets, "run_roof", run), redirect_stdout(io.StringIO()) as out:
            sets.compare(options, unittest.mock.Mock())
        self.assertEqual(sorted(calls[:4]), [("auto", 1, "cache-0"), ("auto", 1, "cache-1"),
                                             ("direct", 1, "cache-0"), ("direct", 1, "cache-1")])
        self.assertEqual(len(calls), 4 + 3 * 4)
        self.assertEqual({steps for _, steps, _ in calls[4:]}, {4})
        self.assertIn("upper end of the intervals 1.000", out.getvalue())


class OnGpu(unittest.TestCase):
    def options(self, *more):
        return bench.parse_arguments(["--device", "gpu:0", *more])

    def test_the_usual_modes_are_those_of_the_device(self):
        self.assertEqual([("fp32", "auto"), ("tf32", "auto"), ("bf16", "auto")], self.options().modes)
        self.assertIn(("fp32", "direct"), bench.parse_arguments([]).modes)
        self.assertEqual([("fp16", "gemm")], self.options("--modes", "fp16:gemm").modes)

    def test_pytorch_is_tried_with_and_without_a_graph_in_both_layouts(self):
        choice = programs.Choice(self.options("--python", "p"))
        ways = [way for _, way in choice.variants("net", "bf16")]
        self.assertEqual(4, len(ways))
        self.assertEqual(2, sum("--graph" in way for way in ways))
        compiled = [way for _, way in choice.compiled("net", "bf16", ("p", ("--layout", "channels_last", "--graph")))]
        self.assertEqual([("--layout", "channels_last", "--compile"), ("--layout", "channels_last", "--graph", "--compile"),
                          ("--layout", "channels_last", "--compile", "max-autotune")], compiled)
        tokens = [way for _, way in choice.compiled("gpt2@1024", "bf16", ("p", ("--layout", "contiguous", "--compile", "max-autotune", "--padded")))]
        self.assertEqual([("--layout", "contiguous", "--compile"), ("--layout", "contiguous", "--compile", "max-autotune")],
                         [way for way in tokens if "--padded" not in way])
        self.assertEqual(4, len(tokens))
        self.assertEqual(("--device", "cuda"), programs.torch_device(self.options()))

    def test_roof_gets_the_device_and_no_threads(self):
        self.assertEqual(("--device", "gpu:0"), programs.our_device(self.options()))
        self.assertEqual(("--threads", "2"), programs.our_device(bench.parse_arguments(["--threads", "2"])))


class FakeTorch:
    """A PyTorch that is twice as fast when compiled."""

    def __init__(self, _options, _python, _model, _batch, _precision, way):
        self.seconds = 1.0 if "--compile" in way else 2.0

    def steps(self, count):
        return {"seconds": [self.seconds] * count}

    def close(self):
        pass


class Chooses(unittest.TestCase):
    def test_a_compiled_winner_is_tried_again_at_the_next_batch(self):
        with unittest.mock.patch.object(programs, "Torch", FakeTorch):
            choice = programs.Choice(bench.parse_arguments(["--python", "p"]))
            for batch in (4, 8, 16):
                _, seconds = choice.fastest("net", batch, "fp32", 1)
                self.assertEqual(1.0, seconds)
                self.assertIn("--compile", choice.last["net", "fp32"][0][1])


    def test_a_slow_step_takes_the_variant_of_the_batch_before(self):
        with unittest.mock.patch.object(programs, "Torch", FakeTorch):
            said = []
            choice = programs.Choice(bench.parse_arguments(["--python", "p"]), said.append)
            choice.start("net", 4, "fp32")
            tried = len(said)
            torch, seconds = choice.start("net", 16, "fp32")
            self.assertEqual((4.0, 1.0, tried), (seconds, torch.seconds, len(said)))


class Compares(unittest.TestCase):
    def test_within_rounds(self):
        rounds = [round(1, "torch", (2.0,)), round(1, "roof", (1.0,)), round(2, "torch", (8.0,)), round(2, "roof", (4.0,)),
                  round(3, "torch", (3.0,)), round(3, "roof", (1.0,))]
        (found,) = table.compare(rounds)
        self.assertEqual((2.0, 2.0, 3.0, 3, 0.75), found.ratio)
        self.assertIn("Intervals cover 75% or more.", table.as_text([found]))

    def test_leaves_out_rows_without_a_peer(self):
        self.assertEqual([], table.compare([round(1, "roof", (1.0,))]))

    def test_shows_means_by_algorithm_and_the_least_row(self):
        rounds = [round(1, "torch", (4.0,)), round(1, "roof", (2.0,), fraction=0.5), round(1, "roof", (1.0,), "auto")]
        for text in (table.as_text(table.compare(rounds)), table.as_markdown(table.compare(rounds))):
            self.assertIn("fp32 direct: geometric mean 2.000 over 1 rows; least 2.000 (net, batch 4)", text)
            self.assertIn("fp32 auto: geometric mean 4.000", text)
            self.assertIn("50%", text)

    def test_reads_what_it_writes(self):
        rounds = [round(1, "torch", (2.0, 2.5)), round(1, "roof", (1.0,), fraction=0.25)]
        with tempfile.TemporaryDirectory() as folder:
            for one in rounds:
                table.keep(f"{folder}/rounds.csv", [one])
            self.assertEqual(rounds, table.read(f"{folder}/rounds.csv"))

    def test_puts_the_table_between_the_marks_of_a_page(self):
        found = table.compare([round(1, "torch", (2.0,)), round(1, "roof", (1.0,))])
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(f"before\n{table.MARKS[0]}\nold\n{table.MARKS[1]}\nafter\n", encoding="utf-8")
            table.write_page(page, found)
            text = page.read_text(encoding="utf-8")
            self.assertIn("| net | fp32 direct | 2.00 [2.00, 2.00] |", text)
            self.assertNotIn("old", text)
            self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
            page.write_text("no marks", encoding="utf-8")
            self.assertRaises(ValueError, table.write_page, page, found)


class Budgets(unittest.TestCase):
    GROUP = bench.Group("net", 4, "fp32", ("direct", "auto"))

    def orders(self, words, *left):
        left = iter(left)

        class Left:
            left = property(lambda _: next(left))
        return list(bench.orders_for(self.GROUP, bench.parse_arguments(words), Left()))

    def test_give_the_rounds_in_turns(self):
        turn = ["torch", "direct", "auto"]
        self.assertEqual([turn, turn[::-1], turn], self.orders(["--rounds", "3"]))

    def test_end_with_their_time_after_two_rounds_and_with_seven(self):
        self.assertEqual(2, len(self.orders(["--minutes", "1"], -1)))
        self.assertEqual(3, len(self.orders(["--minutes", "1"], 5, -1)))
        self.assertEqual(7, len(self.orders(["--minutes", "1"], *[5] * 9)))


class Curves(unittest.TestCase):
    def test_are_drawn_both_and_smoothed(self):
        self.assertEqual([4.0, 3.0, 1.0], curve.smooth([4.0, 2.0, 0.0], over=2))
        drawn = curve.picture({"roof": [3.0, 2.0], "PyTorch": [3.0, 1.0]}, "net")
        self.assertEqual(4, drawn.count("<polyline"))
        self.assertIn(">PyTorch<", drawn)


class Measures(unittest.TestCase):
    def run_it(self, *arguments, times=1):
        with tempfile.TemporaryDirectory() as folder:
            fake, log, kept = Path(folder) / "fake.py", Path(folder) / "log", Path(folder) / "rounds.csv"
            fake.write_text(FAKE, encoding="utf-8")
            command = f"{sys.executable} {fake}"
            for _ in range(times):
                log.write_text("", encoding="utf-8")
                out, err = io.StringIO(), io.StringIO()
                with redirect_stdout(out), redirect_stderr(err):
                    status = bench.main(["--models", "net", "--batches", "4", "--roof", f"{command} roof {log}", "--csv",
                                         str(kept), "--python", f"{command} torch {log}", "--seconds", "1", *arguments])
            calls = log.read_text(encoding="utf-8").split("\n")[:-1]
            return status, out.getvalue(), err.getvalue(), calls

    def test_in_turns_with_the_fastest_pytorch(self):
        status, out, _, calls = self.run_it("--rounds", "2", "--modes", "fp32:direct,fp32:auto")
        self.assertEqual(0, status)
        turn = ["torch channels_last 5", "roof direct 6", "roof auto 6"]
        self.assertEqual([*turn, *reversed(turn)], calls[-6:])
        self.assertTrue(any(call.startswith("torch contiguous") for call in calls))
        self.assertIn("geometric mean 2.000", out)
        self.assertIn("geometric mean 4.000", out)
        self.assertIn("torch 9.9, channels_last, eager, fused SGD", out)

    def test_continues_where_it_was_stopped(self):
        status, out, err, calls = self.run_it("--rounds", "1", "--modes", "fp32:direct", times=2)
        self.assertEqual((0, []), (status, calls))
        self.assertIn("geometric mean 2.000", out)
        self.assertIn("0 groups", err)

    def test_does_not_retry_a_variant_that_lost_at_a_smaller_batch(self):
        _, _, _, calls = self.run_it("--rounds", "1", "--modes", "fp32:direct", "--batches", "4,8")
        self.assertEqual(1, sum(call.startswith("torch contiguous") for call in calls))

    def test_measures_only_the_requested_rows(self):
        status, out, _, _ = self.run_it("--rounds", "1", "--modes", "fp32:direct", "--batches", "4,8", "--rows", "*:8")
        self.assertEqual(0, status)
        self.assertIn("over 1 rows; least 2.000 (net, batch 8)", out)

    def test_plan_prints_the_time_and_measures_nothing(self):
        status, out, err, calls = self.run_it("--plan", "--minutes", "5")
        self.assertEqual((0, ""), (status, out))
        self.assertEqual([], calls)
        self.assertRegex(err, "2 groups of rows are to be measured, 0 rounds are there; about 5 min\n  net, batch 4, fp32: direct, auto\n")

    def test_divides_the_minutes_among_the_groups(self):
        status, _, _, calls = self.run_it("--minutes", "0.0001", "--modes", "fp32:direct", "--batches", "4,8")
        self.assertEqual(0, status)
        self.assertEqual(["roof direct 2"] * 4, [call for call in calls if call.startswith("roof")])

    def test_runs_the_onnx_file_that_has_a_network_s_name(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "net.onnx").touch()
            options = argparse.Namespace(networks=Path(folder))
            self.assertEqual(str(Path(folder) / "net.onnx"), programs.network_of(options, "net"))
            self.assertEqual("other", programs.network_of(options, "other"))
            self.assertEqual("net", programs.network_of(argparse.Namespace(networks=None), "net"))

    def test_leaves_out_unsupported_rows(self):
        status, out, err, _ = self.run_it("--rounds", "1", "--modes", "fp32:winograd,fp32:direct")
        self.assertEqual(0, status)
        self.assertIn("none here", err)
        self.assertNotIn("winograd", out)

    def test_reports_what_is_missing(self):
        done = subprocess.run([sys.executable, "-I", "-S", ROOT / "tools/peers/torch_step.py", "--model", "alexnet",
                               "--batch", "1"], capture_output=True, text=True, check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("pip install torch", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            fake, log = Path(folder) / "fake.py", Path(folder) / "log"
            fake.write_text(FAKE, encoding="utf-8")
            err = io.StringIO()
            with redirect_stdout(io.StringIO()), redirect_stderr(err):
                status = bench.main(["--models", "net", "--batches", "1", "--roof", f"{sys.executable} {fake} roof {log}",
                                     "--python", f"{sys.executable} -I -S"])
            self.assertEqual(2, status)
            self.assertIn("pip install torch", err.getvalue())


if __name__ == "__main__":
    unittest.main()

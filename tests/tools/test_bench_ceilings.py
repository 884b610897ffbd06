"""tools/bench_ceilings: the output of each peer is parsed correctly, and a ratio uses values of one round."""

import importlib.machinery
import importlib.util
import io
import json
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True

import measuring
import pages
from ceilings import answers, programs, tables
from ceilings.answers import Quantity

LOADER = importlib.machinery.SourceFileLoader("bench_ceilings", str(ROOT / "tools/bench_ceilings"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_ceilings", LOADER))
LOADER.exec_module(bench)

STREAM = """\
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           25000.5     0.006512     0.006400     0.006700
Scale:          17000.0     0.009400     0.009300     0.009500
Add:            19000.0     0.012600     0.012500     0.012700
Triad:          24800.0     0.012100     0.012000     0.012200
"""
BABELSTREAM = """\
Function    MBytes/sec  Min (sec)   Max         Average
Copy        26000.123   0.02065     0.02154     0.02100
Mul         25800.041   0.02080     0.02154     0.02110
Triad       25900.910   0.03110     0.03162     0.03130
Dot         29400.789   0.01826     0.01878     0.01850
"""
CPUFP = """\
Number Threads: 1
---------------------------------------------------------------
| Instruction Set | Core Computation       | Peak Performance |
| AMX_BF16        | MM(f32,bf16,bf16)      | 2.8132 TFLOPS    |
| AVX512_BF16     | DP2A(f32,bf16,bf16)    | 235.1 GFLOPS     |
| AVX512_VNNI     | DP4A(s32,u8,s8)        | 0.4702 TOPS      |
| AVX512F         | FMA(f32,f32,f32)       | 117.3 GFLOPS     |
| AVX512F         | FMA(f64,f64,f64)       | 58.7 GFLOPS      |
| FMA             | FMA(f64,f64,f64)       | 58.8 GFLOPS      |
| AVX             | ADD(MUL(f64,f64),f64)  | 58.1 GFLOPS      |
---------------------------------------------------------------
"""
CPUFP_LENGTHS = """
| Instruction Set | Vector Length | Core Computation      | Peak Performance |
|-----------------|---------------|-----------------------|------------------|
| AVX512_VNNI     | 512b          | DP4A(s32,u8,s8)       | 673.15 GOPS      |
| AVX512F         | 512b          | FMA(f64,f64,f64)      | 86.149 GFLOPS    |
| FMA             | 256b          | FMA(f64,f64,f64)      | 60.121 GFLOPS    |
| AVX512F         | 512b          | ADD(MUL(f64,f64),f64) | 120.92 GFLOPS    |
"""

CPUFP_OLD = """\
| Instruction Set | Data Type | Peak Performance |
| AVX_VNNI        | INT8      | 590.31 GOPS      |
| FMA             | FP32      | 149.87 GFLOPS    |
"""
MIXBENCH = """\
------------------------------- CSV data -------------------------------
Experiment ID, Single Precision ops,,,,              Double precision ops,,,,              Integer operations,,,
Compute iters, Flops/byte, ex.time,  GFLOPS, GB/sec, Flops/byte, ex.time,  GFLOPS, GB/sec, Iops/byte, ex.time,   GIOPS, GB/sec
            0,      0.250,   30.50,    7.00,  28.00,      0.125,   61.00,    3.50,  28.50,     0.250,   30.0,     7.10,  28.40
            1,      0.750,   30.10,   21.00,  28.20,      0.375,   60.00,   10.50,  28.10,     0.750,   30.0,    21.10,  28.10
           64,     32.250,    0.00,     inf,    inf,     16.125,   61.00,   57.50,   3.60,    32.250,   30.0,    91.10,   2.80
------------------------------------------------------------------------
"""
ERT = 'Gathering the final roofline results...\n' + json.dumps({"empirical": {
    "gflops": {"data": [["FP64 GFLOPs", 70.9]]}, "gbytes": {"data": [["L1", 396.0], ["DRAM", 46.0]]}}})

ERT_CURVE = """\
fp64
 16000 16777216 37.4 37.6 38.1 680.0 690.0 685.0 0.89 0.89 0.89
 20000 8388608 19.3 19.3 19.3 720.0 720.0 720.0 1.73 1.73 1.73
 65536 524288 19.3 19.3 19.3 500.0 500.0 500.0 1.73 1.73 1.73
 400000000 1 9000.5 9000.5 9000.5 44.0 44.0 44.0 2.75 2.75 2.75

META_DATA
FLOPS          1
"""


def ceiling(kind, level, operation, median, isa="best", precision=None, threads=1, condition=None):
    return {"kind": kind, "level": level, "operation": operation, "precision": precision, "isa": isa,
            "threads": threads, "condition": condition, "median": median, "low": median, "high": median}


CALIBRATION = {
    "machine": {"isa": ["scalar", "sse", "avx2"], "threads": 2},
    "levels_by_threads": [{"device": "cpu", "name": "L1", "threads": 1, "from_bytes": 8000, "to_bytes": 32000},
                          {"device": "cpu", "name": "DRAM", "threads": 2, "from_bytes": 1e8, "to_bytes": 4e8}],
    "ceilings": [ceiling("bandwidth", "L1", "load", 200e9), ceiling("bandwidth", "L1", "load", 90e9, condition="small"),
                 ceiling("compute", "core", "fma", 5e9, "scalar", "fp64"),
                 ceiling("compute", "core", "fma", 50e9, "avx2", "fp64"),
                 ceiling("compute", "core", "best", 75e9, "avx2", "fp64"), ceiling("latency", "L1", "latency", 1e9)],
}


class Answers(unittest.TestCase):
    def test_stream_and_babelstream_use_our_names_for_our_operations(self):
        self.assertEqual({"copy": 25000.5e6, "triad": 24800e6}, answers.parse_stream(STREAM))
        self.assertEqual({"copy": 26000.123e6, "triad": 25900.910e6, "load": 29400.789e6},
                         answers.parse_stream(BABELSTREAM))

    def test_cpufp_gives_the_best_of_each_operation_and_precision(self):
        self.assertEqual({("tile", "bf16"): 2813.2e9, ("dot", "bf16"): 235.1e9, ("dot", "int8"): 470.2e9, ("fma", "fp32"): 117.3e9,
                          ("fma", "fp64"): 58.8e9, ("mul+add", "fp64"): 58.1e9}, answers.parse_cpufp(CPUFP))
        self.assertEqual({("dot", "int8"): 673.15e9, ("fma", "fp64"): 86.149e9, ("mul+add", "fp64"): 120.92e9},
                         answers.parse_cpufp(CPUFP_LENGTHS))
        self.assertEqual({("dot", "int8"): 590.31e9, ("fma", "fp32"): 149.87e9}, answers.parse_cpufp(CPUFP_OLD))

    def test_mixbench_gives_the_highest_finite_rates(self):
        self.assertEqual({("fma", "fp32"): 21e9, ("fma", "fp64"): 57.5e9, ("load", ""): 28.5e9},
                         answers.parse_mixbench(MIXBENCH))

    def test_ert_gives_updates_and_a_roof(self):
        self.assertEqual({("L1", "update", ""): 396e9, ("DRAM", "update", ""): 46e9, ("core", "roof", "fp64"): 70.9e9},
                         answers.parse_ert(ERT))

    def test_the_curve_of_ert_is_read_at_our_working_sets(self):
        curve = answers.parse_ert_curve(ERT + "\n" + ERT_CURVE)
        self.assertEqual([(16000, 690e9), (20000, 720e9), (65536, 500e9), (400000000, 44e9)], curve)
        self.assertEqual(720e9, answers.at_working_set(curve, 17000))
        self.assertIsNone(answers.at_working_set(curve, 1000))
        self.assertEqual({("L1", "update", ""): 396e9, ("DRAM", "update", ""): 46e9, ("core", "roof", "fp64"): 70.9e9},
                         answers.parse_ert(ERT + "\n" + ERT_CURVE))

    def test_roof_gives_the_best_instruction_set_without_conditions(self):
        self.assertEqual({Quantity("L1", "load", "", 1): 200e9, Quantity("core", "fma", "fp64", 1): 50e9,
                          Quantity("core", "best", "fp64", 1): 75e9, Quantity("core", "roof", "fp64", 1): 75e9},
                         answers.parse_roof(CALIBRATION))

    def test_a_copy_of_roof_is_the_faster_with_either_kind_of_stores(self):
        copies = {"ceilings": [ceiling("bandwidth", "DRAM", "copy", 12e9), ceiling("bandwidth", "DRAM", "copy_nt", 21e9)]}
        self.assertEqual({"copy": 21e9, "copy_nt": 21e9},
                         {quantity.operation: rate for quantity, rate in answers.parse_roof(copies).items()})

    def test_other_output_gives_nothing(self):
        for parse in (answers.parse_stream, answers.parse_cpufp, answers.parse_mixbench):
            self.assertEqual({}, parse("Segmentation fault\n"))


class Comparing(unittest.TestCase):
    LOAD = Quantity("L1", "load", "", 1)

    def samples(self, ours, theirs):
        return [sample for who, rates in (("roof", ours), ("peer", theirs)) for n, rate in enumerate(rates)
                for sample in tables.samples_of(n, who, {self.LOAD: rate})]

    def test_divides_within_a_round_and_takes_the_median(self):
        found, = tables.compare(self.samples([10, 20, 90], [10, 10, 30]))
        self.assertEqual((2, 1, 3, 3), found.ratio[:4])

    def test_uses_rounds_in_which_both_were_measured(self):
        found, = tables.compare(self.samples([10, 20], [5]))
        self.assertEqual((2, 1), (found.ratio.median, found.ratio.rounds))
        self.assertEqual([], tables.compare(self.samples([], [5])))

    def test_has_the_interval_of_order_statistics(self):
        for count, low, high in ((5, 1, 5), (6, 1, 6), (10, 2, 9)):
            self.assertEqual((low, high), measuring.ratio_of((n, 1) for n in range(1, count + 1))[1:3])
        self.assertAlmostEqual(1 - 2 * 11 / 1024, measuring.ratio_of([(1, 1)] * 10).coverage)

    def test_counts_the_quantities_behind_the_peer(self):
        text = tables.as_text(tables.peers_table(tables.compare(self.samples([9, 9], [10, 10]))))
        self.assertIn("0 of 1 are not behind", text)
        self.assertIn("0.900", text)


class Agreement(unittest.TestCase):
    def calibration(self, low, high, operation="load"):
        found = ceiling("bandwidth", "L1", operation, low)
        found.update(low=low, high=high)
        return {"ceilings": [found]}

    def test_agreement_is_of_overlapping_intervals(self):
        self.assertEqual((1, 1), tables.agreement([self.calibration(9, 11), self.calibration(10.5, 12)]))
        self.assertEqual((0, 1), tables.agreement([self.calibration(9, 10), self.calibration(11, 12)]))

    def test_compares_calibrations_in_a_row(self):
        three = [self.calibration(9, 10), self.calibration(11, 12), self.calibration(11, 12)]
        self.assertEqual((1, 2), tables.agreement(three))
        self.assertEqual((0, 0), tables.agreement([self.calibration(9, 10), self.calibration(9, 10, "copy")]))

    def test_time_is_shown_relative_to_ours(self):
        seconds = [(1, "roof", 10), (2, "roof", 12), (3, "roof", 11), (1, "stream", 22)]
        samples = [sample for number, who, value in seconds for sample in tables.samples_of(number, who, {tables.WALL_TIME: value})]
        samples += tables.samples_of(1, "stream", {Quantity("DRAM", "copy", "", 1): 5e10})
        self.assertEqual([("roof", "11.0 s", "1.0x", "0", "3"), ("stream", "22.0 s", "2.0x", "1", "1")],
                         tables.time_table(samples).rows)

    def test_repeatability_has_width_and_spread_by_kind(self):
        calibrations = [{"ceilings": [dict(ceiling("bandwidth", "L1", "load", rate), low=0.99 * rate, high=1.01 * rate),
                                      ceiling("compute", "core", "fma", 50, precision="fp64")],
                         "levels_by_threads": [{"device": "cpu", "name": name, "threads": 1} for name in ("L1", "DRAM")]}
                        for rate in (100, 101, 110)]
        table = tables.repeatability_table(calibrations)
        self.assertEqual([("L1", "2", "50.0%", "1.00%", "100%", "0%", "9.90%"),
                          ("arithmetic", "2", "100.0%", "0.00%", "100%", "0%", "0.00%"),
                          ("all", "4", "75.0%", "0.50%", "100%", "0%", "4.95%")], table.rows)
        self.assertIn("3 of 4 ceilings (75%) agree", table.foot)
        self.assertIn("L1 DRAM: in 3 of 3 sweeps", table.foot)

    def test_a_lower_bound_has_no_width_and_is_counted_apart(self):
        bound = dict(ceiling("bandwidth", "L1", "load", 120), low=115, high=None)
        closed = [dict(bound, median=rate, low=0.99 * rate, high=1.01 * rate) for rate in (100, 110)]
        table = tables.repeatability_table([{"ceilings": [c]} for c in (bound, *closed)])
        self.assertEqual(("L1", "2", "0.0%", "1.00%", "100%", "33%", "18.18%"), table.rows[0])
        self.assertIn("without lower bounds 0 of 1 (0%)", table.foot)
        self.assertEqual("-", tables.half_width([bound]))


class Theory(unittest.TestCase):
    def calibration(self, share, verdict="steady", isa="avx2", samples=None):
        found = ceiling("compute", "core", "fma", 50 * share, isa, "fp64")
        found.update(share_of_spec=share, per_clock_and_core=16 * share, spec_per_clock_and_core=16, steadiness=verdict)
        other = dict(found, isa="scalar", median=5)
        return {"ceilings": [found, other, ceiling("bandwidth", "DRAM", "load", 50)], "samples": samples}

    def test_is_the_median_over_rounds_of_the_fastest_instruction_set(self):
        table = tables.theory_table([self.calibration(0.9, "unsteady"), self.calibration(1), self.calibration(0.99)])
        self.assertEqual([("core", "fma", "fp64", "avx2", "1", "15.84", "16", "99.0%", "[90.0%, 100.0%]",
                           "3", "steady (2 of 3)")], table.rows)
        self.assertIn("Farthest from the spec: core fp64 fma, 1 thread, 99.0%.", table.foot)

    def test_lists_one_thread_first_and_the_core_before_its_caches(self):
        places = [("bandwidth", "L1", "load", None, 2), ("bandwidth", "L1", "load", None, 1), ("compute", "core", "fma", "fp64", 1)]
        self.assertEqual(places[::-1], sorted(places, key=tables.order_of))

    def test_is_empty_without_spec_rates(self):
        self.assertIsNone(tables.theory_table([{"ceilings": [ceiling("bandwidth", "DRAM", "load", 50)]}]))
        self.assertIsNone(tables.theory_table([]))

    def test_interference_is_the_share_of_disturbed_samples_with_causes(self):
        rounds = [self.calibration(1, samples={"taken": 60, "disturbed": {"a core was shared": 30}}),
                  self.calibration(1, samples={"taken": 40, "disturbed": {"a core was shared": 5, "stolen": 10}})]
        self.assertEqual("45% of our samples disturbed (a core was shared 35%, stolen 10%)", tables.interference_of(rounds))
        self.assertEqual("", tables.interference_of([self.calibration(1)]))
        samples = [tables.Sample(number, "roof", *tables.WALL_TIME, 18.0) for number in (1, 2)]
        self.assertIn("2 rounds", bench.setting_of([dict(one, machine={}) for one in rounds], samples))
        self.assertTrue(bench.setting_of([dict(one, machine={}) for one in rounds], samples).endswith("stolen 10%)."))


class Command(unittest.TestCase):
    def call(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            status = bench.main(list(arguments))
        return status, out.getvalue(), err.getvalue()

    def test_without_peers_is_an_error(self):
        status, _, err = self.call()
        self.assertEqual(2, status)
        self.assertIn("skipped: stream (give its command with --stream)", err)
        self.assertIn("no peer is given", err)

    def test_interleaves_keeps_the_rounds_and_reads_them_back(self):
        with tempfile.TemporaryDirectory() as folder:
            roof, stream, rates = (Path(folder) / name for name in ("roof", "stream", "rates.csv"))
            document = dict(CALIBRATION, ceilings=[ceiling("bandwidth", "DRAM", "copy", 50e9)])
            roof.write_text(json.dumps(document), encoding="utf-8")
            stream.write_text(STREAM, encoding="utf-8")
            status, out, err = self.call("--roof", f"sh -c 'cat {roof}'", "--stream", f"cat {stream}", "--cpufp",
                                         "/nowhere/cpufp", "--rounds", "2", "--csv", str(rates))
            self.assertEqual(0, status, err)
            self.assertIn("left out from here on: cpufp: /nowhere/cpufp", err)
            self.assertIn("2.000", out)
            self.assertTrue(out.startswith(self.call("--from", str(rates))[1]))
            self.assertIn("stream", out.split("wall time")[1])
            self.assertNotIn("agree with the calibration before", out)  # peers run between the calibrations

    def test_gives_a_slow_peer_one_round_and_reports_that_its_time_is_used(self):
        with tempfile.TemporaryDirectory() as folder:
            roof, stream = (Path(folder) / name for name in ("roof", "stream"))
            roof.write_text(json.dumps(CALIBRATION), encoding="utf-8")
            stream.write_text(STREAM, encoding="utf-8")
            _, out, err = self.call("--roof", f"sh -c 'cat {roof}'", "--stream", f"sh -c 'sleep 0.01; cat {stream}'",
                                    "--rounds", "3", "--peer-seconds", "0")
            self.assertRegex(err, r"left out from here on: stream: \d+ of its 0 s are used")
            self.assertRegex(out, r"stream +0\.\d s .* 1\n")

    def test_puts_each_table_between_its_marks(self):
        with tempfile.TemporaryDirectory() as folder:
            roof, stream, page = (Path(folder) / name for name in ("roof", "stream", "page.md"))
            document = dict(CALIBRATION, ceilings=[ceiling("bandwidth", "DRAM", "copy", 50e9)])
            roof.write_text(json.dumps(document), encoding="utf-8")
            stream.write_text(STREAM, encoding="utf-8")
            command = ("--roof", f"sh -c 'cat {roof}'", "--rounds", "2", "--page", str(page))
            marks = {name: pages.marks_of(name, "bench_ceilings") for name in ("peers", "time", "repeatability")}
            page.write_text("head\n" + "\n".join("\nold\n".join(pair) for pair in marks.values()) + "\ntail\n", encoding="utf-8")
            self.assertEqual(0, self.call(*command, "--stream", f"cat {stream}")[0])
            text = page.read_text(encoding="utf-8")
            self.assertTrue(text.startswith("head\n") and text.endswith("\ntail\n"))
            self.assertEqual(1, text.count("old"))
            self.assertIn("| DRAM | copy | stream | 50 GB/s | 25 GB/s | 2.000 | [2.000, 2.000] |", text)
            self.assertEqual(0, self.call(*command, "--ourselves")[0])
            again = page.read_text(encoding="utf-8")
            self.assertEqual(text.split(marks["time"][1])[0], again.split(marks["time"][1])[0])
            self.assertIn("1 of 1 ceilings (100%) agree", again)
            self.assertNotIn("old", again)
            page.write_text("no marks", encoding="utf-8")
            status, _, err = self.call(*command, "--ourselves")
            self.assertEqual(2, status)
            self.assertIn("lacks the marks <!-- repeatability", err)

    def test_compares_with_half_a_minute_of_our_own_search(self):
        with tempfile.TemporaryDirectory() as folder:
            roof, page = Path(folder) / "roof", Path(folder) / "page.md"
            levels = [{"device": "cpu", "name": name, "threads": 1, "from": 1, "to": 2} for name in ("L1", "L2", "L3", "DRAM")]
            document = dict(CALIBRATION, levels_by_threads=levels, ceilings=[ceiling("bandwidth", "L3", "load", 95e9),
                                                                            ceiling("bandwidth", "L2", "load", 50e9)])
            table = ("kind,level,operation,threads,rate_median_per_s,condition\n"
                     "bandwidth,L3,load,1,90e9,\nbandwidth,L3,load,1,100e9,\nbandwidth,L3,load,1,200e9,small pages\n"
                     "bandwidth,L2,load,1,99e9,\nlatency,L3,latency,1,9,\n")
            roof.write_text(f"""#!/bin/sh
case $1 in
  calibrate) echo '{json.dumps(document)}';;
  report) while [ "$1" != --data ]; do shift; done; mkdir "$2"; printf '{table}' > "$2/ceilings.csv";;
esac
""", encoding="utf-8")
            roof.chmod(0o755)
            marks = pages.marks_of("search", "bench_ceilings")
            page.write_text("\n".join(marks), encoding="utf-8")
            status, out, err = self.call("--roof", str(roof), "--search", str(roof), "--rounds", "2", "--page", str(page))
            self.assertEqual(0, status, err)
            self.assertIn("| L3 | load | search | 95 GB/s | 100 GB/s | 0.950 | [0.950, 0.950] |", page.read_text(encoding="utf-8"))
            self.assertIn("L3 0.950, least 0.950", out)
            self.assertNotIn("99 GB/s", out)  # L2 is private, so neighbours do not share it

    def test_runs_bare_loops_at_the_working_sets_of_our_ceilings(self):
        with tempfile.TemporaryDirectory() as folder:
            roof, bare, page = (Path(folder) / name for name in ("roof", "bare", "page.md"))
            document = dict(CALIBRATION, ceilings=[dict(ceiling("bandwidth", "L1", "load", 198e9), working_set_bytes=24000.0),
                                                   ceiling("bandwidth", "L1", "copy", 90e9)])
            document["machine"] = dict(document["machine"], versions={"revision": "abc123"})
            roof.write_text(json.dumps(document), encoding="utf-8")
            bare.write_text("for i in $@; do echo $i 2e11; done", encoding="utf-8")
            page.write_text("\n".join(pages.marks_of("bare", "bench_ceilings")), encoding="utf-8")
            status, _, err = self.call("--roof", f"sh -c 'cat {roof}'", "--bare", f"sh {bare}", "--rounds", "2", "--page", str(page))
            self.assertEqual(0, status, err)
            self.assertIn("| L1 | load | bare | 198 GB/s | 200 GB/s | 0.990 | [0.990, 0.990] |",
                          page.read_text(encoding="utf-8"))
            self.assertIn("revision abc123", page.read_text(encoding="utf-8"))
            self.assertEqual(["load:24000", "store:16000", "copy:16000", "update:16000", "triad:16000"],
                             list(programs.bare_points(document)))

    def test_runs_likwid_at_the_working_sets_of_our_ceilings(self):
        """The stand-in answers as likwid-bench 5.2.2 does; it has no test for the store of AVX, and cannot run two threads of its peak."""
        with tempfile.TemporaryDirectory() as folder:
            roof, likwid, asked = (Path(folder) / name for name in ("roof", "likwid", "asked"))
            document = dict(CALIBRATION, ceilings=[dict(ceiling("bandwidth", "L1", "load", 192e9), working_set_bytes=24600.0),
                                                   ceiling("bandwidth", "DRAM", "copy", 40e9, threads=2), ceiling("compute", "core", "fma", 50e9, "avx2", "fp64")])
            roof.write_text(json.dumps(document), encoding="utf-8")
            likwid.write_text(f"""echo "$@" >> {asked}
case "$*" in
  -a) printf 'load_avx - Load\nload_sse - Load\nload_avx512 - Load\ncopy_avx - Copy\ncopy_mem_avx - Copy\nstore_sse - Store\npeakflops_avx_fma - FMA\n';;
  *peakflops*kB:2*) exit 1;;
  *peakflops*) printf 'Test: peakflops_avx_fma\nMFlops/s:\t\t25000.00\nMByte/s:\t\t100.00\n';;
  *copy_mem*) printf 'Test: copy_mem_avx\nMFlops/s:\t\t0.00\nMByte/s:\t\t50000.00\n';;
  *) printf 'Test: load_avx\nMFlops/s:\t\t0.00\nData volume (Byte):\t2380800000\nMByte/s:\t\t32000.00\n';;
esac
""", encoding="utf-8")
            status, out, err = self.call("--roof", f"sh -c 'cat {roof}'", "--likwid", f"sh {likwid}", "--rounds", "1")
            self.assertEqual(0, status, err)
            rows = [line.split() for line in out.splitlines() if " likwid " in line and line.split()[0] != "likwid"]
            self.assertEqual([["DRAM", "copy", "-", "2", "40", "GB/s", "likwid", "50", "GB/s", "0.800"],
                              ["L1", "load", "-", "1", "192", "GB/s", "likwid", "32", "GB/s", "6.000"],
                              ["core", "fma", "fp64", "1", "50", "GFLOP/s", "likwid", "25", "GFLOP/s", "2.000"]], [row[:10] for row in rows])
            lines = asked.read_text(encoding="utf-8").splitlines()
            # 24 KiB are 24,576 bytes, 0.2 s at 192 GB/s are 1,562,500 passes of them; the middle of 8,000 and 32,000 bytes is 16,000: 15 KiB.
            self.assertIn("-t load_avx -W N:25kB:1 -i 1562500", lines)
            self.assertIn("-t store_sse -W N:15kB:1 -s 1", lines)
            self.assertIn("-t copy_avx -W N:399999kB:2 -i 20", lines)  # 390,624 KiB, in whole KiB of two threads
            self.assertNotIn("copy_mem_avx -W N:15kB", "".join(lines))  # in a cache nothing bypasses it

    def test_refuses_no_rounds(self):
        with self.assertRaises(SystemExit) as refusal:
            self.call("--rounds", "0")
        self.assertEqual(2, refusal.exception.code)


if __name__ == "__main__":
    unittest.main()

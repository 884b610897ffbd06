"""Units, numbers, and work by the metrics of Nsight Compute and CUPTI."""

import unittest

from roof.importing import counted
from roof.importing.counted import count_work, families

STEM = "sm__ops_path_tensor_src_"


def executed(operation):
    return f"smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum"


class Quantities(unittest.TestCase):
    def test_units_prefixes_and_quotients(self):
        for text, factor, name in (("Kbyte", 1e3, "byte"), ("MiB", 1048576, "byte"), ("GBytes", 1e9, "byte"), ("nsecond", 1e-9, "s"),
                                   ("usecond", 1e-6, "s"), ("ms", 1e-3, "s"), ("msec", 1e-3, "s"), ("Ghz", 1e9, "Hz"), ("MFLOP/s", 1e6, "FLOP/s"),
                                   ("Gbyte/second", 1e9, "byte/s"), ("cycle/nsecond", 1e9, "cycle/s"), ("1/ns", 1e9, "/s"), ("cluster", 1, "cluster"),
                                   ("Kbyte/pass", 1e3, "byte/pass"), ("", 1, ""), ("%", 0.01, "")):
            found = counted.unit(text)
            self.assertIsNotNone(found, text)
            self.assertAlmostEqual(found[0] / factor, 1, 12)
            self.assertEqual(found[1], name)
        for text in ("furlong", "kbyte", "Kcluster", "Mpass", "byte/furlong", "KB"):
            self.assertIsNone(counted.unit(text), text)

    def test_numbers_are_read_only_in_the_style_of_their_file(self):
        for text, value in (("1,234,567.5", 1234567.5), ("117.344", 117.344), ("4.0e-05", 4e-5), ("-3", -3), ("1000000", 1e6), ("12,34,567", 1234567),
                            ("1\u202f234", 1234), ("4’000’000.5", 4000000.5)):
            self.assertEqual(counted.number(text), value, text)
        self.assertEqual(counted.number("1.234.567,5", ","), 1234567.5)
        self.assertEqual(counted.number("117.344", ","), 117344)
        self.assertEqual(counted.number("1 234,5", ","), 1234.5)
        for wrong in ("", "-", "n/a", "nan", "inf", "12,34", "1,2345", ",123", "1.2.3", "0x10", "1e", "1e999", "1e101", "5 ", "1,234 567", "١٢"):
            self.assertIsNone(counted.number(wrong), wrong)
        for text, mark in (("27.595.520", ","), ("27,595,520", "."), ("1.234,5", ","), ("1,234.5", "."), ("45,31", ","), ("1,234", ""), ("1234", "")):
            self.assertEqual(counted.mark_of(text), mark, text)


class Counted(unittest.TestCase):
    def test_a_multiply_add_counts_twice_and_pairs_for_each_of_the_two(self):
        counts = {"fadd": 10, "fmul": 20, "ffma": 30, "fadd2": 1, "fmul2": 1, "ffma2": 1, "hadd": 1, "hmul": 10, "hfma": 100}
        work = count_work({executed(name): (count, "inst") for name, count in counts.items()})
        self.assertEqual((work.flops, max(work.flops, key=work.flops.get)), ({"fp32": 90 + 8, "fp16": 2 + 20 + 400}, "fp16"))
        older = count_work({executed(name).replace("smsp__", "sm__"): (count, "inst") for name, count in list(counts.items())[:3]})
        self.assertEqual(older.flops, {"fp32": 90})
        half = count_work({executed("fadd"): (10, "inst")})
        self.assertEqual(half.flops, {})
        self.assertIn("fmul and ffma not counted", half.missing[0])

    def test_a_sum_of_tensor_cores_and_its_parts_are_never_added(self):
        work = count_work({STEM + "fp16_dst_fp32.sum": (100, ""), STEM + "fp16_dst_fp32_sparsity_off.sum": (100, ""), STEM + "int8.sum": (7, ""),
                           "sm__ops_path_tensor_op_hmma_src_fp16.sum": (100, "")})
        self.assertEqual(work.flops, {"fp16": 100})
        parts = {STEM + "tf32_dst_fp32_sparsity_off.sum": (60, ""), STEM + "tf32_dst_fp32_sparsity_on.sum": (40, "")}
        self.assertEqual(count_work(parts).flops, {"tf32": 100})
        self.assertIn("counts instructions", count_work({"sm__inst_executed_pipe_tensor.sum": (5, "inst")}).missing[0])
        self.assertIn("the precision is unknown", count_work({STEM + "fp3.sum": (5, "")}).missing[0])

    def test_a_precision_that_no_metric_counts_is_named(self):
        scalar = {executed(name): (1, "inst") for name in ("dadd", "dmul", "dfma")}
        self.assertIn("FLOPs of tensor cores: there is no metric", count_work(scalar).missing)
        hopper = {**scalar, **{STEM + name + ".sum": (0, "") for name in ("fp16", "bf16_dst_fp32", "tf32_dst_fp32")}}
        self.assertIn("FLOPs of tensor cores in fp64, fp8, int8: there is no metric", count_work(hopper).missing)
        whole = {**hopper, **{STEM + name + ".sum": (0, "") for name in ("fp64_sparsity_off", "fp8", "int8")}}
        self.assertFalse([one for one in count_work(whole).missing if "tensor" in one])

    def test_bytes_are_a_total_both_directions_or_sectors(self):
        for metrics, amount in (({"dram__bytes.sum": (5, "byte")}, 5), ({"dram__sectors.sum": (2, "sector")}, 64),
                                ({"dram__bytes_read.sum": (5, "byte"), "dram__bytes_write.sum": (6, "byte")}, 11),
                                ({"dram__bytes_op_read.sum": (5, "byte"), "dram__bytes_op_write.sum": (6, "byte")}, 11),
                                ({"dram__sectors_read.sum": (5, "sector"), "dram__sectors_write.sum": (6, "sector")}, 352)):
            self.assertEqual(count_work(metrics).moved, amount)
        for metrics, sentence in (({"dram__bytes_read.sum": (5, "byte")}, "only one direction was counted"),
                                  ({"dram__bytes.sum": (5, "byte/s")}, "there is no metric")):
            self.assertIsNone(count_work(metrics).moved)
            self.assertIn(f"bytes at DRAM: {sentence}", count_work(metrics).missing)

    def test_every_chip_has_the_quantities_of_the_table(self):
        for family in families():
            metrics, flops, moved, value = {}, {}, 0.0, 1.0
            for name, one in family.items():
                value *= 1.7  # no two sums alike
                kind, _, of = one["quantity"].partition(".")
                metrics[name] = value, ("sector" if "_sectors_" in name else {"time": "s", "bytes": "byte", "flops": "inst"}.get(kind, "op"))
                if kind in ("flops", "tensor") and of != "int8":
                    flops[of] = flops.get(of, 0) + one["factor"] * value
                moved += one["factor"] * value * (one["quantity"] == "bytes.device")
            work = count_work(metrics)
            self.assertEqual(work.flops.keys(), flops.keys())
            for precision, amount in flops.items():
                self.assertAlmostEqual(work.flops[precision] / amount, 1, 12)
            self.assertAlmostEqual(work.moved or 0.0, moved, 3)


if __name__ == "__main__":
    unittest.main()

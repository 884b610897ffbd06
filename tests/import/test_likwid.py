"""LIKWID's CSV, of versions 4.0 to 5.4 and of several processors."""

import unittest

from importing import imported, refusal, replaced, text_of

HEAD = "STRUCT,Info,3,\nCPU name:,Intel(R) Xeon(R) Platinum 8360Y,\nCPU type:,Intel Icelake SP processor,\nCPU clock:,2.394 GHz,\n"
TIME, DP, MEMORY = "Runtime (RDTSC) [s],2.0,2.0", "DP [MFLOP/s],1000,1000", "Memory data volume [GBytes],12.0,0"

NO_FLOPS = "FLOPs: measure the group FLOPS_SP, FLOPS_DP or MEM_SP"
NO_BYTES, NO_TIME = "bytes at DRAM: there is no metric", "time: Runtime (RDTSC) is missing"


def table(*lines, region="triad", group="MEM_DP", number=1, thread="HWThread"):
    """A group's metrics: 4e9 FLOP of two threads in 2 s, and 12 GB, where the lines are those above."""
    where = f"Region {region}," if region else ""
    return (f"TABLE,{where}Group {number} Metric,{group},{len(lines)},\nMetric,{thread} 0,{thread} 1,\n" + "".join(f"{line},\n" for line in lines)
            + f"TABLE,{where}Group {number} Metric STAT,{group},1,\nMetric,Sum,Min,Max,Avg,\nRuntime STAT,4,2,2,2,\n")


class Likwid(unittest.TestCase):
    def check(self, text, flops=4e9, bytes_=12e9, seconds=2.0, precision="fp64"):
        file = imported(text)
        self.assertEqual(file.format, "likwid-perfctr")
        (row,) = file.rows
        self.assertEqual(([seconds], flops, bytes_, precision), (row.times, row.flops, row.compulsory, row.point.get("precision")))
        return file

    def test_rates_over_each_threads_own_time_and_summed_volumes(self):
        self.assertEqual(self.check(text_of("likwid.csv"), 2e9 + 3e9, 12.5e9, precision="fp32").rows[0].point["model"], "x conv")
        self.assertEqual(self.check(HEAD + table(TIME, DP, MEMORY, region="")).rows[0].point["model"], "x")

    def test_names_of_all_versions_and_processors(self):
        old = table(TIME, "DP MFLOP/s,1000,1000", "AVX DP MFLOP/s,900,900", "Memory bandwidth [MBytes/s],6000,0", MEMORY, thread="Core")
        self.check(HEAD + old)
        first = "STRUCT,Info,5,,\n1,MEM_DP,triad,,\nRegion calls,1,1,,\n" + table(TIME, "DP MFLOP/s,1000,1000", MEMORY, region="", thread="Core")
        self.assertEqual(self.check(HEAD + first).rows[0].point["model"], "x triad")
        self.check(HEAD + table(TIME, "MFLOP/s,1000,1000", "AVX [MFLOP/s],900,900", MEMORY))  # Sandy Bridge's MEM_DP
        self.check(HEAD + table(TIME, "DP (FP) [MFLOP/s],1000,1000", MEMORY))  # A64FX without vectors
        widths = ("DP (FP) [MFLOP/s],100,100", "DP (FP+SVE128) [MFLOP/s],325,325", "DP (FP+SVE256) [MFLOP/s],550,550")
        self.check(HEAD + table(TIME, *widths, "DP (FP+SVE512) [MFLOP/s],1000,1000", MEMORY))
        self.check(HEAD + table(TIME, "DP VSX [MFLOP/s],1000,1000", MEMORY))  # POWER
        self.check(HEAD + table(TIME, DP, "DP VSX [MFLOP/s],900,900", MEMORY))
        self.check(HEAD + table(TIME, "BF16 [MFLOP/s],1000,1000", MEMORY), precision="bf16")
        any_kind = self.check(
            HEAD + table(TIME, "FP rate [MFLOP/s],1000,1000", "SVE FP rate [MFLOP/s],9,9", MEMORY), precision=None
        )  # Grace
        self.assertIn("precision: LIKWID counts FLOPs of all precisions together", any_kind.missing)
        self.check(HEAD + table(TIME, DP, "Memory read data volume [GBytes],8,0", "Memory writeback data volume [GBytes],4,0"))
        self.check(HEAD + table(TIME, DP, "Memory load data volume [GByte],8,0", "Memory evict data volume [GByte],4,0"))
        self.check(HEAD + table(TIME, DP, "HBM data volume [GBytes],12,0"))

    def test_a_table_at_the_end_of_a_file_has_one_record_for_each_metric(self):
        lines = ("Metric,HWThread 0,HWThread 1", "Runtime (RDTSC) [s],2.0,1.0", "DP [MFLOP/s],1000,500",
                 "m" * 197 + " [s],1,1", "n" * 196 + " [s],1,1", "CPI,0.5,-")  # no comma behind them
        file = imported("TABLE,Region triad,Group 1 Metric,MEM_DP,5\n" + "\n".join(lines) + "\n")
        self.assertEqual([("Runtime (RDTSC)", 3.0, "s"), ("DP", 1.5e9, "FLOP/s"), ("n" * 196, 2, "s")],
                         [(one.metric, one.value, one.unit) for one in file.rows[0].records])
        self.assertEqual((2.5e9, [NO_BYTES]), (file.rows[0].flops, file.missing))

    def test_each_metric_needs_its_name_its_unit_and_values(self):
        read, write = "Memory read data volume [GBytes],8,0", "Memory write data volume [GBytes],3,0"
        for lines, *expected in (
                ((DP, MEMORY), [], None, 12e9, NO_TIME, NO_FLOPS),  # no FLOPs without times
                (("Runtime (RDTSC) [s],2.0,-", DP, MEMORY), [2.0], 2e9, 12e9),
                ((TIME, "DP [MFLOP/s],0,0", "Memory data volume [GBytes],0,0"), [2.0], 0, 0),
                ((TIME, "DP [MFLOP/s],-9,5", MEMORY[:-1] + "-13"), [2.0], None, None, NO_BYTES, NO_FLOPS),
                ((TIME, DP, "Memory data volume [s],5,5"), [2.0], 4e9, None, NO_BYTES),
                ((TIME, DP, read), [2.0], 4e9, None, NO_BYTES),
                ((TIME, DP, MEMORY, read, write), [2.0], 4e9, 12e9),
                ((TIME, "DP [MFLOP/s] (SSE assumed),-,-", "DP (FP) [MFLOP/s],1000,1000", MEMORY), [2.0], 4e9, 12e9),
                ((TIME + ",9", DP + ",9", MEMORY + ",9"), [2.0], 4e9, 12e9)):  # more cells than threads
            file = imported(HEAD + table(*lines))
            row, = file.rows
            self.assertEqual(expected, [row.times, row.flops, row.compulsory, *file.missing], lines)
            self.assertEqual(["Values in counters.csv are sums over the hardware threads."], file.remarks)

    def test_what_likwid_assumes_is_not_counted(self):
        lines = ("DP [MFLOP/s] (SSE assumed),500,500", "DP [MFLOP/s] (AVX512 assumed),2000,2000")  # Knights Landing
        self.assertEqual(["FLOPs of fp64: LIKWID does not know the instructions' width: (AVX512 assumed)"],
                         self.check(HEAD + table(TIME, *lines, MEMORY), None, precision=None).missing)

    def test_half_of_the_channels_is_no_volume_but_named(self):
        for channels in ("0-3", "4-7"):
            lines = ("Clock [MHz],2400,2400", f"Memory data volume (channels {channels}) [GBytes],12.0,0")
            file = self.check(HEAD + table(TIME, *lines, group="MEM1"), None, None, precision=None)
            told = [one for one in file.missing if one.startswith("bytes")]
            self.assertEqual(len(told), 1)
            self.assertIn(f"12.0 GB went over the channels {channels}, which are a part", told[0])
            self.assertIn("MEM1 and MEM2", told[0])
            ranks = imported(HEAD + table(TIME, *lines, group="MEM1") + table(TIME, group="MEM1"))  # one has none
            self.assertEqual(told, [one for one in ranks.missing if one.startswith("bytes")])

    def test_a_thread_without_a_value_does_not_drop_the_others(self):
        for absent in ("-", "nan", ""):
            self.check(HEAD + table(TIME, DP, f"Memory data volume [GBytes],12.0,{absent}", f"Operational intensity [FLOP/Byte],0.33,{absent}"))
        self.check(HEAD + table("Runtime (RDTSC) [s],2.0,0", "DP [MFLOP/s],2000,nan", MEMORY))
        self.assertIn("bytes at DRAM: there is no metric", self.check(HEAD + table(TIME, DP, "Memory data volume [GBytes],-,-"), bytes_=None).missing)

    def test_groups_are_measured_one_after_the_other_and_stand_apart(self):
        text = (HEAD + table("Runtime (RDTSC) [s],3.0,3.0", DP, group="FLOPS_DP") + HEAD
                + table("Runtime (RDTSC) [s],1.0,1.0", "Memory write data volume [GBytes],4.0,0", MEMORY, group="MEM", number=2))
        file = imported(text)
        self.assertIn("x triad MEM: FLOPs: measure the group FLOPS_SP, FLOPS_DP or MEM_SP", file.missing)
        self.assertEqual(len(file.missing), 2)
        flops, memory = file.rows
        self.assertEqual(("x triad FLOPS_DP", [3.0], 6e9, None), (flops.point["model"], flops.times, flops.flops, flops.compulsory))
        self.assertEqual(("x triad MEM", [1.0], None, 12e9), (memory.point["model"], memory.times, memory.flops, memory.compulsory))
        twice = imported(HEAD + table(TIME, DP, MEMORY) + table(TIME, DP, MEMORY, number=2)).rows
        self.assertEqual([row.point["model"] for row in twice], ["x triad MEM_DP 1", "x triad MEM_DP 2"])

    def test_tables_of_ranks_add_up_and_the_longest_is_the_time(self):
        one, other = table(TIME, DP, MEMORY), table("Runtime (RDTSC) [s],2.0,4.0", "DP [MFLOP/s],1000,500", MEMORY)
        file = self.check(HEAD + one + HEAD + other, 8e9, 24e9, 4.0)
        self.assertIn("x triad: 2 tables, as of ranks", file.remarks[0])
        self.assertEqual([NO_FLOPS], self.check(HEAD + one + table(TIME, MEMORY), None, 24e9, precision=None).missing)
        self.assertEqual([NO_BYTES], self.check(HEAD + one + table(TIME, DP), 8e9, None).missing)

    def test_regions_are_rows_and_may_have_commas_and_other_lines_are_passed_over(self):
        file = imported(HEAD + table(TIME, DP, region="main loop (i,j)") + table(TIME, DP, MEMORY, region="end"))
        self.assertEqual([row.point["model"] for row in file.rows], ["x main loop (i,j)", "x end"])
        self.assertEqual([f"x main loop (i,j): {NO_BYTES}"], file.missing)
        others = "TABLE,Region triad,Thread affinity,2,\nsum,Group 1 Metric,MEM_DP,\nTABLE\n\n"
        self.check(HEAD + others + table(TIME, DP, MEMORY) + others + "STRUCT,Info,5,,\n")

    def test_saved_by_a_spreadsheet(self):
        self.check((HEAD + table(TIME, DP, MEMORY)).replace(",", ";"))
        self.check("\ufeff" + (HEAD + table(TIME, DP, MEMORY)).replace("\n", "\r\n"))
        self.check((HEAD + table(TIME, DP, MEMORY)).encode("utf-16"))

    def test_what_is_wrong_is_named_with_its_line(self):
        text = text_of("likwid.csv")
        self.assertTrue(refusal(replaced(text, "SP [MFLOP/s],1000", "SP [MFLOP/s],many")).startswith("x:16: SP [MFLOP/s]: 'many'"))
        rest, cut = HEAD + table(TIME, DP), "x:{}: the table is cut off after this line"
        self.assertEqual(cut.format(17), refusal(text[: text.index("Operational")]))
        self.assertEqual(cut.format(5), refusal(HEAD + "TABLE,Region a,Group 1 Metric,MEM_DP,2,\n"))
        for by in ("", "\n", "STRUCT,Info,3,\n", "\nCPI,1,1\n"):
            self.assertEqual(cut.format(7), refusal(replaced(rest, DP + ",\n", by)))
        self.assertEqual("x:8: 1 values, not 2", refusal(replaced(rest, DP + ",\n", "DP [MFLOP/s],1000\n")))
        self.assertIn("the number of rows is missing", refusal(replaced(text, "Metric,MEM_SP,6", "Metric,MEM_SP,many")))
        self.assertIn("FLOPs: measure the group", "; ".join(imported(replaced(text, "SP [MFLOP/s]", "SP [furlong]")).missing))
        people = "Group 1: MEM_DP\n+---+---+\n|        Metric        | HWThread 0 |\n+---+---+\n|  CPI | 2.0 |\n"
        self.assertIn("these are likwid-perfctr's tables for people; `likwid-perfctr -o FILE.csv", refusal(people))
        self.assertIn("no table of metrics by hardware thread", refusal(HEAD + table(TIME, DP, thread="GPU")))


if __name__ == "__main__":
    unittest.main()

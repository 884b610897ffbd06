"""perf stat: what users, old machines and other processors write."""

import json
import unittest

from importing import imported, refusal, replaced, text_of

from roof.importing.perf_stat import split

ARITHMETIC = "fp_arith_inst_retired."
#: 1000 + 4 x 2000 + 8 x 3,000,000 FLOPs in single precision; 1,500,000 lines of 64 bytes.
COUNTS = (("duration_time", 250_000_000, "ns"), (ARITHMETIC + "scalar_single", 1000, ""), (ARITHMETIC + "128b_packed_single", 2000, ""),
          (ARITHMETIC + "256b_packed_single", 3_000_000, ""), (ARITHMETIC + "512b_packed_single", 0, ""), ("unc_m_cas_count.rd", 1_000_000, ""),
          ("unc_m_cas_count.wr", 500_000, ""))
FLOPS, BYTES = 24_009_000, 96_000_000


def as_json(counts):
    """Lines of `perf stat -j`; a text in place of a count is one such as "<not supported>"."""
    return "".join(json.dumps({"counter-value": count if isinstance(count, str) else f"{count}.000000", "unit": unit, "event": event,
                               "event-runtime": 250_000_000, "pcnt-running": 100.0}) + "\n" for event, count, unit in counts)


def as_values(counts, by=","):
    return "".join(by.join([str(count), unit, event, "250000000", "100.00", "", ""]) + "\n" for event, count, unit in counts)


def renamed(form, but=()):
    return [(event if event in but or "unc_" in event else form.format(event), count, unit) for event, count, unit in COUNTS]


class PerfStat(unittest.TestCase):
    def check(self, text, flops=FLOPS, bytes_=BYTES, seconds=0.25):
        file = imported(text)
        self.assertEqual(file.format, "perf stat")
        (row,) = file.rows
        self.assertEqual(([seconds] if seconds else [], flops, bytes_), (row.times, row.flops, row.compulsory))
        self.assertEqual(row.device, "cpu")
        return file

    def test_the_names_that_perf_gives_an_ordinary_user(self):
        for form in ("{}", "{}:u", "cpu/{}/u", "{}:ku", "cpu/{}/"):
            for text in (as_json(renamed(form)), as_values(renamed(form)), as_values(renamed(form), ";"), "\ufeff" + as_json(renamed(form))):
                self.assertEqual(self.check(text).rows[0].point["precision"], "fp32")
        self.assertEqual(([], []), (self.check(as_json(COUNTS)).missing, self.check(as_values(COUNTS)).remarks))
        real = imported(text_of("perf_user_6.1.json"))
        self.assertEqual(real.rows[0].times, [0.041112731])
        self.assertIn("not counted: instructions:u (<not supported>), cycles:u (<not supported>)", real.missing)

    def test_two_kinds_of_memory_are_added_and_both_are_needed(self):
        hbm = [("unc_mchbm_cas_count.rd", 2_000_000, ""), ("unc_mchbm_cas_count.wr", 250_000, "")]
        self.check(as_json([*COUNTS, *hbm]), bytes_=BYTES + 64 * 2_250_000)
        (row,) = imported(as_json([*COUNTS, *hbm[:1]])).rows
        self.assertIsNone(row.compulsory)

    def test_one_cgroup_is_read_and_several_are_named(self):
        def of(cgroup, form):
            if form == "-j":
                return as_json(COUNTS).replace('"event-runtime"', f'"cgroup": "{cgroup}", "event-runtime"')
            return as_values(COUNTS).replace(",250000000,100.00", f",{cgroup},250000000,100.00")

        for form in ("-j", "-x"):
            self.check(of("jobs/train-1", form))
            self.assertIn("the cgroups jobs/train-1 and jobs/train-2", refusal(of("jobs/train-1", form) + of("jobs/train-2", form)))

    def test_an_event_has_a_unit_of_the_processor_a_name_and_a_mode(self):
        for event, *parts in (
                ("cycles", "", "CYCLES", ""), ("cycles:u", "", "CYCLES", "u"), ("cycles:uk", "", "CYCLES", ""),
                ("cycles:kH", "", "CYCLES", "k"), ("cycles:z", "", "CYCLES:Z", ""), ("cpu/a=1,b/k", "", "A=1,B", "k"),
                ("cpu_core/cycles/", "cpu_core", "CYCLES", ""), ("imc_0/reads/u", "imc_0", "READS", "u"),
                ("cycles [x y]", "", "CYCLES", ""), ("L2 misses:u", "", "L2 MISSES:U", "")):
            self.assertEqual(tuple(parts), split(event), event)

    def test_any_text_separates_values_and_lines_of_metrics_alone_are_passed_over(self):
        for by in "|@#^~:/! \t":
            self.check(as_values(renamed("{}:u"), by))
        for by in (", ", ";"):
            alone = [by * fields + "25.3" + by + "%  tma_backend_bound\n" for fields in (6, 7)] + ["S0" + by + "1" + 6 * by + "nan" + by + "GHz\n"]
            self.check(as_values(COUNTS, by) + "".join(alone))

    def test_user_and_kernel_apart_add_up_and_a_whole_goes_first(self):
        apart = [(f"{event}:{mode}", count, unit) for event, count, unit in COUNTS[1:5] for mode in "uk"]
        self.check(as_json([*apart, COUNTS[0], *COUNTS[5:]]), 2 * FLOPS)
        self.check(as_json([*apart, *COUNTS]))

    def test_three_widths_are_all_that_a_processor_without_avx_512_has(self):
        three = [count for count in COUNTS if "512b" not in count[0]]
        self.assertIn("three widths", self.check(as_json(three)).remarks[0])
        told = self.check(as_json([*three, (ARITHMETIC + "512b_packed_single", "<not supported>", "")]))
        self.assertEqual(([], False), (told.remarks, told.rows[0].at_least))
        for more in ((ARITHMETIC + "512b_packed_single", "<not counted>", ""), (ARITHMETIC + "512b_packed_double", 5, "")):
            self.assertIn("only 3 of the 4 widths", "; ".join(self.check(as_json([*three, more]), None).missing))
        self.assertEqual(["FLOPs of fp32: only 2 of the 4 widths were counted (scalar, 128B, 256B, 512B)"],
                         self.check(as_json(three[:2] + three[3:]), None).missing)

    def test_a_hybrid_processor_has_the_flops_of_its_p_cores_and_says_so(self):
        core, none = renamed("cpu_core/{}/", ["duration_time"])[:4], [(f"cpu_atom/{event}/", "<not supported>", "") for event, *_ in COUNTS[1:4]]
        file = self.check(as_json([*core, *none]), bytes_=None)
        self.assertEqual((True, []), (file.rows[0].at_least, file.remarks))
        self.assertIn("FLOPs of the E cores (cpu_atom): nothing counted them", file.missing)
        idle = self.check(as_json([*core, *((event, "<not counted>", "") for event, *_ in none)]), bytes_=None)
        alone = self.check(as_json([COUNTS[0], none[0]]), None, None)
        unasked = self.check(as_json(core), bytes_=None)
        self.assertEqual((True, file.missing[1]), (unasked.rows[0].at_least, unasked.missing[1]))
        both = self.check(as_json([*core, *((f"cpu_atom/{event}/", count, "") for event, count, _ in COUNTS[1:4])]), 2 * FLOPS, None)
        self.assertEqual([False] * 3, [file.rows[0].at_least for file in (idle, alone, both)])
        self.assertEqual(["bytes at DRAM: there is no metric", "FLOPs: there is no metric",
                          f"not counted: {none[0][0]} (<not supported>)"], alone.missing)

    def test_flops_of_e_cores_of_half_precision_and_of_newer_p_cores(self):
        core = [(event.replace("_inst_", "_ops_"), count, unit) for event, count, unit in renamed("cpu_core/{}/", ["duration_time"])[:4]]
        atom = [("cpu_atom/fp_flops_retired.fp32/", 500, ""), ("cpu_atom/fp_flops_retired.dp/", 7, "")]
        file = self.check(as_json([*core, *atom]), FLOPS + 507, None)
        self.assertEqual((False, "fp32"), (file.rows[0].at_least, file.rows[0].point["precision"]))
        half = [(event.replace("single", "half").replace("retired", "retired2"), count, unit) for event, count, unit in COUNTS[1:5]]
        self.assertIn("48.0 MFLOP in fp16", self.check(as_json([*COUNTS, *half]), FLOPS + 1000 + 8 * 2000 + 16 * 3_000_000).remarks[0])
        for count, bound in ((3, True), (0, False)):
            matrices = self.check(as_json([*COUNTS, ("amx_ops_retired.bf16", count, "")]))
            self.assertEqual((bound, ["FLOPs of AMX: no formula is known for amx_ops_retired.bf16"] * bound),
                             (matrices.rows[0].at_least, matrices.missing))

    def test_names_of_memory_events(self):
        halves = [(f"unc_m_cas_count_sch{part}.{way}", count // 2, "") for way, count in (("rd", 1_000_000), ("wr", 500_000)) for part in (0, 1)]
        arithmetic = list(COUNTS[:5])
        self.check(as_json(arithmetic + halves))
        for one in ("unc_m_cas_count_sch1", "unc_m_cas_count_sch0"):
            file = self.check(as_json(arithmetic + [half for half in halves if one not in half[0]]), bytes_=None)
            self.assertIn("bytes at DRAM: only one of two sub-channels or controllers was counted", file.missing)
        same = (("uncore_imc/data_reads/", "uncore_imc/data_writes/"), ("uncore_imc_free_running/data_read/", "uncore_imc_free_running/data_write/"),
                ("uncore_imc_0/cas_count_read/", "uncore_imc_0/cas_count_write/"), ("amd_umc/umc_cas_cmd.rd/", "amd_umc/umc_cas_cmd.wr/"),
                ("unc_m_cas_count_rd", "unc_m_cas_count_wr"))
        for read, write in same:
            self.check(as_json(arithmetic + [(read, 1_000_000, ""), (write, 500_000, "")]))
            self.check(as_json(arithmetic + [(read, "64.000000", "MiB"), (write, "32.000000", "MiB")]), bytes_=96 * 2**20)
            for way in (read, write):
                file = self.check(as_json(arithmetic + [(way, 1_000_000, "")]), bytes_=None)
                self.assertEqual(["bytes at DRAM: only one direction was counted"], file.missing)
        others = [(f"data_{way}", 500_000, "") for way in ("reads", "writes")]  # not those of a memory controller
        self.check(as_json(arithmetic + others), bytes_=None)
        freerun = [(f"unc_mc{part}_{way}cas_count_freerun", count // 2, "") for way, count in (("rd", 1_000_000), ("wr", 500_000)) for part in (0, 1)]
        self.check(as_json(arithmetic + freerun))
        self.check(
            as_json(
                [
                    *COUNTS,
                    ("unc_m_cas_count.rd_underfill", 9, ""),
                    ("uncore_imc/cas_count_read/", 1_000_000, ""),
                    ("uncore_imc/cas_count_write/", 500_000, ""),
                ]
            )
        )  # a part of the reads, and the same under another name
        self.check(as_json(arithmetic + [(f"uncore_imc_{number}/cas_count_{way}/", count // 4, "") for number in range(4) for way,
                                         count in (("read", 1_000_000), ("write", 500_000))]))

    def test_amds_flops_have_no_precision(self):
        file = self.check(as_json([COUNTS[0], ("fp_ret_sse_avx_ops.all:u", 50, "")]), 50, None)
        self.assertNotIn("precision", file.rows[0].point)
        self.check(as_json([COUNTS[0], *(("fp_ret_sse_avx_ops.all" + mode, count, "") for mode, count in (("", 90), (":u", 50)))]), 90, None)
        self.assertIn("counts single and double together", "; ".join(file.missing))

    def test_two_precisions_stand_in_one_row_and_a_remark_has_each(self):
        counts = {"scalar_single": 6, "128b_packed_single": 1, "256b_packed_single": 1, "512b_packed_single": 1, "scalar_double": 1,
                  "128b_packed_double": 0, "256b_packed_double": 0, "512b_packed_double": 2}
        file = self.check(as_values([(ARITHMETIC + event, 1000 * count, "") for event, count in counts.items()]), 34000 + 17000, None, None)
        self.assertIn("34.0 kFLOP in fp32, 17.0 kFLOP in fp64. The row counts them together, as fp32", file.remarks[0])

    def test_the_file_that_perf_wrote_and_one_of_a_server(self):
        real = imported(text_of("perf_6.1.json"))
        self.assertEqual(real.rows[0].times, [0.128155383])
        clock = next(counter for counter in real.rows[0].records if counter.metric == "task-clock")
        self.assertEqual((round(clock.value, 9), clock.unit), (0.971399e-3, "s"))
        server = self.check(text_of("perf.json"), 1000 + 8e9 + 8e9, 1536 * 2**20, 2)
        self.assertIn("not counted: l2_rqsts.miss (<not supported>)", server.missing)
        self.assertIn("estimates", server.remarks[0])

    def test_cores_and_sockets_add_up_and_repeated_runs_are_one(self):
        lines = "S0;2;7;;cycles;500000;100.00;;\nS1;2;5;;cycles;500000;100.00;;\n"
        self.assertEqual(imported(lines).rows[0].records[0].value, 12)
        self.assertEqual(imported("CPU0,7,,cycles,1,100.00,,\nCPU1,5,,cycles,1,100.00,,\n").rows[0].records[0].value, 12)
        threads = as_json([("cycles", 7, ""), ("cycles", 5, "")]).replace("{", '{"thread": "a-1", ')
        self.assertEqual(imported(threads).rows[0].records[0].value, 12)
        self.assertEqual(imported("220162621;ns;duration_time;24.73%;220162621;100.00;319.398;G/sec\n").rows[0].times, [0.220162621])

    def test_what_is_no_count_is_passed_over_and_of_a_part_of_the_time_an_estimate(self):
        others = '{"counter-value": "7"}\n{"event": "cycles"}\n{"event": null, "counter-value": "3"}\n\n# a comment\n'
        records = self.check(others + as_json(COUNTS) + others).rows[0].records
        self.assertEqual([event for event, *_ in COUNTS], [one.metric for one in records])
        file = self.check(as_json([("duration_time", 250_000_000, ""), *COUNTS[1:]]), seconds=None)
        self.assertEqual(["time: add the event duration_time"], file.missing)  # in no unit
        for share, remarks in (("", 0), (', "pcnt-running": 99.5', 0), (', "pcnt-running": 99.49', 1)):
            file = imported(f'{{"counter-value": "7", "event": "cycles", "metric-value": "1,5"{share}}}\n')
            self.assertEqual((7, remarks), (file.rows[0].records[0].value, len(file.remarks)))

    def test_the_format_is_known_by_one_of_20_lines_of_up_to_65536_characters(self):
        count = "7,,cycles,500000,100.00,,\n"
        self.assertEqual("", refusal("# a comment\n#\n\n" * 30 + count))
        self.assertIn("x:1: this is not a line of", refusal("hello\n" * 19 + count))
        for text in ("hello\n" * 20 + count, '{"event": "cycles"}\n', '{"counter-value": 7}\n', "{\n}\n"):
            self.assertIn("the format is unknown", refusal(text))
        line = '{"counter-value": "7", "event": "cycles", "more": "'
        for length, sentence in ((1 << 16, ""), ((1 << 16) + 1, "x:1: this is not a line of `perf stat -j` or `-x`")):
            self.assertEqual(sentence, refusal(line.ljust(length - 2, "a") + '"}\n').partition(";")[0])

    def test_what_cannot_be_read_is_named_with_its_line_and_what_helps(self):
        two = "7,,cycles,500000,100.00,,\n"
        for text, sentence in ((text_of("perf_german.json"), "x:1: perf's numbers have decimal commas: run perf stat with LC_ALL=C"),
                               ("29622850;ns;duration_time;29622850;100,00;27,397;G/sec\n", "LC_ALL=C"),
                               ("250,12;msec;task-clock;250120000;100,00;;\n", "x:1: perf's numbers have decimal commas"),
                               ("1,08,msec,task-clock,1081227,100,00,0,037,CPUs utilized\n", "LC_ALL=C"),
                               ("\n Performance counter stats for 'ls':\n\n  0.92 msec task-clock\n", "x:2: this is the text of `perf stat` for "
                                "people; `perf stat -j -o FILE"), ("1.000120;7;;cycles;500000;100.00;;\n", "-I (intervals)"),
                               (two + two, "occurs twice"), (two + "7,cycles\n", "x:2: this is not a line of `perf stat -j` or `-x`"),
                               (text_of("perf.json")[:-3], "x:12: the line is cut off"),
                               (replaced(text_of("perf.json"), '"MiB"', '"furlong"'), "x:8: uncore_imc/cas_count_read/: the unit 'furlong'"),
                               ('{"counter-value": "-3", "event": "cycles"}\n', "'-3' is not a count"),
                               ('{"counter-value": "1,08", "event": "cycles"}\n',
                                "x:1: cycles: '1,08' is not a count; run perf stat with LC_ALL=C"),
                               ('{"counter-value": "<not counted>", "event": "cycles"}\n', "no event was counted")):
            self.assertIn(sentence, refusal(text))
        self.assertEqual("x:1: cycles: 'many' is not a count", refusal(as_json([("cycles", "many", "")])))
        self.assertIn("time: add the event duration_time", imported(replaced(text_of("perf.json"), "duration_time", "some_time")).missing)


if __name__ == "__main__":
    unittest.main()

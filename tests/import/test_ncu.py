"""Nsight Compute's CSV, in the encodings, locales and forms in which users have it."""

import csv
import io
import unittest

from importing import imported, refusal, replaced, text_of

from roof.importing import Counter, Kernel

HEAD = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC",
        "Section Name", "Metric Name", "Metric Unit", "Metric Value")
STEM = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
METRICS = (("gpu__time_duration.sum", "nsecond", 100_000), (STEM.format("fadd"), "inst", 1000), (STEM.format("fmul"), "inst", 2000),
           (STEM.format("ffma"), "inst", 4_000_000), ("dram__bytes.sum", "byte", 12_000_000))
#: Of the two launches: 2 x (1000 + 2000 + 2 x 4,000,000) FLOPs, 24 MB, 200 us.
FLOPS, BYTES, SECONDS = 16_006_000, 24_000_000, 200e-6
NUMBER = "{:,}"
LOG = "==PROF== Connected to process 4242 (/opt/app)\n==PROF== Disconnected from process 4242\n"


def rows(*, number=NUMBER.format, process="4242", host="node01", kernel="axpy(int, float*)", launches=2, device="0"):
    where = [process, "app", host, kernel, "1", "7", "(256, 1, 1)", "(1024, 1, 1)", device, "8.0", "Command line profiler metrics"]
    return [[str(launch), *where, name, unit, number(value)] for launch in range(launches) for name, unit, value in METRICS]


def table(lines, quoting=csv.QUOTE_ALL, head=HEAD, **form):
    text = io.StringIO()
    csv.writer(text, quoting=quoting, lineterminator="\n", **form).writerows([head, *lines])
    return text.getvalue()


def with_groups(mark):
    return lambda value: f"{value:,}".replace(",", mark)


class NsightCompute(unittest.TestCase):
    def check(self, content, flops=FLOPS, bytes_=BYTES, seconds=SECONDS):
        file = imported(content)
        (row,) = file.rows
        self.assertEqual(("gpu:0", flops, bytes_, "fp32"), (row.device, row.flops, row.compulsory, row.point["precision"]))
        self.assertAlmostEqual(row.times[0], seconds, 12)
        return file

    def test_encodings_and_programs_that_saved_it_again(self):
        text = table(rows())
        for content in (text, "\ufeff" + text, text.encode("utf-16"), text.encode("utf-16-be"), text.encode("utf-32"), LOG + text, text.replace("\n", "\r\n"), table(rows(), csv.QUOTE_MINIMAL),
                        table(rows(), csv.QUOTE_MINIMAL, delimiter=";"), table(rows(), csv.QUOTE_MINIMAL, delimiter="\t")):
            self.check(content)
        indexed = [[str(index), *line] for index, line in enumerate(rows())]
        self.check(table(indexed, csv.QUOTE_MINIMAL, ("", *HEAD)))
        lines = text_of("ncu_raw.csv").splitlines(keepends=True)[1:]
        read = list(csv.reader(lines))
        saved = [
            ["" if at == 1 else f"{line[0]}.0", *line[1:]] for at, line in enumerate(read) if at
        ]  # the units' empty ID makes pandas write 0.0
        self.assertEqual([row.flops for row in imported(table(saved, csv.QUOTE_MINIMAL, read[0])).rows], [2 * 2147483648.0, 2147483648.0])

    def test_numbers_of_other_countries(self):
        share = ["sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "45,31"]
        for mark in ("\u202f", "\u00a0", "\u2009", "’", "'", "."):
            lines = rows(number=with_groups(mark))
            self.check(table(lines))
            self.check(table([*lines, *([line[0], *line[1:12], *share] for line in lines[::5])] if mark not in "’'" else lines))
        self.check(table(rows(number=with_groups("\u00a0"))).encode("cp1252"))
        self.check(table(rows(number=lambda value: {12_000_000: "1,20,00,000"}.get(value, f"{value:,}"))))  # India
        wrong = table(rows(number=lambda value: "1 2" if value == 1000 else f"{value:,}"))
        self.assertIn("'1 2' is not a number; export it again with LC_ALL=C", refusal(wrong))

    def test_ranks_stand_apart_whatever_the_order_of_their_lines(self):
        one, other = rows(), rows(process="4243", kernel="gemm(int)")
        mixed = table([line for pair in zip(one, other) for line in pair]).splitlines(keepends=True)
        contents = (LOG + table(one) + LOG + table(other), "".join([mixed[0], mixed[0], *mixed[1:]]), table(one + other),
                    "".join([*table(one).splitlines(keepends=True)[:4], *mixed[:1], *table(one).splitlines(keepends=True)[4:],
                             *table(other).splitlines(keepends=True)[1:]]))
        for content in contents:
            file = imported(content)
            self.assertEqual([(row.point["model"], row.flops, len(row.of(Kernel))) for row in file.rows],
                             [("x process 4242", FLOPS, 2), ("x process 4243", FLOPS, 2)])

    def test_ranks_with_one_number_on_several_nodes_or_in_containers(self):
        names = [row.point["model"] for row in imported(table(rows(host="a")) + table(rows(host="b"))).rows]
        self.assertEqual(names, ["x a process 4242", "x b process 4242"])
        file = imported(table(rows(process="1")) + table(rows(process="1", launches=3)))
        self.assertEqual([(row.point["model"], len(row.of(Kernel))) for row in file.rows], [("x process 1", 2), ("x process 1 table 2", 3)])
        raw = "".join(text_of("ncu_raw.csv").splitlines(keepends=True)[1:])
        self.assertEqual([len(row.of(Kernel)) for row in imported(raw + raw).rows], [2, 1, 2, 1])

    def test_logs_summaries_and_texts_for_people_are_named(self):
        head = ("Process ID", "Process Name", "Kernel Name", "Device", "CC", "Invocations", "Metric Name", "Metric Unit", "Minimum", "Maximum",
                "Average")
        line = ("4242", "app", "axpy", "0", "8.0", "2", "gpu__time_duration.sum", "nsecond", "1", "1", "1.00")
        for content, sentence in ((LOG + table([line], head=head),
                                   "x:3: this is Nsight Compute's summary, without launches: leave --print-summary out"),
                                  (LOG + "==WARNING== No kernels were profiled.\n", "Nsight Compute counted nothing: No kernels were profiled."),
                                  (LOG + "==ERROR== ERR_NVGPUCTRPERM - no permission\n", "counted nothing: ERR_NVGPUCTRPERM - no permission"),
                                  (LOG + "  axpy (1, 1, 1)x(1, 1, 1), Context 1, Stream 7\n    Metric Name  Metric Unit Metric Value\n",
                                   "`ncu --csv"), (table(rows())[:-1], "the line is cut off"), (table([]), "it holds no launch of a kernel"),
                                  (table(rows()) + "loss 0.25\n", "x:12: 1 cells, not 15; with --log-file FILE"),
                                  (replaced(table(rows()), '"0","4242"', '"x","4242"'), "x:2: its ID is not the number of a launch"),
                                  (replaced(table(rows()), "axpy(int, float*)", "other"), "x:3: its ID is that of another kernel"),
                                  (replaced(table(rows()), STEM.format("fmul"), STEM.format("fadd")), "occurs twice with different values")):
            self.assertIn(sentence, refusal(content))
        self.assertIn("Nsight Compute reported: one kernel failed", "; ".join(imported("==ERROR== one kernel failed\n" + table(rows())).remarks))

    def test_a_time_below_zero_is_no_time(self):
        file = imported(replaced(table(rows()), '"100,000"', '"-1,000"'))
        self.assertEqual(([], [100_000]), (file.rows[0].times, [one.duration for one in file.rows[0].of(Kernel)]))
        self.assertIn("1 values were below 0 and were left out.", file.remarks)
        self.assertIn("time: gpu__time_duration.sum is missing for some launches", file.missing)

    def test_details_page(self):
        file = imported(text_of("ncu_details.csv"))
        self.assertEqual(file.format, "Nsight Compute, details page")
        self.check(text_of("ncu_details.csv"), 1500 + 2 * 1073741824 + 8e6, 44e6, 127.34e-6)
        kernels = file.rows[0].of(Kernel)
        self.assertEqual([(one.name, one.block, one.grid, one.stream) for one in kernels][0], ("ampere_sgemm_128x64_nn", "128x1x1", "64x2x1", 7))
        self.assertAlmostEqual(kernels[0].duration, 117340, 6)
        self.assertIn("1 values were not numbers", "; ".join(file.remarks))

    def test_raw_page_with_tensor_cores_and_a_row_for_each_device(self):
        file = imported(text_of("ncu_raw.csv"))
        self.assertEqual(file.format, "Nsight Compute, raw page")
        self.assertEqual([(row.device, row.flops, row.compulsory, row.point["precision"]) for row in file.rows],
                         [("gpu:0", 2 * 2147483648.0, 2 * 10242048.0, "bf16"), ("gpu:1", 2147483648.0, 10242048.0, "bf16")])
        self.assertAlmostEqual(file.rows[0].times[0], 82e-6, 12)
        clock = next(one for one in file.rows[0].of(Counter) if one.metric == "sm__cycles_elapsed.avg.per_second")
        self.assertEqual((clock.value, clock.unit, clock.launch), (1500000000.5, "Hz", 0))

    def test_old_metrics_and_mixed_styles(self):
        sectors = text_of("ncu_sectors.csv")
        row = imported(sectors).rows[0]
        self.assertEqual((row.flops, row.compulsory), (8e6, 96e6))
        self.assertIn("counts instructions", "; ".join(imported(sectors).missing))
        self.assertEqual(imported(replaced(sectors, '"2000000"', '"2.000.000"')).rows[0].compulsory, 96e6)
        self.assertIn("not a whole number", refusal(replaced(sectors, '"2000000"', '"2000.5"')))
        self.assertIn("LC_ALL=C", refusal(replaced(text_of("ncu_raw.csv"), '"10,240,000"', '"10.240.000"')))
        self.assertIn("time:", "; ".join(imported(replaced(sectors, "gpu__time_duration.sum", "gpu__time_active.sum")).missing))
        half = imported(replaced(sectors, "dram__sectors_write.sum", "dram__sectors_other.sum"))
        self.assertIn("bytes at DRAM: only one direction was counted", half.missing)
        self.assertIsNone(half.rows[0].compulsory)

    def test_lines_of_metrics_are_shorter_than_the_header_where_the_file_has_rules(self):
        text = text_of("ncu_rules.csv")
        file = imported(text)
        self.assertEqual([one.duration for one in file.rows[0].of(Kernel)], [406240])
        self.assertIn("bytes at DRAM: there is no metric", file.missing)
        processors = next(one for one in file.rows[0].of(Counter) if one.metric == "# SMs")
        self.assertEqual((processors.value, processors.unit), (152, "SM"))
        self.assertIn("15 cells, not 20", refusal(replaced(text, '"ns","406240",', '"406240",')))
        comma = replaced(text, '"21.68"', '"21,68"')
        self.assertIn("LC_ALL=C", refusal(comma))
        german = replaced(replaced(comma, '"406240"', '"406.240"'), '"3995313115.40"', '"3.995.313.115,40"')
        self.assertEqual([one.duration for one in imported(german).rows[0].of(Kernel)], [406240])

    def test_sums_follow_from_rates(self):
        metrics = {"dram__bytes.sum.per_second": ("Gbyte/second", "2000"), "gpu__time_duration.sum": ("msecond", "2"),
                   "smsp__cycles_elapsed.avg.per_second": ("cycle/nsecond", "1.5"), STEM.format("dadd") + ".per_cycle_elapsed": ("inst/cycle", "10"),
                   STEM.format("dmul") + ".per_cycle_elapsed": ("inst/cycle", "0"), "derived__" + STEM.format("dfma")[:-4]
                   + "_x2": ("inst/cycle", "40"), "derived__sm__sass_thread_inst_executed_op_dfma_pred_on_x2": ("inst", "99999")}
        head, values = ("ID", "Process ID", "Kernel Name", "Stream", "Device", "CC"), ["0", "1", "triad", "7", "0", "9.0"]
        lines = [[""] * 6 + [unit for unit, _ in metrics.values()], values + [value for _, value in metrics.values()]]
        row = imported(table(lines, head=(*head, *metrics))).rows[0]
        self.assertAlmostEqual(row.compulsory, 2000e9 * 2e-3, 0)
        self.assertAlmostEqual(
            row.flops, 3e6 * (10 + 2 * 20), 0
        )  # 3e6 cycles; 10 additions and 20 multiply-adds in each


if __name__ == "__main__":
    unittest.main()

"""Nsight Compute's CSV, in the encodings, locales and forms in which users have it."""

import csv
import io
import unittest

from importing import imported, refusal, replaced, text_of

from roof.importing import Counter, Kernel, nsight_compute

HEAD = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC",
        "Section Name", "Metric Name", "Metric Unit", "Metric Value")
STEM = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
METRICS = (("gpu__time_duration.sum", "nsecond", 100_000), (STEM.format("fadd"), "inst", 1000), (STEM.format("fmul"), "inst", 2000),
           (STEM.format("ffma"), "inst", 4_000_000), ("dram__bytes.sum", "byte", 12_000_000))
#: Of the two launches: 2 x (1000 + 2000 + 2 x 4,000,000) FLOPs, 24 MB, 200 us.
FLOPS, BYTES, SECONDS = 16_006_000, 24_000_000, 200e-6
NUMBER = "{:,}"
TIMES = ("Times are those of Nsight Compute, which runs kernels one by one, by default with cold caches and locked "
         "clocks. They differ from the times of the run.")
LOG = "==PROF== Connected to process 4242 (/opt/app)\n==PROF== Disconnected from process 4242\n"


def rows(*, number=NUMBER.format, process="4242", host="node01", kernel="axpy(int, float*)", launches=2, device="0",
         metrics=METRICS):
    where = [process, "app", host, kernel, "1", "7", "(256, 1, 1)", "(1024, 1, 1)", device, "8.0", "Command line profiler metrics"]
    return [[str(launch), *where, name, unit, number(value)]
            for launch in range(launches) for name, unit, value in metrics]


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
        self.assertEqual(("gpu:0", flops, bytes_), (row.device, row.flops, row.compulsory))
        self.assertEqual({"model": "x", "precision": "fp32"}, row.point)
        self.assertAlmostEqual(row.times[0], seconds, 12)
        return file

    def test_encodings_and_programs_that_saved_it_again(self):
        text = table(rows())
        for content in (text, "\ufeff" + text, text.encode("utf-16"), text.encode("utf-16-be"), text.encode("utf-32"), LOG + text, text.replace("\n", "\r\n"), table(rows(), csv.QUOTE_MINIMAL),
                        table(rows(), csv.QUOTE_MINIMAL, delimiter=";"), table(rows(), csv.QUOTE_MINIMAL, delimiter="\t")):
            self.check(content)
        indexed = [[str(index), *line] for index, line in enumerate(rows())]
        for index in ("", "Unnamed: 0"):  # of pandas, saved once and twice
            self.check(table(indexed, csv.QUOTE_MINIMAL, (index, *HEAD)))
        self.check(table([line[::-1] for line in rows()], head=HEAD[::-1]))
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

    def test_what_a_table_must_have(self):
        raw = text_of("ncu_raw.csv").splitlines(keepends=True)
        renamed = [("Kernel Name Base" if name == "Kernel Name" else name) for name in HEAD]
        ruled = [*HEAD[:4], "Rule Name", *HEAD[4:11], *(f"a__{number}.sum" for number in range(3))]
        summary = "x:1: this is Nsight Compute's summary, without launches: leave --print-summary out"
        for content, sentence in (
                (table([], head=renamed), "x:1: there is no column 'Kernel Name'"),
                (table(rows(), head=[*HEAD[:-1], "Value"]), "x:1: there is no column 'Metric Value'"),
                (table([], head=HEAD[1:]), summary), (table([], head=[*HEAD, "Invocations"]), summary),
                (table([rows()[0][:-1]]), "x:2: 14 cells, not 15; with"),
                (table(rows(kernel="")), "x:2: the kernel's name is missing"),
                ("".join(raw[1:2] + raw[3:]), "x:2: the line of units is missing"),
                (table([[""] * 15, ["0"] * 5], head=ruled), "x:3: 5 cells, not 15; with"),
                ("==ERROR== \n", "x: this is Nsight Compute's log or its text for people; `ncu")):
            self.assertEqual(sentence, refusal(content)[:len(sentence)])
        self.check(replaced(table(rows()), "\n", "\n\n==PROF== a\n"))
        self.check(table([line[:9] + line[10:] for line in rows()], head=HEAD[:9] + HEAD[10:]))  # no device
        numbers = {"7.0": 7, "1,024": 1024, "9" * 15: 10**15 - 1, "1e15": None, "-1": None, "1.5": None, "x": None}
        self.assertEqual(numbers, {text: nsight_compute.whole(text) for text in numbers})

    def test_values_that_are_left_out(self):
        no_number = "1 values were not numbers (n/a, text) and were left out."
        for (name, unit, text), value, *remarks in (
                (("sm__a.avg", "%", "-5"), -0.05), (("sm__a.avg", "inst", "1.5"), 1.5),
                (("sm__a.avg", "", "1 5x"), None, no_number), (("sm__a.sum", "inst", "n/a"), None, no_number),
                (("sm__a.sum", "inst", "3"), 3), (("sm__a.sum", "cycle", "1.5"), 1.5),
                (("sm__a.sum", "ell", "3"), None, "Metrics in the unit 'ell' were left out: the unit is unknown.")):
            file = self.check(table(rows() + rows(launches=1, metrics=[(name, unit, text)], number=str)))
            found = [one.value for one in file.rows[0].of(Counter) if one.metric == name]
            self.assertEqual(([value][value is None:], [TIMES, *remarks]), (found, file.remarks), (name, unit, text))

    def test_a_second_value_of_a_metric(self):
        again = [("Throughput", "%", 10), ("Throughput", "%", 20), ("Duration", "us", 101), (METRICS[0][0], "ns", 9)]
        file = self.check(table(rows() + rows(metrics=again)))
        self.assertEqual([0.1, 0.1], [one.value for one in file.rows[0].of(Counter) if one.metric == "Throughput"])
        other = rows(process="4243", launches=1, metrics=[("a__b.sum", "inst", 1), ("a__b.sum", "inst", 2)])
        self.assertIn("occurs twice with different values", refusal(table(rows()) + table(other)))
        parts = table(rows(metrics=METRICS[:2])) + table(rows(metrics=METRICS[2:], kernel="gemm"))
        names = [row.point["model"] for row in imported(parts).rows]
        self.assertEqual(["x process 4242", "x process 4242 table 2"], names)

    def test_what_a_launch_lacks_the_row_lacks(self):
        none, some = "bytes at DRAM: there is no metric", "bytes at DRAM: missing for some launches"
        for first, *missing in ((METRICS, none, some), (METRICS[:4], none)):
            second = [["1", *line[1:]] for line in rows(launches=1, metrics=METRICS[:4])]
            file = imported(table(rows(launches=1, metrics=first) + second))
            self.assertEqual((FLOPS, None), (file.rows[0].flops, file.rows[0].compulsory))
            self.assertEqual(missing, [one for one in file.missing if one.startswith("bytes")])

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
        self.assertEqual([TIMES, "1 values were not numbers (n/a, text) and were left out."], file.remarks)

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
        self.assertEqual(["FLOPs: there is no metric", "bytes at DRAM: there is no metric"], file.missing)
        self.assertEqual([TIMES], file.remarks)
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
        time, clock = "gpu__time_duration.sum", "smsp__cycles_elapsed.avg.per_second"
        moved = {"dram__bytes.sum": 4e9}  # 2 TB/s for 2 ms
        counted = {STEM.format("dadd"): 3e7, STEM.format("dmul"): 0, STEM.format("dfma"): 6e7}  # in each of 3e6 cycles
        for absent, flops, sums in (("", 3e7 + 2 * 6e7, {**moved, **counted}), (clock, None, moved), (time, None, {})):
            kept = [at for at, name in enumerate((*head, *metrics)) if name != absent]
            text = table([[line[at] for at in kept] for line in lines], head=[(*head, *metrics)[at] for at in kept])
            row, = imported(text).rows
            self.assertEqual(sums, {one.metric: round(one.value) for one in row.of(Counter)
                                    if one.metric.endswith(".sum") and one.metric != time})
            self.assertEqual((flops, sums.get("dram__bytes.sum")), (row.flops and round(row.flops), row.compulsory))


if __name__ == "__main__":
    unittest.main()

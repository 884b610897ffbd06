"""Tables that PyTorch prints, and the rates of the Empirical Roofline Tool."""

import unittest

from importing import imported, refusal, replaced, text_of

from roof.importing.key_averages import ruler

COLUMNS = ("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg",
           "# of Calls", "Total GFLOPs")
#: Five products in 90 ms on the device; the kernel's time is the operator's once more. 100 ms in all.
LINES = (("aten::addmm", "5.00%", "500.000us", "8.00%", "800.000us", "160.000us", "90.000ms", "90.00%", "90.000ms", "18.000ms", "5", "5000.000"),
         ("void at::ampere_sgemm<float>", "0.00%", "0.000us", "0.00%", "0.000us", "0.000us", "90.000ms", "90.00%", "90.000ms", "18.000ms", "5", "--"),
         ("aten::relu", "1.00%", "100.000us", "2.00%", "200.000us", "40.000us", "10.000ms", "10.00%", "10.000ms", "2.000ms", "5", "--"),
         ("cudaLaunchKernel", "3.00%", "300.000us", "3.00%", "300.000us", "30.000us", "0.000us", "0.00%", "0.000us", "0.000us", "10", "--"),
         ("cudaDeviceSynchronize", "91.00%", "9.100ms", "91.00%", "9.100ms", "9.100ms", "0.000us", "0.00%", "0.000us", "0.000us", "1", "--"))
#: What PyTorch 2.13 gives no FLOPs, by key_averages() of a call of each, and of two with weights of 4 bits
WITHOUT = [f"aten::{name}" for name in ("mv", "addmv", "addmv_", "addbmm", "addbmm_", "addmm_", "baddbmm_", "dot", "vdot", "_int_mm",
                                        "_addmm_activation", "_weight_int4pack_mm", "_dyn_quant_matmul_4bit")]
TOTALS = "Self CPU time total: 10.000ms\nSelf CUDA time total: 100.000ms\n"


def printed(columns=COLUMNS, lines=LINES, totals=TOTALS):
    """As torch.autograd.profiler_util._build_table prints it."""
    widths = [max([12, *(len(line[at]) + 2 for line in (columns, *lines))]) for at in range(len(columns))]
    ruler = "  ".join("-" * width for width in widths) + "  \n"
    rows = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) + "  \n" for line in (columns, *lines)]
    return ruler + rows[0] + ruler + "".join(rows[1:]) + ruler + totals


def before(mark, text):
    return "".join(mark + line for line in text.splitlines(keepends=True))


class KeyAverages(unittest.TestCase):
    def check(self, content, device="gpu:0", seconds=0.1, flops=5e12):
        file = imported(content)
        self.assertEqual(file.format, "PyTorch's table of operators")
        for row in file.rows:
            self.assertEqual((device, [seconds], flops, "analytic"), (row.device, row.times, row.flops, row.known))
            self.assertAlmostEqual(sum(sum(layer.times) for layer in row.layers), seconds, 9)
        return file

    def test_times_of_a_gpu_are_the_gpus_and_each_counts_once(self):
        (row,) = self.check(printed()).rows
        self.assertEqual([layer.kind for layer in row.layers], ["aten::addmm", "aten::relu"])
        alone = printed(
            lines=[LINES[1], *LINES[3:]], totals=TOTALS.replace("100.000ms", "90.000ms")
        )  # versions that give operators no time
        self.assertEqual([layer.kind for layer in self.check(alone, seconds=0.09, flops=None).rows[0].layers], ["void at::ampere_sgemm<float>"])
        self.check(printed().replace("CUDA", "XPU ").replace("XPU  time", "XPU time"))

    def test_a_range_of_the_user_is_no_kernel(self):
        # PyTorch leaves its time on the device out of the total (profiler_util.py: is_user_annotation)
        on_host = ("train", "5.00%", "1.000ms", "50.00%", "5.000ms", "5.000ms", "0.000us", "0.00%", "100.000ms", "100.000ms", "1", "--")
        on_device = ("train", *LINES[1][1:6], "100.000ms", "100.00%", *on_host[8:])
        self.check(printed(lines=[on_host, on_device, *LINES]))
        cut = imported(printed(lines=[on_host, on_device, LINES[0]]))
        self.assertTrue(cut.rows[0].at_least)
        self.assertIn("the printed rows have 90% of the time", cut.missing[0])

    def test_notebooks_comments_and_ranks(self):
        for mark in ("    ", "# ", "[rank0]: ", "> ", "\t", "2026-11-28 10:00:00 | "):
            self.check(before(mark, printed()))
            self.check("loss 0.25\n" + before(mark, printed()) + "done\n")
        lines = enumerate(printed().splitlines())
        self.check("".join(f"2026-11-29T06:4{number % 10}:00.{number:07}Z {line}\n" for number, line in lines))  # a log of times
        self.check("INFO:root:" + printed())  # a logger's mark, on the first line alone
        self.check(before("[rank0]: ", printed()) + before("[rank1]: ", printed()))
        mixed = zip(before("[rank0]: ", printed()).splitlines(keepends=True), before("[rank1]: ", printed()).splitlines(keepends=True))
        names = [row.point["model"] for row in self.check("".join(line for pair in mixed for line in pair)).rows]
        self.assertEqual(names, ["x", "x 2"])
        self.check(printed().replace("\n", "\r\n"))
        self.check(("\n".join(line.rstrip() for line in printed().splitlines()) + "\n").encode("utf-16"))

    def test_a_file_of_dashes_is_soon_refused(self):
        for more, sentence in ((499, ""), (500, "x: more than 500 different texts precede its lines of dashes")):
            self.assertEqual(sentence, refusal(printed() + "".join(f"{number}---  ---\n" for number in range(more))))

    def test_two_tables_are_two_rows(self):
        for text in (printed() + "epoch 2\n" + printed(), before("# ", printed()) + printed(),
                     printed() + "# of Calls\n" + printed()):
            self.assertEqual([row.point["model"] for row in self.check(text).rows], ["x", "x 2"])

    def test_two_groups_of_three_dashes_are_a_ruler(self):
        for line, mark in (("---  ---", ""), ("# ---  ---- \n", "# "), ("- ---  ---", "- "), ("7 ---  ---", "7 "),
                           ("12:30.5 ---  ---", "0000000 "), ("---", None), ("---  --", None), ("---  --  ---", None),
                           ("-- --", None), ("--- --- x", None), ("", None)):
            self.assertEqual(mark, ruler(line), line)

    def whole(self, content):
        file = imported(content)
        row, = file.rows
        layers = [(layer.name, layer.kind, layer.phase, layer.times, layer.flops) for layer in row.layers]
        return (row.device, row.times, row.flops, layers), file.missing, file.remarks[:-1]

    def test_everything_in_a_table_of_a_processor(self):
        columns = ("Name", "Self CPU", "CPU total", "# of Calls", "Input Shapes", "Total {}FLOPs")
        grad = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
        lines = [("ProfilerStep*", "1.000ms", "90.000ms", "2", "[]", "--"), ("ProfilerStep*", "0.000us", "0.000us", "many", "[]", "--"),
                 ("aten::mm", "30.000ms", "30.000ms", "2", "[[2, 3], [3, 4]]", "6.000"),
                 (grad, "0.000us", "0.000us", "2", "[]", "--"), ("MmBackward0", "2.000s", "2.000s", "2", "[]", "0"),
                 ("Optimizer.step#SGD.step", "-1.000us", "5.000ms", "2", "[]", "--")]
        for power, prefix in enumerate(("", "K", "M", "G", "T", "P")):
            text = printed([one.format(prefix) for one in columns], lines, "Self CPU time total: 100.000ms\n")
            layers = [("aten::mm [[2, 3], [3, 4]]", "aten::mm", "forward", [0.015], 3.0 * 1000**power),
                      (f"{grad} []", grad, "backward", [0.0], None),
                      ("MmBackward0 []", "MmBackward0", "backward", [1.0], 0.0),
                      ("Optimizer.step#SGD.step []", "Optimizer.step#SGD.step", "update", [], None)]
            self.assertEqual((("cpu", [0.05], 3.0 * 1000**power, layers), ["bytes: the table has none"],
                              ["line 9: the time of Optimizer.step#SGD.step is below 0 and was left out"]), self.whole(text))
            self.assertEqual("FLOPs are PyTorch's; an operator's time is its own", imported(text).remarks[-1])
        for to, lines, reason in ((6, lines[:1], "no printed row has any; print all with row_limit=-1"),
                                  (5, [], "profile with with_flops=True")):
            text = printed([one.format("") for one in columns[:to]], lines, "Self CPU time total: 100.000ms\n")
            self.assertEqual((("cpu", [0.05 if lines else 0.1], None, []),
                              [f"FLOPs: {reason}", "bytes: the table has none"], []), self.whole(text))

    def test_everything_in_a_table_of_a_gpu(self):
        conv = ("aten::conv2d", "1.00%", "100.000us", "9.00%", "900.000us", "180.000us", "0.000us", "0.00%", "90.000ms",
                "18.000ms", "5", "7.000")
        layers = [(f"aten::{name}", f"aten::{name}", "forward", [time], flops)
                  for name, time, flops in (("conv2d", 0.0, 7e9), ("addmm", 0.09, 5e12), ("relu", 0.01, None))]
        self.assertEqual((("gpu:0", [0.1], 5.007e12, layers), ["bytes: the table has none"], []),
                         self.whole(printed(lines=[conv, *LINES])))

    def test_rows_and_flops_that_are_not_printed_make_a_lower_bound(self):
        attended = ("aten::_flash_attention_forward", *LINES[2][1:])
        for lines, reason in ((LINES[:2], "the printed rows have 90% of the time; print all with row_limit=-1"), (LINES[:3], ""),
                              ([*LINES[:2], attended], "PyTorch counts none for aten::_flash_attention_forward"),
                              *(([*LINES[:2], (name, *LINES[2][1:])], f"PyTorch counts none for {name}") for name in WITHOUT)):
            (row,), missing = (found := imported(printed(lines=lines))).rows, found.missing
            self.assertEqual((5e12, reason != ""), (row.flops, row.at_least))
            self.assertEqual([f"FLOPs: a lower bound: {reason}"] * (reason != "") + ["bytes: the table has none"], missing)
        parts = "; ".join(imported(text_of("key_averages.txt")).missing)
        self.assertIn("rows have 95% of the time; print all with row_limit=-1; PyTorch counts none for aten::convolution_backward", parts)

    def test_tables_that_are_wrong_are_refused_with_their_line(self):
        text, mark = printed(), printed().partition("\n")[0]
        cases = [(text[:3 * len(mark) + 3], "3: the table is cut off"), (text[:text.rindex(mark)], "8: the table is cut off"),
                 (text.splitlines()[1] + "\n\n" + text, "1: the table has no line of dashes below its heading")]
        for empty in (["Name"], ["Self CPU"], ["# of Calls"], COLUMNS[:-2]):
            row = [cell if column not in empty else "" for column, cell in zip(COLUMNS, LINES[0])]
            cases.append((printed(lines=[*LINES, row]), f"9: its cell '{empty[0]}' is empty"))
        for total in ("", "Self CUDA time total: 0.000us\n", "Self CUDA time total: -1.000us\n"):
            cases.append((printed(totals=f"\nSelf CPU time total: 1s\n{total}"),
                          "9: the table does not end in 'Self CUDA time total: …'"))
        for content, sentence in cases:
            self.assertEqual(f"x: line {sentence}", refusal(content))

    def test_a_time_below_zero_of_the_host_is_none_of_a_device(self):
        self.check(printed().replace(" 500.000us", "-415.000us"))

    def test_frames_of_a_stack_are_no_rows(self):
        columns = (*COLUMNS, "Source Location")
        frame, blank = ("",) * len(COLUMNS) + ("train.py(7): step",), ("",) * len(columns)
        self.check(printed(columns, [line for one in LINES for line in ((*one, "model.py(3): forward"), frame, blank)]))

    def test_up_to_pytorch_1_5_only_the_whole_time_on_the_device_is_known(self):
        columns = ("Name", "Self CPU total %", "Self CPU total", "CPU total %", "CPU total", "CPU time avg", "CUDA total %", "CUDA total",
                   "CUDA time avg", "Number of Calls")
        lines = [("addmm", "5.00%", "500.000us", "8.00%", "800.000us", "160.000us", "90.00%", "90.000ms", "18.000ms", "5")]
        (row,) = imported(printed(columns, lines, "Self CPU time total: 10.000ms\nCUDA time total: 100.000ms\n")).rows
        self.assertEqual(("gpu:0", [0.1], None, []), (row.device, row.times, row.flops, row.layers[0].times))

    def test_steps_and_an_old_heading(self):
        step = ("ProfilerStep*", "1%", "1.000ms", "1%", "1.000ms", "1.000ms", "0.000us", "0%", "0.000us", "0.000us", "5", "--")
        self.check(printed(lines=[step, *LINES]), seconds=0.02, flops=1e12)
        self.check(printed([column.replace("# of Calls", "Number of Calls") for column in COLUMNS]))

    def test_the_table_that_pytorch_printed(self):
        text = text_of("key_averages.txt")
        file = self.check_real(text)
        self.assertIn("bytes: the table has none", file.missing)
        self.assertIn("the table is cut off", refusal(text[: text.index("aten::_log_softmax_backward")] + "\n"))
        self.assertIn("does not end in 'Self CPU time total", refusal(replaced(text, "Self CPU time total", "In all")))
        self.assertIn("line 8: '47.78xs' is not a time", refusal(replaced(text, "47.789ms", " 47.78xs")))

    def check_real(self, text):
        file = imported(text)
        (row,) = file.rows
        self.assertEqual(("cpu", [0.707486], 3 * 32768.0), (row.device, [round(row.times[0], 9)], row.flops))
        self.assertEqual((len(row.layers), row.layers[0].phase, row.layers[3].name), (15, "backward", "aten::mm [[64, 8], [8, 16]]"))
        return file


class Ert(unittest.TestCase):
    def test_the_file_that_the_tool_wrote(self):
        file = imported(text_of("ert_1.1.0.json"))
        self.assertEqual([(row.role, row.point.get("path") or row.point["precision"], row.compulsory or row.flops) for row in file.rows],
                         [("bandwidth", "L1", 936.46e9), ("bandwidth", "DRAM", 675.88e9), ("compute", "fp32", 202.08e9),
                          ("compute", "fp64", 124.49e9)])
        self.assertEqual({(row.device, row.known) for row in file.rows}, {("cpu", "measured")})
        self.assertEqual(file.missing, [])
        on_gpu = imported(text_of("ert_1.1.0.json").replace("'ERT_GPU': ['False']", "'ERT_GPU': ['True']"))
        self.assertEqual({row.device for row in on_gpu.rows}, {"gpu:0"})

    def test_labels_without_a_precision_and_files_that_are_wrong(self):
        text = text_of("ert_roofline.json")
        self.assertIn("precision of 'GFLOPs': its label names none", imported(text).missing)
        for content, sentence in ((text[:150], ": byte "), (replaced(text, "912.5", '"fast"'), "gbytes: expected a pair"),
                                  (replaced(text, "912.5", "1e308864"), "expected a rate above 0"),
                                  (replaced(text, "912.5", "NaN"), "NaN is no number"), (replaced(text, "912.5", "9" * 5000), "x: "),
                                  (replaced(text, '"empirical": {', '"empirical": [{'), "x: byte"),
                                  *((f'{{"{one}": {{}}}}', "the format is unknown") for one in ("empirical", "gbytes")),
                                  ('{"empirical": [], "gbytes": 1}', "x: there is no object 'empirical'"),
                                  ('["empirical", "gbytes"]', "x: there is no object 'empirical'"),
                                  ('{"empirical": {"gbytes": []}}', "x: gbytes: expected a list 'data'"),
                                  ('{"empirical": {"gbytes": {"data": {}}}}', "x: gbytes: expected a list 'data'"),
                                  ('{"empirical": {"gbytes": {"data": [["DRAM", true]]}}}', "x: gbytes: expected a pair"),
                                  ('{"empirical": {"gbytes": {"data": [["DRAM", 0]]}}}', "x: gbytes: expected a rate above 0"),
                                  ('{"empirical": {"gbytes": {"data": []}}}', "x: it holds no rate"),
                                  (text + " " * ((1 << 20) + 1 - len(text)), "x: it is larger than 1 MiB"),
                                  ('{"empirical": {"gbytes": ' + "[" * 100000, "nested too deeply")):
            self.assertIn(sentence, refusal(content))
        self.assertEqual("", refusal(text + " " * ((1 << 20) - len(text))))
        for pair in ('5', '["L1"]', '["L1", 1, 2]', '[1, 2.5]', '["L1", "2"]', '["L1", null]'):
            content = '{"empirical": {"gbytes": {"data": []}, "gflops": {"data": [' + pair + "]}}}"
            self.assertEqual(f"x: gflops: expected a pair of a name and a number, not {pair}", refusal(content))
        for rate, sentence in ((0.5, ""), (1e99, ""), (1e100, "x: gbytes: expected a rate above 0")):
            self.assertEqual(sentence, refusal(f'{{"empirical": {{"gbytes": {{"data": [["L2", {rate}]]}}}}}}'))


if __name__ == "__main__":
    unittest.main()

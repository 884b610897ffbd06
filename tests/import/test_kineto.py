"""Traces of PyTorch, real ones and made ones, against other programs' figures and arithmetic by hand (data/README.md)."""

import gzip
import json
import re
import statistics
import unittest

from roof.importing import Call, Copy, Kernel, Range
from roof.importing.files import import_file
from roof.importing.timeline import PHASES, kind_in, phase_in
from roof.texts import InputError
from traces import DATA, PRODUCT, event, kernel, launch, of_bytes, of_events, operator, product, steps

MODULES = "kineto_modules_2.13.json.gz"


def of_file(name):
    return import_file(DATA / name)


def document(name=MODULES):
    text = (DATA / name).read_bytes()
    return json.loads(gzip.decompress(text) if name.endswith(".gz") else text)


def median_ms(row):
    return 1e3 * statistics.median(row.times)


class RealTraces(unittest.TestCase):
    def test_a_step_is_what_it_launched_to_its_end_on_the_device(self):
        row, = of_file("kineto_resnet_mi300.json.gz").rows
        self.assertEqual("gpu:2", row.device)
        self.assertEqual(3, len(row.times))
        self.assertAlmostEqual(18.98, median_ms(row), delta=0.005)
        ends = [one.start + one.duration for one in row.of(Range) if one.kind == "step"]
        self.assertAlmostEqual(86.599 - 68.045, (ends[2] - ends[1]) / 1e6, delta=0.001)
        self.assertEqual(140_395_069_440, row.flops)

    def test_a_step_launched_ahead_of_the_device_has_the_time_of_its_kernels(self):
        found = of_file("kineto_sglang_prefill.json.gz")
        row, = found.rows
        self.assertAlmostEqual(492.8, sum(one.duration for one in row.of(Kernel)) / 1e6, delta=0.05)
        self.assertTrue(492.807 < median_ms(row) < 494.5, median_ms(row))
        self.assertTrue(row.at_least)
        self.assertIn("aiter::mha_batch_prefill", " ".join(found.missing))

    def test_precision_is_that_of_most_flops(self):
        found = of_file("kineto_qwen_h100.json.gz")
        self.assertEqual("bf16", found.rows[0].point["precision"])
        self.assertEqual(6_006_026_832_832, found.rows[0].flops)
        self.assertIn("35.8 kFLOP in fp32", " ".join(found.remarks))

    def test_products_that_ran_as_tf32_have_its_precision(self):
        for name, precision in (("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16", "tf32"), ("ampere_sgemm_128x64_tn", "fp32"),
                                ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x3_nt_align4>", "tf32")):
            events = [{**one, "name": name} if one["cat"] == "kernel" else one for one in steps()]
            row, = of_events(events).rows
            self.assertEqual((precision, PRODUCT), (row.point["precision"], row.flops))

    def test_under_autocast_the_precision_is_that_of_the_operator_that_ran(self):
        row, = of_file("kineto_autocast.json.gz").rows
        self.assertEqual(("bf16", 2_588_672), (row.point["precision"], row.flops))
        first = next(one for one in row.layers if one.kind == "linear" and one.phase == "forward")
        self.assertEqual(2 * (32 * 64 + 256 * 64 + 256 + 32 * 256), first.compulsory)  # bytes of bf16

    def test_norms_are_no_flops_of_the_model_with_modules_or_without(self):
        trace = document("kineto_norm_in_module.json.gz")
        bare = {**trace, "traceEvents": [one for one in trace["traceEvents"] if one.get("cat") != "python_function"]}
        for found in (of_file("kineto_norm_in_module.json.gz"), of_bytes(json.dumps(bare).encode())):
            self.assertEqual(2_621_440, found.rows[0].flops)
            self.assertFalse(found.rows[0].at_least)

    def test_of_what_checkpoints_run_again_only_what_ran_counts(self):
        found = of_file("kineto_checkpoint.json.gz")
        row, = found.rows
        a, b, c, d, e, f, g = 16 * 32, 32 * 24, 24 * 40, 40 * 8, 8 * 8, 8 * 8, 8 * 4
        forward, again = a + b + c + d + e + f + g, a + c + g  # not b, d: stopped before; e, f: kept
        backward = a + 2 * b + 2 * c + d + 2 * e + 2 * f + 2 * g  # d is frozen, and before a is the input
        self.assertEqual(2 * 4 * (forward + again + backward), row.flops)
        self.assertEqual(70_656, row.flops)  # FlopCounterMode
        self.assertFalse(row.at_least)

    def test_what_graphs_and_operators_without_a_formula_ran_is_named_and_the_flops_are_a_lower_bound(self):
        for name, known, names in (("kineto_vllm_graphs.json.gz", 37_064_540_160, ["hipGraphLaunch (97.3%"]),
                                   ("kineto_vllm_operators_b200.json.gz", 235_838_453_760,
                                    ["vllm::moe_forward", "vllm::unified_attention_with_output"])):
            found = of_file(name)
            self.assertEqual((known, True), (found.rows[0].flops, found.rows[0].at_least))
            for one in ["FLOPs: ≥ ", *names]:
                self.assertIn(one, found.missing[-2] + found.missing[-1])

    def test_an_int8_operator_is_named(self):
        found = of_file("kineto_int8.json.gz")
        self.assertIsNone(found.rows[0].flops)
        self.assertIn("quantized::linear_dynamic", found.missing[0])

    def test_quotes_that_pytorch_does_not_escape_are_read(self):
        found = of_file("kineto_quotes.json.gz")
        self.assertEqual((3, 262_144), (len(found.rows[0].times), found.rows[0].flops))
        self.assertIn("with_stack=False", " ".join(found.remarks))


class Steps(unittest.TestCase):
    def check_three(self, found):
        row, = found.rows
        self.assertEqual([0.0009] * 3, [round(one, 9) for one in row.times])
        self.assertEqual(150_000, sum(one.duration for one in row.of(Kernel)))
        self.assertEqual(PRODUCT, row.flops)
        return row

    def test_encodings_lists_and_numbers_of_other_writers(self):
        whole = {"schemaVersion": 1, "traceEvents": steps()}
        text = json.dumps(whole)
        powers = json.loads(text, parse_int=lambda one: int(one))
        for one in powers["traceEvents"]:
            one["ts"] = f"{one['ts']:.17e}"
        for content in (text.encode(), b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16"), gzip.compress(text.encode()),
                        json.dumps(steps(), indent=1).encode(), b"\xfe\xff" + json.dumps(steps()).encode("utf-16-be"), json.dumps(powers).encode(),
                        json.dumps(powers).replace('"ts": "', '"ts": ').replace('e+15"', "e+15").encode()):
            self.check_three(of_bytes(content))

    def test_ranges_that_only_sound_like_steps_are_none(self):
        base = 1690000000000000
        for name in ("batch_norm", "batch_to_device", "step_0.1: get next batch", "step optimizer", "iterate", "stepper 3"):
            events = [*steps(name="train {}"), *(event("user_annotation", name, base + 1000 * k + 300, 50) for k in range(3))]
            row, = of_events(events).rows
            self.assertEqual((1, 3 * PRODUCT), (len(row.times), row.flops), name)
            self.check_three(of_events([*steps(), *events[12:]]))
        for name in ("step {}", "Iteration {}", "iter: {}", "batch={}", "step[DECODE bs={}]", "Step {} / 3"):
            self.check_three(of_events(steps(name=name)))

    def test_ranges_without_length_and_ranges_that_launched_nothing_are_no_steps(self):
        for length in (0, 5):
            empty = [event("user_annotation", f"step {number}", 1000 + 10 * number, length) for number in range(3)]
            row, = of_events(empty + steps(name="part {}", first=2000)).rows
            self.assertEqual(([2900 / 1e6 + (1000 - 0) / 1e6], 3 * PRODUCT), (row.times, row.flops))

    def test_a_step_within_a_step_is_none(self):
        inner = [event("user_annotation", f"step {k}", 1690000000000000 + 1000 * k + 300, 50) for k in range(3)]
        self.check_three(of_events(steps(name="iteration {}") + inner))
        self.check_three(of_events(steps() + inner))

    def test_batches_of_a_thread_that_loads_data_are_no_steps(self):
        loaded = [event("user_annotation", f"batch {k}", 1690000000000000 + 1000 * k - 500, 1000, tid=9) for k in range(4)]
        self.check_three(of_events(steps(name="step {}") + loaded))

    def test_steps_of_two_threads_at_once_are_refused_and_in_turn_are_read(self):
        def of_thread(tid, first, name="ProfilerStep#{}", own="aten::mm"):
            return [one for k in range(3) for one in (event("user_annotation", name.format(k), first + 1000 * k, 900, tid=tid),
                                                      operator(own, first + 1000 * k + 10, 100, [[64, 128], [128, 256]], tid=tid))]
        one, long = of_thread(1, 0), event("user_annotation", "ProfilerStep#9", 10, 3000, tid=2)
        inner = event("user_annotation", "ProfilerStep#8", 100, 50, tid=1)
        for other in (of_thread(2, 300), of_thread(2, 899), [inner, *of_thread(2, 200)[:2]], [long, *of_thread(2, 5000)]):
            for more in ([], [launch(20, 1), launch(30, 2), kernel(40, 5, 1), kernel(50, 5, 2)]):
                with self.assertRaisesRegex(InputError, r"^\S+: thread 1 has 'ProfilerStep#\d' and thread 2 has 'ProfilerStep#\d' at the same "
                                                        "time; profile one thread that has steps alone, or each in a process$"):
                    of_events([*one, *other, *more])
        for other, times in ((of_thread(2, 3000), 6), (of_thread(2, 300, own="aten::stack"), 3), (of_thread(2, 300, "step {}"), 3)):
            row, = of_events([*one, *other]).rows
            self.assertEqual(times, len(row.times))
        served = of_events([*one, *of_thread(2, 300, "serve {}")])
        self.assertEqual(2 * PRODUCT, served.rows[0].flops)
        self.assertIn("a step counts what other threads ran during it: 2", served.remarks)
        for alone in (one, [*of_thread(1, 0, "serve {}"), *of_thread(2, 300, "serve {}")]):
            self.assertNotIn("other threads", " ".join(of_events(alone).remarks))

    def test_what_a_step_launched_late_belongs_to_it(self):
        events = steps(name="step {}")
        for one in events:
            if one["cat"] == "kernel":
                one["ts"], one["dur"] = one["ts"] + 5000, 1000
        row, = of_events(events).rows
        self.assertEqual([0.00622, 0.001, 0.001], [round(one, 9) for one in row.times])

    def test_a_copy_without_a_call_keeps_the_steps(self):
        copies = [event("gpu_memcpy", name, 1690000000000400 + 1000 * k, 10, device=0, stream=0, correlation=500, bytes=size) for k in range(3)
                  for name, size in (("CopyHostToDevice", 1048576), ("CopyDeviceToHost", 4096))]
        row = self.check_three(of_events(steps() + copies))
        moved = {kind: sum(one.bytes for one in row.of(Copy) if one.kind == kind) for kind in ("H2D", "D2H")}
        self.assertEqual({"H2D": 3145728, "D2H": 12288}, moved)

    def test_a_step_that_was_cut_off_is_none(self):
        one = event("user_annotation", "ProfilerStep#9", 1690000000003000, 0.9)
        row = self.check_three(of_events(steps() + [one]))
        self.assertEqual(3, sum(each.kind == "step" for each in row.of(Range)))
        busy = [launch(1690000000000100 + k, 900 + k) for k in range(2)]
        self.assertEqual(1, len(of_events([*steps(2), *busy]).rows[0].times))

    def test_two_processes_have_their_own_steps_calls_and_flops(self):
        rows = of_events(steps(pid=100) + steps(pid=200, device=1)).rows
        self.assertEqual(["gpu:0", "gpu:1"], [row.device for row in rows])
        for row in rows:
            self.assertEqual((3, 3, PRODUCT), (len(row.times), len(row.of(Call)), row.flops))
        apart = of_events(steps(pid=100)
                          + [{**one, "args": {**one["args"], "correlation": one["args"].get("correlation", 0) + 50}} for one in steps(pid=200)]).rows
        self.assertEqual(["x process 100", "x process 200"], [row.point["model"] for row in apart])
        self.assertEqual([3, 3], [len(row.of(Kernel)) for row in apart])
        ranks = [{**one, "pid": one["pid"] + number, "ts": one["ts"] + number} for number in (5, 70) for one in steps()]  # each calls its device 0
        self.assertEqual([(3, 3, PRODUCT)] * 2, [(len(row.times), len(row.of(Kernel)), row.flops) for row in of_events(ranks).rows])

    def test_two_devices_of_a_process_are_rows_with_the_calls_that_started_something_there(self):
        rows = of_events(steps() + [launch(1690000000000020, 900), kernel(1690000000000050, 2, 900, "other", device=1)]).rows
        self.assertEqual([3, 1], [len(row.of(Kernel)) for row in rows])
        self.assertEqual([3, 1], [len(row.of(Call)) for row in rows])
        self.assertEqual([PRODUCT, None], [row.flops for row in rows])


class Words(unittest.TestCase):
    def test_phases_have_the_words_of_the_recorder(self):
        source = (DATA.parents[2] / "ert/recording/range_names.cpp").read_text(encoding="utf-8")
        phases = re.findall(r'\{"(\w+)", "([ \w]+)"\}', source.partition("phase_words{")[2].partition("};")[0])
        self.assertEqual({word: phase for phase, words in phases for word in words.split()}, PHASES)
        for name, phase in (("loss.backward()", "backward"), ("Criterion: and backward", "backward"), ("backward(loss)", "backward"),
                            ("forward_backward", ""), ("forward and and backward", ""), ("fwd-bwd", ""), ("backward/update", ""),
                            ("opt forward", ""), ("loss 3", "forward"), ("backward 2 backward", "backward"), ("", ""), ("data loader", "data")):
            self.assertEqual(phase, phase_in(name), name)
        steps_there = re.findall(r'"(\w+)"', source.partition("step_words{")[2].partition("}")[0])
        self.assertEqual(["step"] * len(steps_there), [kind_in(f"{word} 3") for word in steps_there])


class Devices(unittest.TestCase):
    def test_intel_and_other_devices_have_calls_by_the_same_fields(self):
        for category in ("xpu_runtime", "privateuse1_runtime", "mtia_runtime"):
            events = [{**one, "cat": category if one["cat"] == "cuda_runtime" else one["cat"]} for one in steps()]
            found = of_events(events, deviceProperties=[{"id": 0, "name": "Intel(R) Data Center GPU Max 1550"}])
            row, = found.rows
            self.assertEqual((3, PRODUCT), (len(row.of(Call)), row.flops))
            self.assertEqual(["mm 0"] * 3, [one.layer for one in row.of(Kernel)])
            self.assertEqual("Intel(R) Data Center GPU Max 1550", found.models["gpu:0"])
        self.assertEqual("Intel GPU", of_events([{**one, "cat": one["cat"].replace("cuda", "xpu")} for one in steps()]).models["gpu:0"])

    def test_a_kernel_whose_times_were_not_collected_has_none(self):
        row, = of_events(steps() + [kernel(0, 0, 7)]).rows
        self.assertEqual([0.0009] * 3, [round(one, 9) for one in row.times])
        self.assertEqual(1, sum(one.start is None for one in row.of(Kernel)))

    def test_only_work_that_ran_on_the_device_counts(self):
        captured = [operator("aten::mm", 1690000000000500, 20, [[64, 128], [128, 256]]), launch(1690000000000505, 800)]
        on_host = [operator("aten::mm", 1690000000000600, 20, [[64, 128], [128, 256]])]
        self.assertEqual(PRODUCT, of_events(steps() + captured + on_host).rows[0].flops)
        replayed = [launch(1690000000000700, 801, "cudaGraphLaunch"), kernel(1690000000000800, 50, 801)]
        found = of_events(captured + replayed)  # of a graph: what was captured did not run then
        self.assertIsNone(found.rows[0].flops)
        self.assertIn("FLOPs: no formula is known for cudaGraphLaunch (100% of the time of gpu:0)", found.missing)

    def test_a_graph_is_named_by_its_launch(self):
        events = steps() + [launch(1690000000000500, 77, "cudaGraphLaunch"), kernel(1690000000000600, 80, 77, "inner")]
        found = of_events(events)
        self.assertTrue(found.rows[0].at_least)
        self.assertIn("cudaGraphLaunch (34.8% of the time of gpu:0)", " ".join(found.missing))

    def test_a_product_of_one_library_is_named_and_what_inductor_fused_has_none(self):
        for name, run, missing in (("aten::cudnn_convolution", "conv", "aten::cudnn_convolution (50% of the time of gpu:0)"),
                                   ("CompiledFunction", "triton_poi_fused_add_0", ""),
                                   ("CompiledFunction", "triton_tem_mm", "CompiledFunction (50%")):
            found = of_events([*product(0, 1), operator(name, 200, 50), launch(210, 2), kernel(400, 50, 2, run)])
            self.assertEqual((PRODUCT, bool(missing)), (found.rows[0].flops, found.rows[0].at_least), name)
            self.assertIn(missing, found.missing[0])

    def test_of_a_sparse_factor_which_has_extents_and_no_strides_nobody_knows_the_numbers(self):
        for strides, run, flops in (([[256, 1], [256, 1]], "aten::mm", 2 * PRODUCT), ([[], [256, 1]], "aten::mm", PRODUCT),
                                    ([[128, 1], []], "aten::mm", PRODUCT), ([[128, 1], [256, 1]], "aten::sparse_sampled_addmm", PRODUCT)):
            again = product(1000, 2, name=run)
            again[0]["args"]["Input Strides"] = strides
            found = of_events([*product(0, 1), *again])
            self.assertEqual((flops, flops == PRODUCT), (found.rows[0].flops, found.rows[0].at_least), strides)
            self.assertEqual(flops == PRODUCT, f"{run} (50%" in found.missing[0])

    def test_kernels_that_no_operator_launched_are_named_but_collectives(self):
        for name, named in (("my_kernel", True), ("ncclDevKernel_AllReduce", False), ("triton_poi_fused_add_0", False)):
            found = of_events(steps() + [launch(1690000000000500, 77), kernel(1690000000000600, 80, 77, name)])
            self.assertEqual(named, found.rows[0].at_least, name)


class Processors(unittest.TestCase):
    def part(self, row, layer, phase):
        return next(one for one in row.layers if (one.name, one.phase) == (layer, phase))

    def test_modules_are_layers_and_gradients_belong_to_theirs(self):
        row, = of_file(MODULES).rows
        stem, deep, attention = 2 * 4 * 8 * 64 * 27, 2 * 4 * 8 * 64 * 9, 2 * 4 * 16 * 16 * 32
        for layer, kind, forward, backward in (("Conv2d_0", "convolution", stem, stem), ("Conv2d_1", "convolution", deep, 2 * deep),
                                               ("BatchNorm2d_0", "batch_norm", 8 * 2048, 11 * 2048), ("MaxPool2d_0", "max_pool", 3 * 512, 512),
                                               ("Linear_0", "linear", 16384, 32768), ("Linear_1", "linear", 1280, 2560),
                                               ("Net_0", "attention", attention, 2.5 * attention), ("ReLU_0", "relu", 0, 0)):
            for phase, expected in (("forward", forward), ("backward", backward)):
                part = self.part(row, layer, phase)
                self.assertEqual((kind, expected, 2), (part.kind, part.flops, len(part.times)), f"{layer} {phase}")
        self.assertEqual(2 * stem + 3 * deep + 16384 * 3 + 1280 * 3 + 3.5 * attention, row.flops)
        self.assertEqual(4 * (2048 + 72 + 8 + 2048), self.part(row, "Conv2d_1", "forward").compulsory)
        self.assertEqual(row.phases["update"], self.part(row, "optimizer", "update").times)
        self.assertEqual(("fp32", 2, 0.027115363), (row.point["precision"], len(row.times), max(row.times)))
        self.assertIsNone(row.compulsory)

    def test_a_step_of_one_layer(self):
        row, = of_file("kineto_cpu_2.13.json").rows
        self.assertEqual(("cpu", 48, [792.972e-6]), (row.device, row.flops, row.times))
        self.assertEqual([("linear 0", [160.59e-6])], [(one.name, one.times) for one in row.layers])

    def test_without_modules_a_layer_is_an_operator_and_without_shapes_the_flops_are_missing(self):
        trace = document()
        trace["traceEvents"] = [one for one in trace["traceEvents"] if one.get("cat") != "python_function"]
        for one in trace["traceEvents"]:
            one.get("args", {}).pop("Input Dims", None)
        found = of_bytes(json.dumps(trace).encode())
        self.assertIsNone(found.rows[0].flops)
        self.assertTrue(self.part(found.rows[0], "conv2d 1", "backward").times)
        self.assertIn("record_shapes", " ".join(found.missing))
        self.assertIn("with_stack", " ".join(found.remarks))

    def test_a_step_in_which_few_operators_ran_is_left_out(self):
        trace = document()
        begin = next(one["ts"] for one in trace["traceEvents"] if one["name"] == "ProfilerStep#2")
        late = [one for one in trace["traceEvents"] if one.get("cat") == "cpu_op" and one["ts"] >= begin]
        trace["traceEvents"] = [one for one in trace["traceEvents"] if one not in late[20:]]
        self.assertEqual(1, len(of_bytes(json.dumps(trace).encode()).rows[0].times))

    def test_what_ran_within_tells_of_batches_that_the_outer_operator_does_not_show(self):
        vmapped = [operator("aten::mm", 0, 90, [[5, 6], [6, 7]]), operator("aten::bmm", 10, 50, [[4, 5, 6], [4, 6, 7]])]
        # x w and its tangent, x' w + x w', as torch.func.jvp runs them within one call
        product = [[4, 8], [8, 5]]
        tangent = [operator("aten::mm", begin, length, product) for begin, length in ((0, 90), (10, 9), (20, 9), (30, 9))]
        geometry = ["", "", "", "[1, 1]", "[0, 0]", "[1, 1]"]
        image = [operator("aten::conv2d", 0, 90, [[3, 9, 9], [4, 3, 3, 3]], values=[*geometry, "1"]),
                 operator("aten::convolution", 10, 50, [[1, 3, 9, 9], [4, 3, 3, 3]], values=[*geometry, "False", "[0, 0]", "1"])]
        self.assertEqual([2 * 4 * 5 * 6 * 7, 2 * 4 * 49 * 27, 3 * 2 * 4 * 8 * 5],
                         [of_events(events).rows[0].flops for events in (vmapped, image, tangent)])

    def test_what_a_gradient_runs_with_a_gradient_counts_unless_its_checkpoint_stopped_it(self):
        last = operator("aten::mm", 50, 20, [[64, 128], [128, 256]])
        last["args"]["Sequence number"] = 7
        of_gradient = [operator("autograd::engine::evaluate_function: MmBackward0", 0, 100), last]
        saves, runs = operator("aten::detach", 51, 2, [[64, 128]]), operator("aten::resolve_conj", 54, 2, [[64, 128]])
        on_device = [launch(55, 3), kernel(200, 50, 3)]
        for more, flops in (([], PRODUCT), ([saves], 0), ([saves, runs], PRODUCT), ([saves, *on_device], PRODUCT)):
            self.assertEqual(flops, of_events([*of_gradient, *more]).rows[0].flops or 0, more)
        self.assertEqual(PRODUCT, of_events([last, saves]).rows[0].flops)  # hooks of the forward pass
        pool = operator("aten::max_pool2d_with_indices", 50, 20, [[1, 2, 8, 8]], values=["", "[2, 2]", "[2, 2]", "[0, 0]"])
        pool["args"]["Sequence number"] = 7  # saves its places, too, which it has only when it ran
        self.assertEqual([3 * 2 * 4 * 4], [one.flops for one in of_events([of_gradient[0], pool, saves]).rows[0].layers])

    def test_operators_of_tracing_do_not_run(self):
        inner = [event("user_annotation", "_compile.compile_inner (dynamo_timed)", 100, 500), operator("aten::mm", 200, 20, [[64, 128], [128, 256]]),
                 operator("aten::mm", 700, 20, [[64, 128], [128, 256]])]
        self.assertEqual(PRODUCT, of_events(inner).rows[0].flops)

    def test_a_kernel_of_inductor_has_what_inductor_says(self):
        one = operator("triton_tem_fused_mm_0", 41, 5, [[8], [8]])
        one["args"].update({"kernel_flop": 4096, "kernel_num_gb": 3.2e-05})
        row, = of_events([one]).rows
        self.assertEqual((4096, 32000), (row.flops, row.layers[0].compulsory))

    def test_attention_under_a_causal_mask(self):
        trace = document()
        for one in trace["traceEvents"]:
            if "flash_attention_for_cpu" in one.get("name", ""):
                values = one["args"]["Concrete Inputs"]
                values[values.index("False")] = "True"
        row, = of_bytes(json.dumps(trace).encode()).rows
        self.assertEqual(row.flops - 3.5 * 2 * 4 * 32 * (16 * 15 / 2), row.executed)
        for one in trace["traceEvents"]:
            one.get("args", {}).pop("Concrete Inputs", None)
        self.assertEqual(1, of_bytes(json.dumps(trace).encode()).remarks.count("attention is counted in full where the trace does not tell its mask"))


class WrongFiles(unittest.TestCase):
    def refusal(self, content, name="x"):
        with self.assertRaises(InputError) as raised:
            of_bytes(content, name)
        self.assertNotIn("\n", str(raised.exception))
        return str(raised.exception)

    def test_a_file_that_ends_early_is_refused_with_its_byte(self):
        text = (DATA / "kineto.json").read_bytes()
        self.assertRegex(self.refusal(text[:len(text) // 2]), ": byte [0-9]+: ")
        self.assertIn("none of its 0 events", self.refusal(b'{"traceEvents": []}'))
        packed = (DATA / MODULES).read_bytes()
        for length in (3, 12, len(packed) // 2, len(packed) - 1):
            self.assertIn("damaged or cut off", self.refusal(packed[:length]))

    def test_files_of_other_programs_are_named_with_what_converts_them(self):
        for name, content, part in (("a.nsys-rep", b"\x01\x02\0\3" * 20, "nsys export --type sqlite"), ("b.ncu-rep", b"NVR\0\1\2", "ncu --import"),
                                    ("c", b"NVR\0\1\2", "ncu --import"), ("perf.data", b"PERFILE2\1\2", "perf stat"),
                                    ("d.json", b"PK\x03\x04\1\2", "unzip"), ("d.sqlite.gz", gzip.compress(b"SQLite format 3\0" + bytes(100)),
                                                                             "gunzip"), ("e.json.zst", b"\x28\xb5\x2f\xfd12", "unzstd"),
                                    ("f.txt", b"hello", "the format is unknown"), ("g", b"", "it is empty")):
            self.assertIn(part, self.refusal(content, name))

    def test_deep_nesting_is_refused(self):
        self.refusal(b'{"traceEvents": ' + b"[" * 100_000)
        self.refusal(b'{"traceEvents": [{"ph": ' + b'{"a":' * 100_000)


if __name__ == "__main__":
    unittest.main()

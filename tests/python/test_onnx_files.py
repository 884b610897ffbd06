"""ONNX files of the field, damaged ones, and the command `roof estimate FILE.onnx`."""

import contextlib
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile
from pathlib import Path

from test_onnx_reading import held_in, made, node, nodes_in, numbers, read, weights

from onnx import helper

from roof.onnx_reading import network
from roof.texts import InputError

DATA = Path(__file__).parent / "data"
OF_MODELS = Path(__file__).parents[1] / "model" / "data" / "onnx"


class Files(unittest.TestCase):
    """Each file of the field, without its weights, is counted as a second source counts it."""

    def counted(self, archive, table):
        with zipfile.ZipFile(DATA / archive) as files, open(DATA / table, newline="", encoding="utf-8") as rows:
            for row in csv.DictReader(rows):
                with self.subTest(row["file"]):
                    sizes = dict(word.split("=") for word in row["sizes"].split(",") if word)
                    given = {name: int(size) for name, size in sizes.items()}
                    found = read(files.read(row["file"] + ".onnx"), int(row["batch"]), given=given)
                    yield row, found
                    self.assertEqual((int(row["flops"]), []), (found.flops(), [one.kind for one in found.unknown()]))

    def test_files_of_exporters_and_quantizers(self):
        self.assertGreaterEqual(sum(1 for _ in self.counted("onnx_exports.zip", "onnx_exports.csv")), 40)

    def test_files_of_each_kind_that_was_misread_before(self):
        for row, found in self.counted("onnx_kinds.zip", "onnx_kinds.csv"):
            if row["parameters"]:
                self.assertEqual(int(row["parameters"]), found.parameters, row["file"])

    def test_networks_have_the_parameters_and_flops_that_pytorch_counts(self):
        for table in ("truth.csv", "operators.csv"):
            with open(OF_MODELS / table, newline="", encoding="utf-8") as rows:
                for name, parameters, flops in list(csv.reader(rows))[1:]:
                    for batch in (1, 8):
                        found = network.read(OF_MODELS / f"{name}.onnx", batch)
                        self.assertEqual((int(parameters), batch * float(flops)), (found.parameters, found.flops()), name)

    def test_an_operator_has_the_shape_of_its_own_version(self):
        # Squeeze-12 has its axes as an attribute; Squeeze-13 as an input, without which all of extent 1 go
        functions = {version: helper.make_function("custom", f"F{version}", ["a"], ["b"], [node("Squeeze", ["a"], "b", axes=[1])],
                                                   [helper.make_opsetid("", version)]) for version in (12, 13)}
        shapes = {12: (2, 1, 8), 13: (2, 8)}
        for order in ((12, 13), (13, 12)):
            nodes = [one for k in order for one in (node(f"F{k}", ["x"], f"s{k}", "custom"), node("Neg", [f"s{k}"], f"n{k}"),
                                                    node("ReduceSum", [f"n{k}"], f"r{k}", keepdims=0))]
            last = node("Add", [f"r{k}" for k in order], "y")
            found = read(made([*nodes, last], (), (1, 1, 8), functions=list(functions.values())), 2)
            self.assertEqual([shapes[k] for k in order], [one.output for one in found.operators if one.kind == "Neg"])

    def test_weights_are_stored_in_their_own_bytes(self):
        with zipfile.ZipFile(DATA / "onnx_kinds.zip") as files:
            self.assertEqual(640, read(files.read("fp8_weights.onnx")).stored)
            self.assertLess(read(files.read("qdq_int8.onnx")).stored, 1.3 * 5386)
            packed = read(files.read("onnxruntime_genai_block.onnx"))
            self.assertEqual(12288 // 2 + 4 * (64 + 1920), packed.stored)

    def test_each_tensor_that_a_weight_is_computed_from_counts_once(self):
        for text, held, parameters, stored in (  # weight norm, LoRA, one table for two, numbers with scales, a small token
            ("t = Mul w g; y = MatMul x t", "w:8,8 g:1,8", 64 + 8, 144),
            ("b = MatMul a c; d = Mul b f; t = Add w d; y = MatMul x t", "w:8,8 a:8,4 c:4,8 f:", 64 + 32 + 32, 256),
            ("p q = Split w axis=1; a = MatMul x p; y = MatMul a q", "w:8,16", 128, 256),
            ("c = Cast q to=1; t = Mul c s; y = MatMul x t", "q:8,8:3 s:1,8", 64, 128),
            ("c = Constant value_floats=[1.,2.,3.,4.,5.,6.,7.,8.]; s = Shape x; t = Expand c s; y = Add x t", "", 8, 16)):
            found = read(made([*nodes_in(text)], [*held_in(held)], [8]), 2, float_bytes=2)
            self.assertEqual((parameters, stored), (found.parameters, found.stored), text)

    def test_each_of_two_trained_factors_has_a_gradient(self):
        # as autograd runs them: x (a b) of [2][8], a 8x3, b 3x5: both gradients of a b, and that of the weights of x
        of_both, of_x = 2 * 8 * 3 * 5, 2 * 2 * 8 * 5
        for operation in ("MatMul", "Gemm"):
            found = read(made([*nodes_in(f"w = {operation} a b; y = MatMul x w")], [*held_in("a:8,3 b:3,5")], [8]), batch=2)
            self.assertEqual([of_both, of_x], [one.forward.flops for one in found.operators])
            self.assertEqual([2 * of_both, of_x], [one.of_weights.flops + one.of_inputs.flops for one in found.operators])

    def test_an_einsum_without_a_sum_is_no_product_and_a_list_of_tensors_is_named(self):
        # as torch.einsum runs them: bmm, mul, mul
        for equation, held, flops, others in (("bi,ij->bj", "w:8,5", 2 * 2 * 8 * 5, 0), ("bi,j->bij", "w:5", 0, 2 * 8 * 5),
                                              ("bi,i->bi", "w:8", 0, 2 * 8)):
            work = read(made([node("Einsum", ["x", "w"], "y", equation=equation)], [*held_in(held)], [8]), 2).operators[0].forward
            self.assertEqual((flops, others), (work.contraction_flops, work.flops - flops), equation)
        found = read(made([*nodes_in("e = SequenceEmpty; l = SequenceInsert e x; y = ConcatFromSequence l axis=0")], [], [8]))
        self.assertEqual(["ConcatFromSequence"], [one.kind for one in found.unknown()][-1:])

    def test_behind_a_cache_the_last_query_sees_the_last_key(self):
        # pairs that change a result of onnxruntime 1.32 and of onnx's evaluator: 50 of 4 x 14 behind a cache of 10, 10 of 4 x 4
        caches = [helper.make_tensor_value_info(name, 1, [1, 2, 10, 8]) for name in ("keys", "values")]
        for more, given, keys, kept in ((["", "keys", "values"], {}, 14, 50), ([], {}, 4, 10),
                                        (["", "keys", "values"], {"left_window_size": 2}, 14, 12)):
            attention = node("Attention", ["x", "k", "k", *more], "y", q_num_heads=8, kv_num_heads=2, is_causal=1, **given)
            model = made([node("MatMul", ["x", "w"], "k"), attention], [weights("w", 64, 16)], (4, 64), version=23, more=caches)
            work = read(model).operators[1].forward
            self.assertEqual((2 * 8 * 4 * keys * 16, 2 * 8 * kept * 16), (work.flops, work.flops - work.masked), more)


class Damaged(unittest.TestCase):
    def test_damaged_files_are_read_or_refused_in_a_sentence(self):
        with zipfile.ZipFile(DATA / "onnx_kinds.zip") as files:
            contents = [files.read(name) for name in files.namelist()]
        chance = random.Random(20261128)
        for _ in range(400):
            content = bytearray(chance.choice(contents))
            if chance.random() < 0.2:
                del content[chance.randrange(len(content)) :]
            for _ in range(chance.randrange(1, 6)):
                at = chance.randrange(len(content) + 1)
                content[at : at + chance.randrange(3)] = bytes(chance.choice((0, 1, 8, 127, 255)) for _ in range(chance.randrange(3)))
            try:
                read(bytes(content), chance.choice((1, 2)))
            except InputError as error:
                self.assertNotIn("\n", str(error))

    def test_files_that_would_grow_without_end_are_refused_or_named(self):
        doubled = [node("Concat", [f"l{k}", f"l{k}"], f"l{k + 1}", axis=0) for k in range(40)]
        with self.assertRaisesRegex(InputError, "a tensor cannot be of"):
            read(made([*doubled, node("Reshape", ["x", "l40"], "r"), node("Relu", ["r"], "y")], [numbers("l0", [1])]))
        calls = [helper.make_function("custom", f"F{k}", ["a"], ["c"], [helper.make_node(f"F{k + 1}", [a], [b], domain="custom") for a,
                                                                        b in ("ab", "bc")], [helper.make_opsetid("custom", 1)]) for k in range(30)]
        calls.append(helper.make_function("custom", "F30", ["a"], ["c"], [helper.make_node("Relu", ["a"], ["c"])], [helper.make_opsetid("", 17)]))
        with unittest.mock.patch("roof.onnx_reading.walk.MOST_OPERATORS", 500), self.assertRaisesRegex(InputError, "has more than 500 operators"):
            read(made([node("F0", ["x"], "y", "custom")], functions=calls))

    def test_a_name_that_is_no_text_ends_in_no_traceback(self):
        function = helper.make_function("custom", "F", ["a"], ["result"], [helper.make_node("Relu", ["a"], ["result"])],
                                        [helper.make_opsetid("", 17)])
        content = made([node("F", ["x"], "y", "custom")], functions=[function]).SerializeToString()
        for name in (b"result", b"Relu", b"at y", b"custom"):
            with contextlib.suppress(InputError):
                read(content.replace(name, b"\xff" + name[1:]))

    def test_other_files_are_refused(self):
        for content in (b"", b"no network", b"\x08\x07"):
            with self.assertRaisesRegex(InputError, "is no ONNX file"):
                read(content)
        with self.assertRaisesRegex(InputError, "No such file"):
            network.read("/nowhere/net.onnx")
        with self.assertRaisesRegex(InputError, r"MatMul at 'at a\?b' of 1x3x8x8 and 1x3x9: "):  # a line break within a name
            read(made([node("MatMul", ["x", "w"], "a\nb"), node("Relu", ["a\nb"], "y")], [weights("w", 1, 3, 9)]))


@unittest.skipUnless(os.environ.get("ROOF_PROGRAM"), "ROOF_PROGRAM names no program")
class Command(unittest.TestCase):
    def estimate(self, name, *words):
        environment = {**os.environ, "ROOF_PYTHON": sys.executable}
        with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(DATA / "onnx_kinds.zip") as files:
            files.extract(name, scratch)
            return subprocess.run([os.environ["ROOF_PROGRAM"], "estimate", name, *words], cwd=scratch, env=environment, capture_output=True,
                                  text=True, check=False)

    def test_an_estimate_has_the_counts_of_the_file(self):
        document = json.loads(self.estimate("if.onnx", "--batch", "1", "--json").stdout)
        self.assertEqual((2634, 1180288, False), (document["parameters"], document["flops"]["forward"], document["flops"]["is_lower_bound"]))
        placed = self.estimate("qdq_int8.onnx", "--batch", "1,2", "--phase", "forward", "--on", "h100", "--json")
        first, second = json.loads(placed.stdout)["estimates"]
        self.assertEqual((3244672, 2 * 3244672), (first["flops"]["forward"], second["flops"]["forward"]))
        self.assertGreater(second["machines"][0]["layer_by_layer_s"], 0)

    def test_what_is_unknown_is_named_and_no_sum_is_a_plain_number(self):
        shown = self.estimate("loop_scripted.onnx", "--batch", "2").stdout
        self.assertIn("Loop at '/Loop'", shown)
        self.assertRegex(shown, "forward +≥ ")
        self.assertIn("times are lower bounds", self.estimate("loop_scripted.onnx", "--batch", "2", "--on", "h100").stdout)
        document = json.loads(self.estimate("loop_scripted.onnx", "--batch", "2", "--json").stdout)
        self.assertTrue(document["flops"]["is_lower_bound"])
        self.assertNotIn("≥", self.estimate("loop_scripted.onnx", "--batch", "2", "--size", "n=6").stdout)

    def test_what_a_user_can_mend_is_one_sentence(self):
        for words, sentence in ((["--batch", "4"], "give it one: --size T=N"),
                                (["--batch", "4", "--size", "T=20,N=4,k=2"], "leaves no axis 'k' open"),
                                (["--batch", "4", "--size", "T"], "not a whole number"),
                                (["--batch", "4", "--phase", "decode"], "--phase train or forward"),
                                (["--batch", "4", "--precision", "fp7"], "unknown precision 'fp7'")):
            done = self.estimate("lstm_time_first.onnx", *words)
            self.assertEqual(2, done.returncode)
            self.assertIn(sentence, done.stderr)
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()

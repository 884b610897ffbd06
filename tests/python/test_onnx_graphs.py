"""Graphs within the graph of an ONNX file: branches, loops, scans and functions."""

import re
import unittest
import unittest.mock

from test_onnx_reading import held_in, made, node, nodes_in, numbers, of_kind, read, weights

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from roof.onnx_reading import values, walk
from roof.texts import InputError


def body_of(nodes, inputs, outputs, held=()):
    graph = onnx.GraphProto(name="body", node=nodes, initializer=held)
    graph.input.extend(onnx.ValueInfoProto(name=name) for name in inputs)
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
    return graph


class Nodes(unittest.TestCase):
    def test_a_body_ends_a_loop_by_a_condition_that_it_computes(self):
        less, passed = node("Less", ["k", "last"], "a"), node("Identity", ["a"], "b")
        odd = onnx.NodeProto(op_type="Identity", input=["k"]), onnx.NodeProto(op_type="Identity", output=["o"])
        for nodes, outputs, ends in (([less], ["a"], True), ([passed, less], ["b"], True), ([passed], ["b"], False),
                                     ([less], [], False), ([*odd, passed], ["b", "a"], False),
                                     ([less, passed], ["going"], False)):
            self.assertEqual(ends, values.ends_itself(body_of(nodes, ["k", "going"], outputs)), outputs)

    def test_attributes_are_numbers_lists_text_and_the_value_of_a_constant(self):
        tensor, wanted = numbers("t", [7]), {"a": 1.5, "b": 2, "c": b"t", "d": [1.5], "e": [2, 3]}
        others = {"f": tensor, "g": body_of([], [], []), "h": ["s"], "value": tensor}
        found = values.attributes_of(helper.make_node("Any", [], ["y"], **wanted, **others))
        self.assertEqual([7], found.pop("value").tolist())
        self.assertEqual(wanted, found)
        given = {"K": 1, "N": 2**31 - 1, "value": 5}
        self.assertEqual(given, values.attributes_of(helper.make_node("Any", [], ["y"], **given)))
        for number in (0, 2**31):
            with self.assertRaisesRegex(values.Refused, f"^has a K of {number}$"):
                values.attributes_of(helper.make_node("Any", [], ["y"], K=number, N=1))
        self.assertRaises(values.Refused, values.attributes_of, helper.make_node("Any", [], ["y"], K="1"))

    def test_a_node_of_a_function_has_the_attributes_that_were_passed(self):
        called = helper.make_node("Any", ["a"], ["b"], alpha=1)
        called.attribute.add(name="beta", ref_attr_name="given", type=onnx.AttributeProto.INT)
        given = helper.make_attribute("given", 5)
        for passed, attributes in (({}, {"alpha": 1}), ({"given": given}, {"alpha": 1, "beta": 5})):
            made_of = values.with_attributes(called, passed)
            self.assertEqual((attributes, ["a"]), (values.attributes_of(made_of), list(made_of.input)))

    def test_the_sets_of_operators_of_onnx_have_two_names(self):
        sets = [helper.make_opsetid("ai.onnx", 9), helper.make_opsetid("custom", 2)]
        self.assertEqual({"": 9, "custom": 2}, values.versions_of(onnx.ModelProto(opset_import=sets)))


LACKS, ODD, INT8, INT32, INT64 = "its shapes are unknown", "no rule is known", 3, 6, 7


class Operators(unittest.TestCase):
    """What is read of each, and what is counted."""

    def shapes(self, text, held="", extents=(3, 8, 8), **more):
        found = read(made([*nodes_in(text)], [*held_in(held)], extents, **more))
        return {one.name: one.unknown or one.output for one in found.operators}

    def test_lists_are_computed_up_to_a_limit(self):
        floats, ints, outside = np.ones(1025, np.float32), np.ones(65537, np.int64), numbers("t", [1])
        outside.data_location = onnx.TensorProto.EXTERNAL
        outside.external_data.add(key="location", value="nowhere")
        for tensor, is_known in ((floats[1:], True), (floats, False), (ints[1:], True), (ints, False), (outside, False),
                                 (np.ones(2, np.int16), False), (np.ones(2, np.int32), True), (weights("t", 2), False)):
            tensor = tensor if isinstance(tensor, TensorProto) else numpy_helper.from_array(tensor, "t")
            found = walk.Walk({}, None, 4).initializers(onnx.GraphProto(initializer=[tensor]))["t"]
            self.assertEqual(is_known, found.numbers is not None, tensor.dims)
        arguments = "list = Abs to; r = Reshape x list; y = Relu r", "to=[1,192]"
        for name, most, reshaped in (("COMPUTED", 4, (1, 192)), ("COMPUTED", 3, LACKS), ("COMPUTED", 1, LACKS),
                                     ("OPERATORS", 3, (1, 192))):
            with unittest.mock.patch(f"roof.onnx_reading.walk.MOST_{name}", most):
                self.assertEqual({"y": reshaped}, self.shapes(*arguments))
        with unittest.mock.patch("roof.onnx_reading.walk.MOST_OPERATORS", 2):
            self.assertRaisesRegex(InputError, "more than 2 operators", self.shapes, *arguments)

    def test_constants_are_numbers_or_weights(self):
        for text in ("a = Constant value_ints=[3,4]", "a = Constant value_floats=[3.,4.]",
                     "b = Constant value_int=3; a = Add b steps",
                     "b = Constant value_float=3.; c = Cast b to=7; a = Add c steps"):
            text += "; to = Cast a to=7; y = Expand x to"
            self.assertEqual({"y": (3, 4)}, self.shapes(text, "steps=[0,1]", [1]))
        dense, sparse = numpy_helper.from_array(np.ones(4, np.float32)), onnx.SparseTensorProto(dims=[4, 4])
        sparse.values.CopyFrom(weights("sparse", 1))
        for operation, attributes, stored in (
            ("Add", {"value": dense}, (4, 8)), ("Add", {"value_floats": [0.5] * 4}, (4, 8)),
            ("Add", {"value_float": 0.5}, (0, 0)), ("Equal", {"value_string": "a"}, (0, 0)),
            ("MatMul", {"sparse_value": sparse}, (1, 2))):
            nodes = [node("Constant", [], "c", **attributes), node(operation, ["x", "c"], "a")]
            found = read(made([*nodes, node(operation, ["a", "c"], "y")], (), [4]), float_bytes=2)
            self.assertEqual(stored, (found.parameters, found.stored), attributes)
        model = made([node("MatMul", ["x", "sparse"], "y")], (), [4])
        model.graph.sparse_initializer.append(sparse)
        self.assertEqual((1, 4), (read(model).parameters, read(model).stored))

    def test_what_the_file_tells_of_shapes_fills_what_does_not_follow(self):
        for told, shape in (([9, 7], (2, 7)), ([2, 7, 1], LACKS), (None, LACKS)):
            told = [helper.make_tensor_value_info("n", INT64, told)]
            self.assertEqual(shape, self.shapes("n = NonZero x; f = Cast n to=1; y = Neg f", "", [4], told=told)["y"])
        told = [helper.make_tensor_value_info("a", INT8, [1, 3, 4]), helper.make_tensor_value_info("r", 1, [1, 191])]
        found = read(made([*nodes_in("a = MatMul x w; y = Neg a")], [weights("w", 5, 4)], [3, 4], told=told))
        self.assertEqual([4 * 12 + 4 * 20 + 12, 2 * 12], [one.forward.compulsory for one in found.operators])
        self.assertEqual({}, self.shapes("r = Reshape - to; y = Neg r", "to=[1,191]", told=told))
        text = "u = custom/Odd x; r = Reshape u to; y = Neg r"
        self.assertEqual({"u": ODD, "y": (1, 191)}, self.shapes(text, "to=[1,191]"))
        self.assertEqual({"t": ODD, "y": LACKS}, self.shapes("t = custom/Odd x; r = Reshape x t; y = Neg r"))
        for text, words in (("r = Reshape x to; y = Neg r", "makes 1x191 of 1x3x8x8"),
                            ("r = Transpose x perm=[9,0,1,2]; y = Neg r", "has an attribute or a shape .*")):
            with self.assertRaisesRegex(InputError, f" at 'r' {words}$"):
                self.shapes(text, "to=[1,191]", told=told)

    def test_names_that_nothing_defines_and_other_domains_are_unknown(self):
        inner = [helper.make_node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 17)]
        function = helper.make_function("custom", "F", ["a"], ["c"], *inner)
        for text, held, extents, shapes in (
            ("y = custom/Relu x", "", [3], {"y": ODD}), ("f = custom/F x; y = Neg f", "", [3], {"y": LACKS}),
            ("y = ReduceSum x nowhere", "", [3], {"y": LACKS}),
            ("y = RoiAlign x r b output_height=2 output_width=2", "r:5,4 b=[0,0,0,0,0]", [3, 8, 8], {"y": (5, 3, 2, 2)}),
            ("y = com.microsoft.nchwc/Conv x w", "w:4,3,1,1", [3, 2, 2], {"y": (1, 4, 2, 2)})):
            self.assertEqual(shapes, self.shapes(text, held, extents, functions=[function]))
        attention = [*nodes_in("y = com.microsoft/Attention x w b num_heads=2")], [*held_in("w:8,24 b:24")], [3, 8]
        self.assertEqual(2 * 3 * 8 * 24 + 4 * 3 * 3 * 8, read(made(*attention)).flops())
        gemm, = nodes_in("y = Gemm x w")
        gemm.attribute.add(name="transB", ref_attr_name="turned", type=onnx.AttributeProto.INT)
        self.assertEqual((1, 5), read(made([gemm], [weights("w", 3, 5)], [3])).operators[0].output)
        cells = "- last = GRU x w r hidden_size=4 layout=1; y = Neg last"
        self.assertEqual(["last", "y"], list(self.shapes(cells, "w:1,12,8 r:1,12,4", [3, 8])))

    def test_the_axis_of_the_batch_is_followed_to_a_recurrent_layer(self):
        held = "w:1,16,8 r:1,16,4 table:9,8 to=[3,8,8]"
        for text, extents, layout, is_time in (
            ("u = Identity x", [3, 8], 0, True), ("u = Identity x", [3, 8], 1, False), ("u = Relu x", [3, 8], 0, True),
            ("t = Transpose x perm=[1,0,2]; u = Relu t", [3, 8], 0, False), ("u = Gather table x", [3], 0, True),
            ("t = Transpose x; u = Gather table t", [3], 0, False), ("u = Reshape x to", [3, 8, 8], 0, False),
            ("t = Transpose x perm=[0,1]; u = Gather table t", [3], 0, True), ("u = custom/Odd x", [3, 8], 0, False)):
            text, kind = f"{text}; y = LSTM u w r hidden_size=4 layout={layout}", INT64 if extents == [3] else 1
            if is_time:
                with self.assertRaisesRegex(InputError, "axis 0 of its input is not that of the batch; give it a number: --size batch=N"):
                    self.shapes(text, held, extents, kind=kind)
            else:
                self.assertIn("y", self.shapes(text, held, extents, kind=kind))

    def test_an_axis_that_operators_mix_or_that_has_another_name_is_none_of_a_batch(self):
        def flops(text, held, axes, batch=1, **sizes):
            model = made([*nodes_in(text)], [*held_in(held)])
            model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", 1, axes))
            return read(model, batch, given=sizes).flops()

        line = "y = MatMul x w", "w:8,5"  # 80 FLOPs a row
        for axes, batch, sizes, expected in (([3, "N", 8], 4, {}, 12), ([3, "N", 8], 4, {"N": 2}, 12), (["T", "N", 8], 4, {"T": 3}, 12),
                                             ([1, "N", 8], 4, {"N": 3}, 12), (["s0", 3, 8], 4, {}, 12), ([6, 3, 8], 4, {}, 12)):
            self.assertEqual(80 * expected, flops(*line, axes, batch, **sizes), axes)
        tokens = "q = Reshape x to; a = Transpose q perm=[1,0,2]; b = Transpose q perm=[1,2,0]; s = MatMul a b; y = MatMul s a"
        mixed = ((tokens, "to=[0,4,4]", [6, 2, 8], 2 * 2 * 4 * 6 * 6 * 4), ("y = Gemm x w transA=1", "w:6,5", [6, 8], 2 * 6 * 8 * 5),
                 ("i = Unsqueeze x at; y = Conv i w", "at=[0] w:5,3,1,1", [3, 4, 4], 2 * 16 * 15),
                 ("i = Transpose x perm=[2,0,1]; j = Unsqueeze i at; z = Squeeze j at; k = Unsqueeze z at; y = Conv k w",
                  "at=[0] w:5,3,1,1", [4, 4, 3], 2 * 16 * 15))
        for text, held, axes, expected in mixed:
            for batch in (1, axes[0]):
                self.assertEqual(expected, flops(text, held, axes, batch), text)
            self.assertRaisesRegex(InputError, "no axis of its input is that of a batch; --batch 1 counts", flops, text, held, axes, 7)
            self.assertEqual(expected, flops(text, held, ["batch", *axes[1:]], axes[0]), text)  # the file's word goes first
        self.assertRaisesRegex(InputError, "axis 0 of its input is not .*; give it a number: --size s0=N", flops, *mixed[0][:2], ["s0", 2, 8], 6)

    def test_what_onnxruntime_turns_in_a_product_or_a_map_in_blocks(self):
        for text, held, shape, flops in (("FusedMatMul x w transBatchA=1", "w:3,8,8,5", (3, 8, 1, 5), 2 * 24 * 8 * 5),
                                         ("FusedMatMul x w transBatchA=1 transA=1", "w:3,8,1,5", (3, 8, 8, 5), 2 * 24 * 8 * 5),
                                         ("FusedMatMul x w transBatchA=1 transBatchB=1", "w:8,3,8,5", (3, 8, 1, 5), 2 * 24 * 8 * 5),
                                         ("FusedMatMul x w transBatchA=1 transBatchB=1 transB=1", "w:5,3,8,8", (3, 8, 1, 5), 2 * 24 * 8 * 5)):
            found = read(made([*nodes_in(f"y = com.microsoft/{text}")], [*held_in(held)]))
            self.assertEqual((shape, flops), (found.operators[0].output, found.flops()), text)
        for text, shape in (("Output x channels=3", (1, 3, 8, 8)), ("Output x channels=3 channels_last=1", (1, 8, 8, 3)), ("Input x", (1, 3, 8, 8)),
                            ("Input x channels_last=1", (1, 8, 3, 8))):
            self.assertEqual({"y": shape}, self.shapes(f"o = com.microsoft.nchwc/Reorder{text}; y = Relu o"))
        for text, shape in (("QLinearConv x s s w s s s s channels_last=1", (1, 6, 6, 5)), ("NhwcFusedConv x w", (1, 6, 6, 5)),
                            ("NhwcMaxPool x kernel_shape=[2,2]", (1, 7, 7, 3)), ("QLinearGlobalAveragePool x s s s s channels_last=1", (1, 1, 1, 3))):
            found = read(made([*nodes_in(f"y = com.microsoft/{text}")], [*held_in("w:5,3,3,3 s:1")], [8, 8, 3])).operators
            self.assertEqual((shape, 2 * 36 * 5 * 27 * ("Conv" in text)), (found[0].output, found[0].forward.contraction_flops), text)

    def test_products_of_constants_are_counted_once_for_any_batch_but_tables_of_angles_are_none(self):
        for text, held, flops, parameters in (
            ("t = MatMul table a; r = Relu t; b = MatMul r c; y = Add x b", "table:8,2 a:2,16 c:16,8", 2 * 8 * 16 * (2 + 8), 16 + 32 + 128),
            ("t = MatMul rates places; c = Cos t; y = Mul x c", "rates:8,1 places:1,8", 0, 64)):
            model = made([*nodes_in(text)], [*held_in(held)])
            for batch, extent in ((1, 1), (5, 1), (5, 5)):  # a file of one input, too
                model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", 1, [extent, 3, 8, 8]))
                found = read(model, batch)
                self.assertEqual((flops, parameters), (found.flops(), found.parameters), text)

    def test_parameters_and_gradients_follow_from_constants(self):
        # operators with the FLOPs of their inputs' gradients; parameters, and the bytes that they are stored in
        for text, held, gradients, parameters, stored in (
            ("y = MatMul x w", "w:8,8", {"y": 0}, 64, 128),
            ("a = Relu x; y = MatMul a w", "w:8,8", {"a": 0, "y": 0}, 64, 128),
            ("a = com.microsoft/RotaryEmbedding x i c c; y = MatMul a w", "w:8,8 c:9,4 i=[0]", {"a": 0, "y": 0}, 64, 128),
            ("b = MatMul x w; a = Relu b; y = MatMul a w", "w:8,8", {"b": 0, "a": 16, "y": 256}, 64, 128),
            ("a = Mul x s; y = MatMul a w", "w:8,8 s:1", {"a": 0, "y": 0}, 64, 128),
            ("a = Mul x s; y = MatMul a w", "w:8,8 s:2,1", {"a": 0, "y": 256}, 66, 132),
            ("a = Gather x i axis=1; y = MatMul a w", "w:8,8 i=[0,1]", {"a": 0, "y": 0}, 64, 128),
            ("i = Cast f to=7; a = Gather x i axis=1; y = MatMul a w", "w:8,8 f:2", {"a": 0, "y": 0}, 64, 128),
            ("b = Gather w i; y = Add x b", "w:8,8 i=[1,0]", {"b": 0, "y": 0}, 64, 128),
            ("o = custom/Odd w; a = MatMul x o; y = MatMul a w", "w:8,8", {"a": 0, "y": 0}, 64, 128),
            ("b = RandomNormal shape=[2,8]; a = Add x b; y = MatMul a w", "w:8,8", {"b": 0, "a": 0, "y": 0}, 64, 128),
            ("t = Transpose w; a = MatMul x w; y = MatMul a t", "w:8,8", {"a": 0, "y": 256}, 64, 128),
            ("t = DequantizeLinear q s; y = MatMul x t", "q:8,8:3 s:", {"y": 0}, 64, 64),
            ("t = Cast q to=1; y = MatMul x t", "q:8,8:3", {"y": 0}, 64, 128),
            ("q s z = DynamicQuantizeLinear x; m = Mul s v; i = MatMulInteger q w z; f = Cast i to=1; y = Mul f m",
             "w:8,4:3 v:4", {"q": 0, "m": 0, "i": 0, "f": 0, "y": 8}, 32, 32),
            ("y = BatchNormalization x a b c d", "a:2 b:2 c:2 d:2", {"y": 0}, 4, 8),
            ("y = LSTM x w r - - h hidden_size=4 layout=1", "w:1,16,8 r:1,16,4 h:1,1,4", {"y": 2 * 2 * 64}, 196, 392),
            ("b = Cast i to=1; y = Add x b", "i=[1,1,1,1,1,1,1,1]", {"y": 0}, 8, 16),
            ("b = Size x; f = Cast b to=1; y = Mul x f", "", {"y": 0}, 0, 0),
            ("o = custom/Odd x; s = Shape o; y = Reshape x s", "", {"o": 0}, 0, 0),
            ("o = Cast x to=7; b = Add o o; y = Cast b to=1", "", {"o": 0, "y": 0}, 0, 0),
            ("a = Cast x to=6; y = Slice a i j - k", "i=[0] j=[1] k=[1]", {"a": 0, "y": 0}, 0, 0),
            ("y = com.microsoft/MatMulNBits x w - - - b K=8 N=4", "w:4,1,4:2 b:4", {"y": 0}, 36, 24),
            ("y = com.microsoft/MatMulNBits x w - - - b K=8", "w:4,1,4:2 b:4", {"y": 0}, 4, 8),
            ("y = com.microsoft/MatMulNBits x w - - - b N=4", "w:4,1,4:2 b:4", {"y": 0}, 4, 8)):
            found = read(made([*nodes_in(text)], [*held_in(held)], [2, 8]), float_bytes=2)
            self.assertEqual(gradients, {one.name: one.of_inputs.flops for one in found.operators})
            self.assertEqual((parameters, stored), (found.parameters, found.stored), text)

    def test_integers_are_data_where_products_make_them(self):
        for text, held, kind, moved in (
            ("y = Cast x to=6", "", 1, {"y": 2 * 24 * 4}), ("y = Neg x", "", INT32, {}),
            ("y = Slice x i i - i", "i=[1]", INT32, {}),
            ("y = QLinearConv x s z w s z s z b", "w:4,3,1:3 b:4:6 s: z::3", INT8, {"y": 24 + 12 + 16 + 32})):
            found = read(made([*nodes_in(text)], [*held_in(held)], [3, 8], kind=kind))
            self.assertEqual(moved, {one.name: one.forward.compulsory for one in found.operators}, text)
        model = made([*nodes_in("y = MatMul x w")], [*held_in("w:8,5:6")], [3, 8], kind=INT32)
        self.assertEqual((2 * 24 * 5, 8 * 5), (read(model).flops(), read(model).parameters))


class WithinGraphs(unittest.TestCase):
    def test_what_a_graph_within_reads_is_needed_and_what_nothing_reads_is_not(self):
        *nodes, chosen = nodes_in("a = Relu x; b = Exp x; dead = Sin x; y = If c")
        branches = {"then_branch": body_of(nodes_in("n = Neg a"), [], ["n"]), "else_branch": body_of([], [], ["b"])}
        chosen.attribute.extend(helper.make_attribute(*one) for one in branches.items())
        held = [numpy_helper.from_array(np.array(False), "c")]
        self.assertEqual(["Relu", "Exp"], [one.kind for one in read(made([*nodes, chosen], held)).operators])

    def ran(self, text, held="", version=17, **graphs):
        """Whether it is unknown how it runs, the shapes of its first and last result, and the FLOPs within."""
        *nodes, within = nodes_in(text)
        within.name = "within"
        within.attribute.extend(helper.make_attribute(name, graph) for name, graph in graphs.items())
        results = f"first = Neg {within.output[0]}; last = Neg {within.output[-1]}; y = custom/Odd first last"
        told = [numpy_helper.from_array(np.array(name == "yes"), name) for name in ("yes", "no")]
        more = [helper.make_tensor_value_info(*one, []) for one in (("maybe", TensorProto.BOOL), ("many", INT64))]
        model = made([*nodes, within, *nodes_in(results)], [*held_in(held), *told], version=version, more=more)
        found = {one.name: one for one in read(model).operators}
        flops = sum(one.forward.flops for one in found.values() if one.name.startswith("within/"))
        return "within" in found, found["first"].output or None, found["last"].output or None, flops

    def test_branches_have_the_shape_that_they_agree_on(self):
        branch, x = {"then": "a = Neg x", "same": "b = Neg x", "other": "c = MatMul x w"}, (1, 3, 8, 8)
        branch["fewer"] = "d = ReduceSum x axes=[3]"
        branch = {name: body_of(nodes_in(text), [], [text[0]]) for name, text in branch.items()}
        for words, other, ran in (
            ("If maybe", "same", (False, x, x, 192)), ("If maybe", "other", (True, x, x, 192)),
            ("If -", "other", (True, x, x, 192)), ("If", "other", (True, x, x, 192)),
            ("If no", "other", (False, x, x, 3072)), ("If maybe", "fewer", (False, None, None, 192))):
            graphs = {"then_branch": branch["then"], "else_branch": branch[other]}
            self.assertEqual(ran, self.ran(f"o = {words}", "w:8,8", **graphs), (words, other))
        for text in ("o = If yes", "s = Shape x; n = Gather s zero; c = Equal n batch; o = If c"):
            ran = self.ran(text, "zero=[0] batch=[1]", version=8, then_branch=branch["then"])
            self.assertEqual((False, x, x, 192), ran)
        for text in ("o = If no", "o = If maybe"):
            with self.assertRaisesRegex(InputError, "If at 'within' lacks a branch$"):
                self.ran(text, then_branch=branch["then"])

    def test_loops_end_at_their_limit_or_by_their_condition(self):
        # a body, limit, first condition, and the most operators that are walked one by one;
        # whether it is unknown how often it runs, channels of the state, rows that it makes, FLOPs
        grows, adds = "n = Concat s x axis=1; go = Identity {}", "n = Add s x; go = Identity {}"
        counts, only = "n = Neg s; go = Less k end", "go = Less k end"
        largest = "n = Neg s; u = ReduceMax n keepdims=0; go = Less u u"
        for text, limit, begin, most, *ran in (
            (grows.format("on"), "t=-1", "-", 6, False, 3, 0, 0), (grows.format("on"), "t=0", "-", 6, False, 3, 0, 0),
            (grows.format("on"), "t=1", "-", 6, False, 6, 1, 0), (grows.format("on"), "t=3", "-", 6, False, 12, 3, 0),
            (grows.format("on"), "t=3", "-", 5, True, None, None, 0),
            (grows.format("on"), "t=3", "yes", 6, False, 12, 3, 0),
            (grows.format("on"), "t=3", "no", 6, False, 3, 0, 0),
            (grows.format("on"), "t=3", "maybe", 6, True, None, None, 0),
            (grows.format("on"), "many", "-", 6, True, None, None, 0),
            (grows.format("on"), "many", "no", 6, False, 3, 0, 0),
            (adds.format("on"), "-", "-", 6, True, 3, None, 0), (grows.format("no"), "t=3", "-", 6, False, 6, 1, 0),
            (grows.format("maybe"), "t=3", "-", 6, True, None, None, 0),
            (grows.format("maybe"), "t=0", "-", 6, False, 3, 0, 0),
            (adds.format("no"), "t=9", "-", 6, False, 3, 1, 192),
            (adds.format("maybe"), "t=9", "-", 6, True, 3, None, 192),
            (adds.format("on"), "t=9", "-", 6, False, 3, 9, 9 * 192),
            (adds.format("maybe"), "t=1", "-", 6, False, 3, 1, 192),
            (adds.format("on"), "t=2", "-", 2, False, 3, 2, 2 * 192), (counts, "- end=4", "-", 8, False, 3, 5, 5 * 192),
            (counts, "- end=5", "-", 8, True, 3, None, 5 * 192), (counts, "t=3 end=9", "-", 2, True, 3, None, 2 * 192),
            (counts, "t=2 end=9", "-", 2, False, 3, 2, 2 * 192),
            (counts, "t=9223372036854775807 end=4", "-", 9, False, 3, 5, 5 * 192),
            (largest, "t=4", "-", 9, True, 3, None, 385), (only, "- end=4", "-", 4, False, 3, 5, 0),
            (only, "- end=5", "-", 4, True, 3, None, 0)):
            within = body_of(nodes_in(text), ["k", "on", "s"], ["go", *["s" if text == only else "n"] * 2])
            with unittest.mock.patch("roof.onnx_reading.walk.MOST_ONE_BY_ONE", most):
                loop = f"a b = Loop {re.split('[ =]', limit)[0]} {begin} x"
                unknown, state, rows, flops = self.ran(loop, limit, body=within)
            self.assertEqual(ran, [unknown, state and state[1], rows and rows[0], flops], (text, limit, begin))

    def test_loops_have_states_and_numbers(self):
        for text, limit, shape in (("n = Add s k", 4, (1, 6)), ("n = Add s t", 3, (1, 9)), ("n = Add s t", 20000, ())):
            within = body_of(nodes_in(text), ["k", "on", "s"], ["on", "n"])
            loop = helper.make_node("Loop", ["t", "", "zero"], ["n"], body=within)
            nodes = [loop, *nodes_in("e = Unsqueeze n axis; f = Expand x e; y = Neg f")]
            found = read(made(nodes, [*held_in(f"t={limit} zero=0 axis=[0]")], [1]))
            self.assertEqual(shape, of_kind(found, "Neg").output)
        within = body_of(nodes_in("n = MatMul s w"), ["k", "on", "s"], ["on", "n"])
        loop = helper.make_node("Loop", ["t", "", "x"], ["y"], body=within)
        for limit in (0, 7):
            found = read(made([loop], [*held_in(f"w:8,8 t={limit}")]))
            self.assertEqual((64, limit * 3072), (found.parameters, found.flops()))
        within, rows = body_of(nodes_in("n = Neg x"), ["k", "on"], ["on", "n"]), (3, 1, 3, 8, 8)
        self.assertEqual((False, rows, rows, 3 * 192), self.ran("a = Loop t -", "t=3", body=within))
        within = body_of(nodes_in("n = Concat s x axis=1"), ["k", "on", "s"], ["on", "n"])
        self.assertEqual((False, None, None, 0), self.ran("a = Loop t - -", "t=3", body=within))
        for text, graphs in (("a = Loop t", {"body": within}), ("a = Loop t - x", {})):
            with self.assertRaisesRegex(InputError, "Loop at 'within' has no body$"):
                self.ran(text, "t=3", **graphs)

    def test_a_scan_runs_once_for_each_row(self):
        text, states = "made = MatMul row w; next = Add state made; kept = Identity made", ["state", "row"]
        body = body_of(nodes_in(text), states, ["next", "kept"])
        for words, begin, ran in (
            ("b x", "3,8,8", (False, (3, 8, 8), (1, 3, 8, 8), 3264)),
            ("b x scan_input_axes=[-4]", "3,8,8", (False, (3, 8, 8), (1, 3, 8, 8), 3264)),
            ("b x scan_input_axes=[1]", "1,8,8", (False, (1, 8, 8), (3, 1, 8, 8), 3264)),
            ("b x scan_input_axes=[-1]", "1,3,8", (False, (1, 3, 8), (8, 1, 3, 8), 3264)),
            ("b x scan_input_axes=[4]", "1,3,8,8", (True, (1, 3, 8, 8), None, 3264)),
            ("b x scan_input_axes=[-5]", "1,3,8,8", (True, (1, 3, 8, 8), None, 3264)),
            ("b x scan_output_axes=[0]", "3,8,8", (False, (3, 8, 8), (1, 3, 8, 8), 3264)),
            ("b x scan_output_axes=[1]", "3,8,8", (False, (3, 8, 8), (3, 1, 8, 8), 3264)),
            ("b x scan_output_axes=[-4]", "3,8,8", (False, (3, 8, 8), (1, 3, 8, 8), 3264)),
            ("b x scan_output_axes=[-1]", "3,8,8", (False, (3, 8, 8), (3, 8, 8, 1), 3264)),
            ("- x", "1", (False, None, (1, 3, 8, 8), 3072)), ("b u", "1", (True, None, None, 0))):
            scan = f"u = custom/Odd x; s r = Scan {words} num_scan_inputs=1"
            self.assertEqual(ran, self.ran(scan, f"w:8,8 b:{begin}", body=body), words)
        scan, held = "s r = Scan b x num_scan_inputs=1", "w:8,8 b:3,8,8"
        grows = body_of(nodes_in("next = Concat state row axis=0"), states, ["next", "row"])
        self.assertEqual((True, (6, 8, 8), None, 0), self.ran(scan, held, body=grows))
        for words in ("kept = custom/Odd row", "other = Neg row"):
            odd = body_of(nodes_in(words), states, ["state", "kept"])
            self.assertEqual((False, (3, 8, 8), None, 0), self.ran(scan, held, body=odd))
        both, rows = body_of(nodes_in("kept = MatMul a b"), ["a", "b"], ["kept"]), (3, 1, 8, 8)
        words = "num_scan_inputs=2 scan_input_axes=[1,1]"
        self.assertEqual((False, rows, rows, 3072), self.ran(f"r = Scan x x {words}", body=both))
        self.assertEqual(False, self.ran(scan, held, version=9, body=body)[0])
        for text, version, graphs in (("s r = Scan b x", 17, {"body": body}), (scan, 17, {}), (scan, 8, {"body": body}),
                                      ("s r = Scan b x num_scan_inputs=3", 17, {"body": body})):
            with self.assertRaisesRegex(InputError, "Scan at 'within' has no body, or nothing that it scans$"):
                self.ran(text, held, version=version, **graphs)

    def test_sixty_graphs_within_one_another_are_read(self):
        domains = [helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)]
        for depth in (60, 61):
            calls = [("custom", f"F{number}") for number in range(1, depth)] + [("", "Neg")]
            functions = [helper.make_function(*function, ["a"], ["b"], [helper.make_node(inner, ["a"], ["b"], domain=domain)], domains)
                         for function, (domain, inner) in zip(calls, calls[1:])]
            model = made([*nodes_in(f"z = custom/F{depth - 1} x; y = custom/F1 z")], functions=functions)
            if depth == 60:
                self.assertEqual((1, 3, 8, 8), of_kind(read(model), "Neg").output)
            else:
                with self.assertRaisesRegex(InputError, "more than 60 graphs within one another"):
                    read(model)

    def test_functions_are_entered_with_their_attributes(self):
        product = helper.make_node("Gemm", ["a", "b"], ["c"], name="product")
        product.attribute.add(name="transB", ref_attr_name="turned", type=onnx.AttributeProto.INT)
        inner = helper.make_function("custom", "Layer", ["a", "b"], ["c"], [product], [helper.make_opsetid("", 17)], ["turned"])
        outer = helper.make_function("custom", "Twice", ["a", "b"], ["e"], [helper.make_node("Layer", ["a", "b"], ["d"], domain="custom", turned=1),
                                                                            helper.make_node("Layer", ["d", "b"], ["e"], domain="custom", turned=0)],
                                     [helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)])
        found = read(made([node("Twice", ["x", "w"], "y", "custom")], [weights("w", 20, 8)], [8], functions=[inner, outer]), 4)
        self.assertEqual((2 * 2 * 4 * 8 * 20, 160), (found.flops(), found.parameters))
        endless = helper.make_function("custom", "Layer", ["a"], ["b"], [helper.make_node("Layer", ["a"], ["b"], domain="custom")],
                                       [helper.make_opsetid("custom", 1)])
        with self.assertRaisesRegex(InputError, "calls itself"):
            read(made([node("Layer", ["x"], "y", "custom")], functions=[endless]))


if __name__ == "__main__":
    unittest.main()

"""ONNX files that are only estimated: shapes, FLOPs and bytes by hand."""

import ast
import importlib.util
import re
import sys
import tempfile
import unittest
from pathlib import Path

if importlib.util.find_spec("onnx") is None:
    print("this Python has no onnx: apt-get install python3-onnx, or pip install onnx", file=sys.stderr)
    sys.exit(77)  # ctest shows it as skipped

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from roof.onnx_reading import network
from roof.onnx_reading.folding import numbers_of
from roof.onnx_reading.values import Unknown, Value, known_bytes, text
from roof.texts import InputError


def weights(name, *dims, kind=TensorProto.FLOAT):
    """Of a shape, without values."""
    return onnx.TensorProto(name=name, dims=dims, data_type=kind)


def numbers(name, values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def node(operation, inputs, output, domain="", **attributes):
    return helper.make_node(operation, inputs, [output], name=f"at {output}", domain=domain, **attributes)


def made(nodes, held=(), extents=(3, 8, 8), last="y", version=17, more=(), kind=TensorProto.FLOAT, functions=(), told=()):
    """A network of one input x, whose first extent is open, and one output."""
    graph = onnx.GraphProto(name="g", node=nodes, initializer=held, value_info=told)
    graph.input.extend([helper.make_tensor_value_info("x", kind, ["batch", *extents]), *more])
    graph.output.append(onnx.ValueInfoProto(name=last))
    domains = [helper.make_opsetid("", version), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("custom", 1)]
    model = helper.make_model(graph, opset_imports=domains)
    if functions:
        model.functions.extend(functions)
    return model


def nodes_in(text):
    """As `results = operator inputs attribute=value; …`, where - is one that is left out."""
    for line in text.split("; "):
        words = ["" if word == "-" else word for word in line.split(" ")]
        at = words.index("=") + 1
        domain, _, operation = words[at].rpartition("/")
        given = dict(one.split("=") for one in words[at:] if "=" in one)
        given = {name: ast.literal_eval(value) for name, value in given.items()}
        inputs = [one for one in words[at + 1:] if "=" not in one]
        yield helper.make_node(operation, inputs, words[:at - 1], domain=domain, **given)


def held_in(text):
    """Weights as `name:extents:type …`, of fp32 without a type, and lists of numbers as `name=numbers …`."""
    for name, values, extents, kind in re.findall(r"(\w+)(?:=(\S+)|:([\d,]*):?(\d*))", text):
        dims = ast.literal_eval(f"[{extents}]")
        yield numbers(name, ast.literal_eval(values)) if values else weights(name, *dims, kind=int(kind or 1))


def read(model, batch=1, float_bytes=4, given=None, **sizes):
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / "made.onnx"
        place.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
        return network.read(place, batch, given or sizes, float_bytes)


def of_kind(found, kind):
    return next(one for one in found.operators if one.kind == kind)


class ByHand(unittest.TestCase):
    def refused(self, words, model, **sizes):
        with self.assertRaisesRegex(InputError, words):
            read(model, **sizes)

    def test_elements_have_bytes_by_their_type_and_indices_are_no_data(self):
        # by the numbers of TensorProto.DataType: undefined, fp32, 8-bit integers, and so on; 27 is unknown
        of = (3, 3, 1, 1, 2, 2, 4, 8, 0, 1, 3, 3, 4, 8, 8, 16, 3, 1, 1, 1, 1, 0.5, 0.5, 0.5, 1, 0.25, 0.25, 4)
        for kind, size in enumerate(of):
            found = read(made([node("Neg", ["x"], "y")], (), [8], kind=kind), float_bytes=3)
            self.assertEqual((8 * size, kind not in (4, 5, 6, 7, 8, 9, 12, 13)), (found.inputs, found.operators != []))

    def test_values_cost_what_they_cost_in_pytorch(self):
        # docs/method.md, section on FLOPs; 64 is all of a value's channels
        for operation, forward, more in (("Sigmoid", 3, {}), ("HardSwish", 5, {}), ("Gelu", 5, {}), ("Gelu", 8, {"approximate": "tanh"}),
                                         ("Relu", 1, {}), ("Exp", 1, {}), ("RMSNormalization", 4, {}), ("LayerNormalization", 8, {})):
            held = [weights("w", 64)] if "Norm" in operation else []
            model = made([node(operation, ["x", *["w"] * len(held)], "y", **more)], held, [64], version=23)
            self.assertEqual(forward * 2 * 64, read(model, 2).operators[0].forward.flops, operation)

    def test_a_perceptron_on_vectors(self):
        model = made([node("MatMul", ["x", "w"], "product"), node("Add", ["product", "b"], "y")], [weights("w", 784, 10), weights("b", 10)], [784])
        for batch, size in ((8, 4), (8, 2), (1, 4)):
            found = read(model, batch, size)
            self.assertEqual((7850, size * batch * 784), (found.parameters, found.inputs))
            product, bias = of_kind(found, "MatMul"), of_kind(found, "Add")
            self.assertEqual(2 * batch * 7840, product.forward.flops)
            self.assertEqual(size * (batch * 784 + 7840 + batch * 10), product.forward.compulsory)
            self.assertEqual(0, product.of_inputs.flops)  # the input needs no gradient
            self.assertEqual(2 * batch * 7840, product.of_weights.flops)
            self.assertEqual(batch * 10, bias.forward.flops)
            self.assertEqual(size * (batch * 20 + 10), bias.forward.compulsory)
            self.assertEqual(size * batch * 20 + 4 * 10, bias.of_inputs.compulsory)  # a sum needs none of its inputs

    def test_a_fixed_batch_is_scaled_over_the_same_weights(self):
        model = made([node("MatMul", ["x", "w"], "y")], [weights("w", 784, 10)], [784])
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2
        product = read(model, 8).operators[0]
        self.assertEqual((2 * 8 * 7840, 4 * (8 * 784 + 7840 + 8 * 10)), (product.forward.flops, product.forward.compulsory))
        self.assertEqual(4 * (8 * 10 + 8 * 784 + 7840), product.of_weights.compulsory)

    def test_attention_counts_all_pairs_and_as_masked_those_that_its_mask_leaves_out(self):
        model = made([node("MatMul", ["x", "k"], "keys"), node("Attention", ["x", "keys", "keys"], "y", q_num_heads=6, kv_num_heads=2, is_causal=1)],
                     [weights("k", 48, 16)], [6, 48], version=23)
        attention = of_kind(read(model), "Attention")
        self.assertEqual((1, 6, 48), attention.output)
        self.assertEqual(2 * 6 * 36 * (8 + 8), attention.forward.flops)
        self.assertEqual(2 * 6 * 15 * (8 + 8), attention.forward.masked)
        self.assertEqual(2 * 6 * 36 * (3 * 8 + 2 * 8), attention.of_inputs.flops)
        self.assertEqual(2 * attention.forward.flops, of_kind(read(model, 2), "Attention").forward.flops)

    def test_attention_of_many_sequences_takes_no_memory_for_each(self):
        model = made([node("Attention", ["x", "x", "x"], "y")], [], (2**20, 4, 8), version=23)
        self.assertEqual(4.0 * 2**20 * 4 * 4 * 8 * 2**10, read(model, 2**10).flops())

    def test_a_cache_may_be_empty(self):
        caches = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 2, "past", 8]) for name in ("keys", "values")]
        model = made([node("GroupQueryAttention", ["x", "k", "k", "keys", "values"], "y", "com.microsoft", num_heads=4, kv_num_heads=2),
                      node("MatMul", ["x", "w"], "k")][::-1], [weights("w", 32, 16)], (16, 32), more=caches)
        for past in (0, 4):
            self.assertEqual(4.0 * 4 * 16 * (16 + past) * 8 + 2 * 16 * 32 * 16, read(model, past=past).flops())

    def test_numbers_of_heads_and_weights_are_above_zero(self):
        for name, value in (("K", -(2**63)), ("N", 0), ("K", 2**40)):
            packed = node("MatMulNBits", ["x", "w", "s"], "y", "com.microsoft", **{"K": 8, "N": 4, "bits": 4, "block_size": 8, name: value})
            with self.assertRaisesRegex(InputError, f"MatMulNBits at 'at y' has a {name} of {value}"):
                read(made([packed], [weights("w", 4, 1, 4, kind=TensorProto.UINT8), weights("s", 4)]))

    def test_convolutions_with_offsets_and_quantized_recurrent_layers(self):
        offset = helper.make_tensor_value_info("o", TensorProto.FLOAT, ["batch", 18, 8, 8])
        model = made([node("DeformConv", ["x", "w", "o"], "y", kernel_shape=[3, 3], pads=[1, 1, 1, 1])], [weights("w", 5, 3, 3, 3)], version=19,
                     more=[offset])
        self.assertEqual((2.0 * 5 * 27 * 64, []), (read(model).flops(), read(model).unknown()))
        model = made([node("DynamicQuantizeLSTM", ["x", "w", "r"], "y", "com.microsoft", hidden_size=20, direction="forward")],
                     [weights("w", 1, 12, 80, kind=TensorProto.INT8), weights("r", 1, 20, 80, kind=TensorProto.INT8)], (2, 12))
        self.assertEqual((6 * 2.0 * 2 * 80 * 32, []), (read(model, 2, given={"batch": 6}).flops(), read(model, 2, given={"batch": 6}).unknown()))

    def test_a_window_of_grouped_queries_reaches_back_from_the_last(self):
        model = made([node("GroupQueryAttention", ["x", "x", "x"], "y", "com.microsoft", num_heads=2, kv_num_heads=2, local_window_size=3)], [],
                     [5, 16])
        attention = read(model).operators[0]
        self.assertEqual(2 * 2 * 25 * 16, attention.forward.flops)
        self.assertEqual(2 * 2 * (25 - 12) * 16, attention.forward.masked)  # of five queries 1, 2, 3, 3, 3 keys

    def shape(self, operation, extents, *lists, version=17, **attributes):
        names = [f"n{k}" if one is not None else "" for k, one in enumerate(lists)]
        held = [numbers(name, one) for name, one in zip(names, lists) if name]
        found = read(made([node(operation, ["x", *names], "made", **attributes), node("Neg", ["made"], "y")], held, extents, version=version))
        return of_kind(found, "Neg").output[1:]

    def test_shapes_follow_from_each_operator(self):
        self.assertEqual((3, 8), self.shape("Reshape", [6, 4], [0, -1, 8]))
        self.assertEqual((4, 2, 3), self.shape("Transpose", [2, 3, 4], perm=[0, 3, 1, 2]))
        self.assertEqual((1, 2, 3, 1), self.shape("Unsqueeze", [2, 3], [-1, 1]))
        self.assertEqual((3,), self.shape("Squeeze", [1, 3], [1]))
        self.assertEqual((4, 3), self.shape("Expand", [1, 3], [5, 4, 1]))
        self.assertEqual((4, 9), self.shape("Tile", [2, 3], [1, 2, 3]))
        self.assertEqual((4, 5), self.shape("Pad", [2, 3], [0, 1, 2, 0, 1, 0]))
        self.assertEqual((2, 6), self.shape("Pad", [2, 3], [1, 2], None, [-1], version=18))
        self.assertEqual((2, 1), self.shape("ReduceMean", [2, 3], [-1], version=18))
        self.assertEqual((2,), self.shape("ReduceMean", [2, 3], axes=[-1], keepdims=0))
        self.assertEqual((2, 1, 1), self.shape("GlobalAveragePool", [2, 3, 4]))
        self.assertEqual((2, 6, 8), self.shape("DepthToSpace", [8, 3, 4], blocksize=2))
        self.assertEqual((2, 3, 3), self.shape("MaxPool", [2, 7, 6], kernel_shape=[3, 1], strides=[2, 2], ceil_mode=1))
        self.assertEqual((2, 4, 3), self.shape("MaxPool", [2, 7, 6], kernel_shape=[3, 1], strides=[2, 2], auto_pad="SAME_UPPER"))
        self.assertEqual((5,), self.shape("Slice", [9], [8], [-20], [1], [-2]))
        self.assertEqual((2, 3), self.shape("Gather", [4, 3], [1, 2], axis=1))

    def test_the_last_part_of_a_split_may_be_smaller(self):
        split = helper.make_node("Split", ["x"], ["a", "b", "y"], name="split", axis=1, num_outputs=3)
        model = made([split, node("Neg", ["y"], "z"), node("Neg", ["b"], "w")], (), [7, 4], last="z", version=18)
        self.assertEqual((1, 1, 4), of_kind(read(model), "Neg").output)

    def test_pads_are_computed_as_pytorch_writes_them(self):
        held = held_in(f"pads=[1,2,3,4,0,0,0,0] pairs=[-1,2] last=[-1] before=[-{1 << 62}] axis=[0]")
        # left, right, top, bottom, …
        nodes = nodes_in("rows = Reshape pads pairs; turned = Slice rows last before axis last; "
                         "columns = Transpose turned perm=[1,0]; list = Reshape columns last; y = Pad x list")
        self.assertEqual((1, 3, 8 + 3 + 4, 8 + 1 + 2), of_kind(read(made([*nodes], [*held])), "Pad").output)

    def test_a_shape_that_the_file_computes_from_its_inputs(self):
        nodes = nodes_in("s = Shape x; n = Gather s second; m = Cast n to=1; o = Reciprocal m; "
                         "p = Reciprocal o; q = Cast p to=7; half = Div q two; to = Concat one half rest axis=0; "
                         "float = Cast to to=1; floor = Floor float; whole = Cast floor to=7; "
                         "r = Reshape x whole; y = Relu r")
        held = held_in("second=[1] two=[2] one=[0] rest=[-1]")
        self.assertEqual((1, 4, 16), of_kind(read(made([*nodes], [*held], [8, 8])), "Relu").output)

    def test_windows_that_are_not_square_or_turned_round_have_their_products(self):
        nodes = [node("Conv", ["x", "c"], "map", pads=[0, 3, 0, 3]), node("ConvTranspose", ["map", "t"], "y", strides=[2, 2])]
        found = read(made(nodes, [weights("c", 8, 3, 1, 7), weights("t", 8, 4, 2, 2)], [3, 17, 9]))
        self.assertEqual(2 * 8 * 17 * 9 * 3 * 7, of_kind(found, "Conv").forward.flops)
        self.assertEqual(((1, 4, 34, 18), 2 * 8 * 17 * 9 * 4 * 4),
                         (of_kind(found, "ConvTranspose").output, of_kind(found, "ConvTranspose").forward.flops))
        self.assertEqual(8 * 21 + 8 * 16, found.parameters)
        for attributes, extent in (({"output_shape": [33, 17]}, (33, 17)), ({"auto_pad": "SAME_LOWER"}, (34, 18)),
                                   ({"output_padding": [1, 0]}, (35, 18))):
            turned = made([node("ConvTranspose", ["x", "t"], "y", strides=[2, 2], **attributes)], [weights("t", 3, 4, 2, 2)], [3, 17, 9])
            self.assertEqual((1, 4, *extent), read(turned).operators[0].output)

    def test_shared_weights_count_once_and_an_open_axis_is_asked_for_by_its_name(self):
        model = made([node("Gather", ["table", "x"], "embedded"), node("Transpose", ["table"], "turned"),
                      node("MatMul", ["embedded", "turned"], "y")], [weights("table", 50, 16)], ["sequence"], kind=TensorProto.INT64)
        self.refused("axis 1 of its input 'x' has no number; give it one: --size sequence=N", model)
        self.refused("it leaves no axis 'width' open", model, sequence=7, width=3)
        found = read(model, sequence=7)
        self.assertEqual(800, found.parameters)
        self.assertEqual(
            4 * 2 * 7 * 16, of_kind(found, "Gather").forward.compulsory
        )  # what it reads of the table, and its result
        self.assertEqual((2 * 7 * 16 * 50, 0), (of_kind(found, "MatMul").forward.flops, of_kind(found, "MatMul").parameters))
        del model.graph.input[0].type.tensor_type.shape.dim[1:]
        model.graph.input[0].type.tensor_type.shape.dim.add()
        self.refused("--size x.1=N", model)
        self.assertEqual(2 * 7 * 16 * 50, of_kind(read(model, **{"x.1": 7}), "MatMul").forward.flops)

    def test_gradients_of_a_recurrent_layer_go_through_time_and_to_an_input_that_needs_one(self):
        of_input, of_state = 2 * 3 * 16 * 8, 2 * 3 * 16 * 4
        for trains_before in (False, True):
            held = [weights("scale", 8), weights("w", 1, 16, 8), weights("r", 1, 16, 4)]
            cells = node("LSTM", ["scaled" if trains_before else "x", "w", "r"], "y", hidden_size=4)
            model = made([node("Mul", ["x", "scale"], "scaled"), cells], held, [3, 8])
            counted = of_kind(read(model, 3, given={"batch": 1}), "LSTM")  # the first axis is time, of one step
            self.assertEqual(of_state + (of_input if trains_before else 0), counted.of_inputs.flops)

    def test_the_last_states_of_a_recurrent_layer_have_a_shape_that_the_file_need_not_give(self):
        cells = helper.make_node("GRU", ["x", "w", "r"], ["", "last"], name="cells", hidden_size=4, direction="bidirectional")
        held = [weights("w", 2, 12, 8), weights("r", 2, 12, 4)]
        found = read(made([cells, node("Neg", ["last"], "y")], held, [3, 8]), 3, given={"batch": 1})
        self.assertEqual(2 * 3 * 2 * (12 * 8 + 12 * 4), of_kind(found, "GRU").forward.flops)
        self.assertEqual((2, 3, 4), of_kind(found, "Neg").output)

    def test_gradients_of_inputs_read_no_input_where_the_operator_is_linear_in_it(self):
        held = [weights("first", 5, 3, 1, 1), weights("w", 5, 5, 3, 3), weights("b", 5)]
        nodes = [node("Conv", ["x", "first"], "before"), node("Conv", ["before", "w", "b"], "map", pads=[1, 1, 1, 1]),
                 node("Add", ["map", "before"], "sum"), node("Tanh", ["sum"], "bent"), node("MatMul", ["map", "bent"], "scores"),
                 node("GlobalAveragePool", ["scores"], "y")]
        found, size = read(made(nodes, held), 2), 2 * 5 * 8 * 8

        def backward(one):
            return one.of_inputs.compulsory

        self.assertEqual(4 * (size + 5 * 5 * 9 + size), backward(found.operators[1]))  # docs/method.md, section 5
        self.assertEqual(4 * 3 * size, backward(of_kind(found, "Add")))
        self.assertEqual(4 * 3 * size, backward(of_kind(found, "Tanh")))
        self.assertEqual(4 * (2 * 5 + size), backward(of_kind(found, "GlobalAveragePool")))
        self.assertEqual(
            4 * (size + 2 * size + 2 * size), backward(of_kind(found, "MatMul"))
        )  # of two maps: each needs the other

    def test_an_operator_without_a_rule_and_all_behind_it_are_unknown_unless_the_file_tells_the_shape(self):
        nodes = [node("Inverse", ["x"], "made", "com.other"), node("Relu", ["made"], "y")]
        model = made(nodes, (), [4, 4])
        model.opset_import.append(helper.make_opsetid("com.other", 1))
        self.assertEqual(["com.other.Inverse", "Relu"], [one.kind for one in read(model).unknown()])
        model.graph.value_info.append(helper.make_tensor_value_info("made", TensorProto.FLOAT, [1, 4, 4]))
        found = read(model)
        self.assertEqual(["no rule is known"], [one.unknown for one in found.unknown()])
        self.assertEqual((0, 4 * 32), (found.operators[0].forward.flops, found.operators[0].forward.compulsory))
        self.assertEqual(16, found.operators[1].forward.flops)

    def test_shapes_that_do_not_fit_are_refused_with_the_operator(self):
        self.refused("has more than 2\\^62 values", made([node("Relu", ["x"], "y")], (), [1 << 30, 1 << 30, 1 << 30]))
        self.refused("MaxPool at 'at y' has strides of 0x1", made([node("MaxPool", ["x"], "y", kernel_shape=[2, 2], strides=[0, 1])]))
        self.refused("MatMul at 'at y' of 1x3x4 and 5x4: ", made([node("MatMul", ["x", "w"], "y")], [weights("w", 5, 4)], [3, 4]))

    def test_a_file_that_has_the_batch_of_its_export_in_a_shape_is_scaled(self):
        model = made([node("Reshape", ["x", "to"], "flat"), node("MatMul", ["flat", "w"], "y")], [numbers("to", [1, 192]), weights("w", 192, 10)])
        self.assertEqual(8 * 2 * 1920, read(model, 8).flops())

    def test_standard_functions_keep_the_shape_without_value_info(self):
        for operation in ("Atan", "Acos", "Sinh", "Hardmax", "Shrink", "Bernoulli", "RandomNormalLike"):
            found = read(made([node(operation, ["x"], "made"), node("MatMul", ["made", "w"], "y")], [weights("w", 8, 10)]))
            self.assertEqual((2 * 3 * 8 * 8 * 10, []), (found.flops(), found.unknown()), operation)

    def test_einsum_counts_its_products_two_by_two(self):
        def flops(equation, *shapes):
            held = [weights(f"w{k}", *shape) for k, shape in enumerate(shapes[1:])]
            model = made([node("Einsum", ["x", *(one.name for one in held)], "y", equation=equation)], held, shapes[0][1:])
            return read(model, shapes[0][0]).operators[0].forward.flops

        self.assertEqual(2 * 3 * 4 * 5 * 6, flops("bij,bjk->bik", (3, 4, 5), (3, 5, 6)))
        self.assertEqual(2 * 4 * 5 * 6, flops("ij,jk", (4, 5), (5, 6)))
        self.assertEqual(2 * 3 * 4 * 5 * 6, flops("...ij,jk->...ik", (3, 4, 5), (5, 6)))
        self.assertEqual(2 * 4 * 5 * 6 + 2 * 4 * 6 * 7, flops("ij,jk,kl->il", (4, 5), (5, 6), (6, 7)))
        self.assertEqual(20, flops("ij->i", (4, 5)))


class Lists(unittest.TestCase):
    """What a file computes from shapes, by the documentation of ONNX's operators."""

    def computed(self, operation, lists, extents=None, **given):
        arrays = [None if one is None else np.array(one) for one in lists]
        inputs = [None if one is None else Value(one.shape, numbers=one) for one in arrays]
        return numbers_of(operation, given, inputs, Value(extents))

    def test_operators_compute_short_lists(self):
        table, none = [[1, 2, 3], [4, 5, 6]], None
        for operation, lists, made, *more in (
            ("Div", ([7, -7, 7, -7], [2, 2, -2, -2]), [3, -3, -3, 3]), ("Div", ([7.0], [2.0]), [3.5]),
            ("Slice", ([0, 1, 2, 3], [3], [-4], none, [-1]), [3, 2, 1]),
            ("Slice", ([0, 1, 2, 3], [3], [-9], [0], [-1]), [3, 2, 1, 0]),
            ("Slice", ([0, 1, 2, 3], [-9], [3], [-1]), [0, 1, 2]),
            ("Slice", ([0, 1, 2, 3], [1], [9], none, [2]), [1, 3]), ("Slice", ([0, 1, 2, 3], [0], [-9]), []),
            ("Slice", (table, [0, 1], [1, 3]), [[2, 3]]), ("Slice", (table, [2], [3], [1]), [[3], [6]]),
            ("Slice", (table,), [[1], [4]], {"starts": [0], "ends": [1], "axes": [1]}),
            ("Slice", (table,), [[4, 5, 6]], {"starts": [1], "ends": [2]}),
            ("Squeeze", ([[[1]], [[2]]], [2]), [[1], [2]]),
            ("Squeeze", ([[[1]], [[2]]], none), [[1], [2]], {"axes": [1]}), ("Squeeze", ([[[1]], [[2]]],), [1, 2]),
            ("Unsqueeze", ([1, 2], [0, 2]), [[[1], [2]]]), ("Unsqueeze", ([1, 2],), [[1], [2]], {"axes": [1]}),
            ("Reshape", (table, [0, 1, -1]), [[[1, 2, 3]], [[4, 5, 6]]]),
            ("Reshape", (table,), [[1, 2], [3, 4], [5, 6]], {"shape": [3, 2]}),
            ("Reshape", ([[], []], [0]), [], {"allowzero": 1}), ("Clip", ([1, 5, 9], 2, 6), [2, 5, 6]),
            ("Clip", ([1, 5, 9], none, 6), [1, 5, 6]), ("Clip", ([1, 5, 9], 2), [2, 5, 9]),
            ("Clip", ([1.0, 5.0, 9.0],), [2.0, 5.0, 6.0], {"min": 2.0, "max": 6.0}),
            ("ReduceSum", (table, [0]), [[5, 7, 9]]), ("ReduceMax", (table,), [3, 6], {"axes": [1], "keepdims": 0}),
            ("ReduceProd", (table,), [[720]]), ("ReduceMin", (table,), 1, {"keepdims": 0}),
            ("Max", ([1, 5], [4, 2]), [4, 5]), ("Min", ([1, 5], [4], [3, 7]), [1, 4]),
            ("NonZero", ([0, 3, 2],), [[1, 2]]), ("Expand", ([[1], [2]], [2, 2]), [[1, 1], [2, 2]]),
            ("Range", (1, 7, 2), [1, 3, 5]), ("Mod", ([-5, 5], [3, -3]), [1, -1]),
            ("Mod", ([-5.0, 5.0], [3.0, -3.0]), [-2.0, 2.0], {"fmod": 1}),
            ("Concat", ([1], [2, 3]), [1, 2, 3], {"axis": 0}),
            ("Concat", (table, [[0], [9]]), [[1, 2, 3, 0], [4, 5, 6, 9]]), ("Gather", (table, [1]), [[4, 5, 6]]),
            ("Gather", (table, [2, 0]), [[3, 1], [6, 4]], {"axis": 1}), ("CumSum", ([1, 2, 3], 0), [1, 3, 6]),
            ("CumSum", ([1, 2, 3], 0), [0, 1, 3], {"exclusive": 1}), ("CumSum", ([1, 2, 3], 0), [6, 5, 3], {"reverse": 1}),
            ("CumSum", ([table, table], 2), [[[5, 3, 0], [11, 6, 0]]] * 2, {"exclusive": 1, "reverse": 1}),
            ("Cast", ([0.5, 0.0, -2.0],), [True, False, True], {"to": 9}), ("Cast", ([1.75, -1.75],), [1, -1], {"to": 7}),
            ("Flatten", ([table, table],), [[1, 2, 3, 4, 5, 6]] * 2),
            ("Flatten", ([table, table],), [[1, 2, 3], [4, 5, 6]] * 2, {"axis": 2}),
            ("Transpose", (table,), [[1, 4], [2, 5], [3, 6]]),
            ("Transpose", ([table],), [[[1, 2, 3]], [[4, 5, 6]]], {"perm": [1, 0, 2]}),
            ("ConstantOfShape", ([2, 1],), [[7], [7]], {"value": np.array([7])}),
            ("Shape", (table,), [3], {"start": 1}), ("Shape", (table,), [2], {"end": 1}), ("Size", (table,), 6),
            ("Where", ([True, False], [1, 2], [3, 4]), [1, 4]), ("Not", ([True, False],), [False, True])):
            found = self.computed(operation, lists, np.shape(made), **dict(*more))
            self.assertIsNotNone(found, (operation, lists))
            kind = np.array(made).dtype if made else found.dtype
            self.assertEqual((made, kind), (found.tolist(), found.dtype), (operation, lists))

    def test_values_have_extents_that_tensors_have(self):
        self.assertEqual((2**62, 2**31, 0), tuple(Value(one).numel() for one in ((2**31, 2**31), (2**31,), (4, 0))))
        for extents, words in (((2**31, 2**31, 2), "more than 2"), ((2**31 + 1,), "cannot be of 2147483649$"),
                               ((-1, 3), "cannot be of -1x3$")):
            self.assertRaisesRegex(InputError, words, Value(extents).numel)
        self.assertEqual(0, Value().type)  # unknown
        for extents in (None, (2, None)):
            self.assertRaises(Unknown, Value(extents).numel)
        self.assertEqual(("an unknown shape", "one number", "3x?"), (text(None), text(()), text((3, None))))
        self.assertEqual(("1x1x1x1x1x1x1x1", "1x1x1x1x1x1x1x1x…"), (text([1] * 8), text([1] * 9)))
        for numbers_in, number in ((np.array(5), 5), (np.array([5]), 5), (np.array([5, 6]), None), (None, None)):
            self.assertEqual(number, Value(numbers=numbers_in).number())
        for extents, shape in (((2, 3), (2, 3)), ((2, 4), (2, None)), ((2,), None), (None, None)):
            agreed = Value((2, 3)).agreed(Value(extents, needs_gradient=True))
            self.assertEqual((shape, True), (agreed.shape, agreed.needs_gradient))
        self.assertIsNone(Value().agreed(Value((2,))).shape)
        self.assertTrue(Value((), needs_gradient=True).agreed(Value(())).needs_gradient)
        self.assertEqual(24, known_bytes([Value((2, 3)), Value((None,)), Value()]))

    def test_numbers_have_the_type_of_the_file(self):
        for number, kind in ((1, "float32"), (2, "uint8"), (3, "int8"), (6, "int32"), (7, "int64"), (9, "bool"),
                             (10, "float16"), (11, "float64"), (16, "float32")):
            self.assertEqual(kind, self.computed("Cast", [[1, 0]], (2,), to=number).dtype)
        for number in (0, 4, 5, 8, 12, 13, 14, 15, 17):
            self.assertIsNone(self.computed("Cast", [[1, 0]], (2,), to=number))
        self.assertEqual([0.0, 0.0], self.computed("ConstantOfShape", [[2]], (2,)).tolist())
        self.assertEqual("float32", self.computed("ConstantOfShape", [[2]], (2,)).dtype)

    def test_numbers_that_nobody_knows_or_that_are_many_are_not_computed(self):
        self.assertEqual(65536, self.computed("Expand", [[1], [65536]], (65536,)).size)
        self.assertIsNone(self.computed("Expand", [[1], [65537]], (65537,)))
        self.assertIsNone(self.computed("Neg", [[1, 2]]))
        self.assertIsNone(self.computed("Neg", [[1, 2]], (3,)))
        self.assertEqual([[0]], self.computed("NonZero", [[3]]).tolist())
        for operation, inputs in (("Identity", [Value(())]), ("Shape", [Value((None,))]), ("Size", [Value()]),
                                  ("Range", []), ("Shape", [None]), ("Relu", [Value((), numbers=1)])):
            self.assertIsNone(numbers_of(operation, {}, inputs, Value(())), operation)


if __name__ == "__main__":
    unittest.main()

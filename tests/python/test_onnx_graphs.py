"""Graphs within the graph of an ONNX file: branches, loops, scans and functions."""

import unittest
import unittest.mock

from test_onnx_reading import made, node, numbers, of_kind, read, weights

import onnx
from onnx import TensorProto, helper

from roof.errors import InputError
from roof.onnx_reading import values


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
        self.assertEqual({"N": 2**31 - 1}, values.attributes_of(helper.make_node("Any", [], ["y"], N=2**31 - 1)))
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


class WithinGraphs(unittest.TestCase):
    def branched(self, then, other, condition=()):
        nodes = [*condition, helper.make_node("If", ["c"], ["y"], name="choice", then_branch=then, else_branch=other)]
        more = [] if condition else [helper.make_tensor_value_info("c", TensorProto.BOOL, [])]
        return made(nodes, [weights("w", 8, 8), numbers("zero", [0]), numbers("batch", [1])], more=more)

    def test_a_branch_is_read_and_what_is_not_known_makes_a_lower_bound(self):
        product = body_of([node("MatMul", ["x", "w"], "a")], [], ["a"])
        twice = body_of([node("MatMul", ["x", "w"], "b"), node("MatMul", ["b", "w"], "c2")], [], ["c2"])
        one = 2 * 3 * 8 * 8 * 8
        self.assertEqual((one, []), (read(self.branched(product, product)).flops(), read(self.branched(product, product)).unknown()))
        found = read(self.branched(product, twice))
        self.assertEqual((one, ["choice"]), (found.flops(), [made_of.name for made_of in found.unknown()]))
        chosen = [node("Shape", ["x"], "s"), node("Gather", ["s", "zero"], "n"), node("Equal", ["n", "batch"], "c")]
        self.assertEqual((one, []), (read(self.branched(product, twice, chosen)).flops(), read(self.branched(product, twice, chosen)).unknown()))
        self.assertEqual(2 * 2 * one, read(self.branched(product, twice, chosen), 2).flops())

    def test_what_a_graph_within_reads_is_needed_and_what_nothing_reads_is_not(self):
        then, other = body_of([node("Neg", ["a"], "c1")], [], ["c1"]), body_of([], [], ["b"])
        nodes = [node("Relu", ["x"], "a"), node("Exp", ["x"], "b"), node("Equal", ["zero", "batch"], "c")]
        found = read(self.branched(then, other, [*nodes, node("Sin", ["x"], "dead")]))
        self.assertEqual(["Relu", "Exp"], [one.kind for one in found.operators])

    def looped(self, trips, condition="", body_condition="going"):
        body = body_of([node("MatMul", ["state", "w"], "next"), node("Identity", [body_condition], "go")], ["k", "going", "state"],
                         ["go", "next", "next"])
        loop = helper.make_node("Loop", ["trips", condition, "x"], ["last", "all"], name="loop", body=body)
        held = [weights("w", 8, 8)] + ([numbers("trips", trips)] if trips is not None else [])
        more = [] if trips is not None else [helper.make_tensor_value_info("trips", TensorProto.INT64, [])]
        return made([loop, node("Neg", ["all"], "y")], held, more=more)

    def test_the_body_of_a_loop_counts_as_often_as_it_runs(self):
        one = 2 * 3 * 8 * 8 * 8
        for trips in (0, 1, 7, 20_000):
            found = read(self.looped(trips))
            self.assertEqual((trips * one, 64, []), (found.flops(), found.parameters, found.unknown()))
            self.assertEqual((trips, 1, 3, 8, 8), of_kind(found, "Neg").output)
        unknown = read(self.looped(None))
        self.assertEqual((0, 64, {"loop"}), (unknown.flops(), unknown.parameters, {made_of.name for made_of in unknown.unknown()} - {"at y"}))
        self.assertEqual((5 * one, []), (read(self.looped(None), trips=5).flops(), read(self.looped(None), trips=5).unknown()))

    def test_a_loop_that_counts_to_its_own_end_is_walked_to_it(self):
        body = body_of([node("MatMul", ["state", "w"], "next"), node("Less", ["k", "last"], "go")], ["k", "going", "state"], ["go", "next"])
        for trips, runs in (("", 5), ("trips", 5), ("few", 3)):
            loop = helper.make_node("Loop", [trips, "", "x"], ["y"], name="loop", body=body)
            held = [weights("w", 8, 8), numbers("last", 4), numbers("trips", 2**63 - 1), numbers("few", 3)]
            found = read(made([loop], held))
            self.assertEqual((runs * 2 * 3 * 8 * 8 * 8, [], 64), (found.flops(), found.unknown(), found.parameters))
        endless = body_of([node("MatMul", ["state", "w"], "next"), node("Less", ["zero", "last"], "go")], ["k", "going", "state"], ["go", "next"])
        loop = helper.make_node("Loop", ["", "", "x"], ["y"], name="loop", body=endless)
        with unittest.mock.patch("roof.onnx_reading.walk.MOST_ONE_BY_ONE", 100):
            found = read(made([loop], [weights("w", 8, 8), numbers("last", 4), numbers("zero", 0)]))
        self.assertEqual(["loop"], [one.name for one in found.unknown()])

    def test_a_loop_that_may_end_early_is_a_lower_bound(self):
        body = body_of([node("MatMul", ["state", "w"], "next"), node("ReduceSum", ["next"], "sum", keepdims=0),
                          node("Greater", ["sum", "most"], "go")], ["k", "going", "state"], ["go", "next"],
                         [onnx.TensorProto(name="most", data_type=1)])
        loop = helper.make_node("Loop", ["trips", "", "x"], ["y"], name="loop", body=body)
        found = read(made([loop], [weights("w", 8, 8), numbers("trips", 4)]))
        self.assertEqual((2 * 3 * 8 * 8 * 8, ["loop"]), (found.flops(), [one.name for one in found.unknown()]))

    def test_a_scan_runs_once_for_each_row(self):
        body = body_of([node("MatMul", ["row", "w"], "made"), node("Add", ["state", "made"], "next"), node("Identity", ["made"], "kept")],
                         ["state", "row"], ["next", "kept"])
        scan = helper.make_node("Scan", ["begin", "x"], ["last", "rows"], name="scan", body=body, num_scan_inputs=1, scan_input_axes=[1])
        found = read(made([scan, node("Neg", ["rows"], "y")], [weights("w", 8, 8), weights("begin", 1, 8, 8)]))
        self.assertEqual((3 * 2 * 8 * 8 * 8, (3, 1, 8, 8), []), (found.flops(), of_kind(found, "Neg").output, found.unknown()))

    def test_sixty_graphs_within_one_another_are_read(self):
        domains = [helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)]
        for depth in (60, 61):
            calls = [("custom", f"F{number}") for number in range(1, depth)] + [("", "Neg")]
            functions = [helper.make_function(*function, ["a"], ["b"], [helper.make_node(inner, ["a"], ["b"], domain=domain)], domains)
                         for function, (domain, inner) in zip(calls, calls[1:])]
            model = made([helper.make_node("F1", ["x"], ["y"], domain="custom")], functions=functions)
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

"""The table of PyTorch's operators (roof/work.py) and that of layers (workloads/model/work.cpp) count the same FLOPs and bytes.

`roof estimate` counts networks that have each kind of layer; here the operators of the same layers are counted, without PyTorch. Not compared is what
autograd divides otherwise: the backward pass of a sum (no operator) and of a product of two maps (two operators)."""

import json
import math
import os
import re
import subprocess
import unittest
from pathlib import Path
from types import SimpleNamespace

from roof.work import FORMULAS, OF_ELEMENT, Work, attention, contraction, moved, work_of

BATCH = 3
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("ROOF_PROGRAM", "")
GRAPH = (ROOT / "workloads/model/graph.hpp").read_text()
ACTIVATIONS = ["relu", *re.findall(r"\{LayerKind::(\w+), \d+, \d+\}", GRAPH)]
#: As PyTorch names some of them, forward and backward; the others are "tanh", "tanh_backward".
OPERATORS = {"relu": ("relu", "threshold_backward"), "relu6": ("hardtanh", "hardtanh_backward"), "gelu_tanh": ("gelu", "gelu_backward"),
             "hard_swish": ("hardswish", "hardswish_backward"), "hard_sigmoid": ("hardsigmoid", "hardsigmoid_backward")}


class Tensor:
    """Extents, bytes of an element, and whether it holds numbers with a point. Contiguous."""

    def __init__(self, *shape, size=4, floating=True, stored=None):
        self.shape, self._size, self._floating, self._stored = shape, size, floating, stored

    def stride(self):
        return [math.prod(self.shape[axis + 1:]) if self._stored is None else 0 for axis in range(len(self.shape))]

    def element_size(self):
        return self._size

    def numel(self):
        return math.prod(self.shape)

    def dim(self):
        return len(self.shape)

    def is_floating_point(self):
        return self._floating


def operator(name, *args, out, backward=False, **kwargs):
    packet = type(name, (), {})
    return work_of(SimpleNamespace(_overloadpacket=packet, namespace="aten", _schema=SimpleNamespace(returns=[])), args, kwargs, out, backward)


def estimated(network):
    """(FLOPs, bytes) by layer and phase, of a step in fp32."""
    done = subprocess.run([PROGRAM, "estimate", network, "--batch", str(BATCH), "--on", "h100", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    sums = {}
    for part in json.loads(done.stdout)["machines"][0]["layers"]:
        flops, moved_bytes = sums.get((part["layer"], part["phase"]), (0, 0))
        sums[(part["layer"], part["phase"])] = (flops + part["flops"], moved_bytes + part["compulsory_bytes"])
    return sums


@unittest.skipIf(not PROGRAM, "ROOF_PROGRAM names no program")
class TwoTables(unittest.TestCase):
    def compare(self, counted, layer, forward, backward=None):
        for phase, work in (("forward", forward), ("backward", backward)):
            if work is not None:
                with self.subTest(layer=layer, phase=phase):
                    self.assertEqual((work.flops, work.compulsory), counted[(layer, phase)])

    def test_layers_of_maps(self):
        network = ("{name: maps, image: [4, 12, 12], layers: [{convolution: {channels: 8, window: 3, padding: 1}}, "
                   "{convolution: {name: grouped, channels: 8, window: 3, stride: 2, padding: 1, groups: 2}}, {batch_norm: {name: norm}}, "
                   + ", ".join(f"{{{kind}: {{name: {kind}}}}}" for kind in ACTIVATIONS)
                   + ", {dropout: {name: dropout}}, {resize: {name: larger, height: 12, width: 12}}, "
                   "{resize: {name: smaller, height: 6, width: 6}}, {layer_norm: {name: layer_norm}}, {rms_norm: {name: rms_norm}}, "
                   "{add: {name: sum, from: [rms_norm, norm]}}, {concat: {name: joined, from: [sum, norm]}}, "
                   "{max_pool: {name: pool, window: 2}}, {average_pool: {name: mean}}, flatten, {linear: {name: last, features: 10}}]}")
        counted = estimated(network)
        x, w, b, y = Tensor(BATCH, 8, 12, 12), Tensor(8, 4, 3, 3), Tensor(8), Tensor(BATCH, 8, 6, 6)
        window = ([2, 2], [1, 1], [1, 1], False, [0, 0], 2)
        self.compare(counted, "grouped", FORMULAS["convolution"](y, x, w, b, *window),
                     FORMULAS["convolution_backward"](None, y, x, w, [8], *window, [True, True, True]))
        gain, offset = Tensor(8), Tensor(8)
        for name, layer in (("native_batch_norm", "norm"), ("native_layer_norm", "layer_norm")):
            self.compare(counted, layer, FORMULAS[name](y, y, gain, offset), FORMULAS[f"{name}_backward"](y, y, y, gain, offset))
        self.compare(counted, "rms_norm", FORMULAS["_fused_rms_norm"](y, y, [8], gain, 1e-5),
                     FORMULAS["_fused_rms_norm_backward"](y, y, y, [8], Tensor(BATCH, 36), gain, [True, True]))
        for kind in ACTIVATIONS:
            forward, backward = OPERATORS.get(kind, (kind, f"{kind}_backward"))
            how = {"approximate": "tanh"} if kind == "gelu_tanh" else {}
            self.compare(counted, kind, operator(forward, y, out=y, **how), operator(backward, y, y, out=y, backward=True, **how))
        mask = Tensor(BATCH, 8, 6, 6, size=1, floating=False)
        self.compare(counted, "dropout", operator("native_dropout", y, 0.5, True, out=(y, mask)),
                     operator("native_dropout_backward", y, mask, 2.0, out=y, backward=True))
        larger = Tensor(BATCH, 8, 12, 12)
        self.compare(counted, "larger", operator("upsample_bilinear2d", y, [12, 12], False, out=larger),
                     operator("upsample_bilinear2d_backward", larger, [12, 12], [BATCH, 8, 6, 6], False, out=y, backward=True))
        self.compare(counted, "sum", operator("add", y, y, out=y))
        both = Tensor(BATCH, 16, 6, 6)
        self.compare(counted, "joined", operator("cat", [y, y], 1, out=both))
        small, one = Tensor(BATCH, 16, 3, 3), Tensor(BATCH, 16, 1, 1)
        self.compare(counted, "pool", FORMULAS["max_pool2d_with_indices"](small, both, [2, 2]),
                     FORMULAS["max_pool2d_with_indices_backward"](both, small, both))
        spread = Tensor(BATCH, 16, 3, 3, stored=0)
        divided = operator("div", spread, 9, out=small, backward=True)
        mean = operator("mean", small, out=one)
        self.compare(counted, "mean", mean)
        self.assertEqual(counted[("mean", "backward")][0], divided.flops)
        flat, weights, bias, scores = Tensor(BATCH, 16), Tensor(10, 16), Tensor(10), Tensor(BATCH, 10)
        flops = 2.0 * BATCH * 16 * 10
        back = contraction(flops, [scores, weights], [flat]) + contraction(flops, [scores, flat], [weights])
        self.compare(counted, "last", contraction(flops, [flat, weights], [scores], moved([bias])),
                     back + operator("sum", scores, out=bias, backward=True))

    def test_layers_of_tokens(self):
        tokens = 16
        network = ("{name: tokens, image: [1, 1, 16], layers: [{embedding: {name: table, vocabulary: 50, channels: 32}}, "
                   "{linear: {name: qkv, features: 64, each_position: true, bias: false}}, "
                   "{attention: {name: attention, heads: 4, kv_heads: 2, causal: true}}, "
                   "{linear: {name: scores, features: 50, each_position: true}}]}")
        counted = estimated(network)
        ids, x, table = Tensor(BATCH, tokens, floating=False), Tensor(BATCH, tokens, 32), Tensor(50, 32)
        self.compare(counted, "table", operator("embedding", table, ids, out=x),
                     operator("embedding_dense_backward", x, ids, 50, -1, False, out=table, backward=True))
        q, k = Tensor(BATCH, 4, tokens, 8), Tensor(BATCH, 2, tokens, 8)
        name = "_scaled_dot_product_flash_attention"
        given = {"query": q, "key": k, "value": k, "is_causal": True}
        forward = attention(name, given, q)
        self.compare(counted, "attention", forward, attention(name, {**given, "grad_out": q, "out": q}, [q, k, k]))
        self.assertEqual(4 * BATCH * 32 * (tokens * (tokens - 1) // 2), forward.masked)
        wide, weights, rows = Tensor(BATCH * tokens, 64), Tensor(64, 32), Tensor(BATCH * tokens, 32)
        flops = 2.0 * BATCH * tokens * 32 * 64
        self.compare(counted, "qkv", contraction(flops, [rows, weights], [wide]),
                     contraction(flops, [wide, weights], [rows]) + contraction(flops, [wide, rows], [weights]))

    def test_every_kind_of_layer_is_compared_or_has_no_operator_of_its_own(self):
        kinds = set(re.findall(r'"(\w+)"', re.search(r'"layer", \{(.*?)\}', GRAPH, re.DOTALL).group(1)))
        compared = {*re.findall(r"\{(\w+): \{", Path(__file__).read_text()), *ACTIVATIONS}
        # Views and moves of PyTorch, rotations and tables of positions that each model writes by other operators, and the two above.
        self.assertEqual({"input", "flatten", "shuffle", "slice", "take_positions", "positions", "rope", "multiply"}, kinds - compared)

    def test_every_activation_of_both_is_compared(self):
        compared = {OPERATORS.get(kind, (kind,))[0] for kind in ACTIVATIONS} | {"native_dropout", "upsample_bilinear2d"}
        self.assertLessEqual({name.replace("_backward", "") for name in OF_ELEMENT}, compared)
        self.assertEqual(Work().flops, 0.0)


if __name__ == "__main__":
    unittest.main()

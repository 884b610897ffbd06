"""The shapes of an operator's results: by a rule here where versions of onnx differ or have none, else by onnx."""

import math
import re
from dataclasses import replace
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import onnx
from onnx import helper, numpy_helper, shape_inference

from roof.onnx_reading.operators import DATA_INPUTS, JOINED, LIKE_FIRST, NORMS, REDUCTIONS, attention_of, einsum_letters
from roof.onnx_reading.values import INT32, Given, Refused, Shape, Unknown, Value, text

Inputs = Sequence[Optional[Value]]
Found = List[Tuple[int, Shape]]  #: type and shape of each result; (0, None) where nobody knows
MOST_OF_A_WINDOW = 1 << 16
SAME_SHAPE = LIKE_FIRST | NORMS | {"Cast", "CastLike", "ReverseSequence", "ScatterElements", "ScatterND", "Trilu",
                                   "MoE", "QMoE"}
#: Operators with the shapes of another.
AS = {one: like for like, words in {
    "Conv": "FusedConv QLinearConv ConvInteger DeformConv NhwcFusedConv", "MaxPool": "NhwcMaxPool",
    "Gemm": "FusedGemm QGemm",
    "MatMul": "MatMulInteger QLinearMatMul DynamicQuantizeMatMul MatMulIntegerToFloat GemmFastGelu",
    "Add": "QLinearAdd QLinearMul BitwiseAnd BitwiseOr BitwiseXor BiasAdd", "Concat": "QLinearConcat",
    "AveragePool": "QLinearAveragePool", "GlobalAveragePool": "QLinearGlobalAveragePool",
    "ReduceMean": "QLinearReduceMean"}.items() for one in words.split()}


def numbers_in(inputs: Inputs, index: int, given: Given, name: str = "") -> Any:
    """Of an input or, in older files, an attribute; None: neither. Raises Unknown where its numbers are not known."""
    one = inputs[index] if index < len(inputs) else None
    if one is None:
        return list(given[name]) if name in given else None
    if one.numbers is None:
        raise Unknown
    return one.numbers.ravel().tolist()


def per_axis(given: Given, name: str, axes: int, least: int) -> List[int]:
    found = list(given.get(name) or [least] * axes)
    if len(found) != axes or not all(least <= one <= MOST_OF_A_WINDOW for one in found):
        raise Refused(f"has {name} of {text(found)}")
    return found


def axes_in(axes: Any, shape: Any) -> List[int]:
    wrong = [axis for axis in axes if not -len(shape) <= axis < len(shape)]
    if wrong:
        raise Refused(f"has no axis {wrong[0]}")
    return [int(axis) % len(shape) for axis in axes]


def slid(given: Given, extents: Any, kernel: Any) -> List[int]:
    """The extents, behind batch and channels, of what slides a window."""
    axes, automatic = len(kernel), given.get("auto_pad", b"NOTSET")
    strides, dilations = per_axis(given, "strides", axes, 1), per_axis(given, "dilations", axes, 1)
    pads = per_axis(given, "pads", 2 * axes, 0) if automatic == b"NOTSET" else [0] * 2 * axes
    made = []
    for k, (extent, window) in enumerate(zip(extents, kernel)):
        free = extent + pads[k] + pads[k + axes] - (dilations[k] * (window - 1) + 1)
        if len(extents) != axes or free < 0 and not automatic.startswith(b"SAME"):
            raise Refused(f"has a window of {text(kernel)} that does not fit into {text(extents)}")
        outputs = -(-free // strides[k]) + 1 if given.get("ceil_mode") else free // strides[k] + 1
        if given.get("ceil_mode") and (outputs - 1) * strides[k] >= extent + pads[k]:
            outputs -= 1  # the last window begins inside the map or the padding before it
        made.append(-(-extent // strides[k]) if automatic.startswith(b"SAME") else outputs)
    return made


def reduced(given: Given, x: Any, *more: Any) -> Shape:
    axes = numbers_in(more, 0, given, "axes") or []
    if not axes and given.get("noop_with_empty_axes"):
        return x.shape  # type: ignore[no-any-return]
    gone = axes_in(axes or range(len(x.shape)), x.shape)
    return tuple(1 if k in gone else one for k, one in enumerate(x.shape) if k not in gone or given.get("keepdims", 1))


def padded(given: Given, x: Any, *more: Any) -> Shape:
    pads, made = numbers_in(more, 0, given, "pads") or given["paddings"], list(x.shape)
    axes = numbers_in(more, 2, given)
    for k, axis in enumerate(axes_in(range(len(made)) if axes is None else axes, made)):
        made[axis] += int(pads[k]) + int(pads[k + len(pads) // 2])
    return tuple(made)


def resized(given: Given, x: Any, *more: Any) -> Shape:
    """By extents, or by scales, which older versions have in the second place, and the oldest as an attribute."""
    axes, made = axes_in(given.get("axes", range(len(x.shape))), x.shape), list(x.shape)
    sizes = numbers_in(more, 2, given)
    scales = [] if sizes else numbers_in(more, 1 if len(more) > 1 else 0, given, "scales")
    policy = given.get("keep_aspect_ratio_policy", b"stretch")
    if sizes and policy != b"stretch":
        ratios = [size / x.shape[axis] for size, axis in zip(sizes, axes)]
        scale = min(ratios) if policy == b"not_larger" else max(ratios)
        sizes = [int(scale * x.shape[axis] + 0.5) for axis in axes]
    for k, axis in enumerate(axes):
        made[axis] = int(sizes[k]) if sizes else math.floor(made[axis] * scales[k])
    return tuple(made)


def fused_product(given: Given, a: Any, b: Any, *_: Any) -> Shape:
    """A product of matrices whose last two axes may be turned, and before them the first with the batches' axes."""
    left, right = ((*one.shape[1:-1], one.shape[0], one.shape[-1]) if given.get(f"transBatch{of}") else one.shape
                   for of, one in (("A", a), ("B", b)))
    rows, column = left[-1 if given.get("transA") else -2], right[-2 if given.get("transB") else -1]
    return (*max(left[:-2], right[:-2], key=len), rows, column)


def reordered(given: Given, x: Any, *_: Any) -> Shape:
    """Channels in blocks, which are read from or written to the last axis where `channels_last` says so."""
    axes, channels = (*x.shape[2:],), given.get("channels", x.shape[1])
    if given.get("channels_last"):
        return (x.shape[0], *axes, channels) if "channels" in given else (x.shape[0], x.shape[-1], *x.shape[1:-1])
    return (x.shape[0], channels, *axes)


def of_queries(given: Given, q: Any, k: Any = None, v: Any = None, *_: Any) -> Shape:
    """Of attention: [batch][heads][tokens][width], or heads side by side."""
    batch, heads, tokens, width = attention_of("", given, (q, k, v))[1].shape
    return (batch, heads, tokens, width) if len(q.shape) == 4 else (batch, tokens, heads * width)


def split(given: Given, x: Any, number: int) -> List[Any]:
    """Into equal parts, of which the last may be smaller."""
    axis = axes_in([given.get("axis", 0)], x.shape)[0]
    each = -(-x.shape[axis] // number)
    sizes = [max(0, min(each, x.shape[axis] - k * each)) for k in range(number)]
    return [(x.type, (*x.shape[:axis], size, *x.shape[axis + 1:])) for size in sizes]


def einsum(given: Given, *data: Any) -> Shape:
    _, result, extents = einsum_letters(given["equation"].decode(), data)
    return tuple(extents[letter] for letter in result)


def of_maps(rule: Callable[..., Any]) -> Callable[..., Any]:
    """For maps whose channels are their last axis, too."""
    def shape(given: Given, x: Any, *more: Any) -> Shape:
        if not given.get("channels_last"):
            return rule(given, x, *more)  # type: ignore[no-any-return]
        batch, channels, *extents = rule(given, replace(x, shape=(x.shape[0], x.shape[-1], *x.shape[1:-1])), *more)
        return (batch, *extents, channels)
    return shape


#: By the words of a key, operators with one rule.
RULES: Dict[str, Callable[..., Any]] = {one: rule for words, rule in {
    "Einsum": einsum, "Pad": padded, "Resize Upsample": resized,
    "FusedMatMul": fused_product, "Attention MultiHeadAttention GroupQueryAttention": of_queries,
    " ".join(REDUCTIONS): reduced, " ".join(SAME_SHAPE): lambda given, x, *_: x.shape,
    "Conv": of_maps(lambda given, x, w, *_: (x.shape[0], w.shape[0], *slid(given, x.shape[2:], w.shape[2:]))),
    "AveragePool MaxPool LpPool": of_maps(lambda given, x, *_: (
        *x.shape[:2], *slid(given, x.shape[2:], per_axis(given, "kernel_shape", len(x.shape) - 2, 1)))),
    "GlobalAveragePool GlobalMaxPool GlobalLpPool": of_maps(
        lambda given, x, *_: (*x.shape[:2], *[1] * (len(x.shape) - 2))),
    "MatMulNBits MatMulBnb4 MatMulFpQ4": lambda given, x, *_: (*x.shape[:-1], given["N"]),
    "ReorderInput ReorderOutput": reordered,
    "DynamicQuantizeLSTM": lambda given, x, w, *_: (x.shape[0], w.shape[0], x.shape[1], given["hidden_size"]),
    "GatherBlockQuantized": lambda given, table, places, *_: (*places.shape, table.shape[-1]),
    "EmbedLayerNormalization": lambda given, places, _, table, *__: (*places.shape, table.shape[-1]),
    "com.microsoft.Attention QAttention": lambda given, x, w, *_: (
        *x.shape[:2], list(given.get("qkv_hidden_sizes", [w.shape[1] // 3]))[-1])
}.items() for one in words.split()}


def shapes_of(node: Any, operation: str, given: Given, inputs: Inputs, versions: Dict[str, int],
              asked: Dict[Any, Found]) -> Found:
    """Raises Refused for inputs that do not fit. asked: what the package onnx said, once for each kind of operator,
    attributes, inputs and versions."""
    data: Inputs = [inputs[k] for k in DATA_INPUTS.get(operation, range(len(inputs))) if k < len(inputs)]
    first = data[0] if data else None
    is_old = operation in JOINED and given.get("broadcast") and versions.get("", 99) < 7
    rule = RULES.get("Abs" if is_old else AS.get(operation, operation))
    if rule is not None:
        try:
            type_of = INT32 if operation.endswith("Integer") else first.type  # type: ignore[union-attr]
            found = (given.get("to", 0) or type_of, rule(given, *data))
        except (Unknown, AttributeError, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError):
            found = (0, None)
        return [found] + [found if is_old or operation in SAME_SHAPE else (0, None)] * (len(node.output) - 1)
    if operation == "Split" and "num_outputs" in given and first is not None and first.is_known and len(data) == 1:
        return split(given, first, len(node.output))
    if "Sequence" in operation and operation != "ReverseSequence":  # onnx asks for a type that no Value has
        return [(0, None)] * len(node.output)
    if operation in AS:
        made = helper.make_node(AS[operation], list(node.input)[:len(data)], list(node.output))
        made.attribute.extend(a for a in node.attribute if a.name in ("axis", "transA", "transB"))
        node, inputs, versions = made, data, {"": 13}
    listed = [one is not None and one.numbers is not None and one.numbers.size <= 1024 for one in inputs]
    key = (node.op_type, node.domain, frozenset(versions.items()), tuple(map(bool, node.output)),
           tuple(a.SerializeToString() for a in node.attribute),
           tuple(one and (one.shape, one.type, one.numbers.tobytes() if has else None)
                 for one, has in zip(inputs, listed)))
    if key not in asked:
        asked[key] = ask(node, inputs, listed, versions)
    return asked[key]


def ask(node: Any, inputs: Inputs, listed: Sequence[bool], versions: Dict[str, int]) -> Found:
    """What onnx infers of a file with this operator alone."""
    names, outputs = [one and f"i{k}" or "" for k, one in enumerate(inputs)], [f"o{k}" for k in range(len(node.output))]
    alone = helper.make_node(node.op_type, names, outputs, domain=node.domain)
    alone.attribute.extend(node.attribute)
    graph = onnx.GraphProto(name="one", node=[alone])
    for name, one, has in zip(names, inputs, listed):
        if one is not None and has:
            graph.initializer.append(numpy_helper.from_array(one.numbers, name))
        elif one is not None:
            graph.input.append(helper.make_tensor_value_info(name, one.type or 1, one.shape))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*one) for one in versions.items()])
    try:
        inferred = shape_inference.infer_shapes(model, strict_mode=True)
    except Exception as error:  # of a type that differs with the version
        lines = [re.sub(r".*\[[A-Za-z]*Error\]|.*\): ", "", line).strip() for line in str(error).splitlines()]
        reason = next((line[:200] for line in reversed(lines) if line), "onnx refuses it")
        raise Refused(f"of {' and '.join(text(one.shape) for one in inputs if one is not None)}: {reason}") from None
    found = {one.name: one.type.tensor_type for one in inferred.graph.value_info if one.type.HasField("tensor_type")}

    def extent(dim: Any) -> Optional[int]:
        return dim.dim_value if dim.dim_value > 0 or dim.HasField("dim_value") else None

    return [(found[name].elem_type, shape_in(found[name], extent)) if name in found else (0, None) for name in outputs]


def shape_in(tensor: Any, extent: Callable[[Any], Optional[int]]) -> Shape:
    return tuple(map(extent, tensor.shape.dim)) if tensor.HasField("shape") else None

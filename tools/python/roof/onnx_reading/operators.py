"""FLOPs and bytes of an operator of an ONNX file, forward and of its gradients, by the formulas of `roof.work`."""

import math
from dataclasses import dataclass, field, replace
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from roof import work
from roof.onnx_reading.values import FLOATS, Given, Unknown, Value, known_bytes
from roof.work import Work

VIEWS = set("""Flatten Identity Optional OptionalGetElement ReorderInput ReorderOutput Reshape Shape Size Squeeze
    Unsqueeze""".split())
MOVES = set("""AffineGrid BitCast Cast CastLike CenterCropPad Col2Im Compress Concat ConstantOfShape DepthToSpace Expand
    EyeLike Gather GatherBlockQuantized GatherElements GatherND GridSample MaxRoiPool MaxUnpool NonZero OneHot Pad
    QLinearConcat RandomNormal RandomUniform Range Resize ReverseSequence RoiAlign Scatter ScatterElements ScatterND
    Slice SpaceToDepth Split TensorScatter Tile Transpose Trilu Unique Upsample Where""".split())
#: One FLOP for each value: of the shape of the first input; and of a shape that follows from several.
LIKE_FIRST = set("""Abs Acos Acosh Asin Asinh Atan Atanh Bernoulli BiasGelu BitwiseNot Ceil Celu Clip Cos Cosh CumSum
    DequantizeLinear Dropout Elu Erf Exp FastGelu Floor Gelu HardSigmoid HardSwish Hardmax IsInf IsNaN LeakyRelu Log
    Mish Neg Not QLinearLeakyRelu QLinearSigmoid QuantizeLinear QuickGelu RandomNormalLike RandomUniformLike Reciprocal
    Relu RotaryEmbedding Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh
    ThresholdedRelu""".split())
JOINED = set("""Add And BiasAdd BiasSplitGelu BitShift BitwiseAnd BitwiseOr BitwiseXor Div DynamicQuantizeLinear Equal
    Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or PRelu Pow QLinearAdd QLinearMul Sub Sum
    Xor""".split())
NORMS = set("""BatchNormalization BiasSoftmax EmbedLayerNormalization GroupNorm GroupNormalization InstanceNormalization
    LRN LayerNormalization LogSoftmax LpNormalization MeanVarianceNormalization QLinearSoftmax RMSNormalization
    SimplifiedLayerNormalization SkipGroupNorm SkipLayerNormalization SkipSimplifiedLayerNormalization
    Softmax""".split())
#: One for each value that is added up or compared.
REDUCTIONS = {"Reduce" + one for one in "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()}
SUMS = REDUCTIONS | set("""ArgMax ArgMin AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool
    NhwcMaxPool QLinearAveragePool QLinearGlobalAveragePool QLinearReduceMean TopK""".split())
CONVOLUTIONS = set("Conv ConvInteger ConvTranspose DeformConv FusedConv NhwcFusedConv QLinearConv".split())
MATRIX_PRODUCTS = set("""DynamicQuantizeMatMul FusedGemm FusedMatMul Gemm GemmFastGelu MatMul MatMulInteger
    MatMulIntegerToFloat QGemm QLinearMatMul""".split())
PACKED = {"MatMulNBits", "MatMulBnb4", "MatMulFpQ4"}  #: their second input holds K x N weights
RECURRENT = {"GRU", "LSTM", "RNN", "DynamicQuantizeLSTM"}
#: attention that multiplies by weights of queries, keys and values first
PROJECTED = {"com.microsoft.Attention", "QAttention"}
ATTENTION = {"Attention", "MultiHeadAttention", "GroupQueryAttention"} | PROJECTED
EXPERTS = {"MoE", "QMoE"}
PRODUCTS = CONVOLUTIONS | MATRIX_PRODUCTS | PACKED | RECURRENT | ATTENTION | EXPERTS | {"Einsum"}
KNOWN = VIEWS | MOVES | LIKE_FIRST | JOINED | NORMS | SUMS | PRODUCTS
#: Names of PyTorch where they are not those in small letters.
AS_PYTORCH = {"Swish": "silu", "QuickGelu": "silu", "QLinearSigmoid": "sigmoid", "BiasGelu": "gelu"}
#: gradients need no input
LINEAR = set("Add Sub Neg Sum Mean ReduceSum ReduceMean AveragePool GlobalAveragePool".split())
#: The inputs that are data: factors, weights, biases. Others are scales, zero points, lengths. Without an entry: all.
DATA_INPUTS: Dict[str, Sequence[int]] = {
    "QLinearConv": (0, 3, 8), "QLinearMatMul": (0, 3), "ConvInteger": (0, 1), "MatMulInteger": (0, 1),
    "DynamicQuantizeMatMul": (0, 1, 4), "MatMulIntegerToFloat": (0, 1, 6), "QGemm": (0, 3, 6), "QLinearAdd": (0, 3),
    "QLinearMul": (0, 3), "QLinearConcat": range(2, 999, 3), "MatMulNBits": (0, 1, 5), "MatMulBnb4": (0, 1),
    "MatMulFpQ4": (0, 1), "GatherBlockQuantized": (0, 1), "DynamicQuantizeLSTM": (0, 1, 2, 3),
    **dict.fromkeys("""QuantizeLinear DequantizeLinear QLinearSigmoid QLinearLeakyRelu QLinearSoftmax QLinearAveragePool
                    QLinearGlobalAveragePool QLinearReduceMean""".split(), (0,))
}
#: Others have numbers beside their data, which are no parameters, and tables of angles.
COUNTED_INPUTS = {**DATA_INPUTS, **dict.fromkeys("Clip Pad Resize RotaryEmbedding TopK Upsample".split(), (0,)),
                  "GroupQueryAttention": range(7), "OneHot": ()}


@dataclass
class Operator:
    """Its work over the batch of the file. Bytes are those of operands, each moved once."""

    name: str
    kind: str
    output: Tuple[int, ...] = ()
    parameters: int = 0  #: trained values that no operator before it reads
    is_product: bool = False
    is_fixed: bool = False  #: it reads constants alone
    unknown: str = ""  #: why its FLOPs are not known; empty: they are
    forward: Work = field(default_factory=Work)
    of_inputs: Work = field(default_factory=Work)  #: gradients
    of_weights: Work = field(default_factory=Work)
    fixed: Sequence[float] = (0, 0, 0)  #: bytes of the three that do not grow with the batch: of constants
    read: float = 0  #: bytes of other operators' results
    written: float = 0

    def __iadd__(self, other: "Operator") -> "Operator":
        for name in ("forward", "of_inputs", "of_weights", "written", "parameters"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.fixed, self.unknown = [a + b for a, b in zip(self.fixed, other.fixed)], self.unknown or other.unknown
        return self

    def times(self, factor: float) -> "Operator":
        return replace(self, forward=self.forward.times(factor), of_inputs=self.of_inputs.times(factor),
                       of_weights=self.of_weights.times(factor), written=self.written * factor,
                       fixed=[factor * one for one in self.fixed])

    def of_batches(self, factor: float) -> "Operator":
        """Of so many times the batch, over the same constants."""
        if self.is_fixed:
            return self
        made = replace(self.times(factor), fixed=self.fixed, read=self.read * factor)
        for one, constants in zip((made.forward, made.of_inputs, made.of_weights), self.fixed):
            one.compulsory += constants * (1 - factor)
            one.no_reuse += 0 if self.is_product else constants * (1 - factor)
        return made


def einsum_letters(equation: str, inputs: Sequence[Value]) -> Tuple[List[str], str, Dict[str, int]]:
    """Letters of each operand and of the result, and their extents; other letters stand for the axes of "..."."""
    terms, arrow, result = equation.replace(" ", "").partition("->")
    words = terms.split(",")
    rest = [len(one.shape) - len(word.replace("...", "")) for word, one in zip(words, inputs)]
    dots = "".join(chr(0x2000 + k) for k in range(max(rest)))
    words = [word.replace("...", dots[len(dots) - more:]) for word, more in zip(words, rest)]
    extents: Dict[str, int] = {}
    for word, one in zip(words, inputs):
        extents.update((letter, max(extents.get(letter, 1), extent)) for letter, extent in zip(word, one.shape))
    once = sorted(letter for letter in extents if letter not in dots and "".join(words).count(letter) == 1)
    return words, result.replace("...", dots) if arrow else dots + "".join(once), extents


def einsum_flops(equation: str, inputs: Sequence[Value]) -> float:
    """Of products two by two, from the left; of one operand, the values that are added up."""
    words, result, extents = einsum_letters(equation, inputs)
    if len(words) == 1:
        return float(math.prod(extents.values()) if set(words[0]) - set(result) else 0)
    flops, left = 0.0, set(words[0])
    for k, word in enumerate(words[1:], 2):
        needed = set(result).union(*words[k:])
        shared = [letter for letter in left | set(word) if letter in needed or letter in left and letter in word]
        flops += 2.0 * math.prod(extents[letter] for letter in shared)
        left = (left | set(word)) & needed
    return flops


def attention_of(operation: str, given: Given, inputs: Sequence[Optional[Value]]) -> Tuple[Given, Value]:
    """The arguments of `work.attention`, [batch][heads][tokens][width] of each, and its result."""
    padded: List[Any] = [*inputs, *[None] * 9]
    q, k, v = padded[:3]
    heads = given.get("num_heads") or given.get("q_num_heads", 1)
    kv_heads = given.get("kv_num_heads", heads)
    past = padded[{"GroupQueryAttention": 3, "MultiHeadAttention": 6, "QAttention": 8}.get(operation, 4)]
    before = past.shape[-2] if past is not None and past.is_known else 0
    batch, tokens = q.shape[:2]
    if operation in PROJECTED:
        widths = [width // heads for width in given.get("qkv_hidden_sizes", [k.shape[1] // 3] * 3)]
        shapes = [(batch, heads, tokens, width) for width in widths]
    elif k is None:  # queries, keys and values side by side
        width = q.shape[4] if len(q.shape) == 5 else q.shape[2] // (heads + 2 * kv_heads)
        shapes = [(batch, of, tokens, width) for of in (heads, kv_heads, kv_heads)]
    else:
        shapes = [one.shape if len(one.shape) == 4
                  else (batch, of, one.shape[1], one.shape[4] if len(one.shape) == 5 else one.shape[2] // of)
                  for one, of in ((q, heads), (k, kv_heads), (k if len(k.shape) == 5 else v, kv_heads))]
    shapes[1:] = [(*one[:2], one[2] + before, one[3]) for one in shapes[1:]]
    arguments: Given = dict(zip(("query", "key", "value"), (replace(q, shape=shape) for shape in shapes)))
    lengths = shapes[0][2], shapes[1][2]
    if None not in lengths and max(lengths) <= 1 << 20:
        # onnx's own Attention lets the first query see the first key, but behind a cache (input 6: one of given
        # length), as the others do everywhere, the last the last.
        to_last = operation == "GroupQueryAttention" or given.get("unidirectional")
        if given.get("is_causal"):
            to_last = before > 0 or padded[6] is not None
        arguments.update(custom_mask_type=2 if to_last else 0, is_causal=bool(given.get("is_causal")))
        for side in ("left_window_size", "right_window_size"):
            arguments["window_size_" + side.partition("_")[0]] = given.get(side)
        if given.get("local_window_size", -1) > 0:
            arguments["window_size"] = given["local_window_size"]
    return arguments, replace(q, shape=(*shapes[0][:3], shapes[2][3]))


def product_flops(operation: str, given: Given, data: Sequence[Any], out: Value) -> float:
    """Two for each multiply-add, without what attention multiplies."""
    x, w = data[0], data[1] if len(data) > 1 else None
    if operation in CONVOLUTIONS:
        return work.convolution_flops(x, out, w, operation == "ConvTranspose")
    if operation in MATRIX_PRODUCTS:
        rows = 0 if given.get("transBatchA") else -2
        return 2.0 * out.numel() * x.shape[rows if given.get("transA") else -1]
    if operation in PACKED:
        return 2.0 * out.numel() * given["K"]
    if operation in RECURRENT:
        return 2.0 * x.shape[0] * x.shape[1] * (w.numel() + data[2].numel())
    if operation in PROJECTED:
        return 2.0 * x.numel() * w.shape[1]
    if operation in EXPERTS:
        packed = 8 // given.get("expert_weight_bits", 4) if operation == "QMoE" else 1
        weights = sum(one.numel() for one in data[2:] if one is not None and len(one.shape) == 3)
        return 2.0 * x.numel() / x.shape[-1] * given.get("k", 1) * packed * weights / w.shape[-1]
    return einsum_flops(given["equation"].decode(), data) if operation == "Einsum" else 0.0


def adds_up(operation: str, given: Given, data: Sequence[Any], out: Value) -> bool:
    """Whether it is a product with sums, which one of positions and rates has not."""
    try:
        return operation in PRODUCTS and product_flops(operation, given, data, out) > 2 * out.numel()
    except (Unknown, AttributeError, IndexError, KeyError, TypeError):
        return False


def trained(constants: Iterable[Value]) -> List[Value]:
    """Constants with the bytes of their gradients."""
    return [replace(one, size=max(4.0, one.size) if one.type in FLOATS else one.size) for one in constants]


def count(into: Operator, operation: str, given: Given, data: Sequence[Optional[Value]],
          results: Sequence[Value]) -> None:
    """Sets the work. data: the inputs by COUNTED_INPUTS. Raises Unknown where FLOPs follow from an unknown extent."""
    is_product = into.is_product = operation in PRODUCTS
    present = [one for one in data if one is not None and (one.is_data or is_product and one.is_constant)]
    xs, constants = [one for one in present if not one.is_constant], [one for one in present if one.is_constant]
    out = results[0]
    written = [one for one in (results if operation in RECURRENT or operation == "Split" else results[:1])
               if one.is_data]
    gathers = operation.startswith("Gather") and data[0] in constants
    if operation.startswith("Gather") or operation in ("Slice", "Split"):  # what they write is all that they read
        xs = [] if gathers else written
        constants = [replace(out, size=constants[0].size)] if gathers else []
    into.read, into.written = known_bytes(xs), known_bytes(written)
    trains = into.parameters > 0 or sum(one.numel() for one in constants if one.is_known) > 1
    gradients = sum(one.needs_gradient for one in xs)
    if is_product:
        return count_product(into, operation, given, data, xs, constants, out, gradients, trains)
    moves, x, y, of_constants = operation in MOVES | VIEWS, into.read, into.written, known_bytes(constants)
    name, by_tanh = AS_PYTORCH.get(operation, operation.lower()), given.get("approximate") == b"tanh"
    flops, back = (0.0 if moves else out.numel() * work.of_element(name + of, by_tanh) for of in ("", "_backward"))
    if operation in NORMS:
        norm = "_fused_rms_norm" if "RMS" in operation or "Simplified" in operation else "native_layer_norm"
        flops, back = (work.FORMULAS[f"{norm}{of}"](out, out, out).flops for of in ("", "_backward"))
    elif operation == "MaxPool":
        flops = work.max_pool(out, data[0], given["kernel_shape"]).flops
    elif operation in SUMS:
        flops = back = float(present[0].numel())
    into.forward = work.elementwise(flops, x + y + of_constants)
    fixed = known_bytes(trained(constants)) if trains else 0.0
    if moves and x:
        fixed, into.of_inputs = 0.0, work.elementwise(back if gradients else 0, y + x)
    elif gradients and not moves:
        fixed *= 1 if operation in LINEAR else 2
        into.of_inputs = work.elementwise(back, y + x + fixed + (0 if operation in LINEAR else x))
    elif trains:
        into.of_inputs = work.elementwise(0, y + fixed)
    into.fixed = (0, 0, 0) if gathers else (of_constants, fixed, 0)


def count_product(into: Operator, operation: str, given: Given, data: Sequence[Optional[Value]], xs: List[Value],
                  constants: List[Value], out: Value, gradients: int, trains: bool) -> None:
    if not all(one is None or one.is_known for one in [*data[:2], out]):
        raise Unknown
    biases = [one for one in data[2:3] if one in constants and operation not in RECURRENT | EXPERTS | {"Einsum"}]
    weights = [one for one in constants if one not in biases]
    flops = product_flops(operation, given, data, out)
    of_gradients = flops * gradients
    if operation in RECURRENT:  # through time, and to the input
        w, r = (one.numel() for one in data[1:3])  # type: ignore[union-attr]
        of_gradients = flops / (w + r) * (r + (w if data[0].needs_gradient else 0))  # type: ignore[union-attr]
    needed = [] if weights and operation not in RECURRENT | ATTENTION else xs
    into.forward = work.contraction(flops, [*xs, *weights], [out], known_bytes(biases))
    if of_gradients:
        into.of_inputs = work.contraction(of_gradients, [out, *needed, *weights], xs)
    if operation in ATTENTION:
        arguments, result = attention_of(operation, given, data)
        attended = work.attention("_scaled_dot_product_", arguments, result)
        into.forward = into.forward + attended if flops else attended
        if gradients or flops and trains:
            into.of_inputs += work.attention("_scaled_dot_product_", {**arguments, "grad_out": result}, result)
    if trains and weights and flops:  # of two trained factors each has a gradient
        factors = [one for one in data[:2] if one in weights] if operation not in RECURRENT | ATTENTION | EXPERTS else []
        others = xs + (weights if len(factors) > 1 else [])
        into.of_weights = work.contraction(flops * max(1, len(factors)), [out, *others], trained(constants))
    into.fixed = (known_bytes(constants), known_bytes(weights) if of_gradients else 0,
                  known_bytes(trained(constants)) if into.of_weights.flops else 0)

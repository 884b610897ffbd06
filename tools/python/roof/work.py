"""FLOPs and bytes of one operator of PyTorch, from the shapes of its tensors.

Contractions (convolutions, matrix products, attention, recurrent layers) count two FLOPs per multiply-add, by
torch.utils.flop_counter where only that has a formula. Everything else is elementwise: one FLOP per element, except
norms, max pools and activations, as docs/method.md lists them and workloads/model/work.cpp counts them; moving data
counts none. Compulsory bytes: each operand of the operator moved once, of a convolution's input only the positions that
some window reads, and of the weights of groups (experts) those of as many groups as there are rows. No reuse: both
factors of each multiply-add moved. Views move nothing.

Attention has the FLOPs of all pairs of query and key, and as executed those of the pairs that a causal mask or a window
keeps. A product with a sparse matrix has two FLOPs for each of its nonzeros and each column of the other."""

import math
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Set


@dataclass
class Work:
    """FLOPs and bytes; sums with +=."""

    flops: float = 0.0
    contraction_flops: float = 0.0  #: the model's FLOPs: those of contractions
    compulsory: float = 0.0
    no_reuse: float = 0.0
    attention: float = 0.0  #: FLOPs of attention, of all pairs
    masked: float = 0.0  #: of them, not executed: a causal mask or a window leaves the pairs out
    again: float = 0.0  #: of what is executed of them: the scores that the backward pass computes again
    unread_mask: float = 0.0  #: of them: under a mask of values, which is not read
    uncounted: Set[str] = field(default_factory=set)  #: names of operators without a count

    def __iadd__(self, other: "Work") -> "Work":
        for name in AMOUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.uncounted = self.uncounted | other.uncounted
        return self

    def __add__(self, other: "Work") -> "Work":
        return Work.sum((self, other))

    @staticmethod
    def sum(works: Iterable["Work"]) -> "Work":
        total = Work()
        for work in works:
            total += work
        return total

    def times(self, factor: float) -> "Work":
        return Work(**{name: factor * getattr(self, name) for name in AMOUNTS}, uncounted=self.uncounted)


AMOUNTS = [one.name for one in fields(Work)][:-1]


class Shape:
    """Extents and bytes of an element, in place of a tensor in the formulas."""

    layout = "strided"

    def __init__(self, shape: Sequence[int], size: float) -> None:
        self.shape, self.size = tuple(shape), size

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return math.prod(self.shape)

    def element_size(self) -> float:
        return self.size

    def stride(self) -> Sequence[int]:
        return (1,) * len(self.shape)


def elementwise(flops: float, moved: float) -> Work:
    return Work(flops, 0.0, moved, moved)


def tensors_in(values: Any) -> List[Any]:
    """The tensors among arguments, in lists too."""
    if hasattr(values, "element_size"):
        return [values]
    inner = values.values() if isinstance(values, dict) else values if isinstance(values, (list, tuple)) else ()
    return [tensor for value in inner for tensor in tensors_in(value)]


#: Attributes of tensors (shapes.py). Of one that is stored in fewer bytes than it has here, the share; of a mask, the
#: pairs of one head and sequence that it keeps.
SHARE, KEPT = "roof_share", "roof_kept"


def moved(tensors: Iterable[Any]) -> float:
    """Bytes of the tensors; an expanded one has only the elements that are stored, a sparse one nonzeros and places."""
    return float(sum(sum(part.numel() * part.element_size() for part in parts_of_sparse(tensor)) if is_sparse(tensor)
                     else stored(tensor) * tensor.element_size() * getattr(tensor, SHARE, 1) for tensor in tensors))


def is_sparse(tensor: Any) -> bool:
    return str(getattr(tensor, "layout", "")).startswith("torch.sparse")


def parts_of_sparse(tensor: Any) -> List[Any]:
    """The nonzeros, and the tensors of their places."""
    if str(tensor.layout) == "torch.sparse_coo":
        return [tensor._values(), tensor._indices()]
    if str(tensor.layout) in ("torch.sparse_csc", "torch.sparse_bsc"):
        return [tensor.values(), tensor.ccol_indices(), tensor.row_indices()]
    return [tensor.values(), tensor.crow_indices(), tensor.col_indices()]


def stored(tensor: Any) -> int:
    return math.prod(size for size, stride in zip(tensor.shape, tensor.stride()) if stride != 0 or size == 0)


def contraction(flops: float, operands: Sequence[Any], results: Sequence[Any], extra: float = 0.0) -> Work:
    """`extra`: bytes of a bias, which no multiply-add reads, less those of operands that are not read."""
    out = moved(results)
    return Work(flops, flops, moved(operands) + extra + out, flops * operands[0].element_size() + max(0.0, extra) + out)


# ---------------------------------------------------------------------------------------------------- convolutions
def _spatial(values: Sequence[int], count: int) -> List[int]:
    return list(values) * count if len(values) == 1 else list(values)


def positions_read(extent: int, outputs: int, window: int, stride: int, padding: int, dilation: int) -> int:
    """The positions of an axis that some window reads."""
    read = {o * stride - padding + tap * dilation for o in range(outputs) for tap in range(window)}
    return sum(1 for position in read if 0 <= position < extent)


def _input_read(x: Any, y: Any, weight: Any, stride: Any, padding: Any, dilation: Any, transposed: bool) -> float:
    if transposed:
        return moved([x])
    sides = (_spatial(one, x.dim() - 2) for one in (stride, padding, dilation))
    read = math.prod(map(positions_read, x.shape[2:], y.shape[2:], weight.shape[2:], *sides))
    return float(x.shape[0] * x.shape[1] * read) * x.element_size()


def convolution_flops(x: Any, y: Any, weight: Any, transposed: bool) -> float:
    """Two per multiply-add over the full window. The weight has a slot for each channel of one group."""
    return 2.0 * math.prod((x if transposed else y).shape) * math.prod(weight.shape[1:])


def convolution(out: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                *_rest: Any) -> Work:
    flops, others = convolution_flops(x, out, weight, transposed), moved(tensors_in(bias)) + moved([out])
    read = _input_read(x, out, weight, stride, padding, dilation, transposed)
    return Work(flops, flops, read + moved([weight]) + others, flops * x.element_size() + others)


def convolution_backward(_out: Any, y: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any,
                         dilation: Any,
                         transposed: bool, _output_padding: Any, _groups: int, mask: Sequence[bool]) -> Work:
    flops, size, work = convolution_flops(x, y, weight, transposed), x.element_size(), Work()
    if mask[0]:
        work += Work(flops, flops, moved([y, weight, x]), flops * size + moved([x]))
    if mask[1]:
        read = _input_read(x, y, weight, stride, padding, dilation, transposed)
        gradient = moved([weight]) + (math.prod(bias_sizes) * size if mask[2] and bias_sizes else 0.0)
        work += Work(flops, flops, read + moved([y]) + gradient, flops * size + gradient)
    return work


# ---------------------------------------------------------------------------------------------------- norms and pools
def norm(out: Any, x: Any, *rest: Any, each: float = 8.0) -> Work:
    of_gain = [tensor for tensor in tensors_in(list(rest[:3])) if tensor.numel() < max(2, x.numel())][:2]  # and offset
    return elementwise(each * x.numel(), 2 * moved([x]) + moved(of_gain))


def norm_backward(_out: Any, _gradient: Any, x: Any, *rest: Any, each: float = 11.0, parameters: int = 4) -> Work:
    weight = [t for t in tensors_in(list(rest)) if t.dim() == 1][:1]
    # Gain and offset of a norm have the same size; both are read, and both gradients written.
    return elementwise(each * x.numel(), 3 * moved([x]) + parameters * moved(weight))


MASK_BYTES = 1  #: position of the largest value of a window; what is necessary, not what PyTorch stores


def max_pool(out: Any, x: Any, window: Sequence[int], *_rest: Any) -> Work:
    result = out[0] if isinstance(out, (list, tuple)) else out
    taps = math.prod(_spatial(window, len(x.shape) - 2))
    return elementwise((taps - 1.0) * result.numel(), moved([x, result]) + MASK_BYTES * result.numel())


# ---------------------------------------------------------------------------------------------------- attention
@lru_cache(maxsize=None)
def pairs_kept(queries: int, keys: int, left: Optional[int], right: Optional[int], offset: int) -> int:
    """Pairs of query and key. Query i sees the keys from i + offset - left to i + offset + right; None: all there."""
    if left is None and right is None:
        return queries * keys
    return sum(max(0, min(keys, keys if right is None else i + offset + right + 1)
                   - max(0, 0 if left is None else i + offset - left)) for i in range(queries))


def attention(name: str, given: Dict[str, Any], out: Any) -> Work:
    """`given`: arguments by name. Two products forward, scores and values; backward five, with the scores again."""
    def first(*names: str) -> Any:
        return next((given[one] for one in names if given.get(one) is not None), None)

    q, k, v = (first(long, long[0]) for long in ("query", "key", "value"))
    gradient, mask = first("grad_out", "grad_out_", "dout"), first("attn_mask", "attn_bias", "bias")
    begins = [first(f"cum_seq_{one}", f"cu_seqlens_{one}") for one in "qk"]
    tokens_first = "scaled_dot" not in name and "cudnn" not in name or begins[0] is not None
    tokens, heads = (-3, -2) if tokens_first else (-2, -3)
    each, lengths = q.shape[heads] * math.prod(q.shape[:-3]), [(q.shape[tokens], k.shape[tokens])]
    if begins[0] is not None:
        each, lengths = q.shape[heads], list(zip(*((one[1:] - one[:-1]).tolist() for one in begins)))
    pairs = each * sum(a * b for a, b in lengths)
    # Keys to the left and right that a query sees, and whether the last sees the last key; else the first the first.
    kind = given.get("custom_mask_type") or 0  # 1: from the first pair, 2: up to the last
    left, right = (None if side is None or side < 0 else int(side)
                   for side in (given.get("window_size_left"), given.get("window_size_right")))
    right = 0 if given.get("is_causal") or given.get("causal") or kind else right
    left = int(given["window_size"]) - 1 if given.get("window_size") else left
    to_last = kind == 2 or "flash_att" in name and "scaled_dot" not in name
    of_one = getattr(mask, KEPT, given.get("kept"))
    if of_one is not None:
        kept = each * len(lengths) * of_one
    else:
        kept = each * sum(pairs_kept(a, b, left, right, b - a if to_last else 0) for a, b in lengths)
    per_pair = 2.0 * (q.shape[-1] + v.shape[-1] if gradient is None else 3 * q.shape[-1] + 2 * v.shape[-1])
    results = tensors_in(out)[:1 if gradient is None else 3] or [q]
    # the result: rows of its product with the gradient
    reread = [] if gradient is None else [gradient, given.get("out")]
    work = contraction(per_pair * kept, [q, k, v, *tensors_in(reread)], results, moved(tensors_in(mask)))
    work.attention, work.masked = per_pair * pairs, per_pair * (pairs - kept)
    work.flops = work.contraction_flops = work.attention
    work.again = 0.0 if gradient is None else 2.0 * kept * q.shape[-1]
    work.unread_mask = 0.0 if mask is None or hasattr(mask, KEPT) else work.attention
    return work


# ---------------------------------------------------------------------------------------------------- products
def sparse_product(factors: Sequence[Any], result: Any) -> Optional[float]:
    """FLOPs of a product with a sparse factor or, of two dense ones, a sparse result. None: they depend on places."""
    sparse = [factor for factor in factors if is_sparse(factor)]
    if not sparse:
        return 2.0 * parts_of_sparse(result)[0].numel() * factors[0].shape[-1]
    if len(sparse) > 1 or is_sparse(result):
        return None
    rows_of_result = sparse[0].shape[-2] if sparse[0] is factors[0] else sparse[0].shape[-1]
    return 2.0 * parts_of_sparse(sparse[0])[0].numel() * result.numel() / max(1, rows_of_result)


#: Matrix products, and the place of their left factor among the arguments; the right one follows it.
PRODUCTS = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1, "mv": 0, "addmv": 1, "addbmm": 1, "dot": 0, "vdot": 0,
            "linear": 0, "matmul": 0, "_int_mm": 0, "_grouped_mm": 0, "grouped_mm_fallback": 0, "_scaled_mm": 0,
            "_scaled_mm_v2": 0, "_addmm_activation": 1, "addmm_": 1, "baddbmm_": 1, "addmv_": 1, "addbmm_": 1}


def product_flops(name: str, left: Any, right: Any) -> float:
    """FLOPs of one of PRODUCTS, without its bias: two for each number of the left and each column of the right one."""
    if name == "linear":
        return 2.0 * left.numel() * right.shape[0]
    if name != "matmul":  # columns that are divided among groups meet one group
        groups = left.shape[0] if left.dim() == 3 and right.dim() == 2 else 1
        return 2.0 * left.numel() * (right.shape[-1] if right.dim() > 1 else 1) / groups
    axes = max(left.dim(), right.dim())  # the factors of `matmul` may differ in their axes of batches
    batches = math.prod(max(pair)
                        for pair in zip(*((1,) * (axes - one.dim()) + tuple(one.shape[:-2]) for one in (left, right))))
    rows, columns = (one.shape[place] if one.dim() > 1 else 1 for one, place in ((left, -2), (right, -1)))
    return 2.0 * batches * rows * columns * left.shape[-1]


def recurrent(x: Any, weights: Sequence[Any], results: Sequence[Any], times: int = 1) -> Work:
    """Every matrix of the weights meets every row of the input, so many times."""
    rows = x.numel() // x.shape[-1]
    return contraction(2.0 * times * rows * sum(w.numel() for w in weights if w.dim() == 2), [x, *weights], results)


FORMULAS: Dict[str, Callable[..., Work]] = {
    "convolution": convolution, "convolution_backward": convolution_backward,
    **dict.fromkeys(("native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm", "native_layer_norm",
                     "native_group_norm"), norm),
    **dict.fromkeys(("native_batch_norm_backward", "cudnn_batch_norm_backward", "native_layer_norm_backward",
                     "native_group_norm_backward"), norm_backward),
    "_fused_rms_norm": lambda out, x, shape, *rest: norm(out, x, *rest, each=4),
    "_fused_rms_norm_backward": lambda out, gradient, x, *rest: norm_backward(out, gradient, x, *rest[2:], each=9,
                                                                              parameters=2),
    "max_pool2d_with_indices": max_pool,
    "max_pool2d_with_indices_backward": lambda out, gradient, x, *_: elementwise(
        float(gradient.numel()), moved([gradient, x]) + MASK_BYTES * gradient.numel()),
    "mkldnn_rnn_layer": lambda out, x, *rest: recurrent(x, tensors_in(list(rest[:2])), tensors_in(out)[:1]),
    "mkldnn_rnn_layer_backward": lambda out, x, *rest: recurrent(x, tensors_in(list(rest[:2])), tensors_in(out), 2),
    "_cudnn_rnn": lambda out, x, weights, *_: recurrent(x, weights, tensors_in(out)[:1]),
    "_cudnn_rnn_backward": lambda out, x, weights, *_: recurrent(x, weights, tensors_in(out), 2)
}

#: Operators that move data and compute nothing.
MOVES = set("""clone copy_ _to_copy convert_element_type cat stack index index_select gather scatter embedding
    constant_pad_nd select_backward slice_backward fill_ zero_ zeros zeros_like ones ones_like full full_like arange
    masked_fill where repeat flip roll""".split())
#: Operators that move nothing, beside views.
NOTHING = set("""empty empty_like empty_strided new_empty new_empty_strided _unsafe_view detach lift_fresh
    _local_scalar_dense is_same_size record_stream _reshape_alias resize_""".split())
#: Operators that read of their first operand what they write.
READ_IN_PART = ("embedding", "index", "index_select", "gather")
#: Parts of the names of attention's kernels, PyTorch's and those of the package flash-attn.
ATTENTION = ("_scaled_dot_product_", "_flash_attention_", "_efficient_attention_", "_flash_attn_", "_cudnn_attention_")
#: Matrix products that torch.utils.flop_counter lacks.
SPARSE_PRODUCTS = ("_sparse_addmm", "sparse_sampled_addmm", "_sparse_sparse_matmul", "hspmm", "sspaddmm")
#: FLOPs per element where they are not 1, as workloads/model/graph.hpp and work.cpp have them.
OF_ELEMENT = {"silu": 4, "silu_backward": 8, "gelu": 5, "gelu_backward": 11, "sigmoid": 3, "sigmoid_backward": 6,
              "hardtanh": 2, "tanh": 5, "tanh_backward": 6, "upsample_bilinear2d": 7, "upsample_bilinear2d_backward": 8,
              "hardsigmoid": 4, "hardsigmoid_backward": 2, "hardswish": 5, "hardswish_backward": 5, "native_dropout": 2}
OF_TANH = {"gelu": 8, "gelu_backward": 15}  #: gelu by its approximation
#: Operators whose FLOPs do not follow from the number of their elements: solvers, decompositions, Fourier transforms,
#: distances, other products, and those that stand within an operator with a formula where PyTorch calls them.
NO_FORMULA = tuple("""linalg_ _linalg_ _fft_ cholesky _cdist _euclidean_dist _pdist _trilinear conv_tbc triangular_solve
    lu_unpack ormqr geqrf _weight_int _scaled_grouped_mm segment_reduce cudnn_conv miopen_conv miopen_depth mkldnn_conv
    mkldnn_linear _slow_conv _conv_dep conv_dep _flash_att _efficient_att _dyn_quant _cslt_sparse_mm _sparse_mm
    _sparse_semi fbgemm_linear _mixed_dtypes_linear _foreach_mm""".split()) + SPARSE_PRODUCTS
OF_ELEMENTS = {"linalg_vector_norm", "linalg_cross", "_linalg_check_errors"}


def is_view(operator: Any) -> bool:
    returns = operator._schema.returns
    return bool(returns) and all(r.alias_info is not None and not r.alias_info.is_write for r in returns)


def formulas_of_pytorch() -> Dict[Any, Any]:
    """Empty without PyTorch."""
    try:
        from torch.utils.flop_counter import flop_registry
    except ImportError:
        return {}
    return flop_registry


def work_of(operator: Any, args: Sequence[Any], kwargs: Dict[str, Any], out: Any, in_backward: bool) -> Work:
    """The work of one call of an operator, an OpOverload."""
    packet = getattr(operator, "_overloadpacket", None)
    if packet is None:
        return Work(uncounted={str(operator)})
    name, inputs, results = packet.__name__, tensors_in([list(args), kwargs]), tensors_in(out)
    if name.startswith(ATTENTION):
        names = (argument.name for argument in operator._schema.arguments)
        return attention(name, {**dict(zip(names, args)), **kwargs}, out)
    is_floating = any(tensor.is_floating_point() or tensor.is_complex() for tensor in inputs + results)
    if operator.namespace not in ("aten", "prim", "prims") and name != "grouped_mm_fallback":
        return Work(uncounted={str(packet)} if is_floating else set())
    if name in NOTHING or operator.namespace == "prim" or is_view(operator):
        return Work()
    if name in FORMULAS:
        return FORMULAS[name](out, *args)
    formula = formulas_of_pytorch().get(packet)
    if formula is not None or name in PRODUCTS or name in SPARSE_PRODUCTS:
        bias = inputs[:PRODUCTS.get(name, int("addmm" in name))]
        factors = inputs[len(bias):]
        if name in SPARSE_PRODUCTS or any(is_sparse(tensor) for tensor in factors):
            flops = sparse_product(factors, results[0])
        else:
            flops = (product_flops(name, *factors[:2]) if name in PRODUCTS
                     else float(formula(*args, **kwargs, out_val=out)))
        if flops is None:
            return Work(uncounted={f"{packet} of two sparse matrices"})
        unread = 0.0
        # weights of groups: each row has its own
        if "grouped" in name and factors[0].dim() == 2 and factors[1].dim() == 3:
            unread = moved(factors[1:2]) * max(0.0, 1 - factors[0].shape[0] / factors[1].shape[0])
        return contraction(flops, factors, results, moved(bias) - unread)
    if not is_floating:
        return Work()
    if name.startswith(NO_FORMULA) and name not in OF_ELEMENTS:
        return Work(0.0, 0.0, *[moved(inputs) + moved(results)] * 2, uncounted={str(packet)})
    if name == "sum" and in_backward:
        # The gradient of a broadcast operand: summed from what the operator's other gradients read.
        return elementwise(0.0, moved(results))
    if name in READ_IN_PART:
        return elementwise(0.0, 2 * moved(results) + (moved(inputs[1:]) if name == "embedding" else 0.0))
    if name == "embedding_dense_backward":  # zeros, to which the gradients of tokens are added
        return elementwise(float(args[0].numel()), 3 * moved(inputs[:1]) + moved(inputs[1:]) + moved(results))
    flops = 0.0
    if name not in MOVES:  # one FLOP per element; two where the operator also scales by a factor
        scales = kwargs.get("alpha", 1) != 1 or "addc" in name or "lerp" in name
        by_tanh = kwargs.get("approximate") == "tanh" or "tanh" in args
        elements = max(map(stored, inputs + results), default=0)
        if name.startswith("_foreach"):  # of the first list
            elements = sum(tensor.numel() for tensor in tensors_in(args[0]))
        flops = (2.0 if scales else of_element(name.rstrip("_"), by_tanh)) * elements
    return elementwise(flops, moved(inputs) + moved(results))


def of_element(name: str, by_tanh: bool = False) -> float:
    """FLOPs for each element."""
    return float((OF_TANH if by_tanh else OF_ELEMENT).get(name, 1))

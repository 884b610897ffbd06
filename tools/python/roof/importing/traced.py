"""The work of operators in traces, which has the shapes and values of their inputs, by the formulas of roof.work."""

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, List, Optional, Sequence, Set

from roof import work
from roof.work import Shape, Work

#: Types of elements as traces name them, without "c10::": precision and bytes.
TYPES = {"float": ("fp32", 4), "double": ("fp64", 8), "Half": ("fp16", 2), "BFloat16": ("bf16", 2),
         "signed char": ("int8", 1),
         **dict.fromkeys(("Float8_e4m3fn", "Float8_e5m2", "Float8_e4m3fnuz", "Float8_e5m2fnuz"), ("fp8", 1))}
#: Operators with their arguments in the order of another, whose formula they have.
SAME = {"_convolution": "convolution", "max_pool2d": "max_pool2d_with_indices", "batch_norm": "native_batch_norm",
        "layer_norm": "native_layer_norm", "group_norm": "native_group_norm", "miopen_rnn": "_cudnn_rnn",
        "miopen_rnn_backward": "_cudnn_rnn_backward"}
AVERAGES = ("avg_pool2d", "avg_pool2d_backward", "adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward")
CONVOLUTIONS = ("conv1d", "conv2d", "conv3d")
#: Kinds of layers by parts of names; of the first that is found.
KINDS = {"conv": "convolution", "attention": "attention", "attn": "attention", "rnn": "recurrent",
         "batch_norm": "batch_norm",
         "layer_norm": "layer_norm", "group_norm": "group_norm", "max_pool": "max_pool", "avg_pool": "average_pool",
         "linear": "linear", "add": "linear", "_scaled": "linear", "_grouped": "linear", "": "matmul"}
#: Kernels of attention: places of the queries, before keys and values, and of a mask of values (none: -1), the causal
#: mask and the begins of sequences (none: -1).
ATTENTION = {"_flash_attention_forward": (0, -1, 8, 3), "_flash_attn_forward": (0, -1, 5, -1),
             "_flash_attn_backward": (1, -1, 11, -1),
             **{f"_scaled_dot_product_{name}": (*places, -1) for name, places in {
                 "flash_attention_for_cpu": (0, 5, 4), "flash_attention_for_cpu_backward": (1, 8, 7),
                 "flash_attention": (0, -1, 4), "flash_attention_backward": (1, -1, 11),
                 "efficient_attention": (0, 3, 6), "efficient_attention_backward": (1, 4, 11),
                 "cudnn_attention": (0, 3, 6), "cudnn_attention_backward": (1, 8, 14),
                 "fused_attention_overrideable": (0, 3, 5),
                 "fused_attention_overrideable_backward": (1, 4, 13)}.items()}}
LARGEST = 2**40  #: an extent
MOST_TOKENS = 2**20  #: and windows of a convolution
#: What has a formula, whether its inputs tell the work or not.
KNOWN = {*CONVOLUTIONS, *ATTENTION, *work.PRODUCTS, *AVERAGES, *SAME, *work.FORMULAS}
#: Names of innermost operators that multiply nothing: they communicate, begin what runs within them, or were fused.
NO_PRODUCTS = re.compile(r".*(nccl|c10d::|record_param_comms|triton_(poi|red|per)|AccumulateGrad|autograd::engine::).*|"
                         r"\w+Backward\d+|CheckpointFunction(Backward)?|PythonDispatchMode|detach", re.DOTALL)


@dataclass
class Traced:
    """The work of an operator: the outermost that has a formula. The precision is that of the innermost, which ran."""

    work: Work
    kind: str
    precision: str  #: of its first input; empty if it is none that is known
    devices: Set[str] = field(default_factory=set)  #: that what it launched ran on
    within: List["Traced"] = field(default_factory=list)  #: the next operators in it that have a formula

    def settle(self) -> None:
        """Takes the work of those within: of the types that ran, and of all that `vmap` maps over or a tangent adds."""
        ran = Work.sum(one.work for one in self.within)
        if ran.contraction_flops >= self.work.contraction_flops + (len(self.within) > 1) and ran.contraction_flops > 0:
            self.work = ran


def short(name: str) -> str:
    return name.rpartition(":")[2].strip()


@lru_cache(maxsize=65536)
def has_formula(name: str) -> bool:
    return short(name) in KNOWN and name.startswith(("aten::", "flash_attn::"))


@lru_cache(maxsize=65536)
def is_known(name: str) -> bool:
    """Whether an operator without a formula has no FLOPs that the model counts: PyTorch's own that work by elements."""
    own = short(name)
    if name.startswith(("aten::", "prims::", "prim::")):
        solves = own.startswith(work.NO_FORMULA) and own not in work.OF_ELEMENTS
        return own not in KNOWN and "_rnn" not in own and not solves
    return NO_PRODUCTS.fullmatch(name) is not None


def arguments(dims: Sequence[Any], size: float, values: Sequence[Any]) -> List[Any]:
    """Shapes, lists of them, and values: "[2, 2]", "True"; None for another text. Raises ValueError for no extent."""
    def shape(extents: Any) -> Shape:
        if not isinstance(extents, list) or any(not isinstance(one, int) or not 0 <= one <= LARGEST for one in extents):
            raise ValueError
        return Shape(extents, size)

    given: List[Any] = [None] * max(len(dims), len(values))
    for place, value in enumerate(values):
        try:
            given[place] = None if any(dims[place:place + 1]) else json.loads(str(value).lower())
        except ValueError:
            pass
    for place, one in enumerate(dims):
        if one and isinstance(one, list) and all(isinstance(extents, list) for extents in one):
            given[place] = [shape(extents) for extents in one if extents]
        elif one:
            given[place] = shape(one)
    return given


def convolution_output(x: Shape, w: Shape, *more: Any) -> Shape:
    """more: arguments of a convolution from its strides on."""
    transposed, groups = more[3], more[5]
    sides = ([*one] * (1 if len(one) > 1 else x.dim() - 2) for one in (*more[:3], more[4] or [0]))
    sizes = [(extent - 1) * s - 2 * p + d * (k - 1) + r + 1 if transposed else (extent + 2 * p - d * (k - 1) - 1) // s
             + 1 for extent, k, s, p, d, r in zip(x.shape[2:], w.shape[2:], *sides)]
    if any(not 0 <= size <= MOST_TOKENS for size in sizes):
        raise ValueError
    return Shape((x.shape[0], w.shape[1] * groups if transposed else w.shape[0], *sizes), x.size)


def pool_output(x: Shape, window: Sequence[int], stride: Any = None, padding: Any = None, *_: Any) -> Shape:
    sides = [[*one] * (1 if len(one) > 1 else 2) for one in (window, stride or window, padding or [0])]
    return Shape((*x.shape[:-2], *((extent + 2 * p - k) // s + 1 for extent, k, s, p in zip(x.shape[-2:], *sides))),
                 x.size)


def product(name: str, given: List[Any]) -> Optional[Work]:
    left = work.PRODUCTS[name]
    a, b = given[left:left + 2]
    inner = b.shape[1] if name == "linear" else b.shape[-2] if b.dim() > 1 else b.shape[0]
    if a.shape[-1] != inner or inner == 0:
        return None
    flops = work.product_flops(name, a, b)
    bias = given[:left] or [one for one in given[2:3] if name == "linear" and isinstance(one, Shape)]
    return work.contraction(flops, [a, b], [Shape((int(flops / 2 / inner),), a.size)], work.moved(bias))


def attention(name: str, given: List[Any], has_values: bool) -> Optional[Work]:
    queries, *places = ATTENTION[name]
    mask, causal, sequences, left, right = (given[place] if 0 <= place < len(given) else None
                                            for place in (*places, places[1] + 1, places[1] + 2))
    q, k, v = given[queries:queries + 3]
    if not 3 <= q.dim() == k.dim() == v.dim() or max(q.shape) > MOST_TOKENS or sequences is not None:
        return None
    named = {"query": q, "key": k, "value": v, "attn_mask": mask, "is_causal": causal}
    if queries:
        named["grad_out"] = given[0]
    if "_flash_attn_" in name:
        named.update({"window_size_left": left, "window_size_right": right})
    done = work.attention(name, named, [q, k, v] if queries else Shape((*q.shape[:-1], v.shape[-1]), q.size))
    if not has_values or causal is None:
        done.unread_mask = done.attention
    return done


def counted(name: str, given: List[Any], has_values: bool) -> Optional[Work]:
    """None where the shapes or values are none of this operator."""
    if name in ATTENTION:
        return attention(name, given, has_values)
    if name in work.PRODUCTS:
        return product(name, given)
    if name in AVERAGES:
        shapes = work.tensors_in(given[:2])
        return work.elementwise(float(max(one.numel() for one in given[:2] if isinstance(one, Shape))),
                                work.moved(shapes))
    if name in CONVOLUTIONS:
        if given[0].dim() < given[1].dim():  # one image, without an axis of the batch
            given[0] = Shape((1, *given[0].shape), given[0].size)
        name, given = "convolution", [*given[:6], False, [0], *given[6:7]]
    name, out = SAME.get(name, name), None
    if name == "convolution":
        out = convolution_output(*given[:2], *given[3:9])
    elif name == "convolution_backward":
        if len(given[10]) != 3 or max(given[0].shape[2:]) > MOST_TOKENS:
            return None
    elif name == "max_pool2d_with_indices":
        out = pool_output(*given)
    elif "rnn" in name and any(one is None for one in given[:2]):
        return None
    return work.FORMULAS[name](out, *given)


def work_of(name: str, dims: Sequence[Any], types: Sequence[Any], values: Sequence[Any]) -> Optional[Traced]:
    """The work of "aten::mm" by the extents, types and values of its inputs. None without formula, or if none tells."""
    if not has_formula(name):
        return None
    own, (precision, size) = short(name), TYPES.get(str(types[0]).replace("c10::", "") if types else "", ("", 4))
    try:
        done = counted(own, arguments(dims, size, values), bool(values))
    except (ValueError, TypeError, AttributeError, IndexError, ZeroDivisionError, OverflowError, KeyError):
        return None
    amounts = (done.flops, done.compulsory, done.no_reuse) if done else (-1.0,)
    if done is None or not 0 <= min(amounts) <= max(amounts) < 1e30:
        return None
    return Traced(done, next(kind for part, kind in KINDS.items() if part in own), precision)

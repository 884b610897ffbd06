"""What files compute from shapes, on short lists, by NumPy; and which axis of the first input each axis of a value is,
and whether that can be the axis of a batch."""

import math
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import numpy as np

from roof.onnx_reading.operators import CONVOLUTIONS, MATRIX_PRODUCTS
from roof.onnx_reading.values import BOOL, INT32, INT64, Given, Value

MOST_NUMBERS = 65536  #: of a list that is computed
TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, INT32: np.int32, INT64: np.int64, BOOL: np.bool_, 10: np.float16,
         11: np.float64, 16: np.float32}


def divided(a: Any, b: Any) -> Any:
    """Integers are cut towards zero."""
    return a / b if np.issubdtype(a.dtype, np.floating) else np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def sliced(given: Given, x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None) -> Any:
    """Before opset 10 the lists are attributes."""
    starts, ends = (given[name] if one is None else one for name, one in (("starts", starts), ("ends", ends)))
    places = [slice(None)] * x.ndim
    for k, axis in enumerate(given.get("axes", range(len(starts))) if axes is None else axes):
        places[axis] = slice(int(starts[k]), int(ends[k]), None if steps is None else int(steps[k]))
    return x[tuple(places)]


def axes_in(given: Given, axes: Any = None) -> Any:
    axes = given.get("axes") if axes is None else axes
    return None if axes is None else tuple(int(axis) for axis in axes)


def reshaped(given: Given, x: Any, to: Any = None) -> Any:
    extents = [int(extent) for extent in (given["shape"] if to is None else to)]
    return x.reshape([x.shape[k] if extent == 0 and not given.get("allowzero") else extent
                      for k, extent in enumerate(extents)])


def flattened(given: Given, x: Any) -> Any:
    axis = given.get("axis", 1)
    return x.reshape([int(np.prod(extents)) for extents in (x.shape[:axis], x.shape[axis:])])


def clipped(given: Given, x: Any, low: Any = None, high: Any = None) -> Any:
    low, high = given.get("min", -np.inf) if low is None else low, given.get("max", np.inf) if high is None else high
    return np.clip(x, low, high).astype(x.dtype)


def summed_up(given: Given, x: Any, axis: Any) -> Any:
    turns = (int(axis),) * bool(given.get("reverse"))
    made = np.flip(np.cumsum(np.flip(x, turns), int(axis), x.dtype), turns)
    return made - x if given.get("exclusive") else made


def reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda given, x, axes=None: function(x, axis=axes_in(given, axes),
                                                keepdims=bool(given.get("keepdims", True)))


OF_LISTS: Dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name.lower())
       for name in "Abs Add Ceil Equal Exp Floor Greater Less Log Reciprocal Round Sign Sqrt Tile Where".split()},
    "Sub": np.subtract, "Mul": np.multiply, "Div": divided, "Neg": np.negative, "Pow": np.power,
    "GreaterOrEqual": np.greater_equal, "LessOrEqual": np.less_equal, "And": np.logical_and, "Or": np.logical_or,
    "Xor": np.logical_xor, "Not": np.logical_not, "Identity": lambda x: x, "NonZero": lambda x: np.array(np.nonzero(x)),
    "Max": lambda *lists: np.max(np.broadcast_arrays(*lists), axis=0),
    "Min": lambda *lists: np.min(np.broadcast_arrays(*lists), axis=0),
    "Expand": lambda x, to: x * np.ones([int(n) for n in to], x.dtype),
    "Range": lambda start, end, step: np.arange(start, end, step, start.dtype)}
WITH_ATTRIBUTES: Dict[str, Callable[..., Any]] = {
    "Cast": lambda given, x: x.astype(TYPES[given["to"]]), "Slice": sliced, "Reshape": reshaped, "Clip": clipped,
    "Mod": lambda given, a, b: np.fmod(a, b) if given.get("fmod") else np.mod(a, b),
    "Concat": lambda given, *lists: np.concatenate(lists, given.get("axis", 1)),
    "Gather": lambda given, x, places: np.take(x, places, given.get("axis", 0)),
    "Squeeze": lambda given, x, axes=None: np.squeeze(x, axes_in(given, axes)),
    "Unsqueeze": lambda given, x, axes=None: np.expand_dims(x, axes_in(given, axes)),
    "Transpose": lambda given, x: np.transpose(x, given.get("perm")), "Flatten": flattened, "CumSum": summed_up,
    "ConstantOfShape": lambda given, to: np.full([int(n) for n in to],
                                                 *given.get("value", np.zeros((), np.float32)).ravel()),
    **{f"Reduce{name}": reduced(getattr(np, name.lower())) for name in ("Prod", "Sum", "Max", "Min")}}


def numbers_of(operation: str, given: Given, inputs: Sequence[Optional[Value]], result: Value) -> Any:
    """The numbers of the first result; None where they are not known, or many."""
    first = inputs[0] if inputs else None
    if first is None:
        return None
    if operation in ("Shape", "Size") and first.is_known:
        return (np.array(first.numel()) if operation == "Size"
                else np.array(first.shape[given.get("start"):given.get("end")], np.int64))
    is_listed = operation == "NonZero" or result.is_known and result.numel() <= MOST_NUMBERS
    if not is_listed or any(one is not None and one.numbers is None for one in inputs):
        return None
    lists = [None if one is None else one.numbers for one in inputs]
    try:
        with np.errstate(all="ignore"):
            made = np.asarray(OF_LISTS[operation](*lists) if operation in OF_LISTS
                              else WITH_ATTRIBUTES[operation](given, *lists))
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError):
        return None
    return made if not result.is_known or made.shape == result.shape else None


def alike(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many of their first elements are equal."""
    shorter = min(len(a), len(b))
    return next((place for place in range(shorter) if a[place] != b[place]), shorter)


def kept_axes(operation: str, given: Given, first: Value, result: Value) -> Tuple[Any, ...]:
    """Of a result of known rank. first: the operand whose axes are known."""
    axes, rank = first.axes, len(result.shape)
    if operation == "Transpose":
        return tuple(axes[axis] for axis in given.get("perm", range(rank)[::-1]))
    if operation != "Reshape" and rank == len(axes):
        return tuple(axis if a == b else None for axis, a, b in zip(axes, first.shape, result.shape))
    before = alike(first.shape, result.shape)
    after = min(alike(first.shape[::-1], result.shape[::-1]), min(rank, len(axes)) - before)
    gone = first.shape[before:len(axes) - after]
    if operation in ("Reshape", "Flatten") and gone and math.prod(gone) == 1:
        after = 0  # any axis of 1 may be the one that is gone
    return (*axes[:before], *(None,) * (rank - before - after), *axes[len(axes) - after:])


def mixes(operation: str, given: Given, data: Sequence[Optional[Value]], axis: Any) -> bool:
    """Whether an operator adds up over this axis of its operands, so that it is none of a batch."""
    for index, one in enumerate(data[:2]):
        if one is not None and axis in one.axes:
            place = one.axes.index(axis) - len(one.axes)
            is_turned = given.get(f"trans{'AB'[index]}", 0) > 0
            by_batch = given.get(f"transBatch{'AB'[index]}", 0) > 0
            if operation in MATRIX_PRODUCTS and not by_batch and place == (-1 if is_turned == bool(index) else -2):
                return True
            if operation in CONVOLUTIONS and index == 0 and place > -len(one.axes):
                return True
    return False

"""Which axis of the first input each axis of a value is, and whether that can be the axis of a batch."""

import math
from typing import Any, Optional, Sequence, Tuple

from roof.onnx_reading.operators import CONVOLUTIONS, MATRIX_PRODUCTS
from roof.onnx_reading.values import Given, Value


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

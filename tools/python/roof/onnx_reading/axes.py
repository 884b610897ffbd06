"""Which axis of the first input each axis of a value is, and whether that can be the axis of a batch."""

import math
from operator import eq
from typing import Any, Optional, Sequence, Tuple

from roof.onnx_reading.operators import CONVOLUTIONS, MATRIX_PRODUCTS
from roof.onnx_reading.values import Given, Value


def kept_axes(operation: str, given: Given, first: Value, result: Value) -> Tuple[Any, ...]:
    """Of a result of known rank. first: the operand whose axes are known."""
    axes, rank, both = first.axes, len(result.shape), (first.shape, result.shape)
    if operation == "Transpose":
        return tuple(axes[axis] for axis in given.get("perm", range(rank)[::-1]))
    if operation != "Reshape" and rank == len(axes):
        return tuple(axis if a == b else None for axis, a, b in zip(axes, *both))
    before, after = ([*map(eq, *(shape[::way] for shape in both)), False].index(False) for way in (1, -1))
    after = min(after, min(rank, len(axes)) - before)
    gone = first.shape[before:len(axes) - after]
    if operation in ("Reshape", "Flatten") and gone and math.prod(gone) == 1:
        after = 0  # any axis of 1 may be the one that is gone
    return (*axes[:before], *(None,) * (rank - before - after), *axes[len(axes) - after:])


def mixes(operation: str, given: Given, data: Sequence[Optional[Value]], axis: Any) -> bool:
    """Whether an operator adds up over this axis of its operands, so that it is none of a batch."""
    for index, one in enumerate(data[:2]):
        if one is not None and axis in one.axes:
            place = one.axes.index(axis) - len(one.axes)
            is_turned, by_batch = (given.get(f"trans{of}{'AB'[index]}", 0) > 0 for of in ("", "Batch"))
            if operation in MATRIX_PRODUCTS and not by_batch and place == (-1 if is_turned == bool(index) else -2):
                return True
            if operation in CONVOLUTIONS and index == 0 and place > -len(one.axes):
                return True
    return False

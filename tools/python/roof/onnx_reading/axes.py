"""Which axis of the first input each axis of a value is, and whether that can be the axis of a batch."""

import math
import operator
from typing import Any, Optional, Sequence, Tuple

from roof.onnx_reading.folding import axes_in
from roof.onnx_reading.operators import CONVOLUTIONS, JOINED, MATRIX_PRODUCTS
from roof.onnx_reading.values import Given, Value


def kept_axes(operation: str, given: Given, present: Sequence[Value], first: Value, result: Value) -> Tuple[Any, ...]:
    """Of a result of known rank. first: the operand whose axes are known."""
    axes, rank = first.axes, len(result.shape)
    if operation == "Transpose":
        return tuple(axes[axis] for axis in given.get("perm", range(rank)[::-1]))
    if operation in ("Unsqueeze", "Squeeze"):
        of_ones = [place for place, extent in enumerate(first.shape) if extent == 1]
        ones = axes_in(given, present[1].numbers if len(present) > 1 else None) or of_ones
        places, old = {place % max(rank, len(axes)) for place in ones}, iter(axes)
        if operation == "Unsqueeze":
            return tuple(None if place in places else next(old, None) for place in range(rank))
        return tuple(axis for place, axis in enumerate(axes) if place not in places)
    if operation in ("Reshape", "Flatten"):
        before, after = ([*map(operator.eq, first.shape[::way], result.shape[::way]), False].index(False)
                         for way in (1, -1))
        after = min(after, min(rank, len(axes)) - before)
        after *= math.prod(first.shape[before:len(axes) - after]) > 1  # else an axis of 1 is gone, which may be any
        return (*axes[:before], *(None,) * (rank - before - after), *axes[len(axes) - after:])
    if operation == "Gather":
        at, more = given.get("axis", 0), (None,) * (rank - len(axes) + (first is present[0]))
        if first is present[0]:
            return (*axes[:at % len(axes)], *more, *axes[at % len(axes) + 1:])
        return (*(None,) * at, *axes, *more)[:rank]
    return tuple(axis if a == b else None for axis, a, b in zip(axes, first.shape, result.shape)) * (rank == len(axes))


def mixes(operation: str, given: Given, data: Sequence[Optional[Value]], axis: Any) -> bool:
    """Whether an operator adds up over this axis, or constants differ along it, so that it is none of a batch."""
    for index, one in enumerate(data[:2]):
        if one is None or axis not in one.axes:
            continue
        place = one.axes.index(axis) - len(one.axes)
        if operation in MATRIX_PRODUCTS:
            is_turned = bool(given.get("transB" if index else "transA"))
            if place == (-1 if bool(index) == is_turned else -2):
                return True
        if operation in CONVOLUTIONS and index == 0 and place > -len(one.axes):
            return True
        for other in data if operation in JOINED else ():
            numbers = None if other is None or not other.is_constant else other.numbers
            if numbers is not None and numbers.size and -place <= numbers.ndim:
                if (numbers != numbers.take([0], place)).any():
                    return True
    return False

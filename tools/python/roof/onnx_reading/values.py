"""A value of an ONNX graph: its extents, its type and, of a short list, its numbers, from which shapes are computed."""

import math
from dataclasses import dataclass
from typing import Any, Iterable, Optional, Sequence, Tuple

from roof import work
from roof.errors import InputError

Shape = Optional[Tuple[Optional[int], ...]]  #: None: unknown, of a value or of one axis
INT32, INT64, BOOL = 6, 7, 9  #: of TensorProto.DataType
FLOATS = (1, 10, 11, 16)  #: fp32, fp16, fp64, bf16
NARROW = (2, 3, *range(17, 27))  #: 8-bit integers, fp8, and 4 and 2 bits
#: Bytes of an element, by the numbers of TensorProto.DataType.
BYTES = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 8: 0, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 14: 8, 15: 16, 16: 2, 17: 1, 18: 1, 19: 1, 20: 1, 21: 0.5,
         22: 0.5, 23: 0.5, 24: 1, 25: 0.25, 26: 0.25}


class Unknown(Exception):
    """An extent is needed that nobody knows."""


@dataclass(eq=False)
class Value(work.Shape):
    shape: Any = None
    type: int = 0  #: of TensorProto.DataType; 0: unknown
    size: float = 4.0  #: bytes of an element, of a weight as it is stored
    numbers: Any = None  #: of a short list, a NumPy array
    origin: str = ""  #: of a constant: the tensor of the file that it comes from
    stored: Optional[int] = None  #: of a sparse constant: its nonzeros
    is_constant: bool = False
    is_data: bool = True  #: counts among what operators move: floats and quantized numbers
    is_scale: bool = False  #: a factor of quantization
    needs_gradient: bool = False
    axes: Tuple[Any, ...] = ()  #: for each axis, that of the first input which it is

    @property
    def is_known(self) -> bool:
        return self.shape is not None and None not in self.shape

    def numel(self) -> int:
        """Raises Unknown, and InputError for a shape that no tensor has."""
        if not self.is_known:
            raise Unknown
        if any(not 0 <= extent <= 1 << 31 for extent in self.shape):
            raise InputError(f"a tensor cannot be of {text(self.shape)}")
        if math.prod(self.shape) > 1 << 62:
            raise InputError(f"a tensor of {text(self.shape)} has more than 2^62 values")
        return math.prod(self.shape)


def text(shape: Optional[Sequence[Any]]) -> str:
    words = [] if shape is None else ["?" if extent is None else str(extent) for extent in shape]
    return "an unknown shape" if shape is None else "x".join(words[:8] + ["…"] * (len(words) > 8)) or "one number"


def known_bytes(values: Iterable[Value]) -> float:
    """Of the values whose shape is known."""
    return float(sum(value.numel() * value.size for value in values if value.is_known))

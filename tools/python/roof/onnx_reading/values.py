"""What an ONNX graph has: values with their extents, their type and, of a short list, the numbers from which shapes are
computed; nodes with what they read and their attributes."""

import math
from dataclasses import dataclass, field, replace
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple

from onnx import helper, numpy_helper

from roof import work
from roof.texts import InputError

Given = Dict[str, Any]  #: attributes by name
Shape = Optional[Tuple[Optional[int], ...]]  #: None: unknown, of a value or of one axis
INT32, INT64, BOOL = 6, 7, 9  #: of TensorProto.DataType
FLOATS = (1, 10, 11, 16)  #: fp32, fp16, fp64, bf16
NO_DATA = (4, 5, INT32, INT64, 8, BOOL, 12, 13)  #: integers of 16 to 64 bits, texts
#: Bytes of an element, by the numbers of TensorProto.DataType; of floats those of the precision, of others 4.
BYTES = {2: 1, 3: 1, 4: 2, 5: 2, INT64: 8, 8: 0, BOOL: 1, 13: 8, 14: 8, 15: 16, 17: 1, 18: 1, 19: 1, 20: 1, 21: 0.5,
         22: 0.5, 23: 0.5, 24: 1, 25: 0.25, 26: 0.25}
COUNTS = ("K", "N", "group", "hidden_size", "kv_num_heads", "num_heads", "q_num_heads")  #: attributes above 0


class Unknown(Exception):
    """An extent is needed that nobody knows."""


class Refused(Exception):
    """Inputs or attributes that do not fit. The reader adds the name of the operator."""


@dataclass(eq=False)
class Value(work.Shape):
    shape: Any = None
    type: int = 0  #: of TensorProto.DataType; 0: unknown
    size: float = 4.0  #: bytes of an element, of a weight as it is stored
    numbers: Any = None  #: of a short list, a NumPy array
    origins: Dict[str, "Value"] = field(default_factory=dict)  #: the file's tensors that it comes from alone
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

    def held(self) -> int:
        """The numbers that the file has of it."""
        return self.numel() if self.stored is None else self.stored

    def number(self) -> Any:
        """Of a list of one; None: nobody knows it."""
        return None if self.numbers is None or self.numbers.size != 1 else self.numbers.ravel()[0]

    def agreed(self, other: "Value") -> "Value":
        """What two values have in common."""
        same = self.shape is not None and other.shape is not None and len(self.shape) == len(other.shape)
        shape = tuple(a if a == b else None for a, b in zip(self.shape, other.shape)) if same else None
        return replace(self, shape=shape, numbers=None, is_constant=False,
                       needs_gradient=self.needs_gradient or other.needs_gradient)


def text(shape: Optional[Sequence[Any]]) -> str:
    words = [] if shape is None else ["?" if extent is None else str(extent) for extent in shape]
    return "an unknown shape" if shape is None else "x".join(words[:8] + ["…"] * (len(words) > 8)) or "one number"


def known_bytes(values: Iterable[Value]) -> float:
    """Of the values whose shape is known."""
    return float(sum(value.numel() * value.size for value in values if value.is_known))


# ---------------------------------------------------------------------------------------------------- nodes
def names_read(node: Any) -> Set[str]:
    """Values that an operator reads, or a graph within it."""
    names = set(node.input)
    for graph in [a.g for a in node.attribute if a.HasField("g")]:
        names.update(*map(names_read, graph.node), [one.name for one in graph.output])
    return names


def needed(nodes: Sequence[Any], outputs: Sequence[str]) -> List[Any]:
    """The operators without those whose results nothing reads."""
    read, kept = set(outputs), []
    for node in reversed(nodes):
        if read.intersection(node.output):
            read |= names_read(node)
            kept.append(node)
    return kept[::-1]


def versions_of(model: Any) -> Dict[str, int]:
    return {"" if one.domain == "ai.onnx" else one.domain: one.version for one in model.opset_import}


def ends_itself(body: Any) -> bool:
    """Whether a loop's body computes the condition on which it goes on, and does not pass on the one that it gets."""
    name = body.output[0].name if body.output else ""
    passed_on = {one.output[0]: one.input[0] for one in body.node if one.op_type == "Identity" and one.input
                 and one.output}
    for _ in body.node:
        name = passed_on.get(name, name)
    return any(name in one.output for one in body.node)


def attributes_of(node: Any) -> Given:
    """Numbers, lists of them and text by name, and of tensors the value that a constant is filled with."""
    try:
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute if a.type in (1, 2, 3, 6, 7)}
        given.update((a.name, numpy_helper.to_array(a.t)) for a in node.attribute if a.name == "value" and a.type == 4)
        if node.op_type.startswith("Nhwc"):
            given["channels_last"] = 1
        wrong = [name for name in COUNTS if name in given and not 0 < given[name] < 1 << 31]
    except (ArithmeticError, KeyError, TypeError, ValueError):
        raise Refused("has an attribute that cannot be read") from None
    if wrong:
        raise Refused(f"has a {wrong[0]} of {given[wrong[0]]}")
    return given


def with_attributes(node: Any, passed: Given) -> Any:
    """A node of a function, with the attributes that its caller passed."""
    if not any(a.ref_attr_name for a in node.attribute):
        return node
    made = type(node)()
    made.CopyFrom(node)
    del made.attribute[:]
    for one in node.attribute:
        found = passed.get(one.ref_attr_name) if one.ref_attr_name else one
        if found is not None:
            made.attribute.add().CopyFrom(found)
            made.attribute[-1].name = one.name
    return made

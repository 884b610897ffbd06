"""What the nodes of an ONNX graph say: what they read, their attributes."""

from dataclasses import replace
from typing import Any, Dict, List, Optional, Sequence, Set

from onnx import helper, numpy_helper

from roof.onnx_reading.operators import Given
from roof.onnx_reading.shapes import Refused
from roof.onnx_reading.values import Value

COUNTS = ("K", "N", "group", "hidden_size", "kv_num_heads", "num_heads", "q_num_heads")  #: attributes above 0
Versions = Dict[str, int]  #: of the sets of operators, by domain


def names_read(node: Any) -> Set[str]:
    """Values that an operator reads, or a graph within it."""
    names = set(node.input)
    for graph in [a.g for a in node.attribute if a.HasField("g")]:
        names.update(*[names_read(inner) for inner in graph.node], [one.name for one in graph.output])
    return names


def needed(nodes: Sequence[Any], outputs: Sequence[str]) -> List[Any]:
    """The operators without those whose results nothing reads."""
    read, kept = set(outputs), []
    for node in reversed(nodes):
        if read.intersection(node.output):
            read |= names_read(node)
            kept.append(node)
    return kept[::-1]


def versions_of(model: Any) -> Versions:
    return {"" if one.domain == "ai.onnx" else one.domain: one.version for one in model.opset_import}


def truth(value: Optional[Value]) -> Optional[bool]:
    """None: nobody knows."""
    return None if value is None or value.numbers is None or value.numbers.size != 1 else bool(value.numbers.ravel()[0])


def ends_itself(body: Any) -> bool:
    """Whether a loop's body computes the condition on which it goes on, and does not pass on the one that it gets."""
    name, passed_on = body.output[0].name if body.output else "", {one.output[0]: one.input[0] for one in body.node
                                                                   if one.op_type == "Identity" and one.input and one.output}
    for _ in body.node:
        name = passed_on.get(name, name)
    return any(name in one.output for one in body.node)


def attributes_of(node: Any) -> Given:
    """Attributes by name, without graphs; of tensors only the value that a constant is filled with."""
    try:
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute if a.type in (1, 2, 3, 6, 7, 8)}
        given.update((a.name, numpy_helper.to_array(a.t)) for a in node.attribute if a.name == "value" and a.type == 4)
        wrong = [name for name in COUNTS if not 0 < given.get(name, 1) < 1 << 31]
    except (ArithmeticError, KeyError, TypeError, ValueError):
        raise Refused("has an attribute that cannot be read") from None
    if wrong:
        raise Refused(f"has a {wrong[0]} of {given[wrong[0]]}")
    return given


def with_attributes(node: Any, passed: Optional[Dict[str, Any]]) -> Any:
    """A node of a function, with the attributes that its caller passed."""
    if not any(a.ref_attr_name for a in node.attribute):
        return node
    made = type(node)()
    made.CopyFrom(node)
    del made.attribute[:]
    for one in node.attribute:
        if not one.ref_attr_name:
            made.attribute.add().CopyFrom(one)
        elif one.ref_attr_name in (passed or {}):
            made.attribute.add().CopyFrom((passed or {})[one.ref_attr_name])
            made.attribute[-1].name = one.name
    return made


def agreed(one: Value, other: Value) -> Value:
    """What two values have in common."""
    same = one.shape is not None and other.shape is not None and len(one.shape) == len(other.shape)
    shape = tuple(a if a == b else None for a, b in zip(one.shape, other.shape)) if same else None
    return replace(one, shape=shape, numbers=None, is_constant=False, needs_gradient=one.needs_gradient or other.needs_gradient)

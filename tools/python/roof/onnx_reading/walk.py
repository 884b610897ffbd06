"""Walks the graph of an ONNX file in the order of its operators: enters functions, and bodies of If, Loop and Scan."""

from collections import ChainMap
from dataclasses import replace
from typing import Any, Callable, Dict, List, MutableMapping, Optional, Sequence, Set, Tuple

import numpy as np
from onnx import helper, numpy_helper

from roof.onnx_reading.folding import MOST_NUMBERS, TYPES, kept_axes, mixes, numbers_of
from roof.onnx_reading.operators import (COUNTED_INPUTS, KNOWN, MOVES, PACKED, PRODUCTS, RECURRENT, VIEWS, Operator,
                                         adds_up, count)
from roof.onnx_reading.shapes import shape_in, shapes_of
from roof.onnx_reading.values import (BOOL, BYTES, FLOATS, INT32, INT64, NO_DATA, Given, Refused, Shape, Unknown, Value,
                                      attributes_of, ends_itself, needed, text, versions_of, with_attributes)
from roof.texts import InputError

Scope = MutableMapping[str, Value]
Versions = Dict[str, int]
Inputs = Sequence[Optional[Value]]
MOST_OPERATORS = 100_000  #: that are walked, with those of every call and of every iteration that is walked
MOST_COMPUTED = 1 << 22  #: numbers of all lists
MOST_ONE_BY_ONE = 10_000  #: operators in all iterations of a loop that are walked one by one
MOST_DEPTH = 60  #: of graphs within graphs and functions within functions
ITERATIONS = "the number of its iterations is unknown"


class Walk:
    """extent: the number of a dimension of the file; float_bytes: of a float in the precision that is asked for."""

    def __init__(self, functions: Dict[Tuple[str, str], Any], extent: Callable[[Any], Optional[int]],
                 float_bytes: float) -> None:
        self.operators: List[Operator] = []
        self.parameters, self.stored = 0, 0.0  #: values, and their bytes
        self.batch_axis: Any = 0  #: of the first input, as operators read it; None: it is none
        self._functions, self._extent, self._float_bytes = functions, extent, float_bytes
        self._asked, self._read = {}, set()  # type: Dict[Any, Any], Set[str]
        self._walked = self._computed = self._depth = 0

    # ------------------------------------------------------------------------------------------------ values
    def value(self, shape: Shape, type_of: Any, **more: Any) -> Value:
        size = self._float_bytes if type_of in (0, *FLOATS) else float(BYTES.get(type_of, 4))
        return Value(shape, type_of, size, is_data=type_of not in NO_DATA, **more)

    def initializers(self, graph: Any) -> Dict[str, Value]:
        made = {one.name: self._constant(one, one.name) for one in graph.initializer}
        made.update((one.values.name, self._sparse(one, one.values.name)) for one in graph.sparse_initializer)
        return made

    def _sparse(self, tensor: Any, name: str) -> Value:
        nonzeros = Value(tuple(tensor.values.dims)).numel()
        return self._held(self.value(tuple(tensor.dims), tensor.values.data_type, stored=nonzeros), name)

    @staticmethod
    def _held(made: Value, name: str) -> Value:
        made.is_constant, made.origins = True, {name: made}
        return made

    def _constant(self, tensor: Any, name: str) -> Value:
        made = self._held(self.value(tuple(tensor.dims), tensor.data_type), name)
        most = 1024 if tensor.data_type in FLOATS else MOST_NUMBERS
        if (tensor.data_type in TYPES and made.numel() <= most and tensor.data_location != tensor.EXTERNAL
                and self._can_compute(made.numel())):
            try:
                made.numbers = numpy_helper.to_array(tensor)
            except (ArithmeticError, KeyError, TypeError, ValueError):
                made.numbers = None  # weights that were taken out of the file
        return made

    def _can_compute(self, numbers: int) -> bool:
        self._computed += numbers
        return self._computed <= MOST_COMPUTED

    # ------------------------------------------------------------------------------------------------ operators
    def graph(self, graph: Any, outputs: Sequence[str], scope: Scope, versions: Versions, prefix: str = "",
              passed: Optional[Given] = None) -> List[Value]:
        """Walks a graph, or the body of a function with the attributes that were passed to it. Returns its outputs."""
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise InputError(f"has more than {MOST_DEPTH} graphs within one another, or a function that calls itself")
        told = {one.name: one.type.tensor_type for one in [*getattr(graph, "value_info", ()), *graph.output]
                if not isinstance(one, (str, bytes))}  # of a function
        for node in needed(graph.node, outputs):
            self._walked += 1
            if self._walked > MOST_OPERATORS:
                raise InputError(f"has more than {MOST_OPERATORS:,} operators, with those of its functions and loops")
            self._node(with_attributes(node, passed or {}), scope, versions, told, prefix)
        self._depth -= 1
        return [scope.get(name) or Value() for name in outputs]

    def _node(self, node: Any, scope: Scope, versions: Versions, told: Dict[str, Any], prefix: str) -> None:
        shown = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"
        of_microsoft = node.domain in ("com.microsoft", "com.microsoft.nchwc") and node.op_type != "Attention"
        made = Operator(prefix + (node.name or next(filter(None, node.output), shown)), shown)
        operation = node.op_type if of_microsoft else shown
        inputs = [scope.get(one) or Value() if one else None for one in node.input]
        called = self._functions.get((node.domain, node.op_type))
        try:
            if called is not None:
                given = {a.name: a for a in [*getattr(called, "attribute_proto", ()), *node.attribute]}
                inner = {name: one for name, one in zip(called.input, inputs) if one is not None}
                imported = {**versions, **versions_of(called)}
                results = self.graph(called, called.output, inner, imported, made.name + "/", given)
            elif operation == "Constant":
                results = [self._constant_of(node)]
            elif operation in ("If", "Loop", "Scan"):
                def body(name: str, given: Inputs) -> Tuple[List[Value], List[Operator]]:
                    return self._body(graphs[name], given, scope, versions, made.name + "/")

                graphs = {a.name: a.g for a in node.attribute if a.HasField("g")}
                if operation == "Scan" and versions.get("") == 8:
                    graphs = {}  # it had another form
                results = getattr(self, "_" + operation.lower())(made, node, graphs, inputs, body)
            else:
                results = self._operator(made, operation, node, inputs, versions, told)
        except Refused as refused:
            raise InputError(f"{shown} at '{made.name}' {refused}") from None
        except (IndexError, OverflowError, TypeError, ValueError):
            raise InputError(f"{shown} at '{made.name}' has an attribute or a shape that it cannot have") from None
        scope.update((one, result) for one, result in zip(node.output, results) if one)

    def _constant_of(self, node: Any) -> Value:
        for a in node.attribute:
            if a.name == "value":
                return self._constant(a.t, node.output[0])
            if a.name == "sparse_value":
                return self._sparse(a.sparse_tensor, node.output[0])
            if a.name in ("value_int", "value_ints", "value_float", "value_floats"):
                kind, type_of = (np.int64, INT64) if "int" in a.name else (np.float32, 1)
                numbers = np.array(helper.get_attribute_value(a), kind)
                return self._held(self.value(numbers.shape, type_of, numbers=numbers), node.output[0])
        return Value(is_constant=True, is_data=False)

    def _operator(self, made: Operator, operation: str, node: Any, inputs: Inputs, versions: Versions,
                  told: Dict[str, Any]) -> List[Value]:
        given = attributes_of(node)
        said = [self.value(shape_in(told[one], self._extent), told[one].elem_type) if one in told else Value()
                for one in node.output]
        try:
            found = shapes_of(node, operation, given, inputs, versions, self._asked)
        except Refused:
            if not said[0].is_known:
                raise
            found = [(0, None)] * len(said)
        results = []
        for (type_of, shape), one, name in zip(found, said, node.output):
            if shape is None:
                shape = one.shape
            elif one.shape is not None and len(one.shape) == len(shape):
                shape = tuple(b if a is None else a for a, b in zip(shape, one.shape))
            results.append(self.value(shape, type_of or one.type))
            results[-1].is_data &= bool(name)
        first, made_of = results[0], next(iter(inputs), None)
        if operation == "Reshape" and made_of is not None and made_of.is_known and first.is_known:
            if made_of.numel() != first.numel():
                raise Refused(f"makes {text(first.shape)} of {text(made_of.shape)}")
        data = [inputs[k] if k < len(inputs) else None for k in COUNTED_INPUTS.get(operation, range(len(inputs)))]
        if first.type == INT32:  # what products of integers add up
            first.is_data = operation in PRODUCTS or any(one is not None and one.is_data for one in data)
        numbers = numbers_of(operation, given, inputs, first)
        if numbers is not None:
            first.shape, first.numbers = numbers.shape, numbers if self._can_compute(numbers.size) else None
        self._mark(operation, given, [one for one in inputs if one is not None], data, results)
        self._count(made, operation, given, data, results)
        return results

    def _mark(self, operation: str, given: Given, present: List[Value], data: Inputs, results: Sequence[Value]) -> None:
        """What the results take over from the operands."""
        is_constant = bool(present) and all(one.is_constant for one in present)
        trains = not is_constant and any(one.is_constant and one.is_data and one.is_known and one.numel() > 1
                                         for one in data if one is not None)
        first = next((one for one in present if one.axes), Value())
        if self.batch_axis in first.axes and mixes(operation, given, data, self.batch_axis):
            self.batch_axis = None
        trains = trains or any(one.needs_gradient for one in present)
        is_known = is_constant or results[0].numbers is not None  # such as a small token, repeated for the batch
        origins = {name: of for one in data if one is not None and is_known for name, of in one.origins.items()}
        quantized = {name: of for name, of in origins.items() if of.is_data and of.type not in FLOATS}
        for result in results:
            result.is_constant, result.needs_gradient = is_constant, trains
            result.origins = quantized or origins  # what meets quantized numbers are their scales
            if result.shape is not None and first.axes:
                result.axes = kept_axes(operation, given, first, result)
        for result in results[1:] if operation == "DynamicQuantizeLinear" else ():
            result.is_scale = True
        if operation in RECURRENT and not given.get("layout"):
            read_as_batch = first.axes[1:2]
            if read_as_batch and read_as_batch[0] is not None:
                self.batch_axis = read_as_batch[0]

    def _count(self, made: Operator, operation: str, given: Given, data: Inputs, results: List[Value]) -> None:
        """Appends the operator, unless it makes a view or computes on lists alone, or on constants that it does not
        multiply: products of trained tables with weights are the network's."""
        moves_data = any(one is not None and one.is_data for one in [*data, *results])
        made.is_fixed = results[0].is_constant and not operation.startswith("Gather")
        if (operation in VIEWS or results[0].numbers is not None or not moves_data
                or made.is_fixed and not adds_up(operation, given, data, results[0])):
            return
        made.output = results[0].shape if results[0].is_known else ()
        # Values of constants that no operator before has read, without factors of quantization and running means.
        scales = sum(one is not None and one.is_scale for one in data)
        for index, one in enumerate(data[:3] if operation == "BatchNormalization" else data):
            if (one is None or not one.origins or not one.is_known or scales
                    or not (one.is_data or operation in PRODUCTS)):
                continue
            new = [of for name, of in one.origins.items() if name not in self._read]
            held = [of for of in new if of.is_data and of.held() > 1]
            if one.is_constant and len(new) == len(one.origins) and sum(of.held() for of in held) <= one.held():
                held = [one]  # else it is a part, or computed from others that it adds up
            packed = given.get("K", 0) * given.get("N", 0) if operation in PACKED and index == 1 else None
            kept = sum(of.held() for of in held)
            if new and (one.stored is not None or (kept if packed is None else packed) > 1):
                self._read.update(one.origins)
                self.stored += sum(of.size * of.held() for of in held)
                made.parameters += kept if packed is None else packed
        self.parameters += made.parameters
        counted = operation if operation in KNOWN else "Identity"
        if operation == "Einsum" and results[0].is_known and not adds_up(operation, given, data, results[0]):
            counted = "Mul"  # value by value
        try:
            count(made, counted, given, data, results)
        except (Unknown, AttributeError, IndexError, KeyError, TypeError, ZeroDivisionError):
            made.unknown = "" if operation in MOVES else "its shapes are unknown"
        if operation not in KNOWN:
            made.unknown = "no rule is known"
        self.operators.append(made)

    # ------------------------------------------------------------------------------------------------ graphs within
    def _body(self, graph: Any, inputs: Inputs, scope: Scope, versions: Versions, prefix: str) -> Tuple[List[Value],
                                                                                                        List[Operator]]:
        """The outputs and the operators of a body that is walked once."""
        before, self.operators = self.operators, []
        inner: Scope = ChainMap(self.initializers(graph), scope)
        inner.update((one.name, value) for one, value in zip(graph.input, inputs))  # type: ignore[misc]
        outputs = self.graph(graph, [one.name for one in graph.output], inner, versions, prefix)
        walked, self.operators = self.operators, before
        return outputs, walked

    def _if(self, made: Operator, _: Any, graphs: Dict[str, Any], inputs: List[Optional[Value]],
            body: Any) -> List[Value]:
        condition = next(filter(None, inputs), None)
        runs = condition.number() if condition is not None else None
        names = ["then_branch", "else_branch"] if runs is None else ["then_branch" if runs else "else_branch"]
        if not all(name in graphs for name in names):
            raise Refused("lacks a branch")
        walked = [body(name, []) for name in names]
        flops = [sum(one.forward.flops for one in operators) for _, operators in walked]
        if len(set(flops)) > 1:
            made.unknown = "which branch runs is unknown; counted is that of fewer FLOPs"
            self.operators.append(made)
        outputs, chosen = walked[flops.index(min(flops))]
        self.operators += chosen
        return outputs if len(walked) == 1 else [one.agreed(other) for one, other in zip(walked[0][0], walked[1][0])]

    def _loop(self, made: Operator, _: Any, graphs: Dict[str, Any], inputs: List[Optional[Value]],
              body: Any) -> List[Value]:
        if "body" not in graphs or len(inputs) < 2:
            raise Refused("has no body")
        limit, begin, states = inputs[0], inputs[1], [one or Value() for one in inputs[2:]]
        number = limit.number() if limit is not None else None
        begins = True if begin is None else begin.number()
        most, computes_end = MOST_ONE_BY_ONE // max(1, len(graphs["body"].node)), ends_itself(graphs["body"])
        trips: Any = None if number is None else max(0, int(number))
        if limit is None and computes_end:
            trips = float("inf")
        if not begins:
            trips = None if begins is None else 0
        one_by_one = trips is not None and (trips <= most or computes_end)
        total: Dict[str, Operator] = {}
        done = 0
        while True:
            counter = self.value((), INT64, numbers=np.array(done) if one_by_one else None)
            outputs, walked = body("body", [counter, self.value((), BOOL, numbers=np.array(True)), *states])
            goes_on, after = outputs[0].number() if outputs else None, outputs[1:len(states) + 1]
            is_same = [one.shape for one in states] == [one.shape for one in after]
            if trips != 0:
                states = (after if goes_on is not None and one_by_one
                          else [one.agreed(other) for one, other in zip(states, after)])
            repeats = 0 if not trips else trips if goes_on and is_same and not one_by_one else 1
            done += repeats
            for one in walked:
                one = one if repeats == 1 else one.times(repeats)
                total[one.name] = total[one.name].__iadd__(one) if one.name in total else one
            ends = trips is not None and (done >= trips or goes_on is not None and not goes_on)
            if not ends and (goes_on is None or not one_by_one or done > most):
                made.unknown = ITERATIONS
                self.operators.append(made)
            if ends or made.unknown:
                break
        self.operators += total.values()
        length, scans = None if made.unknown else done, outputs[1 + len(after):]
        scanned = [one if one.shape is None else replace(one, shape=(length, *one.shape), numbers=None)
                   for one in scans]
        return [replace(one, is_constant=False) for one in [*states, *scanned]]

    def _scan(self, made: Operator, node: Any, graphs: Dict[str, Any], inputs: List[Optional[Value]],
              body: Any) -> List[Value]:
        given, present = attributes_of(node), [one or Value() for one in inputs]
        number = given.get("num_scan_inputs", 0)
        if "body" not in graphs or not 1 <= number <= len(present):
            raise Refused("has no body, or nothing that it scans")
        states, scanned, trips = present[:-number], [], None
        for one, axis in zip(present[-number:], given.get("scan_input_axes", [0] * number)):
            if one.shape is not None and -len(one.shape) <= axis < len(one.shape):
                trips, axis = one.shape[axis], axis % len(one.shape)
                one = replace(one, numbers=None, shape=one.shape[:axis] + one.shape[axis + 1:])
            scanned.append(one)
        outputs, walked = body("body", [*states, *scanned])
        after, rows = outputs[:len(states)], outputs[len(states):]
        if trips is None or [one.shape for one in after] != [one.shape for one in states]:
            trips, made.unknown = None, ITERATIONS
            walked.append(made)
        self.operators += [one if trips is None else one.times(trips) for one in walked]
        for k, axis in enumerate(given.get("scan_output_axes", [0] * len(rows))[:len(rows)]):
            if rows[k].shape is not None:
                axis = axis if axis >= 0 else axis + len(rows[k].shape) + 1
                rows[k] = replace(rows[k], shape=(*rows[k].shape[:axis], trips, *rows[k].shape[axis:]))
        return [replace(one, is_constant=False, numbers=None) for one in [*after, *rows]]

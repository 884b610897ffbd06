"""Reads an ONNX file that is only estimated: operators with FLOPs and bytes, and what nobody knows of them;
and writes them as `roof.estimate` writes those of a model of PyTorch."""

import re
import warnings
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np
import onnx

from roof.estimating import SIZES, Estimated
from roof.onnx_reading.operators import ATTENTION, CONVOLUTIONS, Operator
from roof.onnx_reading.values import INT32, INT64, Value, versions_of
from roof.onnx_reading.walk import Walk
from roof.shapes import Counted
from roof.steps import BACKWARD, FORWARD
from roof.texts import InputError
from roof.work import Work

BATCH = re.compile("(?i).*batch.*|bs|[bn]")  #: names of an axis


def load(path: Union[str, Path]) -> Any:
    """The model without weights that are stored outside. Raises InputError for another file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of protobuf
            model = onnx.load(str(path), load_external_data=False)
    except OSError as error:
        raise InputError(f"'{path}': {error.strerror}") from None
    except Exception:  # of protobuf, of a type that differs with the version
        raise InputError(f"'{path}' is no ONNX file, or ends too early") from None
    if not model.graph.node:
        raise InputError(f"'{path}' is no ONNX file with operators")
    return model


def batch_axis(one: Any) -> int:
    """Of an input: the one that is called so, but behind a first one of 1, else the first."""
    dims = one.type.tensor_type.shape.dim
    return 0 if dims[0].dim_value == 1 else next((k for k, dim in enumerate(dims) if BATCH.fullmatch(dim.dim_param)), 0)


class Network(Walk):
    """The walk of a file over `batch` inputs. sizes: numbers for what it leaves open, by name; the batch is the first
    open axis of an input."""

    def __init__(self, model: Any, sizes: Dict[str, int], batch: int, float_bytes: float) -> None:
        functions = {(one.domain, one.name): one for one in getattr(model, "functions", ())}
        super().__init__(functions, self.extent, float_bytes)
        self.used: Dict[str, int] = {}  #: of the sizes
        self._sizes, self._batch, self._of_batch = sizes, batch, {}  # type: Dict[str, int], int, Dict[str, int]
        scope = self.initializers(model.graph)
        self.inputs, first = 0.0, Value()  #: bytes
        for one in [one for one in model.graph.input if one.name not in scope]:
            made = scope[one.name] = self.value(self.of_input(one), one.type.tensor_type.elem_type)
            if made.shape == () and made.type in (INT32, INT64) and self.given(one.name) is not None:
                made.numbers = np.array(self.given(one.name))
            self.inputs += made.numel() * made.size
            if made.shape and not first.axes:
                first, made.axes, self.batch_axis = made, tuple(range(made.dim())), batch_axis(one)
                begin = one.type.tensor_type.shape.dim[self.batch_axis]
                asked, time = self.batch_axis, begin.dim_param or f"{one.name}.{self.batch_axis}"
        self.graph(model.graph, [one.name for one in model.graph.output], scope, versions_of(model) or {"": 1})
        if self.batch_axis is None and BATCH.fullmatch(begin.dim_param):
            self.batch_axis = asked  # the file's word goes first
        if first.axes and self.batch_axis != asked and begin.dim_value < 1 and time not in sizes:
            raise InputError(f"axis {asked} of its input is not that of the batch; give it a number: --size {time}=N")
        self.own_batch = first.shape[self.batch_axis or 0] if first.axes else 1  #: of the file

    def given(self, name: str) -> Optional[int]:
        if name in self._sizes:
            self.used[name] = self._sizes[name]
        return self._sizes.get(name, self._of_batch.get(name))

    def extent(self, dim: Any, name: str = "") -> Optional[int]:
        return int(dim.dim_value) if dim.dim_value > 0 else self.given(dim.dim_param or name)

    def of_input(self, one: Any) -> Tuple[int, ...]:
        """Raises InputError for an axis without a number."""
        if not one.type.tensor_type.HasField("shape"):
            raise InputError(f"its input '{one.name}' has no shape")
        made = []
        for axis, dim in enumerate(one.type.tensor_type.shape.dim):
            name = dim.dim_param or f"{one.name}.{axis}"
            known = self.extent(dim, name)
            if known is None and axis == batch_axis(one):
                self._of_batch[name] = known = self._batch
            if known is None:
                raise InputError(f"axis {axis} of its input '{one.name}' has no number; give it one: --size {name}=N")
            made.append(known)
        return tuple(made)

    def unknown(self) -> List[Operator]:
        """Operators whose FLOPs are not known; where there are any, each sum is a lower bound."""
        return [one for one in self.operators if one.unknown]

    def flops(self) -> float:
        """Of products, forward."""
        return sum(one.forward.contraction_flops for one in self.operators)


def read(path: Union[str, Path], batch: int = 1, sizes: Optional[Dict[str, int]] = None,
         float_bytes: float = 4) -> Network:
    """The operators of a file over `batch` inputs.

    sizes: numbers of open axes, and of inputs that are one integer, by their names.

    Raises InputError for another file, an axis without a number, and shapes that do not fit."""
    model, given = load(path), sizes or {}
    try:
        try:
            network = Network(model, given, batch, float_bytes)
        except InputError:
            if batch == 1:
                raise
            network = Network(model, given, 1, float_bytes)  # a file that has the batch of its export in its shapes
        unused = sorted(set(given) - set(network.used))
        if unused:
            raise InputError(f"it leaves no axis '{unused[0]}' open")
        if network.batch_axis is None and batch not in (1, network.own_batch):
            raise InputError("no axis of its input is that of a batch; --batch 1 counts it as it stands")
    except InputError as error:
        raise InputError(f"'{path}': {error}") from None
    except (RecursionError, TypeError):  # such as a name that is no text
        raise InputError(f"'{path}' is damaged") from None
    factor = 1 if network.batch_axis is None else batch / max(1, network.own_batch)
    network.inputs *= factor
    network.operators = network.operators if factor == 1 else [one.of_batches(factor) for one in network.operators]
    return network


#: Kinds of products, as roof.estimating has them; the others are linear layers, or products without weights.
PRODUCT_KINDS = {**dict.fromkeys(CONVOLUTIONS, "convolution"), **dict.fromkeys(ATTENTION, "attention")}


def counts_of(network: Network, trains: bool) -> Counted:
    """As `roof.estimating.Estimated` takes them. Each result that is written counts as kept, which is the most."""
    kept = sum(one.written for one in network.operators)
    largest = max((one.read + one.written for one in network.operators), default=0.0)
    counts = Counted(stored=network.stored, inputs=network.inputs, kept=kept, largest=largest, working=largest)
    for one in network.operators:
        counts.kinds.setdefault(one.name, one.kind)
        counts.outputs.setdefault(one.name, list(one.output))
        counts.parameters[one.name] = counts.parameters.get(one.name, 0) + one.parameters
        kind = ""
        if one.is_product:
            of_others = "linear" if one.parameters or one.of_weights.flops else "product"
            kind = PRODUCT_KINDS.get(one.kind.rsplit(".", 1)[-1], of_others)
        if one.unknown:
            one.forward.uncounted.add(f"{one.kind} ({one.unknown})")
        for phase, work in ((FORWARD, one.forward), (BACKWARD, one.of_inputs + one.of_weights))[:2 if trains else 1]:
            counts.work[phase, one.name, kind] = counts.work.get((phase, one.name, kind), Work()) + work
    return counts


def estimated(path: Union[str, Path], batch: int, sizes: Dict[str, int], precision: str, phase: str,
              optimizer: str = "") -> Estimated:
    """A step of the network of an ONNX file. Raises InputError as `read` does, and for a phase that it has not."""
    if phase not in ("train", "forward"):
        raise InputError(f"'{path}' is estimated as it stands: --phase train or forward, not {phase}")
    if precision not in SIZES:
        raise InputError(f"unknown precision '{precision}'; legal values: {', '.join(SIZES)}")
    network = read(path, batch, sizes, SIZES[precision])
    point = {"model": Path(path).stem, "batch": str(batch), "precision": precision, "optimizer": optimizer or "sgd",
             "tokens": "", "phase": phase}
    return Estimated(point, counts_of(network, phase == "train"), ["by the file's operators, each as it stands"], [])

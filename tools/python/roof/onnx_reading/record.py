"""Writes the operators of an ONNX file as `roof.estimate` writes those of a model of PyTorch."""

from pathlib import Path
from typing import Dict, Union

from roof.errors import InputError
from roof.estimating import SIZES, Estimated
from roof.onnx_reading.network import Network, read
from roof.onnx_reading.operators import ATTENTION, CONVOLUTIONS
from roof.shapes import Counted
from roof.steps import BACKWARD, FORWARD
from roof.work import Work

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
        kind = (PRODUCT_KINDS.get(one.kind.rsplit(".", 1)[-1], "linear" if one.parameters or one.of_weights.flops else "product") if one.is_product
                else "")
        if one.unknown:
            one.forward.uncounted.add(f"{one.kind} ({one.unknown})")
        for phase, work in ((FORWARD, one.forward), (BACKWARD, one.of_inputs + one.of_weights))[: 2 if trains else 1]:
            counts.work[phase, one.name, kind] = counts.work.get((phase, one.name, kind), Work()) + work
    return counts


def estimated(path: Union[str, Path], batch: int, sizes: Dict[str, int], precision: str, phase: str, optimizer: str = "") -> Estimated:
    """A step of the network of an ONNX file. Raises InputError as `read` does, and for a phase that it has not."""
    if phase not in ("train", "forward"):
        raise InputError(f"'{path}' is estimated as it stands: --phase train or forward, not {phase}")
    if precision not in SIZES:
        raise InputError(f"unknown precision '{precision}'; legal values: {', '.join(SIZES)}")
    network = read(path, batch, sizes, SIZES[precision])
    point = {"model": network.name, "batch": str(batch), "precision": precision, "optimizer": optimizer or "sgd", "tokens": "", "phase": phase}
    return Estimated(point, counts_of(network, phase == "train"), ["by the file's operators, each as it stands"], [])

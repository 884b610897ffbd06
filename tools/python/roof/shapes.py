"""Runs a model on fake tensors, which have shapes and no memory, and counts its operators as `record` does (work.py).

What a run tells besides: the parameters that the inputs reach, what autograd keeps for the backward pass, and the most
that is alive at once. Tensors carry marks from operator to operator:

    LIVE    it depends on a parameter or a floating-point input. A product of others is a table of positions, no product
of the
            model
    KEPT    of a mask: the pairs of query and key that it keeps, of one head and sequence (attention.py)
    SHARE   of a parameter: bytes as stored over bytes as computed (quantized weights)
    CACHED  it was there before this step: a cache grows in place, so that only what is new moves"""

import copy
import weakref
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Callable, Dict, Iterator, List, Set, Tuple

from roof.counting import dispatch_mode
from roof.recorder import Recorder
from roof.steps import BACKWARD, FORWARD, LOSS
from roof.work import KEPT, SHARE, Work, elementwise, is_view, moved, tensors_in, work_of

LIVE, CACHED = "roof_live", "roof_cached"
#: Part of a step: phase, layer, and the kind of its products; no kind for everything else that the layer does.
Part = Tuple[str, str, str]


def mark(values: Any, name: str) -> None:
    for tensor in tensors_in(values):
        setattr(tensor, name, True)


def storage_bytes(values: Any) -> Dict[int, int]:
    """Bytes of each storage, by its address."""
    storages = [tensor.untyped_storage() for tensor in tensors_in(values)]
    return {storage._cdata: storage.nbytes() for storage in storages}


@dataclass
class Counted:
    """What one step does. Sizes are in bytes."""

    work: Dict[Part, Work] = field(default_factory=dict)
    kinds: Dict[str, str] = field(default_factory=dict)  #: of layers
    outputs: Dict[str, List[int]] = field(default_factory=dict)  #: extents of the last product of a layer
    #: Of each layer that runs; a tensor that two layers share belongs to the first.
    parameters: Dict[str, int] = field(default_factory=dict)
    #: parameters that the inputs do not reach, by the part of the model
    left_out: Dict[str, int] = field(default_factory=dict)
    stored: float = 0.0  #: parameters as stored
    inputs: float = 0.0
    kept: float = 0.0
    caches: float = 0.0
    working: float = 0.0  #: the most that is alive besides, in the step
    forward_working: float = 0.0  #: and in its forward pass
    largest: float = 0.0  #: operands and results of one operator, without parameters


class Counts(Counted):
    """Counts the operators of a model while `mode` is entered."""

    def __init__(self, model: Any) -> None:
        self.mode = dispatch_mode(self._run_one)
        self.recorder = Recorder(model, SimpleNamespace(stamp=lambda: 0), counted=0)  # nothing is timed
        super().__init__(kinds=self.recorder.kinds)
        self._reached: Set[int] = set()
        self._own = storage_bytes([*model.parameters(), *model.buffers()])
        self._known: Set[int] = set(self._own)
        self._alive = self._most_alive = 0.0

    def _run_one(self, func: Any, args: Any, kwargs: Dict[str, Any]) -> Any:
        out = grouped_product(*args) if str(func) == "aten._grouped_mm.default" else func(*args, **kwargs)
        if func.namespace != "prim":
            self._count(func, args, kwargs, out)
        return out

    def _count(self, func: Any, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        inputs, results = tensors_in([list(args), kwargs]), tensors_in(out)
        parameters = {id(tensor) for tensor in inputs if getattr(tensor, "_is_param", False)}
        self._reached |= parameters
        key = self.recorder.key()
        live = bool(parameters) or key is not None and key[0] == BACKWARD
        live = live or any(hasattr(tensor, LIVE) for tensor in inputs)
        if live:
            mark(results, LIVE)
        self._allocate(results)
        if is_view(func):
            for name in (KEPT, SHARE, CACHED):
                if inputs and hasattr(inputs[0], name):
                    for tensor in results:
                        setattr(tensor, name, getattr(inputs[0], name))
            return
        if key is None:
            return
        if func._overloadpacket.__name__ == "cat" and any(hasattr(tensor, CACHED) for tensor in inputs):
            work = elementwise(0.0, 2 * moved(tensor for tensor in inputs if not hasattr(tensor, CACHED)))
        else:
            work = work_of(func, args, kwargs, out, key[0] == BACKWARD)
        if key[0] == FORWARD:
            others = [tensor for tensor in inputs if tensor.untyped_storage()._cdata not in self._own]
            self.largest = max(self.largest, moved(others) + moved(results))
        kind = ""
        if work.contraction_flops and live:
            kind = next((one for one in ("convolution", "attention") if one in str(func)),
                        "linear" if self.kinds.get(key[1]) == "linear" else "product")
            if key[0] == FORWARD:
                self.outputs[key[1]] = list(results[0].shape)
        elif work.contraction_flops:
            work = elementwise(work.flops, work.compulsory)
        self.work.setdefault((*key, kind), Work()).__iadd__(work)

    def _allocate(self, results: List[Any]) -> None:
        def release(address: int, size: int) -> None:
            self._known.discard(address)
            self._alive -= size

        for tensor in results:
            storage = tensor.untyped_storage()
            address, size = storage._cdata, storage.nbytes()
            if address not in self._known:
                self._known.add(address)
                self._alive += size
                weakref.finalize(storage, release, address, size).atexit = False
        self._most_alive = max(self._most_alive, self._alive)

    def run(self, prepare: Callable[[], Tuple[Callable[[], Any], Any]], trains: bool, keeps: bool) -> Any:
        """Returns the output of a forward pass of the model, whose parameters are fake, within their mode.

        prepare: makes the pass and what it reads; trains: backward too; keeps: a forward pass of training."""
        import torch

        model, recorder = self.recorder.model, self.recorder
        with self.mode, torch.no_grad():
            call, inputs = prepare()
        given = [*floating_in(inputs), *tensors_in(inputs)]
        mark([tensor for tensor in given if tensor.is_floating_point()], LIVE)
        known = storage_bytes(given)
        self._known.update(known)
        self._alive = self._most_alive = 0.0
        saved: Dict[int, Any] = {}  # what autograd saves

        def pack(tensor: Any) -> Any:
            storage = tensor.untyped_storage()
            if storage._cdata not in self._own:
                saved[storage._cdata] = storage
            return tensor

        saving = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor) if keeps else nullcontext()
        undo = [one.register_post_accumulate_grad_hook(lambda parameter: setattr(parameter, "grad", None))
                for one in model.parameters() if one.requires_grad]
        recorder.start()
        try:
            with self.mode, torch.set_grad_enabled(keeps), saving:
                out = call()
                self.kept = float(sum(storage.nbytes() for address, storage in saved.items() if address not in known))
                saved.clear()
                self.forward_working = max(0.0, self._most_alive - self.kept)
                recorder.keys.append(None)
                # The loss, as workloads/model/work.cpp has it, of scores of more than one axis.
                scores = getattr(out, "logits", out)
                if keeps and hasattr(scores, "element_size") and scores.is_floating_point() and scores.dim() > 1:
                    flops, gradient = (5.0, scores.element_size()) if trains else (3.0, 0)
                    self.work[(FORWARD, LOSS, "")] = elementwise(flops * scores.numel(),
                                                                 (4.0 + gradient) * scores.numel())
                    self.kinds[LOSS] = "softmax_cross_entropy"
                results = [tensor for tensor in floating_in(out) if tensor.requires_grad]
                if trains and results:
                    torch.autograd.backward(results, [torch.ones_like(tensor) for tensor in results])
        finally:
            recorder.stop()
            for hook in undo:
                hook.remove()
        self.working = max(0.0, self._most_alive - self.kept)
        self.inputs = float(sum(storage_bytes(inputs).values()))
        self._add_parameters(model, {key[1] for key in recorder.keys if key is not None})
        return out

    def _add_parameters(self, model: Any, ran: Set[str]) -> None:
        seen: Set[int] = set()
        for name, module in model.named_modules():
            layer = name or type(module).__name__
            for parameter in module.parameters(recurse=False):
                if id(parameter) in seen:
                    continue
                seen.add(id(parameter))
                reached = layer in ran or id(parameter) in self._reached
                counts, of = (self.parameters, layer) if reached else (self.left_out, ".".join(layer.split(".")[:2]))
                counts[of] = counts.get(of, 0) + parameter.numel()
                self.stored += moved([parameter]) if reached else 0.0


def grouped_product(left: Any, right: Any, ends: Any = None, *_rest: Any) -> Any:
    """The result of a product in groups, in any format: PyTorch's own rule for shapes takes bf16 alone."""
    groups = {2: ends, 3: left}.get(left.dim()) if left.dim() == right.dim() else None
    return left.new_empty(*(() if groups is None else groups.shape[:1]), left.shape[-2], right.shape[-1])


def floating_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """Floating-point tensors of an output or a cache, in whatever objects they lie."""
    if hasattr(value, "element_size"):
        if value.is_floating_point():
            yield value
    elif isinstance(value, (dict, list, tuple, set)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from floating_in(one, depth)
    elif depth < 4 and hasattr(value, "__dict__"):
        yield from floating_in(vars(value), depth + 1)


def fake_mode() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode(allow_non_fake_inputs=True)


def fake_copy(value: Any, mode: Any) -> Any:
    """A deep copy of a model or of inputs whose tensors are fake. The original may be on any device, `meta` too."""
    import torch
    from torch.overrides import TorchFunctionMode

    def like(tensor: Any) -> Any:
        with mode:
            made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
        return made.requires_grad_(tensor.requires_grad) if tensor.is_floating_point() else made

    class Copy(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch._C.TensorBase.clone:  # of a parameter's deep copy
                return like(args[0])
            if func is torch.Tensor.__deepcopy__:
                return args[1].setdefault(id(args[0]), like(args[0]))
            return func(*args, **(kwargs or {}))

    with Copy():
        return copy.deepcopy(value)

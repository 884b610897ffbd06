"""Runs a model on fake tensors, which have shapes and no memory, and counts its operators as `record` does (work.py).

What a run tells beyond FLOPs and bytes of each module: the parameters that the inputs reach, what autograd keeps for the backward pass,
and the most that is alive at once. Tensors carry marks from operator to operator:

    LIVE    it depends on a parameter or a floating-point input. A product of others is a table of positions, no product of the model
    KEPT    of a mask: pairs of one query and key that it keeps, of one head and sequence (attention.py)
    SHARE   of a parameter: bytes as stored over bytes as computed (quantized weights)
    CACHED  it was there before this step: a cache grows in place, so that only what is new moves
"""

import copy
import weakref
from contextlib import contextmanager, nullcontext
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from roof.recorder import Recorder
from roof.steps import BACKWARD, FORWARD, LOSS, Key
from roof.work import KEPT, SHARE, Work, elementwise, is_view, moved, tensors_in, work_of

LIVE, CACHED = "roof_live", "roof_cached"
MARKS = (LIVE, KEPT, SHARE, CACHED)
LOSS_FLOPS, LOSS_KIND = {True: 5.0, False: 3.0}, "softmax_cross_entropy"  #: per logit, with and without its gradient
#: Part of a step: phase, layer, and the kind of its products; no kind for everything else that the layer does.
Part = Tuple[str, str, str]


class NoClock:
    """Nothing is timed."""

    def stamp(self) -> int:
        return 0


def mark(values: Any, name: str, value: Any = True) -> None:
    for tensor in tensors_in(values):
        setattr(tensor, name, value)


def storage_bytes(values: Any) -> Dict[int, int]:
    """Bytes of each storage, by its address."""
    storages = [tensor.untyped_storage() for tensor in tensors_in(values)]
    return {storage._cdata: storage.nbytes() for storage in storages}


class Shapes:
    """Counts the operators of a model while `mode` is entered. `layer_now`: phase and layer of the operator that runs; None: not counted."""

    def __init__(self, layer_now: Callable[[], Optional[Key]], kinds: Dict[str, str], model: Any) -> None:
        from torch.utils._python_dispatch import TorchDispatchMode

        outer = self

        class Mode(TorchDispatchMode):  # type: ignore[misc]
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                out = grouped_product(*args) if str(func) == "aten._grouped_mm.default" else func(*args, **(kwargs or {}))
                if func.namespace != "prim":
                    outer._count(func, args, kwargs or {}, out)
                return out

        self.mode = Mode()
        self.work: Dict[Part, Work] = {}
        self.outputs: Dict[str, List[int]] = {}  #: extents of the last product of a layer
        self.reached: Set[int] = set()  #: parameters, by id
        self.alive = self.most_alive = 0.0  #: bytes of results
        self.largest = 0.0  #: bytes of one operator's operands and results, without parameters
        self._layer_now, self._kinds = layer_now, kinds
        self._own = storage_bytes([*model.parameters(), *model.buffers()])
        self._known: Set[int] = set(self._own)
        self._saved: Dict[int, Any] = {}

    # ------------------------------------------------------------------------------------------------ operators
    def _count(self, func: Any, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
        inputs, results = tensors_in([list(args), kwargs]), tensors_in(out)
        parameters = [tensor for tensor in inputs if getattr(tensor, "_is_param", False)]
        self.reached.update(map(id, parameters))
        key = self._layer_now()
        live = bool(parameters) or key is not None and key[0] == BACKWARD or any(hasattr(tensor, LIVE) for tensor in inputs)
        if is_view(func):
            for tensor in results:
                for name in MARKS:
                    if inputs and hasattr(inputs[0], name):
                        setattr(tensor, name, getattr(inputs[0], name))
        if live:
            mark(results, LIVE)
        self._allocate(results)
        if key is None:
            return
        work = grown(inputs, results) if func._overloadpacket.__name__ == "cat" else None
        work = work or work_of(func, args, kwargs, out, key[0] == BACKWARD)
        if key[0] == FORWARD and not is_view(func):
            own = [tensor for tensor in inputs if tensor.untyped_storage()._cdata not in self._own]
            self.largest = max(self.largest, moved(own) + moved(results))
        kind = ""
        if work.contraction_flops and live:
            kind = self._kind_of(func, key[1])
            if key[0] == FORWARD:
                self.outputs[key[1]] = list(results[0].shape)
        elif work.contraction_flops:
            work = elementwise(work.flops, work.compulsory)
        part = (*key, kind)
        self.work[part] = self.work.get(part, Work()).__iadd__(work)

    def _kind_of(self, func: Any, layer: str) -> str:
        name = str(func)
        if "convolution" in name:
            return "convolution"
        if "attention" in name:
            return "attention"
        return "linear" if self._kinds.get(layer) == "linear" else "product"

    # ------------------------------------------------------------------------------------------------ memory
    def _allocate(self, results: List[Any]) -> None:
        for tensor in results:
            storage = tensor.untyped_storage()
            address, size = storage._cdata, storage.nbytes()
            if address not in self._known:
                self._known.add(address)
                self.alive += size
                weakref.finalize(storage, self._release, address, size).atexit = False
        self.most_alive = max(self.most_alive, self.alive)

    def _release(self, address: int, size: int) -> None:
        self._known.discard(address)
        self.alive -= size

    def begin(self, given: List[Any]) -> None:
        """`given`: tensors that are there before: inputs and caches."""
        mark([tensor for tensor in given if tensor.is_floating_point()], LIVE)
        self._known.update(storage_bytes(given))
        self.alive = self.most_alive = 0.0

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Notes what autograd saves within."""
        from torch.autograd.graph import saved_tensors_hooks

        def pack(tensor: Any) -> Any:
            storage = tensor.untyped_storage()
            if storage._cdata not in self._own:
                self._saved[storage._cdata] = storage
            return tensor

        with saved_tensors_hooks(pack, lambda tensor: tensor):
            yield

    def take_kept(self, inputs: Any) -> float:
        """Bytes that autograd saved, without parameters, buffers and inputs."""
        given = storage_bytes(inputs)
        kept = sum(storage.nbytes() for address, storage in self._saved.items() if address not in given)
        self._saved.clear()
        return float(kept)


def grouped_product(left: Any, right: Any, ends: Any = None, *_rest: Any) -> Any:
    """The result of a product in groups, in any format: PyTorch's own rule for shapes takes bf16 alone."""
    groups = ends.shape[:1] if left.dim() == right.dim() == 2 else left.shape[:1] if left.dim() == right.dim() == 3 else ()
    return left.new_empty(*groups, left.shape[-2], right.shape[-1])


def grown(inputs: List[Any], results: List[Any]) -> Optional[Work]:
    """The work of a cache that gets longer."""
    if not any(hasattr(tensor, CACHED) for tensor in inputs):
        return None
    return elementwise(0.0, 2 * moved(tensor for tensor in inputs if not hasattr(tensor, CACHED)))


# ---------------------------------------------------------------------------------------------------- models as shapes
def fake_mode() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode(allow_non_fake_inputs=True)


def fake_like(tensor: Any, mode: Any) -> Any:
    import torch

    with mode:
        made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
    return made.requires_grad_(tensor.requires_grad) if tensor.is_floating_point() else made


def fake_copy(value: Any, mode: Any) -> Any:
    """A deep copy of a model or of inputs whose tensors are fake. The original may be on any device, `meta` too."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Copy(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch._C.TensorBase.clone:
                return fake_like(args[0], mode)
            if func is torch.Tensor.__deepcopy__:
                tensor, memo = args
                memo[id(tensor)] = memo.get(id(tensor)) or [fake_like(tensor, mode)]
                return memo[id(tensor)][0]
            return func(*args, **(kwargs or {}))

    with Copy():
        return copy.deepcopy(value)


# ---------------------------------------------------------------------------------------------------- one pass
class Counts:
    """What one step of a model does. `memory`: bytes by what they hold, for a training step, its forward pass, and inference."""

    def __init__(self) -> None:
        self.work: Dict[Part, Work] = {}
        self.outputs: Dict[str, List[int]] = {}
        self.kinds: Dict[str, str] = {}
        self.parameters: Dict[str, int] = {}  #: of each layer that runs; a tensor that two layers share belongs to the first
        self.left_out: Dict[str, int] = {}  #: parameters that the inputs do not reach, by the layer below the model
        self.stored = 0.0  #: bytes of the parameters as stored
        self.inputs = self.kept = self.forward_working = self.working = self.largest = self.caches = 0.0


def count(model: Any, prepare: Callable[[], Tuple[Callable[[], Any], Any]], *, trains: bool, keeps: bool,
          cache_of: Callable[[Any], Any]) -> Counts:
    """Runs a forward pass of `model`, whose parameters are fake, within their mode.

    prepare: makes the pass and what it reads; trains: backward too; keeps: a forward pass of training; cache_of: of the output, what
    the next step reads.
    """
    import torch

    recorder = Recorder(model, NoClock(), counted=0)
    shapes = Shapes(recorder._key, recorder.kinds, model)
    with shapes.mode, torch.no_grad():
        call, inputs = prepare()
    shapes.begin(list(floating_in(inputs)) + tensors_in(inputs))
    counts = Counts()
    undo = [parameter.register_post_accumulate_grad_hook(drop_gradient) for parameter in model.parameters() if parameter.requires_grad]
    recorder.start()
    try:
        with shapes.mode, torch.set_grad_enabled(keeps), shapes.keeping() if keeps else nullcontext():
            out = call()
            counts.kept = shapes.take_kept(inputs)
            counts.forward_working = max(0.0, shapes.most_alive - counts.kept)
            recorder._keys.append(None)
            logits = logits_of(out) if keeps else None
            results = [tensor for tensor in floating_in(out) if tensor.requires_grad]
            if trains and results:
                gradients = [torch.ones_like(tensor) for tensor in results]
                torch.autograd.backward(results, gradients)
    finally:
        recorder.stop()
        for hook in undo:
            hook.remove()
    counts.work, counts.outputs, counts.kinds = shapes.work, shapes.outputs, recorder.kinds
    counts.working = max(0.0, shapes.most_alive - counts.kept)
    counts.largest = shapes.largest
    counts.inputs = float(sum(storage_bytes(inputs).values()))
    cache = storage_bytes(list(floating_in(cache_of(out))))
    counts.caches = float(sum(cache.values()))
    if logits is not None:
        size = logits.element_size() if trains else 0
        counts.work[(FORWARD, LOSS, "")] = elementwise(LOSS_FLOPS[trains] * logits.numel(), (4.0 + size) * logits.numel())
        counts.kinds[LOSS] = LOSS_KIND
    add_parameters(counts, model, shapes.reached, {key[1] for key in recorder._keys if key is not None})
    return counts


def drop_gradient(parameter: Any) -> None:
    parameter.grad = None


def floating_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """Floating-point tensors of an output or a cache, in whatever objects they lie."""
    if hasattr(value, "element_size"):
        if value.is_floating_point():
            yield value
    elif isinstance(value, dict):
        yield from floating_in(list(value.values()), depth)
    elif isinstance(value, (list, tuple, set)):
        for one in value:
            yield from floating_in(one, depth)
    elif depth < 4 and hasattr(value, "__dict__"):
        yield from floating_in(vars(value), depth + 1)


def logits_of(out: Any) -> Any:
    """The scores that a loss would read; None if the output has none."""
    found = getattr(out, "logits", out)
    return found if hasattr(found, "element_size") and found.is_floating_point() and found.dim() > 1 else None


def add_parameters(counts: Counts, model: Any, reached: Set[int], ran: Set[str]) -> None:
    seen: Set[int] = set()
    names = {id(module): layer for layer, module in model.named_modules()}
    for module in model.modules():
        layer = names[id(module)] or type(module).__name__
        for parameter in module.parameters(recurse=False):
            if id(parameter) in seen:
                continue
            seen.add(id(parameter))
            if layer in ran or id(parameter) in reached:
                counts.parameters[layer] = counts.parameters.get(layer, 0) + parameter.numel()
                counts.stored += moved([parameter])
            else:
                top = ".".join(layer.split(".")[:2])
                counts.left_out[top] = counts.left_out.get(top, 0) + parameter.numel()


def share_of(parameter: Any, bits: float) -> float:
    """What SHARE is for weights of so many bits each, with their scales."""
    return bits / 8 / parameter.element_size()

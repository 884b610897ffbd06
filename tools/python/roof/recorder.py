"""Hooks on a model that mark when each of its modules begins and ends, forward and backward.

Forward: hooks of the modules. Time inside a module and outside its children is the module's own. Backward: hooks of the autograd
nodes that the module's forward pass made, because hooks of modules' backward passes do not bear operators in place. The
optimiser: its own global hooks. The first steps are also counted, operator by operator, which slows them; they are not timed if
there are more.
"""

from functools import partial
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from roof.steps import (BACKWARD, BEFORE_OPTIMIZER, BETWEEN, FORWARD, LOSS, OPTIMIZER, UPDATE, Key, Step, cycles_of, steps_of)
from roof.work import Work, work_of

COMPILED = "_orig_mod"  #: the child of a module that torch.compile returned
COUNTED_STEPS = 2  #: an optimiser makes its state in the first


def counting_mode(current: Callable[[], Optional[Key]]) -> Any:
    """A dispatch mode with a dictionary `work` by key. `current` tells the key of the operator that runs; None is not counted."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.work: Dict[Key, Work] = {}

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            key = current()
            if key is not None:
                self.work.setdefault(key, Work()).__iadd__(work_of(func, args, kwargs or {}, out, key[0] == BACKWARD))
            return out

    return Counting()


class Recorder:
    """Records a model between `start()` and `stop()`. Only one may be active for a model."""

    def __init__(self, model: Any, clock: Any, counted: int = COUNTED_STEPS) -> None:
        self.model = model
        self.clock = clock
        self.work: Dict[Key, Work] = {}
        self.optimizer_name = ""
        self.batch: Optional[int] = None
        self.precision: Optional[str] = None
        self.kinds: Dict[str, str] = {}
        self.is_compiled = False
        self._to_count = counted
        self.counted = 0  #: cycles that were counted
        self._mode: Any = None
        self._handles: List[Any] = []
        self._clear_marks()

    def _clear_marks(self) -> None:
        self._stamps: List[Any] = []
        self._keys: List[Optional[Key]] = []
        self._begins: List[int] = []
        self._stack: List[Key] = []
        self._nodes: Set[Any] = set()
        self._backward = False
        self._key: Optional[Key] = None

    # ------------------------------------------------------------------------------------------------ begin and end
    def start(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        for name, module in self.model.named_modules():
            if COMPILED in name.split("."):
                continue  # hooks within what torch.compile makes would be compiled, too
            if getattr(module, "_compiled_call_impl", None) is not None:
                raise RuntimeError(f"'{name or module.__class__.__name__}' was compiled in place by its compile(), within which nothing can be "
                                   "marked: record torch.compile(model), or the model before it is compiled")
            self.is_compiled = self.is_compiled or hasattr(module, COMPILED)
            layer = name or getattr(module, COMPILED, module).__class__.__name__
            self.kinds[layer] = kind_of(module)
            key = (FORWARD, layer)
            self._handles.append(module.register_forward_pre_hook(partial(self._module_begins, key), with_kwargs=True))
            self._handles.append(module.register_forward_hook(partial(self._module_ends, key), with_kwargs=True))
        self._handles.append(register_optimizer_step_pre_hook(self._update_begins))
        self._handles.append(register_optimizer_step_post_hook(self._update_ends))

    def stop(self) -> None:
        self._mark(None)
        self._stop_counting()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._nodes.clear()

    def steps(self) -> Tuple[List[Step], int]:
        """The steps that were recorded since the last call, and the number of forward passes without an update left over."""
        if not self._begins:
            return [], 0
        times = self.clock.seconds(self._stamps)
        cycles = cycles_of(times, self._keys, self._begins)
        self._clear_marks()
        return steps_of(cycles)

    # ------------------------------------------------------------------------------------------------ marks
    def _mark(self, key: Optional[Key]) -> None:
        self._stamps.append(self.clock.stamp())
        self._keys.append(key)
        self._key = key

    def _begin_cycle(self, args: Any, kwargs: Any) -> None:
        self._stop_counting()
        self._nodes.clear()
        self._backward = False
        self._visit(None, (args, kwargs))
        if self.counted < self._to_count:
            self.counted += 1
            self._mode = counting_mode(lambda: self._key)
            self._mode.__enter__()
        if self.batch is None:
            self.batch = batch_of((args, kwargs))
        if self.precision is None:
            self.precision = precision_of(self.model)
        self._begins.append(len(self._stamps))

    def _stop_counting(self) -> None:
        if self._mode is not None:
            self._mode.__exit__(None, None, None)
            self.work = self._mode.work
            self._mode = None

    # ------------------------------------------------------------------------------------------------ forward
    def _module_begins(self, key: Key, module: Any, args: Any, kwargs: Any) -> None:
        if self._backward and module is not self.model:
            return  # a forward pass that is computed again within the backward pass
        if module is self.model and not self._stack:
            self._begin_cycle(args, kwargs)
        elif self._stack:
            self._visit(self._stack[-1], (args, kwargs))
        self._stack.append(key)
        self._mark(key)

    def _module_ends(self, key: Key, _module: Any, _args: Any, _kwargs: Any, out: Any) -> None:
        if not self._stack or self._stack[-1] != key:
            return
        self._stack.pop()
        self._visit(key, out)
        self._mark(self._stack[-1] if self._stack else (FORWARD, LOSS))

    # ------------------------------------------------------------------------------------------------ backward
    def _visit(self, owner: Optional[Key], values: Any) -> None:
        """Gives the new autograd nodes behind these tensors to `owner`, the module that computed them."""
        open_nodes = [tensor.grad_fn for tensor in leaves(values) if getattr(tensor, "grad_fn", None) is not None]
        while open_nodes:
            node = open_nodes.pop()
            if node in self._nodes or node.name().endswith("AccumulateGrad"):
                continue
            self._nodes.add(node)
            open_nodes.extend(next_node for next_node, _ in node.next_functions if next_node is not None)
            if owner is not None:
                node.register_prehook(partial(self._node_begins, (BACKWARD, owner[1])))
                node.register_hook(self._node_ends)

    def _node_begins(self, key: Key, _gradients: Any) -> None:
        if not self._backward:
            from torch.autograd import Variable

            self._backward = True
            Variable._execution_engine.queue_callback(self._backward_ends)
        self._mark(key)

    def _node_ends(self, _inputs: Any, _outputs: Any) -> None:
        self._mark((BACKWARD, BETWEEN))

    def _backward_ends(self) -> None:
        self._backward = False
        self._mark((UPDATE, BEFORE_OPTIMIZER))

    # ------------------------------------------------------------------------------------------------ update
    def _owns(self, optimizer: Any) -> bool:
        mine = {id(parameter) for parameter in self.model.parameters()}
        return any(id(parameter) in mine for group in optimizer.param_groups for parameter in group["params"])

    def _update_begins(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if self._begins and self._owns(optimizer):
            self.optimizer_name = optimizer.__class__.__name__
            self._mark((UPDATE, OPTIMIZER))

    def _update_ends(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if not self._begins or not self._owns(optimizer):
            return
        self._mark(None)
        counted = self._mode is not None
        self._stop_counting()
        if counted and (UPDATE, OPTIMIZER) in self.work:
            update = self.work[(UPDATE, OPTIMIZER)]
            update.compulsory = update.no_reuse = bytes_of_update(optimizer)


def bytes_of_update(optimizer: Any) -> float:
    """Each parameter and each state of its size read and written once, each gradient read once."""
    total = 0
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            size = parameter.numel() * parameter.element_size()
            states = sum(state.numel() * state.element_size() for state in optimizer.state.get(parameter, {}).values()
                         if hasattr(state, "numel") and state.numel() == parameter.numel() and parameter.numel() > 1)
            total += 2 * size + parameter.grad.numel() * parameter.grad.element_size() + 2 * states
    return float(total)


def leaves(values: Any) -> List[Any]:
    from torch.utils._pytree import tree_flatten

    if hasattr(values, "__dataclass_fields__") and not isinstance(values, dict):
        values = list(vars(values).values())
    return tree_flatten(values)[0]


def batch_of(values: Any) -> Optional[int]:
    """The first extent of the first tensor."""
    for value in leaves(values):
        if hasattr(value, "dim") and value.dim() > 0:
            return int(value.shape[0])
    return None


def precision_of(model: Any) -> str:
    """The format in which contractions compute: autocast's, else that of the first floating-point parameter."""
    import torch

    names = {torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}
    parameter = next((p for p in model.parameters() if p.is_floating_point()), None)
    kind = "cpu" if parameter is None else parameter.device.type
    if torch.is_autocast_enabled(kind):
        return names.get(torch.get_autocast_dtype(kind), "")
    if kind == "cuda" and parameter.dtype == torch.float32 and torch.backends.cuda.matmul.allow_tf32:
        return "tf32"
    return names.get(torch.float32 if parameter is None else parameter.dtype, "")


#: The kinds that roof's own networks have; other modules have their class's name.
KINDS = {"Conv1d": "convolution", "Conv2d": "convolution", "Conv3d": "convolution", "Linear": "linear",
         "NonDynamicallyQuantizableLinear": "linear", "BatchNorm1d": "batch_norm", "BatchNorm2d": "batch_norm",
         "BatchNorm3d": "batch_norm", "ReLU": "relu", "MaxPool2d": "max_pool", "AvgPool2d": "average_pool",
         "AdaptiveAvgPool2d": "average_pool", "Dropout": "dropout"}


def kind_of(module: Any) -> str:
    """Modules with children do their own work by functions."""
    name = getattr(module, COMPILED, module).__class__.__name__
    return KINDS.get(name, name)

"""Marks when each module of a model begins and ends, forward and backward.

Forward: a function around that of the module. Time inside a module and outside its children is the module's own.
Backward: hooks of the autograd nodes that made what enters and leaves a module, because hooks of modules' backward
passes do not bear operators in place; the engine runs nodes in the reverse order of their making, so the nodes between
two hooks are of one module. The optimiser: its own global hooks. Within what torch.compile made: compiled.py. The first
steps are also counted, operator by operator, which slows them; they are not timed if there are more."""

from functools import partial, wraps
from time import perf_counter
from typing import Any, Callable, Dict, Iterable, List, Optional, Set, Tuple

from roof.compiled import Kernel, Watch
from roof.counting import bytes_of_update, counting_mode
from roof.host import Counts, counts
from roof.steps import (BACKWARD, BEFORE_MODEL, BEFORE_OPTIMIZER, FORWARD, LOSS, OPTIMIZER, UPDATE, Key, Step,
                        cycles_of, steps_of)
from roof.work import Work, tensors_in

COMPILED = "_orig_mod"  #: the child of a module that torch.compile returned
COUNTED_STEPS = 2  #: an optimiser makes its state in the first
CONTAINERS = ("Sequential", "ModuleList", "ModuleDict")  #: they only call what they hold
COUNTED_PASSES = 4  #: of a kind, at most, unless the optimiser asks for passes itself
NO_LAYERS = (BEFORE_MODEL, BEFORE_OPTIMIZER, LOSS, OPTIMIZER)
#: The kinds that roof's own networks have; other modules have their class's name.
KINDS = {**{f"{name}{axes}d": kind for name, kind in (("Conv", "convolution"), ("BatchNorm", "batch_norm"))
            for axes in (1, 2, 3)},
         "Linear": "linear", "NonDynamicallyQuantizableLinear": "linear", "ReLU": "relu", "MaxPool2d": "max_pool",
         "AvgPool2d": "average_pool", "AdaptiveAvgPool2d": "average_pool", "Dropout": "dropout"}


class Recorder:
    """Records a model between `start()` and `stop()`. Only one may be active for a model."""

    def __init__(self, model: Any, clock: Any, counted: int = COUNTED_STEPS) -> None:
        self.model, self.clock = model, clock
        self.work: Dict[Key, Work] = {}  #: of a step
        self.kernels: Dict[Key, List[Kernel]] = {}  #: of the parts that a compiler made
        self.optimizer_name = ""
        self.batch: Optional[int] = None
        self.precision: Optional[str] = None
        self.kinds: Dict[str, str] = {}
        self.watch: Optional[Watch] = None  #: of a compiled model
        self.remarks: List[str] = []
        self.host: Optional[Tuple[Counts, Counts]] = None  #: at the first beginning and the last end
        self.to_count = counted
        self.first_pass = 0.0  #: when it began, by perf_counter()
        self._shapes: Set[Any] = set()  #: of the inputs
        self._passes: Dict[Any, int] = {}  #: that were counted, by their kind: shapes of the inputs, and whether they keep
        self._updates = 0  #: that were counted; one is that of all optimisers of a step
        self._updated = False  #: this cycle was, and counted
        self._before = 0.0  #: bytes of the update so far
        self._mode: Any = None
        self._undo: List[Callable[[], Any]] = []
        self._mine: Dict[int, bool] = {}
        self._root = ""
        self._stamps: List[Any] = []
        self.keys: List[Optional[Key]] = []
        self._begins: List[int] = []
        self._kinds: List[Any] = []  #: of the cycles' passes
        self._counts: Dict[int, Dict[Key, Work]] = {}  #: by cycle
        self._untimed: Set[int] = set()
        self._ran: List[Tuple[int, Key, Kernel]] = []  #: marks of kernels, with the key of the module that was compiled
        self._stack: List[Tuple[Key, Any]] = []  #: of the open modules, and the hook of their nodes
        self._nodes: Set[Any] = set()
        self._clear_marks()

    def _clear_marks(self) -> None:
        for marks in (self._stamps, self.keys, self._begins, self._kinds, self._counts, self._untimed, self._ran, self._stack,
                      self._nodes):
            marks.clear()
        self._backward = self._updating = False
        self._compiled: Optional[Key] = None  #: the module whose kernel runs

    # ------------------------------------------------------------------------------------------------ begin and end
    def start(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        now = counts()
        self.host = (self.host or (now, now))[0], now
        for name, module in self.model.named_modules():
            inner = [part for part in name.split(".") if part != COMPILED]
            kind = getattr(module, COMPILED, module).__class__.__name__
            layer = ".".join(inner) or kind
            self.kinds.setdefault(layer, KINDS.get(kind, kind))  # modules with children do their own work by functions
            if COMPILED in name.split("."):
                continue  # hooks within what torch.compile makes would be compiled, too
            if getattr(module, "_compiled_call_impl", None) is not None:
                raise RuntimeError(f"'{name or module.__class__.__name__}' was compiled in place by its compile(), "
                                   "within which nothing can be marked: record torch.compile(model), or the model "
                                   "before it is compiled")
            if module is self.model:
                self._root = layer
            if hasattr(module, COMPILED) and self.watch is None:
                self.watch = Watch(self)
            if type(module).__name__ in CONTAINERS and module is not self.model:
                continue
            own = vars(module).get("forward")
            module.forward = self._marked(module.forward, layer, module is self.model)
            self._undo.append(partial(setattr, module, "forward", own) if own else partial(delattr, module, "forward"))
        self._undo.append(register_optimizer_step_pre_hook(self._update_begins).remove)
        self._undo.append(register_optimizer_step_post_hook(self._update_ends).remove)
        if self.watch is not None:
            self.watch.start()

    def stop(self) -> None:
        self._mark(None)
        if self.host is not None:
            self.host = self.host[0], counts()
        self._count(False)
        if self.watch is not None:
            self.watch.stop()
            self._note_compilation()
        for undo in self._undo:
            undo()
        self._undo.clear()
        self._nodes.clear()

    def steps(self) -> Tuple[List[Step], int]:
        """The steps that were recorded since the last call, and how many forward passes without an update are left."""
        if not self._begins:
            return [], 0
        times = self.clock.seconds(self._stamps)
        steps, left_over = steps_of(cycles_of(times, self.keys, self._begins, self._untimed))
        self._add_up(steps)
        self._clear_marks()
        return steps, left_over

    def _add_up(self, steps: List[Step]) -> None:
        """The work of a step of the usual number of passes: the last one that was counted whole, or for each pass that
        of the last counted one of its kind. That of the update: the last that was counted."""
        passes = sorted(step.passes for step in steps)
        usual = passes[len(passes) // 2] if passes else 1
        like = [step for step in steps if step.passes == usual]
        counted = {cycle: one for cycle, one in self._counts.items() if any(phase == FORWARD for phase, _ in one)}
        counted.update((cycle, {}) for cycle, kind in enumerate(self._kinds) if kind is None)  # an update that asks for them
        whole = [step for step in like if all(cycle in counted for cycle in step.cycles)]
        of_kind = {self._kinds[cycle]: one for cycle, one in counted.items()}  # the last
        last = [one for one in counted.values() if one][-1:]
        passed = [counted[cycle] if cycle in counted else of_kind.get(self._kinds[cycle], last[0])
                  for step in (whole or like)[-1:] for cycle in step.cycles if last] or last
        of_updates = [[self._counts[cycle] for cycle in step.cycles if cycle in self._counts] for step in steps]
        updated = [parts for parts in of_updates if any((UPDATE, OPTIMIZER) in part for part in parts)][-1:]
        if passed:
            self.work = {}
        for parts, is_update in ((passed, False), *((parts, True) for parts in updated)):
            for key, work in (item for part in parts for item in part.items()):
                if (key[0] == UPDATE) == is_update:
                    self.work[key] = self.work.get(key, Work()) + work
        if passed and not whole and all(phase != BACKWARD for one in passed for phase, _ in one):
            for key in {key for step in like[-1:] for key in step.seconds if key[0] == BACKWARD}:
                self.work[key] = Work(uncounted={"a backward pass through several forward passes"})
        if passes and passes[-1] > 1:
            self.remarks.append(f"a step has {usual} forward passes"
                                + (f" ({passes[0]} to {passes[-1]})" if passes[0] != usual else "")
                                + ("" if whole else "; one that was not counted has the work of one like it"))
        if len(self._shapes) > 1:
            self.remarks.append(f"inputs had {len(self._shapes)} different shapes: FLOPs and bytes are those of the "
                                "steps that were counted")
        if steps and self._ran:
            self._add_kernels(steps[-1])

    def _add_kernels(self, step: Step) -> None:
        """Gives the work of the last step's kernels to their layers, in place of that of the compiled modules."""
        first = self._begins[step.cycles[0]]
        end = self._begins[step.cycles[-1] + 1] if step.cycles[-1] + 1 < len(self._begins) else len(self.keys)
        found: Dict[Key, Work] = {}
        of_module: Dict[Key, float] = {}
        self.kernels = {}
        for mark, module, kernel in self._ran:
            if first <= mark < end:
                key = self.keys[mark]
                assert key is not None
                found.setdefault(key, Work()).__iadd__(kernel.work)
                of_module[module] = of_module.get(module, 0.0) + kernel.work.contraction_flops
                self.kernels.setdefault(key, []).append(kernel)
        for module, flops in of_module.items():
            rest = self.work.pop(module, Work()).contraction_flops - flops
            if rest > 0:  # of what was not compiled
                self.work[module] = Work(rest, rest)
        for key, work in found.items():
            self.work[key] = self.work.get(key, Work()) + work

    # ------------------------------------------------------------------------------------------------ marks
    def _mark(self, key: Optional[Key]) -> None:
        self._stamps.append(self.clock.stamp())
        self.keys.append(key)

    def key(self) -> Optional[Key]:
        return self.keys[-1] if self.keys else None

    def _begin_cycle(self, kind: Any = None) -> None:
        self._note_compilation()
        self._nodes.clear()
        self._backward = False
        self._begins.append(len(self._stamps))
        self._updates, self._updated = self._updates + self._updated, False
        self._kinds.append(kind)
        passes = self._passes.get(kind, 0)
        self._count(self._updates < self.to_count and (self._updating or passes < COUNTED_PASSES))
        self._passes[kind] = passes + (self._mode is not None)

    def _count(self, counts: bool) -> None:
        """Counts from here to the end of the cycle, or no longer."""
        if not counts:
            if self._mode is not None:
                self._mode.__exit__(None, None, None)
                self._mode = None
            return
        if self._mode is None:
            self._mode = counting_mode(self.key)
            self._mode.__enter__()
        cycle = len(self._begins) - 1
        self._mode.work = self._counts.setdefault(cycle, {})
        self._untimed.add(cycle)

    def _note_compilation(self) -> None:
        if self.watch is not None and self.watch.compiled_since():
            self._untimed.add(len(self._begins) - 1)

    def kernel_begins(self, kernel: Kernel) -> None:
        """A kernel of a compiled module, which belongs to one of the module's own."""
        outer = self.key()
        if outer is None or outer[1] in NO_LAYERS or self._compiled is not None:
            return
        self._compiled = outer
        layer = kernel.layer if outer[1] == self._root else f"{outer[1]}.{kernel.layer}".rstrip(".")
        self._ran.append((len(self.keys), outer, kernel))
        self._mark((outer[0], layer or outer[1]))

    def kernel_ends(self) -> None:
        if self._compiled is not None:
            self._mark(self._compiled)
            self._compiled = None

    # -------------------------------------------------------------------------------------------- forward and backward
    def _marked(self, run: Callable[..., Any], layer: str, is_root: bool) -> Callable[..., Any]:
        """The forward pass of a module between its marks. It runs for every module of every step, so it looks up
        little; hooks of the module would take longer."""
        forward: Key = (FORWARD, layer)
        stack, stamps, keys, stamp, own = self._stack, self._stamps, self.keys, self.clock.stamp, self._own
        entry = (forward, self._node_hook((BACKWARD, layer)))
        before_model = self._node_hook((BACKWARD, BEFORE_MODEL))
        from torch.compiler import is_compiling

        @wraps(run)
        def marked(*args: Any, **kwargs: Any) -> Any:
            if is_compiling() or self._backward and not is_root:
                return run(*args, **kwargs)  # within a compiled function, or computed again within the backward pass
            if stack:
                own(stack[-1][1], args)
            elif is_root:
                self._begin_pass(args, kwargs)
                own(before_model, args)
            if kwargs:
                own(stack[-1][1] if stack else before_model, kwargs.values())
            stack.append(entry)
            stamps.append(stamp())
            keys.append(forward)
            out = run(*args, **kwargs)
            if stack and stack[-1] is entry:
                stack.pop()
                own(entry[1], (out,))
                stamps.append(stamp())
                keys.append(stack[-1][0] if stack else (FORWARD, LOSS))
            return out

        return marked

    def _begin_pass(self, args: Any, kwargs: Any) -> None:
        from torch import is_grad_enabled

        self.first_pass = self.first_pass or perf_counter()
        shapes = tuple(tensor.shape for tensor in tensors_in([args, kwargs]))
        self._begin_cycle((shapes, is_grad_enabled()))
        self._shapes.add(shapes)
        if self.batch is None:
            self.batch = batch_of((args, kwargs))
        if self.precision is None:
            self.precision = precision_of(self.model)

    def _own(self, owner: Any, values: Iterable[Any]) -> None:
        """Lets the nodes that made these tensors, if they are new, the hook of the module that computed them."""
        for value in values:
            if hasattr(value, "grad_fn"):
                node = value.grad_fn
                if node is not None and node not in self._nodes:
                    self._nodes.add(node)
                    node._register_hook_dict(owner)
            elif isinstance(value, (tuple, list)):
                self._own(owner, value)
            elif isinstance(value, dict) or hasattr(value, "__dataclass_fields__"):
                self._own(owner, (value if isinstance(value, dict) else vars(value)).values())

    def _node_hook(self, key: Key) -> Any:
        """A tensor whose hook marks a node, which takes a tensor's hooks as they are; its own are made in each step."""
        from torch import zeros

        stamps, keys, stamp = self._stamps, self.keys, self.clock.stamp

        def begins(_gradient: Any) -> None:
            if not self._backward:
                self._backward_begins()
            stamps.append(stamp())
            keys.append(key)

        carrier = zeros((), requires_grad=True)
        carrier.register_hook(begins)
        return carrier

    def _backward_begins(self) -> None:
        from torch.autograd import Variable

        def ends() -> None:
            self._backward = False
            self._nodes.clear()  # what a graph holds is freed when the program drops it, and not a step later
            self._mark((UPDATE, OPTIMIZER if self._updating else BEFORE_OPTIMIZER))

        self._backward = True
        Variable._execution_engine.queue_callback(ends)

    # ------------------------------------------------------------------------------------------------ update
    def _owns(self, optimizer: Any) -> bool:
        if id(optimizer) not in self._mine:
            mine = {id(parameter) for parameter in self.model.parameters()}
            self._mine[id(optimizer)] = any(id(one) in mine for group in optimizer.param_groups
                                            for one in group["params"])
        return self._mine[id(optimizer)]

    def _update_begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._owns(optimizer):
            return
        # A function that the optimiser gets is the pass, which it asks for as often as it needs.
        self._updating = any(callable(value) for value in [*args, *kwargs.values()])
        if self._updating:
            self._begin_cycle()
        if not self._begins:
            return
        if self._updates < self.to_count:
            self._count(True)
            self._before = self._mode.work.get((UPDATE, OPTIMIZER), Work()).compulsory
        names = dict.fromkeys([*filter(None, self.optimizer_name.split(", ")), optimizer.__class__.__name__])
        self.optimizer_name = ", ".join(names)
        self._mark((UPDATE, OPTIMIZER))

    def _update_ends(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if not self._begins or not self._owns(optimizer):
            return
        self._mark(None)
        self._updating = False
        if self._mode is not None:
            self._updated = True
            update = self._mode.work.get((UPDATE, OPTIMIZER))
            self._count(False)
            if update is not None:
                update.compulsory = update.no_reuse = self._before + bytes_of_update(optimizer)


def batch_of(values: Any) -> Optional[int]:
    return next((int(tensor.shape[0]) for tensor in tensors_in(values) if tensor.dim() > 0), None)


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

"""Marks within what torch.compile made: one before and one after each kernel of Inductor's program.

Inductor writes down which nodes of its graph a kernel computes (its debug handles), and a node knows the module that it
is of. While a recording is active, the programs that Inductor generates get a call before and after each kernel. FLOPs
are those of the kernel's nodes. Bytes are Inductor's `kernel_num_gb` where its metadata has it, which is for Triton,
else the operands, each moved once."""

import re
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Collection, Dict, List, Optional, Tuple

from roof.work import READ_IN_PART, Work, moved, tensors_in, work_of

HANDLE = re.compile(r"^( +)\S+ \[Provenance debug handles\] (\S+):(\d+)$")
#: the model, by the name of an argument: self, or args[0] behind a decorator
MODULE = re.compile(r"^L\['\w+'\](?:\[\d+\])?\.?")
#: What the graph's compiler has to do. Graphs from a cache have no nodes; kernels' bytes are for their benchmark.
SETTINGS = {"trace.provenance_tracking_level": 1, "fx_graph_cache": False, "benchmark_combo_kernel": True}


@dataclass
class Kernel:
    name: str
    layer: str = ""  #: the module of most of its FLOPs; empty: the one that was compiled
    others: List[str] = field(default_factory=list)  #: modules that it also computes for
    work: Work = field(default_factory=Work)
    #: how often each of its operands is moved, where its bytes are still to be counted
    operands: Optional[List[int]] = None
    unread: float = 0.0  #: bytes of tables that it does not read


kernels: List[Kernel] = []  #: by the number that generated programs have
watching: List["Watch"] = []  #: the active one


def begins(number: int, operands: Tuple[Any, ...] = ()) -> None:
    if watching:
        kernel = kernels[number]
        if kernel.operands is not None:
            tensors = [(tensor, times) for tensor, times in zip(operands, kernel.operands) if tensors_in(tensor)]
            amount = sum(times * moved([tensor]) for tensor, times in tensors) - kernel.unread
            kernel.work.compulsory, kernel.work.no_reuse, kernel.operands = amount, amount, None
        watching[-1].recorder.kernel_begins(kernel)


def ends() -> None:
    if watching:
        watching[-1].recorder.kernel_ends()


class Watch:
    """Has marks put into the programs that Inductor generates between `start()` and `stop()`."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.problem = ""  #: why a program has no marks
        self._programs = self._seen = self._before = 0
        self._settings = ExitStack()

    def start(self) -> None:
        import torch._dynamo
        import torch._functorch.config
        import torch._inductor.config

        self._seen = self._before = self._compilations()
        try:
            from torch._inductor.codecache import PyCodeCache

            self._settings.enter_context(torch._inductor.config.patch(SETTINGS))
            self._settings.enter_context(torch._functorch.config.patch(enable_autograd_cache=False))
            write = PyCodeCache.__dict__["write"]
            PyCodeCache.write = classmethod(lambda _cls, source, extra="": marked_write(source, extra))
            marked_write = lambda source, extra: write.__func__(PyCodeCache, self._marked(source), extra)  # noqa: E731
            self._settings.callback(setattr, PyCodeCache, "write", write)
        except (AttributeError, ImportError, KeyError) as lack:
            self.problem = f"this version of PyTorch does not say what its kernels compute ({lack})"
        watching.append(self)

    def stop(self) -> None:
        self._settings.close()
        watching.remove(self)

    def _compilations(self) -> int:
        return self._programs + sum(sys.modules["torch._dynamo.utils"].counters["frames"].values())

    def compiled_since(self) -> bool:
        """Whether something was compiled since the last call."""
        before, self._seen = self._seen, self._compilations()
        return self._seen > before

    def remark(self, found: Dict[Any, List[Kernel]]) -> str:
        ran = [kernel for of_layer in found.values() for kernel in of_layer]
        if ran:
            shared = sum(1 for kernel in ran if kernel.others)
            return (f"the model was compiled: {len(ran)} kernels in a step, {shared} of them for several modules; each "
                    "stands with the module of most of its FLOPs, and its layer names the others")
        return "a compiled model is one layer: " + (self.problem or (
            "Inductor did not compile it" if self._seen > self._before
            else "PyTorch compiled nothing, and it ran as it is" if self._seen == 0
            else "it was compiled before the recording began; record its first step to see its layers"))

    def _marked(self, source: str) -> str:
        from torch._inductor.virtualized import V

        lines = source.split("\n")
        if not any(HANDLE.match(line) for line in lines) or not hasattr(V.graph, "module"):
            return source
        self._programs += 1
        if sys.modules["torch._inductor.config"].triton.cudagraphs:
            self.problem = "its kernels run in a CUDA graph"
            return source
        try:
            return "\n".join(with_marks(lines, V.graph.module.graph.nodes))
        except Exception as error:  # what Inductor generates has no stated form
            self.problem = f"its kernels could not be marked ({error!r})"
            return source


def with_marks(lines: List[str], nodes: Any) -> List[str]:
    """The program with a call before and after each kernel."""
    from torch._inductor.debug import _inductor_triton_kernel_to_post_grad_node_info as nodes_of

    by_name = {node.name: (place, node) for place, node in enumerate(nodes)}
    defined = definitions("\n".join(lines))
    called = {node for kernel, names in nodes_of.items() if kernel.rpartition(":")[0] not in defined for node in names}
    marked: List[str] = []
    pending: Optional[Tuple[int, str, Kernel]] = None
    for line in lines:
        handle = HANDLE.match(line)
        call = pending and re.match(r"(?:\w+ = )?" + re.escape(pending[2].name) + r"(?:\.run)?\((.*)\)$", line.strip())
        if handle:
            pending = None
            name = handle.group(2)
            places = sorted(by_name[node] for node in nodes_of.get(f"{name}:{handle.group(3)}", []) if node in by_name)
            if places:
                kernel = kernel_of(name, [node for _, node in places], defined.get(name), called)
                pending = (len(marked) + 1, handle.group(1), kernel)
        marked.append(line)
        if call and pending:
            place, indent, kernel = pending
            operands = f", ({call.group(1)},)" if kernel.operands is not None else ""
            marked.insert(place, f"{indent}roof_marks.begins({len(kernels)}{operands})")
            marked.append(f"{indent}roof_marks.ends()")
            kernels.append(kernel)
            pending = None
    first = next(i for i, line in enumerate(marked) if line.startswith("async_compile = "))
    return [*marked[:first], "from roof import compiled as roof_marks", *marked[first:]]


def definitions(source: str) -> Dict[str, Tuple[str, str]]:
    """Language and text of each generated kernel."""
    parts = re.split(r"^(\w+) = async_compile\.(\w+)\(", source, flags=re.MULTILINE)
    return dict(zip(parts[1::3], zip(parts[2::3], parts[3::3])))


def kernel_of(name: str, nodes: List[Any], definition: Optional[Tuple[str, str]], called: Collection[str]) -> Kernel:
    """`definition`: of a generated kernel; None: an operator of PyTorch. `called`: the nodes of all operators, of which
    a generated kernel only prepares the operands."""
    kernel = Kernel(name)
    modules: Dict[str, float] = {}
    for node in nodes:
        work, module = work_of_node(node), module_of(node)
        if definition is not None and work.contraction_flops and node.name in called:
            continue
        kernel.work += work
        if work.compulsory or len(nodes) == 1:
            modules[module] = modules.get(module, 0.0) + work.flops
        if getattr(node.target, "_overloadpacket", None) and node.target._overloadpacket.__name__ in READ_IN_PART:
            table, out = node.args[0].meta["val"], node.meta["val"]
            kernel.unread += max(0.0, moved([table]) - moved([out]))
    kernel.layer = max(modules, key=lambda module: modules[module], default="")
    kernel.others = [module for module in modules if module not in (kernel.layer, "")]
    if definition is not None:
        language, text = definition
        size, flops = (re.search(rf"'{key}': ([\d.e+-]+)", text) for key in ("kernel_num_gb", "kernel_flop"))
        if flops and float(flops.group(1)):
            kernel.work.contraction_flops = float(flops.group(1))
        kernel.work.compulsory = kernel.work.no_reuse = 1e9 * float(size.group(1)) if size else 0.0
        # what a kernel in C++ reads and writes moves twice, a number never
        if not size and language == "cpp_pybinding":
            signature = re.search(r"\bkernel\((.*?)\)\s*\{", text, flags=re.DOTALL)
            kernel.operands = [0 if "*" not in one else 2 if "in_out_ptr" in one else 1
                               for one in (signature.group(1) if signature else "").split(",")]
    return kernel


def module_of(node: Any) -> str:
    stack = node.meta.get("fwd_nn_module_stack") or node.meta.get("nn_module_stack") or {}
    path = list(stack.values())[-1][0] if stack else ""
    return MODULE.sub("", path).replace("_modules['", "").replace("']", "")


def work_of_node(node: Any) -> Work:
    """From the shapes that the graph's compiler knows."""
    from torch.utils._pytree import tree_map

    def value(one: Any) -> Any:
        return one.meta.get("val") if hasattr(one, "meta") else one

    if not hasattr(node.target, "_schema"):
        return Work()
    try:
        return work_of(node.target, tree_map(value, node.args), tree_map(value, node.kwargs), node.meta.get("val"),
                       False)
    except Exception:  # a size that is not known before the program runs
        return Work(uncounted={str(node.target)})

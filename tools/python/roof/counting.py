"""Modes of PyTorch in which operators are counted as they run, and what an update of parameters moves."""

from typing import Any, Callable, Dict, Optional

from roof.steps import BACKWARD, OPTIMIZER, Key
from roof.work import Work, work_of


def dispatch_mode(run: Callable[[Any, Any, Dict[str, Any]], Any]) -> Any:
    """A mode in which this runs the operators: func, args, kwargs."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return run(func, args, kwargs or {})

    return Mode()


def counting_mode(current: Callable[[], Optional[Key]]) -> Any:
    """A dispatch mode with `work` by key. `current` tells the key of the operator that runs; None is not counted."""
    def run(func: Any, args: Any, kwargs: Dict[str, Any]) -> Any:
        out = func(*args, **kwargs)
        key = current()
        if key is not None:
            try:
                done = work_of(func, args, kwargs, out, key[0] == BACKWARD)
            except Exception:  # of tensors whose extents are no numbers, such as nested ones: training goes on
                done = Work(uncounted={str(func)})
            if key[1] == OPTIMIZER:  # its products are none of the model
                done.contraction_flops = 0.0
            mode.work.setdefault(key, Work()).__iadd__(done)
        return out

    mode = dispatch_mode(run)
    mode.work = {}
    return mode


def bytes_of_update(optimizer: Any) -> float:
    """Each parameter and each state of its size read and written once, each gradient read once."""
    total = 0
    for parameter in (one for group in optimizer.param_groups for one in group["params"] if one.grad is not None):
        states = [state for state in optimizer.state.get(parameter, {}).values()
                  if hasattr(state, "numel") and state.numel() == parameter.numel() and parameter.numel() > 1]
        total += 2 * sum(one.numel() * one.element_size() for one in [parameter, *states])
        total += parameter.grad.numel() * parameter.grad.element_size()
    return float(total)

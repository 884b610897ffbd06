"""Counts the work of every operator that runs, for the part of the step that runs it."""

from typing import Any, Callable, Dict, Optional

from roof.steps import BACKWARD, Key
from roof.work import Work, work_of


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

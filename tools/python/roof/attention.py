"""Attention for runs on shapes: one operator that reads queries, keys and values once, as fused kernels do, and knows
how many pairs of query and key a mask keeps. transformers gets it as an implementation of attention, and of the masks,
whose functions are evaluated for real."""

import sys
from contextlib import contextmanager
from functools import lru_cache
from types import CellType, FunctionType
from typing import Any, Callable, Iterator, Optional

from roof.work import KEPT, pairs_kept

NAME = "roof"
PAIRS_AT_ONCE, MOST_PAIRS = 1 << 24, 1 << 33  #: of a mask that are evaluated


@lru_cache(maxsize=None)
def operator() -> Any:
    import torch
    from torch.library import custom_op

    @custom_op("roof::_scaled_dot_product_kept_attention", mutates_args=())
    def forward(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, kept: float) -> torch.Tensor:
        raise NotImplementedError("it runs on shapes alone")

    @custom_op("roof::_scaled_dot_product_kept_attention_backward", mutates_args=())
    def backward(grad_out: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, out: torch.Tensor,
                 kept: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        raise NotImplementedError("it runs on shapes alone")

    forward.register_fake(lambda query, key, value, kept: query.new_empty(*query.shape[:-1], value.shape[-1]))
    backward.register_fake(lambda grad_out, *given: tuple(map(torch.empty_like, given[:3])))

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[:3], output)
        ctx.kept = inputs[3]

    forward.register_autograd(lambda ctx, gradient: (*backward(gradient, *ctx.saved_tensors, ctx.kept), None),
                              setup_context=keep)
    return forward


def attend(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **given: Any) -> Any:
    """As transformers calls an implementation: [batch, heads, tokens, channels], and fewer heads of keys and values."""
    queries, keys = query.shape[-2], key.shape[-2]
    kept = getattr(attention_mask, KEPT, None)
    if kept is None:
        causal = given.get("is_causal")
        causal = getattr(module, "is_causal", True) if causal is None else causal
        of_band = attention_mask is None and causal and queries > 1
        kept = pairs_kept(queries, keys, None, 0 if of_band else None, keys - queries)
    return operator()(query, key, value, float(kept)).transpose(1, 2).contiguous(), None


def counted_mask(batch_size: int, q_length: int, kv_length: int, q_offset: int = 0, kv_offset: int = 0,
                 mask_function: Optional[Callable[..., Any]] = None, **_given: Any) -> Any:
    """A mask without values, marked with the pairs that it keeps."""
    import torch

    made = torch.empty(batch_size, 1, q_length, kv_length, dtype=torch.bool)
    kept = pairs_of(mask_function, q_length, kv_length, int(q_offset), kv_offset)
    if kept is not None:
        setattr(made, KEPT, kept)
    return made


def pairs_of(function: Any, queries: int, keys: int, q_offset: int, kv_offset: int) -> Optional[int]:
    """Pairs that a function of masks keeps: (sequence, head, query, key) to a truth. None if it reads values."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes
    from transformers.masking_utils import causal_mask_function

    def with_zeros(value: Any) -> Any:  # a function whose fake tensors, such as lengths of padding, are zeros
        if isinstance(value, torch.Tensor):
            return torch.zeros(value.shape, dtype=value.dtype)
        if isinstance(value, tuple):
            return tuple(map(with_zeros, value))
        if isinstance(value, FunctionType) and value.__closure__:
            cells = tuple(CellType(with_zeros(cell.cell_contents)) for cell in value.__closure__)
            return FunctionType(value.__code__, value.__globals__, value.__name__, value.__defaults__, cells)
        return value

    if function is causal_mask_function:
        return pairs_kept(queries, keys, None, 0, q_offset - kv_offset)
    if queries * keys > MOST_PAIRS:
        return None
    with _disable_current_modes():
        try:
            real = with_zeros(function)
            zero, key = torch.zeros(1, 1, 1, 1, dtype=torch.int64), (torch.arange(keys) + kv_offset).view(1, 1, 1, -1)
            kept, rows = 0, max(1, PAIRS_AT_ONCE // max(1, keys))
            for first in range(0, queries, rows):
                query = (torch.arange(first, min(queries, first + rows)) + q_offset).view(1, 1, -1, 1)
                kept += int(torch.count_nonzero(real(zero, zero, query, key).expand(1, 1, query.numel(), keys)))
            return kept
        except (RuntimeError, TypeError, IndexError, AssertionError):
            return None


@contextmanager
def within_transformers() -> Iterator[None]:
    """Lets models of transformers, where it is loaded, make masks that are counted, as long as this lasts."""
    if "transformers" not in sys.modules:
        yield
        return
    from transformers import masking_utils
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    masks, packed = masking_utils.ALL_MASK_ATTENTION_FUNCTIONS, masking_utils.find_packed_sequence_indices
    ALL_ATTENTION_FUNCTIONS.register(NAME, attend)
    masks.register(NAME, counted_mask)
    masks["sdpa"] = counted_mask
    # sequences are whole; positions have no values
    masking_utils.find_packed_sequence_indices = lambda position_ids: None
    try:
        yield
    finally:
        del masks["sdpa"]
        masking_utils.find_packed_sequence_indices = packed


def implementation_of(model_class: Any) -> str:
    if model_class._can_set_attn_implementation():
        return NAME
    return "sdpa" if model_class._supports_sdpa else "eager"

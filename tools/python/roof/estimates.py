"""Medians with distribution-free 95% intervals, as roof computes them (ert/base/estimate.hpp)."""

import statistics
from typing import Dict, NamedTuple, Sequence, Union


class Estimate(NamedTuple):
    """A median and its interval, in the unit of the values."""

    median: float
    low: float
    high: float
    samples: int


def interval_indices(count: int) -> tuple[int, int]:
    """Indices into sorted data of the order statistics that enclose the median with at least 95% probability.

    Fewer than six values have no such pair; then these are the smallest and the largest."""
    k, term, below = 0, 1, 1  # below: ways in which at most k of the values lie below the median
    while 40 * below <= 2**count:
        term = term * (count - k) // (k + 1)
        below += term
        k += 1
    return (0, count - 1) if k == 0 else (k - 1, count - k)


def estimate(values: Sequence[float]) -> Estimate:
    """The estimate of at least one value."""
    ordered = sorted(values)
    low, high = interval_indices(len(ordered))
    return Estimate(statistics.median(ordered), ordered[low], ordered[high], len(ordered))


def columns(name: str, seconds: Sequence[float]) -> Dict[str, Union[str, float]]:
    """The three columns of a time in a results folder; empty cells where none is known."""
    values = estimate(seconds)[:3] if seconds else ("", "", "")
    return dict(zip((f"{name}_{end}_s" for end in ("median", "low", "high")), values))

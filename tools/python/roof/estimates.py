"""Medians with distribution-free 95% intervals, as roof computes them (ert/base/estimate.hpp)."""

import math
from typing import NamedTuple, Sequence


class Estimate(NamedTuple):
    """A median and its interval, in the unit of the values."""

    median: float
    low: float
    high: float
    samples: int


def interval_indices(count: int) -> tuple[int, int]:
    """Indices into sorted data of the order statistics that enclose the median with at least 95% probability.

    Fewer than six values have no such pair; then these are the smallest and the largest.
    """
    below = 0.0
    k = 0
    while k <= count // 2:
        term = math.exp(math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) - count * math.log(2))
        if below + term > 0.025:
            break
        below += term
        k += 1
    return (0, count - 1) if k == 0 else (k - 1, count - k)


def estimate(values: Sequence[float]) -> Estimate:
    """The estimate of at least one value."""
    ordered = sorted(values)
    count = len(ordered)
    low, high = interval_indices(count)
    middle = count // 2
    median = ordered[middle] if count % 2 else 0.5 * (ordered[middle - 1] + ordered[middle])
    return Estimate(median, ordered[low], ordered[high], count)

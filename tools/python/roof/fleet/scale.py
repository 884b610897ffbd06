"""Middle and scatter of rates, which a quarter of far values does not move; two populations; lists of findings (docs/fleet.md).

All rates are natural logarithms, so a difference of 0.03 is about 3%."""

import math
from functools import lru_cache
from typing import NamedTuple, Optional, Tuple

import numpy as np
from scipy.special import digamma, ndtr, polygamma, stdtrit

#: The share by which a machine must be slower than the others for it to matter, of one rate and of the mean of a kind.
MATERIAL, MATERIAL_MEAN = math.log1p(-0.03), math.log1p(-0.015)
#: The chance of error of each list, after correction for all of it. Half of the 5% that a fleet is promised: real scatter is not quite normal.
ERROR = 0.025
#: A deviation of more standard deviations counts as this many.
WINSORIZED = 1.75
FEWEST_COMPARED, FEWEST_DRAINED = 6, 12  #: nodes
ROUNDING = 1e-10  #: the variance of rates that have five digits
FOUND = 1.645  #: 95%, one side


def winsorized_square(reach):
    """The mean square of a standard normal number whose deviations count as at most `reach` times 1.75."""
    c = WINSORIZED * np.asarray(reach)
    beyond = ndtr(-c)
    return 1 - 2 * (c * np.exp(-0.5 * c * c) / math.sqrt(2 * math.pi) + beyond) + 2 * c * c * beyond


SQUARE = float(winsorized_square(1))
WITHIN = 1 - 2 * float(ndtr(-WINSORIZED))


_FACTORS = np.concatenate(([1.96] * 3, stdtrit(np.arange(2, 31), 0.9875)))


def errors_in_half_width(rounds) -> np.ndarray:
    """Half the width of an interval in standard errors: Student's 98.75% over so many rounds, 1.96 for fewer than three or unknown ones."""
    return _FACTORS[np.clip(np.nan_to_num(rounds), 0, 31).astype(int)]


def exp(x: float) -> float:
    """Of what a digest may hold: rates may differ by more than a number can."""
    return math.exp(max(-740.0, min(float(x), 709.0)))


class Scale(NamedTuple):
    """Median, Huber's variance and Huber's mean in one step from the median; a number or an array each.

    The variance v has the mean of min((x - median)², 1.75² v) that a normal scatter has. Its error is half that of 1.4826 MAD squared."""

    median: np.ndarray
    variance: np.ndarray
    middle: np.ndarray


def scale(rows) -> Scale:
    """Of each row of the last axis. An empty row has zeros."""
    rows = np.asarray(rows, dtype=float)
    n = rows.shape[-1]
    if n == 0:
        return Scale(*(np.zeros(rows.shape[:-1]) for _ in range(3)))
    median = np.median(rows, axis=-1)
    squares = (rows - median[..., None]) ** 2
    within, variance = np.ones(rows.shape, dtype=bool), np.zeros(median.shape)
    for _ in range(100):  # Newton's method from above: few steps, because the mean is concave and linear in pieces
        variance = (squares * within).sum(-1) / (n * SQUARE - WINSORIZED**2 * (n - within.sum(-1)))
        now = squares <= (WINSORIZED**2 * variance)[..., None]
        if (now == within).all():
            break
        within = now
    reach = WINSORIZED * np.sqrt(variance)[..., None]
    middle = median + np.clip(rows - median[..., None], -reach, reach).sum(-1) / (n * WITHIN)
    return Scale(median, variance, middle)


def scales_without_each(values: np.ndarray) -> Scale:
    """Of all other values, for each of the ascending `values`, relative to the median of all."""
    n, k = len(values), np.arange(len(values))
    v = values - np.median(values)
    sums, squares = (np.concatenate(([0.0], np.cumsum(power))) for power in (v, v * v))
    first, second = (n - 2) // 2, (n - 1) // 2
    median = 0.5 * (v[np.where(first < k, first, first + 1)] + v[np.where(second < k, second, second + 1)]) if n > 1 else np.zeros(n)
    reach = WINSORIZED * math.sqrt(scale(v).variance)  # of all; those without one end near
    low, high = np.full(n, np.searchsorted(v, -reach, "left")), np.full(n, np.searchsorted(v, reach, "right"))
    variance, middle = np.zeros(n), median.copy()
    left = k if n > 1 else k[:0]  # those that have not converged
    for _ in range(100):
        d, l, h = median[left], low[left], high[left]
        inside = (l <= left) & (left < h)
        own = np.where(inside, v[left] - d, 0)
        within, total = h - l, sums[h] - sums[l]
        square = squares[h] - squares[l] - 2 * d * total + within * d * d - own**2
        beyond = n - 1 - within + inside
        variance[left] = np.maximum(0, square) / ((n - 1) * SQUARE - WINSORIZED**2 * beyond)
        reach = WINSORIZED * np.sqrt(variance[left])
        low[left], high[left] = np.searchsorted(v, d - reach, "left"), np.searchsorted(v, d + reach, "right")
        above, under = n - h - (left >= h), l - (left < l)
        middle[left] = d + (total - within * d - own + reach * (above - under)) / ((n - 1) * WITHIN)
        left = left[(low[left] != l) | (high[left] != h)]
        if not len(left):
            break
    return Scale(median, variance, middle)


class Group:
    """The rates of one quantity on the machines of a group: `x`, and `variance` by their own intervals.

    The distance of a machine is z = (x - m) / sqrt(max(v, usual) + max(0, s² - usual)): m is the middle of the other machines, v their variance or
    what `pooled` makes of it, s² the machine's own variance, `usual` its median. An interval that is narrow by luck does not make a machine look
    certain."""

    def __init__(self, x: np.ndarray, variance: np.ndarray):
        self.x, self.own_variance = np.asarray(x, dtype=float), np.asarray(variance, dtype=float) + ROUNDING
        self.size = len(self.x)
        self.order = np.argsort(self.x, kind="stable")
        self.usual_variance = float(np.median(self.own_variance)) if self.size else 0.0
        self.median, self.own_scatter, _ = (float(part) for part in scale(self.x))
        self.others = Scale(*(np.empty(self.size) for _ in range(3)))
        if self.size:
            for all_, sorted_ in zip(self.others, scales_without_each(self.x[self.order])):
                all_[self.order] = sorted_
        self.variance = max(self.own_scatter, self.usual_variance)
        self.scatter = math.sqrt(max(0.0, self.own_scatter - self.usual_variance))

    def least_variance(self) -> float:
        """The smallest variance without one machine: one that is far off does not count."""
        return max(float(self.others.variance.min()), self.usual_variance)

    def medians_without(self) -> np.ndarray:
        return self.median + self.others.median

    def distance(self, x, variance, i, pooled: "Pooled", freedom: float) -> np.ndarray:
        """Of rates that may be others of the machines `i`. `freedom`: of the group's own variance."""
        v = self.others.variance[i]
        if pooled.freedom > 0:
            v = (pooled.freedom * pooled.variance + freedom * v) / (pooled.freedom + freedom)
        own = np.maximum(v, self.usual_variance) + np.maximum(0, variance - self.usual_variance)
        return (x - self.median - self.others.middle[i]) / np.sqrt(own)

    def upper_population(self, chance: float, least: float = -MATERIAL) -> int:
        """The first place of the upper of two populations in `order`; 0 if the machines do not form two.

        A tenth of the machines and three are in each. Their medians differ by `least` and four standard deviations, and the cut explains more of the
        variance than that of a normal scatter does with this chance."""
        n, v = self.size, self.x[self.order]
        if n < FEWEST_DRAINED or v[-1] - v[0] < least:
            return 0
        share, cut = best_cut(v)
        if share <= 2 / math.pi:  # of a normal scatter that is cut at its mean
            return 0
        # Where fewer machines than a tenth are far off, the middle between the medians shows it.
        cut = int(np.searchsorted(v, 0.5 * (np.median(v[:cut]) + np.median(v[cut:]))))
        if min(cut, n - cut) < fewest_of(n):
            return 0
        low, high = scale(v[:cut]), scale(v[cut:])
        apart = high.median - low.median
        if apart < least or apart**2 < 4**2 * 0.5 * (low.variance + high.variance) or share <= share_by_chance(min(n, 1000), chance):
            return 0
        return cut


def fewest_of(n: int) -> int:
    """Machines of a population."""
    return max(3, (n + 9) // 10)


def best_cut(rows: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """The share of the variance between the two parts of ascending rows at their best cut, and the first place of the upper part."""
    n, least = rows.shape[-1], fewest_of(rows.shape[-1])
    d = rows - rows.mean(-1, keepdims=True)
    lower = np.arange(1, n)
    between = np.cumsum(d, axis=-1)[..., :-1] ** 2 * n / (lower * (n - lower))
    between[..., (lower < least) | (n - lower < least)] = 0
    best, whole = between.argmax(-1), (d * d).sum(-1)
    most = np.take_along_axis(between, best[..., None], -1)[..., 0]
    return np.divide(most, whole, out=np.zeros_like(whole), where=whole > 0), best + 1


@lru_cache(maxsize=None)
def share_by_chance(n: int, chance: float) -> float:
    """The share that best_cut() exceeds in one of 1 / `chance` normal groups."""
    groups = 2000
    shares = np.sort(best_cut(np.sort(np.random.default_rng(n).standard_normal((groups, n)), axis=-1))[0])
    return float(shares[groups - 1 - min(int(chance * groups), groups - 1)])


class Pooled(NamedTuple):
    """What the scatter of other quantities says about that of one: as much as `freedom` degrees of freedom of the variance `variance`."""

    variance: float = 0.0
    freedom: float = 0.0  #: 0: nothing
    certainty: float = 0.0  #: degrees of freedom of `variance` itself


def inverse_trigamma(y: float) -> float:
    """Between 1e-3 and 1e6."""
    low, high = 1e-3, 1e6
    for _ in range(80):
        x = math.sqrt(low * high)
        low, high = (x, high) if polygamma(1, x) > y else (low, x)
    return low


def pooled_scatter(variances, mean_logs, freedoms, independent: float) -> Pooled:
    """By Smyth's estimate (2004) of how much variances differ; nothing from fewer than four.

    `mean_logs`, `freedoms`: what simulated groups of so many say about the error of each variance. Quantities that go together count as fewer
    `independent` ones."""
    if len(variances) < 4:
        return Pooled()
    logs = np.log(variances) - np.asarray(mean_logs)
    # the scatter of the logarithms if all variances were equal
    expected = polygamma(1, np.asarray(freedoms) / 2).mean()
    own = np.array([2e-4, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])  # the difference of the variances may be
    before = np.array([0.995] + [0.005 / 7] * 7)  # nearly all fleets have none
    likelihood = -0.5 * max(1.0, independent - 1) * (np.log(expected + own) + logs.var(ddof=1) / (expected + own))
    weights = before * np.exp(likelihood - likelihood.max())
    freedom = 2 * inverse_trigamma(float((weights * own).sum() / weights.sum()))
    variance = math.exp(logs.mean() + digamma(freedom / 2) - math.log(freedom / 2))
    return Pooled(variance, freedom, max(1.0, independent - 1) * float(np.mean(freedoms)))


def holm(chances, tests: Optional[int] = None, error: float = ERROR) -> np.ndarray:
    """Which hypotheses to reject so that the chance of any false rejection is `error`. `tests`: with those that have chance 1."""
    chances = np.asarray(chances, dtype=float)
    order = np.argsort(chances, kind="stable")
    left = (len(chances) if tests is None else tests) - np.arange(len(chances))
    rejected = np.empty(len(chances), dtype=bool)
    rejected[order] = np.logical_and.accumulate(chances[order] * left <= error)
    return rejected


def benjamini_hochberg(chances, tests: int, error: float = ERROR) -> np.ndarray:
    """Which hypotheses to reject so that the share of false ones among the rejected is `error`."""
    chances = np.asarray(chances, dtype=float)
    order = np.argsort(chances, kind="stable")
    passed = np.flatnonzero(chances[order] * tests <= error * np.arange(1, len(chances) + 1))
    rejected = np.zeros(len(chances), dtype=bool)
    rejected[order[: passed[-1] + 1 if len(passed) else 0]] = True
    return rejected


def ranks_of(values: np.ndarray) -> np.ndarray:
    """From 1; equal values share their mean rank."""
    _, place, number = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(number) - (number - 1) / 2)[place]


def chance_of_difference(ranks: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Mann and Whitney's test, normal, for each code: the chance that its values differ this much from all others, up or down.

    `ranks`: of all values; `codes`: from 0. 1 for fewer than three values on either side."""
    n, a, sums = len(ranks), np.bincount(codes), np.bincount(codes, weights=ranks)
    if n < 2:
        return np.ones(len(a))
    variance = a * (n - a) / (n * (n - 1)) * ((ranks - (n + 1) / 2) ** 2).sum()  # smaller with ties
    off = np.maximum(0, np.abs(sums - a * (n + 1) / 2) - 0.5)
    told = (np.minimum(a, n - a) >= 3) & (variance > 0)
    return np.where(told, np.minimum(1, 2 * ndtr(-off / np.sqrt(np.where(told, variance, 1)))), 1.0)

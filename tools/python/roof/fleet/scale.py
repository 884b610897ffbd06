"""Middle and scatter of rates, which a quarter of far values does not move; two populations; lists of findings.

All rates are natural logarithms, so a difference of 0.03 is about 3%. docs/fleet_method.md has the sources."""

import math
from collections import namedtuple
from functools import lru_cache
from typing import Optional, Tuple

import numpy as np
import pandas as pd
from scipy.special import digamma, ndtr, polygamma, stdtrit

#: The share by which a machine must be slower than the others for it to matter, of one rate and of the mean of a kind.
MATERIAL, MATERIAL_MEAN = math.log1p(-0.03), math.log1p(-0.015)
#: The chance of error of each list, after correction for all of it. Half of the 5% that a fleet is promised: real
#: scatter is not quite normal.
ERROR = 0.025
WINSORIZED = 1.75  #: a deviation of more standard deviations counts as this many
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
    """Half an interval in standard errors: Student's 98.75% over so many rounds; 1.96 for fewer than 3 or unknown."""
    return _FACTORS[np.clip(np.nan_to_num(rounds), 0, 31).astype(int)]


def exp(x: float) -> float:
    """Of what a digest may hold: rates may differ by more than a number can."""
    return math.exp(max(-740.0, min(float(x), 709.0)))


#: Median, Huber's variance and Huber's mean in one step from the median; a number or an array each. The variance v has
#: the mean of min((x - median)², 1.75² v) of a normal scatter; its error is half of the MAD's.
Scale = namedtuple("Scale", "median variance middle")
#: What the scatter of other quantities says about one: as much as `freedom` degrees of freedom of `variance`, which has
#: itself `certainty` degrees. Nothing: 0.
Pooled = namedtuple("Pooled", "variance freedom certainty", defaults=(0.0, 0.0, 0.0))


def scale(rows) -> Scale:
    """Of each row of the last axis. An empty row has zeros."""
    rows = np.asarray(rows, dtype=float)
    n = rows.shape[-1]
    if n == 0:
        return Scale(*np.zeros((3, *rows.shape[:-1])))
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
    return Scale(median, variance, median + np.clip(rows - median[..., None], -reach, reach).sum(-1) / (n * WITHIN))


def scales_without_each(values: np.ndarray) -> Scale:
    """Of all other values, for each of the ascending `values`, relative to the median of all."""
    n, k = len(values), np.arange(len(values))
    v = values - np.median(values)
    sums, squares = (np.concatenate(([0.0], np.cumsum(power))) for power in (v, v * v))
    first, second = (n - 2) // 2, (n - 1) // 2
    median = np.zeros(n)
    if n > 1:
        median = 0.5 * (v[np.where(first < k, first, first + 1)] + v[np.where(second < k, second, second + 1)])
    reach = WINSORIZED * math.sqrt(scale(v).variance)  # of all; those without one end near
    low, high = (np.full(n, np.searchsorted(v, end, side)) for end, side in ((-reach, "left"), (reach, "right")))
    variance, middle = np.zeros(n), median.copy()
    left = k if n > 1 else k[:0]  # those that have not converged
    for _ in range(100):
        d, l, h = median[left], low[left], high[left]
        inside = (l <= left) & (left < h)
        own = np.where(inside, v[left] - d, 0)
        within, total = h - l, sums[h] - sums[l]
        square = squares[h] - squares[l] - 2 * d * total + within * d * d - own**2
        variance[left] = np.maximum(0, square) / ((n - 1) * SQUARE - WINSORIZED**2 * (n - 1 - within + inside))
        reach = WINSORIZED * np.sqrt(variance[left])
        low[left], high[left] = np.searchsorted(v, d - reach, "left"), np.searchsorted(v, d + reach, "right")
        beyond = n - h - (left >= h) - (l - (left < l))  # above, less below
        middle[left] = d + (total - within * d - own + reach * beyond) / ((n - 1) * WITHIN)
        left = left[(low[left] != l) | (high[left] != h)]
        if not len(left):
            break
    return Scale(median, variance, middle)


class Group:
    """Rates of one quantity on equal machines, which are compared with each other: `x`, and their variances by their
    own intervals.

    The distance of a machine is z = (x - m) / sqrt(max(v, usual) + max(0, s² - usual)): m is the middle of the other
    machines, v their variance or what `pooled` makes of it, s² the machine's own variance, `usual` its median. An
    interval that is narrow by luck does not make a machine look certain."""

    pooled, freedom = Pooled(), 0.0  #: of the group's own variance

    def __init__(self, x: np.ndarray, variance: np.ndarray):
        self.x, self.own_variance = np.asarray(x, dtype=float), np.asarray(variance, dtype=float) + ROUNDING
        self.size = len(self.x)
        self.order = np.argsort(self.x, kind="stable")
        self.usual_variance = float(np.median(self.own_variance)) if self.size else 0.0
        self.median, self.own_scatter, _ = map(float, scale(self.x))
        self.others = Scale(*np.empty((3, self.size)))
        if self.size:
            for all_, sorted_ in zip(self.others, scales_without_each(self.x[self.order])):
                all_[self.order] = sorted_
        self.medians_without = self.median + self.others.median
        self.variance = max(self.own_scatter, self.usual_variance)
        self.scatter = math.sqrt(max(0.0, self.own_scatter - self.usual_variance))

    def pooled_variance(self, own):
        """`own` and what the other quantities say."""
        known = self.pooled.freedom
        return (known * self.pooled.variance + self.freedom * own) / (known + self.freedom) if known > 0 else own

    def distance(self, x=None, variance=None, i=slice(None)) -> np.ndarray:
        """Of all machines; or of rates that may be others of the machines `i`."""
        x, variance = (self.x, self.own_variance) if x is None else (x, variance)
        v = self.pooled_variance(self.others.variance[i])
        own = np.maximum(v, self.usual_variance) + np.maximum(0, variance - self.usual_variance)
        return (x - self.median - self.others.middle[i]) / np.sqrt(own)

    def upper_population(self, chance: float, least: float = -MATERIAL) -> int:
        """The first place of the upper of two populations in `order`; 0 if the machines do not form two.

        A tenth of the machines and three are in each. Their medians differ by `least` and four standard deviations,
        and the cut explains more of the variance than that of a normal scatter does with this chance."""
        n, v = self.size, self.x[self.order]
        if n < FEWEST_DRAINED or v[-1] - v[0] < least:
            return 0
        share, cut = best_cut(v)
        if share <= 2 / math.pi:  # of a normal scatter that is cut at its mean
            return 0
        # Where fewer machines than a tenth are far off, the middle between the medians shows it.
        cut = int(np.searchsorted(v, 0.5 * (np.median(v[:cut]) + np.median(v[cut:]))))
        low, high = scale(v[:cut]), scale(v[cut:])
        apart = high.median - low.median
        is_far = apart >= least and apart**2 >= 4**2 * 0.5 * (low.variance + high.variance)
        is_far = is_far and min(cut, n - cut) >= fewest_of(n)
        return cut if is_far and share > share_by_chance(min(n, 1000), chance) else 0


def fewest_of(n: int) -> int:
    """Machines of a population."""
    return max(3, (n + 9) // 10)


def best_cut(rows: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """The share of the variance between both parts of ascending rows at their best cut, and where the upper begins."""
    n, least = rows.shape[-1], fewest_of(rows.shape[-1])
    d, lower = rows - rows.mean(-1, keepdims=True), np.arange(1, n)
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


def inverse_trigamma(y: float) -> float:
    """Between 1e-3 and 1e6."""
    low, high = 1e-3, 1e6
    for _ in range(80):
        x = math.sqrt(low * high)
        low, high = (x, high) if polygamma(1, x) > y else (low, x)
    return low


def pooled_scatter(variances, mean_logs, freedoms, independent: float) -> Pooled:
    """By Smyth's estimate (2004) of how much variances differ; nothing from fewer than four.

    `mean_logs`, `freedoms`: what simulated groups of so many say about the error of each variance. Quantities that go
    together count as fewer `independent` ones."""
    if len(variances) < 4:
        return Pooled()
    logs = np.log(variances) - np.asarray(mean_logs)
    expected = polygamma(1, np.asarray(freedoms) / 2).mean()  # of the logarithms' scatter if all variances were equal
    own = np.array([2e-4, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])  # the difference of the variances may be
    before = np.array([0.995] + [0.005 / 7] * 7)  # nearly all fleets have none
    count = max(1.0, independent - 1)
    likelihood = -0.5 * count * (np.log(expected + own) + logs.var(ddof=1) / (expected + own))
    weights = before * np.exp(likelihood - likelihood.max())
    freedom = 2 * inverse_trigamma(float((weights * own).sum() / weights.sum()))
    variance = math.exp(logs.mean() + digamma(freedom / 2) - math.log(freedom / 2))
    return Pooled(variance, freedom, count * float(np.mean(freedoms)))


def holm(chances, tests: Optional[int] = None, error: float = ERROR) -> np.ndarray:
    """Which to reject so that the chance of any false rejection is `error`. `tests`: with those of chance 1."""
    ranks = pd.Series(chances, dtype=float).rank(method="first").to_numpy()
    fails = np.asarray(chances) * ((len(ranks) if tests is None else tests) - ranks + 1) > error
    return ranks < np.min(ranks[fails], initial=np.inf)


def benjamini_hochberg(chances, tests: int, error: float = ERROR) -> np.ndarray:
    """Which hypotheses to reject so that the share of false ones among the rejected is `error`."""
    ranks = pd.Series(chances, dtype=float).rank(method="first").to_numpy()
    return ranks <= np.max(ranks[np.asarray(chances) * tests <= error * ranks], initial=0)


def chance_of_difference(ranks: np.ndarray, codes: np.ndarray, number: int = 0) -> np.ndarray:
    """Mann and Whitney's test, normal, for each code: the chance that its values differ this much from all others.

    `ranks`: of all values, from 1; `codes`: from 0, at least `number` of them. 1 for fewer than 3 values on a side."""
    n, a, sums = len(ranks), *(np.bincount(codes, weights, number) for weights in (None, ranks))
    if n < 2:
        return np.ones(len(a))
    variance = a * (n - a) / (n * (n - 1)) * ((ranks - (n + 1) / 2) ** 2).sum()  # smaller with ties
    off = np.maximum(0, np.abs(sums - a * (n + 1) / 2) - 0.5)
    told = (np.minimum(a, n - a) >= 3) & (variance > 0)
    return np.where(told, np.minimum(1, 2 * ndtr(-off / np.sqrt(np.where(told, variance, 1)))), 1.0)

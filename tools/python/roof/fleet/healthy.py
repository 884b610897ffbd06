"""How far a healthy machine lies from the others by chance, whose middle and scatter are uncertain themselves.

By simulation: no cut-off comes from a textbook. Long tails are a mixture, weighted by what the fleet shows."""

import math
from functools import lru_cache
from typing import Tuple

import numpy as np
from scipy.special import ndtr

from roof.fleet.scale import SQUARE, Pooled, inverse_trigamma, scale, winsorized_square

#: Forms of scatter, after the normal one: Student's of these degrees of freedom, and normal scatter of which a share of
#: the values scatters by several times as much.
DEGREES = np.array([20, 10, 6, 4.5, 3.5, 2.75, 2.25])
SHARES = ((0.01, 4), (0.01, 10), (0.05, 4), (0.05, 10))
FORMS = 1 + len(DEGREES) + len(SHARES)
NORMAL = np.eye(FORMS)[0]
#: The weight of each form before a fleet shows its tails. Student's: each by one over its degrees.
BEFORE = np.concatenate(([0.5], 0.45 / DEGREES / (1 / DEGREES).sum(), np.full(len(SHARES), 0.05 / len(SHARES))))
#: Distances of the tables: evenly up to 12, then in steps of a tenth up to 1e4.
PLACES = np.concatenate((np.arange(120) * 0.1, 12 * 1.1 ** np.arange(math.ceil(math.log(1e4 / 12) / math.log(1.1)))))
#: The ends of bins of distances: of equal width, then widening.
BINS = np.concatenate((np.arange(33) * 0.25, 8 * 1.08 ** np.arange(1, 91)))
LOWEST = -700.0
SLOW = (3.0, 1e4)  #: the logarithm of a slow machine's distance lies evenly between those of these
MOST_SIMULATED = 1000  #: more machines make the estimates only more certain


def _mixture(deviations, weights) -> Tuple[np.ndarray, np.ndarray]:
    """Normal distributions; their deviations in that which Huber's variance of the mixture shows."""
    deviations, weights = np.array(deviations, float), np.array(weights, float)
    low, high = 0.0, 100.0
    for _ in range(60):
        v = 0.5 * (low + high)
        is_above = (weights * winsorized_square(math.sqrt(v) / deviations) * deviations**2).sum() > SQUARE * v
        low, high = (v, high) if is_above else (low, v)
    return deviations / math.sqrt(low), weights


def _student(degrees: float) -> Tuple[np.ndarray, np.ndarray]:
    u = np.arange(-3, 12, 0.05)  # ln of the deviation: degrees / deviation² is chi-squared
    chi2 = degrees * np.exp(-2 * u)
    weights = np.exp(0.5 * (degrees * np.log(chi2 / degrees) + degrees - chi2))
    kept = weights >= 1e-16
    return _mixture(np.exp(u[kept]), weights[kept] / weights[kept].sum())


MIXTURES = [_student(one) for one in DEGREES] + [_mixture([1, times], [1 - share, share]) for share, times in SHARES]


class SimulatedGroups:
    """Middles and variances of simulated groups of n - 1 machines of unit scatter, the same in every run."""

    def __init__(self, n: int):
        self.n = min(n, MOST_SIMULATED)
        groups = int(np.clip(400_000 // self.n, 400, 5000))
        _, self.variance, self.middle = scale(np.random.default_rng(self.n).standard_normal((groups, self.n - 1)))
        logs = np.log(self.variance)
        self.mean_log = float(logs.mean())
        # of a variance with the same scatter of its logarithm
        self.freedom = 2 * inverse_trigamma(max(1e-6, float(logs.var())))
        self.largest = float(np.sort(self.variance)[groups - 1 - groups // 100])  # 99% are smaller


class Healthy:
    """The distances z of healthy machines from the middle of the n - 1 others, in standard deviations as estimated."""

    def __init__(self, groups: SimulatedGroups, pooled: Pooled):
        variance = groups.variance
        if pooled.freedom > 0:
            chance = np.random.default_rng(1)
            own, error = (chance.gamma(f / 2, 2 / f, len(variance)) if f > 0 else 1.0 for f in pooled[1:])
            known = pooled.freedom * error / (1 / own)
            variance = (known + groups.freedom * variance) / (pooled.freedom + groups.freedom)
        beyond = ndtr(groups.middle - PLACES[:, None] * np.sqrt(variance)).mean(-1)
        with np.errstate(divide="ignore"):
            normal = np.maximum(LOWEST, np.log(beyond))
            others = [np.exp(np.interp(PLACES[:, None] / d, PLACES, normal)) @ weights for d, weights in MIXTURES]
            self.logs = np.stack((normal, *np.maximum(LOWEST, np.log(others))))
        # ln of the chances of each bin: of a healthy machine, and of one of which few or many quantities are slow
        beyond = np.array([np.exp(np.interp(BINS, PLACES, logs)) for logs in self.logs]).T
        beyond[0] = 0.5
        chances = np.maximum(1e-300, beyond[:-1] - beyond[1:])
        slow = (np.diff(np.log(np.clip(BINS, *SLOW))) / math.log(SLOW[1] / SLOW[0]))[:, None]
        self.likelihood = np.log([chances] + [(1 - share) * chances + share * slow for share in (1 / 30, 1 / 3)])

    def chance(self, z, tails: np.ndarray = NORMAL) -> np.ndarray:
        """That a healthy machine lies at `z` or lower; 0.5 for z above 0. `tails`: the weights of the forms."""
        z = np.asarray(z, dtype=float)
        beyond = np.stack([np.exp(np.interp(-z, PLACES, logs)) for logs in self.logs], axis=-1)
        return np.where(z >= 0, 0.5, np.minimum(0.5, (beyond * tails).sum(-1)))

    def distance(self, wanted: float, tails: np.ndarray = NORMAL) -> float:
        """The z, below 0, whose chance this is."""
        logs = np.log(np.maximum(math.exp(LOWEST), tails @ np.exp(self.logs)))
        return -float(np.interp(-math.log(wanted), -logs, PLACES))


_groups, _healthy = lru_cache(maxsize=None)(SimulatedGroups), lru_cache(maxsize=None)(Healthy)


def simulated(n: int) -> SimulatedGroups:
    """Sizes above 32 that differ by less than a tenth share one."""
    rounded = 32.0
    while n >= rounded * 1.1 and rounded < MOST_SIMULATED:
        rounded *= 1.1
    return _groups(n if n <= 32 else int(rounded))


def healthy(n: int, pooled: Pooled = Pooled()) -> Healthy:
    """The table of n machines, made once in a process. Degrees of freedom that differ by little share one."""
    step = 0.25  # of ln
    rounded = (math.exp(math.floor(math.log(f) / step) * step) if f > 0 else 0.0 for f in pooled[1:])
    return _healthy(simulated(n), Pooled(1, *rounded))


class TailCounts:
    """Weighs the forms of scatter by the distances of all members of a group, for each member without its own low ones.

    Nothing makes a machine faster, so what lies high is healthy. What lies low is scatter too, unless its member is
    slow, which is one of twenty beforehand: several low rates of one member are a slow machine sooner than long tails;
    single ones of many members are long tails."""

    def __init__(self, members: int):
        self.upper = np.zeros(FORMS)
        self.lower = np.zeros((3, members, FORMS))

    def add(self, members: np.ndarray, z: np.ndarray, table: Healthy) -> None:
        """Distances of members from the middle of the others."""
        at = np.minimum(np.searchsorted(BINS, np.abs(z), "right") - 1, len(BINS) - 2)
        low, n = z <= 0, self.lower.shape[1]
        self.upper += table.likelihood[0][at[~low]].sum(0)
        sums = [[np.bincount(members[low], of, n) for of in part.T] for part in table.likelihood[:, at[low]]]
        self.lower += np.swapaxes(sums, 1, 2)

    def weights(self, before: np.ndarray) -> np.ndarray:
        """[member, form]. `before`: the same without any count."""
        slow = 0.05
        own = np.logaddexp.reduce(self.lower + np.log([1 - slow, slow / 2, slow / 2])[:, None, None], axis=0)
        others = own.sum(0) + self.upper - own
        weights = before * np.exp(others - others.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)

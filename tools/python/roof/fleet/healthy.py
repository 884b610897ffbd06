"""How far from the others a healthy machine lies by chance, when middle and scatter are those of the others and so uncertain themselves.

By simulation: no cut-off comes from a textbook. Scatter with long tails is a mixture, weighted by what the distances of the fleet show."""

import math
from typing import Dict, Tuple

import numpy as np
from scipy.special import ndtr

from roof.fleet.scale import SQUARE, Pooled, inverse_trigamma, scale, winsorized_square

#: Forms of scatter, after the normal one: Student's of these degrees of freedom, and normal scatter of which a share of the values scatters by
#: several times as much.
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
#: The logarithm of a slow machine's distance lies evenly between those of these.
SLOW = (3.0, 1e4)
MOST_SIMULATED = 1000  #: more machines make the estimates only more certain


def _mixture(deviations, weights) -> Tuple[np.ndarray, np.ndarray]:
    """Normal distributions; their deviations in that which Huber's variance of the mixture shows."""
    deviations, weights = np.asarray(deviations, dtype=float), np.asarray(weights, dtype=float)
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


MIXTURES = [_student(degrees) for degrees in DEGREES] + [_mixture([1, times], [1 - share, share]) for share, times in SHARES]


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
    """The distances z of healthy machines from the middle of the n - 1 others, in standard deviations as they are estimated."""

    def __init__(self, groups: SimulatedGroups, pooled: Pooled):
        variance = groups.variance
        if pooled.freedom > 0:
            chance = np.random.default_rng(1)

            def shares(freedom):
                return chance.gamma(freedom / 2, 2 / freedom, len(variance)) if freedom > 0 else 1.0

            own = 1 / shares(pooled.freedom)
            variance = (pooled.freedom * shares(pooled.certainty) / own + groups.freedom * variance) / (pooled.freedom + groups.freedom)
        normal = ndtr(groups.middle - PLACES[:, None] * np.sqrt(variance)).mean(-1)
        with np.errstate(divide="ignore"):
            self.logs = np.empty((FORMS, len(PLACES)))
            self.logs[0] = np.maximum(LOWEST, np.log(normal))
            for form, (deviations, weights) in enumerate(MIXTURES, 1):
                beyond = np.exp(np.interp(PLACES[:, None] / deviations, PLACES, self.logs[0])) @ weights
                self.logs[form] = np.maximum(LOWEST, np.log(beyond))
        # The logarithms of the chances of each bin: of a healthy machine, and of one of which few or many quantities are slow.
        beyond = np.array([np.exp(np.interp(BINS, PLACES, logs)) for logs in self.logs]).T
        beyond[0] = 0.5
        chances = np.maximum(1e-300, beyond[:-1] - beyond[1:])
        slow = (np.diff(np.log(np.clip(BINS, *SLOW))) / math.log(SLOW[1] / SLOW[0]))[:, None]
        self.likelihood = np.log(np.stack([chances] + [(1 - share) * chances + share * slow for share in (1 / 30, 1 / 3)]))

    def chance(self, z, tails: np.ndarray = NORMAL) -> np.ndarray:
        """That a healthy machine lies at `z` or lower; 0.5 for z above 0. `tails`: the weights of the forms, for all or for each z."""
        z = np.asarray(z, dtype=float)
        beyond = np.stack([np.exp(np.interp(-z, PLACES, logs)) for logs in self.logs], axis=-1)
        return np.where(z >= 0, 0.5, np.minimum(0.5, (beyond * tails).sum(-1)))

    def distance(self, wanted: float, tails: np.ndarray = NORMAL) -> float:
        """The z, below 0, whose chance this is."""
        logs = np.log(np.maximum(math.exp(LOWEST), tails @ np.exp(self.logs)))
        return -float(np.interp(-math.log(wanted), -logs, PLACES))


class Tables:
    """The simulated groups and tables that the process has made so far. Numbers that differ by little share one."""

    _groups: Dict[int, SimulatedGroups] = {}
    _healthy: Dict[Tuple[int, ...], Healthy] = {}

    def groups(self, n: int) -> SimulatedGroups:
        rounded = 32.0
        while n >= rounded * 1.1 and rounded < MOST_SIMULATED:
            rounded *= 1.1
        size = n if n <= 32 else int(rounded)
        if size not in self._groups:
            self._groups[size] = SimulatedGroups(size)
        return self._groups[size]

    def healthy(self, n: int, pooled: Pooled = Pooled()) -> Healthy:
        step, none = 0.25, -1000  # of ln
        groups = self.groups(n)
        places = [math.floor(math.log(f) / step) if f > 0 else none for f in (pooled.freedom, pooled.certainty)]
        key = (groups.n, *places)
        if key not in self._healthy:
            self._healthy[key] = Healthy(groups, Pooled(1, *(0.0 if place == none else math.exp(place * step) for place in places)))
        return self._healthy[key]


class TailCounts:
    """Weighs the forms of scatter by the distances of all members of a group, for each member without its own low ones.

    Nothing makes a machine faster, so what lies high is healthy. What lies low is scatter too, unless its member is slow, which is one of twenty
    beforehand: several low rates of one member are a slow machine sooner than long tails; single ones of many members are long tails."""

    def __init__(self, members: int):
        self.upper = np.zeros(FORMS)
        self.lower = np.zeros((3, members, FORMS))

    def add(self, members: np.ndarray, z: np.ndarray, healthy: Healthy) -> None:
        """Distances of one quantity, one of each member."""
        at = np.minimum(np.searchsorted(BINS, np.abs(z), "right") - 1, len(BINS) - 2)
        low = z <= 0
        self.upper += healthy.likelihood[0][at[~low]].sum(0)
        self.lower[:, members[low]] += healthy.likelihood[:, at[low]]

    def weights(self, before: np.ndarray) -> np.ndarray:
        """[member, form]. `before`: the same without any count."""
        slow = 0.05
        logs = self.lower + np.log([1 - slow, slow / 2, slow / 2])[:, None, None]
        own = np.logaddexp.reduce(logs, axis=0)
        others = own.sum(0) + self.upper - own
        weights = before * np.exp(others - others.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)

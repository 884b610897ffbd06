"""One quantity of a group's nodes: its populations, what of it is compared, and the tests of each node."""

import math
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from roof.fleet.healthy import Healthy, Tables
from roof.fleet.members import Member, NodeCeiling
from roof.fleet.quantities import Quantity
from roof.fleet.scale import ERROR, FEWEST_COMPARED, Group, Pooled, errors_in_half_width, exp, scale

NEWEST, MEAN_OF_DAYS, SLOWER_DAYS = "newest", "mean of days", "slower days"  #: what of a node is compared
#: Parts of ERROR: for ceilings, for means over kinds, for two populations.
OF_CEILINGS, OF_MEANS, OF_POPULATIONS = 0.75 * ERROR, 0.2 * ERROR, 0.05 * ERROR
NODES_WITH_DAYS, DAYS_OF_EACH = 10, 3  #: from which the difference from day to day is known
LAST_DAYS, FEWEST_LAST_DAYS = 6, 4  #: that are asked of a node that is slow on some days
MOST_OF_SPEC = 1.005
HALF = 1.96  #: standard errors in half an interval of 95%


@dataclass
class CeilingFinding:
    name: str
    unit: str  #: empty for the mean of a kind's ceilings, whose median is 1
    rates: int  #: that are joined
    nodes: int
    median: float = 0.0  #: SI
    scatter: float = 0.0  #: between nodes, relative, beyond their own intervals
    day_to_day: float = 0.0  #: standard deviation of a node from day to day, relative; 0: unknown
    visible: float = 0.0  #: the smallest difference of one node that is found in 95% of cases, relative; 0: none
    slow: int = 0
    undecided: int = 0
    #: median and nodes: none or two, the slower first
    populations: List[Tuple[float, List[str]]] = field(default_factory=list)


class Compared:
    """Some members' rates of one quantity, which are compared with each other. `places`: in the quantity; `days`: of which each is the mean."""

    def __init__(self, view: str, places: np.ndarray, group: Group, tables: Tables, days=1):
        self.view, self.places, self.group = view, places, group
        self.days = np.broadcast_to(days, places.shape)
        self.pooled, self.freedom, self.healthy = Pooled(), 0.0, tables.healthy(len(places))

    def distance(self, x, variance, i) -> np.ndarray:
        return self.group.distance(x, variance, i, self.pooled, self.freedom)


class Tests:
    """What is decided over all groups together: rates that may be low, a table row each, and the number of all tests."""

    def __init__(self) -> None:
        self.tables = Tables()
        self.low: List[Dict[str, np.ndarray]] = []
        self.number = {False: 0, True: 0}  # of ceilings; of means
        self.visible: List[Tuple[bool, CeilingFinding, Healthy, np.ndarray, float, float, float]] = []


class QuantityJudge:
    """One quantity of a group's nodes: its populations, what of it is compared, and the tests of each node."""

    def __init__(self, quantity: Quantity, members: List[Member], tests: Tests):
        self.quantity, self.members, self.tests = quantity, members, tests
        self.finding = CeilingFinding(quantity.name, quantity.unit, quantity.joined, len(quantity.members))
        self.compared: List[Compared] = []
        self.day_variance: Optional[float] = self._day_variance()
        self.group = Group(quantity.newest.x, np.maximum(quantity.newest.variance, self.day_variance or 0.0))
        self.is_enough = self.group.size >= FEWEST_COMPARED
        self.has_rates = quantity.joined == 1

    def divide(self, chance: float) -> "QuantityJudge":
        """Divides the members into populations, and makes what is compared. `chance`: of two populations in a healthy group."""
        if not self.group.size:
            return self
        self.finding.median, self.finding.scatter = exp(self.group.median), self.group.scatter
        if not self.is_enough:
            return self
        cut = self.group.upper_population(chance, -self.quantity.material)
        lower, upper = np.sort(self.group.order[:cut]), np.sort(self.group.order[cut:])
        if cut:
            self._add_populations(lower, upper)
        is_split = min(cut, len(upper)) >= FEWEST_COMPARED
        for places in (lower, upper) if is_split else (np.arange(self.group.size),):
            self._compare(places)
        return self

    def _day_variance(self) -> Optional[float]:
        if self.quantity.days is None:
            return None
        x = self.quantity.days[0]
        days = (~np.isnan(x)).sum(1)
        if (days >= DAYS_OF_EACH).sum() < NODES_WITH_DAYS:
            return None
        x, days = x[days >= 2], days[days >= 2, None]
        off = (x - np.nanmean(x, axis=1, keepdims=True)) * np.sqrt(days / (days - 1))
        variance = float(scale(off[~np.isnan(off)]).variance)
        self.finding.day_to_day = math.sqrt(variance)
        return variance

    def _add(self, places: np.ndarray, finding: str, medians, reason: str) -> None:
        low, high = self._interval(places)
        for k, *ends in zip(places, *(np.exp(part - medians) for part in (self.group.x[places], low, high))):
            self.members[self.quantity.members[k]].finding.ceilings.append(NodeCeiling(self.finding.name, finding, *(float(end) for end in ends),
                                                                                       reason=reason))

    def _add_populations(self, lower: np.ndarray, upper: np.ndarray) -> None:
        for places in (lower, upper):
            median = float(np.median(self.group.x[places]))
            self.finding.populations.append((exp(median), sorted(self.members[self.quantity.members[k]].finding.node for k in places)))
        self._add(lower, "slower population", median, f"one of {len(lower)} slower nodes")

    def _compare(self, places: np.ndarray) -> None:
        if self.quantity.days is not None:
            self._compare_days(places)
        group = self.group if len(places) == self.group.size else Group(self.group.x[places], self.group.own_variance[places])
        self.compared.append(Compared(NEWEST, places, group, self.tests.tables))

    def _compare_days(self, places: np.ndarray) -> None:
        """The mean over days, of nodes that have as many days as most or more; the mean over the slower half of the last days, which shows a node
        that is slow on some days only."""
        x, variance = (part[places] for part in self.quantity.days)
        days = (~np.isnan(x)).sum(1)
        some = days >= max(2.0, float(np.median(days)))
        if some.sum() >= FEWEST_COMPARED:
            own = np.maximum(_mean(variance[some], x[some]), self.day_variance or 0.0) / days[some]
            self.compared.append(Compared(MEAN_OF_DAYS, places[some], Group(_mean(x[some], x[some]), own), self.tests.tables, days[some]))
        usual = min(LAST_DAYS, int(np.median(days)))
        some = days >= usual
        if usual >= FEWEST_LAST_DAYS and some.sum() >= FEWEST_COMPARED:
            last, own = x[some][:, -usual:], variance[some][:, -usual:]
            order = np.argsort(last, axis=1, kind="stable")[:, : usual // 2]
            group = Group(*(np.take_along_axis(part, order, 1).mean(1) for part in (last, own / (usual // 2))))
            self.compared.append(Compared(SLOWER_DAYS, places[some], group, self.tests.tables, usual))

    def _interval(self, places) -> Tuple[np.ndarray, np.ndarray]:
        if self.has_rates:
            return self.quantity.newest.low[places], self.quantity.newest.high[places]
        half = HALF * np.sqrt(self.group.own_variance[places])
        return self.group.x[places] - half, self.group.x[places] + half

    def test(self, tails: Dict[str, np.ndarray]) -> None:
        """`tails`: of each view, for each member."""
        for some in self.compared:
            own = tails[some.view][self.quantity.members[some.places]]
            left = np.arange(len(some.places))
            if some.view == NEWEST and self.has_rates:
                left = np.flatnonzero(~self._find_implausible(some, own))
            self._test_some(some, left, own)
        if not self.compared:
            return
        most = max(self.compared, key=lambda some: (some.view == NEWEST, len(some.places)))
        low, high = self._interval(most.places)
        variance = most.group.variance
        if most.pooled.freedom > 0:
            variance = (most.pooled.freedom * most.pooled.variance + most.freedom * variance) / (most.pooled.freedom + most.freedom)
        first = tails[most.view][self.quantity.members[most.places[0]]]
        self.tests.visible.append((not self.has_rates, self.finding, most.healthy, first, math.sqrt(variance), float(np.median(0.5 * (high - low))),
                                   self.quantity.material))

    def _find_implausible(self, some: Compared, tails: np.ndarray) -> np.ndarray:
        """Whether each lies above the spec that the others state, and too high beside their rates to be chance."""
        specs = self.quantity.newest.spec[some.places]
        limit = float(np.median(specs[specs > 0])) * MOST_OF_SPEC if (specs > 0).any() else math.inf
        found = np.exp(self.quantity.newest.low[some.places]) > limit
        at = np.flatnonzero(found)
        if len(at):
            k = some.places[at]
            z = some.distance(self.group.x[k], self.group.own_variance[k], at)
            found[at] = some.healthy.chance(-z, tails[at]) < ERROR / len(some.places)
            at = np.flatnonzero(found)
            self.tests.number[False] += len(at)
            self._add(some.places[at], "implausible", some.group.medians_without()[at], "above the spec that the others' digests state")
        return found

    def _test_some(self, some: Compared, i: np.ndarray, tails: np.ndarray) -> None:
        """`i`: places in `some`."""
        self.tests.number[not self.has_rates] += len(i)
        group, k = some.group, some.places[i]
        x, variance, median = group.x[i], group.own_variance[i], group.medians_without()[i]
        limit, deviation = median + self.quantity.material, np.sqrt(variance)
        rounds = np.zeros(len(i))
        if self.has_rates:  # the interval is that of rounds, not of days
            rounds = np.where(self.quantity.newest.variance[k] >= (self.day_variance or 0.0), self.quantity.newest.rounds[k] * some.days[i], 0)
        half = errors_in_half_width(rounds) * deviation
        low, high = x - half, x + half
        if some.view == NEWEST and self.day_variance is None:
            low, high = self._interval(k)
        z = some.distance(x, variance, i)
        wide = (half >= -self.quantity.material) & (deviation > 2 * math.sqrt(group.usual_variance))
        kept = (low < limit) & ((z <= -2) | wide)
        if not kept.any():
            return
        i, k, tails = i[kept], k[kept], tails[i[kept]]
        low = low[kept]
        self._add_low(member=self.quantity.members[k], view=some.view, is_bound=False, days=some.days[i], median=median[kept], x=x[kept], low=low,
                      high=high[kept], newest=self.group.x[k], limit=limit[kept], chance=some.healthy.chance(z[kept], tails), is_wide=wide[kept],
                      chance_of_low=some.healthy.chance(some.distance(low, 0.0, i), tails), others=self._other_days(k, tails))

    def _add_low(self, **columns: Any) -> None:
        """A number or an array for each column; of `others` a row each."""
        n = len(columns["member"])
        columns.update(is_mean=not self.has_rates, finding=[self.members[member].finding for member in columns["member"]], ceiling=self.finding)
        objects = {name: np.empty(n, dtype=object) for name in ("others", "finding", "ceiling")}
        for name, found in objects.items():
            found[:] = list(columns[name]) if name != "ceiling" else columns[name]
        self.tests.low.append({**{name: np.broadcast_to(value, n) for name, value in columns.items() if name not in objects}, **objects})

    def _other_days(self, k: np.ndarray, tails: np.ndarray) -> np.ndarray:
        """The chances of the same on the last days before the newest, each by itself among the nodes' newest rates; 1 of a day that is not low, and
        NaN where there is none."""
        if self.quantity.days is None:
            return np.empty((len(k), 0))
        x, variance = (part[k, -LAST_DAYS:-1] for part in self.quantity.days)
        chances = np.where(np.isnan(x), np.nan, 1.0)
        for newest in self.compared:
            if newest.view != NEWEST:
                continue
            own = np.searchsorted(newest.places, k)
            is_in = newest.places[np.minimum(own, len(newest.places) - 1)] == k
            own, rows = own[is_in, None], x[is_in]
            low = rows + HALF * np.sqrt(variance[is_in]) < newest.group.medians_without()[own] + self.quantity.material
            z = newest.distance(rows, variance[is_in], own)
            chances[is_in] = np.where(low, newest.healthy.chance(z, tails[is_in, None, :]), chances[is_in])
        return chances

    def test_bounds(self, judged: np.ndarray) -> None:
        """Lower bounds: among the rates of the others, or where these are too few among each other. Counts what is judged of each member."""
        quantity, bounds = self.quantity, self.quantity.bounds
        if self.is_enough:
            judged[quantity.members] += 1
        elif not len(bounds) or len(bounds) + self.group.size < FEWEST_COMPARED:
            return
        if not len(bounds):
            return
        x, group, medians = quantity.bound_logs.x, self.group, np.full(len(bounds), self.group.median)
        if not self.is_enough:
            group = Group(np.concatenate((group.x, x)), np.concatenate((group.own_variance, np.zeros(len(x)))))
            medians = group.medians_without()[-len(x) :]
        healthy, deviation = self.tests.tables.healthy(group.size), math.sqrt(group.variance)
        limit = medians + quantity.material
        if self.is_enough:
            judged[bounds[x >= limit]] += 1
        self.tests.number[False] += len(x)
        low = x < limit
        if not low.any():
            return
        others = np.empty((int(low.sum()), 0))
        if quantity.bound_days is not None:
            days = quantity.bound_days[low]
            others = np.where(days < limit[low, None], healthy.chance((days - medians[low, None]) / deviation), np.where(np.isnan(days), np.nan, 1.0))
        self._add_low(member=bounds[low], view=NEWEST, is_bound=True, days=1, median=medians[low], x=x[low], low=quantity.bound_logs.low[low],
                      high=math.inf, newest=x[low], limit=limit[low], chance=healthy.chance((x[low] - medians[low]) / deviation),
                      is_wide=self.is_enough, chance_of_low=1.0, others=others)


def _mean(values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Of each row, over the days that `x` has."""
    known = ~np.isnan(x)
    return np.where(known, values, 0).sum(1) / known.sum(1)

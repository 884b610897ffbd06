"""What of a group's nodes is compared: each ceiling, and the mean of the ceilings of one kind of a device (memory,
cache, compute, link, latency), which shows a small difference that all of them have; and the tests of each node."""

import math
import re
from collections import Counter, defaultdict, namedtuple
from functools import cached_property
from itertools import chain
from typing import Dict, List, Optional, Tuple

import numpy as np
import pandas as pd

from roof.fleet.digests import Digest
from roof.fleet.healthy import healthy
from roof.fleet.members import Member, NodeCeiling
from roof.fleet.scale import (ERROR, FEWEST_COMPARED, MATERIAL, MATERIAL_MEAN, Group, errors_in_half_width, exp, scale)

NEWEST, MEAN_OF_DAYS, SLOWER_DAYS = VIEWS = "newest", "mean of days", "slower days"  #: what of a node is compared
NODES_WITH_DAYS, DAYS_OF_EACH = 10, 3  #: from which the difference from day to day is known
LAST_DAYS, FEWEST_LAST_DAYS = 6, 4  #: that are asked of a node that is slow on some days
MOST_OF_SPEC = 1.005
HALF = 1.96  #: standard errors in half an interval of 95%


#: Rates on the scale of ln, an array each; NaN where a rate lacks. `variance`: of the interval; it and `high` are
#: infinite of a lower bound. `spec` is no logarithm; 0 if there is none.
Logs = namedtuple("Logs", "x variance low high spec rounds")


def logs_of(value, low, high, spec, rounds) -> Logs:
    """The half-width of the interval on the scale of ln, over the factor of its rounds, is the standard error."""
    x, lowest, highest = np.log(value), np.log(low), np.log(high)
    return Logs(x, ((highest - lowest) / (2 * errors_in_half_width(rounds))) ** 2, lowest, highest, spec, rounds)


def logs_in(digests: List[Digest], names: List[str]) -> Logs:
    """[digest, name] of ceilings."""
    columns = {name: k for k, name in enumerate(names)}
    parts = np.full((5, len(digests), len(names)), np.nan)
    for row, digest in enumerate(digests):
        at = np.array([columns.get(name, -1) for name in digest.ceilings.names], dtype=int)
        parts[:, row, at[at >= 0]] = digest.ceilings.numbers[:, at >= 0]
    return logs_of(*parts)


def to_the_right(values: np.ndarray, *others: np.ndarray) -> Tuple[np.ndarray, ...]:
    """Each row with its numbers last, in their order."""
    order = np.argsort(~np.isnan(values), axis=1, kind="stable")
    return tuple(np.take_along_axis(part, order, axis=1) for part in (values, *others))


class Compared(Group):
    def __init__(self, view: str, places: np.ndarray, x: np.ndarray, variance: np.ndarray, days=1):
        """`places`: of the rates in the quantity; `days`: of which each is the mean."""
        super().__init__(x, variance)
        self.view, self.places, self.days = view, places, np.broadcast_to(days, places.shape)

    healthy = cached_property(lambda self: healthy(self.size, self.pooled))


class Tests:
    """What is decided over all groups together: frames of rates that may be low, and the numbers of all tests."""

    def __init__(self) -> None:
        self.low: List[pd.DataFrame] = []
        self.number = {False: 0, True: 0}  # of ceilings; of means
        self.visible: List[Tuple["Quantity", Compared, np.ndarray]] = []


class Quantity:
    """A ceiling, or the weighted mean of several, on the members that have it: its populations and tests."""

    def __init__(self, ceiling: str, unit: str, members: np.ndarray, x: np.ndarray, variance: np.ndarray,
                 newest: Optional[Logs] = None, rates: int = 1):
        """`members`: with a rate that is no lower bound, rising. `x`, `variance`: [member, day], the newest last, after
        NaN where there are fewer. `newest`: of a ceiling. `rates`: that are joined."""
        self.ceiling, self.unit, self.rates = ceiling, unit, rates
        self.members, self.x, self.variance = members, x, variance
        self.nodes, self.is_mean = len(members), rates > 1
        self.material = MATERIAL_MEAN if self.is_mean else MATERIAL
        self.median: Optional[float] = None  #: SI
        self.scatter: Optional[float] = None  #: between nodes, relative, beyond their own intervals
        self.day_to_day: Optional[float] = None  #: standard deviation of a node from day to day, relative
        self.visible: Optional[float] = None  #: the smallest difference of one node found in 95% of cases, relative
        self.slow = self.undecided = 0  #: nodes
        self.populations: List[Tuple[float, List[str]]] = []  #: median and nodes: none or two, the slower first
        self.compared: List[Compared] = []
        self.day_variance = self._day_variance()
        own = np.maximum(variance[:, -1], self.day_variance or 0.0)
        self.group = Compared(NEWEST, np.arange(self.nodes), x[:, -1], own)
        self.is_enough = self.nodes >= FEWEST_COMPARED
        self.newest, half = newest, HALF * np.sqrt(self.group.own_variance)
        self.low, self.high = (newest.low, newest.high) if newest else (self.group.x - half, self.group.x + half)
        self.without, self.bounds = np.empty((2, 0), dtype=int)  #: members whose digest lacks it, or has a lower bound
        self.bound_logs = Logs(*np.empty((6, 0)))
        self.bound_days = np.empty((0, 0))  #: [bound, day]: ln of its other days' rates, bounds or not; NaN: none

    def _day_variance(self) -> Optional[float]:
        days = (~np.isnan(self.x)).sum(1)
        if (days >= DAYS_OF_EACH).sum() < NODES_WITH_DAYS:
            return None
        x, days = self.x[days >= 2], days[days >= 2, None]
        off = (x - np.nanmean(x, axis=1, keepdims=True)) * np.sqrt(days / (days - 1))
        variance = float(scale(off[~np.isnan(off)]).variance)
        self.day_to_day = math.sqrt(variance)
        return variance

    def divide(self, chance: float, members: List[Member]) -> "Quantity":
        """Divides the members into populations, and makes what is compared. `chance`: of two in a healthy group."""
        self.median = exp(self.group.median) if self.nodes else None
        if not self.is_enough:
            return self
        self.scatter = self.group.scatter
        cut = self.group.upper_population(chance, -self.material)
        lower, upper = np.sort(self.group.order[:cut]), np.sort(self.group.order[cut:])
        if cut:
            for places in (lower, upper):
                median = np.median(self.group.x[places])
                self.populations.append((exp(median), sorted(members[k].finding.node for k in self.members[places])))
            self._add(members, lower, "slower population", median, f"one of {len(lower)} slower nodes")
        is_split = min(len(lower), len(upper)) >= FEWEST_COMPARED
        for places in (lower, upper) if is_split else (self.group.places,):
            self._compare_days(places)
            own = self.group.own_variance[places]
            self.compared.append(Compared(NEWEST, places, self.group.x[places], own) if is_split else self.group)
        return self

    def _add(self, members: List[Member], places: np.ndarray, finding: str, medians, remark: str) -> None:
        for k, *ratios in zip(self.members[places], *(np.exp(part[places] - medians) for part in
                                                     (self.group.x, self.low, self.high))):
            node = members[k].finding
            node.ceilings.append(NodeCeiling(node.node, self.ceiling, finding, remark, *map(float, ratios)))

    def _compare_days(self, places: np.ndarray) -> None:
        """The mean over days, of nodes that have as many days as most or more; the mean over the slower half of the
        last days, which shows a node that is slow on some days only."""
        x, variance = self.x[places], self.variance[places]
        days = (~np.isnan(x)).sum(1)
        some = days >= max(2.0, float(np.median(days)))
        if some.sum() >= FEWEST_COMPARED:
            mean, own = (np.nanmean(part[some], axis=1) for part in (x, variance))
            own = np.maximum(own, self.day_variance or 0.0) / days[some]
            self.compared.append(Compared(MEAN_OF_DAYS, places[some], mean, own, days[some]))
        usual = min(LAST_DAYS, int(np.median(days)))
        some = days >= usual
        if usual >= FEWEST_LAST_DAYS and some.sum() >= FEWEST_COMPARED:
            last, own = x[some][:, -usual:], variance[some][:, -usual:]
            order = np.argsort(last, axis=1, kind="stable")[:, : usual // 2]
            means = (np.take_along_axis(part, order, 1).mean(1) for part in (last, own / (usual // 2)))
            self.compared.append(Compared(SLOWER_DAYS, places[some], *means, usual))

    def test(self, tails: Dict[str, np.ndarray], members: List[Member], tests: Tests) -> None:
        """`tails`: of each view, for each member."""
        for some in self.compared:
            own = tails[some.view][self.members[some.places]]
            left = np.ones(some.size, dtype=bool)
            if some.view == NEWEST and not self.is_mean:
                left = ~self._find_implausible(some, own, members, tests)
            self._test_some(some, np.flatnonzero(left), own, members, tests)
        if self.compared:
            most = max(self.compared, key=lambda some: (some.view == NEWEST, some.size))
            tests.visible.append((self, most, tails[most.view][self.members[most.places[0]]]))

    def _find_implausible(self, some: Compared, tails: np.ndarray, members: List[Member], tests: Tests) -> np.ndarray:
        """Whether each lies above the spec that the others state, and too high beside their rates to be chance."""
        assert self.newest
        specs = self.newest.spec[some.places]
        limit = float(np.median(specs[specs > 0])) * MOST_OF_SPEC if (specs > 0).any() else math.inf
        found = np.exp(self.newest.low[some.places]) > limit
        if found.any():
            at = np.flatnonzero(found)
            z = some.distance(some.x[at], some.own_variance[at], at)
            found[at] = some.healthy.chance(-z, tails[at]) < ERROR / some.size
            at = np.flatnonzero(found)
            tests.number[False] += len(at)
            self._add(members, some.places[at], "implausible", some.medians_without[at],
                      "above the spec that the others' digests state")
        return found

    def _test_some(self, some: Compared, i: np.ndarray, tails: np.ndarray, members: List[Member], tests: Tests) -> None:
        """`i`: places in `some`."""
        tests.number[self.is_mean] += len(i)
        k, x, variance, median = some.places[i], some.x[i], some.own_variance[i], some.medians_without[i]
        limit, deviation = median + self.material, np.sqrt(variance)
        rounds = np.zeros(len(i))
        if self.newest:  # where the interval is that of rounds, not of days
            of_rounds = self.newest.variance[k] >= (self.day_variance or 0.0)
            rounds = np.where(of_rounds, self.newest.rounds[k] * some.days[i], 0)
        half = errors_in_half_width(rounds) * deviation
        low, high = x - half, x + half
        if some.view == NEWEST and self.day_variance is None:
            low, high = self.low[k], self.high[k]
        z = some.distance(x, variance, i)
        wide = (half >= -self.material) & (deviation > 2 * math.sqrt(some.usual_variance))
        kept = np.flatnonzero((low < limit) & ((z <= -2) | wide))
        if not len(kept):
            return
        i, k, tails = i[kept], k[kept], tails[i[kept]]
        of_low = some.healthy.chance(some.distance(low[kept], 0.0, i), tails)
        self._add_low(tests, members, self.members[k], view=some.view, is_bound=False, days=some.days[i],
                      median=median[kept], x=x[kept], low=low[kept], high=high[kept], newest=self.group.x[k],
                      limit=limit[kept], chance=some.healthy.chance(z[kept], tails), is_wide=wide[kept],
                      chance_of_low=of_low, others=self._other_days(k, tails))

    def _add_low(self, tests: Tests, members: List[Member], of: np.ndarray, **columns) -> None:
        """`others`: a row each."""
        objects = {"others": list(columns.pop("others")), "finding": [members[k].finding for k in of],
                   "quantity": [self] * len(of)}
        tests.low.append(pd.DataFrame({"is_mean": self.is_mean, **columns, **objects}))

    def _other_days(self, k: np.ndarray, tails: np.ndarray) -> np.ndarray:
        """The chances of the same on the last days before the newest, each by itself among the nodes' newest rates; 1
        of a day that is not low, and NaN where there is none."""
        x, variance = (part[k, -LAST_DAYS:-1] for part in (self.x, self.variance))
        chances = np.where(np.isnan(x), np.nan, 1.0)
        for newest in (some for some in self.compared if some.view == NEWEST):
            own = np.searchsorted(newest.places, k)
            is_in = newest.places[np.minimum(own, newest.size - 1)] == k
            own, rows = own[is_in, None], x[is_in]
            low = rows + HALF * np.sqrt(variance[is_in]) < newest.medians_without[own] + self.material
            z = newest.distance(rows, variance[is_in], own)
            chances[is_in] = np.where(low, newest.healthy.chance(z, tails[is_in, None, :]), chances[is_in])
        return chances

    def test_bounds(self, judged: np.ndarray, members: List[Member], tests: Tests) -> None:
        """Lower bounds: among the others' rates, or each other. Counts what is judged of each member."""
        if self.is_enough:
            judged[self.members] += 1
        if not len(self.bounds) or not self.is_enough and len(self.bounds) + self.nodes < FEWEST_COMPARED:
            return
        x, group = self.bound_logs.x, self.group
        medians = np.full(len(x), group.median)
        if not self.is_enough:
            group = Group(np.concatenate((group.x, x)), np.concatenate((group.own_variance, np.zeros(len(x)))))
            medians = group.medians_without[-len(x) :]
        table, deviation = healthy(group.size), math.sqrt(group.variance)
        limit = medians + self.material
        if self.is_enough:
            judged[self.bounds[x >= limit]] += 1
        tests.number[False] += len(x)
        low = x < limit
        if not low.any():
            return
        days, x, limit, medians = self.bound_days[low], x[low], limit[low], medians[low]
        others = np.where(days < limit[:, None], table.chance((days - medians[:, None]) / deviation), 1.0)
        others[np.isnan(days)] = np.nan
        self._add_low(tests, members, self.bounds[low], view=NEWEST, is_bound=True, days=1, median=medians, x=x,
                      low=self.bound_logs.low[low], high=math.inf, newest=x, limit=limit,
                      chance=table.chance((x - medians) / deviation), is_wide=self.is_enough, chance_of_low=1.0,
                      others=others)


def ceilings_of(members: List[Member]) -> List[Quantity]:
    """The ceilings that at least half of the members have, by name."""
    rates = [member.days[-1].ceilings for member in members]
    number = Counter(chain.from_iterable(one.names for one in rates))
    units = {name: unit for one in reversed(rates) for name, unit in zip(one.names, one.units)}
    names = sorted(name for name, n in number.items() if 2 * n >= len(members))
    days = [len(member.days) for member in members]
    flat = logs_in([digest for member in members for digest in member.days], names)
    newest = np.array(flat)[:, np.cumsum(days) - 1]
    at = np.array([(i, k - n) for i, n in enumerate(days) for k in range(n)]).T
    x, variance, all_rates = np.full((3, len(members), max(days), len(names)), np.nan)
    certain, own = (np.where(np.isinf(flat.high), np.nan, part) for part in (flat.x, flat.variance))
    x[tuple(at)], variance[tuple(at)], all_rates[tuple(at)] = certain, own, flat.x
    quantities = []
    for c, name in enumerate(names):
        is_missing, is_bound = np.isnan(newest[0, :, c]), np.isinf(newest[3, :, c])
        has, bounds = np.flatnonzero(~is_missing & ~is_bound), np.flatnonzero(is_bound)
        of_days = to_the_right(x[has, :, c], variance[has, :, c])
        quantities.append(Quantity(name, units[name], has, *of_days, Logs(*newest[:, has, c])))
        quantities[-1].without, quantities[-1].bounds = np.flatnonzero(is_missing), bounds
        quantities[-1].bound_logs, quantities[-1].bound_days = Logs(*newest[:, bounds, c]), all_rates[bounds, :-1, c]
    return quantities


def kind_of_ceiling(name: str) -> str:
    """ "cpu memory" of "cpu bandwidth DRAM load threads=26"; empty for a name of another form."""
    words = name.split(" ")
    if len(words) < 4 or words[1] not in ("compute", "latency", "bandwidth"):  # device, role, level, operation
        return ""
    if words[1] != "bandwidth":
        return f"{words[0]} {words[1]}"
    is_cache = re.fullmatch("core|L[1-7]", words[2])
    return words[0] + (" memory" if words[2] == "DRAM" else " cache" if is_cache else " link")


def means_of(ceilings: List[Quantity], members: int) -> List[Quantity]:
    """The means over the ceilings of each kind that has two or more with enough members.

    Each ceiling counts by one over its variance; for a member that lacks some, the variance of the rest is larger."""
    kinds: Dict[str, List[Quantity]] = defaultdict(list)
    for ceiling in ceilings:
        if ceiling.is_enough and kind_of_ceiling(ceiling.ceiling):
            kinds[kind_of_ceiling(ceiling.ceiling)].append(ceiling)
    return [_mean(f"{kind}, mean of {len(some)}", some, members)
            for kind, some in sorted(kinds.items()) if len(some) > 1]


def _mean(name: str, ceilings: List[Quantity], members: int) -> Quantity:
    most_days = ceilings[0].x.shape[1]
    x, variance = np.full((2, len(ceilings), members, most_days), np.nan)
    for c, ceiling in enumerate(ceilings):
        x[c, ceiling.members], variance[c, ceiling.members] = ceiling.x - ceiling.group.median, ceiling.variance
        variance[c, ceiling.members, -1] = ceiling.group.own_variance
    weights = np.array([1 / ceiling.group.variance for ceiling in ceilings])[:, None, None]
    known = np.where(np.isnan(x), 0, weights)
    weight, whole = known.sum(0), weights.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(weight < 0.5 * whole, np.nan, (known * np.nan_to_num(x)).sum(0) / weight)
        own = (known**2 * np.nan_to_num(variance)).sum(0) / weight**2 + 1 / weight - 1 / whole
    # as many days as most of the ceilings have
    numbers = pd.DataFrame((~np.isnan(x)).sum(2))
    usual = np.floor(numbers[numbers > 0].median().fillna(0).to_numpy())
    mean[np.arange(most_days, 0, -1) > usual[:, None]] = np.nan
    has = np.flatnonzero(~np.isnan(mean[:, -1]))
    return Quantity(name, "", has, *to_the_right(mean[has], own[has]), rates=len(ceilings))

"""Which nodes of a fleet are slow. Nodes are compared only with equal ones: of the same kind, by the same plan and revision."""

import math
from dataclasses import dataclass, field
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import pandas as pd

from roof.fleet.digests import Fleet
from roof.fleet.healthy import BEFORE, Healthy, Tables, TailCounts
from roof.fleet.members import RANK, JudgeOptions, Member, Membership, NodeCeiling, NodeFinding
from roof.fleet.quantities import Quantity, ceilings_of, means_of
from roof.fleet.scale import (ERROR, FEWEST_COMPARED, FEWEST_DRAINED, FOUND, MATERIAL, Group, Pooled, benjamini_hochberg,
                              chance_of_difference, errors_in_half_width, holm, pooled_scatter, ranks_of, scale)

NEWEST, MEAN_OF_DAYS, SLOWER_DAYS = "newest", "mean of days", "slower days"  #: what of a node is compared
#: Parts of ERROR: for ceilings, for means over kinds, for two populations.
OF_CEILINGS, OF_MEANS, OF_POPULATIONS = 0.75 * ERROR, 0.2 * ERROR, 0.05 * ERROR
SLOW_DAY = 0.01  #: the chance at which a day counts as slow for a node that is slow on some days only
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
    populations: List[Tuple[float, List[str]]] = field(default_factory=list)  #: median and nodes: none or two, the slower first


class Association(NamedTuple):
    """A fact that goes with a difference; not its cause."""

    fact: str
    value: str
    ceiling: str
    nodes: int  #: with this value
    ratio: float  #: of their median to that of the others
    chance: float


@dataclass
class FleetGroup:
    kind: str
    plan: str
    revision: str
    by: str  #: the value of --group-by
    nodes: List[NodeFinding]
    ceilings: List[CeilingFinding] = field(default_factory=list)
    associations: List[Association] = field(default_factory=list)


@dataclass
class Findings:
    groups: List[FleetGroup] = field(default_factory=list)
    aside: List[NodeFinding] = field(default_factory=list)  #: in no group: missing, too old or from the future
    refused: List[Tuple[str, str]] = field(default_factory=list)
    damaged: Dict[str, str] = field(default_factory=dict)
    tests: int = 0  #: ceilings of nodes that were compared
    notes: List[str] = field(default_factory=list)


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
        self.low: List[pd.DataFrame] = []
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
        self.finding.median, self.finding.scatter = math.exp(self.group.median), self.group.scatter
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
            self.members[self.quantity.members[k]].finding.ceilings.append(
                NodeCeiling(self.finding.name, finding, *(float(end) for end in ends), reason=reason))

    def _add_populations(self, lower: np.ndarray, upper: np.ndarray) -> None:
        for places in (lower, upper):
            median = float(np.median(self.group.x[places]))
            self.finding.populations.append((math.exp(median), sorted(self.members[self.quantity.members[k]].finding.node for k in places)))
        self._add(lower, "slower population", median, f"one of {len(lower)} slower nodes")

    def _compare(self, places: np.ndarray) -> None:
        if self.quantity.days is not None:
            self._compare_days(places)
        group = self.group if len(places) == self.group.size else Group(self.group.x[places], self.group.own_variance[places])
        self.compared.append(Compared(NEWEST, places, group, self.tests.tables))

    def _compare_days(self, places: np.ndarray) -> None:
        """The mean over days, of nodes that have as many days as most or more; the mean over the slower half of the last days, which shows a
        node that is slow on some days only."""
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
        self.tests.visible.append((not self.has_rates, self.finding, most.healthy, first, math.sqrt(variance),
                                   float(np.median(0.5 * (high - low))), self.quantity.material))

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
        self._add_low({
            "member": self.quantity.members[k], "view": some.view, "is_bound": False, "days": some.days[i], "median": median[kept], "x": x[kept],
            "low": low, "high": high[kept], "newest": self.group.x[k], "limit": limit[kept], "chance": some.healthy.chance(z[kept], tails),
            "is_wide": wide[kept], "chance_of_low": some.healthy.chance(some.distance(low, 0.0, i), tails),
            "others": self._other_days(k, tails)})

    def _add_low(self, columns: Dict) -> None:
        columns["others"] = list(columns["others"])
        columns["finding"] = [self.members[member].finding for member in columns["member"]]
        columns["ceiling"] = [self.finding] * len(columns["finding"])
        self.tests.low.append(pd.DataFrame(columns).assign(is_mean=not self.has_rates))

    def _other_days(self, k: np.ndarray, tails: np.ndarray) -> np.ndarray:
        """The chances of the same on the last days before the newest, each by itself among the nodes' newest rates; 1 of a day that is not low,
        and NaN where there is none."""
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
        self._add_low({
            "member": bounds[low], "view": NEWEST, "is_bound": True, "days": 1, "median": medians[low], "x": x[low], "low": quantity.bound_logs.low[low],
            "high": math.inf, "newest": x[low], "limit": limit[low], "chance": healthy.chance((x[low] - medians[low]) / deviation),
            "is_wide": self.is_enough, "chance_of_low": 1.0, "others": others})


def _mean(values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Of each row, over the days that `x` has."""
    known = ~np.isnan(x)
    return np.where(known, values, 0).sum(1) / known.sum(1)


def _independent(judges: List[QuantityJudge]) -> float:
    """How many of the quantities are as good as independent: their scatters are known so well only together."""
    most_members = 64
    enough = [judge for judge in judges if judge.is_enough]
    z = np.zeros((len(enough), most_members))
    known = np.zeros(z.shape)
    for row, judge in enumerate(enough):
        k = np.flatnonzero(judge.quantity.members < most_members)
        off = (judge.group.x[k] - judge.group.median) / math.sqrt(judge.group.variance)
        z[row, judge.quantity.members[k]], known[row, judge.quantity.members[k]] = np.clip(off, -3, 3), 1
    both, own, count = z @ z.T, z**2 @ known.T, known @ known.T
    told = np.triu((count >= 3) & (own > 0) & (own.T > 0), 1)
    squares = both[told] ** 2 / (own * own.T)[told] - 1 / (count[told] - 1)
    return len(enough) / (1 + (len(enough) - 1) * max(0.0, float(squares.mean()) if told.any() else 0.0))


def _pool(judges: List[QuantityJudge], view: str, independent: float, tables: Tables) -> None:
    """Lets the scatters of all quantities say something about that of each, in one view."""
    all_ = [some for judge in judges for some in judge.compared if some.view == view]
    errors = [tables.groups(len(some.places) + 1) for some in all_]
    pooled = pooled_scatter([some.group.variance for some in all_], [one.mean_log for one in errors], [one.freedom for one in errors], independent)
    for some in all_ if pooled.freedom > 0 else ():
        simulated = tables.groups(len(some.places))
        if some.group.least_variance() <= simulated.largest * pooled.variance:
            some.pooled, some.freedom, some.healthy = pooled, simulated.freedom, tables.healthy(len(some.places), pooled)


def _tails(judges: List[QuantityJudge], before: np.ndarray) -> Dict[str, np.ndarray]:
    """Of each view, for each member. What the newest rates show holds before the means over days show more."""
    tails: Dict[str, np.ndarray] = {}
    for view in (NEWEST, MEAN_OF_DAYS, SLOWER_DAYS):
        counts = TailCounts(len(before))
        for judge in judges:
            for some in judge.compared:
                if some.view == view:
                    z = some.distance(some.group.x, some.group.own_variance, np.arange(some.group.size))
                    counts.add(judge.quantity.members[some.places], z, some.healthy)
        tails[view] = counts.weights(tails.get(NEWEST, before))
    return tails


def _compare_nodes(group: FleetGroup, members: List[Member], tests: Tests) -> List[Quantity]:
    """Fills in the group's ceilings, and what needs no list over all groups. What was compared."""
    quantities = ceilings_of(members)
    chance = OF_POPULATIONS / max(1, len(quantities))
    judges = [QuantityJudge(quantity, members, tests).divide(chance) for quantity in quantities]
    independent = _independent(judges)
    for view in (NEWEST, MEAN_OF_DAYS, SLOWER_DAYS):
        _pool(judges, view, independent, tests.tables)
    tails = _tails(judges, np.tile(BEFORE, (len(members), 1)))
    judged = np.zeros(len(members), dtype=int)
    for judge in judges:
        judge.test(tails)
        judge.test_bounds(judged)
    means = means_of(quantities, [judge.group if judge.is_enough else None for judge in judges], len(members))
    of_means = [QuantityJudge(quantity, members, tests).divide(chance) for quantity in means]
    tails_of_means = _tails(of_means, tails[NEWEST])
    for judge in of_means:
        judge.test(tails_of_means)
    group.ceilings = [judge.finding for judge in judges + of_means]
    for quantity in quantities:
        for i in quantity.without:
            members[i].finding.ceilings.append(NodeCeiling(quantity.name, "missing", reason="the node's digest lacks it"))
    for member, number in zip(members, judged):
        if RANK[member.finding.finding] < RANK["not judged"] and 2 * number <= len(quantities):
            few = f"{len(members)} {'node' if len(members) == 1 else 'nodes'} of its kind, plan and revision " \
                  f"{'is' if len(members) == 1 else 'are'} too few to tell"
            some = f"{number} of {len(quantities)} ceilings can be compared: the others are lower bounds or lacking"
            member.finding.finding, member.finding.reason = "not judged", few if len(members) < FEWEST_COMPARED else some
    return quantities


def _slow_days(low) -> int:
    """Of a node that is slow on some days: their number; 0 if it stayed fast after them, as one that was repaired."""
    slow = [chance <= SLOW_DAY for chance in low.others if not math.isnan(chance)] + [low.newest < low.limit]
    stayed_fast = True in slow and not slow[-1] and True not in slow[slow.index(False, slow.index(True)) :]
    return 0 if stayed_fast else sum(slow)


def _is_slow(low) -> bool:
    if low.high >= low.limit and not low.is_bound:
        return False
    return _slow_days(low) > 1 if low.view == SLOWER_DAYS else low.newest < low.limit


def _found(low, slow: bool, on_another_day: bool) -> NodeCeiling:
    reason = "" if slow else "measure again"
    if low.view == SLOWER_DAYS:
        others = sum(not math.isnan(chance) for chance in low.others)
        reason = f"slow on {_slow_days(low)} of {others + 1} days"
    elif low.is_bound:
        reason = "disturbed each time, and far below the others" if slow else "the rate is only a lower bound"
    return NodeCeiling(low.ceiling.name, "slow" if slow else "undecided", *(math.exp(part - low.median) for part in (low.x, low.low, low.high)),
                       chance=float(low.chance), days=int(low.days), on_another_day=on_another_day, reason=reason)


def _decide(tests: Tests) -> None:
    """Makes the lists over all groups, and puts what they hold into the findings."""
    lows = pd.concat(tests.low, ignore_index=True) if tests.low else pd.DataFrame({"is_mean": []})
    for is_mean, error in ((False, OF_CEILINGS), (True, OF_MEANS)):
        rows, number = lows[lows["is_mean"] == is_mean], tests.number[is_mean]
        if rows.empty:
            continue
        by_holm = holm(rows["chance"], number, error)
        listed = benjamini_hochberg(rows["chance"], number, error) & (rows["view"] != SLOWER_DAYS)
        reaches = rows["is_wide"] & (rows["is_bound"] | (rows["chance_of_low"] * number <= error))
        rows = rows.assign(by_holm=by_holm)[by_holm | listed | reaches]
        shown = (listed | reaches)[rows.index]
        slow = [row.by_holm and _is_slow(row) for row in rows.itertuples()]
        found = max(1, sum(slow))
        for row, is_slow, is_shown in zip(rows.itertuples(), slow, shown):
            again = bool((np.asarray(row.others) * found <= error).any())
            is_slow = is_slow and (again or not row.is_bound)  # a bound's rate may be higher: one day tells nothing
            if is_slow or is_shown:
                row.finding.drain |= is_slow and again and row.ceiling.nodes >= FEWEST_DRAINED
                row.finding.ceilings.append(_found(row, is_slow, is_slow and again))
    for is_mean, ceiling, healthy, tails, deviation, half, material in tests.visible:
        cut = healthy.distance((OF_MEANS if is_mean else OF_CEILINGS) / tests.number[is_mean], tails)
        ceiling.visible = -math.expm1(min((cut - FOUND) * deviation, material - half - FOUND * deviation))


def _finish(node: NodeFinding, ceilings: Dict[str, CeilingFinding]) -> None:
    """One row for each ceiling of the node, and its worst."""
    node.ceilings.sort(key=lambda c: (-RANK[c.finding], c.days, c.ratio))
    first: Dict[str, NodeCeiling] = {}
    for found in node.ceilings:
        first.setdefault(found.ceiling, found)
    node.ceilings = sorted(first.values(), key=lambda c: (-RANK[c.finding], c.ratio))
    for found in node.ceilings:
        ceilings[found.ceiling].slow += found.finding == "slow"
        ceilings[found.ceiling].undecided += found.finding in ("undecided", "implausible")
        if found.finding != "missing" and RANK[found.finding] > RANK[node.finding]:
            node.finding, node.reason = found.finding, ""


def _associations(ceilings: List[Quantity], members: List[Member]) -> List[Association]:
    """Every value of every fact against all other nodes, corrected by Holm's method for all of them. Those that differ materially, the
    largest difference first; none for fewer than 12 nodes."""
    if len(members) < FEWEST_DRAINED:
        return []
    facts = sorted({fact for member in members for fact in member.facts})
    values = {fact: [member.facts.get(fact, "") for member in members] for fact in facts}
    codes = {fact: np.unique(of_fact, return_inverse=True) for fact, of_fact in values.items()}
    found: List[Association] = []
    tests = 0
    for ceiling in ceilings:
        x, has = ceiling.newest.x, ceiling.members
        ranks = ranks_of(x)
        for fact, (texts, of_member) in codes.items():
            lacks = sum(fact not in member.facts for member in members)
            if len(texts) - (lacks > 0) < 2:
                continue
            some = of_member[has]
            numbers = np.bincount(some, minlength=len(texts))
            chances = np.pad(chance_of_difference(ranks, some), (0, len(texts)), constant_values=1.0)[: len(texts)]
            told = (np.minimum(numbers, len(x) - numbers) >= 3) & ~((texts == "") & (lacks > 0))
            tests += int(told.sum())
            for code in np.flatnonzero(told & (chances <= ERROR)):
                ratio = math.exp(np.median(x[some == code]) - np.median(x[some != code]))
                if abs(math.log(ratio)) >= -MATERIAL:
                    found.append(Association(fact, str(texts[code]), ceiling.name, int(numbers[code]), ratio, float(chances[code])))
    kept = holm([one.chance for one in found], tests)
    return sorted((one for one, is_kept in zip(found, kept) if is_kept), key=lambda one: -round(abs(math.log(one.ratio)), 9))


def _add_notes(findings: Findings, membership: Membership) -> None:
    if not findings.groups and not findings.aside:
        findings.notes.append("There is no digest of ceilings: nothing was judged.")
    if any(c.nodes and not c.day_to_day for group in findings.groups for c in group.ceilings):
        findings.notes.append("An interval covers one visit of a node. How much a node differs from day to day is not in it, so it is too "
                              "narrow; ten nodes with digests of three days each would tell.")
    if findings.groups and all(len(member.days) < 2 for members in membership.groups.values() for member in members):
        findings.notes.append("No node has digests of two days: nothing is to be drained before a second measurement on another day.")


def judge(fleet: Fleet, options: JudgeOptions = JudgeOptions()) -> Findings:
    membership, tests = Membership(fleet, options), Tests()
    findings = Findings(refused=fleet.refused, damaged=fleet.damaged, notes=list(fleet.notes), aside=membership.aside)
    for key, members in membership.groups.items():
        findings.groups.append(FleetGroup(*key, [member.finding for member in members]))
        findings.groups[-1].associations = _associations(_compare_nodes(findings.groups[-1], members, tests), members)
    findings.tests = sum(tests.number.values())
    _decide(tests)
    seen = {end for digest in fleet.digests for name in digest.links.names for end in name.split(" ")}
    for group in findings.groups:
        ceilings = {ceiling.name: ceiling for ceiling in group.ceilings}
        for node in group.nodes:
            _finish(node, ceilings)
            seen.add(node.node)
    seen.update(node.node for node in findings.aside)
    findings.aside += [NodeFinding(node, "missing", "expected, and there is no digest") for node in fleet.expected if node not in seen]
    _add_notes(findings, membership)
    return findings


def status_of(findings: Findings, has_links: bool = False) -> int:
    """1 if a node is slow, of a slower population or of a changed kind, or a rate is implausible; else 2 if a node was not judged, is missing or
    undecided, a folder cannot be used, or there is no node; else 0. `has_links`: links were judged, so that nodes need not be."""
    worst = max([RANK[node.finding] for nodes in (findings.aside, *(group.nodes for group in findings.groups)) for node in nodes], default=0)
    if findings.refused or (not findings.groups and not has_links):
        worst = max(worst, RANK["not judged"])
    return 1 if worst >= RANK["implausible"] else 0 if worst == 0 else 2


def nodes_to_retest(findings: Findings) -> List[str]:
    """Sorted: all that are not fine, but for those to be drained, and those of which a digest or folder is damaged."""
    nodes = {node.node for found in (findings.aside, *(group.nodes for group in findings.groups)) for node in found
             if node.finding != "fine" and not node.drain}
    return sorted(nodes | set(findings.damaged))

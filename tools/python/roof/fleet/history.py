"""Drift: the ceilings of nodes over weeks. A node is compared with the fleet's median of the same week, so that a
change of all nodes (a season, a driver, another revision of roof) is not taken for a change of one; it is reported
apart.

d is ln(node / median of the fleet's week). The statistic is the one-sided CUSUM
  C = max over t of (sum of the first t values of d - mean d) / (sigma sqrt(weeks)),   chance exp(-2 C²), Holm over all
with sigma from the differences of successive weeks of all nodes: a node that goes down hardly moves it. These
differences also show whether the scatter has tails (TailCounts). By as much as it may, d counts as 1.75 sigma from its
median at most, so that no single week makes a drift."""

import datetime
import math
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Dict, List, Tuple

import numpy as np
import pandas as pd

from roof.fleet.digests import Digest
from roof.fleet.folders import Fleet
from roof.fleet.healthy import BEFORE, TailCounts, healthy
from roof.fleet.quantities import to_the_right
from roof.fleet.scale import ERROR, FEWEST_COMPARED, FOUND, MATERIAL, WINSORIZED, exp, holm, scale

FEWEST_WEEKS = 4  #: of a node
FEWEST_STEPS = 20  #: from week to week, of all nodes
FEWEST_JOINING = 10  #: nodes that ran two revisions in one week, so that the later continues the earlier one's series
ALIKE = 1000  #: simulated machines: sigma is as good as certain


#: A node and ceiling whose rate, to the fleet's median of each week, went down. `since`: the Monday of the first slower
#: week; `ratio`: after to before; `chance`: that a node without drift shows as much.
NodeDrift = namedtuple("NodeDrift", "node ceiling since ratio weeks_before weeks_after chance")
#: A week, by its Monday, in which most nodes changed. `ratio`: to the same nodes' week before; `nodes`: in both.
FleetShift = namedtuple("FleetShift", "ceiling week ratio low high nodes")


@dataclass
class HistorySeries:
    """One kind and plan by one revision, or by several that are joined."""

    kind: str
    plan: str
    revisions: List[str]  #: the oldest first
    rates: pd.Series  #: ln of the mean rate by ceiling, node and week
    weeks: List[str] = field(default_factory=list)  #: Mondays; none where all rates are lower bounds
    nodes: int = 0
    tests: int = 0  #: nodes and ceilings with enough weeks
    visible: float = 0.0  #: the smallest drop of a node, from the middle on, found in 95% of cases; 0: none
    drifts: List[NodeDrift] = field(default_factory=list)  #: the largest first
    shifts: List[FleetShift] = field(default_factory=list)


@lru_cache(maxsize=None)
def _week_of(day: str) -> str:
    """The Monday of the week of "2026-11-22"."""
    date = datetime.date(*map(int, day.split("-")))
    return str(date - datetime.timedelta(min(date.weekday(), date.toordinal() - 1)))


def _weekly(digests: List[Digest]) -> pd.Series:
    """ln of the mean rate by ceiling, node and week."""
    known = [np.isfinite(one.ceilings.high) for one in digests]
    nodes, weeks = [one.node for one in digests], [_week_of(one.time[:10]) for one in digests]
    names = [np.array(one.ceilings.names, dtype=object)[some] for one, some in zip(digests, known)]
    x = np.log(np.concatenate([one.ceilings.value[some] for one, some in zip(digests, known)]))
    node, week = (np.repeat(np.array(of, dtype=object), list(map(len, names))) for of in (nodes, weeks))
    frame = pd.DataFrame({"ceiling": np.concatenate(names), "node": node, "week": week, "x": x})
    return frame.groupby(["ceiling", "node", "week"])["x"].mean()


def _join(earlier: pd.Series, later: pd.Series) -> pd.Series:
    """`later` on the scale of `earlier` and behind it; empty if too few nodes ran both in one week."""
    both = (later - earlier).dropna().groupby(["ceiling", "node"]).first().groupby("ceiling")
    offsets = both.median()[both.size() >= FEWEST_JOINING]
    if offsets.empty:
        return offsets
    moved = later - offsets.reindex(later.index.get_level_values("ceiling")).to_numpy()
    return earlier.combine_first(moved.dropna())


class _Ceiling:
    """`x`: [node, week], NaN where a node has no rate."""

    def __init__(self, x: np.ndarray):
        counted = (~np.isnan(x)).sum(0) >= FEWEST_COMPARED
        self.x, self.weeks = x[:, counted], np.flatnonzero(counted)
        d = self.x - (np.nanmedian(self.x, axis=0) if counted.any() else 0)
        self.d, self.of_week = to_the_right(d, np.broadcast_to(self.weeks, d.shape))
        self.steps = np.diff(self.d, axis=1)
        steps = self.steps[~np.isnan(self.steps)]
        self.sigma = 0.0  # standard deviation of a node's week; 0: unknown
        if len(steps) >= FEWEST_STEPS:
            self.sigma = max(1e-5, math.sqrt(float(scale(steps).variance) / 2))

    def count(self, counts: TailCounts) -> None:
        for steps in self.steps.T if self.sigma else ():
            nodes = np.flatnonzero(~np.isnan(steps))
            counts.add(nodes, steps[nodes] / (self.sigma * math.sqrt(2)), healthy(ALIKE))

    def _largest(self, d: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """C of each row, and how many weeks are before the change."""
        known = ~np.isnan(d)
        sums = np.cumsum(np.where(known, d - np.nanmean(d, axis=1, keepdims=True), 0), axis=1)[:, :-1]
        most, before = sums.max(1), sums.argmax(1) + 1 - (~known).sum(1)
        return np.maximum(0, most) / (self.sigma * np.sqrt(known.sum(1))), np.where(most > 0, before, 1)

    def drifts(self, normal: np.ndarray) -> Dict[str, np.ndarray]:
        """A row for each node with enough weeks. `normal`: of each node, the weight of a normal scatter."""
        nodes = np.flatnonzero((~np.isnan(self.d)).sum(1) >= FEWEST_WEEKS) if self.sigma else np.array([], dtype=int)
        if not len(nodes):
            return {"node": nodes}
        d, normal = self.d[nodes], normal[nodes]
        weeks = (~np.isnan(d)).sum(1)
        c, before = self._largest(d)
        median = np.nanmedian(d, axis=1, keepdims=True)
        of_cut, _ = self._largest(median + np.clip(d - median, -WINSORIZED * self.sigma, WINSORIZED * self.sigma))
        change = -c * self.sigma * np.sqrt(weeks) * weeks / (before * (weeks - before))  # difference of the means
        return {"node": nodes, "since": self.of_week[nodes, d.shape[1] - weeks + before], "change": change,
                "before": before, "after": weeks - before,
                "chance": normal * np.exp(-2 * c**2) + (1 - normal) * np.exp(-2 * of_cut**2)}

    def shifts(self, name: str, weeks: List[str]) -> List[FleetShift]:
        """The weeks in which most nodes changed materially, and certainly."""
        found = []
        for week, changes in zip(self.weeks[1:], np.diff(self.x, axis=1).T):
            changes = changes[~np.isnan(changes)]
            median, variance, _ = map(float, scale(changes))
            # standard errors: no week of a healthy fleet's years
            half = 5 * math.sqrt(0.5 * math.pi * variance / max(1, len(changes)))
            if len(changes) >= FEWEST_COMPARED and abs(median) >= max(half, -MATERIAL):
                ends = (exp(median + end) for end in (0, -half, half))
                found.append(FleetShift(name, weeks[week], *ends, len(changes)))
        return found


def _visible_drop(sigma: float, normal: float, weeks: int, tests: int) -> float:
    """C of a drop at the middle of the weeks is drop * sqrt(weeks) / (4 sigma), with a standard deviation of 1/2."""
    if not sigma or not tests:
        return 0.0
    chance, root = ERROR / tests, math.sqrt(weeks)
    drop = 4 * sigma * (math.sqrt(-0.5 * math.log(chance)) + FOUND / 2) / root
    if 1 - normal > chance and drop > 2 * WINSORIZED * sigma:
        return 0.0
    return -math.expm1(-max(drop, -MATERIAL + FOUND * 2 * sigma / root))


def _series_of(fleet: Fleet) -> List[HistorySeries]:
    groups: Dict[Tuple[str, str], Dict[str, List[Digest]]] = defaultdict(lambda: defaultdict(list))
    for one in fleet.digests:
        if one.ceilings.names:
            groups[one.kind, one.plan][one.revision].append(one)
    series: List[HistorySeries] = []
    for (kind, plan), revisions in sorted(groups.items()):
        first = len(series)
        for revision in sorted(revisions, key=lambda r: min(one.time for one in revisions[r])):
            rates = _weekly(revisions[revision])
            joined = _join(series[-1].rates, rates) if len(series) > first else rates[:0]
            if len(joined):
                series[-1].revisions.append(revision)
                series[-1].rates = joined
            else:
                series.append(HistorySeries(kind, plan, [revision], rates))
    return series


def judge_history(fleet: Fleet) -> List[HistorySeries]:
    series, scatters, candidates = _series_of(fleet), [], [pd.DataFrame({"chance": [], "change": []})]
    for number, found in enumerate(series):
        nodes, found.weeks = (sorted(found.rates.index.unique(level)) for level in ("node", "week"))
        found.nodes = len(nodes)
        ceilings = {}
        for name, of_name in found.rates.groupby("ceiling"):
            table = of_name.droplevel("ceiling").unstack("week").reindex(index=nodes, columns=found.weeks)
            ceilings[name] = _Ceiling(table.to_numpy(float))
        counts = TailCounts(len(nodes))
        for ceiling in ceilings.values():
            ceiling.count(counts)
        tails = counts.weights(np.tile(BEFORE, (len(nodes), 1)))
        for name, ceiling in ceilings.items():
            drifts = pd.DataFrame(ceiling.drifts(tails[:, 0])).assign(ceiling=name, series=number)
            found.tests += len(drifts)
            found.shifts += ceiling.shifts(name, found.weeks)
            if len(drifts):
                candidates.append(drifts.assign(node=np.array(nodes, dtype=object)[drifts["node"]]))
        sigmas = [ceiling.sigma for ceiling in ceilings.values()]
        scatters.append((float(np.median(sigmas)), float(tails[0, 0])) if sigmas else (0.0, 0.0))
    rows = pd.concat(candidates[1:] or candidates)
    for row in rows[holm(rows["chance"]) & (rows["change"] < MATERIAL).to_numpy()].itertuples():
        found = series[row.series]
        found.drifts.append(NodeDrift(row.node, row.ceiling, found.weeks[int(row.since)], exp(row.change),
                                      int(row.before), int(row.after), float(row.chance)))
    for found, scatter in zip(series, scatters):
        found.visible = _visible_drop(*scatter, len(found.weeks), len(rows))
        found.drifts.sort(key=lambda drift: drift.ratio)
    return series

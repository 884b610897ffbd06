"""Changes. Two fleets, or one before and after: B to A for each ceiling, and nodes that changed unlike the others.

Drift: the ceilings of nodes over weeks. A node is compared with the fleet's median of the same week, so that a change
of all nodes (a season, a driver, another revision of roof) is not taken for a change of one; it is reported apart.

d is ln(node / median of the fleet's week). The statistic is the one-sided CUSUM
  C = max over t of (sum of the first t values of d - mean d) / (sigma sqrt(weeks)),   chance exp(-2 C²), Holm over all
with sigma from the differences of successive weeks of all nodes: a node that goes down hardly moves it. These
differences also show whether the scatter has tails (TailCounts). By as much as it may, d counts as 1.75 sigma from its
median at most, so that no single week makes a drift."""

import math
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass, field, replace
from typing import Any, Dict, List, Tuple

import numpy as np
import pandas as pd
from scipy.special import bdtr

from roof.fleet.digests import Digest
from roof.fleet.folders import Fleet
from roof.fleet.healthy import BEFORE, TailCounts, healthy
from roof.fleet.judge import judge
from roof.fleet.quantities import logs_in, logs_of
from roof.fleet.scale import (ERROR, FEWEST_COMPARED, FOUND, MATERIAL, WINSORIZED, chance_of_difference,
                              errors_in_half_width, exp, holm, scale)

FEWEST_WEEKS = 4  #: of a node
FEWEST_STEPS = 20  #: from week to week, of all nodes
FEWEST_JOINING = 10  #: nodes that ran two revisions in one week, so that the later continues the earlier one's series
KEYS = ["ceiling", "node", "week"]
ALIKE = 1000  #: simulated machines: sigma is as good as certain


#: `common`: nodes in both; from six on, the ratio of B to A is the median of theirs; medians in SI; `chance`: of as
#: large a difference between equal fleets; `finding`: "slower" and "faster" are certain and beyond 3%; "same within
#: 3%".
Change = namedtuple("Change", "ceiling unit nodes_a nodes_b common median_a median_b ratio low high chance finding")
#: Of a kind and plan that both have. `revision_a`: of most nodes; `ceilings`: a Change each.
Comparison = namedtuple("Comparison", "kind plan revision_a revision_b ceilings")
#: `kinds`: a Comparison each; `nodes`: Findings of the ratios B to A of nodes in both, judged as rates; `only_a`:
#: nodes.
Changes = namedtuple("Changes", "kinds nodes only_a only_b")
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
    #: Nodes and ceilings whose rate, to the fleet's median of each week, went down, the largest first. `since`: the
    #: Monday of the first slower week; `ratio`: after to before; `chance`: that a node without drift shows as much.
    drifts: List[Any] = field(default_factory=list)
    shifts: List[FleetShift] = field(default_factory=list)


def _weekly(digests: List[Digest]) -> pd.Series:
    """ln of the mean rate by ceiling, node and week, which its Monday names."""
    days = np.array([one.time[:10] for one in digests], "datetime64[D]")
    weeks = (days - (days.astype(int) + 3) % 7).astype(str).tolist()  # the days count from a Thursday
    rows = [(name, one.node, week, rate) for one, week in zip(digests, weeks) for name, rate, high
            in zip(one.ceilings.names, one.ceilings.value.tolist(), one.ceilings.high.tolist()) if high < math.inf]
    frame = pd.DataFrame(rows, columns=[*KEYS, "x"])
    return np.log(frame["x"].astype(float)).groupby([frame[of] for of in KEYS]).mean()


def _join(earlier: pd.Series, later: pd.Series) -> pd.Series:
    """`later` on the scale of `earlier` and behind it; empty if too few nodes ran both in one week."""
    both = (later - earlier).dropna().groupby(["ceiling", "node"]).first().groupby("ceiling")
    offsets = both.median()[both.size() >= FEWEST_JOINING]
    if offsets.empty:
        return offsets
    moved = later - offsets.reindex(later.index.get_level_values("ceiling")).to_numpy()
    return earlier.combine_first(moved.dropna())


def _weeks_of(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each rate of a week with enough nodes, in the order of ceilings, nodes and weeks, which are numbers.
    `line`: the number of its node and ceiling; `d`: to the week's median; `step`, `change`: of d and x, since the
    line's week before; `weeks`: of the line; `sigma`: standard deviation of a node's week, 0 where it is unknown."""
    of_week = frame.groupby(["ceiling", "week"])["x"]
    d, is_counted = frame["x"] - of_week.transform("median"), of_week.transform("size") >= FEWEST_COMPARED
    frame = frame.assign(d=d)[is_counted].reset_index(drop=True)
    frame["line"] = frame.groupby(["ceiling", "node"]).ngroup()
    lines = frame.groupby("line")
    frame["step"], frame["change"], frame["weeks"] = lines["d"].diff(), lines["x"].diff(), lines["x"].transform("size")
    numbers = frame.groupby("ceiling")["week"].rank(method="dense")
    frame.loc[numbers.groupby(frame["line"]).diff() != 1, "change"] = np.nan
    sigmas = {ceiling: max(1e-5, math.sqrt(float(scale(steps).variance) / 2)) if len(steps) >= FEWEST_STEPS else 0.0
              for ceiling, steps in frame.dropna(subset=["step"]).groupby("ceiling")["step"]}
    frame["sigma"] = frame["ceiling"].map(sigmas).fillna(0.0).astype(float)
    return frame


def _largest(d: pd.Series, frame: pd.DataFrame) -> Tuple[np.ndarray, np.ndarray]:
    """C of each line, and the row of its last week before the change."""
    sums = (d - d.groupby(frame["line"]).transform("mean")).groupby(frame["line"]).cumsum()
    sums[~frame["line"].duplicated(keep="last")] = -np.inf
    at = sums.groupby(frame["line"]).idxmax()
    scatter = frame["sigma"][at] * np.sqrt(frame["weeks"][at])
    return (np.maximum(0, sums[at]) / scatter).to_numpy(), at.to_numpy()


def _drifts(frame: pd.DataFrame, normal: np.ndarray) -> pd.DataFrame:
    """A row for each node and ceiling with enough weeks. `normal`: of each node, the weight of a normal scatter."""
    frame = frame[(frame["weeks"] >= FEWEST_WEEKS) & (frame["sigma"] > 0)].reset_index(drop=True)
    c, at = _largest(frame["d"], frame)
    off, most = frame["d"] - frame.groupby("line")["d"].transform("median"), WINSORIZED * frame["sigma"]
    of_cut, _ = _largest(off.clip(-most, most), frame)
    before, since = frame.groupby("line").cumcount() + 1, frame["week"].shift(-1)
    found = frame.assign(weeks_before=before, since=since).loc[at].reset_index(drop=True)
    after, both = found["weeks"] - found["weeks_before"], found["weeks"] * np.sqrt(found["weeks"])
    change = -c * found["sigma"] * both / (found["weeks_before"] * after)  # difference of the means
    share = normal[found["node"]]
    chance = share * np.exp(-2 * c**2) + (1 - share) * np.exp(-2 * of_cut**2)
    return found.assign(weeks_after=after, change=change, ratio=change.map(exp), chance=chance)


def _shifts(frame: pd.DataFrame, names: Dict[str, pd.Index]) -> List[FleetShift]:
    """The weeks in which most nodes changed materially, and certainly."""
    found = []
    for (ceiling, week), changes in frame.dropna(subset=["change"]).groupby(["ceiling", "week"])["change"]:
        median, variance, _ = map(float, scale(changes))
        half = 5 * math.sqrt(0.5 * math.pi * variance / len(changes))  # standard errors: none in years of health
        if len(changes) >= FEWEST_COMPARED and abs(median) >= max(half, -MATERIAL):
            ratios = (exp(median + end) for end in (0, -half, half))
            found.append(FleetShift(names["ceiling"][ceiling], names["week"][week], *ratios, len(changes)))
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
    series, scatters, candidates = _series_of(fleet), [], [pd.DataFrame({"chance": [], "change": [], "ratio": []})]
    for number, found in enumerate(series):
        frame, names, scatters = found.rates.reset_index(name="x"), {}, [*scatters, (0.0, 0.0)]
        for of in KEYS:
            frame[of], names[of] = pd.factorize(frame[of], sort=True)
        found.nodes, found.weeks, frame = len(names["node"]), list(names["week"]), _weeks_of(frame)
        if frame.empty:
            continue
        known = frame[frame["step"].notna() & (frame["sigma"] > 0)]
        counts = TailCounts(found.nodes)
        z = (known["step"] / known["sigma"] / math.sqrt(2)).to_numpy()
        counts.add(known["node"].to_numpy(), z, healthy(ALIKE))
        normal = counts.weights(np.tile(BEFORE, (found.nodes, 1)))[:, 0]
        drifts = _drifts(frame, normal)
        found.tests, found.shifts = len(drifts), _shifts(frame, names)
        texts = {key: names[of][drifts[key].astype(int)] for key, of in zip(("ceiling", "node", "since"), KEYS)}
        drifts = drifts.assign(**texts, series=number)
        candidates += [drifts] if len(drifts) else []
        sigmas = frame.groupby("ceiling")["sigma"].first().reindex(range(len(names["ceiling"]))).fillna(0.0)
        scatters[-1] = float(sigmas.median()), float(normal[0])
    rows = pd.concat(candidates[1:] or candidates)
    drifted = rows[holm(rows["chance"]) & (rows["change"] < MATERIAL).to_numpy()]
    for row in drifted.sort_values("ratio", kind="stable").itertuples():
        series[row.series].drifts.append(row)
    for found, scatter in zip(series, scatters):
        found.visible = _visible_drop(*scatter, len(found.weeks), len(rows))
    return series


# ---------------------------------------------------------------------------------------------------- two fleets
def _newest_by_kind(fleet: Fleet) -> Dict[Tuple[str, str], Dict[str, Digest]]:
    """The newest digest of each node, by kind and plan."""
    kinds: Dict[Tuple[str, str], Dict[str, Digest]] = defaultdict(dict)
    for one in sorted(fleet.digests, key=lambda one: one.time):
        kinds[one.kind, one.plan][one.node] = one
    return kinds


def _of_pairs(differences: np.ndarray) -> Tuple[float, float, float, float]:
    """The median of the nodes' own ratios, with interval and chance of the sign test, which hold for any scatter."""
    n, d = len(differences), np.sort(differences)
    # of the interval: a place from below, and from above
    end = max(0, int((2 * bdtr(np.arange((n + 1) // 2), n, 0.5) <= 0.05).sum()) - 1)
    down, up = int((d < 0).sum()), int((d > 0).sum())
    chance = min(1.0, 2 * float(bdtr(min(down, up), down + up, 0.5))) if down + up else 1.0
    return exp(np.median(d)), exp(d[end]), exp(d[n - 1 - end]), chance


def _of_fleets(a: np.ndarray, b: np.ndarray) -> Tuple[float, float, float, float]:
    """Different nodes: the ratio of medians, and Mann and Whitney's test."""
    of_a, of_b = scale(a), scale(b)
    half = 1.96 * math.sqrt(0.5 * math.pi * (of_a.variance / len(a) + of_b.variance / len(b)))
    middle = float(of_b.median - of_a.median)
    ranks = pd.Series(np.concatenate((a, b))).rank().to_numpy()
    chance = float(chance_of_difference(ranks, np.repeat([0, 1], [len(a), len(b)]))[0])
    return exp(middle), exp(middle - half), exp(middle + half), chance


def _changes(a: Dict[str, Digest], b: Dict[str, Digest]) -> List[Change]:
    units = {name: unit for one in b.values() for name, unit in zip(one.ceilings.names, one.ceilings.units)}
    names = sorted(set(units) & {name for one in a.values() for name in one.ceilings.names})
    x_a, x_b = (pd.DataFrame(np.where(np.isinf(logs.high), np.nan, logs.x), list(nodes), names) for nodes, logs in
                ((nodes, logs_in(list(nodes.values()), names)) for nodes in (a, b)))
    ratios = (x_b - x_a)[names]
    changes = []
    for name in names:
        of_a, of_b, d = (x[name].dropna().to_numpy() for x in (x_a, x_b, ratios))
        if len(of_a) and len(of_b):
            found = _of_pairs(d) if len(d) >= FEWEST_COMPARED else _of_fleets(of_a, of_b)
            medians = exp(np.median(of_a)), exp(np.median(of_b))
            changes.append(Change(name, units[name], len(of_a), len(of_b), len(d), *medians, *found, ""))
    return changes


def _finding(change: Change, is_certain: bool) -> str:
    low, high = math.log(change.low), math.log(change.high)
    if max(change.common, min(change.nodes_a, change.nodes_b)) < FEWEST_COMPARED:
        return "undecided"
    if is_certain and (high < MATERIAL or low > -MATERIAL):
        return "slower" if high < MATERIAL else "faster"
    return "same within 3%" if low > MATERIAL and high < -MATERIAL else "undecided"


def _ratios(a: Digest, b: Digest) -> Digest:
    """The ratio of the node's rates, with both intervals in its own."""
    of_a, of_b = a.common_rates(b)
    rounds = np.minimum(of_a.rounds, of_b.rounds)
    variance = logs_of(*of_a.numbers).variance + logs_of(*of_b.numbers).variance
    half, ratio = errors_in_half_width(rounds) * np.sqrt(variance), of_b.value / of_a.value
    numbers = np.stack((ratio, ratio * np.exp(-half), ratio * np.exp(half), np.zeros(len(ratio)), rounds))
    return replace(b, run="", ceilings=of_b._replace(numbers=numbers), links=b.links.some(()))


def compare_fleets(a: Fleet, b: Fleet) -> Changes:
    """The newest digest of each node, kind and plan counts."""
    of_a, ratios, found = _newest_by_kind(a), Fleet([], expected=b.expected), []
    for key, nodes_b in sorted(_newest_by_kind(b).items()):
        if key in of_a:
            nodes_a = of_a[key]
            usual = (Counter(sorted(one.revision for one in nodes.values())).most_common(1)[0][0]
                     for nodes in (nodes_a, nodes_b))
            found.append((*key, *usual, _changes(nodes_a, nodes_b)))
            ratios.digests += [_ratios(nodes_a[node], one) for node, one in nodes_b.items() if node in nodes_a]
    certain = iter(holm([change.chance for *_, changes in found for change in changes]))
    nodes = judge(ratios)
    nodes.aside, nodes.refused = [], a.refused + b.refused
    in_a, in_b = ({one.node for one in fleet.digests} for fleet in (a, b))
    kinds = [Comparison(*known, [one._replace(finding=_finding(one, next(certain))) for one in changes])
             for *known, changes in found]
    return Changes(kinds, nodes, sorted(in_a - in_b), sorted(in_b - in_a))

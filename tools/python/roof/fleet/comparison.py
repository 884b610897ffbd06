"""Two fleets, or one before and after a change: B to A for each ceiling, and nodes that changed unlike the others."""

import math
from collections import Counter, defaultdict, namedtuple
from dataclasses import replace
from typing import Dict, List, Tuple

import numpy as np
import pandas as pd
from scipy.special import bdtr

from roof.fleet.digests import Digest
from roof.fleet.folders import Fleet
from roof.fleet.judge import judge
from roof.fleet.quantities import logs_in, logs_of
from roof.fleet.scale import (FEWEST_COMPARED, MATERIAL, chance_of_difference, errors_in_half_width, exp, holm, scale)


#: `common`: nodes in both; from six on, the ratio of B to A is the median of theirs; medians in SI; `chance`: of as
#: large a difference between equal fleets; `finding`: "slower" and "faster" are certain and beyond 3%; "same within
#: 3%".
Change = namedtuple("Change", "ceiling unit nodes_a nodes_b common median_a median_b ratio low high chance finding")
#: Of a kind and plan that both have. `revision_a`: of most nodes; `ceilings`: a Change each.
Comparison = namedtuple("Comparison", "kind plan revision_a revision_b ceilings")
#: `kinds`: a Comparison each; `nodes`: Findings of the ratios B to A of nodes in both, judged as rates; `only_a`:
#: nodes.
Changes = namedtuple("Changes", "kinds nodes only_a only_b")


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

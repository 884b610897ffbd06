"""Two fleets, or one before and after a change: each ceiling's rate of B to that of A, and the nodes that changed unlike the others."""

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Dict, List, Tuple

import numpy as np
from scipy.special import bdtr

from roof.fleet.digests import Digest
from roof.fleet.folders import Fleet
from roof.fleet.judge import Findings, judge
from roof.fleet.quantities import logs_in, logs_of
from roof.fleet.scale import FEWEST_COMPARED, MATERIAL, chance_of_difference, errors_in_half_width, exp, holm, ranks_of, scale


@dataclass
class CeilingChange:
    ceiling: str
    unit: str
    nodes_a: int
    nodes_b: int
    common: int  #: nodes in both; from six on, the ratio is the median of theirs
    median_a: float  #: SI
    median_b: float
    ratio: float = 0.0  #: B to A; low and high: its 95% interval
    low: float = 0.0
    high: float = 0.0
    chance: float = 1.0  #: of as large a difference between equal fleets
    finding: str = "undecided"  #: "slower" and "faster": certain, and beyond 3%; "same within 3%"


@dataclass
class Comparison:
    kind: str
    plan: str
    revision_a: str  #: of most nodes
    revision_b: str
    ceilings: List[CeilingChange]


@dataclass
class Changes:
    kinds: List[Comparison] = field(default_factory=list)  #: kinds and plans that both have
    nodes: Findings = field(default_factory=Findings)  #: of the ratios B to A of nodes in both, judged as rates
    only_a: List[str] = field(default_factory=list)
    only_b: List[str] = field(default_factory=list)


def _newest_by_kind(fleet: Fleet) -> Dict[Tuple[str, str], Dict[str, Digest]]:
    """The newest digest of each node, by kind and plan."""
    kinds: Dict[Tuple[str, str], Dict[str, Digest]] = {}
    for digest in fleet.digests:
        nodes = kinds.setdefault((digest.kind, digest.plan), {})
        if digest.node not in nodes or nodes[digest.node].time <= digest.time:
            nodes[digest.node] = digest
    return kinds


def _of_pairs(differences: np.ndarray, change: CeilingChange) -> None:
    """The median of the nodes' own ratios, with the interval and the chance of the sign test: they hold for any scatter."""
    n, d = len(differences), np.sort(differences)
    places = np.arange((n + 1) // 2)
    # of the interval: a place from below, and from above
    end = max(0, int((2 * bdtr(places, n, 0.5) <= 0.05).sum()) - 1)
    change.ratio, change.low, change.high = (exp(x) for x in (np.median(d), d[end], d[n - 1 - end]))
    down, up = int((d < 0).sum()), int((d > 0).sum())
    change.chance = min(1.0, 2 * float(bdtr(min(down, up), down + up, 0.5))) if down + up else 1.0


def _of_fleets(a: np.ndarray, b: np.ndarray, change: CeilingChange) -> None:
    """Different nodes: the ratio of medians, and Mann and Whitney's test."""
    of_a, of_b = scale(a), scale(b)
    half = 1.96 * math.sqrt(0.5 * math.pi * (of_a.variance / len(a) + of_b.variance / len(b)))
    middle = float(of_b.median - of_a.median)
    change.ratio, change.low, change.high = (exp(middle + end) for end in (0, -half, half))
    codes = np.repeat([0, 1], [len(a), len(b)])
    change.chance = float(chance_of_difference(ranks_of(np.concatenate((a, b))), codes)[0])


def _changes(a: Dict[str, Digest], b: Dict[str, Digest]) -> List[CeilingChange]:
    units = {name: unit for digest in b.values() for name, unit in zip(digest.ceilings.names, digest.ceilings.units)}
    names = sorted(set(units) & {name for digest in a.values() for name in digest.ceilings.names})
    x_a, x_b = (np.where(np.isinf(logs.high), np.nan, logs.x) for logs in (logs_in(list(f.values()), names) for f in (a, b)))
    nodes_b = {node: row for row, node in enumerate(b)}
    pairs = np.array([(row, nodes_b[node]) for row, node in enumerate(a) if node in nodes_b], dtype=int).reshape(-1, 2)
    changes = []
    for c, name in enumerate(names):
        of_a, of_b = (x[~np.isnan(x)] for x in (x_a[:, c], x_b[:, c]))
        if not len(of_a) or not len(of_b):
            continue
        differences = x_b[pairs[:, 1], c] - x_a[pairs[:, 0], c]
        differences = differences[~np.isnan(differences)]
        change = CeilingChange(name, units[name], len(of_a), len(of_b), len(differences), *(exp(np.median(x)) for x in (of_a, of_b)))
        if change.common >= FEWEST_COMPARED:
            _of_pairs(differences, change)
        else:
            _of_fleets(of_a, of_b, change)
        changes.append(change)
    return changes


def _decide(kinds: List[Comparison]) -> None:
    changes = [change for kind in kinds for change in kind.ceilings]
    for change, is_certain in zip(changes, holm([change.chance for change in changes])):
        if max(change.common, min(change.nodes_a, change.nodes_b)) < FEWEST_COMPARED:
            continue
        low, high = math.log(change.low), math.log(change.high)
        if is_certain and high < MATERIAL:
            change.finding = "slower"
        elif is_certain and low > -MATERIAL:
            change.finding = "faster"
        elif low > MATERIAL and high < -MATERIAL:
            change.finding = "same within 3%"


def _ratios(a: Digest, b: Digest) -> Digest:
    """The ratio of the node's rates, with both intervals in its own."""
    places = {name: k for k, name in enumerate(a.ceilings.names) if np.isfinite(a.ceilings.high[k])}
    of_b = b.ceilings.some([k for k, name in enumerate(b.ceilings.names) if name in places and np.isfinite(b.ceilings.high[k])])
    of_a = a.ceilings.some([places[name] for name in of_b.names])
    rounds = np.minimum(of_a.rounds, of_b.rounds)
    half = errors_in_half_width(rounds) * np.sqrt(logs_of(*of_a.numbers).variance + logs_of(*of_b.numbers).variance)
    ratio = of_b.value / of_a.value
    numbers = np.stack((ratio, ratio * np.exp(-half), ratio * np.exp(half), np.zeros(len(ratio)), rounds))
    return replace(b, run="", ceilings=of_b._replace(numbers=numbers), links=b.links.some([]))


def compare_fleets(a: Fleet, b: Fleet) -> Changes:
    """The newest digest of each node, kind and plan counts."""
    changes, of_a = Changes(), _newest_by_kind(a)
    ratios = Fleet([], expected=b.expected)
    for key, nodes_b in sorted(_newest_by_kind(b).items()):
        nodes_a = of_a.get(key)
        if nodes_a is None:
            continue
        usual = [Counter(sorted(digest.revision for digest in nodes.values())).most_common(1)[0][0] for nodes in (nodes_a, nodes_b)]
        changes.kinds.append(Comparison(*key, *usual, _changes(nodes_a, nodes_b)))
        ratios.digests += [_ratios(nodes_a[node], digest) for node, digest in nodes_b.items() if node in nodes_a]
    _decide(changes.kinds)
    changes.nodes = judge(ratios)
    changes.nodes.aside, changes.nodes.refused = [], a.refused + b.refused
    in_a, in_b = ({digest.node for digest in fleet.digests} for fleet in (a, b))
    changes.only_a, changes.only_b = sorted(in_a - in_b), sorted(in_b - in_a)
    return changes

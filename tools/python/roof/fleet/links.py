"""The links between nodes, measured pair by pair.

A slow node or its cable has only slow links; the links of nodes behind a slow switch are slow to the others and not
among themselves; and a link may be slow alone: ln(rate of a link) = m + node_i + node_j + link_ij, by robust means,
which a few slow links do not move. Slow nodes are joined to an uplink if a link among them is as fast as others, or if
they are all the nodes with a fact in common."""

import math
from collections import defaultdict, namedtuple
from typing import Dict, List, Sequence, Tuple

import numpy as np
import pandas as pd

from roof.fleet.folders import Fleet
from roof.fleet.healthy import healthy
from roof.fleet.quantities import logs_of
from roof.fleet.scale import ERROR, FEWEST_COMPARED, FOUND, MATERIAL, Group, exp, holm, scale
from roof.texts import how_many

NODE, UPLINK, LINK = "node", "links between nodes and others", "link"


#: `nodes`: one; those behind the uplink; the two ends. `ratio`: to the rate of the other links; `links`: how many are
#: slow; `chance`: that a healthy one is as slow, or of the least likely node, 1 for two populations; `shared`:
#: "switch=s1", a fact of all these nodes and of no other.
SlowLinks = namedtuple("SlowLinks", "fault nodes ratio links chance shared remark")


def _chances(group: Group) -> Tuple[np.ndarray, float]:
    """That a healthy one lies as low, 1 if it is not clearly below the median; and the smallest visible difference."""
    table, z = healthy(group.size), group.distance()
    least = (table.distance(ERROR / group.size) - FOUND) * math.sqrt(group.variance)
    return np.where(z > -2, 1.0, table.chance(z)), -math.expm1(min(least, MATERIAL))


class LinkFindings:
    """What the links by one plan and revision tell. Needs 6 nodes, and twice as many links as nodes."""

    nodes = links = 0
    median = scatter = 0.0  #: B/s; of links beyond their nodes, relative
    visible_node = visible_link = 0.0  #: the smallest differences that are found in 95% of cases, relative; 0: none
    note = ""  #: why nothing can be told

    def __init__(self, plan: str, revision: str, rates: pd.Series, facts: Dict[str, Dict[str, str]]):
        """`rates`: ln, by both ends."""
        self.plan, self.revision, self.slow = plan, revision, []  # type: str, str, List[SlowLinks]
        if rates.empty:
            self.note = "there are only lower bounds"
            return
        self._names = sorted({end for ends in rates.index for end in ends})
        places = {name: k for k, name in enumerate(self._names)}
        self._ends, self._x = np.array([[places[a], places[b]] for a, b in rates.index]), rates.to_numpy()
        self._having: Dict[Tuple[str, str], List[int]] = defaultdict(list)  #: the nodes that have a fact
        for node, name in enumerate(self._names):
            for fact in facts.get(name, {}).items():
                self._having[fact].append(node)
        self._fit()
        self.nodes, self.links, self.median = len(self._names), len(self._x), exp(self._middle)
        if self.nodes < FEWEST_COMPARED or self.links < 2 * self.nodes:
            self.note = f"too few to tell nodes from links: {how_many(self.links, 'link')} of " \
                        f"{how_many(self.nodes, 'node')}"
            return
        self._find_slow_nodes()
        self._find_slow_links()
        self.slow.sort(key=lambda slow: slow.ratio)

    def _rest_of(self, k=slice(None)) -> np.ndarray:
        return self._x[k] - self._middle - self._effects[self._ends[k]].sum(-1)

    def _sweep(self, of_node: List[np.ndarray], middle) -> None:
        for node, links in enumerate(of_node):
            self._effects[node] += middle(self._rest_of(links))
        usual = float(np.median(self._effects))
        self._effects -= usual
        self._middle += 2 * usual

    def _fit(self) -> None:
        """Medians first; then means without the links that are far off (bisquare), which use what the others tell."""
        self._middle, self._effects = float(np.median(self._x)), np.zeros(len(self._names))
        of_node = [np.flatnonzero((self._ends == node).any(1)) for node in range(len(self._names))]
        number = np.array([len(links) for links in of_node])
        sweeps, far = 30, 12  # standard deviations of the first fit, which are small where nodes have few links
        for _ in range(sweeps):
            self._sweep(of_node, np.median)
        reach = far * math.sqrt(max(1e-10, scale(self._rest_of()).variance))

        def weight(rest):
            return (1 - np.minimum(1, np.abs(rest) / reach) ** 2) ** 2

        def mean(rest):
            weights = weight(rest)
            return (weights * rest).sum() / weights.sum() if weights.sum() > 0 else np.median(rest)

        for _ in range(sweeps):
            self._sweep(of_node, mean)
        self._variances = float(scale(self._rest_of()).variance) / number  # of the nodes
        leverage = np.minimum(0.9, (1 / number[self._ends]).sum(1))
        rest = self._rest_of()
        self._rest = rest / (1 - weight(rest) * leverage)  # beyond the median and its nodes, fitted without it
        self._spread = 1 / np.sqrt(1 - leverage)

    def _add(self, fault: str, nodes: Sequence[int], ratio: float, links: int, chance: float, remark="") -> None:
        shared = next((f"{fact}={value}" for (fact, value), having in sorted(self._having.items())
                       if len(having) > 1 and having == sorted(nodes)), "")
        self.slow.append(SlowLinks(fault, [self._names[i] for i in nodes], exp(ratio), int(links), float(chance),
                                   shared, remark))

    def _parts(self, edges) -> np.ndarray:
        """Of each node the number of its part, where edges join nodes."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        a, b = np.array(edges, dtype=int).reshape(-1, 2).T
        n = len(self._names)
        return connected_components(coo_matrix((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False)[1]

    def _find_slow_nodes(self) -> None:
        group = Group(self._effects, self._variances)
        chances, self.visible_node = _chances(group)
        slow = holm(chances)
        slow[group.order[: group.upper_population(ERROR)]] = True
        slow &= self._effects < MATERIAL
        # equal numbers: one reason
        one_reason = self._ends[slow[self._ends].all(1) & (self._x >= self._middle + MATERIAL)].tolist()
        for nodes in self._having.values():
            if len(nodes) >= 3 and slow[nodes].all():
                one_reason += [(nodes[0], node) for node in nodes]
        reason = self._parts(one_reason)
        reasons = dict.fromkeys(reason[slow])
        for one in reasons:
            nodes = np.flatnonzero(slow & (reason == one)).tolist()
            self._add_part(nodes, slow, chances, len(reasons) == 1)

    def _add_part(self, nodes: List[int], slow: np.ndarray, chances: np.ndarray, is_only: bool) -> None:
        is_in = np.isin(self._ends, nodes)
        inside, across = is_in.all(1), is_in[:, 0] != is_in[:, 1]
        self._rest[inside] = self._x[inside] - self._middle
        others = self._ends[across][~is_in[across]]
        outside = self._x[across] - self._middle - np.where(slow[others], self._effects[others], 0)
        remark = ""
        if len(nodes) > 1:
            are_slow = inside.any() and np.median(self._rest[inside]) < MATERIAL
            remark = "no link among them was measured" if not inside.any() else \
                f"the links among them are {'slow too' if are_slow else 'fast'}"
        elif not is_only and not slow[others].any():  # a link to another slow node shows that they have two reasons
            remark = "or a switch: no link to another slow node was measured"
        ratio = np.median(outside) if len(outside) else 0.0
        self._add(UPLINK if len(nodes) > 1 else NODE, nodes, ratio, across.sum(), chances[nodes].min(), remark)

    def _find_slow_links(self) -> None:
        """Links that are slow beyond their nodes; of two populations of links, the nodes between which they are."""
        group = Group(self._rest / self._spread, np.zeros(len(self._rest)))
        self.scatter, (chances, self.visible_link) = group.scatter, _chances(group)
        upper = group.upper_population(ERROR)
        if not upper or self.slow:
            for k in np.flatnonzero(holm(chances) & (self._rest < MATERIAL)):
                self._add(LINK, self._ends[k], self._rest[k], 1, chances[k])
            return
        # Too many links are slow to blame one node. Nodes that fast links join are one part.
        slow, fast = group.order[:upper], group.order[upper:]
        ratio, part = np.median(self._x[slow]) - np.median(self._x[fast]), self._parts(self._ends[fast])
        parts = range(part.max() + 1)
        if len(parts) == 1:
            self._add(LINK, [], ratio, len(slow), 1.0, "two populations of links, which divide no nodes")
            return
        for one in parts[:1] if len(parts) == 2 else parts:  # of two parts the links are the same
            is_in = part[self._ends] == one
            self._add(UPLINK, np.flatnonzero(part == one), ratio, (is_in[:, 0] != is_in[:, 1]).sum(), 1.0,
                      "the links among them are fast")


def judge_links(fleet: Fleet) -> List[LinkFindings]:
    """The links of all digests by one plan and revision together."""
    rows = []
    for one in (digest for digest in fleet.digests if digest.links.names):
        logs = logs_of(*one.links.numbers)
        ends = (sorted(name.split(" ")) for name in one.links.names)
        rows += [(one.plan, one.revision, *pair, x, v) for pair, x, v in zip(ends, logs.x, logs.variance)]
    frame = pd.DataFrame(rows, columns=["plan", "revision", "a", "b", "x", "variance"])
    return [LinkFindings(*key, some[np.isfinite(some["variance"])].groupby(["a", "b"])["x"].mean(), fleet.expected)
            for key, some in frame.groupby(["plan", "revision"])]

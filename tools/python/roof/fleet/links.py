"""The links between nodes, measured pair by pair.

A slow node or its cable has only slow links; the links of nodes behind a slow switch are slow to the others and not
among themselves; and a link may be slow alone: ln(rate of a link) = m + node_i + node_j + link_ij, by robust means,
which a few slow links do not move. Slow nodes are joined to an uplink if a link among them is as fast as others, or if
they are all the nodes with a fact in common."""

import math
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field
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


@dataclass
class LinkFindings:
    plan: str
    revision: str
    nodes: int = 0
    links: int = 0
    median: float = 0.0  #: B/s
    scatter: float = 0.0  #: of links beyond their nodes, relative
    visible_node: float = 0.0  #: the smallest differences that are found in 95% of cases, relative; 0: none
    visible_link: float = 0.0
    slow: List[SlowLinks] = field(default_factory=list)
    note: str = ""  #: why nothing can be told


class _Links:
    def __init__(self, rates: pd.Series, facts: Dict[str, Dict[str, str]]):
        """`rates`: ln, by both ends."""
        self.names = sorted({end for ends in rates.index for end in ends})
        places = {name: k for k, name in enumerate(self.names)}
        self.ends, self.x = np.array([[places[a], places[b]] for a, b in rates.index]), rates.to_numpy()
        self.of_node = [np.flatnonzero((self.ends == node).any(1)) for node in range(len(self.names))]
        self.number = np.array([len(links) for links in self.of_node])
        self.having: Dict[Tuple[str, str], List[int]] = defaultdict(list)  #: the nodes that have a fact
        for node, name in enumerate(self.names):
            for fact in facts.get(name, {}).items():
                self.having[fact].append(node)
        self.median, self.effects = float(np.median(self.x)), np.zeros(len(self.names))

    def _rest(self, k=slice(None)) -> np.ndarray:
        return self.x[k] - self.median - self.effects[self.ends[k]].sum(-1)

    def _sweep(self, middle) -> None:
        for node, links in enumerate(self.of_node):
            self.effects[node] += middle(self._rest(links))
        usual = float(np.median(self.effects))
        self.effects -= usual
        self.median += 2 * usual

    def fit(self) -> None:
        """Medians first; then means without the links that are far off (bisquare), which use what the others tell."""
        sweeps, far = 30, 12  # standard deviations of the first fit, which are small where nodes have few links
        for _ in range(sweeps):
            self._sweep(np.median)
        reach = far * math.sqrt(max(1e-10, scale(self._rest()).variance))

        def weight(rest):
            return (1 - np.minimum(1, np.abs(rest) / reach) ** 2) ** 2

        def mean(rest):
            weights = weight(rest)
            return (weights * rest).sum() / weights.sum() if weights.sum() > 0 else np.median(rest)

        for _ in range(sweeps):
            self._sweep(mean)
        self.variances = float(scale(self._rest()).variance) / self.number  # of the nodes
        leverage = np.minimum(0.9, (1 / self.number[self.ends]).sum(1))
        rest = self._rest()
        self.rest = rest / (1 - weight(rest) * leverage)  # beyond the median and its nodes, which are fitted without it
        self.spread = 1 / np.sqrt(1 - leverage)

    def slow(self, fault: str, nodes: Sequence[int], ratio: float, links: int, chance: float, remark="") -> SlowLinks:
        shared = next((f"{fact}={value}" for (fact, value), having in sorted(self.having.items())
                       if len(having) > 1 and having == sorted(nodes)), "")
        return SlowLinks(fault, [self.names[i] for i in nodes], exp(ratio), int(links), float(chance), shared, remark)

    def parts(self, edges) -> np.ndarray:
        """Of each node the number of its part, where edges join nodes."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        a, b = np.array(edges, dtype=int).reshape(-1, 2).T
        n = len(self.names)
        return connected_components(coo_matrix((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False)[1]


def _chances(group: Group) -> Tuple[np.ndarray, float]:
    """That a healthy one lies as low, 1 if it is not clearly below the median; and the smallest visible difference."""
    table, z = healthy(group.size), group.distance()
    least = (table.distance(ERROR / group.size) - FOUND) * math.sqrt(group.variance)
    return np.where(z > -2, 1.0, table.chance(z)), -math.expm1(min(least, MATERIAL))


def _find_slow_nodes(links: _Links, findings: LinkFindings) -> None:
    group = Group(links.effects, links.variances)
    chances, findings.visible_node = _chances(group)
    slow = holm(chances)
    slow[group.order[: group.upper_population(ERROR)]] = True
    slow &= links.effects < MATERIAL
    # equal numbers: one reason
    one_reason = links.ends[slow[links.ends].all(1) & (links.x >= links.median + MATERIAL)].tolist()
    for nodes in links.having.values():
        if len(nodes) >= 3 and slow[nodes].all():
            one_reason += [(nodes[0], node) for node in nodes]
    reason = links.parts(one_reason)
    reasons = dict.fromkeys(reason[slow])
    for one in reasons:
        nodes = np.flatnonzero(slow & (reason == one)).tolist()
        findings.slow.append(_slow_part(links, nodes, slow, chances, len(reasons) == 1))


def _slow_part(links: _Links, nodes: List[int], slow: np.ndarray, chances: np.ndarray, is_only: bool) -> SlowLinks:
    is_in = np.isin(links.ends, nodes)
    inside, across = is_in.all(1), is_in[:, 0] != is_in[:, 1]
    links.rest[inside] = links.x[inside] - links.median
    others = links.ends[across][~is_in[across]]
    outside = links.x[across] - links.median - np.where(slow[others], links.effects[others], 0)
    remark = ""
    if len(nodes) > 1:
        are_slow = inside.any() and np.median(links.rest[inside]) < MATERIAL
        remark = "no link among them was measured" if not inside.any() else \
            f"the links among them are {'slow too' if are_slow else 'fast'}"
    elif not is_only and not slow[others].any():  # a link to another slow node shows that they have two reasons
        remark = "or a switch: no link to another slow node was measured"
    ratio = np.median(outside) if len(outside) else 0.0
    return links.slow(UPLINK if len(nodes) > 1 else NODE, nodes, ratio, across.sum(), chances[nodes].min(), remark)


def _find_slow_links(links: _Links, findings: LinkFindings) -> None:
    """Links that are slow beyond their nodes; of two populations of links, the nodes between which they are slow."""
    group = Group(links.rest / links.spread, np.zeros(len(links.rest)))
    findings.scatter, (chances, findings.visible_link) = group.scatter, _chances(group)
    upper = group.upper_population(ERROR)
    if not upper or findings.slow:
        for k in np.flatnonzero(holm(chances) & (links.rest < MATERIAL)):
            findings.slow.append(links.slow(LINK, links.ends[k], links.rest[k], 1, chances[k]))
        return
    # Too many links are slow to blame one node. Nodes that fast links join are one part.
    slow, fast = group.order[:upper], group.order[upper:]
    ratio, part = np.median(links.x[slow]) - np.median(links.x[fast]), links.parts(links.ends[fast])
    parts = range(part.max() + 1)
    if len(parts) == 1:
        remark = "two populations of links, which divide no nodes"
        findings.slow.append(links.slow(LINK, [], ratio, len(slow), 1.0, remark))
        return
    for one in parts[:1] if len(parts) == 2 else parts:  # of two parts the links are the same
        is_in = part[links.ends] == one
        findings.slow.append(links.slow(UPLINK, np.flatnonzero(part == one), ratio, (is_in[:, 0] != is_in[:, 1]).sum(),
                                        1.0, "the links among them are fast"))


def judge_links(fleet: Fleet) -> List[LinkFindings]:
    """The links of all digests by one plan and revision together. Needs 6 nodes, and twice as many links as nodes."""
    rows = []
    for one in (digest for digest in fleet.digests if digest.links.names):
        logs = logs_of(*one.links.numbers)
        ends = (sorted(name.split(" ")) for name in one.links.names)
        rows += [(one.plan, one.revision, *pair, x, v) for pair, x, v in zip(ends, logs.x, logs.variance)]
    frame, found = pd.DataFrame(rows, columns=["plan", "revision", "a", "b", "x", "variance"]), []
    for (plan, revision), some in frame.groupby(["plan", "revision"]):
        findings = LinkFindings(plan, revision)
        found.append(findings)
        rates = some[np.isfinite(some["variance"])].groupby(["a", "b"])["x"].mean()
        if rates.empty:
            findings.note = "there are only lower bounds"
            continue
        links = _Links(rates, fleet.expected)
        links.fit()
        findings.nodes, findings.links, findings.median = len(links.names), len(links.x), exp(links.median)
        if findings.nodes < FEWEST_COMPARED or findings.links < 2 * findings.nodes:
            findings.note = f"too few to tell nodes from links: {how_many(findings.links, 'link')} of " \
                            f"{how_many(findings.nodes, 'node')}"
        else:
            _find_slow_nodes(links, findings)
            _find_slow_links(links, findings)
            findings.slow.sort(key=lambda slow: slow.ratio)
    return found

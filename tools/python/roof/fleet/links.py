"""The links between nodes, measured pair by pair.

A slow node or its cable has only slow links; the links of nodes behind a slow switch are slow to the others and not among themselves; and a link may
be slow alone: ln(rate of a link) = m + node_i + node_j + link_ij, by robust means, which a few slow links do not move. Slow nodes are joined to an
uplink if a link among them is as fast as others, or if they are all the nodes with a fact in common."""

import math
from dataclasses import dataclass, field
from typing import Dict, List, Sequence, Tuple

import numpy as np

from roof.fleet.folders import Fleet
from roof.fleet.healthy import Healthy, Tables
from roof.fleet.quantities import logs_of
from roof.fleet.scale import ERROR, FEWEST_COMPARED, FOUND, Group, MATERIAL, Pooled, exp, holm, scale
from roof.texts import how_many

NODE, UPLINK, LINK = "node", "links between nodes and others", "link"


@dataclass
class SlowLinks:
    fault: str
    nodes: List[str]  #: one; those behind the uplink; the two ends
    ratio: float  #: to the rate of the other links
    links: int  #: how many are slow
    chance: float  #: that a healthy one is as slow, or of the least likely node; 1 for two populations
    shared: str  #: "switch=s1": a fact of all these nodes and of no other
    remark: str = ""


@dataclass
class LinkFindings:
    plan: str
    revision: str
    nodes: int
    links: int
    median: float = 0.0  #: B/s
    scatter: float = 0.0  #: of links beyond their nodes, relative
    visible_node: float = 0.0  #: the smallest differences that are found in 95% of cases, relative; 0: none
    visible_link: float = 0.0
    slow: List[SlowLinks] = field(default_factory=list)
    note: str = ""  #: why nothing can be told


class _Links:
    def __init__(self, rates: Dict[Tuple[str, str], List[Tuple[float, float]]], facts: Dict[str, Dict[str, str]]):
        self.names = sorted({end for ends in rates for end in ends})
        places = {name: k for k, name in enumerate(self.names)}
        pairs = sorted(rates)
        self.ends = np.array([[places[end] for end in ends] for ends in pairs], dtype=int).reshape(-1, 2)
        self.x = np.array([np.mean([x for x, _ in rates[ends]]) for ends in pairs])
        self.of_node = [np.flatnonzero((self.ends == node).any(1)) for node in range(len(self.names))]
        self.facts = [facts.get(name, {}) for name in self.names]
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
        number = np.array([len(links) for links in self.of_node])
        leverage = np.minimum(0.9, (1 / number[self.ends]).sum(1))
        rest = self._rest()
        self.rest = rest / (1 - weight(rest) * leverage)  # beyond the median and its nodes, which are fitted without it
        self.spread = 1 / np.sqrt(1 - leverage)

    def shared_fact(self, nodes: Sequence[int]) -> str:
        for fact, value in sorted(self.facts[nodes[0]].items()):
            having = [i for i, facts in enumerate(self.facts) if facts.get(fact) == value]
            if len(having) > 1 and having == sorted(nodes):
                return f"{fact}={value}"
        return ""


def _chances(group: Group, healthy: Healthy) -> np.ndarray:
    """That a healthy one lies as low; 1 for what is not clearly below the median."""
    z = group.distance(group.x, group.own_variance, np.arange(group.size), Pooled(), 0.0)
    return np.where(z > -2, 1.0, healthy.chance(z))


def _visible(group: Group, healthy: Healthy) -> float:
    least = (healthy.distance(ERROR / group.size) - FOUND) * math.sqrt(group.variance)
    return -math.expm1(min(least, MATERIAL))


def _joined(part: List[int], a: int, b: int) -> None:
    of_a, of_b = part[a], part[b]
    part[:] = [of_a if one == of_b else one for one in part]


def _find_slow_nodes(links: _Links, tables: Tables, findings: LinkFindings) -> None:
    number = np.array([len(own) for own in links.of_node])
    group = Group(links.effects, float(scale(links._rest()).variance) / number)
    healthy = tables.healthy(group.size)
    chances, findings.visible_node = _chances(group, healthy), _visible(group, healthy)
    slow = holm(chances)
    slow[group.order[: group.upper_population(ERROR)]] = True
    slow &= links.effects < MATERIAL
    reason = list(range(len(slow)))  # equal numbers: one reason
    for (a, b), x in zip(links.ends, links.x):
        if slow[a] and slow[b] and x >= links.median + MATERIAL:
            _joined(reason, a, b)
    having: Dict[Tuple[str, str], List[int]] = {}
    for i, facts in enumerate(links.facts):
        for fact in facts.items():
            having.setdefault(fact, []).append(i)
    for nodes in having.values():
        if len(nodes) >= 3 and slow[nodes].all():
            for node in nodes:
                _joined(reason, nodes[0], node)
    parts: Dict[int, List[int]] = {}
    for node in np.flatnonzero(slow):
        parts.setdefault(reason[node], []).append(int(node))
    for nodes in parts.values():
        findings.slow.append(_slow_part(links, nodes, slow, chances, len(parts) == 1))


def _slow_part(links: _Links, nodes: List[int], slow: np.ndarray, chances: np.ndarray, is_only: bool) -> SlowLinks:
    is_in = np.isin(links.ends, nodes)
    inside, across = is_in.all(1), is_in[:, 0] != is_in[:, 1]
    links.rest[inside] = links.x[inside] - links.median
    others = links.ends[across][~is_in[across]]
    outside = links.x[across] - links.median - np.where(slow[others], links.effects[others], 0)
    found = SlowLinks(UPLINK if len(nodes) > 1 else NODE, [links.names[i] for i in nodes], exp(np.median(outside)) if len(outside) else 1.0,
                      int(across.sum()), float(chances[nodes].min()), links.shared_fact(nodes))
    if len(nodes) > 1:
        found.remark = ("no link among them was measured" if not inside.any() else "the links among them are slow too"
                        if np.median(links.rest[inside]) < MATERIAL else "the links among them are fast")
    elif not is_only and not slow[others].any():  # a link to another slow node shows that they have two reasons
        found.remark = "or a switch: no link to another slow node was measured"
    return found


def _find_slow_links(links: _Links, tables: Tables, findings: LinkFindings) -> None:
    """Links that are slow beyond their nodes, and, if the links form two populations, the nodes between which they are slow."""
    group = Group(links.rest / links.spread, np.zeros(len(links.rest)))
    healthy = tables.healthy(group.size)
    findings.scatter, findings.visible_link = group.scatter, _visible(group, healthy)
    upper = group.upper_population(ERROR)
    if upper and not findings.slow:
        _find_halves(links, group.order[:upper], group.order[upper:], findings)
        return
    chances = _chances(group, healthy)
    for k in np.flatnonzero(holm(chances) & (links.rest < MATERIAL)):
        a, b = links.ends[k]
        findings.slow.append(SlowLinks(LINK, [links.names[a], links.names[b]], exp(links.rest[k]), 1, float(chances[k]), links.shared_fact([a, b])))


def _find_halves(links: _Links, slow: np.ndarray, fast: np.ndarray, findings: LinkFindings) -> None:
    """So many links are slow that no node stands out: the fast ones divide the nodes."""
    part = list(range(len(links.names)))
    for a, b in links.ends[fast]:
        if part[a] != part[b]:
            _joined(part, a, b)
    ratio, parts = exp(np.median(links.x[slow]) - np.median(links.x[fast])), sorted(set(part))
    if len(parts) == 1:
        findings.slow.append(SlowLinks(LINK, [], ratio, len(slow), 1.0, "", "two populations of links, which divide no nodes"))
        return
    for one in parts[:1] if len(parts) == 2 else parts:  # of two parts the links are the same
        nodes = [i for i, of_node in enumerate(part) if of_node == one]
        is_in = np.isin(links.ends, nodes)
        findings.slow.append(SlowLinks(UPLINK, [links.names[i] for i in nodes], ratio, int((is_in[:, 0] != is_in[:, 1]).sum()), 1.0,
                                       links.shared_fact(nodes), "the links among them are fast"))


def judge_links(fleet: Fleet) -> List[LinkFindings]:
    """The links of all digests by one plan and revision together; each is the mean of its measurements. Needs six nodes, and twice as many links as
    nodes."""
    groups: Dict[Tuple[str, str], Dict[Tuple[str, str], List[Tuple[float, float]]]] = {}
    for digest in fleet.digests:
        if not digest.links.names:
            continue
        rates = groups.setdefault((digest.plan, digest.revision), {})
        logs = logs_of(*digest.links.numbers)
        for name, x, variance in zip(digest.links.names, logs.x, logs.variance):
            if np.isfinite(variance):
                a, b = sorted(name.split(" "))
                rates.setdefault((a, b), []).append((x, variance))
    tables, found = Tables(), []
    for (plan, revision), rates in sorted(groups.items()):
        if not rates:
            found.append(LinkFindings(plan, revision, 0, 0, note="there are only lower bounds"))
            continue
        links = _Links(rates, fleet.expected)
        links.fit()
        findings = LinkFindings(plan, revision, len(links.names), len(links.x), exp(links.median))
        if findings.nodes < FEWEST_COMPARED or findings.links < 2 * findings.nodes:
            findings.note = f"too few to tell nodes from links: {how_many(findings.links, 'link')} of {how_many(findings.nodes, 'node')}"
        else:
            _find_slow_nodes(links, tables, findings)
            _find_slow_links(links, tables, findings)
            findings.slow.sort(key=lambda slow: slow.ratio)
        found.append(findings)
    return found

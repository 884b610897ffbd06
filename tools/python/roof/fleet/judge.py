"""Which nodes of a fleet are slow. Nodes are compared only with equal ones: of the same kind, by the same plan and revision."""

import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Dict, List, NamedTuple, Tuple

import numpy as np

from roof.fleet.folders import Fleet
from roof.fleet.healthy import BEFORE, Tables, TailCounts
from roof.fleet.members import RANK, JudgeOptions, Member, Membership, NodeCeiling, NodeFinding
from roof.fleet.quantities import Quantity, ceilings_of, means_of
from roof.fleet.quantity_judge import (MEAN_OF_DAYS, NEWEST, OF_CEILINGS, OF_MEANS, OF_POPULATIONS, SLOWER_DAYS, CeilingFinding, QuantityJudge, Tests)
from roof.fleet.scale import (ERROR, FEWEST_COMPARED, FEWEST_DRAINED, FOUND, MATERIAL, benjamini_hochberg, chance_of_difference, exp, holm, pooled_scatter, ranks_of)

SLOW_DAY = 0.01  #: the chance at which a day counts as slow for a node that is slow on some days only


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
    return NodeCeiling(low.ceiling.name, "slow" if slow else "undecided", *(exp(part - low.median) for part in (low.x, low.low, low.high)),
                       chance=float(low.chance), days=int(low.days), on_another_day=on_another_day, reason=reason)


def _decide(tests: Tests) -> None:
    """Makes the lists over all groups, and puts what they hold into the findings."""
    lows = {name: np.concatenate([part[name] for part in tests.low]) for name in (tests.low[0] if tests.low else ())}
    for is_mean, error in ((False, OF_CEILINGS), (True, OF_MEANS)) if lows else ():
        rows, number = {name: column[lows["is_mean"] == is_mean] for name, column in lows.items()}, tests.number[is_mean]
        by_holm = holm(rows["chance"], number, error)
        listed = benjamini_hochberg(rows["chance"], number, error) & (rows["view"] != SLOWER_DAYS)
        shown = listed | rows["is_wide"] & (rows["is_bound"] | (rows["chance_of_low"] * number <= error))
        kept = np.flatnonzero(by_holm | shown)
        found_low = [SimpleNamespace(**{name: column[k] for name, column in rows.items()}) for k in kept]
        slow = [bool(is_certain) and _is_slow(row) for is_certain, row in zip(by_holm[kept], found_low)]
        found = max(1, sum(slow))
        for row, is_slow, is_shown in zip(found_low, slow, shown[kept]):
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
    """Every value of every fact against all other nodes, corrected by Holm's method for all of them. Those that differ materially, the largest
    difference first; none for fewer than 12 nodes."""
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
                ratio = exp(np.median(x[some == code]) - np.median(x[some != code]))
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
    nodes = {node.node for found in (findings.aside, *(group.nodes for group in findings.groups)) for node in found if node.finding != "fine"
             and not node.drain}
    return sorted(nodes | set(findings.damaged))

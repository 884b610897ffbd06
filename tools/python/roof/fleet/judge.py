"""Which nodes of a fleet are slow, compared only with equal ones: of the same kind, plan and revision."""

import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Dict, List, Tuple

import numpy as np
import pandas as pd

from roof.fleet.folders import Fleet
from roof.fleet.healthy import BEFORE, TailCounts, simulated
from roof.fleet.members import RANK, JudgeOptions, Key, Member, Membership, NodeCeiling, NodeFinding
from roof.fleet.quantities import NEWEST, SLOWER_DAYS, VIEWS, Quantity, Tests, ceilings_of, means_of
from roof.fleet.scale import (ERROR, FEWEST_COMPARED, FEWEST_DRAINED, FOUND, MATERIAL, benjamini_hochberg,
                              chance_of_difference, exp, holm, pooled_scatter)
from roof.texts import how_many

#: Parts of ERROR: for ceilings, for means over kinds, for two populations.
OF_CEILINGS, OF_MEANS, OF_POPULATIONS = 0.75 * ERROR, 0.2 * ERROR, 0.05 * ERROR
NOTHING = "There is no digest of ceilings: nothing was judged."
SLOW_DAY = 0.01  #: the chance at which a day counts as slow for a node that is slow on some days only


#: A fact that goes with a difference; not its cause. `nodes`: with this value; `ratio`: of their median to the others'.
Association = namedtuple("Association", "fact value ceiling nodes ratio chance")


#: `by`: the value of --group-by; `nodes`: a NodeFinding each; `ceilings`: a Quantity each.
FleetGroup = namedtuple("FleetGroup", "kind plan revision by nodes ceilings associations")


@dataclass
class Findings:
    groups: List[FleetGroup]
    aside: List[NodeFinding]  #: in no group: missing, too old or from the future
    refused: List[Tuple[str, str]]
    damaged: Dict[str, str]
    tests: int  #: ceilings of nodes that were compared
    notes: List[str]

    def nodes(self) -> List[NodeFinding]:
        return [*self.aside, *(node for group in self.groups for node in group.nodes)]


def _independent(quantities: List[Quantity]) -> float:
    """How many of the quantities are as good as independent: their scatters are known so well only together."""
    enough, most_members = [quantity for quantity in quantities if quantity.is_enough], 64
    z, known = np.zeros((2, len(enough), most_members))
    for row, quantity in enumerate(enough):
        k = quantity.members[quantity.members < most_members]
        off = (quantity.group.x[: len(k)] - quantity.group.median) / math.sqrt(quantity.group.variance)
        z[row, k], known[row, k] = np.clip(off, -3, 3), 1
    both, own, count = z @ z.T, z**2 @ known.T, known @ known.T
    told = np.triu((count >= 3) & (own > 0) & (own.T > 0), 1)
    squares = both[told] ** 2 / (own * own.T)[told] - 1 / (count[told] - 1)
    return len(enough) / (1 + (len(enough) - 1) * max(0.0, float(squares.mean()) if told.any() else 0.0))


def _pool(quantities: List[Quantity], view: str, independent: float) -> None:
    """Lets the scatters of all quantities say something about that of each, in one view."""
    all_ = [some for quantity in quantities for some in quantity.compared if some.view == view]
    errors = [simulated(some.size + 1) for some in all_]
    pooled = pooled_scatter([some.variance for some in all_], [one.mean_log for one in errors],
                            [one.freedom for one in errors], independent)
    for some in all_ if pooled.freedom > 0 else ():
        least = max(float(some.others.variance.min()), some.usual_variance)  # one that is far off does not count
        if least <= simulated(some.size).largest * pooled.variance:
            some.pooled, some.freedom = pooled, simulated(some.size).freedom


def _tails(quantities: List[Quantity], before: np.ndarray) -> Dict[str, np.ndarray]:
    """Of each view, for each member. What the newest rates show holds before the means over days show more."""
    tails: Dict[str, np.ndarray] = {}
    for view in VIEWS:
        counts = TailCounts(len(before))
        for quantity in quantities:
            for some in quantity.compared:
                if some.view == view:
                    counts.add(quantity.members[some.places], some.distance(), some.healthy)
        tails[view] = counts.weights(tails.get(NEWEST, before))
    return tails


def _compare_nodes(key: Key, members: List[Member], tests: Tests) -> FleetGroup:
    """The group with what needs no list over all groups."""
    quantities = ceilings_of(members)
    chance = OF_POPULATIONS / max(1, len(quantities))
    for quantity in quantities:
        quantity.divide(chance, members)
    independent = _independent(quantities)
    for view in VIEWS:
        _pool(quantities, view, independent)
    tails = _tails(quantities, np.tile(BEFORE, (len(members), 1)))
    judged = np.zeros(len(members), dtype=int)
    for quantity in quantities:
        quantity.test(tails, members, tests)
        quantity.test_bounds(judged, members, tests)
        for i in quantity.without:
            node = members[i].finding
            node.ceilings.append(NodeCeiling(node.node, quantity.ceiling, "missing", "the node's digest lacks it"))
    means = [mean.divide(chance, members) for mean in means_of(quantities, len(members))]
    tails_of_means = _tails(means, tails[NEWEST])
    for mean in means:
        mean.test(tails_of_means, members, tests)
    few = f"{how_many(len(members), 'node')} of its kind, plan and revision {'is' if len(members) == 1 else 'are'} " \
          "too few to tell"
    for member, number in zip(members, judged):
        if RANK[member.finding.finding] < RANK["not judged"] and 2 * number <= len(quantities):
            some = f"{number} of {len(quantities)} ceilings can be compared: the others are lower bounds or lacking"
            member.finding.finding = "not judged"
            member.finding.reason = few if len(members) < FEWEST_COMPARED else some
    nodes = [member.finding for member in members]
    return FleetGroup(*key, nodes, quantities + means, _associations(quantities, members))


def _slow_days(low) -> int:
    """Of a node that is slow on some days: their number; 0 if it stayed fast after them, as one that was repaired."""
    slow = [chance <= SLOW_DAY for chance in low.others if not math.isnan(chance)] + [low.newest < low.limit]
    stayed_fast = True in slow and not slow[-1] and True not in slow[slow.index(False, slow.index(True)) :]
    return 0 if stayed_fast else sum(slow)


def _found(low, slow: bool, on_another_day: bool) -> NodeCeiling:
    remark = "measure again" if not slow else "slow on two days" if on_another_day else "measure again on another day"
    if low.view == SLOWER_DAYS:
        others = sum(not math.isnan(chance) for chance in low.others)
        remark = f"slow on {_slow_days(low)} of {others + 1} days"
    elif low.is_bound:
        remark = "disturbed each time, and far below the others" if slow else "the rate is only a lower bound"
    remark = f"mean of {low.days} days; {remark}" if low.days > 1 else remark
    ratios = (exp(part - low.median) for part in (low.x, low.low, low.high))
    return NodeCeiling(low.finding.node, low.quantity.ceiling, "slow" if slow else "undecided", remark, *ratios,
                       float(low.chance), int(low.days), on_another_day)


def _decide(tests: Tests) -> None:
    """Makes the lists over all groups, and puts what they hold into the findings."""
    lows = pd.concat(tests.low, ignore_index=True) if tests.low else pd.DataFrame({"is_mean": []})
    for is_mean, error in ((False, OF_CEILINGS), (True, OF_MEANS)):
        rows, number = lows[lows["is_mean"] == is_mean], tests.number[is_mean]
        if not len(rows):
            continue
        certain = holm(rows["chance"], number, error)
        listed = benjamini_hochberg(rows["chance"], number, error) & (rows["view"] != SLOWER_DAYS)
        shown = listed | rows["is_wide"] & (rows["is_bound"] | (rows["chance_of_low"] * number <= error))
        found = list(rows.assign(certain=certain, shown=shown)[certain | shown].itertuples())
        slow = [bool(low.certain) and (low.high < low.limit or low.is_bound)
                and (_slow_days(low) > 1 if low.view == SLOWER_DAYS else low.newest < low.limit) for low in found]
        for low, is_slow in zip(found, slow):
            again = bool((low.others * max(1, sum(slow)) <= error).any())
            is_slow = is_slow and (again or not low.is_bound)  # a bound's rate may be higher: one day tells nothing
            if is_slow or low.shown:
                low.finding.drain |= is_slow and again and low.quantity.nodes >= FEWEST_DRAINED
                low.finding.ceilings.append(_found(low, is_slow, is_slow and again))
    for quantity, some, tails in tests.visible:
        error = OF_MEANS if quantity.is_mean else OF_CEILINGS
        deviation = math.sqrt(some.pooled_variance(some.variance))
        half = float(np.median(0.5 * (quantity.high - quantity.low)[some.places]))
        cut = some.healthy.distance(error / tests.number[quantity.is_mean], tails)
        least = min((cut - FOUND) * deviation, quantity.material - half - FOUND * deviation)
        quantity.visible = -math.expm1(least) if least < 0 else None


def _finish(node: NodeFinding, ceilings: Dict[str, Quantity]) -> None:
    """One row for each ceiling of the node, and its worst."""
    first: Dict[str, NodeCeiling] = {}
    for found in sorted(node.ceilings, key=lambda c: (-RANK[c.finding], c.days, c.ratio or 0)):
        first.setdefault(found.ceiling, found)
    node.ceilings = sorted(first.values(), key=lambda c: (-RANK[c.finding], c.ratio or 0))
    for found in node.ceilings:
        ceilings[found.ceiling].slow += found.finding == "slow"
        ceilings[found.ceiling].undecided += found.finding in ("undecided", "implausible")
        if found.finding != "missing" and RANK[found.finding] > RANK[node.finding]:
            node.finding, node.reason = found.finding, ""
    if node.ceilings and not node.reason:  # what stands behind the finding
        worst = node.ceilings[0]
        more = sum(found.finding == worst.finding for found in node.ceilings) - 1
        node.reason = f"{worst.ceiling} at {worst.ratio or 0:.3f}" + (f", and {more} more" if more else "")


def _associations(ceilings: List[Quantity], members: List[Member]) -> List[Association]:
    """Every value of every fact against all other nodes, corrected by Holm's method for all of them. Those that differ
    materially, the largest difference first; none for fewer than 12 nodes."""
    if len(members) < FEWEST_DRAINED:
        return []
    facts = pd.DataFrame([member.facts for member in members])
    codes = {}
    for fact in sorted(facts):
        of_member, texts = pd.factorize(facts[fact].fillna("").to_numpy(object), sort=True)
        is_known = (texts != "") | facts[fact].notna().all()
        if is_known.sum() > 1:
            codes[fact] = of_member, texts, is_known
    found: List[Association] = []
    tests = 0
    for ceiling in ceilings:
        x, ranks = ceiling.group.x, pd.Series(ceiling.group.x).rank().to_numpy()
        for fact, (of_member, texts, is_known) in codes.items():
            some = of_member[ceiling.members]
            numbers, chances = np.bincount(some, minlength=len(texts)), chance_of_difference(ranks, some, len(texts))
            told = (np.minimum(numbers, len(x) - numbers) >= 3) & is_known
            tests += int(told.sum())
            for code in np.flatnonzero(told & (chances <= ERROR)):
                ratio = exp(np.median(x[some == code]) - np.median(x[some != code]))
                if abs(math.log(ratio)) >= -MATERIAL:
                    found.append(Association(fact, str(texts[code]), ceiling.ceiling, int(numbers[code]), ratio,
                                             float(chances[code])))
    kept = holm([one.chance for one in found], tests)
    return sorted((one for one, is_kept in zip(found, kept) if is_kept),
                  key=lambda one: -round(abs(math.log(one.ratio)), 9))


def judge(fleet: Fleet, options: JudgeOptions = JudgeOptions()) -> Findings:
    membership, tests = Membership(fleet, options), Tests()
    groups = [_compare_nodes(key, members, tests) for key, members in membership.groups.items()]
    number = sum(tests.number.values())
    findings = Findings(groups, membership.aside, fleet.refused, fleet.damaged, number, list(fleet.notes))
    _decide(tests)
    for group in findings.groups:
        ceilings = {ceiling.ceiling: ceiling for ceiling in group.ceilings}
        for node in group.nodes:
            _finish(node, ceilings)
    seen = {end for digest in fleet.digests for name in digest.links.names for end in name.split(" ")}
    seen.update(node.node for node in findings.nodes())
    findings.aside += [NodeFinding(node, "missing", "expected, and there is no digest") for node in fleet.expected
                       if node not in seen]
    if not findings.groups and not findings.aside:
        findings.notes.append(NOTHING)
    if any(c.nodes and not c.day_to_day for group in findings.groups for c in group.ceilings):
        findings.notes.append("An interval covers one visit of a node. How much a node differs from day to day is not "
                              "in it, so it is too narrow; ten nodes with digests of three days each would tell.")
    if findings.groups and all(len(m.days) < 2 for members in membership.groups.values() for m in members):
        findings.notes.append("No node has digests of two days: nothing is to be drained before a second measurement "
                              "on another day.")
    return findings


def status_of(findings: Findings, has_links: bool = False) -> int:
    """1 if a node is slow, of a slower population or of a changed kind, or a rate is implausible; else 2 if a node was
    not judged, is missing or undecided, a folder cannot be used, or there is no node; else 0. `has_links`: links were
    judged, so that nodes need not be."""
    worst = max([RANK[node.finding] for node in findings.nodes()], default=0)
    if findings.refused or (not findings.groups and not has_links):
        worst = max(worst, RANK["not judged"])
    return 1 if worst >= RANK["implausible"] else 0 if worst == 0 else 2


def nodes_to_retest(findings: Findings) -> List[str]:
    """Sorted: all that are not fine, but for those to be drained, and those of which a digest or folder is damaged."""
    nodes = {node.node for node in findings.nodes() if node.finding != "fine" and not node.drain}
    return sorted(nodes | set(findings.damaged))

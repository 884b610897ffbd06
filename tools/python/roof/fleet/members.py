"""Who is compared with whom: the digests of each node by day, the groups of equal nodes, and the nodes that cannot be judged as they are."""

import math
import re
import statistics
from dataclasses import dataclass, field
from typing import Dict, List, Tuple

import numpy as np

from roof.errors import printable
from roof.fleet.digests import Digest, seconds_of
from roof.fleet.folders import Fleet

#: Of a node, or of a ceiling of a node, in rising order: the last counts where several are true (`roof help fleet`).
FINDINGS = ("fine", "undecided", "not judged", "too old", "from the future", "twice", "missing", "implausible", "slower population", "changed kind",
            "slow")
RANK = {finding: rank for rank, finding in enumerate(FINDINGS)}
HOUR, DAY = 3600.0, 86400.0
ANOTHER_DAY = 23 * HOUR  #: so much later: a daily job may begin a little earlier, and midnight makes no second day


@dataclass
class NodeCeiling:
    """One ceiling of a node. Ratios are to the median of the other nodes."""

    ceiling: str
    finding: str
    ratio: float = 0.0
    low: float = 0.0
    high: float = 0.0  #: infinity for a lower bound
    chance: float = 1.0  #: that a healthy node lies as low
    days: int = 1  #: whose mean it is
    on_another_day: bool = False  #: the node's digest of an earlier day shows it too
    reason: str = ""


@dataclass
class NodeFinding:
    node: str
    finding: str = "fine"
    reason: str = ""  #: of a finding that is not one of its ceilings
    drain: bool = False  #: slow on two days, in a group of at least twelve
    ceilings: List[NodeCeiling] = field(default_factory=list)  #: those that are not fine, the lowest first

    def remark(self, finding: str, reason: str) -> None:
        if RANK[finding] >= RANK[self.finding]:
            self.finding, self.reason = finding, printable(reason)


@dataclass
class Member:
    """A node in a group. `days`: the newest digest of each day, in the order of time, all by the group's plan and revision."""

    days: List[Digest]
    facts: Dict[str, str]
    finding: NodeFinding


Key = Tuple[str, str, str, str]  #: kind, plan, revision, and the value of the fact that divides groups


@dataclass
class JudgeOptions:
    group_by: str = ""  #: a fact whose values divide the groups further
    now: str = ""  #: "2026-11-22T18:02:16Z"; empty: no digest is from the future
    max_age_hours: float = 0.0  #: before `now`; 0: 30 days before the other nodes' digests by the same plan


def _parts_of(kind: str) -> Dict[str, int]:
    """How many of what a kind has: "epyc-26cpu, 8 x H100" -> {"epyc-": 26, "H100": 8}."""
    parts = {}
    for place, part in enumerate(kind.split(",")):
        part = part.strip()
        count = re.fullmatch(r"(.*?)(\d*)cpu", part) if place == 0 else None
        devices = re.fullmatch(r"(\d+) x (.*)", part)
        if count:
            parts[count[1]] = int(count[2] or 1)
        elif devices:
            parts[devices[2]] = int(devices[1])
        else:
            parts[part] = 1
    return parts


def has_lost(less: str, more: str) -> bool:
    """Whether a kind has the same parts as another, but fewer of them."""
    few, many = _parts_of(less), _parts_of(more)
    return few != many and "" not in few and all(part in many and n <= many[part] for part, n in few.items())


def _contradict(a: Digest, b: Digest) -> bool:
    """Whether two digests of one day cannot be of one machine, or of one that did not change."""
    if a.kind != b.kind or any(a.facts[f] != b.facts[f] for f in ("BIOS", "memory", "microcode") if f in a.facts and f in b.facts):
        return True
    places = {name: k for k, name in enumerate(a.ceilings.names) if np.isfinite(a.ceilings.high[k])}
    common = [(places[name], k) for k, name in enumerate(b.ceilings.names) if name in places and np.isfinite(b.ceilings.high[k])]
    x, y = a.ceilings, b.ceilings
    differ = sum((y.high[j] < x.low[i] or x.high[i] < y.low[j]) and abs(math.log(y.value[j] / x.value[i])) > 0.1 for i, j in common)
    return 2 * differ > len(common)


class Membership:
    """`groups`; `aside`: findings of nodes that are in no group, without missing ones."""

    def __init__(self, fleet: Fleet, options: JudgeOptions):
        self.groups: Dict[Key, List[Member]] = {}
        self.aside: List[NodeFinding] = []
        self._options, self._expected = options, fleet.expected
        self._remarks: Dict[str, NodeFinding] = {}
        self._kinds: Dict[Tuple[str, str], List[str]] = {}  # by plan and node, the newest first
        now = seconds_of(options.now) if options.now else math.inf
        of_node: Dict[Tuple[str, str], List[Digest]] = {}
        for digest in fleet.digests:
            if not digest.ceilings.names:
                continue
            if digest.seconds > now + DAY:
                self._remark(digest.node, "from the future", f"a digest is dated {digest.time[:16]}, after today; it is set aside")
            else:
                of_node.setdefault((digest.plan, digest.node), []).append(digest)
        for digests in of_node.values():
            digests.sort(key=lambda digest: digest.seconds)
        members: Dict[str, List[Member]] = {}
        for key in sorted(self._young(of_node)):
            members.setdefault(key[1], []).append(self._add(of_node[key]))
        self._find_changed_kinds()
        for node, remark in sorted(self._remarks.items()):
            for member in members.get(node, ()):
                member.finding.remark(remark.finding, remark.reason)
            if node not in members:
                self.aside.append(remark)
        self.groups = dict(sorted(self.groups.items()))

    def _remark(self, node: str, finding: str, reason: str) -> None:
        self._remarks.setdefault(node, NodeFinding(node)).remark(finding, reason)

    def _young(self, of_node: Dict[Tuple[str, str], List[Digest]]) -> List[Tuple[str, str]]:
        """Sets nodes aside whose newest digest is old."""
        oldest: Dict[str, float] = {}
        for plan in {plan for plan, _ in of_node}:
            newest = statistics.median(digests[-1].seconds for key, digests in of_node.items() if key[0] == plan)
            oldest[plan] = newest - 30 * DAY
            if self._options.max_age_hours and self._options.now:
                oldest[plan] = seconds_of(self._options.now) - self._options.max_age_hours * HOUR
        young = []
        for key, digests in sorted(of_node.items()):
            if digests[-1].seconds >= oldest[key[0]]:
                young.append(key)
            else:
                self._remark(key[1], "too old", f"its newest digest is of {digests[-1].time[:16]}")
        return young

    def _add(self, digests: List[Digest]) -> Member:
        newest = digests[-1]
        kinds = self._kinds.setdefault((newest.plan, newest.node), [])
        days: List[Digest] = []
        for digest in reversed(digests):
            if kinds[-1:] != [digest.kind]:
                kinds.append(digest.kind)
            later = days[-1] if days else newest
            is_other_day = later.seconds - digest.seconds >= ANOTHER_DAY
            if not is_other_day and digest is not newest and later is newest and _contradict(newest, digest):
                self._remark(newest.node, "twice", f"digests of {digest.time[:16]} and {newest.time[:16]} contradict each other: two machines "
                             "of one name, or a change")
            if (digest.kind, digest.revision) == (newest.kind, newest.revision) and (not days or is_other_day):
                days.append(digest)
        facts = {**newest.facts, **self._expected.get(newest.node, {})}
        member = Member(days[::-1], facts, NodeFinding(newest.node))
        by = facts.get(self._options.group_by, "unknown") if self._options.group_by else ""
        self.groups.setdefault((newest.kind, newest.plan, newest.revision, by), []).append(member)
        return member

    def _find_changed_kinds(self) -> None:
        sizes: Dict[str, Dict[str, int]] = {}  # of kinds, by plan
        for (plan, _), kinds in self._kinds.items():
            of_plan = sizes.setdefault(plan, {})
            of_plan[kinds[0]] = of_plan.get(kinds[0], 0) + 1
        lost: Dict[Tuple[str, str], bool] = {}
        for (plan, node), (now, *before) in self._kinds.items():
            for kind in before:
                if has_lost(now, kind):
                    self._remark(node, "changed kind", f"{now}, and before {kind}")
            for other, number in sorted(sizes[plan].items()):
                if other == now or number <= sizes[plan][now]:
                    continue
                if (now, other) not in lost:
                    lost[now, other] = has_lost(now, other)
                if lost[now, other] or other in before:
                    self._remark(node, "changed kind", f"{now}, and {number} {'node' if number == 1 else 'nodes'} have {other}")

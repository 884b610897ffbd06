"""Who is compared with whom: each node's digests by day, groups of equal nodes, and nodes that cannot be judged."""

import math
import re
import statistics
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from roof.fleet.digests import Digest, seconds_of
from roof.fleet.folders import Fleet
from roof.texts import printable

#: Of a node, or of a ceiling of a node, in rising order: the last counts where several are true (`roof help fleet`).
FINDINGS = ("fine", "undecided", "not judged", "too old", "from the future", "twice", "missing", "implausible",
            "slower population", "changed kind", "slow")
RANK = {finding: rank for rank, finding in enumerate(FINDINGS)}
HOUR, DAY = 3600.0, 86400.0
ANOTHER_DAY = 23 * HOUR  #: so much later: a daily job may begin a little earlier, and midnight makes no second day


class NodeCeiling(NamedTuple):
    """One ceiling of a node. Ratios are to the median of the other nodes; `high` is infinite for a lower bound."""

    node: str
    ceiling: str
    finding: str
    remark: str
    ratio: Optional[float] = None
    low: float = 0.0
    high: float = 0.0
    chance: float = 1.0  #: that a healthy node lies as low
    days: int = 1  #: whose mean it is
    on_another_day: bool = False  #: the node's digest of an earlier day shows it too


@dataclass
class NodeFinding:
    node: str
    finding: str = "fine"
    reason: str = ""
    drain: bool = False  #: slow on two days, in a group of at least twelve
    ceilings: List[NodeCeiling] = field(default_factory=list)  #: those that are not fine, the lowest first

    def remark(self, finding: str, reason: str) -> None:
        if RANK[finding] >= RANK[self.finding]:
            self.finding, self.reason = finding, printable(reason)


#: A node in a group. `days`: the newest digest of each day, in the order of time, by the group's plan and revision.
Member = namedtuple("Member", "days facts finding")
#: `group_by`: a fact whose values divide the groups further. `now`: "2026-11-22T18:02:16Z"; empty: no digest is from
#: the future. `max_age_hours`: before `now`; 0: 30 days before the other nodes' digests by the same plan.
JudgeOptions = namedtuple("JudgeOptions", "group_by now max_age_hours", defaults=("", "", 0.0))
Key = Tuple[str, str, str, str]  #: kind, plan, revision, and the value of the fact that divides groups


def _parts_of(kind: str) -> Dict[str, int]:
    """How many of what a kind has: "epyc-26cpu, 8 x H100" -> {"epyc-": 26, "H100": 8}."""
    parts = {}
    for place, part in enumerate(kind.split(",")):
        count = re.fullmatch(r"(.*?)(\d*)cpu", part.strip()) if place == 0 else None
        devices = re.fullmatch(r"(\d+) x (.*)", part.strip())
        name, n = (count[1], count[2] or 1) if count else (devices[2], devices[1]) if devices else (part.strip(), 1)
        parts[name] = int(n)
    return parts


@lru_cache(maxsize=None)
def has_lost(less: str, more: str) -> bool:
    """Whether a kind has the same parts as another, but fewer of them."""
    few, many = _parts_of(less), _parts_of(more)
    return few != many and "" not in few and all(part in many and n <= many[part] for part, n in few.items())


def _contradict(a: Digest, b: Digest) -> bool:
    """Whether two digests of one day cannot be of one machine, or of one that did not change."""
    same = [fact for fact in ("BIOS", "memory", "microcode") if fact in a.facts and fact in b.facts]
    if a.kind != b.kind or any(a.facts[fact] != b.facts[fact] for fact in same):
        return True
    x, y = a.common_rates(b)
    differ = ((y.high < x.low) | (x.high < y.low)) & (np.abs(np.log(y.value / x.value)) > 0.1)
    return 2 * int(differ.sum()) > len(x.names)


class Membership:
    """`groups`: by key, in order; `aside`: findings of nodes that are in no group, without missing ones."""

    def __init__(self, fleet: Fleet, options: JudgeOptions):
        self.aside: List[NodeFinding] = []
        self._options, self._expected = options, fleet.expected
        self._remarks: Dict[str, NodeFinding] = {}
        self._kinds: Dict[Tuple[str, str], List[str]] = defaultdict(list)  # by plan and node, the newest first
        now = seconds_of(options.now) if options.now else math.inf
        of_node: Dict[Tuple[str, str], List[Digest]] = defaultdict(list)
        for one in fleet.digests:
            if one.ceilings.names and one.seconds > now + DAY:
                self._remark(one.node, "from the future",
                             f"a digest is dated {one.time[:16]}, after today; it is set aside")
            elif one.ceilings.names:
                of_node[one.plan, one.node].append(one)
        for digests in of_node.values():
            digests.sort(key=lambda one: one.seconds)
        groups: Dict[Key, List[Member]] = defaultdict(list)
        members: Dict[str, List[Member]] = defaultdict(list)
        for key in self._young(of_node):
            member = self._member(of_node[key])
            newest = member.days[-1]
            by = member.facts.get(options.group_by, "unknown") if options.group_by else ""
            groups[newest.kind, newest.plan, newest.revision, by].append(member)
            members[newest.node].append(member)
        self._find_changed_kinds()
        for node, remark in sorted(self._remarks.items()):
            for member in members.get(node, ()):
                member.finding.remark(remark.finding, remark.reason)
            if node not in members:
                self.aside.append(remark)
        self.groups = dict(sorted(groups.items()))

    def _remark(self, node: str, finding: str, reason: str) -> None:
        self._remarks.setdefault(node, NodeFinding(node)).remark(finding, reason)

    def _young(self, of_node: Dict[Tuple[str, str], List[Digest]]) -> List[Tuple[str, str]]:
        """Sets nodes aside whose newest digest is old."""
        newest: Dict[str, List[float]] = defaultdict(list)
        for (plan, _), digests in of_node.items():
            newest[plan].append(digests[-1].seconds)
        oldest = {plan: statistics.median(seconds) - 30 * DAY for plan, seconds in newest.items()}
        if self._options.max_age_hours and self._options.now:
            oldest = dict.fromkeys(oldest, seconds_of(self._options.now) - self._options.max_age_hours * HOUR)
        old = {key for key, digests in of_node.items() if digests[-1].seconds < oldest[key[0]]}
        for key in sorted(old):
            self._remark(key[1], "too old", f"its newest digest is of {of_node[key][-1].time[:16]}")
        return sorted(of_node.keys() - old)

    def _member(self, digests: List[Digest]) -> Member:
        newest, days = digests[-1], digests[-1:]
        kinds = self._kinds[newest.plan, newest.node]
        for one in reversed(digests):
            if kinds[-1:] != [one.kind]:
                kinds.append(one.kind)
            is_other_day = days[-1].seconds - one.seconds >= ANOTHER_DAY
            if not is_other_day and one is not newest and days[-1] is newest and _contradict(newest, one):
                self._remark(newest.node, "twice", f"digests of {one.time[:16]} and {newest.time[:16]} contradict each "
                             "other: two machines of one name, or a change")
            if (one.kind, one.revision) == (newest.kind, newest.revision) and is_other_day:
                days.append(one)
        return Member(days[::-1], {**newest.facts, **self._expected.get(newest.node, {})}, NodeFinding(newest.node))

    def _find_changed_kinds(self) -> None:
        sizes: Dict[str, Dict[str, int]] = defaultdict(Counter)  # of kinds, by plan
        for (plan, _), kinds in self._kinds.items():
            sizes[plan][kinds[0]] += 1
        for (plan, node), (now, *before) in self._kinds.items():
            for kind in before:
                if has_lost(now, kind):
                    self._remark(node, "changed kind", f"{now}, and before {kind}")
            for other, number in sorted(sizes[plan].items()):
                if number > sizes[plan][now] and other != now and (has_lost(now, other) or other in before):
                    self._remark(node, "changed kind", f"{now}, and {number} nodes have {other}")

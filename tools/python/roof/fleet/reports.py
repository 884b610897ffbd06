"""What was found in a fleet, as text, JSON and a page."""

import html
import math
from typing import Any, Dict, List, NamedTuple, Tuple

import numpy as np

from roof.texts import how_many, printable
from roof.fleet.comparison import Changes, Comparison
from roof.fleet.history import FEWEST_WEEKS, HistorySeries
from roof.fleet.judge import FEWEST_COMPARED, FEWEST_DRAINED, CeilingFinding, Findings, FleetGroup, status_of
from roof.fleet.links import LinkFindings
from roof.fleet.members import FINDINGS, RANK, NodeCeiling, NodeFinding
from roof.fleet.tables import (ABSENT, Cell, Table, amount, chance_text, fitted, number, page, percent, ratio_text, shortened, si, word)


class Section(NamedTuple):
    title: str
    lead: str
    tables: List[Table]


class Report(NamedTuple):
    sections: List[Section]
    notes: List[str]

    def text(self, columns: int) -> str:
        """In at most `columns`; 0: unlimited. Of each table the first 1,000 rows."""
        text = ""
        for title, lead, tables in self.sections:
            text += fitted(title + "\n" + (shortened(lead, 2000) + "\n" if lead else ""), columns) + "\n"
            text += "".join(table.text(columns) + "\n" for table in tables if table.rows)
        return text + "".join(fitted(note + "\n", columns) for note in self.notes)

    def json(self) -> Dict[str, Any]:
        return {"sections": [{"title": title, "lead": lead, "tables": [{"title": t.title, "rows": t.json()} for t in tables]} for title, lead,
                             tables in self.sections], "notes": self.notes}

    def page(self) -> str:
        body = ""
        for title, lead, tables in self.sections:
            body += f'<section><h2>{html.escape(title)}</h2>\n<p class="lead">{html.escape(lead)}</p>\n'
            body += "".join(f"<h3>{html.escape(t.title)}</h3>\n{t.html()}" for t in tables if t.rows) + "</section>\n"
        return page("fleet", "Fleet", body + "".join(f"<p>{html.escape(note)}</p>\n" for note in self.notes))


def _chance(chance: float) -> Cell:
    return number(chance, chance_text(chance)) if chance < 1 else ABSENT


def _ratio(ratio: float) -> Cell:
    return number(ratio, f"{ratio:.3f}")


def _remark(c: NodeCeiling) -> str:
    again = "slow on two days" if c.on_another_day else "measure again on another day"
    text = c.reason if c.finding != "slow" or c.reason else again
    return f"mean of {c.days} days; {text}" if c.days > 1 else text


def _of_ceiling(c: NodeCeiling) -> Cell:
    if c.finding == "missing":
        return ABSENT
    return number(c.ratio, ratio_text(c.ratio, c.low, c.high) if math.isfinite(c.high) else f"at least {c.low:.3f}")


def _rates_table(group: FleetGroup, whole: bool) -> Table:
    """`whole`: also the ceilings that a node lacks; else they are in the lead."""
    found = [(node, c) for node in group.nodes for c in node.ceilings if whole or c.finding != "missing"]
    found.sort(key=lambda row: (-RANK[row[1].finding], row[1].ratio))
    return Table("Ceilings of nodes that are not like the others'",
                 "node | finding | ceiling | to the others' median = ratio | = low | = high | by chance = chance | = on_another_day | remark",
                 [[node.node, c.finding, c.ceiling, _of_ceiling(c), c.low, c.high, _chance(c.chance), bool(c.on_another_day), _remark(c)] for node,
                  c in found])


def _reason(node: NodeFinding) -> str:
    """What stands behind the node's finding."""
    if node.reason or not node.ceilings:
        return node.reason
    first = node.ceilings[0]
    more = sum(c.finding == first.finding for c in node.ceilings) - 1
    return f"{first.ceiling} at {first.ratio:.3f}" + (f", and {more} more" if more else "")


def _nodes_table(nodes: List[NodeFinding]) -> Table:
    listed = sorted((node for node in nodes if node.finding != "fine"), key=lambda node: -RANK[node.finding])
    return Table("Nodes that are not fine", "node | state = finding | why = reason | what to do = advice",
                 [[n.node, n.finding, _reason(n), "drain" if n.drain else "measure again"] for n in listed])


def _is_told(c: CeilingFinding) -> bool:
    """Whether there is more to say of the ceiling than its name."""
    return c.nodes > 0 or c.slow > 0 or c.undecided > 0


def _populations(c: CeilingFinding) -> str:
    if not c.populations:
        return ""
    (low, lower), (high, upper) = c.populations
    return f"two populations: {how_many(len(lower), 'node')} at {si(low, c.unit)}, {len(upper)} at {si(high, c.unit)}"


def _share(share: float, is_known: bool) -> Cell:
    return number(share, percent(share)) if is_known else ABSENT


def _ceilings_table(group: FleetGroup, whole: bool) -> Table:
    """`whole`: also those of which no node has a rate; else their number is in the lead."""
    table = Table("Ceilings of the group; scatter: between nodes, beyond their intervals; visible: the smallest difference of one node "
                  "that is found in 95% of cases",
                  "ceiling | nodes | median | scatter | day to day = day_to_day | visible | slow | undecided | remark = populations",
                  [[c.name, c.nodes, ABSENT if not c.nodes else amount(c.median, c.unit) if c.unit else _ratio(c.median),
                    _share(c.scatter, c.nodes >= FEWEST_COMPARED), _share(c.day_to_day, c.day_to_day > 0), _share(c.visible, c.visible > 0), c.slow,
                    c.undecided, _populations(c)] for c in group.ceilings if whole or _is_told(c)])
    return table if whole else table.without_empty_columns()


def _associations_table(group: FleetGroup) -> Table:
    return Table("What goes with a difference (corrected for all facts and ceilings; it need not be the cause)",
                 "fact | value | nodes | ceiling | to the others' median = ratio | by chance = chance",
                 [[a.fact, a.value, a.nodes, a.ceiling, _ratio(a.ratio), _chance(a.chance)] for a in group.associations])


def _refused_table(refused: List[Tuple[str, str]]) -> Table:
    return Table("Folders that cannot be used", "folder | reason", [[folder, shortened(reason, 300)] for folder, reason in refused])


def _links_table(links: LinkFindings) -> Table:
    return Table("Slow links", "what is slow = fault | nodes | share = shared | links | to the others = ratio | by chance = chance | remark",
                 [[s.fault, word(shortened(" ".join(s.nodes), 200), " ".join(s.nodes)), s.shared, s.links, _ratio(s.ratio), _chance(s.chance),
                   s.remark] for s in links.slow]).without_empty_columns()


def _counts(nodes: List[NodeFinding]) -> str:
    """ "2 slow, 98 fine": of each finding that a node has, the worst first."""
    numbers = {finding: sum(node.finding == finding for node in nodes) for finding in reversed(FINDINGS)}
    return ", ".join(f"{n} {finding}" for finding, n in numbers.items() if n)


def _lead(group: FleetGroup) -> str:
    text = f"{how_many(len(group.nodes), 'node')}: {_counts(group.nodes)}."
    drained = [printable(node.node) for node in group.nodes if node.drain]
    text += f" To be drained: {', '.join(drained)}." if drained else ""
    if FEWEST_COMPARED <= len(group.nodes) < FEWEST_DRAINED:
        text += " With fewer than 12 nodes none is to be drained."
    ceilings, means = ([c.visible for c in group.ceilings if c.visible > 0 and (c.rates > 1) == many] for many in (False, True))
    if ceilings:
        least, most = min(ceilings), max(ceilings)
        text += f" A node that is slower by {percent(float(np.median(ceilings)))} in one ceiling"
        text += f" ({percent(least)} to {percent(most)}, by the ceiling)" if most > 1.05 * least else ""
        text += f", or by {percent(float(np.median(means)))} in all of a kind," if means else ""
        text += " would be found in 95% of cases."
    else:
        text += " No difference could have been seen."
    bounds = sum(c.rates == 1 and not _is_told(c) for c in group.ceilings)
    text += f" Of {how_many(bounds, 'ceiling')} there are only lower bounds." if bounds else ""
    lacking = [(node.node, sum(c.finding == "missing" for c in node.ceilings)) for node in group.nodes]
    lacking = [f"{printable(node)} {lacks}" for node, lacks in lacking if lacks]
    if len(lacking) > 10:
        lacking[10:] = [f"and {len(lacking) - 10} nodes more"]
    return text + (f" Ceilings that a node's digest lacks: {', '.join(lacking)}." if lacking else "")


def _links_section(links: LinkFindings) -> Section:
    lead = f"{how_many(links.links, 'link')} of {how_many(links.nodes, 'node')}, median {si(links.median, 'B/s')}."
    if links.note:
        lead += f" {links.note}."
    elif not links.slow:
        lead += " None is slow beyond its nodes, and no node's links are slow."
    if links.visible_link > 0:
        lead += f" A link that is slower by {percent(links.visible_link)}, or a node whose links are slower by " \
                f"{percent(links.visible_node)}, would be found in 95% of cases."
    return Section(printable(f"Links between nodes, plan {links.plan[:8]}, revision {links.revision}"), lead, [_links_table(links)])


def _node_json(node: NodeFinding) -> Dict[str, Any]:
    return {"node": node.node, "finding": node.finding, "reason": _reason(node), "drain": bool(node.drain)}


def fleet_json(findings: Findings, links: List[LinkFindings]) -> Dict[str, Any]:
    """Every node is listed."""
    keys = ("plan", "revision", "nodes", "links", "median", "scatter", "visible_node", "visible_link", "note")
    groups = [{"kind": g.kind, "plan": g.plan, "revision": g.revision, "by": g.by, "nodes": [_node_json(n) for n in g.nodes],
               "node_ceilings": _rates_table(g, True).json(), "ceilings": _ceilings_table(g, True).json(),
               "populations": [{"ceiling": c.name, "median": median, "nodes": nodes} for c in g.ceilings for median, nodes in c.populations],
               "associations": _associations_table(g).json()} for g in findings.groups]
    return {"groups": groups, "networks": [{key: getattr(found, key) for key in keys} for found in links],
            "links": [{**row, "plan": found.plan} for found in links for row in _links_table(found).json()],
            "aside": [_node_json(node) for node in findings.aside], "status": status_of(findings), "refused": _refused_table(findings.refused).json(),
            "tests": findings.tests, "notes": findings.notes}


def fleet_report(findings: Findings, links: List[LinkFindings]) -> Report:
    sections = []
    for g in findings.groups:
        title = printable(f"{g.kind}{', ' + g.by if g.by else ''}, plan {g.plan[:8]}, revision {g.revision}")
        sections.append(Section(title, _lead(g), [_nodes_table(g.nodes), _rates_table(g, False), _ceilings_table(g, False), _associations_table(g)]))
    sections += [_links_section(found) for found in links]
    if findings.refused or findings.aside:
        lead = f"{how_many(len(findings.aside), 'node')} in no group: {_counts(findings.aside)}." if findings.aside else ""
        sections.append(Section("Not judged", lead, [_nodes_table(findings.aside), _refused_table(findings.refused)]))
    return Report(sections, list(findings.notes))


def _history_lead(series: HistorySeries) -> str:
    if not series.weeks:
        return "There are only lower bounds: nothing can be told."
    text = f"{how_many(series.nodes, 'node')} in {how_many(len(series.weeks), 'week')} from {series.weeks[0]} to {series.weeks[-1]}; " \
           f"{how_many(series.tests, 'ceiling')} of nodes with {FEWEST_WEEKS} weeks or more. "
    text += ("Nothing can be told yet." if not series.tests else "None drifted." if not series.drifts else f"{len(series.drifts)} drifted.")
    if series.visible > 0:
        text += f" A drop by {percent(series.visible)} in the middle of these weeks would be found in 95% of cases."
    elif series.tests:
        text += " So few weeks of such scatter would show no drop of a single node for certain."
    return text


def history_report(history: List[HistorySeries], refused: List[Tuple[str, str]]) -> Report:
    sections = []
    for series in history:
        drifts = Table("Nodes that became slower than the fleet",
                       "node | ceiling | since the week of = since | after to before = ratio | weeks before = weeks_before | after = weeks_after | "
                       "by chance = chance", [[d.node, d.ceiling, d.since, _ratio(d.ratio), d.before, d.after,
                                               number(d.chance, chance_text(d.chance))] for d in series.drifts])
        shifts = Table("Weeks in which the whole fleet changed", "ceiling | week of = week | to the week before = ratio | = low | = high | nodes",
                       [[s.ceiling, s.week, number(s.ratio, ratio_text(s.ratio, s.low, s.high)), s.low, s.high, s.nodes] for s in series.shifts])
        title = printable(f"{series.kind}, plan {series.plan[:8]}, revision {', then '.join(series.revisions)}")
        sections.append(Section(title, _history_lead(series), [drifts, shifts]))
    if refused:
        sections.append(Section("Not judged", "", [_refused_table(refused)]))
    notes = [] if history else ["There is no digest of ceilings: nothing was judged."]
    return Report(sections, notes + ["A week of fewer than 6 nodes is left out. A revision begins a new series unless ten nodes ran it and "
                                     "the one before in one week."])


def _changes_table(kind: Comparison) -> Table:
    return Table("Ceilings of both",
                 "ceiling | nodes in A = nodes_a | in B = nodes_b | in both = common | median of A = median_a | of B = median_b | B to A = ratio | "
                 "= low | = high | by chance = chance | finding",
                 [[c.ceiling, c.nodes_a, c.nodes_b, c.common, amount(c.median_a, c.unit), amount(c.median_b, c.unit),
                   number(c.ratio, ratio_text(c.ratio, c.low, c.high)), c.low, c.high, _chance(c.chance), c.finding] for c in kind.ceilings])


def comparison_report(changes: Changes) -> Report:
    sections = [Section(printable(f"{kind.kind}, plan {kind.plan[:8]}: A by revision {kind.revision_a}, B by revision {kind.revision_b}"),
                        "" if kind.revision_a == kind.revision_b else "The revisions differ, so a difference may be one of roof.",
                        [_changes_table(kind)]) for kind in changes.kinds]
    sections += [section._replace(title="Nodes in both, B to A: " + section.title) for section in fleet_report(changes.nodes, []).sections]
    notes = [] if changes.kinds else ["A and B have no kind and plan in common: nothing can be compared."]
    for title, only in (("only in A", changes.only_a), ("only in B", changes.only_b)):
        if only:
            notes.append(f"{how_many(len(only), 'node')} {title}: {shortened(', '.join(only), 1000)}")
    return Report(sections, notes)

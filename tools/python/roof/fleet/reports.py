"""What was found in a fleet, in words: sections of a report, and JSON."""

from typing import Any, Dict, List, Tuple

import numpy as np

from roof.fleet.folders import Fleet
from roof.fleet.history import FEWEST_WEEKS, Changes, HistorySeries, compare_fleets, judge_history
from roof.fleet.judge import NOTHING, Findings, FleetGroup, judge, status_of
from roof.fleet.links import LinkFindings, judge_links
from roof.fleet.members import FINDINGS, RANK, JudgeOptions, NodeFinding
from roof.fleet.quantities import Quantity
from roof.fleet.scale import FEWEST_COMPARED, FEWEST_DRAINED
from roof.fleet.tables import Cell, Report, Section, Table, percent, shortened
from roof.texts import how_many, printable, si


def _nodes_table(nodes: List[NodeFinding]) -> Table:
    listed = sorted((node for node in nodes if node.finding != "fine"), key=lambda node: -RANK[node.finding])
    return Table("Nodes that are not fine", "node | state = finding | why = reason | what to do = advice", listed,
                 advice=lambda node: "drain" if node.drain else "measure again")


def _refused_table(refused: List[Tuple[str, str]]) -> Table:
    return Table("Folders that cannot be used", "folder | reason", refused, folder=lambda one: one[0],
                 reason=lambda one: shortened(one[1], 300))


def _links_table(links: LinkFindings) -> Table:
    return Table("Slow links", "what is slow = fault | nodes | share = shared | links | to the others = ratio | "
                 "by chance = chance | remark", links.slow,
                 nodes=lambda slow: Cell(names := " ".join(slow.nodes), printable(shortened(names, 200)))
                 ).without_empty_columns()


def _is_told(c: Quantity) -> bool:
    """Whether there is more to say of the ceiling than its name."""
    return c.nodes > 0 or c.slow > 0 or c.undecided > 0


def _populations(c: Quantity) -> str:
    if not c.populations:
        return ""
    (low, lower), (high, upper) = c.populations
    return f"two populations: {how_many(len(lower), 'node')} at {si(low, c.unit)}, {len(upper)} at {si(high, c.unit)}"


def _group_tables(group: FleetGroup, whole: bool) -> List[Table]:
    """Of rates, ceilings and associations. `whole`: also ceilings that a node or all nodes lack (else in the lead)."""
    found = [c for node in group.nodes for c in node.ceilings if whole or c.finding != "missing"]
    rates = Table("Ceilings of nodes that are not like the others'",
                  "node | finding | ceiling | to the others' median = ratio | = low | = high | by chance = chance | "
                  "= on_another_day | remark", sorted(found, key=lambda c: (-RANK[c.finding], c.ratio or 0)))
    ceilings = Table("Ceilings of the group; scatter: between nodes, beyond their intervals; visible: the smallest "
                     "difference of one node that is found in 95% of cases",
                     "ceiling | nodes | median | scatter | day to day = day_to_day | visible | slow | undecided | "
                     "remark = populations", [c for c in group.ceilings if whole or _is_told(c)],
                     populations=_populations)
    associations = Table("What goes with a difference (corrected for all facts and ceilings; it need not be the cause)",
                         "fact | value | nodes | ceiling | to the others' median = ratio | by chance = chance",
                         group.associations)
    return [rates, ceilings if whole else ceilings.without_empty_columns(), associations]


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
    ceilings, means = ([c.visible for c in group.ceilings if c.visible and c.is_mean == mean] for mean in (False, True))
    if ceilings:
        least, most = min(ceilings), max(ceilings)
        text += f" A node that is slower by {percent(float(np.median(ceilings)))} in one ceiling"
        text += f" ({percent(least)} to {percent(most)}, by the ceiling)" if most > 1.05 * least else ""
        text += f", or by {percent(float(np.median(means)))} in all of a kind," if means else ""
        text += " would be found in 95% of cases."
    else:
        text += " No difference could have been seen."
    bounds = sum(not c.is_mean and not _is_told(c) for c in group.ceilings)
    text += f" Of {how_many(bounds, 'ceiling')} there are only lower bounds." if bounds else ""
    lacks = [(node.node, sum(c.finding == "missing" for c in node.ceilings)) for node in group.nodes]
    lacking = [f"{printable(node)} {n}" for node, n in lacks if n]
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
    title = printable(f"Links between nodes, plan {links.plan[:8]}, revision {links.revision}")
    return Section(title, lead, [_links_table(links)])


def fleet_json(findings: Findings, links: List[LinkFindings]) -> Dict[str, Any]:
    """Every node is listed."""
    def some(of, keys: str) -> Dict[str, Any]:
        return {key: getattr(of, key) for key in keys.split()}

    def nodes(of: List[NodeFinding]) -> List[Dict[str, Any]]:
        return [some(node, "node finding reason drain") for node in of]

    groups = []
    for group in findings.groups:
        rates, ceilings, associations = (table.json() for table in _group_tables(group, True))
        populations = [{"ceiling": c.ceiling, "median": median, "nodes": names}
                       for c in group.ceilings for median, names in c.populations]
        groups.append({**some(group, "kind plan revision by"), "nodes": nodes(group.nodes), "node_ceilings": rates,
                       "ceilings": ceilings, "populations": populations, "associations": associations})
    keys = "plan revision nodes links median scatter visible_node visible_link note"
    return {"groups": groups, "networks": [some(found, keys) for found in links],
            "links": [{**row, "plan": found.plan} for found in links for row in _links_table(found).json()],
            "aside": nodes(findings.aside), "status": status_of(findings),
            "refused": _refused_table(findings.refused).json(), "tests": findings.tests, "notes": findings.notes}


def fleet_report(findings: Findings, links: List[LinkFindings]) -> Report:
    sections = []
    for g in findings.groups:
        title = printable(f"{g.kind}{', ' + g.by if g.by else ''}, plan {g.plan[:8]}, revision {g.revision}")
        sections.append(Section(title, _lead(g), [_nodes_table(g.nodes), *_group_tables(g, False)]))
    sections += map(_links_section, links)
    if findings.refused or findings.aside:
        lead = f"{how_many(len(findings.aside), 'node')} in no group: {_counts(findings.aside)}."
        tables = [_nodes_table(findings.aside), _refused_table(findings.refused)]
        sections.append(Section("Not judged", lead if findings.aside else "", tables))
    return Report(sections, list(findings.notes))


def _history_lead(series: HistorySeries) -> str:
    if not series.weeks:
        return "There are only lower bounds: nothing can be told."
    text = f"{how_many(series.nodes, 'node')} in {how_many(len(series.weeks), 'week')} from {series.weeks[0]} to " \
           f"{series.weeks[-1]}; {how_many(series.tests, 'ceiling')} of nodes with {FEWEST_WEEKS} weeks or more. "
    text += ("Nothing can be told yet." if not series.tests else "None drifted." if not series.drifts else
             f"{len(series.drifts)} drifted.")
    if series.visible > 0:
        text += f" A drop by {percent(series.visible)} in the middle of these weeks would be found in 95% of cases."
    elif series.tests:
        text += " So few weeks of such scatter would show no drop of a single node for certain."
    return text


def history_report(history: List[HistorySeries], refused: List[Tuple[str, str]]) -> Report:
    sections = []
    for series in history:
        drifts = Table("Nodes that became slower than the fleet",
                       "node | ceiling | since the week of = since | after to before = ratio | "
                       "weeks before = weeks_before | after = weeks_after | by chance = chance", series.drifts)
        shifts = Table("Weeks in which the whole fleet changed", "ceiling | week of = week | "
                       "to the week before = ratio | = low | = high | nodes", series.shifts)
        title = printable(f"{series.kind}, plan {series.plan[:8]}, revision {', then '.join(series.revisions)}")
        sections.append(Section(title, _history_lead(series), [drifts, shifts]))
    if refused:
        sections.append(Section("Not judged", "", [_refused_table(refused)]))
    return Report(sections, ([] if history else [NOTHING]) + [
        "A week of fewer than 6 nodes is left out. A revision begins a new series unless ten nodes ran it and the one "
        "before in one week."])


def comparison_report(changes: Changes) -> Report:
    sections = []
    for kind in changes.kinds:
        title = f"{kind.kind}, plan {kind.plan[:8]}: A by revision {kind.revision_a}, B by revision {kind.revision_b}"
        lead = "" if kind.revision_a == kind.revision_b else "The revisions differ, so a difference may be one of roof."
        table = Table("Ceilings of both", "ceiling | nodes in A = nodes_a | in B = nodes_b | in both = common | "
                      "median of A = median_a | of B = median_b | B to A = ratio | = low | = high | by chance = chance "
                      "| finding", kind.ceilings)
        sections.append(Section(printable(title), lead, [table]))
    sections += [one._replace(title=f"Nodes in both, B to A: {one.title}")
                 for one in fleet_report(changes.nodes, []).sections]
    notes = [] if changes.kinds else ["A and B have no kind and plan in common: nothing can be compared."]
    for title, only in (("only in A", changes.only_a), ("only in B", changes.only_b)):
        if only:
            notes.append(f"{how_many(len(only), 'node')} {title}: {shortened(', '.join(only), 1000)}")
    return Report(sections, notes)


# ------------------------------------------------------------------------------------------------ answers of a command
Answer = Tuple[int, Report, Any]  #: the exit status, and what is shown; for programs the report's own if it is None


def of_judge(fleet: Fleet, options: JudgeOptions) -> Answer:
    findings, links = judge(fleet, options), judge_links(fleet)
    status = 1 if any(found.slow for found in links) else status_of(findings, any(not found.note for found in links))
    return status, fleet_report(findings, links), fleet_json(findings, links)


def of_history(fleet: Fleet) -> Answer:
    """1 if a node drifted, or all nodes became slower; 2 if nothing can be told."""
    found = judge_history(fleet)
    is_slower = any(series.drifts or any(shift.ratio < 1 for shift in series.shifts) for series in found)
    is_told = any(series.tests for series in found) and not fleet.refused
    return 1 if is_slower else 0 if is_told else 2, history_report(found, fleet.refused), None


def of_comparison(a: Fleet, b: Fleet) -> Answer:
    """1 if a ceiling or a node is slower in B; 2 if nothing can be compared."""
    changes = compare_fleets(a, b)
    is_slower = any(change.finding == "slower" for kind in changes.kinds for change in kind.ceilings)
    is_told = changes.kinds and not changes.nodes.refused
    status = 1 if is_slower or status_of(changes.nodes) == 1 else 0 if is_told else 2
    return status, comparison_report(changes), None

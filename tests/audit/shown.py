"""The tables that the terminal and the page show (shown.yaml): each cell against the records of tables.py, to the printed digits."""

import re
from pathlib import Path

import yaml

import exported
import told
from cells import DAMAGED, Cell, as_text, check, digits
from exported import figure
from figures import Findings
from tables import TABLES

SPECS = yaml.safe_load((Path(__file__).parent / "shown.yaml").read_text(encoding="utf-8"))["tables"]
TITLES = {spec: set(of["is"]) for spec, of in SPECS.items()}
MOST = 10  # rows of a table of headroom


def spec_of(heading):
    """The table with these titles: of several the one with the most of its own."""
    fits = [name for name, titles in TITLES.items() if titles <= set(heading)]
    return max(fits, key=lambda name: len(TITLES[name]), default=None)


def keyed(columns, heading, record_or_row, is_record):
    """What tells rows apart: their texts."""
    names = [title for title in heading if columns.get(title, "").startswith("=")]
    if is_record:
        return tuple(as_text(figure(record_or_row, columns[title][1:])) for title in names)
    return tuple(dict(zip(heading, record_or_row))[title] or "-" for title in names)


def table(findings, place, shown, records, columns):
    """Each row as shown has a record; each record has a row."""
    if "reason" in shown.heading and "status" in shown.heading:
        for row in shown.rows:
            if row[shown.heading.index("status")] == "damaged":
                row[shown.heading.index("reason")] = DAMAGED
    waiting = {}
    for record in records:
        waiting.setdefault(keyed(columns, shown.heading, record, True), []).append(record)
    for at, row in enumerate(shown.rows):
        spot = f"{place}[{at}]"
        found = waiting.get(keyed(columns, shown.heading, row[:len(shown.heading)], False) if len(row) >= len(shown.heading) else None)
        if len(row) < len(shown.heading):
            found = spanned(findings, spot, shown, row, waiting, columns)
            if found is not None:
                continue
        if not found:
            findings.differs(spot, row, "no such row is expected")
            continue
        record = closest(found, shown.heading, row, columns)
        findings.subject = record.get("id", "")
        for title, text in zip(shown.heading, row):
            if title not in columns:
                if digits(text):
                    findings.lacks(f"{place}.{title}", text)
            else:
                check(Cell(findings, f"{spot}.{title}", text, record), columns[title])
    for rest in waiting.values():
        for record in rest:
            findings.subject = record.get("id", "")
            findings.differs(place, "no row", {title: figure(record, rule[1:]) for title, rule in columns.items() if rule.startswith("=") and title in shown.heading})


def closest(found, heading, row, columns):
    """Of records with the same names the one that most cells show."""
    if len(found) == 1:
        return found.pop()
    def right(record):
        trial = Findings()
        for title, text in zip(heading, row):
            if title in columns:
                check(Cell(trial, "", text, record), columns[title])
        return -len(trial.differences)
    best = max(range(len(found)), key=lambda at: (right(found[at]), -at))
    return found.pop(best)


def spanned(findings, spot, shown, row, waiting, columns):
    """A row of the page whose reason fills the rest, or of the terminal whose last cell is empty."""
    heading = shown.heading[:len(row) - 1]
    for key, found in waiting.items():
        for at, record in enumerate(found):
            if keyed(columns, heading, record, True) == keyed(columns, heading, row[:-1], False) and record.get("status", "ok") not in ("ok", None):
                reason = f": {record['reason']}" if isinstance(record.get("reason"), str) and record["reason"] else ""
                if isinstance(record.get("reason"), str):
                    findings.text(spot, row[-1], record["status"] + reason)
                return found.pop(at)
    if len(row) == len(shown.heading) - 1:  # an empty bar
        row.append("")
    return None


def numbers(findings, place, shown, studies):
    """'Table' below a chart: a table of checked.yaml, its titles in words; columns that are all alike are left out."""
    best = None
    for name in NUMBERS[shown.section]:
        rules = {re.sub(r"_median(?=_|$)", "", key).replace("_", " "): rule for key, rule in exported.CHECKED["data"][name].items()}
        rules = {title: f"{rule}, {rule[:-1]}1, {rule[:-1]}2" if rule.endswith(".0") else rule for title, rule in rules.items()}
        of_people = SPECS.get(name, SPECS["verdict"])["columns"]
        first, then = (of_people, rules) if name in SPECS else (rules, of_people)
        of = {title: next((of[word] for of in (first, then) for word in (title, re.sub(r"\s+", " ", title)) if word in of), None) for title in shown.heading}
        if best is None or list(of.values()).count(None) < list(best[1].values()).count(None):
            best = name, of
    name, of = best
    for title, rule in of.items():
        if rule is None:
            findings.lacks(f"{place}.{title}", "no expectation")
    table(findings, f"{place}: numbers", shown, list(TABLES[name](studies)), {title: rule for title, rule in of.items() if rule})


NUMBERS = {"traffic": ["traffic"], "breakdown": ["breakdown"], "counted": ["counted", "counted_phases"], "memory": ["memory", "memory_over_time"],
           "trajectory": ["trajectories"], "curve": ["bandwidth"], "ert": ["ert"]}


def records_of(name, spec, shown, study, studies):
    """The records that a table shows. A table within a title is of one step, or of ceilings of one device, number of threads and condition."""
    source = spec.get("of")
    if source in ("headroom", "kinds"):
        title = re.sub(r"\s+", " ", shown.title)
        found = next((one for one in study.steps if title.startswith(told.step(one.row, study.folder.steps))), None)
        if found is None:
            return None
        rows = [record for record in TABLES[source]([study]) if record["id"] == found.row.id]
        return rows[:len(shown.rows)] if source == "headroom" and len(shown.rows) in (5, MOST) else rows
    if source == "ceilings":
        return [record for record in TABLES["ceilings"]([study]) if ceiling_title(record, shown.title)]
    rows = list(TABLES[source](studies if source == "winners" else [study]))
    if name in ("verdict", "winners"):
        rows = [row for row in rows if row.get("status") != "unsupported" and not row.get("no_fastest")]
    if name == "calls":
        rows = longest(rows, 12)
    if name == "counted":
        rows = longest(rows, 20)
    return rows


def longest(rows, most):
    kept, count = [], {}
    for row in sorted(rows, key=lambda row: -row["seconds"]):
        count[row["id"]] = count.get(row["id"], 0) + 1
        if row["row"] is not None and count[row["id"]] <= most:
            kept.append(row)
    return kept


def ceiling_title(record, title):
    """'Bandwidth, 2 threads, small pages (measured)'; all latencies are one table."""
    if record["kind"] == "latency":
        return title.startswith("Latency")
    words = [{"bandwidth": "Bandwidth", "compute": "Compute"}[record["kind"]], told.processors(record["device"], record["threads"])]
    return title.rpartition(" (")[0] == ", ".join(words + ([record["condition"]] if record["condition"] else []))


def copied(findings, place, shown, study):
    """Facts copied from the folder: the machine, versions, names, what each bench measures. The rules of the method are texts of their own."""
    facts = {record["what"]: record["value"] for record in TABLES["provenance"]([study])}
    benches = {(row["bench"], row["description"]) for row in [*study.folder.rows, *study.calibration.rows]}
    missing = {its["name"]: its["reason"] + (f" (remedy: {its['remedy']})" if its["remedy"] else "") for its in study.folder.machine["capabilities"] or []}
    for what, value in shown.rows:
        if what in facts and what != "clock as reported":
            findings.text(f"{place}.{what}", value, re.sub(r"\s+", " ", facts[what]))
        elif what == "clock as reported":
            findings.printed(f"{place}.{what}", value, float(study.folder.machine["clock_reported_hz"]))
        elif (what, value) in benches or missing.get(what) == value:
            findings.checked += 1
        elif digits(value) and value not in RULES:
            findings.lacks(f"{place}.{what}", value)


RULES = ("measured: median of the launches after warm-up, 95% interval from order statistics; below six samples their range",
         "attainable / measured time; measured - attainable time, never below 0")


def one(findings, where, shown, study, studies):
    """One table as shown."""
    if shown.title == "Table" and shown.section in NUMBERS:
        return numbers(findings, f"{where}: {shown.section}", shown, [study])
    name = spec_of(shown.heading)
    place = f"{where}: {name}"
    if name is None:
        return findings.lacks(f"{where}: table {shown.heading[:4]}", "no expectation")
    spec = SPECS[name]
    if "of" not in spec:
        return
    if name == "provenance":
        return copied(findings, place, shown, study)
    records = records_of(name, spec, shown, study, studies)
    if records is None:
        return findings.differs(place, shown.title, "no such step")
    table(findings, place, shown, records, spec["columns"])

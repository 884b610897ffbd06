"""The tables of `roof report --data`, as CSV and as JSON, against the records of tables.py."""

import json
import re
from pathlib import Path

import yaml

from figures import NUMBER, error_of_shares
from reading import table
from tables import TABLES, TAKEN, Drawn

CHECKED = yaml.safe_load((Path(__file__).parent / "checked.yaml").read_text(encoding="utf-8"))
CHECKED["data"] |= yaml.safe_load((Path(__file__).parent / "checked_machine.yaml").read_text(encoding="utf-8"))["data"]


def figure(record, name):
    if name == "taken":
        return TAKEN
    name, _, at = name.partition(".")
    value = record.get(name)
    return value[int(at)] if at and value is not None else value


def cell_number(shown):
    if shown in ("", None):
        return None
    if isinstance(shown, bool) or shown in ("true", "false"):
        return float(shown in (True, "true"))
    return float(shown)


def unquoted(shown):
    """A cell that a spreadsheet would compute begins with ' (docs/reliability.md)."""
    return shown[1:] if re.match(r"'[-=+@'\t]", shown) else shown


def roofs_shown(text):
    """'fp32 or DRAM (71 / 29%)' -> {'fp32': .71, 'DRAM': .29}"""
    match = re.fullmatch(r"(.+) or (.+) \(([\d.]+) / ([\d.]+)%\)", text)
    return {match[1]: float(match[3]) / 100, match[2]: float(match[4]) / 100} if match else {text: None}


def binds(findings, place, shown, shares):
    """A roof that binds in at least 95% of the draws is named alone; otherwise both candidates with their shares."""
    findings.checked += 1
    names = roofs_shown(shown)
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    plain = lambda name: name.split(" mix ")[0].split(" update")[0] if name else name
    if not ranked:
        if shown not in ("", "-"):
            findings.differs(place, shown, "no roof")
    elif None in names.values():
        if ranked[0][1] < 0.95 - 3 * 0.01 or next(iter(names)) != ranked[0][0]:
            findings.differs(place, shown, ranked)
    else:
        if ranked[0][1] > 0.95 + 3 * 0.01:
            findings.differs(place, shown, ranked)
        for name, share in names.items():
            if abs(share - shares.get(name, 0)) > 3 * error_of_shares(share, shares.get(name, 0)) + 0.005:
                findings.differs(place, shown, ranked)


def aligned(findings, place, columns, shown, expected):
    """Pairs of a row as shown and its record, by the texts that name a row: the order of rows is the program's choice."""
    names = [column for column, name in columns.items() if name.startswith("=") or name in KEYS]
    def key(value_of):
        return tuple(value_of(column) for column in names)
    waiting = {}
    for record in expected:
        waiting.setdefault(key(lambda column: same(figure(record, columns[column].removeprefix("=")))), []).append(record)
    for at, row in enumerate(shown):
        found = waiting.get(key(lambda column: same(row.get(column))))
        if found:
            yield at, row, found.pop(0)
        else:
            findings.differs(f"{place}[{at}]", row, "no such row is expected")
    for rest in waiting.values():
        for record in rest:
            findings.subject = record.get("id", "")
            findings.differs(place, "no row", {name: record.get(name) for name in ("id", "name", "layer", "level", "phase", "change", "by")})


KEYS = ("batch", "threads", "ranks", "working_set", "intensity", "at", "held")  # figures that tell rows apart


def same(value):
    """One form for a text or a whole number, from CSV, JSON or a record."""
    value = unquoted(str(value if value is not None and value is not TAKEN else ""))
    return f"{float(value):.9g}" if re.fullmatch(NUMBER, value) else value


def rows(findings, place, columns, shown, expected):
    """Two lists of rows: dictionaries as shown, and records."""
    for column in shown[0] if shown else []:
        if column not in columns:
            findings.lacks(f"{place}.{column}", "no expectation")
    def is_taken(name):
        return any(figure(record, name.removeprefix("=")) is TAKEN for record in expected)
    for at, row, record in aligned(findings, place, {c: n for c, n in columns.items() if shown and c in shown[0] and n != "=under" and not is_taken(n)}, shown, expected):
        findings.subject = record.get("id", "")
        for column, value in row.items():
            if column not in columns:
                continue
            spot, name = f"{place}[{at}].{column}", columns[column]
            wanted = figure(record, name.removeprefix("="))
            if wanted is TAKEN:
                continue
            if isinstance(wanted, Drawn):
                binds(findings, spot, value or "", wanted.shares)
            elif name.startswith("="):
                findings.text(spot, unquoted(value or ""), str(wanted if wanted is not None else ""))
            else:
                try:
                    findings.exact(spot, cell_number(value), wanted)
                except ValueError:
                    findings.differs(spot, value, wanted)


def audit(findings, folder, studies):
    """All tables of a folder that --data wrote."""
    for path in sorted(folder.glob("*.csv")):
        name = path.stem
        if name in TABLES and name in CHECKED["data"]:
            expected = list(TABLES[name](studies))
            rows(findings, f"{name}.csv", CHECKED["data"][name], table(path), expected)
            rows(findings, f"{name}.json", CHECKED["data"][name], json.loads(path.with_suffix(".json").read_text(encoding="utf-8")), expected)
        elif name not in CHECKED.get("taken", []):
            findings.lacks(path.name, "a table without expectation")

"""Tables read from CSV files, and as text and as Markdown, and text between the marks of a page."""

import csv
from pathlib import Path


def rows(path):
    """The rows of a CSV file; none without the file."""
    if not Path(path).exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def grouped(items, key):
    """{key: items}, both in their order."""
    found = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def as_text(head, rows):
    rows = [head, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def as_markdown(head, rows, rule="---"):
    """`rule`: the mark below each column but the first; "--:" aligns it to the right."""
    def line(cells):
        return "| " + " | ".join(cells) + " |"
    return "\n".join([line(head), line(["---"] + [rule] * (len(head) - 1)), *map(line, rows)])


def marks_of(name, tool):
    return f"<!-- {name}: written by tools/{tool} -->", f"<!-- end of {name} -->"


def write_between(path, begin, end, text):
    """Replaces what is between the two marks of a page. Raises ValueError if it does not have each mark once."""
    page = Path(path).read_text(encoding="utf-8")
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"{path} lacks the marks {begin} … {end}")
    before, rest = page.split(begin)
    Path(path).write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}", encoding="utf-8")

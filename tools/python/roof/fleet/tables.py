"""Tables and sentences for the terminal, as JSON and on a page, with the same cells (analysis/table for C++)."""

import html
import json
import math
import os
import re
import sys
from pathlib import Path
from textwrap import wrap
from typing import Any, Callable, Dict, Iterable, List, NamedTuple

from roof.texts import InputError, printable, si

MOST_ROWS = 1000  #: of a table for people; JSON has all
NARROWEST = 20  #: columns below which nothing is made to fit


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"


def percent(share: float) -> str:
    return f"{100 * share:.{1 if abs(share) < 0.0995 else 0}f}%" if math.isfinite(share) else "-"


class Cell(NamedTuple):
    """A value for programs (None: unknown) and a text for people."""

    value: Any
    text: str
    is_number: bool = False  #: aligned to the right


ABSENT = Cell(None, "-", True)


def number(value: float, text: str = "") -> Cell:
    return Cell(float(value) if math.isfinite(value) else None, printable(text), True)


def _ratio(value: float, record: Any) -> Cell:
    """With the interval that the record has; a high end that is infinite is that of a lower bound."""
    low, high = getattr(record, "low", None), getattr(record, "high", 0.0)
    interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return number(value, f"{value:.3f}{interval}" if math.isfinite(high) else f"at least {low:.3f}")


#: What stands in a column of this key; other cells are texts, counts, truths, or rates for programs only.
FORMS: Dict[str, Callable[[Any, Any], Cell]] = {
    "ratio": _ratio,
    "chance": lambda value, _: number(value, "< 1e-9" if value < 1e-9 else f"{value:.1g}") if value < 1 else ABSENT,
    **dict.fromkeys(("median", "median_a", "median_b"), lambda value, record: number(
        value, si(value, record.unit) if record.unit else f"{value:.3f}")),
    **dict.fromkeys(("scatter", "day_to_day", "visible"), lambda value, _: number(value, percent(value)))}


def _cell(key: str, value: Any, record: Any) -> Cell:
    if value is None or isinstance(value, Cell):
        return value or ABSENT
    if key in FORMS:
        return FORMS[key](value, record)
    if isinstance(value, str):
        return Cell(printable(value), printable(value))
    if isinstance(value, bool):
        return Cell(value, "")
    return number(value) if isinstance(value, float) else Cell(int(value), str(int(value)), True)


class Column:
    def __init__(self, title: str, cells: List[Cell]):
        self.title, self.cells, self.is_number = title, cells, any(cell.is_number for cell in cells)
        self.widest = max((len(cell.text) for cell in cells), default=0)
        self.width = max(len(title), self.widest)


def _width(shown: List[Column], breaks_last: bool = False) -> int:
    """`breaks_last`: the last column, where remarks stand, breaks between words."""
    widths = [one.width for one in shown]
    if breaks_last and shown and not shown[-1].is_number:
        widths[-1] = min(widths[-1], NARROWEST)
    return sum(widths) + 2 * max(0, len(widths) - 1)


class Table:
    """`columns`: "title = key | title that is its key | = key without a title, for programs only". A cell shows what
    `cells` make of a record for the key, else the record's attribute of that name; None is absent."""

    def __init__(self, title: str, columns: str, records: Iterable[Any], **cells: Callable[[Any], Any]):
        halves = [[half.strip() for half in column.split("=")] for column in columns.split("|")]
        self.title, self.columns = title, [(half[0], half[-1]) for half in halves]
        self.rows = [[_cell(key, cells[key](one) if key in cells else getattr(one, key), one)
                      for _, key in self.columns] for one in records]
        self.expendable: List[str] = []  #: titles of the columns that a narrow window leaves out, in this order

    def without_empty_columns(self) -> "Table":
        """Columns in which every cell is absent are for programs only."""
        self.columns = [("" if all(row[i] is ABSENT for row in self.rows) else title, key)
                        for i, (title, key) in enumerate(self.columns)]
        return self

    def json(self) -> List[Dict[str, Any]]:
        return [{key: cell.value for (_, key), cell in zip(self.columns, row)} for row in self.rows]

    def shown(self) -> List[Column]:
        rows = self.rows[:MOST_ROWS]
        return [Column(title, [row[i] for row in rows]) for i, (title, _) in enumerate(self.columns) if title]

    def text(self, columns: int = 0) -> str:
        """In at most `columns`; 0: unlimited. A wide table has columns that are the same in all rows in its title,
        loses expendable columns, then has long names cut; one that is still too wide has a line for each cell."""
        shown, most, common = self.shown(), max(NARROWEST, columns) if columns else math.inf, []
        for one in shown[-2::-1] if len(self.rows) > 1 else ():
            if _width(shown) > most and len({cell.text for cell in one.cells}) == 1:
                common.insert(0, f"{one.title} {one.cells[0].text}")
                shown.remove(one)
        for title in self.expendable:
            shown = [one for one in shown if one.title != title or _width(shown) <= most]
        for i, one in enumerate(shown[:-1]):
            excess = _width(shown, True) - most
            if excess > 0 and not one.is_number:
                longest = max(8, one.widest - excess)
                texts = (cell.text for cell in one.cells)
                cut = [text if len(text) <= longest else text[: longest - 1] + "~" for text in texts]
                shown[i] = Column(one.title, [Cell(None, text) for text in cut])
        heading = self.title
        if _width(shown, True) <= most:
            heading = "; ".join(filter(None, (heading, common and "all: " + ", ".join(common))))
            body = _lines(shown, most)
        else:
            shown = self.shown()
            wide = max(len(one.title) for one in shown)
            rows = zip(*(one.cells for one in shown))
            body = fitted("\n".join("".join(f"{one.title:{wide}}  {cell.text}\n" for one, cell in zip(shown, row))
                                    for row in rows), columns)
        return (fitted(heading + "\n", columns) if heading else "") + body

    def html(self) -> str:
        shown = self.shown()
        if not self.rows or not shown:
            return ""
        heads = "".join(f'<th scope="col"{_css(one)}>{html.escape(one.title)}</th>' for one in shown)
        rows = ("".join(f"<td{_css(cell)}>{html.escape(cell.text)}</td>" for cell in row)
                for row in zip(*(one.cells for one in shown)))
        body = "".join(f"<tr>{row}</tr>\n" for row in rows)
        note = f"<p>The first {MOST_ROWS} of {len(self.rows)} rows; --json has all.</p>\n"
        note *= len(self.rows) > MOST_ROWS
        return (f'{note}<div class="scroll"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table>'
                '</div>\n')


def _css(of: Any) -> str:
    return ' class="n"' if of.is_number else ""


def _lines(shown: List[Column], most: float) -> str:
    before_last, lines = _width(shown) - shown[-1].width, ""
    # a heading is aligned as the first cell below it
    heads = [Cell(None, one.title, bool(one.cells) and one.cells[0].is_number) for one in shown]
    for row in [heads, *zip(*(one.cells for one in shown))]:
        texts = [f"{cell.text:{'>' if cell.is_number else '<'}{one.width}}" for cell, one in zip(row, shown)]
        if before_last + shown[-1].width > most:
            last = fitted(row[-1].text + "\n", int(most) - before_last)[:-1]
            texts[-1] = last.replace("\n", "\n" + " " * before_last)
        lines += "  ".join(texts).rstrip() + "\n"
    return lines


def fitted(text: str, columns: int) -> str:
    """Each line that is wider than `columns` is broken between words; continuations are indented."""
    if columns <= 0:
        return text
    most, out = max(NARROWEST, columns), []
    for line in text[:-1].split("\n") if text.endswith("\n") else text.split("\n"):
        begin = len(line) - len(line.lstrip(" "))
        gap = re.compile(r"  +").search(line, begin)
        indent = gap.end() if gap and gap.end() <= most // 2 else min(begin + 2, most // 2)
        out += wrap(line, most, subsequent_indent=" " * indent, expand_tabs=False, replace_whitespace=False,
                    break_on_hyphens=False) if len(line) > most else [line]
    return "".join(line + "\n" for line in out)


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
        return {"sections": [{"title": title, "lead": lead,
                              "tables": [{"title": one.title, "rows": one.json()} for one in tables]}
                             for title, lead, tables in self.sections], "notes": self.notes}

    def page(self) -> str:
        body = ""
        for title, lead, tables in self.sections:
            body += f'<section><h2>{html.escape(title)}</h2>\n<p class="lead">{html.escape(lead)}</p>\n'
            body += "".join(f"<h3>{html.escape(t.title)}</h3>\n{t.html()}" for t in tables if t.rows) + "</section>\n"
        return page("fleet", "Fleet", body + "".join(f"<p>{html.escape(note)}</p>\n" for note in self.notes))


def page(title: str, heading: str, body: str) -> str:
    """One HTML file without script that fetches nothing."""
    style, form = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("page.css", "page.html"))
    return form.format(title=title, style=style, heading=heading, body=body)


def window() -> int:
    """The columns of the terminal that standard output is; 0 if it is none."""
    try:
        columns = os.get_terminal_size(1).columns
    except (OSError, ValueError):
        return 0
    return min(max(columns, 40), 200) if columns else 0


def say(text: str) -> None:
    sys.stdout.write(text)


def say_json(document: Any) -> None:
    say(json.dumps(document, indent=2, sort_keys=True, default=float) + "\n")


def show(of: Any, is_json: bool, document: Any = None) -> None:
    """A table or report, or its document [that of the report]."""
    say_json(of.json() if document is None else document) if is_json else say(of.text(window()))


def write_page(file: str, text: str, is_named: bool = True) -> None:
    """Whole or not at all. A link is followed where the user named the file. Raises InputError."""
    place = Path(os.path.realpath(file) if is_named else file)
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        if is_named and place.exists() and not place.is_file():  # such as /dev/stdout
            place.write_text(text, encoding="utf-8")
            return
        with open(part, "x", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, place)
    except OSError as error:
        part.unlink() if part.exists() else None
        raise InputError(f"cannot write {printable(file)}: {error.strerror}") from error

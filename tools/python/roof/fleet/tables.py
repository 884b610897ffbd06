"""Tables and sentences for the terminal, as JSON and on a page; the same cells in all three (analysis/table does it for C++)."""

import html
import json
import math
import os
import re
import sys
from pathlib import Path
from typing import Any, List, NamedTuple, Optional, Sequence

from roof.errors import InputError
from roof.texts import printable

MOST_ROWS = 1000  #: of a table for people; JSON has all
NARROWEST = 20  #: columns below which nothing is made to fit


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"


def percent(share: float) -> str:
    return f"{100 * share:.{1 if abs(share) < 0.0995 else 0}f}%" if math.isfinite(share) else "-"


def si(value: float, unit: str) -> str:
    """1.234e9, "B/s" -> "1.23 GB/s"."""
    if not math.isfinite(value):
        return "-"
    if value == 0:
        return f"0 {unit}"
    rounded = abs(value) * (1 + 5e-4)  # 999.9 has four digits before the point once it is rounded to three
    factor, letter = next(((f, s) for f, s in zip((1e15, 1e12, 1e9, 1e6, 1e3, 1, 1e-3, 1e-6), "PTGMk mu") if rounded >= f), (1e-9, "n"))
    if rounded / factor >= 1e6:
        return f"{value:.2e} {unit}"
    digits = 0 if rounded / factor >= 100 else 1 if rounded / factor >= 10 else 2
    return f"{value / factor:.{digits}f} {letter.strip()}{unit}"


def plain(value: float) -> str:
    """Three significant digits."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}" if value and math.isfinite(value) else "0" if value == 0 else "-"


def ratio_text(ratio: float, low: float, high: float) -> str:
    return f"{ratio:.3f} [{low:.3f}, {high:.3f}]"


def chance_text(chance: float) -> str:
    return "< 1e-9" if chance < 1e-9 else f"{chance:.1g}"


class Cell(NamedTuple):
    """A value for programs (None: unknown) and a text for people."""

    value: Any
    text: str
    is_number: bool = False  #: aligned to the right


def word(text: str, value: Optional[str] = None) -> Cell:
    return Cell(printable(text) if value is None else value, printable(text))


def number(value: float, text: str = "") -> Cell:
    return Cell(float(value) if math.isfinite(value) else None, text, True)


def count(value: int) -> Cell:
    return Cell(int(value), str(int(value)), True)


def _cell(value: Any) -> Cell:
    if isinstance(value, (Cell, str)):
        return word(value) if isinstance(value, str) else value
    if isinstance(value, bool):
        return Cell(value, "")
    return number(value) if isinstance(value, float) else count(value)


def amount(value: float, unit: str) -> Cell:
    return number(value, printable(si(value, unit)))


ABSENT = Cell(None, "-", True)
class Column:
    def __init__(self, title: str, cells: Sequence[Cell]):
        self.title, self.cells, self.is_number = title, cells, any(cell.is_number for cell in cells)
        self.widest = max((len(cell.text) for cell in cells), default=0)
        self.width = max(len(title), self.widest)


class Table:
    """`columns`: "title = key | title that is its key | = key without a title, for programs only"; `rows`: a Cell for each, or what becomes one:
    text, a count, a rate that has no text, a truth."""

    def __init__(self, title: str, columns: str, rows: Sequence[Sequence[Any]]):
        halves = [[half.strip() for half in column.split("=")] for column in columns.split("|")]
        self.title, self.columns = title, [(half[0], half[-1]) for half in halves]
        self.rows = [[_cell(value) for value in row] for row in rows]
        self.expendable: List[str] = []  #: titles of the columns that a narrow window leaves out, in this order

    def without_empty_columns(self) -> "Table":
        """Columns in which every cell is absent are for programs only."""
        self.columns = [("" if all(row[i] is ABSENT for row in self.rows) else title, key) for i, (title, key) in enumerate(self.columns)]
        return self

    def json(self) -> List[dict]:
        return [{key: cell.value for (_, key), cell in zip(self.columns, row)} for row in self.rows]

    def shown(self) -> List[Column]:
        """What people see."""
        return [Column(title, [row[i] for row in self.rows[:MOST_ROWS]]) for i, (title, _) in enumerate(self.columns) if title]

    def text(self, columns: int = 0) -> str:
        """In at most `columns`; 0: unlimited. A wide table has columns that are the same in all rows in its title, loses expendable columns, then has
        long names cut; one that is still too wide has a line for each cell."""
        shown, most, common = self.shown(), max(NARROWEST, columns) if columns else 0, []
        for one in shown[-2::-1] if most and len(self.rows) > 1 else ():
            if _width(shown) > most and len({cell.text for cell in one.cells}) == 1:
                common.insert(0, f"{one.title} {one.cells[0].text}")
                shown.remove(one)
        for title in self.expendable if most else ():
            shown = [one for one in shown if one.title != title or _width(shown) <= most]
        for i, one in enumerate(shown[:-1]):
            excess = _width(shown, True) - most
            if most and excess > 0 and not one.is_number:
                longest = max(8, one.widest - excess)
                cut = [cell.text if len(cell.text) <= longest else cell.text[: longest - 1] + "~" for cell in one.cells]
                shown[i] = Column(one.title, [Cell(None, text) for text in cut])
        heading = "; ".join(filter(None, (self.title, common and "all: " + ", ".join(common))))
        if not most or _width(shown, True) <= most:
            return (fitted(heading + "\n", columns) if heading else "") + _lines(shown, most)
        shown = self.shown()
        wide = max(len(one.title) for one in shown)
        lines = ["".join(f"{one.title:{wide}}  {cell.text}\n" for one, cell in zip(shown, row)) for row in zip(*(one.cells for one in shown))]
        return (fitted(self.title + "\n", columns) if self.title else "") + fitted("\n".join(lines), columns)

    def html(self) -> str:
        shown = self.shown()
        if not self.rows or not shown:
            return ""
        note = f"<p>The first {MOST_ROWS} of {len(self.rows)} rows; --json has all.</p>\n" if len(self.rows) > MOST_ROWS else ""
        heads = "".join(f'<th scope="col"{_css(one.is_number)}>{html.escape(one.title)}</th>' for one in shown)
        rows = ["".join(f"<td{_css(cell.is_number)}>{html.escape(cell.text)}</td>" for cell in row) for row in zip(*(one.cells for one in shown))]
        body = "".join(f"<tr>{row}</tr>\n" for row in rows)
        return f'{note}<div class="scroll"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n'


def _css(is_number: bool) -> str:
    return ' class="n"' if is_number else ""


def _width(shown: List[Column], breaks_last: bool = False) -> int:
    """`breaks_last`: the last column, where remarks stand, breaks between words."""
    widths = [one.width for one in shown]
    if breaks_last and shown and not shown[-1].is_number:
        widths[-1] = min(widths[-1], NARROWEST)
    return sum(widths) + 2 * max(0, len(widths) - 1)


def _lines(shown: List[Column], most: int) -> str:
    before_last = _width(shown) - shown[-1].width
    lines = []
    # a heading is aligned as the first cell below it
    heads = [Cell(None, one.title, bool(one.cells) and one.cells[0].is_number) for one in shown]
    for row in [heads, *zip(*(one.cells for one in shown))]:
        texts = [cell.text.rjust(one.width) if cell.is_number else cell.text.ljust(one.width) for cell, one in zip(row, shown)]
        if most and before_last + shown[-1].width > most:
            texts[-1] = fitted(row[-1].text + "\n", most - before_last)[:-1].replace("\n", "\n" + " " * before_last)
        lines.append("  ".join(texts).rstrip() + "\n")
    return "".join(lines)


def fitted(text: str, columns: int) -> str:
    """Each line that is wider than `columns` is broken between words; continuations are indented."""
    if columns <= 0:
        return text
    most, out = max(NARROWEST, columns), []
    for line in text[:-1].split("\n") if text.endswith("\n") else text.split("\n"):
        if len(line) <= most:
            out.append(line)
            continue
        begin = len(line) - len(line.lstrip(" "))
        gap = re.compile(r"  +").search(line, begin)
        indent = gap.end() if gap and gap.end() <= most // 2 else min(begin + 2, most // 2)
        now, is_empty = " " * begin, True
        for piece in line[begin:].split(" "):
            if not is_empty and len(now) + 1 + len(piece) > most:
                out.append(now.rstrip())
                now, is_empty = " " * indent, True
            while len(now) + len(piece) > most and is_empty:
                room = most - len(now)
                out.append(now + piece[:room])
                now, piece = " " * indent, piece[room:]
            now, is_empty = now + ("" if is_empty else " ") + piece, False
        out.append(now)
    return "".join(line + "\n" for line in out)


def page(title: str, heading: str, body: str) -> str:
    """One HTML file without script that fetches nothing."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return Path(__file__).with_name("page.html").read_text(encoding="utf-8").format(title=title, style=style, heading=heading, body=body)


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

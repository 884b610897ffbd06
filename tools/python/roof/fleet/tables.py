"""Tables and sentences for the terminal, as JSON and on a page; the same cells in all three (analysis/table does it for
C++)."""

import html
import json
import math
import os
import re
import sys
from pathlib import Path
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

from roof.errors import InputError, printable

MOST_ROWS = 1000  #: of a table for people; JSON has all
NARROWEST = 20  #: columns below which nothing is made to fit


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"


def how_many(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    return f"{100 * share:.{1 if abs(share) < 0.0995 else 0}f}%" if math.isfinite(share) else "-"


def si(value: float, unit: str) -> str:
    """1.234e9, "B/s" -> "1.23 GB/s"."""
    if not math.isfinite(value):
        return "-"
    if value == 0:
        return f"0 {unit}"
    rounded = abs(value) * (1 + 5e-4)  # 999.9 has four digits before the point once it is rounded to three
    factor, letter = next(((f, s) for f, s in zip((1e15, 1e12, 1e9, 1e6, 1e3, 1,
                          1e-3, 1e-6), "PTGMk mu") if rounded >= f), (1e-9, "n"))
    if rounded / factor >= 1e6:
        return f"{value:.2e} {unit}"
    digits = 0 if rounded / factor >= 100 else 1 if rounded / factor >= 10 else 2
    return f"{value / factor:.{digits}f} {letter.strip()}{unit}"


def plain(value: float) -> str:
    """Three significant digits."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}" if value and math.isfinite(
        value) else "0" if value == 0 else "-"


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


def amount(value: float, unit: str) -> Cell:
    return number(value, printable(si(value, unit)))


ABSENT = Cell(None, "-", True)
#: title (empty: for programs only), key (empty: for people only), how to read a row
Column = Tuple[str, str, Callable[[Any], Cell]]


class Table:
    def __init__(self, title: str, columns: Sequence[Column], rows: Sequence[Any]):
        self.title, self.note = title, ""
        self.columns = [(heading, key) for heading, key, _ in columns]
        self.rows = [[read(row) for _, _, read in columns] for row in rows]
        self.expendable: List[str] = []  #: titles of the columns that a narrow window leaves out, in this order

    def without_empty_columns(self) -> "Table":
        """Columns in which every cell is absent are for programs only."""
        for i, (heading, key) in enumerate(self.columns):
            if heading and all(row[i] is ABSENT for row in self.rows):
                self.columns[i] = ("", key)
        return self

    def json(self) -> List[dict]:
        return [{key: cell.value for (_, key), cell in zip(self.columns, row) if key} for row in self.rows]

    def shown(self) -> Tuple[List[str], List[List[Cell]]]:
        """What people see."""
        places = [i for i, (heading, _) in enumerate(self.columns) if heading]
        return [self.columns[i][0] for i in places], [[row[i] for i in places] for row in self.rows[:MOST_ROWS]]

    def lead(self) -> str:
        if len(self.rows) > MOST_ROWS:
            return f"The first {MOST_ROWS} of {len(self.rows)} rows; --json has all."
        return self.note

    def text(self, columns: int = 0) -> str:
        """In at most `columns`; 0: unlimited. A wide table has columns that are the same in all rows in its title,
        loses expendable columns, then has long names cut; one that is still too wide has a line for each cell."""
        titles, rows = self.shown()
        most, heading = max(NARROWEST, columns) if columns else 0, self.title
        if most:
            common = []
            for i in reversed(range(len(titles) - 1)):
                if _width(titles, rows) > most and len(rows) > 1 and len({row[i].text for row in rows}) == 1:
                    common.insert(0, f"{titles[i]} {rows[0][i].text}")
                    titles, rows = _without(titles, rows, i)
            heading += ("; all: " if heading else "all: ") + ", ".join(common) if common else ""
            for expendable in self.expendable:
                if _width(titles, rows) > most and expendable in titles:
                    titles, rows = _without(titles, rows, titles.index(expendable))
            for i in range(len(titles) - 1):
                excess = _width(titles, rows, True) - most
                if excess > 0 and not any(row[i].is_number for row in rows):
                    longest = max(8, max(len(row[i].text) for row in rows) - excess)
                    cut = [row[i].text if len(row[i].text) <=
                                              longest else row[i].text[: longest - 1] + "~" for row in rows]
                    rows = [row[:i] + [Cell(None, text)] + row[i + 1 :] for row, text in zip(rows, cut)]
        begin = fitted(heading + "\n", columns) if heading else ""
        if most and _width(titles, rows, True) > most:
            titles, rows = self.shown()
            wide = max(map(len, titles))
            lines = ["".join(f"{title:{wide}}  {cell.text}\n" for title, cell in zip(titles, row)) for row in rows]
            return (fitted(self.title + "\n", columns) if self.title else "") + fitted("\n".join(lines), columns)
        return begin + _lines(titles, rows, most)

    def html(self) -> str:
        titles, rows = self.shown()
        if not rows or not titles:
            return ""
        numbers = [any(row[i].is_number for row in rows) for i in range(len(titles))]
        note = f"<p>{html.escape(self.lead())}</p>\n" if self.lead() else ""
        heads = "".join(f'<th scope="col"{_css(n)}>{html.escape(title)}</th>' for title, n in zip(titles, numbers))
        body = "".join(
    "<tr>" +
    "".join(
        f"<td{_css(c.is_number)}>{html.escape(c.text)}</td>" for c in row) +
         "</tr>\n" for row in rows)
        return f'{note}<div class="scroll"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n'


def _css(is_number: bool) -> str:
    return ' class="n"' if is_number else ""


def _widths(titles: List[str], rows: List[List[Cell]]) -> List[int]:
    return [max([len(title), *(len(row[i].text) for row in rows)]) for i, title in enumerate(titles)]


def _width(titles: List[str], rows: List[List[Cell]], breaks_last: bool = False) -> int:
    """`breaks_last`: the last column, where remarks stand, breaks between words."""
    widths = _widths(titles, rows)
    if breaks_last and widths and not any(row[-1].is_number for row in rows):
        widths[-1] = min(widths[-1], NARROWEST)
    return sum(widths) + 2 * max(0, len(widths) - 1)


def _without(titles: List[str], rows: List[List[Cell]], i: int) -> Tuple[List[str], List[List[Cell]]]:
    return titles[:i] + titles[i + 1 :], [row[:i] + row[i + 1 :] for row in rows]


def _lines(titles: List[str], rows: List[List[Cell]], most: int) -> str:
    widths = _widths(titles, rows)
    before_last = sum(widths[:-1]) + 2 * (len(widths) - 1)
    guides = rows[0] if rows else [Cell(None, "")] * len(titles)  # a heading is aligned as the first cell below it
    lines = []
    for row in [[Cell(None, title, guide.is_number) for title, guide in zip(titles, guides)], *rows]:
        texts = [cell.text.rjust(w) if cell.is_number else cell.text.ljust(w) for cell, w in zip(row, widths)]
        if most and before_last + widths[-1] > most:
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
    return Path(__file__).with_name("page.html").read_text(
        encoding="utf-8").format(title=title, style=style, heading=heading, body=body)


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


def write_page(file: str, text: str) -> None:
    """Whole or not at all. Raises InputError."""
    place = Path(os.path.realpath(file))
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        if place.exists() and not place.is_file():  # such as /dev/stdout
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

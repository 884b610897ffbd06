"""Tables, texts and pictures as the terminal and the page show them, without their meaning."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr"}
HEADING = re.compile(r"(Not measured|Unstable .*|Measured on a busy machine|Remarks|No answer|Measured only in [ab]):|Inconsistencies in .*")
DRAWN = re.compile(r"^(.{0,11}) [│|](.*)$")
TEXTS = {"h1", "h2", "h3", "p", "li", "figcaption", "summary", "title", "nav", "label", "button"}


@dataclass
class Table:
    heading: list
    rows: list = field(default_factory=list)
    title: str = ""
    section: str = ""


@dataclass
class Drawing:
    """A picture of letters: (name, letters) of each line, the lines below, and what the letters mean."""
    title: str = ""
    rows: list = field(default_factory=list)
    below: list = field(default_factory=list)
    legend: list = field(default_factory=list)
    left: int = 0


@dataclass
class Text:
    words: str
    section: str = ""
    indent: int = 0


def cells_of(line):
    return re.split(r"\s{2,}", line.strip())


def indent(line):
    return len(line) - len(line.lstrip())


def as_row(line, heading):
    """The cells of a line; none where it is no row of the table. Where the last column has no title its cell may be empty."""
    cells = cells_of(line)
    return cells if line.strip() and len(cells) == len(heading) or len(cells) == len(heading) + 1 else None


def from_terminal(text, is_heading):
    """Tables and texts of the terminal in a pipe; `is_heading(cells)`: whether a line is the heading of a table. A table ends at an empty line.
    A line that begins with spaces belongs to the text before it."""
    lines, found, at = text.splitlines(), [], 0
    while at < len(lines):
        if DRAWN.match(lines[at]):
            drawing = Drawing()
            if found and isinstance(found[-1], Text) and lines[at - 1].strip():
                drawing.title = found.pop().words
            while at < len(lines) and (match := DRAWN.match(lines[at])):
                drawing.rows.append((match[1].strip(), match[2]))
                drawing.left = match.start(2)
                at += 1
            below = 3 if at < len(lines) and re.match(r"\s*[└+]", lines[at]) else 1
            drawing.below, at = lines[at:at + below], at + below
            if below == 1 and at + 1 < len(lines) and not lines[at].strip() and re.match(r"\s+[a-z] ", lines[at + 1]):
                at += 1
            while at < len(lines) and lines[at].strip():  # what the letters are
                if indent(lines[at]) <= 2 or not drawing.legend or below == 1:
                    drawing.legend += [lines[at].strip()] if below > 1 else cells_of(lines[at])
                else:
                    drawing.legend[-1] += " " * (2 if drawing.legend[-1].startswith("roofs") else 1) + lines[at].strip()
                at += 1
                if at < len(lines) and indent(lines[at]) == 0:
                    break
            found.append(drawing)
            continue
        cells = cells_of(lines[at])
        if len(cells) > 1 and is_heading(cells):
            table = Table(cells)
            if found and isinstance(found[-1], Text) and at and lines[at - 1].strip():
                table.title = found[-1].words
            at += 1
            while at < len(lines) and (row := as_row(lines[at], cells)):
                table.rows.append(row)
                at += 1
            found.append(table)
        elif lines[at].strip():
            goes_on = (found and isinstance(found[-1], Text) and lines[at - 1].strip() and indent(lines[at]) > found[-1].indent
                       and not HEADING.fullmatch(found[-1].words))
            if goes_on:
                found[-1].words += " " + lines[at].strip()
            else:
                found.append(Text(lines[at].strip(), indent=indent(lines[at])))
            at += 1
        else:
            at += 1
    return found


class Page(HTMLParser):
    """Tables, texts and charts of the page, with the section that they stand in. Texts of titles and labels follow those of their element."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.found, self.charts, self.section, self.inside, self.texts = [], [], "", [], []
        self.table = self.row = self.cell = self.chart = None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        if tag not in VOID:
            self.inside.append(tag)
        if tag == "section":
            self.section = of.get("id", "")
        if tag == "svg":
            self.chart = (self.section, [])
            self.charts.append(self.chart)
        if tag == "table":
            self.table = Table([], section=self.section)
        elif tag == "tr":
            self.row = []
        elif tag in ("td", "th"):
            self.cell, self.span = "", int(of.get("colspan") or 1)
        elif tag in TEXTS and "svg" not in self.inside:
            self.texts.append("")
        if self.cell is not None and tag not in ("td", "th"):
            self.cell += f" {of['title']}" if of.get("title") else ""
            self.cell += f" {of['style']}" if of.get("style") else ""

    def handle_endtag(self, tag):
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass
        if tag in ("td", "th") and self.row is not None:
            self.row.append(self.cell.strip())
            self.cell = None
        elif tag == "tr" and self.table is not None:
            if self.table.heading:
                self.table.rows.append(self.row)
            else:
                self.table.heading = self.row
            self.row = None
        elif tag == "table":
            self.found.append(self.table)
            self.table = None
        elif tag in TEXTS and "svg" not in self.inside and self.texts:
            words = re.sub(r"\s+", " ", self.texts.pop()).strip()
            if words:
                self.found.append(Text(words, self.section))

    def handle_data(self, data):
        if "script" in self.inside or "style" in self.inside or "pre" in self.inside:
            return
        if self.cell is not None:
            self.cell += data
        elif "svg" in self.inside:
            self.chart[1].append((self.inside[-1], data))
        elif self.texts:
            self.texts[-1] += data
        elif data.strip():
            self.found.append(Text(data.strip(), self.section))

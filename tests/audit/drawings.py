"""The pictures of letters in the terminal: rooflines with a letter for each step, and images per second over the batch."""

import math
import re

import captions
import told
from figures import UNITS, printed
from said import Index

ROWS = 1.51  # a letter stands in the cell of its value, within a row of it where ticks are rounded to cells


def value_of(text):
    number, _, unit = text.partition(" ")
    return float(number) * UNITS[unit]


def axis(points):
    """Value to cell, through the outermost of (cell, value), of a logarithmic axis."""
    (a, low), (b, high) = min(points, key=lambda point: point[1]), max(points, key=lambda point: point[1])
    return lambda value: a + (b - a) * math.log(value / low) / math.log(high / low)


def ticks_below(findings, place, drawing):
    """[(column, value)] of the axis of intensities: whole powers of ten, evenly spaced."""
    found = []
    for match in re.finditer(r"\S+", drawing.below[1]):
        value = float(match[0]) if re.fullmatch(r"[\d.e+-]+", match[0]) else None
        findings.checked += 1
        if value is None or abs(math.log10(value) - round(math.log10(value))) > 1e-9:
            findings.differs(f"{place}: tick", match[0], "a power of ten")
        else:
            found.append((match.start() - drawing.left, value))
    for (a, low), (b, high) in zip(found, found[1:]):
        findings.checked += 1
        if abs(round(math.log10(high / low)) - 1) > 0 and len(found) > 2 and abs((b - a) / (found[1][0] - found[0][0]) - math.log10(high / low)) > 0.5:
            findings.differs(f"{place}: tick", high, "evenly spaced")
    return found


def roofline(findings, place, drawing, study):
    rows = [(at, value_of(name)) for at, (name, _) in enumerate(drawing.rows) if name]
    columns = ticks_below(findings, place, drawing)
    device = drawing.title
    steps = [step for step in study.steps if step.row["device"] == device]
    to_row, to_column = axis(rows) if len(rows) > 1 else None, axis(columns[:-1]) if len(columns) > 2 else None  # the last name may be moved to the left
    said = [*captions.points(study, names={identity: name for (_, identity), name in told.marked([study]).items()})]
    index = Index(said)
    hidden = set()
    for text in drawing.legend:
        if text.startswith("not drawn, behind another letter: ") or text.startswith("at the edge, because outside the drawing: "):
            hidden |= set(text.rpartition(": ")[2].split(", "))
    # The roofs are those that the steps were placed under; of steps under several, those of the most threads.
    under = {study.roofs_for(step.row).threads for step in steps if step.step.rate[0] > 0} if "," not in device else {0}
    several = len(under) > 1
    beside = under.pop() if len(under) == 1 else 10**9
    seen = 0
    for text in drawing.legend:
        if text.startswith("roofs ("):
            roofs(findings, place, text, study.roofs_at(device, beside), device)
        elif text.startswith("Points with other threads "):
            findings.text(f"{place}: other threads", text, "Points with other threads were placed under the roofs of those, which are not drawn.")
            findings.text(f"{place}: other threads", several, True)
        elif re.match(r"(not drawn|at the edge), ", text):
            continue
        else:
            letter, _, words = text.partition(" ")
            seen += 1
            right = index.check(findings, f"{place}: legend", words)
            where = [(row, at) for row, (_, line) in enumerate(drawing.rows) for at, one in enumerate(line) if one == letter]
            placed = [one.at for one in right if one.at and one.at[0]]
            if to_row and to_column and placed and letter not in hidden and letter != "*":
                findings.checked += 1
                fits = [abs(row - to_row(y)) < ROWS and abs(at - to_column(x)) < ROWS + 1 for x, y in placed for row, at in where]
                if not any(fits):
                    findings.differs(f"{place}: letter {letter}", where[:6], [(round(to_row(y), 1), round(to_column(x), 1)) for x, y in placed])
    findings.text(f"{place}: steps", seen, sum(step.step.rate[0] > 0 for step in steps))


def roofs(findings, place, text, expected, device):
    """'roofs (measured, 2 threads): L1 load 400 GB/s  …  fp32 fma 100 GFLOP/s'"""
    head, _, items = text.partition("):")
    wanted = [(level.name, level.best) for level in expected.levels] + list(expected.compute.items())
    shown = re.findall(r"(\S+) (\S+) ((?:≥|>=) )?([\d.]+) (\S+)", items)
    findings.text(f"{place}: roofs", sorted((name, operation, mark != "") for name, operation, mark, _, _ in shown),
                  sorted((name, roof.operation, roof.at_least) for name, roof in wanted))
    rates = {(name, roof.operation): roof.median for name, roof in wanted}
    for name, operation, _, number, unit in shown:
        findings.checked += 1
        if (name, operation) in rates and not printed(number, unit, rates[name, operation]):
            findings.differs(f"{place}: roof {name}", (number, unit), rates[name, operation])
    if "," not in device:
        findings.text(f"{place}: roofs of", head.rpartition(", ")[2], told.processors(device, expected.threads))


AIR = 1.15


def batches(findings, place, drawing, study):
    model = re.split(": [a-z]+/s of the median step", drawing.title)[0]
    series = {}
    for step in study.steps:
        row = step.row
        if told.model(row) == model and row.batch:
            name = f"{row['precision']} on {told.where(row, study.folder.steps)}" + ("" if told.data(row) in ("-", "synthetic") else f", {told.data(row)}")
            series.setdefault(name, {}).setdefault(row.batch, step.images_of_median_step[0])
    rates = [rate for of in series.values() for rate in of.values()]
    sizes = [batch for of in series.values() for batch in of]
    names = sorted(series)
    legend = [re.sub(r"\s+", " ", text) for text in drawing.legend]
    for at, name in enumerate(names[:25]):
        findings.text(f"{place}: legend", f"{chr(ord('a') + at)} {name}" in legend, True)
    findings.text(f"{place}: legend", len(legend), len(names))
    findings.printed(f"{place}: top", drawing.rows[0][0], max(rates) * AIR)
    findings.printed(f"{place}: bottom", drawing.rows[-1][0], min(rates) / AIR)
    shown = [int(number) for number in re.findall(r"\d+", drawing.below[0])]
    for number in shown:
        findings.text(f"{place}: batch", number in sizes, True)
    wide = max(len(line) for _, line in drawing.rows)
    columns = [(match.start() - drawing.left, int(match[0])) for match in re.finditer(r"\d+", drawing.below[0])]
    if len(columns) < 2 or len(drawing.rows) < 2:
        return
    low, high = min(rates) / AIR, max(rates) * AIR
    to_row = lambda rate: (len(drawing.rows) - 1) * math.log(high / rate) / math.log(high / low)
    to_column = axis([columns[0], (wide - 1, max(sizes))]) if columns[-1][1] == max(sizes) else axis([columns[0], columns[-1]])
    for at, name in enumerate(names[:25]):
        for batch, rate in series[name].items():
            row, column = to_row(rate), to_column(batch)
            near = "".join(drawing.rows[y][1][max(0, round(column) - 2):round(column) + 3] for y in range(max(0, round(row) - 1), min(len(drawing.rows), round(row) + 2)))
            findings.checked += 1
            if chr(ord("a") + at) not in near and not re.search(r"[a-z]", near):  # another letter may cover it
                findings.differs(f"{place}: letter {chr(ord('a') + at)} at batch {batch}", near, (round(row, 1), round(column, 1)))


def one(findings, place, drawing, study):
    if "over the batch" in drawing.title:
        return batches(findings, f"{place}: batches", drawing, study)
    roofline(findings, f"{place}: roofline", drawing, study)

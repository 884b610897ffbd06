"""Sentences: a text with its figures, each recomputed. A sentence of another form is a difference."""

import re

import answer
import told
from figures import NUMBER, UNIT

TITLE = {"batch": r"batch (\d+)(?: per rank| of all ranks| in all)?", "ranks": r"(\d+) ranks", "threads": r"(\d+) threads?", "bucket_mb": r"bucket mb (\d+)|(\d+) MB",
         "tokens": r"tokens (\d+)", "phase": r"phase (\w+)"}


def title(findings, place, text, step):
    """'netB, batch 2 per rank, fp32 on cpu, 3 ranks, weak scaling, 4 threads, bucket mb 25': each number is a cell of the row."""
    left = text
    for column, pattern in TITLE.items():
        for match in re.finditer(pattern, text):
            findings.text(f"{place}: {column}", next(group for group in match.groups() if group), step.row[column])
            left = left.replace(match[0], "")
    for word in (step.row["model"], step.row["precision"], step.row["device"], step.row["data"].rsplit("/", 1)[-1], step.row["lr"]):
        left = left.replace(word, "", 1) if word else left
    if re.search(r"\d", left):
        findings.lacks(place, text)


def worded(findings, place, text, pattern, values):
    """A text that is a pattern with figures at {}."""
    match = re.fullmatch(rf"({NUMBER}\s?(?:{UNIT})?)".join(map(re.escape, pattern.split("{}"))), text)
    if not match:
        return findings.differs(place, text, (pattern, values))
    for shown, value in zip(match.groups(), values):
        findings.printed(place, shown, value)


def sole_bound(step):
    """Section 7: the bound with 60% of the time, compute or a level."""
    of = answer.times(step)
    bounds = {"compute": of["compute"], **of["levels"]}
    return next((name for name, seconds in bounds.items() if seconds >= answer.ALONE * of["all"]), "")


def over_batches(step):
    """'From batch N on, compute binds.': all larger batches of the series have that bound, a smaller one has not."""
    axes = [name for name in answer.AXES if name != "batch"]
    series = [other for other in step.study.steps if other.row.batch and other.row["device"] == step.row["device"] and other.row["bench"] == step.row["bench"]
              and all(other.row[name] == step.row[name] for name in axes)]
    bounds = {float(other.row.batch): sole_bound(other) for other in series}
    sizes = sorted(bounds)
    if not sizes or not bounds[sizes[-1]]:
        return "", []
    changes = [size for size in sizes if bounds[size] != bounds[sizes[-1]]]
    return (f" From batch {{}} on, {bounds[sizes[-1]]} binds.", [min(size for size in sizes if size > changes[-1])]) if changes else ("", [])


def update_bytes(step):
    """'Its update moves 978 MB for 4 images.': where memory has a tenth of the time and the update half of that."""
    of, layers = answer.times(step), [layer for layer in step.layers if layer.phase == "update" and layer.verdict == "bandwidth"]
    memory = sum(of["levels"].values())
    if memory < answer.NAMED * of["all"] or 2 * sum(layer.time for layer in layers) < memory or not layers:
        return "", []
    return f" Its update moves {{}} for {{}} {told.items([step.row])}.", [sum(layer.low for layer in layers), float(step.row.images)]


def answer_of(step):
    """(text with {} for each figure, the figures): 'TITLE is HEADLINE. A step takes TIME; at its roofs it would take TIME.', what its update moves,
    and from which batch on what binds."""
    pattern, values = answer.headline(step)
    name = told.step(step.row, step.study.folder.steps)
    pattern = f"{name}{' is ' if step.step.bound else ': '}{pattern}."
    if step.step.bound and step.step.share < 1.005:
        sense = answer.sense(step.roof_may_be_higher(step.step), step.bytes_may_be_more(step.step))
        turned = {"at least": "at most ", "up to": "at least ", "about": "about "}.get(sense, "")
        more, batches = update_bytes(step), over_batches(step)
        pattern += f" A step takes {{}}; at its roofs it would take {turned}{{}}." + more[0] + batches[0]
        values = [*values, step.step.time, step.step.attainable, *more[1], *batches[1]]
    return pattern, values


def sentence(findings, place, text, step):
    worded(findings, place, text, *answer_of(step))

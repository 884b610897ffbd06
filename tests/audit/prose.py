"""Sentences: a text with its figures, each recomputed. A sentence of another form is a difference."""

import re

import answer
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


def sentence(findings, place, text, step):
    """'TITLE: HEADLINE. Most worthwhile: ACTION saves up to TIME of its TIME (measured).'"""
    head, _, rest = text.partition(": ")
    title(findings, f"{place}: title", head, step)
    pattern, values = answer.headline(step)
    actions = answer.actions(step)[:1]
    if actions:
        told = [f"{action.what} saves {action.sense}{' ' if action.sense else ''}{{}} of its {{}} ({action.known})" for action in actions]
        pattern += f". Most worthwhile: {'; '.join(told)}"
        values = [*values, actions[0].seconds, step.step.time]
    worded(findings, place, rest, pattern + ".", values)

"""Sentences: each is a pattern whose figures have an expectation. A sentence that no pattern matches and that holds a number is unaudited."""

import re

from figures import FIGURE


def gains(step):
    """Headroom of a step by kind of layer and phase, the largest first; layers above their roof have none."""
    found = {}
    for layer in step.layers:
        name = f"{layer.kind.replace('_', ' ')} {layer.phase}"
        found[name] = found.get(name, 0.0) + layer.headroom
    found["outside the layers"] = step.step.time - sum(layer.time for layer in step.layers)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def subject(step):
    row = step.row
    return [row["model"], row.batch, row["precision"], row["device"], row.threads]


TITLE = {"batch": r"batch (\d+)(?: per rank| of all ranks| in all)?", "ranks": r"(\d+) ranks", "threads": r"(\d+) threads?", "bucket_mb": r"bucket mb (\d+)|(\d+) MB"}


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


def sentence(findings, place, text, step):
    """'alexnet, batch 4, fp32 on cpu, 2 threads: ≤ 68% of what this machine allows; at least 23.0 ms to be won, 23% of it in convolution backward.'"""
    title(findings, f"{place}: title", text.partition(": ")[0], step)
    match = re.search(r": (≤ |> )?([\d.]+)% of what (?:this machine|the machine|these devices) allows?; (?:at least )?([\d.]+ \w+) to be won, ([\d.]+%) of it in ([\w ]+)\.", text)
    if not match:
        if FIGURE.search(text):
            findings.lacks(place, text)
        return
    findings.printed(f"{place}: reached", match[2] + "%", step.step.share)
    findings.text(f"{place}: bound", match[1] or "", "≤ " if step.at_most(step.step) else "")
    findings.printed(f"{place}: to be won", match[3], step.step.headroom)
    found = gains(step)
    name = match[5].replace("_", " ")
    if name not in found:
        findings.differs(place, text, found)
    else:
        findings.printed(f"{place}: share", match[4], found[name] / step.step.headroom)
        findings.text(f"{place}: where", name, next(iter(found)))

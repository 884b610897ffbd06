"""The tables that `roof report` prints: verdict, and where the time goes."""

import re

from figures import printed

COLUMNS = {"step time [95%]": "time", "n": "samples", "images/s": "images_per_s", "reached": "share", "of peak": "of_peak", "model rate": "rate", "headroom": "headroom",
           "compute / bandwidth / unexplained": "verdicts"}


def tables(text):
    """(heading cells, rows of cells) of each table: a line of titles, and lines until an empty one. Cells end where the titles do or begin."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if re.match(r"model\s+batch", lines[at]) and "step time [95%]" in lines[at]:
            end = next((i for i in range(at, len(lines)) if not lines[i].strip()), len(lines))
            yield re.split(r"\s{2,}", lines[at].strip()), [re.split(r"\s{2,}", line.strip()) for line in lines[at + 1:end]]
            at = end
        at += 1


def verdict(findings, text, studies, order_of):
    found = list(tables(text))
    if len(found) != sum(bool(study.folder.steps) for study in studies):
        findings.differs("terminal: verdict tables", len(found), len(studies))
    for (heading, rows), study in zip(found, [study for study in studies if study.folder.steps]):
        steps = {step.row.id: step for step in study.steps}
        measured = [cells for cells in rows if dict(zip(heading, cells)).get("status", "ok") == "ok"]
        order = [identity for name, identity in order_of if name == study.name]
        findings.text("terminal: measured rows of the verdict", len(measured), len(order))
        for cells, identity in zip(measured, order):
            if len(cells) == len(heading):
                findings.subject = identity
                line(findings, dict(zip(heading, cells)), steps[identity])


def line(findings, cells, step):
    by_verdict = step.time_by_verdict()
    expected = {"step time [95%]": step.step.times, "n": [step.step.samples], "images/s": [step.images_per_second], "reached": [step.step.share], "of peak": [step.share_of_peak],
                "model rate": [step.step.rate[0]], "headroom": [step.step.headroom],
                "compute / bandwidth / unexplained": [by_verdict[name] for name in ("compute", "bandwidth", "unexplained")]}
    for name, values in expected.items():
        if name not in cells or cells[name] == "-" or any(value is None for value in values):
            continue
        if name == "reached" and values[0] > 1:
            continue
        findings.printed(f"terminal: verdict.{name}", cells[name].replace("range of ", ""), *values)
        if name == "reached":
            findings.text("terminal: verdict.reached: bound", cells[name].startswith("≤"), step.at_most(step.step))


def audit(findings, text, studies, order):
    """`order`: (folder, row) of the measured rows of verdict.csv, in whose order the tables stand."""
    verdict(findings, text, studies, order)

"""The table and the arrows of `roof report RUN --baseline BEFORE` (docs/method.md, Two runs)."""

import json
import math

import exported
from page_json import near

COVERAGE = 0.9


def coverage(n):
    """Of the order statistics that a median's interval of n samples has: the widest below 95% that six or more allow, else the range."""
    return 1 - 2 * 0.5**n


def record(what, name, identity, before, now):
    a, b = before.times, now.times
    ratio = b[0] / a[0]
    down = math.hypot(math.log(b[0] / b[1]), math.log(a[2] / a[0]))
    up = math.hypot(math.log(b[2] / b[0]), math.log(a[0] / a[1]))
    low, high = ratio * math.exp(-down), ratio * math.exp(up)
    enough = coverage(before.samples) >= COVERAGE and coverage(now.samples) >= COVERAGE
    # The folders that are audited have rows of one process each.
    verdict = "one launch each: not judged" if enough else f"too few samples to tell ({before.samples} and {now.samples})"
    return {"id": identity, "what": what, "name": name, "before": a, "now": b, "ratio": (ratio, low, high), "unit": "s", "verdict": verdict,
            "share_before": before.share or None, "share": now.share or None}


def pairs(study, before):
    """(step, point, earlier point) of the steps and layers that both have."""
    earlier = {step.row.id: step for step in before.steps}
    for step in study.steps:
        if step.row.id in earlier:
            then = {(point.scope, point.name, point.phase): point for point in earlier[step.row.id].points}
            for point in step.points:
                if (point.scope, point.name, point.phase) in then:
                    yield step, point, then[point.scope, point.name, point.phase]


def audit(findings, folder, study, before):
    expected = [{"study": study.name} | record(now.scope, step.row.id if now.scope == "step" else f"{now.name} {now.phase}", step.row.id, then, now)
                for step, now, then in pairs(study, before) if now.scope in ("step", "layer")]
    columns = exported.CHECKED["baseline"]
    path = folder / "baseline.csv"
    shown = exported.table(path) if path.exists() else []
    exported.rows(findings, "baseline.csv", columns, [row for row in shown if row["what"] != "ceiling"], expected)
    if shown:
        exported.rows(findings, "baseline.json", columns, [row for row in json.loads((folder / "baseline.json").read_text(encoding="utf-8")) if row["what"] != "ceiling"], expected)
    arrows(findings, folder, study, before)


def arrows(findings, folder, study, before):
    """Each arrow begins at the earlier point: its intensity at the least bytes, and its rate."""
    (page,) = json.loads((folder / "page.json").read_text(encoding="utf-8"))["studies"]
    numbers = {(row["id"]): at for at, row in enumerate(page["rows"])}
    table = page["points"]
    wanted = {(numbers[step.row.id], now.scope, now.name, now.phase): then for step, now, then in pairs(study, before)}
    for at, arrow in enumerate(table["before"]):
        then = wanted.get((table["row"][at], page["scopes"][table["scope"][at]], page["names"][table["name"][at]], page["phases"][table["phase"][at]]))
        known = then is not None and then.flops and then.low
        if bool(arrow) != bool(known):
            findings.differs(f"page.json: arrow of {at}", arrow, "one" if known else "none")
        elif arrow:
            near(findings, f"page.json: arrow of {at}.y", arrow[1], then.rate)
            near(findings, f"page.json: arrow of {at}.x", arrow[0][:1], (then.flops / then.low,))

"""`roof report --json`."""

import answer
from answer import busy_cost
from exported import CHECKED
from page_json import compare
from reading import number
from tables import row_record, step_record


def audit(findings, document, studies):
    findings.text("json.studies", len(document["studies"]), len(studies))
    for number, (shown, study) in enumerate(zip(document["studies"], studies)):
        place = f"json.studies[{number}]"
        measured = {step.row.id: step for step in study.steps}
        findings.text(f"{place}.rows", len(shown["rows"]), len(study.folder.steps))
        for at, (row, source) in enumerate(zip(shown["rows"], study.folder.steps)):
            step = measured.get(source.id)
            record = step_record(step) if step else row_record(study, source)
            findings.subject = source.id
            one_row(findings, f"{place}.rows[{at}]", row, record, step, source)
        for name in shown:
            if name == "points_above_a_roof":
                findings.exact(f"{place}.{name}", shown[name], above(study))
            elif name not in ("calibration", "damage", "folder", "rows"):
                findings.lacks(f"{place}.{name}", "no expectation")


def above(study):
    """Points above their roof beyond all intervals: the fastest roofs allow more than the longest time."""
    return sum(point.beyond > 0 for step in study.steps for point in step.points)


def one_row(findings, place, row, record, step, source):
    for name, value in row.items():
        spot = f"{place}.{name}"
        if name in CHECKED["json"]["rows"]:
            if value is not None or step:
                compare(findings, spot, value if value is not None or not CHECKED["json"]["rows"][name].startswith("=") else "", record, CHECKED["json"]["rows"][name])
        elif name == "step_seconds":
            if step:
                for part, wanted in zip(("median", "low", "high", "n"), (*step.step.times, step.step.samples)):
                    findings.exact(f"{spot}.{part}", value[part], wanted)
        elif name == "phase_seconds":
            if step:
                for phase, seconds in value.items():
                    findings.exact(f"{spot}.{phase}", seconds, step.phase_seconds()[phase] or None)
        elif name == "ranks":
            for part, wanted in {"count": source.ranks, "exposed_seconds": number(source["exposed_median_s"]), "hidden_seconds": number(source["hidden_median_s"]),
                                 "message_bytes": number(source["messages_bytes"]), "bus_bytes_per_second": step.bus if step else None}.items():
                if step:
                    findings.exact(f"{spot}.{part}", value[part], wanted)
        elif name == "answer":
            if step:
                answered(findings, spot, value, step)
        elif name == "losses":
            if step:
                findings.text(spot, value, [float(sample["loss"]) for sample in source.samples])
        elif name == "host":
            for part, shown in value.items():
                if part != "cost":
                    findings.exact(f"{spot}.{part}", shown, number(source[part]))
            cost = value["cost"] or {"share": None, "known": None}
            share, known = busy_cost(source)
            findings.exact(f"{spot}.cost.share", cost["share"], share)
            findings.text(f"{spot}.cost.known", cost["known"], known)
        elif name not in ("reason", "remarks", "unstable", "status"):
            findings.lacks(spot, "no expectation")


def answered(findings, place, shown, step):
    expected = answer.actions(step)
    findings.text(f"{place}.actions", [{name: value for name, value in one.items() if name != "seconds"} for one in shown["actions"]],
                  [{"action": one.what, "sense": one.sense, "known": one.known} for one in expected])
    for at, (one, wanted) in enumerate(zip(shown["actions"], expected)):
        findings.exact(f"{place}.actions[{at}].seconds", one["seconds"], wanted.seconds)

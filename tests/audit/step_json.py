"""`roof report --json`: the rows are the table of verdicts, with the losses and the answer of each."""

import answer
from exported import CHECKED, rows
from tables import verdict


def audit(findings, document, studies):
    findings.text("json.studies", len(document["studies"]), len(studies))
    for number, (shown, study) in enumerate(zip(document["studies"], studies)):
        place = f"json.studies[{number}]"
        measured = {step.row.id: step for step in study.steps}
        source = {row.id: row for row in study.folder.steps}
        columns = {name: of for name, of in CHECKED["data"]["verdict"].items() if name != "study"}
        nested = ("losses", "answer")
        rows(findings, f"{place}.rows", columns, [{name: value for name, value in row.items() if name not in nested} for row in shown["rows"]],
             list(verdict([study])))
        for row in shown["rows"]:
            findings.subject = row["row"]
            if row["row"] in measured:
                findings.text(f"{place}.{row['row']}.losses", row["losses"], [float(sample["loss"]) for sample in source[row["row"]].samples])
            if row["answer"] or row["row"] in measured:
                answered(findings, f"{place}.{row['row']}.answer", row["answer"], measured[row["row"]])
        for name in shown:
            if name == "points_above_a_roof":
                findings.exact(f"{place}.{name}", shown[name], above(study))
            elif name not in ("calibration", "damage", "folder", "rows", "version"):
                findings.lacks(f"{place}.{name}", "no expectation")


def above(study):
    """Points above their roof beyond all intervals: the fastest roofs allow more than the longest time."""
    return sum(point.beyond > 0 for step in study.steps for point in step.points)


def answered(findings, place, shown, step):
    expected = answer.actions(step)
    findings.text(f"{place}.actions", [{name: value for name, value in one.items() if name != "seconds"} for one in shown["actions"]],
                  [{"action": one.what, "sense": one.sense, "known": one.known} for one in expected])
    for at, (one, wanted) in enumerate(zip(shown["actions"], expected)):
        findings.exact(f"{place}.actions[{at}].seconds", one["seconds"], wanted.seconds)

"""Makes the outputs of a case with the program and audits each."""

import json

import exported
import page_json
import prose
import step_json
import svg
import terminal
from reading import table


class Outputs:
    def __init__(self, auditor, folder, runs, given):
        folder.mkdir()
        self.folder, self.data, self.pictures = folder, folder / "data", folder / "pictures"
        self.terminal = auditor.run("report", *runs, *given, "--out", folder / "page.html", "--data", self.data, "--pictures", self.pictures)
        self.steps = json.loads(auditor.run("report", *runs, *given, "--out", folder / "page.html", "--json"))
        self.page = json.loads((self.data / "page.json").read_text(encoding="utf-8"))


def audit(findings, outputs, studies):
    exported.audit(findings, outputs.data, studies)
    page_json.audit(findings, outputs.page, studies, prose)
    step_json.audit(findings, outputs.steps, studies)
    svg.audit(findings, outputs.pictures, studies)
    verdicts = table(outputs.data / "verdict.csv")
    terminal.audit(findings, outputs.terminal, studies, [(line["study"], line["row"]) for line in verdicts if line["status"] == "ok"])

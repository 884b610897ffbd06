"""Makes the outputs of a case with the program and audits each."""

import json

import exported
import page
import page_json
import pictures
import prose
import step_json
import terminal


class Outputs:
    def __init__(self, auditor, folder, runs, given):
        folder.mkdir()
        self.folder, self.data, self.pictures, self.path = folder, folder / "data", folder / "pictures", folder / "page.html"
        self.terminal = auditor.run("report", *runs, *given, "--out", self.path, "--data", self.data, "--pictures", self.pictures)
        self.steps = json.loads(auditor.run("report", *runs, *given, "--out", folder / "again.html", "--json"))
        self.page = json.loads((self.data / "page.json").read_text(encoding="utf-8"))


def audit(findings, outputs, studies):
    exported.audit(findings, outputs.data, studies)
    page_json.audit(findings, outputs.page, studies, prose)
    step_json.audit(findings, outputs.steps, studies)
    pictures.audit(findings, outputs.pictures, studies)
    terminal.audit(findings, outputs.terminal, studies, outputs.path)
    page.audit(findings, outputs.path.read_text(encoding="utf-8"), studies, outputs.pictures)

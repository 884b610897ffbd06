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
    """Each output by itself: one whose form is not as documented is a difference, and the others are still read."""
    for module, *what in ((exported, outputs.data, studies), (page_json, outputs.page, studies, prose), (step_json, outputs.steps, studies),
                          (pictures, outputs.pictures, studies), (terminal, outputs.terminal, studies, outputs.path),
                          (page, outputs.path.read_text(encoding="utf-8"), studies, outputs.pictures)):
        try:
            module.audit(findings, *what)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            findings.differs(f"{module.__name__}: its form", repr(error), f"{module.__name__}.py reads it")

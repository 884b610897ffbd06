"""Makes the outputs of a case with the program and audits each."""

import json

import exported
import page_json
import step_json


class Outputs:
    def __init__(self, auditor, folder, runs, given):
        folder.mkdir()
        self.data = folder / "data"
        self.steps = json.loads(auditor.run("report", *runs, *given, "--out", folder / "page.html", "--data", self.data, "--json"))
        self.page = json.loads((self.data / "page.json").read_text(encoding="utf-8"))


def audit(findings, outputs, studies):
    """Each output by itself: one whose form is not as documented is a difference, and the others are still read."""
    for module, *what in ((exported, outputs.data, studies), (page_json, outputs.page, studies), (step_json, outputs.steps, studies)):
        try:
            module.audit(findings, *what)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            findings.differs(f"{module.__name__}: its form", repr(error), f"{module.__name__}.py reads it")

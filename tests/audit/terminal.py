"""What `roof report` prints: tables (shown.py), sentences (sentences.py) and pictures of letters (drawings.py)."""

import drawings
import sentences
import shown
from blocks import Drawing, Table, from_terminal


def audit(findings, text, studies, page):
    """`page`: the path at the end."""
    at, texts, with_steps, runs = -1, [], 0, iter(studies)
    for block in from_terminal(text, shown.spec_of):
        name = shown.spec_of(block.heading) if isinstance(block, Table) else None
        if name == "verdict" or not isinstance(block, (Table, Drawing)) and block.words.startswith("No training steps in this folder"):
            at += 1
        study = studies[max(at, 0)]
        if isinstance(block, Table):
            with_steps += name == "verdict"
            shown.one(findings, "terminal", block, study, studies)
            texts.append(block.title)
        elif isinstance(block, Drawing):
            drawings.one(findings, "terminal", block, study)
        elif len(studies) > 1 and block.words.startswith("Run "):
            findings.text("terminal: run", block.words, f"Run {next(runs).name}")
        elif block.words != str(page) and not block.words.endswith(OF_PICTURES):
            texts.append(block.words)
    findings.text("terminal: verdict tables", with_steps, sum(any(row.status != "unsupported" for row in study.folder.steps) for study in studies))
    sentences.audit(findings, "terminal", [text for text in dict.fromkeys(texts) if text], sentences.expected(studies))


OF_PICTURES = ", as SVG; no PNG or PDF: rsvg-convert is not installed (Debian package librsvg2-bin, or pip install \"measured-roof[pictures]\")"

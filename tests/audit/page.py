"""The page of `roof report`: its tables, its sentences, and that its pictures are those of `--pictures`."""

import re

import sentences
import shown
from blocks import Page, Table


def audit(findings, html, studies, pictures):
    page, study, last, texts = Page(html), studies[0], "", []
    for block in page.found:
        if isinstance(block, Table):
            block.title = last
            shown.one(findings, "page", block, study, studies)
            continue
        last = block.words
        texts.append(block.words)
        study = next((one for one in studies if len(studies) > 1 and block.words.endswith(f" / {one.name}")), study)
        if block.section == "roofline":  # each panel begins with the first folder
            study = study if len(studies) > 1 else studies[0]
    sentences.audit(findings, "page", texts, sentences.expected(studies, True))
    shown_pictures = sorted(bare(svg) for svg in re.findall(r"<svg.*?</svg>", html, re.S))
    written = sorted(bare(path.read_text(encoding="utf-8")) for path in pictures.glob("*.svg"))
    findings.text("page: pictures", len(shown_pictures), len(written))
    for on_page, of_file in zip(shown_pictures, written):
        findings.checked += 1
        if on_page != of_file:
            at = next(i for i, (a, b) in enumerate(zip(on_page, of_file)) if a != b)
            findings.differs("page: picture", on_page[at - 40:at + 60], of_file[at - 40:at + 60])


def bare(svg):
    """Without what makes a file of its own: style, background, size, the names of clip paths."""
    svg = re.sub(r"<style.*?</style>|<rect width=\"100%\"[^>]*/>|<\?xml.*?\?>|<text class=\"under .*?</text>\s*", "", svg, flags=re.S)
    svg = re.sub(r' (?:xmlns|width|height)="[^"]*"', "", svg[:svg.index(">")]) + svg[svg.index(">"):]
    return re.sub(r"\s+", " ", re.sub(r'(id="|url\(#)[\w-]+', r"\1", svg)).strip()

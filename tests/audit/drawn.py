"""The page as a browser draws it (drawn.mjs, one run for all pages): each mark stands within a pixel of its figures, between the ticks; roofs
lie on their rates; the table of layers that the script makes."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import page_json
import told
from product_bound import crossing
from pictures import value_of

HERE = Path(__file__).resolve().parent
PIXEL = 1.0


def draw(pages, work, out):
    """What the browser draws of these pages, or none and the reason."""
    node, chromium = shutil.which("node") or shutil.which("nodejs"), shutil.which("chromium") or shutil.which("chromium-browser")
    if not node or not chromium:
        return None, "node or chromium is not installed"
    if not (work / "fetched").exists():
        return None, f"the browser's driver is not in {work}: ctest -L page fetches it"
    result = subprocess.run([node, HERE / "drawn.mjs", pages[0], work, chromium, out, *pages[1:]], capture_output=True, text=True, timeout=600)
    if result.returncode:
        raise SystemExit(f"drawn.mjs: {result.stderr[-1500:]}")
    return json.loads(Path(out).read_text(encoding="utf-8")), ""


class Axis:
    """Value to pixel of the screen, through the outermost ticks."""

    def __init__(self, ticks, linear=False):
        first, last = min(ticks, key=lambda tick: tick["at"]), max(ticks, key=lambda tick: tick["at"])
        self.a, self.of = first["pixel"], (lambda value: value) if linear else math.log
        self.low = self.of(first["at"])
        self.slope = (last["pixel"] - first["pixel"]) / (self.of(last["at"]) - self.low)

    def __call__(self, value):
        return self.a + self.slope * (self.of(value) - self.low)


def expected(chart, key, level, studies):
    """The figures of a mark; none where it is a line without an intensity."""
    study, number = (int(part) for part in key.split(":"))
    step, point = [(step, point) for step in studies[study].steps for point in step.points][number]
    if chart["section"] == "trajectory":
        share = any("%" in tick["text"] for tick in chart["ticks"])
        return step.row.batch, step.step.share if share else step.images_of_median_step[0]
    if not level:
        return (point.flops / point.low if point.low and point.flops else None), point.rate[0]
    names = [its.name for its in step.roofs.levels]
    return point.flops / crossing(step, point)[names.index(level)][0], point.rate[0]


def one_chart(findings, place, chart, studies):
    of = {name: [tick for tick in chart["ticks"] if tick["axis"] == name] for name in "xy"}
    for tick in chart["ticks"]:
        shown = value_of(tick["text"])
        findings.checked += 1
        if shown is not None and abs(shown - tick["at"]) > 1e-6 * abs(shown):
            findings.differs(f"{place}: tick", tick["text"], tick["at"])
    if min(map(len, of.values())) < 2 or chart["section"] not in ("roofline", "trajectory"):
        return
    linear = any("%" in tick["text"] for tick in of["y"])
    to_x, to_y = Axis(of["x"]), Axis(of["y"], linear)
    left, right, top, bottom = chart["frame"]
    for mark in chart["marks"]:
        x, y = expected(chart, mark["key"], mark["level"], studies)
        findings.checked += 1
        if mark["unknown"] or x is None:
            findings.text(f"{place}: {mark['key']}: a line", mark["unknown"], x is None)
            continue
        wanted = to_x(x), to_y(y) if y > 0 or linear else math.inf
        outside = not (left - 1 < wanted[0] < right + 1 and top - 1 < wanted[1] < bottom + 1)
        if mark["outside"] or outside:
            edge = min(abs(wanted[0] - left), abs(wanted[0] - right), abs(wanted[1] - top), abs(wanted[1] - bottom))
            if mark["outside"] != outside and edge > 2:
                findings.differs(f"{place}: {mark['key']} {mark['level']}: outside", mark["outside"], outside)
        elif math.hypot(mark["x"] - wanted[0], mark["y"] - wanted[1]) > PIXEL:
            findings.differs(f"{place}: {mark['key']} {mark['level']}", (mark["x"], mark["y"]), wanted)
    for roof in chart["roofs"]:
        rate = value_of(roof["label"].rpartition(": ")[2])
        for x, y in roof["corners"] if rate else []:
            findings.checked += 1
            slope = (to_y(math.e) - to_y(1)) / (to_x(math.e) - to_x(1)) if roof["label"].endswith("B/s") else 0
            wanted = to_y(rate) + slope * (x - to_x(1.0))
            if abs(wanted - y) > PIXEL + abs(to_y(rate * 1.005) - to_y(rate)):  # the label has three digits
                findings.differs(f"{place}: {roof['label']}", (x, y), wanted)


def layers(findings, place, rows, studies):
    """The table of points, layers or all steps: names, the cells of page.json, and where it ran if that differs."""
    marked = told.marked(studies)
    for row in rows:
        study, number = (int(part) for part in row["key"].split(":"))
        step, point = [(step, point) for step in studies[study].steps for point in step.points][number]
        findings.subject = step.row.id
        name = marked[study, step.row.id] if point.scope == "step" else point.name
        findings.text(f"{place}: layers", row["cells"][:3], [name, point.kind, point.phase])
        page_json.cells(findings, f"{place}: layers", row["cells"][3:10], point)
        for run in row["cells"][10:]:
            where = told.where(step.row, step.study.folder.steps)
            findings.text(f"{place}: layers", run[:len(where)], where)
    alike = len(rows) - len({tuple(row["cells"]) for row in rows})
    findings.text(f"{place}: layers that read alike", alike, 0)


def audit(findings, pages, work, scratch):
    """`pages`: [(name, page, studies)]. The reason why nothing was drawn, if so."""
    document, reason = draw([page for _, page, _ in pages], work, scratch / "drawn.json")
    if document is None:
        return reason
    for (name, _, studies), shown in zip(pages, document["found"]):
        findings.where = name
        for number, view in enumerate(shown["views"]):
            for chart in view:
                one_chart(findings, f"drawn: view {number}: {chart['section']}", chart, studies)
        layers(findings, "drawn", shown["layers"], studies)
    findings.text("drawn: console", document["problems"], [])
    return ""

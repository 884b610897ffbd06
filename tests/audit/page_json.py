"""The JSON block from which the page draws (page.json)."""

import re

import told
from exported import CHECKED, cell_number, figure
from product_bound import crossing
from figures import UNITS
from roofs import read_share
from tables import TABLES, TAKEN, date_of, point_record, step_record


def ceiling(findings, place, shown, expected):
    for name, value in {"median": expected.median, "low": expected.low, "high": expected.high}.items():
        findings.exact(f"{place}.{name}", shown[name], value)
    for name in shown:
        if name not in ("median", "low", "high", "name", "precision"):
            findings.lacks(f"{place}.{name}", "no expectation")


def roofs(findings, place, shown, study):
    """The roofs of one device: those of the ceilings that are its roofs by docs/method.md, What a roof is."""
    expected = study.roofs_at(shown["device"], shown["threads"])
    if expected is None:
        return findings.differs(place, shown["device"], "no roofs")
    names = [level.name for level in expected.levels]
    findings.text(f"{place}.levels", [level["name"] for level in shown["levels"]], names)
    for level in shown["levels"]:
        if level["name"] in names:
            ceiling(findings, f"{place}.{level['name']}", level, expected.level(level["name"]).best)
    findings.text(f"{place}.compute", sorted(roof["precision"] for roof in shown["compute"]), sorted(expected.compute))
    for roof in shown["compute"]:
        if roof["precision"] in expected.compute:
            ceiling(findings, f"{place}.{roof['precision']}", roof, expected.compute[roof["precision"]])
    for name in shown:
        if name not in ("device", "threads", "levels", "compute", "owner"):
            findings.lacks(f"{place}.{name}", "no expectation")


TICK = re.compile(r"(1/)?([-\d.e+]+)(?: ?(\S+))?")


def value_of(text):
    match = TICK.fullmatch(text)
    if not match or match[3] and match[3] not in UNITS:
        return None
    value = float(match[2]) * UNITS.get(match[3], 1.0)
    return 1 / value if match[1] else value


def ticks(findings, place, axis):
    """The text of a tick says its value."""
    for value, text, _ in axis["ticks"]:
        findings.checked += 1
        shown = value_of(text)
        if shown is None or abs(shown - value) > 1e-6 * abs(value):
            findings.differs(f"{place}: tick", text, value)


def roofs_of_figure(findings, place, figure, shown, study):
    """The lines of a roofline: those of its roofs, with the rate that the guide states for the clock."""
    expected = study.roofs_at(shown["device"], shown["threads"])
    wanted = {(True, level.name): level.best for level in expected.levels}
    wanted |= {(False, f"{roof.precision} {roof.operation}"): roof for of in (expected.compute, expected.mixes) for roof in of.values()}
    specs = {(record["kind"], record["level"], record["operation"], record["precision"], record["threads"], record["device"], record["isa"]): record["of_spec"]
             for record in TABLES["ceilings"]([study]) if not record["condition"]}
    for line in figure["roofs"]:
        spot = f"{place}.roofs[{line['name']}]"
        roof = wanted.get((line["slanted"], line["name"]))
        if roof is None:
            continue
        for got, value in zip(line["rate"], (roof.median, roof.low, roof.high)):
            findings.exact(f"{spot}.rate", got, value)
        share = specs.get((roof.kind, roof.level, roof.operation, roof.precision, roof.threads, roof.device, roof.isa))
        findings.exact(f"{spot}.spec", line["spec"], roof.median / share if share else 0)


def time(findings, place, shown, low, step, point):
    """The place in the time-based roofline: seconds that the roofs allow a layer; no less than the edge of the frame."""
    memory = max((seconds for name, seconds in point.allows.by_roof.items() if name != step.row["precision"]), default=0.0)
    near(findings, f"{place}.x", shown[0][:1], [max(memory, low)])
    near(findings, f"{place}.y", shown[1][:1], [max(point.allows.by_roof.get(step.row["precision"], 0.0), low)])


#: Of more the page has some (docs/page.md).
MOST_STEPS = 100


def audit(findings, document, studies):
    for name in document:
        if name != "studies":
            findings.lacks(f"page.json/{name}", "no expectation")
    marked = told.marked(studies, [{row["id"] for row in one["rows"]} for one in document["studies"]])
    for number, (shown, study) in enumerate(zip(document["studies"], studies)):
        wanted = {identity: name for (of, identity), name in marked.items() if of == number}
        place = f"page.json/studies[{number}]"
        for at, roof in enumerate(shown["roofs"]):
            roofs(findings, f"{place}.roofs[{at}]", roof, study)
        one_study(findings, place, shown, study, wanted, sum(len(one.folder.steps) for one in studies) <= MOST_STEPS)
        for at, figure in enumerate(shown["figures"]):
            spot = f"{place}.figures[{at}]"
            roofs_of_figure(findings, spot, figure["roofline"], shown["roofs"][at], study)
            for axis in (figure["roofline"]["x"], figure["roofline"]["y"], figure["time"]["x"], figure["time"]["y"]):
                ticks(findings, spot, axis)
        for name in shown:
            if name == "calibrated":
                findings.text(f"{place}.{name}", shown[name], f"measured {date_of(study.calibration) if study.ceilings else ''}")
            elif name not in ("studies", "roofs", "rows", "points", "figures", "kinds", "name", "names", "phases", "rates", "scopes",
                              "sentence"):
                findings.lacks(f"{place}.{name}", "no expectation")
    findings.text("page.json/studies", len(document["studies"]), len(studies))


def one_study(findings, place, shown, study, names, is_whole):
    """`names`: beside the steps, by the id of the row. A page that is not whole has some of the steps."""
    steps = {step.row.id: step for step in study.steps}
    rows = sorted(row["id"] for row in shown["rows"])
    findings.text(f"{place}.rows", rows, sorted(steps) if is_whole else sorted(set(rows) & set(steps)))
    for at, row in enumerate(shown["rows"]):
        if row["id"] not in steps:
            continue
        record, findings.subject = step_record(steps[row["id"]]), row["id"]
        for name, value in row.items():
            spot = f"{place}.rows[{at}].{name}"
            if name in CHECKED["page"]["rows"]:
                compare(findings, spot, value, record, CHECKED["page"]["rows"][name])
            elif name == "seconds":
                for part, wanted in zip(("median", "low", "high"), record["time"]):
                    findings.exact(f"{spot}.{part}", value[part], wanted)
            elif name == "own_roof":
                own_roof(findings, spot, value, steps[row["id"]])
            elif name not in ("roofs", "sentence", "bound", "title", "where"):
                findings.lacks(spot, "no expectation")
    points(findings, f"{place}.points", shown, [steps[row["id"]] for row in shown["rows"] if row["id"] in steps], names)


def own_roof(findings, place, shown, step):
    """The roof of the farthest level for the step's own reads and writes, unless it is the level's own or they are not known."""
    level = step.roofs.levels[-1] if step.roofs and step.step.low else None
    read, written = (sum(getattr(part, name) or 0 for part in step.step.parts) for name in ("read", "written"))
    is_drawn = bool(level) and read + written > 0
    if is_drawn and (share := read_share(level.best.operation)) is not None:
        is_same = abs(read / (read + written) - share) < 0.02
        is_drawn = not is_same or shown is not None
    findings.text(f"{place}: drawn", shown is not None, is_drawn)
    if shown is None or not is_drawn:
        return
    rate = step.step.low / step.step.level_seconds(level)
    for value in shown["rate"]:
        findings.exact(f"{place}.rate", value, rate)
    findings.text(f"{place}.name", shown["name"], level.name)
    for text in (shown["label"], shown["title"].removesuffix(", for its own reads and writes: from the loops that were measured.")):
        findings.printed(f"{place}.label", text.rpartition(": ")[2], rate)
    findings.text(f"{place}: kind", (shown["slanted"], shown["extra"], shown["dashed"], shown["spec"]), (True, True, False, 0))


def compare(findings, spot, value, record, name):
    wanted = figure(record, name.removeprefix("="))
    if wanted is TAKEN:
        return
    if name.startswith("="):
        findings.text(spot, value, wanted)
    elif not wanted and not value:  # unknown is 0 for the script
        findings.checked += 1
    else:
        findings.exact(spot, cell_number(value), wanted)


#: columns that say how a mark looks, and texts that others check
LOOKS = ("row", "text", "cells", "rates", "at", "time", "label", "rank", "radius", "hollow", "title", "before")


def points(findings, place, shown, steps, names):
    table = shown["points"]
    by_id = {step.row.id: step for step in steps}
    order = list(dict.fromkeys(shown["rows"][row]["id"] for row in table["row"]))
    expected = [(by_id[identity], point) for identity in order for point in by_id[identity].points]
    findings.text(f"{place}: number", len(table["row"]), sum(len(step.points) for step in steps))
    words = {"kind": ("kinds", "kind"), "name": ("names", "name"), "phase": ("phases", "phase"), "scope": ("scopes", "scope")}
    for column in table:
        if column not in CHECKED["page"]["points"] and column not in words and column not in LOOKS:
            findings.lacks(f"{place}.{column}", "no expectation")
    for at, (step, point) in enumerate(expected[:len(table["row"])]):
        record, findings.subject = point_record(step, point), step.row.id
        spot = f"{place}[{at}]"
        findings.text(f"{spot}.row", shown["rows"][table["row"][at]]["id"], step.row.id)
        for column, name in CHECKED["page"]["points"].items():
            compare(findings, f"{spot}.{column}", table[column][at], record, name)
        for column, (list_of, attribute) in words.items():
            findings.text(f"{spot}.{column}", shown[list_of][table[column][at]], getattr(point, attribute))
        cells(findings, f"{spot}.cells", table["cells"][at], point)
        for level, rate in zip(step.roofs.levels if step.roofs and point.low else [], shown["rates"][table["rates"][at]]):
            findings.exact(f"{spot}.rates.{level.name}", rate, point.low / point.level_seconds(level))
        if step.roofs:
            mark(findings, f"{spot}.at", {level: values for level, *values in table["at"][at]}, step, point)
        if table["time"][at]:
            time(findings, f"{spot}.time", table["time"][at], shown["figures"][shown["rows"][table["row"][at]]["roofs"]]["time"]["x"]["frame"][0], step, point)
        if point.scope == "step":
            findings.text(f"{spot}.label", shown["names"][table["label"][at]], names[step.row.id])


def near(findings, place, shown, expected):
    """Positions have seven digits. [drawn, low, high], without a highest that is the drawn one and a lowest that is."""
    findings.checked += 1
    for value, wanted in zip([*shown, *[shown[0]] * (3 - len(shown))], expected):
        if abs(value - wanted) > 1e-6 * abs(wanted):
            return findings.differs(place, shown, expected)


def mark(findings, place, at, step, point):
    if not point.flops or not point.low:
        return
    least = point.flops / point.low
    near(findings, f"{place}.x", at[""], (least, point.flops / point.high(step.roofs.levels[-1].nearer), least))
    expected = crossing(step, point)
    findings.text(f"{place}: levels", len(at) - 1, len(expected or []))
    for level, (low, high) in zip(step.roofs.levels, expected or []):
        if level.name in at:
            near(findings, f"{place}.{level.name}", at[level.name], (point.flops / low, point.flops / high, point.flops / low))


def cells(findings, place, shown, point):
    """The texts of the table of layers."""
    if shown is None:
        return
    time, _, rate, intensity, _, share, headroom = shown
    findings.printed(f"{place}.time", time, point.time)
    if point.flops:
        findings.printed(f"{place}.rate", rate, point.rate[0])
        if intensity != "-" and point.low:
            findings.printed(f"{place}.intensity", intensity, point.flops / point.low)
    if share != "-" and "100%" not in share:
        findings.printed(f"{place}.share", share, point.share)
    if headroom != "-":
        findings.printed(f"{place}.headroom", headroom, point.headroom)

"""The roofline pictures of `roof report --pictures`: axes, roofs, and each mark with the figures of its title."""

import math
import re
import xml.etree.ElementTree as tree

from figures import UNITS, printed

PIXELS = 0.11  # coordinates are written to 0.1


def tag(element):
    return element.tag.rpartition("}")[2]


def classes(element):
    return (element.get("class") or "").split()


def axis(ticks):
    """A logarithmic axis through (pixel, value): the exact line through its outermost ticks. Returns value -> pixel."""
    (a, low), (b, high) = min(ticks, key=lambda tick: tick[1]), max(ticks, key=lambda tick: tick[1])
    slope = (b - a) / math.log(high / low)
    return lambda value: a + slope * math.log(value / low)


def value_of(text):
    number, _, unit = text.partition(" ")
    return float(number) * UNITS.get(unit, 1.0)


def axes(findings, place, root):
    grid = {"x": [], "y": []}
    lines = [[float(n) for n in re.findall(r"[-\d.]+", path.get("d"))] for path in root.iter() if tag(path) == "path" and "grid" in classes(path)]
    for text in (text for text in root.iter() if tag(text) == "text" and {"tick", "middle"} <= set(classes(text)) or {"tick", "end"} <= set(classes(text))):
        at = "x" if "middle" in classes(text) else "y"
        pixel = float(text.get(at))
        near = [line[0] if at == "x" else line[1] for line in lines if (line[0] == line[2]) == (at == "x")]
        pixel = min(near, key=lambda line: abs(line - pixel))
        grid[at].append((pixel, value_of(text.text)))
    if min(map(len, grid.values())) < 2:
        return None
    to = {name: axis(ticks) for name, ticks in grid.items()}
    for name, ticks in grid.items():
        for pixel, value in ticks:
            findings.checked += 1
            if abs(to[name](value) - pixel) > PIXELS:
                findings.differs(f"{place}: tick {name} {value:g}", pixel, to[name](value))
    frame = next(line.get("points").split() for line in root.iter() if tag(line) == "polyline" and "axis" in classes(line))
    (left, top), (_, bottom), (right, _) = [map(float, corner.split(",")) for corner in frame]
    inside = lambda x, y: left - 0.5 < x < right + 0.5 and top - 0.5 < y < bottom + 0.5  # else an arrow at the frame
    return to["x"], to["y"], lambda x, y: (x, y) if inside(x, y) else (min(max(x, left), right), min(max(y, top), bottom))


def centre(mark):
    """The point that a mark stands for: the tip of an arrow at the frame, the centre of another shape."""
    if "arrow" in classes(mark):
        return *map(float, mark.get("points").split()[0].split(",")), 0.05
    number = lambda name: float(mark.get(name))
    if tag(mark) == "circle":
        return number("cx"), number("cy"), 0.15
    if tag(mark) == "rect":
        return number("x") + number("width") / 2, number("y") + number("height") / 2, 0.15
    points = [tuple(map(float, pair.split(","))) for pair in mark.get("points").split()]
    (_, top), *base = points
    return sum(x for x, _ in base) / 2, top + (base[0][1] - top) * 2 / 3, 0.2  # an even triangle about its centre


def roofline(findings, place, text, steps):
    root = tree.fromstring(text)
    label = root.get("aria-label", "")
    found = axes(findings, place, root)
    if not found:
        return
    to_x, to_y, into_frame = found
    candidates = [step for step in steps if label.startswith(f"Roofline of {step.row['model']}, batch {step.row.batch}") and f" {step.row['precision']} " in label + " "]
    for word, of in (("rank", lambda row: row.ranks), ("thread", lambda row: row.threads)):
        said = re.search(rf"(\d+) {word}s?\b", label)
        candidates = [step for step in candidates if not said or of(step.row) == int(said[1])]
    for group in (group for group in root.iter() if tag(group) == "g"):
        title = next((child.text for child in group if tag(child) == "title"), "") or ""
        if "roof" in classes(group):
            roof_line(findings, f"{place}: {title.partition(',')[0]}", group, title, to_x, to_y)
        elif "mark" in classes(group) and not group.get("data-level"):
            mark = next((child for child in group if tag(child) in ("circle", "rect", "polygon")), None)
            point(findings, place, title, mark, candidates, lambda x, y: into_frame(to_x(x), to_y(y)))


def roof_line(findings, place, group, title, to_x, to_y):
    """Every corner of a drawn roof lies on rate = bandwidth x intensity, or on rate = the compute roof."""
    match = re.search(r": ([\d.]+ \w+/s)", title)
    edge = next((child for child in group if "edge" in classes(child)), None)
    if not match or edge is None:
        return
    rate = value_of(match[1])
    for x, y in re.findall(r"([-\d.]+)[ ,]([-\d.]+)", edge.get("d")):
        findings.checked += 1
        if "B/s" in match[1]:
            slope = (to_y(math.e) - to_y(1)) / (to_x(math.e) - to_x(1))
            wanted = to_y(rate) + slope * (float(x) - to_x(1.0))
        else:
            wanted = to_y(rate)
        if abs(wanted - float(y)) > 0.3 + abs(to_y(rate * 1.005) - to_y(rate)):  # the title has three digits
            findings.differs(place, (x, y), wanted)


TITLE = re.compile(r"^(?P<name>.+?): (?P<flops>[\d.]+ \w*FLOP) in (?P<time>[\d.]+ \w+) \[(?P<low>[\d.]+), (?P<high>[\d.]+)\] = (?P<rate>[\d.]+ \w+/s);"
                   r"(?: (?P<bytes>[\d.]+ \w+) at least to \w+,)?(?: (?P<from>[\d.]+) to (?P<to>[\d.]+) FLOP/B| (?P<only>[\d.]+) FLOP/B)?")


def find(points, title, match):
    """The point of a title: by its name, and where several steps have it, by its time; the first of them where none fits."""
    named = []
    for step, one in points:
        names = {f"{one.name} {one.phase}", one.name, f"{step.row['model']} batch {step.row.batch} step"}
        if match["name"] in names:
            named.append((step, one))
    unit = match["time"].partition(" ")[2]
    fits = [(step, one) for step, one in named if shows(match["time"], one.time) and shows(f"{match['low']} {unit}", one.times[1])]
    return (fits or named or [None])[0]


def shows(text, value):
    number, _, unit = text.partition(" ")
    return printed(number, unit, value)


def point(findings, place, title, mark, steps, to):
    match = TITLE.match(title)
    if not match:
        if re.search(r"\d", title) and "FLOP" in title:
            findings.lacks(f"{place}: title", title[:120])
        return
    found = find([(step, one) for step in steps for one in step.points], title, match)
    if not found:
        return
    step, one = found
    findings.subject = step.row.id
    spot = f"{place}: {match['name']}"
    unit = match["time"].partition(" ")[2]
    for name, text, value in (("flops", match["flops"], one.flops), ("low", f"{match['low']} {unit}", one.times[1]), ("high", f"{match['high']} {unit}", one.times[2]),
                              ("rate", match["rate"], one.rate[0]), ("bytes", match["bytes"], one.low or None)):
        if text and value is not None:
            findings.checked += 1
            if not shows(text, value):
                findings.differs(f"{spot}: {name}", text, value)
    intensity = one.flops / one.low if one.low else None
    for name, text, value in (("to", match["to"] or match["only"], intensity),):
        if text and value:
            findings.checked += 1
            if not shows(text, value):
                findings.differs(f"{spot}: intensity {name}", text, value)
    allows = re.search(r"the (\w+) roof allows ([\d.]+ \w+)", title)
    if allows:
        findings.checked += 1
        if not shows(allows[2], one.attainable):
            findings.differs(f"{spot}: allows", allows[2], one.attainable)
    if mark is not None and intensity:
        x, y, slack = centre(mark)
        findings.checked += 2
        wanted = to(intensity, one.rate[0])
        if abs(x - wanted[0]) > PIXELS + slack or abs(y - wanted[1]) > PIXELS + slack:
            findings.differs(f"{spot}: position", (round(x, 2), round(y, 2)), tuple(round(value, 2) for value in wanted))


def audit(findings, folder, studies):
    steps = [step for study in studies for step in study.steps]
    for path in sorted(folder.glob("roofline-*.svg")):
        roofline(findings, path.name, path.read_text(encoding="utf-8"), steps)

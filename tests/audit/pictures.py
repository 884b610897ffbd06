"""The pictures of `roof report --pictures`: each mark stands where its figures are, between the ticks, and says them; each other text is
one of captions.py."""

import math
import re
import xml.etree.ElementTree as tree

import captions
import told
from figures import UNITS, Findings
from said import Index, plain, skeleton

PIXELS = 0.11  # coordinates are written to 0.1
TICK = re.compile(r"(1/)?([\d.e+-]+)\s?(\S*)")


def tag(element):
    return element.tag.rpartition("}")[2]


def classes(element):
    return (element.get("class") or "").split()


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
    if len(points) > 3:  # a diamond or a cross, even about its centre
        return *((min(along) + max(along)) / 2 for along in zip(*points)), 0.15
    (_, top), *base = points
    return sum(x for x, _ in base) / 2, top + (base[0][1] - top) * 2 / 3, 0.2  # an even triangle about its centre


def value_of(text):
    match = TICK.fullmatch(text)
    if not match or match[3] and match[3] not in UNITS:
        return None
    value = float(match[2]) * UNITS.get(match[3], 1.0)
    return 1 / value if match[1] else value


def roof_line(findings, place, group, title, to_x, to_y):
    """Every corner of a drawn roof lies on rate = bandwidth x intensity, or on rate = the compute roof."""
    match = re.search(r": ([\d.]+ \w+/s)", title)
    edge = next((child for child in group if "edge" in classes(child)), None)
    if not match or edge is None:
        return
    rate = value_of(match[1])
    for x, y in re.findall(r"([-\d.]+)[ ,]([-\d.]+)", edge.get("d")):
        findings.checked += 1
        slope = (to_y(math.e) - to_y(1)) / (to_x(math.e) - to_x(1)) if "B/s" in match[1] else 0
        wanted = to_y(rate) + slope * (float(x) - to_x(1.0))
        if abs(wanted - float(y)) > 0.3 + abs(to_y(rate * 1.005) - to_y(rate)):  # the title has three digits
            findings.differs(place, (x, y), wanted)


class Axis:
    """Value to pixel through the outermost of (pixel, value)."""

    def __init__(self, ticks, linear):
        (self.a, self.low), (b, high) = min(ticks, key=lambda tick: tick[1]), max(ticks, key=lambda tick: tick[1])
        self.of = (lambda value: value) if linear else math.log
        self.slope = (b - self.a) / (self.of(high) - self.of(self.low))

    def __call__(self, value):
        return self.a + self.slope * (self.of(value) - self.of(self.low))


def titled(group):
    return next((child.text for child in group if tag(child) == "title"), None)


def ticks_of(root):
    """{axis: [(pixel, value)]}: a text of an axis stands at its line of the grid."""
    found = {"x": [], "y": []}
    lines = [[float(n) for n in re.findall(r"[-\d.]+", path.get("d"))] for path in root.iter() if tag(path) == "path" and "grid" in classes(path)]
    texts = []
    for text in (one for one in root.iter() if tag(one) == "text" and "tick" in classes(one)):
        at = "x" if "middle" in classes(text) else "y" if "end" in classes(text) else None
        value = value_of(text.text or "") if at else None
        near = [line[0] if at == "x" else line[1] for line in lines if (line[0] == line[2]) == (at == "x")] if at else []
        if value is not None and near:
            pixel = min(near, key=lambda line: abs(line - float(text.get(at))))
            found[at].append((pixel, value))
            texts.append(text)
    return found, texts


LINEAR = "share of attainable"


def table_below(findings, place, root, points):
    """The table of points: each row has the figures of a point of that name, the numbers go by headroom. Their names by number."""
    from page_json import cells  # which reads ticks by this file
    rows = {}
    for text in (one for one in root.iter() if tag(one) == "text" and "cell" in classes(one)):
        rows.setdefault(float(text.get("y")), []).append((float(text.get("x")), text.text or ""))
    names, before = {}, math.inf
    for _, row in sorted(rows.items()):
        number, name, *shown = (words for _, words in sorted(row))
        best = None
        for point in points.get(name, []):
            trial = Findings()
            cells(trial, f"{place}: {name}", shown, point)
            best = (trial, point) if best is None or len(trial.differences) < len(best[0].differences) else best
        findings.text(f"{place}: {name} is a point", best is not None, True)
        if best is None:
            continue
        findings.checked += best[0].checked
        for _, *difference in best[0].differences:
            findings.differs(*difference[:3])
        if number:
            findings.text(f"{place}: {name} by headroom", best[1].headroom <= before * (1 + 5e-3), True)
            names[number], before = name, best[1].headroom
    findings.text(f"{place}: numbers", [*names], sorted(names, key=int))
    return names


def heading(root, index):
    """The whole sentence by each of its lines: a long one stands in two."""
    lines = [one.text for one in root.iter() if tag(one) == "text" and one.get("x") == "8" and {"name", "label"} & {*classes(one)} and one.text]
    whole = {}
    for one, two in zip(lines, lines[1:]):
        if skeleton(plain(f"{one} {two}"))[0] in index.of:
            whole |= {one: f"{one} {two}", two: f"{one} {two}"}
    return whole


def points_by_name(studies):
    """Steps and layers by the names that pictures have."""
    found = {}
    for study in studies:
        for step in study.steps:
            for point in step.points:
                short = f"{point.name.split('+')[0]} {({'forward': 'fwd', 'backward': 'bwd'}.get(point.phase, point.phase))}"
                name = f"{told.model(step.row)} b{told.batch(step.row)}" if point.scope == "step" else short
                found.setdefault(name, []).append(point)
    return found


def one(findings, place, text, index, points):
    root = tree.fromstring(text)
    label = root.get("aria-label", "")
    ticks, texts_of_ticks = ticks_of(root)
    axes = {}
    for name, found in ticks.items():
        if len(found) > 1:
            axes[name] = Axis(found, name == "y" and label.startswith(LINEAR))
            for pixel, value in found:
                findings.checked += 1
                if (value > 0 or axes[name].low == 0) and abs(axes[name](value) - pixel) > PIXELS:
                    findings.differs(f"{place}: tick {name} {value:g}", pixel, axes[name](value))
    frame = next((element.get("points").split() for element in root.iter() if tag(element) == "polyline" and "axis" in classes(element)), None)
    corners = [tuple(map(float, corner.split(","))) for corner in frame] if frame else None
    told_ridges = ridges(findings, place, root, axes)
    for group in (element for element in root.iter() if tag(element) == "g" and "ridge" not in classes(element)):
        title = titled(group)
        if title and "roof" in classes(group) and len(axes) == 2:
            roof_line(findings, f"{place}: {title.partition(',')[0]}", group, title, axes["x"], axes["y"])
        if title and re.search(r"\d", title):
            best = None
            for said in index.check(findings, place, title):  # the same words may stand at several places
                trial = Findings()
                drawn(trial, f"{place}: {title[:40]}", group, said, axes, corners)
                best = trial if best is None or len(trial.differences) < len(best.differences) else best
            if best is not None:
                findings.checked += best.checked
                for _, *difference in best.differences:
                    findings.differs(*difference[:3])
    segments(findings, place, root)
    table = table_below(findings, f"{place}: table", root, points)
    numbers, lines = [], heading(root, index)
    for text in (element for element in root.iter() if tag(element) == "text" and element not in texts_of_ticks):
        words = re.sub(r"\s+", " ", text.text or "").strip()
        if {"under", "cell"} & {*classes(text)}:
            continue
        words = lines.get(words, words)
        numbered = re.fullmatch(r"(\d+) (.+)", words) if "halo" in classes(text) and words not in told_ridges else None
        if table and numbered:  # the name of a layer
            findings.text(f"{place}: number {words}", table.get(numbered[1]), numbered[2])
        elif "number" in classes(text):
            findings.text(f"{place}: number {words}", words in table if table else words.isdigit(), True)
        elif numbered:
            index.check(findings, f"{place}: text", numbered[2])
        elif words.isdigit():
            numbers.append(int(words))
        elif re.search(r"\d", words) and words not in NAMES and words not in told_ridges:
            index.check(findings, f"{place}: text", words)
    arrows = [tuple(map(float, one.get("points").split()[0].split(","))) for one in root.iter() if tag(one) == "polygon" and "arrow" in classes(one)]
    crowded(findings, f"{place}: arrows at one place", numbers, arrows)


def ridges(findings, place, root, axes):
    """Where a slanted and a flat roof meet: on both of their drawn lines, at the intensity that is told. The texts."""
    lines = [[float(n) for n in re.findall(r"-?[\d.]+", edge.get("d"))] for edge in root.iter() if tag(edge) == "path" and "edge" in classes(edge)]
    texts = set()
    for group in (element for element in root.iter() if tag(element) == "g" and "ridge" in classes(element)):
        title, mark = titled(group), next(child for child in group if tag(child) == "circle")
        x, y = float(mark.get("cx")), float(mark.get("cy"))
        number = title.rpartition(": ")[2].removesuffix(" FLOP/B")
        texts.add(f"{number} FLOP/B")
        value, digits = float(number), len(number.partition(".")[2])
        slack = abs(axes["x"](value + 0.5 * 10 ** -digits) - axes["x"](value)) + PIXELS
        on = {"slanted" if abs(a - b) > 1e-9 and abs(c - d) > 0.05 else "flat" for a, c, b, d in lines
              if min(a, b) - 0.3 <= x <= max(a, b) + 0.3 and abs(c + (d - c) * ((x - a) / (b - a) if b != a else 0) - y) < 0.4}
        findings.checked += 2
        if abs(axes["x"](value) - x) > slack:
            findings.differs(f"{place}: ridge", x, axes["x"](value))
        findings.text(f"{place}: roofs of a ridge", sorted(on), ["flat", "slanted"])
    return texts


def crowded(findings, place, shown, tips):
    """Arrows within a square of twelve pixels are counted where there are several. A tip on the line between two squares may count in either."""
    cells = {}
    for x, y in tips:
        cells.setdefault((round(x / 12), round(y / 12)), []).append((x, y))
    counts = sorted(len(of) for of in cells.values() if len(of) > 1)
    on_a_line = sum(min(abs((value / 12) % 1 - 0.5) for value in tip) < 0.01 for tip in tips)
    findings.checked += len(shown)
    if counts != sorted(shown) and abs(sum(counts) - sum(shown)) > 2 * on_a_line:
        findings.differs(place, sorted(shown), counts)


NAMES = ("L1", "L2", "L3", "L4", "fp64", "fp32", "fp16", "bf16", "tf32", "fp8", "int8", "int32", "bandwidth (B/s)")


def drawn(findings, place, group, said, axes, corners):
    """The place of a mark, a rule or a bar."""
    kinds = classes(group)
    if said.at is None:
        return
    if "mark" in kinds and "x" in axes and "y" in axes and not group.get("data-level"):
        mark = next((child for child in group if tag(child) in ("circle", "rect", "polygon")), None)
        x, y = said.at
        if mark is None or x is None:
            return
        got_x, got_y, slack = centre(mark)
        wanted = [axes["x"](max(x, 1e-300)) if x > 0 else None, axes["y"](y) if y > 0 or "linear" in kinds else None]
        if corners:
            (left, top), (_, bottom), (right, _) = corners[:3]
            wanted = [left if wanted[0] is None else min(max(wanted[0], left), right), bottom if wanted[1] is None else min(max(wanted[1], top), bottom)]
        findings.checked += 2
        if abs(got_x - wanted[0]) > PIXELS + slack + 0.25 or abs(got_y - wanted[1]) > PIXELS + slack + 0.25:
            findings.differs(f"{place}: position", (round(got_x, 2), round(got_y, 2)), tuple(round(value, 2) for value in wanted))
    elif "level" in kinds and "x" in axes:
        line = next((child for child in group if tag(child) == "path"), None)
        if line is not None and "hidden" not in classes(line):
            pixel = float(re.search(r"M([-\d.]+)", line.get("d"))[1])
            edge = corners[2][0] if corners else pixel
            findings.checked += 1
            if abs(pixel - min(axes["x"](said.at[0]), edge)) > PIXELS:
                findings.differs(f"{place}: position", pixel, axes["x"](said.at[0]))
    elif "traffic" in kinds:
        width = {classes(child)[0]: float(child.get("width")) for child in group if tag(child) == "rect"}
        findings.checked += 2
        for name, share in (("at-least", said.at[0]), ("may-be", said.at[1])):
            if abs(width[name] - width["of-roof"] * share) > 0.11:
                findings.differs(f"{place}: {name}", width[name], width["of-roof"] * share)


SEGMENT = re.compile(r".*: (?P<time>[\d.]+ \w+), [\d.]+% of the step")


def segments(findings, place, root):
    """Bars of the step time: the widths of a strip stand for its times."""
    strips = {}
    for rect in (element for element in root.iter() if tag(element) == "rect" and "segment" in classes(element)):
        title = titled(rect) or ""
        match = SEGMENT.fullmatch(title)
        if match:
            number, unit = match["time"].split(" ")
            strips.setdefault(rect.get("y"), []).append((float(rect.get("x")), float(rect.get("width")), float(number) * UNITS[unit], title))
    for strip in strips.values():
        whole, wide = sum(seconds for _, _, seconds, _ in strip), sum(width for _, width, _, _ in strip)
        for x, width, seconds, title in strip:
            findings.checked += 1
            if abs(width - wide * seconds / whole) > 0.15 + wide * 0.005:  # the title has three digits
                findings.differs(f"{place}: width of {title[:40]}", width, wide * seconds / whole)


def index_of(studies):
    said = [*captions.trajectories(studies), *(one for study in studies for one in captions.trajectories([study]))]
    for study in studies:
        for make in (captions.points, captions.roofs, captions.times, captions.curves, captions.ert, captions.breakdown, captions.traffic, captions.memory,
                     captions.predictions, captions.counted, captions.labels, captions.headings):
            said += make(study)
    from sentences import of_steps, devices
    for study in studies:
        said += [*of_steps(study), *devices(study)]
    return Index(said)


def audit(findings, folder, studies):
    index, points = index_of(studies), points_by_name(studies)
    for path in sorted(folder.glob("*.svg")):
        one(findings, path.name.rstrip("0123456789.svg").rstrip("-"), path.read_text(encoding="utf-8"), index, points)

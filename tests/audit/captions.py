"""What marks, roofs and bars of the pictures say, with the places where they stand; the same words stand in the page's data and in the
terminal's legends."""

import math

import answer
import prose
import told
from product_bound import moved
from said import Said
from tables import TABLES, above_roof, date_of, owner, writes_as_copies


def two_digits(value):
    """As a text: two digits before the point count."""
    if not value:
        return "0"
    before = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{max(0, 2 - before)}f}"


def share_told(step, point):
    """(pattern, values): '≤ 47%', '> 100%, from L3'."""
    seen = above_roof(step, point)
    served = f", from {seen['served']}" if seen["served"] else ""
    if point.share >= 1.005:
        return ("≤ 100%" if seen["may_be_higher"] else "> 100%") + (served if point.bound != step.row["precision"] else ""), []
    return ("≤ " if step.at_most(point) else "") + "{}", [point.share]


def name_of(step, point):
    if point.scope == "step":
        return point.name + (f" batch {step.row.batch} step" if step.row.batch else "")
    return f"{point.name} {point.phase}" if point.scope == "layer" else point.name


def explained(step, point, name=None):
    """(pattern, values) of a point: its FLOPs, time, rate, bytes, intensity, the link, what binds it."""
    pattern, values = f"{name if name and point.scope == 'step' else name_of(step, point)}: {{}} in {{}} [{{}}, {{}}]", [point.flops, *point.times]
    if point.flops:
        pattern += " = {}"
        values.append(point.rate[0])
    if step.roofs and point.low:
        farthest = step.roofs.levels[-1]
        low, high = point.flops / point.high(farthest.nearer), point.flops / point.low
        one = two_digits(low) == two_digits(high)
        pattern += f"; {{}} at least to {farthest.name}, {'{}' if one else '{} to {}'} FLOP/B"
        values += [point.low, *([] if one else [low]), high]
    if point.scope == "step" and step.link:
        pattern += "; {} over each link, {} FLOP/B"
        values += [step.crossing, point.flops / step.crossing]
    if point.bound:
        is_sum = len(point.parts) > 1 and point.bound not in ("link", "network")
        pattern += f"; its roofs allow {{}}, most of it {point.bound}: " if is_sum else f"; the {point.bound} roof allows {{}}: "
        values.append(point.attainable)
        if point.share >= 1.005:
            pattern += "it took 1/{} of that"
            values.append(point.share)
        else:
            text, figures = share_told(step, point)
            pattern += text + " reached"
            values += figures
    return pattern + ".", values


def remarks(step, point):
    if not (step.roofs and point.low and point.flops):
        return "", []
    farthest, text, values = step.roofs.levels[-1], "", []
    roof = point.low / point.level_seconds(farthest)
    if point.rate[0] > (1 + 1e-9) * roof * point.flops / point.low and above_roof(step, point)["served"]:
        text += f" Above the {farthest.name} roof: part of these bytes was still in a cache."
    high = point.high(farthest.nearer)
    if high > point.low:
        text += f" Moved at every use (no reuse) they would be {{}} and take {{}} at {farthest.name}'s roof."
        values += [high, high / roof]
    return text, values


def place(step, point):
    """Where the roofline has the mark: its intensity at the least bytes, and its rate."""
    return (point.flops / point.low if point.low and point.flops else None, point.rate[0])


def points(study, notes=False, names=None):
    """Each point's explanation: of a picture's mark, or with the note and the bytes of the levels as the page has it. `names` of steps, by id."""
    for step in study.steps:
        for point in step.points:
            pattern, values = explained(step, point, names and names[step.row.id])
            more, figures = remarks(step, point)
            of = f"{step.row.id}: {name_of(step, point)}"
            if not notes:
                yield Said(pattern, *values, needed=False, at=place(step, point), of=of)
                if more:
                    yield Said(pattern + more, *values, *figures, needed=False, at=place(step, point), of=of)
                continue
            moved = moved_told(step, point)
            yield Said(pattern + note_told(step, point)[0] + moved[0] + more, *values, *note_told(step, point)[1], *moved[1], *figures, needed=False, of=of)


WRITES = "which has the rate of copies for writes beyond what is read, until stores are measured"


def note_told(step, point):
    """(pattern, values) of the note: unknown bytes, FLOPs that are counted and not executed, bytes that a nearer cache held."""
    parts, values, precision = [], [], step.row["precision"]
    compute = step.compute_roof
    if answer.took_turns(step.row):
        parts.append("its ranks took turns on one device: this time is under no roof")
    elif answer.has_bytes_of_others(step.row):
        parts.append("its bytes are those of its layers one by one, not of the operations that ran, which fuse batch norms: measure it again")
    if step.roofs and not compute:
        parts.append(f"no compute roof was measured for {precision}" if precision else "the precision is unknown, and so is the compute roof")
    if step.roofs and not point.low:
        parts.append("bytes are unknown: only the compute roof applies" if compute else "bytes are unknown")
    if point.share and point.share >= 1.005 and point.bound not in (precision, "link") and not step.roof_may_be_higher(point):
        seen = above_roof(step, point)
        if seen["served"]:
            parts.append(f"above the {point.bound} roof: in this time at most {{}} of its bytes moved there, the others were in a nearer cache; the {seen['served']} roof allows its rate")
            values.append(1 / point.share)
        elif seen["by_writes"]:
            parts.append(f"above the {point.bound} roof, {WRITES}")
        else:
            parts.append(f"above the {point.bound} roof: no roof of a cache that holds so much allows its rate: if its bytes are right, calibrate again")
    elif point.bound not in ("", precision, "link", "network") and point.share and point.share <= 1 and any(writes_as_copies(step, part, point.bound) for part in point.parts):
        parts.append(f"under the {point.bound} roof, {WRITES}")
    elif point.bound and point.executed and point.executed < point.flops and compute and point.rate[0] > compute.median and point.share < 1:
        parts.append("the rate is above the compute roof because it counts the model's FLOPs: the algorithm executes {} of them")
        values.append(point.executed / point.flops)
    text = "; ".join(parts)
    return (f" {text[0].upper()}{text[1:]}." if text else "", values)


def moved_told(step, point):
    """' Bytes: L1 and L2 3.2 MB, DRAM 1 MB to 2 MB (analytic).'"""
    found = moved(step, point)
    if not found or not step.roofs:
        return "", []
    texts = [(("{}" if high <= low else "{} to {}") + f" ({how})", [low] if high <= low else [low, high]) for low, high, how in found]
    pattern, values = "", []
    for at, (level, (text, figures)) in enumerate(zip(step.roofs.levels, texts)):
        joined = " Bytes: " if at == 0 else " and " if alike(texts[at - 1], texts[at]) else ", "
        is_last = at + 1 == len(texts) or not alike(texts[at + 1], texts[at])
        pattern += f"{joined}{level.name}{' ' + text if is_last else ''}"
        values += figures if is_last else []
    return pattern + ".", values


def alike(a, b):
    """Whether two amounts print alike: three digits with a prefix, known in the same way."""
    def text(value):
        return f"{value:.2e}" if value else "0"
    return a[0] == b[0] and [text(value) for value in a[1]] == [text(value) for value in b[1]]


def roof_told(study, made, owner_device, threads):
    """The sentence and the label of a roof: made is a record of the ceilings' table."""
    what = made["level"] if made["kind"] == "bandwidth" else made["precision"]
    mark = "≥ " if made["at_least"] else ""
    label = Said(f"{what}, {made['operation']}: {mark}{{}}", made["rate"][0], needed=False)
    name = Said(f"{what}, {made['operation']}", needed=False)
    if made["made"] is None:
        known = made["variant"]
    else:
        known = f"{made['known']} {'with' if made['device'] == 'cpu' else 'on'} {told.processors(made['device'], made['threads'])}"
    shown, figures = ("≥ {}, a lower bound", made["rate"][:1]) if made["at_least"] else ("{} [{}, {}]", made["rate"])
    text = f"{what} roof, {known}: {shown}, {told.counted(made['samples'], 'sample')}, {made['operation']}{' on ' if made['isa'] else ''}{made['isa']}"
    sentence = Said(text, *figures, needed=False)
    found = [label, name, sentence]
    if made.get("of_spec"):
        spec = made["rate"][0] / made["of_spec"]
        found.append(Said(text + "; {} of the {} that a guide specifies at that clock", *figures, made["of_spec"], spec, needed=False))
    return found


def roofs(study):
    for record in TABLES["ceilings"]([study]):
        if record["kind"] in ("bandwidth", "compute"):
            yield from roof_told(study, record, record["device"], record["threads"])
    for step in study.steps:
        level = step.roofs.levels[-1] if step.roofs and step.step.low else None
        if level:
            rate = step.step.low / step.step.level_seconds(level)
            name = f"{level.name} of this step"
            yield Said(name, needed=False)
            yield Said(f"{name}: {{}}", rate, needed=False)
            yield Said(f"{name}: {{}}, for its own reads and writes: from the loops that were measured.", rate, needed=False)
        if step.link:
            yield Said("link {}", step.link.median, needed=False)
            yield Said("link {} between the devices: the fastest all-reduce measured, in bytes that each one's link carries each way. FLOPs are those of all devices.",
                       step.link.median, needed=False)


def times(study):
    """Marks of the time-based roofline."""
    for step in study.steps:
        for layer in step.layers:
            if not layer.low or not step.roofs:
                continue
            needs = layer.allows.by_roof
            farthest = needs.get(step.roofs.levels[-1].name, 0.0) if False else max((seconds for name, seconds in needs.items() if name != step.row["precision"]), default=0.0)
            compute = needs.get(step.row["precision"], 0.0)
            yield Said(f"{layer.name} {layer.phase}: {{}}; memory allows {{}}, compute {{}}", layer.time, farthest, compute, needed=False, at=(farthest, compute),
                       of=step.row.id)


def trajectories(studies):
    for study in studies:
        of = f"{study.name}: " if len(studies) > 1 else ""
        for step in study.steps:
            row = step.row
            if not row.batch:
                continue
            name = f"{of}{told.model(row)} {row['precision']} {told.where(row, study.folder.steps)}" + ("" if told.data(row) in ("-", "synthetic") else f", {told.data(row)}")
            yield Said(name, needed=False)
            yield Said(f"{name}, batch {told.batch(row)}: {{}} [{{}}, {{}}]", *step.images_of_median_step, needed=False, at=(row.batch, step.images_of_median_step[0]), of=row.id)
            if step.step.attainable:
                yield Said(f"{name}, batch {told.batch(row)}: {{}} of attainable", step.step.share, needed=False, at=(row.batch, step.step.share), of=row.id)


def capacity_told(size):
    """As `format_capacity` shows sizes: KiB, MiB, GiB with three digits at most."""
    return "{}", size


def curves(study):
    """Bandwidth over the working set, of the most threads; the ends of the levels and what is reported."""
    found = [point for point in study.sweep_points if point.row["role"] == "bandwidth" and point.rounds and point.set and not point.row["cpu_node"]]
    for point in found:
        row = point.row
        name = row["operation"] or row["bench"]
        name += f" {row['isa']}" if row["isa"] not in ("", "best") else ""
        name += f", {row['placement']}" if row["placement"] not in ("", "cores") else ""
        name += f", {row['pages']} pages" if row["pages"] not in ("", "huge") else ""
        yield Said(name, needed=False)
        yield Said(f"{name} over {{}}: {{}} [{{}}, {{}}]", point.set, *point.sustained.rate, needed=False, at=(point.set, point.sustained.rate[0]), of=row.id)
    for level in TABLES["levels"]([study]):
        yield Said(f"{level['level']}: holds working sets up to {{}}, measured", level["last"], needed=False, at=(level["last"], None))
        if level["reported"]:
            yield Said(f"{level['level']}: {{}} reported", level["reported"], needed=False, at=(level["reported"], None))


def intensity_told(value):
    return f"1/{round(1 / value):g}" if value < 1 else f"{value:g}"


def ert(study):
    for record in TABLES["ert"]([study]):
        share = ", {} of what the roofs allow" if record["allows"] else ""
        yield Said(f"{intensity_told(record['intensity'])} FLOP/B over {{}}: {{}} [{{}}, {{}}]{share}", record["working_set"], *record["rate"],
                   *([record["rate"][0] / record["allows"]] if share else []), needed=False, at=(record["intensity"], record["rate"][0]))
        yield Said(f"{{}}{' (' + record['level'] + ')' if record['level'] else ''}", record["working_set"], needed=False)


def breakdown(study):
    for record in TABLES["breakdown"]([study]):
        yield Said(f"{record['name']}: {{}}, {{}} of the step", record["seconds"], record["of_step"], needed=False, of=record["id"])
        yield Said("{}", record["of_step"], needed=False)
    for step in study.steps:
        yield Said(told.step(step.row, study.folder.steps), needed=False)
        yield Said("{}", step.step.time, needed=False)


def traffic(study):
    for record in TABLES["traffic"]([study]):
        low, high = record["moved_low"], record["moved_high"]
        amounts = ("{} to {}", [low, high]) if high > low else ("{}", [low])
        if record["least"] > 1:
            shares = ("> 100%", [])
        elif record["most"] > 1:
            shares = ("at least {}", [record["least"]])
        else:
            shares = ("{} to {}", [record["least"], record["most"]])
        both = [shares, ("{}", [record["least"]])] if record["most"] <= 1 else [shares]
        yield Said(amounts[0], *amounts[1], needed=False)
        for share in both:
            yield Said(f"{record['level']} to {record['nearer']}: {amounts[0]}, {record['moved_known']}; {share[0]} of what its roof allows in this time", *amounts[1], *share[1],
                       needed=False, at=(min(record["least"], 1), min(record["most"], 1)))
            yield Said(share[0], *share[1], needed=False)
        yield Said("{}", record["level_roof"], needed=False)
    for step in study.steps:
        yield Said("{}", step.step.flops, needed=False)


def memory(study):
    for record in TABLES["memory"]([study]):
        yield Said("{} held at once at most, {} at the end", record["peak"], record["left"], needed=False)
        yield Said("{}", record["peak"], needed=False)


def predictions(study):
    for record in TABLES["predictions"]([study]):
        if record["measured_s"] and record["predicted_s"]:
            yield Said(f"{record['id']}: predicted {{}}, measured {{}} ({{}})", record["predicted_s"], record["measured_s"], record["error"], needed=False,
                       at=(record["measured_s"], record["predicted_s"]))
            yield Said(f"{record['id']}: predicted {{}}, measured {{}} (+{{}})", record["predicted_s"], record["measured_s"], record["error"], needed=False,
                       at=(record["measured_s"], record["predicted_s"]))


def counted(study):
    groups = {}
    for record in TABLES["counted"]([study]):
        groups.setdefault((record["id"], record["kernel_device"], record["kernel"]), []).append(record)
    for records in groups.values():
        one = records[0]
        levels = sorted((record for record in records if record["level"] and record["level"] != "shared" and record["bytes"]), key=lambda record: ("L1", "L2", "L3", "DRAM").index(record["level"]))
        flops = one["flops"] or 0.0
        pattern = f"{one['kernel']}: {{}} in {{}}, {{}} of the roof of {one['bound'] or 'nothing'}"
        values = [flops, one["seconds"], one["share"] or 0.0]
        for level in levels:
            pattern += f"; {level['level']} {{}}, {{}} FLOP/B"
            values += [level["bytes"], flops / level["bytes"]]
        for level in levels:
            yield Said(f"{pattern}; here {level['level']}", *values, needed=False, at=(flops / level["bytes"], flops / one["seconds"]))


def of_page_marks(study):
    """What the marks of the page say when pointed at: phases and steps."""
    for step in study.steps:
        title = told.step(step.row, study.folder.steps)
        for point in step.points:
            if point.scope == "layer":
                continue
            head = f"{title}: " if point.scope == "step" else f"{point.name}: "
            pattern, values = head + "{}", [point.time]
            if point.flops:
                pattern += ", {}"
                values.append(point.rate[0])
            else:
                pattern += ", no FLOPs"
            if point.bound:
                text, figures = share_told(step, point)
                pattern += f", of attainable: {text}"
                values += figures
            yield Said(pattern, *values, needed=False, of=step.row.id)


def headings(study):
    """The lines above a roofline: the answer in two, the machine and the date of its roofs; entries of its legend."""
    for step in study.steps:
        pattern, values = prose.answer_of(step)
        first, _, rest = pattern.partition(". ")
        number = first.count("{}")
        yield Said(f"{first.removesuffix('.')}.", *values[:number], needed=False)
        yield Said(rest, *values[number:], needed=False)
        yield Said(f"{owner(study, step.row)}; roofs measured {date_of(study.calibration)}", needed=False)
    for text in ("1%", "10% of the step"):
        yield Said(text, needed=False)


def labels(study):
    """Names in the pictures."""
    for step in study.steps:
        yield Said(told.model(step.row), needed=False)
        for layer in step.layers:
            name = f"{layer.name} {({'forward': 'fwd', 'backward': 'bwd'}.get(layer.phase, layer.phase))}"
            yield Said(name, needed=False)
            yield Said(f"{name}: bytes unknown", needed=False)
            yield Said(f"{layer.name}: bytes unknown", needed=False)
            yield Said(f"{layer.name.split('+')[0]} {({'forward': 'fwd', 'backward': 'bwd'}.get(layer.phase, layer.phase))}", needed=False)
        yield Said(f"{told.model(step.row)} b{told.batch(step.row)}", needed=False)

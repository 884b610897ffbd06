"""The sentences that the terminal and the page show, each from its figures. A sentence with a number that no expectation fits is a failure."""

import csv
import math
import re
import statistics

import answer
import fitted
import told
from answer import LIMITS, busy_cost
from said import Index, Said, Starts
from tables import TABLES, above_roof, date_of, is_unstable, owner

# Sentences whose numbers are constants of the method or of a layout, not figures.
FIXED = [re.compile(pattern) for pattern in (
    r"Times and ceilings are (measured|emulated); FLOPs and bytes are analytic.*",
    r"Roofs and their 95% bands are measured\. A point is a layer, its area its time\.",
    r"Nothing was measured between two batches\. Bars: 95% intervals\.",
    r"The fastest at each batch comes first\. Slower: the interval of the ratio excludes 1\.",
    r"Roofs, measured, with their 95% intervals:",
    r"arithmetic intensity \(FLOP/B\), at the least bytes of L[1-4]")]


def quality(study):
    """Section 2, Quality: lower bounds, unsteady ceilings, and what disturbed the samples most, as a share of their time."""
    ceilings, rows = list(TABLES["ceilings"]([study])), study.calibration.rows
    if not ceilings:
        return "", []
    states = [ceiling["state"] for ceiling in ceilings]
    bounds = states.count("at least")
    unsteady = len(states) - bounds - states.count("steady")
    skipped = sum(row.status == "skipped" for row in rows)
    left = (f" {{}} of {{}} rows {'was' if skipped == 1 else 'were'} not measured.", [skipped, len(rows)]) if skipped else ("", [])
    words, values = [], []
    for count, one, many in ((bounds, "is a lower bound", "are lower bounds"), (unsteady, "is unsteady", "are unsteady")):
        if count:
            words.append(f"{{}}{' of {} ceilings' if not words else ''} {one if count == 1 else many}")
            values += [count] + ([len(states)] if len(words) == 1 else [])
    if not words:
        if len(states) == 1:
            return "The one ceiling is steady." + left[0], left[1]
        return "All {} ceilings are steady." + left[0], [len(states), *left[1]]
    every, by_reason = 0.0, {}
    for row in rows:
        for sample in row.samples:
            seconds = float(sample["launch_s"] or 0)
            every += seconds
            if sample.get("disturbance"):
                by_reason[sample["disturbance"]] = by_reason.get(sample["disturbance"], 0.0) + seconds
    worst = max(sorted(by_reason), key=by_reason.get, default=None)
    if worst and by_reason[worst] < 0.001 * every:  # method.md: it is not named
        worst = None
    disturbed = (f": {worst} {{}} of the time", [by_reason[worst] / every]) if worst else ("", [])
    return ", ".join(words) + disturbed[0] + "." + left[0], values + disturbed[1] + left[1]


def calibration(study):
    date = date_of(study.calibration)
    text, values = quality(study)
    of = f"{study.calibration.path.parent.name}/{study.calibration.name}"
    return Said(f"Roofs: the calibration {of}{' of ' + date if date else ''}. {text}".rstrip(), *values)


def trained(studies):
    """{(model, precision, data, tokens, phase): {device: {batch: step}}}"""
    found = {}
    for study in studies:
        for step in study.steps:
            row = step.row
            if row.batch and not answer.took_turns(row):
                key = (told.model(row), row["precision"], told.data(row), row["tokens"], row["phase"])
                owned = f"{owner(study, row)} " if len(studies) > 1 else ""
                device = f"{owned}{told.where(row, study.folder.steps)}"
                found.setdefault(key, {}).setdefault(device, {}).setdefault(row.batch, step)
    return found


def crossing(batch_a, a, batch_b, b):
    """The batch where the logarithm, linear in that of the batch, passes 0."""
    if not (math.isfinite(a) and math.isfinite(b)) or (a > 0) == (b > 0):
        return None
    return math.exp(math.log(batch_a) + math.log(batch_b / batch_a) * a / (a - b))


def ratio_of_times(first, second):
    """(ratio, low, high) of the times per image of two steps, second over first (section 8)."""
    a, b = first.images_of_median_step, second.images_of_median_step
    ratio = a[0] / b[0]
    down = math.hypot(math.log(a[0] / a[1]), math.log(b[2] / b[0]))
    up = math.hypot(math.log(a[2] / a[0]), math.log(b[0] / b[1]))
    return ratio, ratio * math.exp(-down), ratio * math.exp(up)


def crossovers(devices):
    """(pattern, values) of each: which device overtakes which, at which batch, with the interval."""
    found = []
    names = sorted(devices)
    for at, first in enumerate(names):
        for second in names[at + 1:]:
            batches = sorted(set(devices[first]) & set(devices[second]))
            ratios = [(batch, *(math.log(value) for value in ratio_of_times(devices[first][batch], devices[second][batch]))) for batch in batches]
            for before, after in zip(ratios, ratios[1:]):
                middle = crossing(before[0], before[1], after[0], after[1])
                if middle is None:
                    continue
                falls = before[1] > after[1]

                def end(which, otherwise):
                    for x, y in zip(ratios, ratios[1:]):
                        passes = crossing(x[0], x[which], y[0], y[which])
                        if passes is not None and (x[which] > y[which]) == falls:
                            return passes
                    return otherwise
                least, most = ratios[0][0], ratios[-1][0]
                ends = [end(2, least if falls else most), end(3, most if falls else least), middle]
                faster, slower = (second, first) if falls else (first, second)  # the first is faster while the ratio is above 1
                found.append((f"{faster} overtakes {slower} at batch {{}} [{{}}, {{}}]; ", [middle, min(ends), max(ends)]))
    return found


def summary(studies):
    for (model, precision, data, _, _), devices in trained(studies).items():
        fed = "" if data in ("-", "synthetic") else f", images of {data}"
        pattern, values = f"{model} {precision}{fed}: ", []
        if len(devices) > 1:
            best = {}
            for device in sorted(devices):
                for batch, step in devices[device].items():
                    if step.images_of_median_step[0] > best.get(batch, (0, ""))[0]:
                        best[batch] = (step.images_of_median_step[0], device)
            pattern += "fastest " + "; ".join(f"at batch {batch} on {best[batch][1]}" for batch in sorted(best)) + "; "
            for text, figures in crossovers(devices):
                pattern += text
                values += figures
        steps = [step for device in sorted(devices) for _, step in sorted(devices[device].items())]
        step = max(steps, key=lambda step: step.images_of_median_step[0])
        pattern += f"most {told.items([step.row])} per second of the median step at batch {told.batch(step.row)} on {told.where(step.row, step.study.folder.steps)}: {{}}; "
        values.append(step.images_of_median_step[0])
        head, figures = answer.headline(step)
        actions = answer.actions(step)
        pattern += head
        values += figures
        if actions:
            pattern += ". Most worthwhile: " + "; ".join(
                f"{one.what}{':' if at else ' saves'} {one.sense}{' ' if one.sense else ''}{{}}{'' if at else ' of its {}'} ({one.known})" for at, one in enumerate(actions))
            values += [actions[0].seconds, step.step.time, *(one.seconds for one in actions[1:])]
        yield Said(pattern + ".", *values)


def missing(study):
    """Rows without a result, by status and reason; one by its name, several by their number."""
    groups = {}
    for row in study.folder.steps:
        if not row.ok:
            groups.setdefault((row.status, row["reason"] if row.status != "damaged" else row.id), []).append(row)
    for (status, reason), rows in groups.items():
        who = rows[0].id if len(rows) == 1 else f"{len(rows)} rows on {' and '.join(sorted({row['device'] for row in rows}))}"
        yield Starts(f"{who} {status}: ") if status == "damaged" else Said(f"{who} {status}: {reason}")


def busy(row):
    words, values = [], []
    for name, pattern in (("others_processors", "other processes used {} processors"), ("stolen_processors", "the host took {} processors"),
                          ("waited_share", "a thread waited {} of the time for a processor"), ("shared_share", "the core was shared in {} of the readings")):
        value = float(row[name] or 0)
        if value > LIMITS[name]:
            words.append(pattern)
            values.append(value)
    if not words:
        return None
    share, known = busy_cost(row)
    cost = f"; this took about {{}} of the step's time ({known})" if share is not None else "; what it cost is not known"
    return ", ".join(words) + cost, values + ([share] if share is not None else [])


def above(study):
    """Points above their roof beyond all intervals: their number, the highest, and how many a cache served."""
    points = [(step, point) for step in study.steps for point in step.points]
    found = [(step, point) for step, point in points if point.beyond > 0]
    if not found:
        return
    _, highest = max(found, key=lambda item: item[1].share)
    served = sum(bool(above_roof(step, point)["served"]) and point.bound != step.row["precision"] for step, point in found)
    pattern = (f"{{}} of {{}} placed points {'lies above its' if len(found) == 1 else 'lie above their'} roof, beyond all intervals; the highest, {highest.name}, took 1/{{}} of the time that the "
               f"{highest.bound} roof allows.")
    values = [len(found), len(points), highest.share]
    if served:
        pattern += f" {{}} of them {'is' if served == 1 else 'are'} within the roof of a cache, which may still have held operands from the layer before."
        values.append(served)
    writing = sum(above_roof(step, point)["by_writes"] for step, point in found)
    if writing:
        pattern += f" {{}} of them {'writes' if writing == 1 else 'write'} more than is read, and the roof has the rate of copies for that until stores are measured."
        values.append(writing)
    if any(point.bound == step.row["precision"] for step, point in found):
        pattern += " Some counted FLOPs may not be executed: taps on padding, and multiplications that some algorithms save."
    if served + writing < len(found):
        pattern += " If that does not explain the others, the calibration was disturbed or is out of date: `roof calibrate` measures it again."
    yield Said(pattern, *values)


def of_steps(study):
    """Titles that name a step, with the figures that stand in them."""
    for step in study.steps:
        title = told.step(step.row, study.folder.steps)
        yield Said(title, needed=False)
        inside = sum(layer.time for layer in step.layers)
        more, values = ("; its layers, timed apart, took {} longer", [inside - step.step.time]) if inside > step.step.time * (1 + 1e-9) else ("", [])
        how = fitted.timed(step.row)
        yield Said(f"{title}: where its {{}} go ({how}){more}", step.step.time, *values, needed=False)
        yield Said(f"{title}: what reaching the roof would save", needed=False)
        yield Said(f"{title} (the longest {{}} of {{}} points)", 400, len(step.points) - 1, needed=False)
        yield Said(f"{title} (the longest {{}} of {{}} layers)", 400, len([layer for layer in step.layers if layer.low]), needed=False)
        yield Said(f"{told.model(step.row)}: {told.items([step.row])}/s of the median step ({how}) over the batch", needed=False)


def predictions(study):
    records = list(TABLES["predictions"]([study]))
    errors = sorted(abs(record["error"]) for record in records if record["error"] is not None)
    held = [record["in_interval"] for record in records if record["in_interval"] is not None]
    of_interval = f"; the interval held {int(sum(held))} of {len(held)}" if held else ""
    path = study.folder.path / "predictions.csv"
    if path.exists():
        yield Said(f"Predicted before the first row was measured (fingerprint {fnv(path.read_bytes())}) and measured", needed=False)
    if errors:
        middle = statistics.median(errors)
        yield Said(f"error of the predicted time: median {{}}, worst {{}}{of_interval}", middle, errors[-1], needed=False)
        yield Said(f"Error of the predicted time: median {{}}, worst {{}}{of_interval}. Fingerprint of the predictions, printed before the first row was measured: "
                   f"{fnv(path.read_bytes())}.", middle, errors[-1], needed=False)


def fnv(data):
    """FNV-1a, 64 bits, in hexadecimal."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def ceilings(study):
    """Titles and footnotes of the ceilings."""
    for record in TABLES["ceilings"]([study]):
        if record["kind"] != "latency":
            words = [{"bandwidth": "Bandwidth", "compute": "Compute"}[record["kind"]], told.processors(record["device"], record["threads"])]
            yield Said(", ".join(words + ([record["condition"]] if record["condition"] else [])) + f" ({record['known']})", needed=False)
        if record.get("spec"):
            text = f"of spec: per clock and core, as a share of the figure of {record['spec']['source']}"
            yield Said(text, needed=False)
            yield Said(text + ". * Above it: the clock was read too low, a nearer level served a part of the working set, or the figure does not hold for this processor. "
                       "The rate stays as measured", needed=False)
        if record["operation"] == "core_to_core":
            yield Said("vCPUs migrate: a line went from one core to another in {} at best and typically in {}. The cores share a last cache only at times, so several threads "
                       "have two rates there and in memory", 1 / record["rate"][0], 1 / record["made"].point.typical, needed=False)
    sources = sorted({record["source"] for record in TABLES["data_sheets"]([study])})
    if sources:
        yield Said("Data sheet: spec, at the vendor's clock, matrix products without sparsity. " + " ".join(f"{source}." for source in sources), needed=False)


def devices(study):
    for device, threads in sorted({(made.device, made.threads) for made in study.made}):
        where = f"cpu, {told.threads(threads)}" if device == "cpu" else device
        for text in (device, where, *(f"{precision} on {where}" for precision in sorted({point.row["precision"] for point in fitted.points(study) if point.row["intensity"]}))):
            yield Said(text, needed=False)
    for row in study.folder.steps:
        yield Said(row["device"], needed=False)


def recordings(study):
    records = list(TABLES["kernels"]([study]))
    if records:
        launches = sum(record["launches"] for record in records)
        yield Said(f"{{}} launch{'' if launches == 1 else 'es'}, added up by name to {{}} kernel{'' if len(records) == 1 else 's'} and by category here.", launches, len(records), needed=False)


def names(study):
    yield Said(f"{owner_of_page(study)} / {study.name}", needed=False)
    machine, of = study.folder.machine["name"], study.calibration.machine["name"]
    if machine != of:
        yield Said(f"The ceilings are those of another machine, '{of}'; the rows are of '{machine}'.", needed=False)
    for text in study.folder.machine.get("inconsistencies", []) or []:
        yield Said(text, needed=False)


def owner_of_page(study):
    """The machine, or the model of its GPU where the ceilings are of that alone."""
    found = list(dict.fromkeys(ceiling.device for ceiling in study.ceilings))
    device = found[0] if len(found) == 1 else "cpu"
    if not device.startswith("gpu"):
        return study.folder.machine["name"]
    model = next((its["model"] for its in study.folder.machine["devices"] if its["name"] == device), "")
    return model or study.folder.machine["name"]


def remarks(study):
    for row in study.folder.steps:
        if is_unstable(row):
            yield Said(f"{row.id}: {answer.disturbances(row)}", needed=False)
        found = busy(row)
        if found:
            yield Said(f"{row.id}: {found[0]}", *found[1])
        if row["remarks"]:
            yield Said(f"{row.id}: {row['remarks']}", needed=False)


def notes_of_winners(studies):
    """'cpu and gpu:0 failed: reason.' for each status and reason of the rows of the table."""
    groups = {}
    for record in TABLES["winners"](studies):
        if record["status"] != "ok":
            groups.setdefault(f"{record['winner']}: {record['reason']}", set()).add(record["device"])
    damaged = {record["device"] for record in TABLES["winners"](studies) if record["status"] == "damaged"}  # each row has a reason of its own: its line
    if damaged:
        return [Starts(f"{device} damaged: ", needed=False) for device in sorted(damaged)]
    text = " ".join(f"{' and '.join(sorted(of))} {reason}." for reason, of in sorted(groups.items()))
    return [Said(text, needed=False)] if text else []


def damage(study):
    """Lines of damaged rows, by file and line."""
    for row in study.folder.rows:
        if row.status == "damaged":
            path = study.folder.path / "measurements.csv"
            lines = path.read_text(encoding="utf-8").splitlines()
            at = next(number for number, line in enumerate(lines, 1) if next(csv.reader([line]))[0] == row.id)
            yield Starts(f"{path}:{at}: ", needed=False)


def expected(studies, is_page=False):
    """Of the terminal, or of the page, which sums up each folder by itself."""
    sums = [one for study in studies for one in summary([study])] if is_page else summary(studies)
    said = [*sums, *notes_of_winners(studies)]
    for study in studies:
        said += [calibration(study)] if study.made else []
        for make in (missing, remarks, above, of_steps, predictions, ceilings, devices, recordings, names, damage):
            said += make(study)
    return Index(said)


def audit(findings, place, texts, index):
    """Each text with a digit is one expected; each that is needed is shown."""
    for words in texts:
        words = re.sub(r"\s+", " ", words).strip()
        if re.search(r"\d", words) and not any(pattern.fullmatch(words) for pattern in FIXED):
            index.check(findings, place, words)
    for one in index.said:
        if one.needed and not one.found:
            findings.differs(f"{place}: sentence", "none", one.pattern)
        one.found = False

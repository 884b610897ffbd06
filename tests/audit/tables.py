"""Records for the tables that `roof report --data` and `roof export` write as CSV and JSON. `checked.yaml` says which figure of a record
each column shows."""

from dataclasses import dataclass

import answer
from ceiling_tables import CEILING_TABLES
from energy_tables import ENERGY_TABLES
from product_bound import moved
from reading import number, table
from recorded_tables import RECORDED_TABLES

TAKEN = object()  # a figure that is an input of this audit (ceilings.py)


@dataclass
class Drawn:
    """Roofs with their shares of random draws."""
    shares: dict


def step_record(step):
    if not hasattr(step, "record"):
        step.record = made_record(step)
    return step.record


def made_record(step):
    row, point = step.row, step.step
    roof = step.compute_roof
    by_verdict = step.time_by_verdict()
    return row_record(step.study, row) | beside_one(step.study, step) | {
        **may_bind(step, point),
        "time": point.times, "samples": point.samples, "images_per_s": step.images_per_second, "tokens_per_s": step.tokens_per_second,
        "share": point.share, "at_most": step.at_most(point) if point.share else None, "of_peak": step.share_of_peak, "of_peak_at_most": step.compute_roof.at_least if step.share_of_peak is not None else None, "rate": point.rate,
        "roof": roof.median if roof else None, "bound": "" if answer.no_roof_binds(step) else point.bound, "drawn": Drawn(point.drawn), "attainable": point.attainable or None,
        "headroom": point.headroom if point.share else None, "wait": float(row["data_median_s"] or 0), **of_ranks(step),
        **{phase: seconds or None for phase, seconds in step.phase_seconds().items()}, **{name: by_verdict[of] if point.bound else None for name, of in (("compute_bound", "compute"), ("bandwidth_bound", "bandwidth"), ("unexplained", "unexplained"), *((same, same) for same in ("inside", "outside", "exposed_share", "waiting_share", "waited_share")))}}


def may_bind(step, point):
    return {"nearer_may_bind": step.nearer_may_bind(point) if point.share else None}


def is_unstable(row):
    """The ends of the interval are more than a factor of two apart."""
    return row.ok and row.step[2] > 2 * row.step[1]


def row_record(study, row):
    return {"study": study.name, "id": row.id, "model": row["model"], "batch": row.batch, "precision": row["precision"], "device": row["device"],
            "data": row["data"].rsplit("/", 1)[-1], "status": row.status, "reason": TAKEN if row.status == "damaged" else row["reason"], "threads": row.threads, "ranks": row.ranks,
            "scaling": row["scaling"] or "weak", "communication": row["communication"], "batch_norm": row["batch_norm"], 
            "told_scaling": row["scaling"] or ("weak" if row.ranks > 1 else ""), "told_threads": row.threads or None, "bucket": row["bucket_mb"],
            "images": row.images,
            "placement": row["placement"], "pages": row["pages"], "deterministic": row["deterministic"], "round": row["round"], "data_shown": row["data"].rsplit("/", 1)[-1] or "-", "algorithm": row["algorithm"], "parameters": row["parameters"], "lr": row["lr"], "optimizer": row["optimizer"], "tokens": row["tokens"], "pass": row["phase"], "graph": row["graph"],
            "unstable": float(is_unstable(row)), "variant": row["variant"], **{f"host_{name}": number(row[name]) for name in answer.LIMITS},
            **dict(zip(("busy_share", "busy_known"), answer.busy_cost(row))), "source": row["data"], "memory": number(row["memory_bytes"]), "measured": "measured"}


def verdict(studies):
    for study in studies:
        measured = {step.row.id: step for step in study.steps}
        for row in study.folder.steps:
            yield step_record(measured[row.id]) if row.id in measured else row_record(study, row)


def placements(studies):
    for study in studies:
        for step in study.steps:
            for point in step.points:
                if point.scope == "step" and step.link:
                    over_link = step.crossing
                    yield point_record(step, point) | {"level": "link", "low": over_link, "high": over_link, "level_roof": step.link.median,
                                                       "moved_low": None, "moved_high": None, "moved_known": None,
                                                       "intensity_low": point.flops / over_link, "intensity_high": point.flops / over_link}
                if not point.low or not step.roofs:
                    yield point_record(step, point) | dict.fromkeys(("level", "low", "high", "moved_low", "moved_high", "moved_known", "intensity_low",
                                                                     "intensity_high", "level_roof"))
                    continue
                found = moved(step, point) or [(None, None, None)] * (len(step.roofs.levels) if step.roofs else 0)
                for level, (moved_low, moved_high, how) in zip(step.roofs.levels if step.roofs else [], found):
                    low, high = point.low, point.high(level.nearer)
                    yield point_record(step, point) | {
                        "level": level.name, "low": low, "high": high, "moved_low": moved_low, "moved_high": moved_high,
                        "moved_known": how, "intensity_low": point.flops / high,
                        "intensity_high": point.flops / low, "level_roof": low / point.level_seconds(level)}


def traffic(studies):
    """What a whole step moves between a level and the next nearer one, of what the level's roof allows in its time."""
    for study in studies:
        for step in study.steps:
            for at, (low, high, how) in enumerate(moved(step, step.step) or []):
                level = step.roofs.levels[at]
                roof = (step.step.low + sum(part.again(level.nearer) for part in step.step.parts)) / step.step.level_seconds(level)
                yield step_record(step) | {"level": level.name, "nearer": step.roofs.levels[at - 1].name if at else "cores", "moved_low": low, "moved_high": high,
                                           "moved_known": how, "level_roof": roof, "least": low / (roof * step.step.time),
                                           "most": high / (roof * step.step.time)}


def point_record(step, point):
    return step_record(step) | {
        "scope": point.scope, "name": point.name, "kind": point.kind, "phase": point.phase, "implementation": point.implementation,
        "time": point.times, "samples": point.samples, "flops": point.flops, "executed": point.executed if point.executed != point.flops else 0.0, "low": point.low if step.roofs and point.low else None, "known": point.known, "rate": point.rate, "bound": point.bound, "drawn": Drawn(point.drawn),
        "attainable": point.attainable or None, "share": point.share, "at_most": float(bool(point.share and step.at_most(point))),
        "headroom": point.headroom if point.share else None, "note": TAKEN, **may_bind(step, point)}


def headroom(studies):
    for study in studies:
        for step in study.steps:
            for rank, point in enumerate(step.headroom(), 1):
                farthest = step.roofs.levels[-1]
                high = point.high(farthest.nearer)
                yield step_record(step) | may_bind(step, point) | {
                    "rank": rank, "layer": point.name, "kind": point.kind, "phase": point.phase, "time": point.times, "of_step": point.time / step.step.time,
                    "rate": point.rate, "intensity_low": point.flops / high if high else None, "intensity_high": point.flops / point.low if point.low else None,
                    "bound": point.bound, "drawn": Drawn(point.drawn), "share": point.share, "headroom": point.headroom, "implementation": point.implementation,
                    "at_most": step.at_most(point)}


def time(studies):
    for study in studies:
        for step in study.steps:
            for point in (layer for layer in step.layers if layer.bound):
                memory = [seconds for name, seconds in point.allows.by_roof.items() if name != step.row["precision"]]
                yield {"study": study.name, "id": step.row.id, "layer": point.name, "kind": point.kind, "phase": point.phase, "time": point.times,
                       "memory_allows": max(memory, default=None), "compute_allows": point.allows.by_roof.get(step.row["precision"], None if point.flops else 0.0), "analytic": "analytic"}


def breakdown(studies):
    for study in studies:
        for step in study.steps:
            for by, name, seconds in step.breakdown():
                yield {"study": study.name, "id": step.row.id, "by": by, "name": name, "seconds": seconds, "of_step": seconds / step.step.time}


def trajectories(studies):
    for study in studies:
        for step in study.steps:
            yield step_record(step)


CHANGES = {"all memory twice as fast": (2, 1), "arithmetic twice as fast": (1, 2)}


def what_if(studies):
    for study in studies:
        for change, factors in CHANGES.items():
            for step in study.steps:
                if not step.step.bound or not step.layers:
                    yield step_record(step) | {"change": change, "before": step.step.time, "predicted": None, "least": None, "under": "", "times_as_fast": None, "under_before": "",
                                               "no_reason": "its layers were not measured, or there are no ceilings", "analytic": "analytic"}
                    continue
                predicted, least, under = step.what_if(*factors)
                yield step_record(step) | {"change": change, "before": step.step.time, "predicted": predicted, "times_as_fast": step.step.time / predicted, "under_before": step.what_if(1, 1)[2], "least": least, "under": under,
                                           "no_reason": "", "analytic": "analytic"}


def not_measured(studies):
    for study in studies:
        for row in study.folder.rows + [row for row in study.calibration.rows if study.calibration.path != study.folder.path]:
            if not row.ok:
                yield row_record(study, row)


def beside_one(study, step):
    """Speed-up and efficiency over one rank with a rank's share of the threads, or on one of the devices (docs/parallel.md)."""
    row = step.row
    machine = study.folder.machine
    of_machine = [other for other in study.beside if all(other.folder.machine.get(name) == machine.get(name) for name in ("name", "node"))]
    all_steps = study.steps + [other for its in of_machine for other in its.steps]
    alone = next((other for other in all_steps if is_alone(other.row, row)), None) if row.ranks > 1 and not answer.took_turns(row) else None
    speedup = step.images_per_second[0] / alone.images_per_second[0] if alone else None
    return {"speedup": speedup, "efficiency": speedup / row.ranks if alone else None, "exposed": number(row["exposed_median_s"]) if row.ranks > 1 else None}


def scaling(studies):
    """Steps of several ranks (docs/parallel.md, What is measured)."""
    for study in studies:
        for step in study.steps:
            row = step.row
            if row.ranks > 1:
                yield step_record(step) | {"link": step.link.median if step.link else None}


def of_ranks(step):
    """What a step of several ranks sent."""
    if step.row.ranks < 2:
        return {"hidden": None, "messages": None, "bus": None}
    return {"hidden": number(step.row["hidden_median_s"]), "messages": number(step.row["messages_bytes"]), "bus": step.bus}


def is_alone(one, several):
    """One rank on the batch of a rank (weak) or of all (strong), with a rank's share of the threads or one of the devices."""
    if one.ranks > 1 or any(one[name] != several[name] for name in ("model", "batch", "precision", "algorithm", "data", "parameters", "lr", "optimizer", "tokens", "phase")):
        return False
    if several["device"] == "cpu":
        return one["device"] == "cpu" and one.threads == several.threads // several.ranks
    return one["device"] in [f"gpu:{number}" for number in several["device"].split(":")[1].split(",")]


def owner(study, row):
    """The machine's name for its CPU, the model of a GPU, with the number of devices."""
    if row["device"] == "cpu":
        return study.folder.machine["name"]
    kind, _, numbers = row["device"].partition(":")
    model = next((its["model"] for its in study.folder.machine["devices"] if its["name"] == f"{kind}:{numbers.split(',')[0]}"), "")
    return f"{len(numbers.split(','))} x {model}" if "," in numbers else model


def winners(studies):
    """Devices side by side at equal model, precision, data, optimizer and batch; rates are images of all ranks over the step's time (docs/parallel.md)."""
    groups = {}
    for study in studies:
        measured = {step.row.id: step for step in study.steps}
        for row in (row for row in study.folder.steps if row.batch):
            key = (row["model"], row["precision"], row["data"], row["optimizer"] or "sgd", row["tokens"], row["phase"], row.batch)
            groups.setdefault(key, []).append((study, row, measured.get(row.id)))
    for rows in groups.values():
        if len(rows) < 2:
            continue
        best = max((step for _, _, step in rows if step and not answer.took_turns(step.row)), key=lambda step: step.images_per_second[0], default=None)
        fastest = best.images_per_second[0] if best else None
        for study, row, step in rows:
            rates = step.images_per_second if step else None
            yield row_record(study, row) | {"machine": owner(study, row), "images_per_s": rates, "samples": step.step.samples if step else None,
                                            "of_fastest": rates[0] / fastest if step else None, "winner": winner(row, step, best), "no_fastest": best is None}


def winner(row, step, best):
    """Section 8: slower if the interval of the ratio excludes 1, of five samples each."""
    if answer.took_turns(row):
        return "its ranks took turns"
    if not step:
        return "unstable" if is_unstable(row) else row.status
    if step is best:
        return "fastest"
    if min(step.step.samples, best.step.samples) < 5:
        return f"too few samples to tell ({best.step.samples} and {step.step.samples})"
    if not answer.ratio_is_above_one(step, best):
        return "not told apart"
    return "not told apart: a busy machine" if answer.may_be_busy(step, best) else "slower"


def predictions(studies):
    """Predictions made before the measurement, beside it."""
    for study in studies:
        steps = {step.row.id: step for step in study.steps}
        rows = {row.id: row for row in study.folder.rows}
        for line in table(study.folder.path / "predictions.csv"):
            step, row = steps.get(line["row"]), rows.get(line["row"])
            value = {name: number(line[name]) for name in ("least_s", "predicted_s", "memory_bytes", "fits")}
            value |= {name: number(line.get(name, "")) for name in ("low_s", "high_s")}
            measured = step.step.time if step else None
            status = row.status if row else ""
            wrong = status in ("ok", "out_of_memory") and (status == "ok") != bool(value["fits"])
            yield {"study": study.name, "id": line["row"], **value, "status": status, "measured_s": measured,
                   "memory_told": ("fits" if value["fits"] else "out of memory") + (", wrongly" if wrong else ""),
                   "error": value["predicted_s"] / measured - 1 if measured else None,
                   "in_interval": float(value["low_s"] <= measured <= value["high_s"]) if measured and value["low_s"] is not None else None,
                   "by": "a trial (measured)" if line.get("tried") == "1" else "roofs (analytic)",
                   "right": float((status == "ok") == bool(value["fits"])) if status in ("ok", "out_of_memory") else None}


def date_of(folder):
    started = min((row["started_utc"] for row in folder.rows if row["started_utc"]), default="")
    return f"{started[:10]} {started[11:16]} UTC" if len(started) > 16 and started[10] == "T" else started


def of_rows(make):
    """Records with what is known of their rows."""
    def records(studies):
        return [row_record(study, row) | record for study, row, record in make(studies)]
    return records


TABLES = {"verdict": verdict, "placements": placements, "traffic": traffic, "headroom": headroom, "time": time, "breakdown": breakdown, "trajectories": trajectories,
          "what_if": what_if, "not_measured": not_measured, "scaling": scaling, "winners": winners, "predictions": predictions, **CEILING_TABLES, **RECORDED_TABLES,
          **{name: of_rows(make) for name, make in ENERGY_TABLES.items()}}


def kept(make):
    """The records of these studies, made once; those of a few studies are kept."""
    found = {}

    def records(studies):
        key = tuple(id(study) for study in studies)
        if key not in found:
            if len(found) > 4:
                found.clear()
            found[key] = (list(make(studies)), studies)  # with the studies, whose ids stay theirs
        return found[key][0]
    return records


TABLES = {name: kept(make) for name, make in TABLES.items()}

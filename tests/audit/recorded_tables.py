"""Records of the tables of recordings (recordings.py)."""

import told
from reading import number
from recordings import Recording, work_of


def recording(study):
    if not hasattr(study, "recording"):
        study.recording = Recording(study.folder)
    return study.recording


def row_of(study, identity):
    return next((row for row in study.folder.rows if row.id == identity), None)


def named(study, one):
    """A record with the names that people see."""
    row = row_of(study, one["id"])
    device = one.get("told_device", one.get("kernel_device", ""))
    words = {name: one[name] or "?" for name in ("source", "destination", "memory_kind") if name in one}
    return {"study": study.name, **one, "phase_told": one.get("phase") or "no phase", "row": row, "step_told": told.short(row) if row else "", "kernel_device_told": device or (row["device"] if row else ""),
            **{f"{name}_told": word for name, word in words.items()}}


def of(make):
    def records(studies):
        for study in studies:
            for one in make(recording(study), study):
                yield named(study, one)
    return records


def link_of(study, device, kind, source, destination):
    """The best rate of the bench `link` for this copy, with the kind of the host's pages where both are known; of `peer` between devices."""
    best = None
    for row in study.calibration.rows:
        if not row.ok or row["device"] != device or not row.step[0]:
            continue
        if kind == "P2P":
            fits = row["bench"] == "peer"
        else:
            host = source if kind == "H2D" else destination
            fits = kind in ("H2D", "D2H") and row["bench"] == "link" and row["operation"] == kind.lower().replace("to", "2") and (not host or row["pages"] in ("", host))
        if fits:
            rate = float(row["compulsory_bytes"] or 0) / row.step[0]
            best = rate if best is None or rate > best else best
    return best


def of_unrecorded(study, one):
    row = row_of(study, one["id"])
    whole = row.step[0] + float(row["data_median_s"] or 0) if row else 0
    return one | {"of_unrecorded": one["wall"] / whole if one["steps"] and row["bench"] != "import" and whole else None}


def step_counters(records, study):
    """The FLOPs and bytes of each level that the counters of a whole step add up to, beside the analytic amounts of its row."""
    sums = {}
    for record in records.records["counters"]:
        if record["scope"] == "step" and row_of(study, record["id"]):
            of = sums.setdefault((record["id"], record.get("device") or ""), {})
            of[record["metric"]] = (of.get(record["metric"], (0.0, ""))[0] + float(record["value"]), record["unit"])
    for (identity, device), metrics in sorted(sums.items()):
        row, (flops, moved) = row_of(study, identity), work_of(metrics)
        analytic = lambda *names: [number(row[name], 0.0) for name in names] if row["work_known"] == "analytic" else []
        amounts = {"FLOPs": (sum(flops.values()), analytic("flops"))} if flops else {}
        amounts |= {f"bytes at {level}": (moved[level], [] if level == "shared" else analytic("compulsory_bytes", "no_reuse_bytes")) for level in sorted(moved)}
        for what, (amount, beside) in amounts.items():
            yield {"id": identity, "metric": what, "kernel_device": device, "amount": amount, "analytic": (beside + [None, None])[:2]}


def most_threads(study, device):
    return study.roofs_at(device, 10**9)


RECORDED_TABLES = {
    "kernels": of(lambda r, s: r.kernels()),
    "kernel_categories": of(lambda r, s: r.categories()),
    "counted": of(lambda r, s: r.counted(lambda device: most_threads(s, device))),
    "counted_phases": of(lambda r, s: r.phases()),
    "step_counters": of(step_counters),
    "time_breakdown": of(lambda r, s: (of_unrecorded(s, one) for one in r.time_breakdown())),
    "calls": of(lambda r, s: r.calls()),
    "copies": of(lambda r, s: r.copies(lambda *copy: link_of(s, *copy))),
    "memory": of(lambda r, s: r.memory()),
    "memory_over_time": of(lambda r, s: r.memory_over_time()),
}

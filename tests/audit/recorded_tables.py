"""Records of the tables of recordings (recordings.py)."""

from recordings import Recording


def recording(study):
    if not hasattr(study, "recording"):
        study.recording = Recording(study.folder)
    return study.recording


def row_of(study, identity):
    return next((row for row in study.folder.rows if row.id == identity), None)


def named(study, one):
    row = row_of(study, one["id"])
    return {"study": study.name, **one, "row": row}


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


def most_threads(study, device):
    return study.roofs_at(device, 10**9)


RECORDED_TABLES = {
    "kernels": of(lambda r, s: r.kernels()),
    "counted": of(lambda r, s: r.counted(lambda device: most_threads(s, device))),
    "counted_phases": of(lambda r, s: r.phases()),
    "time_breakdown": of(lambda r, s: (of_unrecorded(s, one) for one in r.time_breakdown())),
    "calls": of(lambda r, s: r.calls()),
    "copies": of(lambda r, s: r.copies(lambda *copy: link_of(s, *copy))),
    "memory": of(lambda r, s: r.memory()),
    "memory_over_time": of(lambda r, s: r.memory_over_time()),
}

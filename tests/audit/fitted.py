"""The fit of a calibration and the points of a study, each once."""

import functools

import ceilings as fit
from reading import Folder


@functools.lru_cache(maxsize=6)
def of(calibration):
    """(folder, ceilings, levels, points, multiply-adds that were not measured) of a calibration folder."""
    folder = Folder(calibration)
    found, levels, points = fit.ceilings(folder)
    return folder, found, levels, points, fit.unmeasured(folder, points)


def points(study):
    """The points of the folder, and of its calibration if that is another folder."""
    if hasattr(study, "points"):
        return study.points
    rows = list(study.folder.rows)
    rows += study.calibration.rows if study.calibration.path != study.folder.path else []
    study.points = fit.points_of_rows(rows)
    return study.points


def timed(row):
    """Older folders have no column for it: results/README.md."""
    return row["time_known"] or ("emulated" if row["description"].startswith("Emulated") else "measured")

"""Imports as a results folder, which `roof report` and `roof compare` read like any other."""

from itertools import chain
from pathlib import Path
from typing import Any, Dict, List, Sequence

from roof import folder
from roof.errors import InputError
from roof.estimates import columns
from roof.importing import RECORDS, Imported, Layer, Row
from roof.texts import printable

AXES = ("model", "operation", "precision", "path")  #: in the order of the columns


def identity(row: Row) -> str:
    return folder.identity("import", row.device, {axis: row.point.get(axis, "") for axis in AXES})


def work_of(part: Any, known: str) -> folder.Row:
    values = {"flops": part.flops, "executed_flops": part.executed, "compulsory_bytes": part.compulsory, "no_reuse_bytes": part.no_reuse}
    return {**{name: value or "" for name, value in values.items()}, "work_known": known}


def measurement(row: Row, imported: Imported) -> folder.Row:
    remarks = [f"imported from {imported.format}", *(f"missing: {one}" for one in imported.missing), *imported.remarks]
    cells: folder.Row = {"id": identity(row), "bench": "import", "role": row.role, "device": row.device}
    cells.update({axis: row.point.get(axis, "") for axis in AXES})
    cells.update({"status": "ok", **columns("launch", row.times), "samples": len(row.times), "discarded": 0})
    for phase in ("data", "forward", "backward", "update"):
        cells.update(columns(phase, row.phases.get(phase, [])))
    cells.update({**work_of(row, row.known), "flops_at_least": "1" if row.at_least else ""})
    return {**cells, "time_known": "measured", "remarks": "; ".join(remarks)}


def layer_cells(layer: Layer, known: str) -> folder.Row:
    return {"layer": layer.name, "kind": layer.kind, "phase": layer.phase, **columns("time", layer.times), "samples": len(layer.times),
            **work_of(layer, known)}


def machine_of(files: Sequence[Imported], name: str) -> Dict[str, Any]:
    models: Dict[str, str] = {}
    for imported in files:
        for row in imported.rows:
            models[row.device] = models.get(row.device) or imported.models.get(row.device, "")
    return {"name": name,
            "devices": [{"name": device, "kind": device.partition(":")[0], "model": model, "levels": []} for device, model in sorted(models.items())]}


def plan_of(files: Sequence[Imported]) -> str:
    rows = (f"# {one.format}: {len(one.rows)} row{'s' * (len(one.rows) != 1)}\n" for one in files)
    return "name: import\ndescription: measured by other tools, and imported\n" + "".join(rows)


def require_free(place: Path) -> None:
    if folder.holds(place, (*folder.RESULTS, *(kind.file for kind in RECORDS))):
        raise InputError(f"{place} holds an import or other results already; give --out another folder")


def write(place: Path, files: Sequence[Imported], machine: str) -> None:
    """Raises InputError if the folder has results or cannot be written, and for two rows of one name."""
    ids: List[str] = [identity(row) for imported in files for row in imported.rows]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice:
        raise InputError(f"two rows are called '{printable(twice)}'; import the files one by one with --name")
    require_free(place)
    rows = [(measurement(row, imported), [], [layer_cells(layer, row.known) for layer in row.layers]) for imported in files for row in imported.rows]
    records = []
    for kind in RECORDS:
        lines = [(identity(row), row.of(kind)) for imported in files for row in imported.rows]
        if any(found for _, found in lines):
            cells = chain.from_iterable((record.cells(name) for record in found) for name, found in lines)
            records.append((kind.file, kind.columns(), cells))
    try:
        folder.put(place, plan_of(files), machine_of(files, machine), rows, records, lambda: require_free(place))
    except OSError as error:
        raise InputError(f"{error.filename or place}: {error.strerror}") from None

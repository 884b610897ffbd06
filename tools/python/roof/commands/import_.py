"""`roof import`: converts files of other tools into a results folder, which `roof report` and `roof compare` read like
any other."""

import argparse
import difflib
import gc
import json
import os
import sys
from itertools import chain
from pathlib import Path
from typing import Any, Dict, List, Sequence

from roof import folder
from roof.commands import Words
from roof.estimates import columns
from roof.importing import RECORDS, Call, Copy, Counter, Imported, Kernel, Row
from roof.importing.files import import_file
from roof.steps import PHASES
from roof.texts import InputError, how_many, printable

DEVICES = ("cpu", "gpu")
AXES = ("model", "operation", "precision", "path")  #: in the order of the columns
COUNTED = {"kernels": Kernel, "calls": Call, "copies": Copy, "counters": Counter}


def options(arguments: List[str]) -> argparse.Namespace:
    words = Words("import", "json", "machine out name device", machine="imported")
    words.add_argument("files", nargs="+", metavar="FILE", type=Path)
    given = words.parse_intermixed_args(arguments)
    if given.name and len(given.files) > 1:
        raise InputError("--name names the row of one file; import them one by one")
    kind = given.device.partition(":")[0]
    if given.device and kind not in DEVICES:
        near = difflib.get_close_matches(kind, DEVICES, 1)
        raise InputError(f"unknown device '{printable(given.device)[:100]}'"
                         + (f"; did you mean '{near[0]}'?" if near else "") + f"; legal values: {', '.join(DEVICES)}")
    return given


def rename_device(imported: Imported, device: str) -> None:
    devices = {row.device for row in imported.rows}
    if len(devices) != 1:
        raise InputError(f"--device names one device, and the file has {len(devices)}")
    imported.models = {device: imported.models.get(devices.pop(), "")}
    for named in chain.from_iterable([row, *row.records] for row in imported.rows):
        if hasattr(named, "device"):
            named.device = device


def default_folder(machine: str, file: Path) -> Path:
    """In the results as the program finds them: ROOF_RESULTS, the folder `results` here, or one in the user's data."""
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    place = Path(os.environ.get("ROOF_RESULTS") or "results")
    if not os.environ.get("ROOF_RESULTS") and not place.is_dir():
        place = data / "roof" if data.is_absolute() else Path.home() / ".local/share/roof"
    if not place.exists():
        print(f"results are kept in {place}; to keep them elsewhere, set ROOF_RESULTS or make a folder 'results' here",
              file=sys.stderr)
    made = place / machine / file.stem
    if made.is_symlink():
        raise InputError(f"{made} is a link: --out names the folder to write")
    return made


# ------------------------------------------------------------------------------------------------ the results folder
def identity(row: Row) -> str:
    return folder.identity("import", row.device, {axis: row.point.get(axis, "") for axis in AXES})


def work_of(part: Any, known: str) -> folder.Row:
    return {"flops": part.flops or "", "executed_flops": part.executed or "", "compulsory_bytes": part.compulsory or "",
            "no_reuse_bytes": part.no_reuse or "", "work_known": known}


def measurement(row: Row, imported: Imported) -> folder.Row:
    cells: folder.Row = {"id": identity(row), "bench": "import", "role": row.role, "device": row.device}
    cells.update({axis: row.point.get(axis, "") for axis in AXES})
    cells.update({"status": "ok", **columns("launch", row.times), "samples": len(row.times), "discarded": 0})
    for phase in ("data", *PHASES):
        cells.update(columns(phase, row.phases.get(phase, [])))
    remarks = [f"imported from {imported.format}", *(f"missing: {one}" for one in imported.missing), *imported.remarks]
    return {**cells, **work_of(row, row.known), "flops_at_least": "1" if row.at_least else "", "time_known": "measured",
            "remarks": "; ".join(remarks)}


def write(place: Path, files: Sequence[Imported], machine: str) -> None:
    """Raises InputError if the folder has results or cannot be written, and for two rows of one name."""
    all_rows = [(row, imported) for imported in files for row in imported.rows]
    ids = [identity(row) for row, _ in all_rows]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice:
        raise InputError(f"two rows are called '{printable(twice)}'; import the files one by one with --name")

    def require_free() -> None:
        if folder.holds(place, (*folder.RESULTS, *(kind.file for kind in RECORDS))):
            raise InputError(f"{place} holds an import or other results already; give --out another folder")

    require_free()
    models: Dict[str, str] = {}
    for row, imported in all_rows:
        models[row.device] = models.get(row.device) or imported.models.get(row.device, "")
    devices = [{"name": device, "kind": device.partition(":")[0], "model": model, "levels": []}
               for device, model in sorted(models.items())]
    plan = "name: import\ndescription: measured by other tools, and imported\n" + "".join(
        f"# {one.format}: {how_many(len(one.rows), 'row')}\n" for one in files)
    rows = [(measurement(row, imported), [],
             [{"layer": one.name, "kind": one.kind, "phase": one.phase, **columns("time", one.times),
               "samples": len(one.times), **work_of(one, row.known)} for one in row.layers])
            for row, imported in all_rows]
    records = []
    for kind in RECORDS:
        lines = [(name, row.of(kind)) for name, (row, _) in zip(ids, all_rows)]
        if any(found for _, found in lines):
            cells = chain.from_iterable((record.cells(name) for record in found) for name, found in lines)
            records.append((kind.file, kind.columns(), cells))
    try:
        folder.put(place, plan, {"name": machine, "devices": devices}, rows, records, require_free)
    except OSError as error:
        raise InputError(f"{error.filename or place}: {error.strerror}") from None


def summary(file: Dict[str, Any]) -> str:
    """Of a file as JSON has it."""
    lines = [f"{file['file']}: {file['format']}"]
    for row in file["rows"]:
        numbers = (how_many(row[many], "copy" if many == "copies" else many[:-1], many) for many in COUNTED)
        lines.append(f"  {row['id']}: {', '.join(numbers)}")
    lines += [f"  missing for a point on a roofline: {one}" for one in file["missing"]]
    return "\n".join(map(printable, [*lines, *(f"  {one}" for one in file["remarks"])]))


def main(arguments: List[str]) -> int:
    given = options(arguments)
    gc.disable()  # millions of records, without cycles
    imported = [import_file(file, given.name) for file in given.files]
    for one in imported if given.device else []:
        rename_device(one, given.device)
    place = Path(given.out) if given.out else default_folder(given.machine, given.files[0])
    write(place, imported, given.machine)
    files = [{"file": str(file), "format": one.format,
              "rows": [{"id": identity(row), **{many: len(row.of(kind)) for many, kind in COUNTED.items()}}
                       for row in one.rows],
              "missing": one.missing, "remarks": one.remarks} for file, one in zip(given.files, imported)]
    if given.json:
        print(json.dumps({"files": files, "folder": str(place)}, indent=2))
    else:
        print(*map(summary, files), printable(place), sep="\n")
    return 0

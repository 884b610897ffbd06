"""`roof import`: converts files of other tools into a results folder."""

import argparse
import difflib
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List

from roof.commands import Words
from roof.errors import InputError
from roof.importing import Call, Copy, Counter, Imported, Kernel
from roof.importing.files import import_file
from roof.importing.results import identity, write
from roof.texts import how_many, printable

DEVICES = ("cpu", "gpu")


def options(arguments: List[str]) -> argparse.Namespace:
    words = Words("import", "json", "machine out name device", machine="imported")
    words.add_argument("files", nargs="+", metavar="FILE", type=Path)
    given = words.parse_intermixed_args(arguments)
    if given.name and len(given.files) > 1:
        raise InputError("--name names the row of one file; import them one by one")
    kind = given.device.partition(":")[0]
    if given.device and kind not in DEVICES:
        near = difflib.get_close_matches(kind, DEVICES, 1)
        raise InputError(f"unknown device '{printable(given.device)[:100]}'" + (f"; did you mean '{near[0]}'?" if near else "")
                         + f"; legal values: {', '.join(DEVICES)}")
    return given


def rename_device(imported: Imported, device: str) -> None:
    devices = {row.device for row in imported.rows}
    if len(devices) != 1:
        raise InputError(f"--device names one device, and the file has {len(devices)}")
    imported.models = {device: imported.models.get(devices.pop(), "")}
    for row in imported.rows:
        row.device = device
        for record in row.records:
            if hasattr(record, "device"):
                record.device = device


def results_folder() -> Path:
    """As the program finds it: ROOF_RESULTS, or the folder `results` here, or one in the user's data folder."""
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    if os.environ.get("ROOF_RESULTS"):
        return Path(os.environ["ROOF_RESULTS"])
    if Path("results").is_dir():
        return Path("results")
    return data / "roof" if data.is_absolute() else Path.home() / ".local/share/roof"


def default_folder(machine: str, file: Path) -> Path:
    place = results_folder()
    if not place.exists():
        print(f"results are kept in {place}; to keep them elsewhere, set ROOF_RESULTS or make a folder 'results' here", file=sys.stderr)
    folder = place / machine / file.stem
    if folder.is_symlink():
        raise InputError(f"{folder} is a link: --out names the folder to write")
    return folder


def counts(row: Any) -> Dict[str, int]:
    return {"kernels": len(row.of(Kernel)), "calls": len(row.of(Call)), "copies": len(row.of(Copy)), "counters": len(row.of(Counter))}


def summary(file: Path, imported: Imported) -> str:
    lines = [f"{file}: {imported.format}"]
    for row in imported.rows:
        kernels, calls, copies, counters = counts(row).values()
        lines.append(f"  {identity(row)}: {how_many(kernels, 'kernel')}, {how_many(calls, 'call')}, "
                     f"{how_many(copies, 'copy', 'copies')}, {how_many(counters, 'counter')}")
    lines += [f"  missing for a point on a roofline: {one}" for one in imported.missing]
    lines += [f"  {one}" for one in imported.remarks]
    return "\n".join(map(printable, lines))


def main(arguments: List[str]) -> int:
    given = options(arguments)
    gc.disable()  # millions of records, without cycles
    imported = [import_file(file, given.name) for file in given.files]
    for one in imported if given.device else []:
        rename_device(one, given.device)
    place = Path(given.out) if given.out else default_folder(given.machine, given.files[0])
    write(place, imported, given.machine)
    if given.json:
        documents = [{"file": str(file), "format": one.format, "rows": [{"id": identity(row), **counts(row)} for row in one.rows],
                      "missing": one.missing, "remarks": one.remarks} for file, one in zip(given.files, imported)]
        print(json.dumps({"files": documents, "folder": str(place)}, indent=2))
        return 0
    for file, one in zip(given.files, imported):
        print(summary(file, one))
    print(printable(place))
    return 0

"""`roof atlas`: machines of many kinds side by side, from the digests that come with roof, and from calibrations of one's own."""

import os
from pathlib import Path
from typing import List, Tuple

from roof.commands import Words, require
from roof.errors import InputError


def _read(place: Path) -> Tuple[List, int]:
    """The devices of a file of an atlas, of a results folder, or of all files of a folder; and the exit status of a damaged calibration."""
    from roof.fleet.atlas import read_machine
    from roof.fleet.folders import exported

    if (place / "measurements.csv").exists():
        text, status = exported(place, "atlas")
        return read_machine("here", text), status
    if not place.is_dir():
        try:
            return read_machine(place.stem, place.read_bytes()), 0
        except OSError as error:
            raise InputError(f"cannot read {place}: {error.strerror}") from error
    files = sorted(place.glob("*.csv"))
    if not files:
        raise InputError(f"atlas: there are no digests in '{place}'")
    return [device for file in files for device in _read(file)[0]], 0


def _add(words: List[str], folder: str, parser: Words) -> int:
    """A damaged or unfinished calibration is not written: the file is meant to be published."""
    from roof.fleet.atlas import read_machine
    from roof.fleet.folders import exported
    from roof.fleet.tables import say, write_page

    if len(words) != 2:
        parser.error("add: a calibration and a name for its machine")
    text, status = exported(Path(words[0]), "atlas")
    read_machine(words[1], text)
    if status:
        return status
    file = Path(folder or "results/atlas", f"{words[1]}.csv")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {file.parent}: {error.strerror}") from error
    write_page(str(file), text.decode(), is_named=False)
    say(f"{file}\n")
    return 0


def main(arguments: List[str]) -> int:
    parser = Words("atlas", "json", "out")
    parser.add_argument("words", nargs="*")
    options = parser.parse_intermixed_args(arguments)
    require("fleet", "numpy", "scipy")
    from roof.fleet.atlas import BUILT_IN, atlas_page, atlas_table
    from roof.fleet.tables import say, say_json, window, write_page

    if options.words[:1] == ["add"]:
        return _add(options.words[1:], options.out, parser)
    devices, status = _read(BUILT_IN)[0], 0
    for word in options.words:
        if os.path.isdir(word) and not os.path.exists(os.path.join(word, "measurements.csv")):
            devices = []  # a folder of digests replaces those that come with roof
        more, damaged = _read(Path(word))
        devices, status = devices + more, max(status, damaged)
    if options.out:
        write_page(options.out, atlas_page(devices))
    table = atlas_table(devices)
    say_json(table.json()) if options.json else say(table.text(window()))
    return status

"""`roof atlas`: machines of many kinds side by side, those that come with roof and one's own calibrations."""

import os
from pathlib import Path
from typing import List

from roof.commands import Words, require
from roof.fleet.tables import say, show, write_page
from roof.texts import InputError


def _add(words: List[str], folder: str, parser: Words) -> int:
    """A damaged or unfinished calibration is not written: the file is meant to be published."""
    from roof.fleet.atlas import read_machine
    from roof.fleet.folders import exported

    if len(words) != 2:
        parser.error("add: a calibration and a name for its machine")
    text, status = exported(words[0], "atlas")
    read_machine(words[1], text)
    if status == 0:
        file = Path(folder or "results/atlas", f"{words[1]}.csv")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {file.parent}: {error.strerror}") from error
        write_page(str(file), text.decode(), is_named=False)
        say(f"{file}\n")
    return status


def main(arguments: List[str]) -> int:
    parser = Words("atlas", "json", "out")
    parser.add_argument("words", nargs="*")
    options = parser.parse_intermixed_args(arguments)
    require("fleet", "numpy", "scipy")
    from roof.fleet.atlas import BUILT_IN, atlas_page, atlas_table, read_devices

    if options.words[:1] == ["add"]:
        return _add(options.words[1:], options.out, parser)
    devices, status = read_devices(BUILT_IN)
    for word in options.words:
        if os.path.isdir(word) and not os.path.exists(os.path.join(word, "measurements.csv")):
            devices = []  # a folder of digests replaces those that come with roof
        more, damaged = read_devices(Path(word))
        devices, status = devices + more, max(status, damaged)
    if options.out:
        write_page(options.out, atlas_page(devices))
    show(atlas_table(devices), options.json)
    return status

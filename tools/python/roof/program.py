"""Calls the program `roof`: the one that ROOF_PROGRAM names, else that of the wheel, else the one on PATH."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn, Optional, Union

OF_THE_WHEEL = Path(__file__).parent / "program" / "bin" / "roof"


class NotFound(RuntimeError):
    """There is no program `roof`, or it cannot be run."""


def program() -> str:
    """The path of the program. Raises NotFound."""
    found = os.environ.get("ROOF_PROGRAM") or (str(OF_THE_WHEEL) if OF_THE_WHEEL.exists() else shutil.which("roof"))
    if not found:
        raise NotFound("the program roof was not found: install it, put it on PATH, or set ROOF_PROGRAM to its path")
    return found


def installed(name: str) -> Optional[str]:
    """A program in the absolute folders of PATH: a relative folder may be anybody's."""
    folders = filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep))
    return shutil.which(name, path=os.pathsep.join(folders))


def run(*words: str) -> str:
    """Standard output of `roof WORDS`. Raises RuntimeError with its message if it fails, and NotFound."""
    file = program()
    try:
        done = subprocess.run([file, *words], capture_output=True, text=True, check=False)
    except OSError as error:
        place = "ROOF_PROGRAM names" if os.environ.get("ROOF_PROGRAM") else "the program roof is"
        raise NotFound(f"{place} {file}, which cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        raise RuntimeError(f"roof {' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def run_json(*words: str) -> Any:
    return json.loads(run(*words))


def calibrate(*options: str) -> Any:
    """Runs `roof calibrate OPTIONS` (such as "--quick") and returns its document: ceilings in SI units, levels,
    machine."""
    return run_json("calibrate", *options, "--json")


def ceilings(path: Union[str, Path, None] = None) -> Any:
    """The ceilings of a calibration's folder [that of this machine, as `peak` finds it] as a pandas data frame, one row
    each, in SI units."""
    from roof.notebook import pandas
    from roof.peaks import calibration

    return pandas().read_csv(io.StringIO(run("export", str(path or calibration()), "--format", "csv")))


def main() -> NoReturn:
    """The command `roof` of the wheel: this process becomes its program."""
    os.environ.setdefault("ROOF_PYTHON", sys.executable)
    os.execv(OF_THE_WHEEL, [str(OF_THE_WHEEL), *sys.argv[1:]])

"""A results folder as data frames."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union


def pandas() -> Any:
    try:
        import pandas as found
    except ImportError as missing:
        raise ImportError("data frames need pandas: pip install pandas") from missing
    return found


@dataclass
class Run:
    """The tables of a results folder; `samples` and `layers` name their row of `measurements` in the column `id`."""

    folder: Path
    measurements: Any
    samples: Any
    layers: Any


def load(path: Union[str, Path]) -> Run:
    """Reads the folder of a run, a sweep, a calibration or a recording."""
    folder = Path(path)
    for name in ("machine.yaml", "measurements.csv", "samples.csv", "layers.csv"):
        if (folder / name).exists() and not (folder / name).is_file():  # a pipe would wait for a writer
            raise ValueError(f"{folder / name} is no regular file")
    first = (folder / "machine.yaml").read_text(encoding="utf-8").split("\n", 1)[0]
    if first not in ("format: 2", "format: 3"):
        raise ValueError(f"{folder} holds results of another format ({first}), which this version does not read")
    if not (folder / "measurements.csv").exists():
        raise ValueError(f"{folder} has no measurements.csv: its run was stopped before the first row, or it is lost")

    def table(name: str) -> Any:
        file = folder / name
        frame = pandas().read_csv(file) if file.exists() else pandas().DataFrame(columns=["id"])
        return frame.drop(columns=[name for name in frame.columns if name.startswith("row_checksum")])

    return Run(folder, table("measurements.csv"), table("samples.csv"), table("layers.csv"))

"""Writes a results folder as `roof run` does: plan.yaml, machine.yaml, samples.csv, layers.csv, measurements.csv."""

import csv
import io
import json
from pathlib import Path
from typing import Any, Dict, List, Sequence, Union

FORMAT = "format: 2\n"  #: the number of the format, as ert/method/results/results.cpp has it

Row = Dict[str, Union[str, float, int]]


def as_yaml(fields: Dict[str, Any]) -> str:
    """One line for each field; its value is JSON, which YAML contains."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())


def as_csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def identity(bench: str, device: str, point: Dict[str, str]) -> str:
    """The name of a row, as roof forms it: the axes in the order of its columns."""
    return " ".join([bench, device, *(f"{axis}={value}" for axis, value in point.items() if value)])


def write(folder: Union[str, Path], machine: Dict[str, Any], description: str, row: Row, samples: List[Row],
          layers: List[Row]) -> Path:
    """Raises FileExistsError if the folder holds results already. measurements.csv is written last and makes the row count."""
    place = Path(folder)
    if (place / "measurements.csv").exists():
        raise FileExistsError(f"{place} holds results already; name another folder")
    place.mkdir(parents=True, exist_ok=True)
    (place / "plan.yaml").write_text(as_yaml({"name": "pytorch", "description": description}), encoding="utf-8")
    (place / "machine.yaml").write_text(FORMAT + as_yaml(machine), encoding="utf-8")
    identified = {"id": row["id"]}
    (place / "samples.csv").write_text(as_csv([{**identified, **sample} for sample in samples]), encoding="utf-8")
    (place / "layers.csv").write_text(as_csv([{**identified, **layer} for layer in layers]), encoding="utf-8")
    (place / "measurements.csv").write_text(as_csv([row]), encoding="utf-8")
    return place

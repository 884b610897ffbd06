"""Writes a results folder as `roof run` does: plan.yaml, machine.yaml, samples.csv, layers.csv, measurements.csv, checksums.csv."""

import csv
import io
import json
import zlib
from pathlib import Path
from typing import Any, Dict, List, Sequence, Union

FORMAT = "format: 2\n"  #: the number of the format, as ert/method/results/results.cpp has it

Row = Dict[str, Union[str, float, int]]


def as_yaml(fields: Dict[str, Any]) -> str:
    """One line for each field; its value is JSON, which YAML contains."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())


def as_csv(rows: Sequence[Row]) -> str:
    """At least one row, each line with its checksum (docs/reliability.md)."""
    lines, crc = [], 0
    for cells in [list(rows[0]), *(row.values() for row in rows)]:
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(cells)
        line = text.getvalue().replace("\n", " ")
        crc = zlib.crc32((line + "\n").encode(), crc)
        lines.append(f"{line},{crc:08x}\n" if lines else f"{line},crc32\n")
    return "".join(lines)


def seal(place: Path) -> str:
    """checksums.csv: the length and the last checksum of every file."""
    rows: List[Row] = []
    for file in sorted(place.iterdir()):
        content = file.read_bytes()
        end = content[-9:-1].decode() if file.suffix == ".csv" else f"{zlib.crc32(content):08x}"
        rows.append({"file": file.name, "bytes": len(content), "end": end, "edited": ""})
    return as_csv(rows)


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
    (place / "checksums.csv").write_text(seal(place), encoding="utf-8")
    return place

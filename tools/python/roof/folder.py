"""Writes a results folder as `roof run` does: plan.yaml, machine.yaml, samples.csv, layers.csv, measurements.csv, checksums.csv."""

import base64
import csv
import io
import json
import random
import string
import zlib
from pathlib import Path
from typing import Any, Dict, List, Sequence, Union

RECORDED = 'name: "pytorch"\n'  #: the first line of plan.yaml
FORMAT = "format: 3"  #: the number of the format, as ert/method/results/results.cpp has it

Row = Dict[str, Union[str, float, int]]


def as_yaml(fields: Dict[str, Any]) -> str:
    """One line for each field; its value is JSON, which YAML contains."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())


def lines_of(rows: Sequence[Row]) -> List[str]:
    """The header and a line for each row, without line ends; none without rows."""
    lines = []
    for cells in [list(rows[0]), *(row.values() for row in rows)] if rows else []:
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(cells)
        lines.append(text.getvalue().replace("\n", " "))
    return lines


def checksum(lines: Sequence[str]) -> str:
    """Of a block and what stands before it (docs/reliability.md)."""
    total = 0
    for line in lines:
        total = (total * 0x5DEECE66D + zlib.crc32(line.encode())) % 2**48
    return base64.urlsafe_b64encode(total.to_bytes(6, "big")).decode()


def joined(lines: Sequence[str]) -> str:
    return "".join(line + "\n" for line in lines)


def seal(place: Path, last: str, run: str) -> str:
    """checksums.csv: the length of every file, and the last checksum of measurements.csv. Each line is a block."""
    rows: List[Row] = []
    for name, end in {"layers.csv": "", "machine.yaml": None, "measurements.csv": last, "plan.yaml": None, "samples.csv": ""}.items():
        content = (place / name).read_bytes()
        rows.append({"file": name, "bytes": len(content), "end": f"{zlib.crc32(content):08x}" if end is None else end, "edited": ""})
    before, *lines = lines_of(rows)
    proven = [f"{before},block_checksum:{run}"]
    for line in lines:
        before = checksum([before, line, proven[0]])
        proven.append(f"{line},{before}")
    return joined(proven)


def identity(bench: str, device: str, point: Dict[str, str]) -> str:
    """The name of a row, as roof forms it: the axes in the order of its columns."""
    return " ".join([bench, device, *(f"{axis}={value}" for axis, value in point.items() if value)])


def require_free(folder: Union[str, Path], replace: bool) -> Path:
    """The folder. Raises FileExistsError if it holds results; with `replace` only if they are no recording of this package."""
    place = Path(folder)
    if (place / "measurements.csv").exists() and not (replace and (place / "plan.yaml").read_text("utf-8").startswith(RECORDED)):
        raise FileExistsError(f"{place} holds results already; name another folder" +
                              (", since they are no recording" if replace else ", or replace a recording by replace=True"))
    return place


def write(folder: Union[str, Path], machine: Dict[str, Any], description: str, row: Row, samples: List[Row],
          layers: List[Row], replace: bool = False) -> Path:
    """Raises FileExistsError as require_free. measurements.csv is written last and makes the row count."""
    place = require_free(folder, replace)
    place.mkdir(parents=True, exist_ok=True)
    for of_before in ("measurements.csv", "digest.csv"):
        (place / of_before).unlink(missing_ok=True)
    (place / "plan.yaml").write_text(RECORDED + as_yaml({"description": description}), encoding="utf-8")
    run = "".join(random.SystemRandom().choices(string.ascii_lowercase, k=10))
    (place / "machine.yaml").write_text(f"{FORMAT}\nrun: {run}\n" + as_yaml(machine), encoding="utf-8")
    identified = {"id": row["id"]}
    header, line = lines_of([row])
    block, whole = [header, line], f"{header},row_checksum:{run}"
    for name, table in (("samples.csv", samples), ("layers.csv", layers)):
        lines = lines_of([{**identified, **cells} for cells in table])
        block += lines
        (place / name).write_text(joined(lines), encoding="utf-8")
    last = checksum([*block, whole])
    (place / "measurements.csv").write_text(joined([whole, f"{line},{last}"]), encoding="utf-8")
    (place / "checksums.csv").write_text(seal(place, last, run), encoding="utf-8")
    return place

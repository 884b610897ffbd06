"""Writes a results folder as `roof run` does: plan.yaml, machine.yaml, samples.csv, layers.csv, measurements.csv, checksums.csv."""

import base64
import csv
import json
import random
import string
import zlib
from itertools import islice
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Sequence, Tuple, Union

RECORDED = 'name: "pytorch"\n'  #: the first line of plan.yaml
FORMAT = "format: 3"  #: the number of the format, as ert/method/results/results.cpp has it

Row = Dict[str, Union[str, float, int]]


def as_yaml(fields: Dict[str, Any]) -> str:
    """One line for each field; its value is JSON, which YAML contains."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())


def lines_of(rows: Sequence[Row]) -> List[str]:
    """The header and a line for each row, without line ends; none without rows."""
    return [csv_line(cells) for cells in [list(rows[0]), *(row.values() for row in rows)]] if rows else []


def checksum(lines: Sequence[str]) -> str:
    """Of a block and what stands before it (docs/reliability.md)."""
    total = 0
    for line in lines:
        total = (total * 0x5DEECE66D + zlib.crc32(line.encode())) % 2**48
    return base64.urlsafe_b64encode(total.to_bytes(6, "big")).decode()


def joined(lines: Sequence[str]) -> str:
    return "".join(line + "\n" for line in lines)


class _Line:
    """Where csv writes: what it writes is the answer."""

    @staticmethod
    def write(text: str) -> str:
        return text


_WRITER = csv.writer(_Line, lineterminator="")


def csv_line(cells: Iterable[Any]) -> str:
    """A line of CSV, without its end."""
    text: str = _WRITER.writerow(cells)  # type: ignore[assignment]
    return text.replace("\r", " ").replace("\n", " ")


def in_blocks(header: str, lines: Iterable[str], run: str) -> Iterator[str]:
    """The lines of a file with a checksum at the end of each 256 of them (ert/base/checksum.hpp)."""
    whole, before = f"{header},block_checksum:{run}", header
    yield whole
    lines = iter(lines)
    while block := list(islice(lines, 256)):
        before = checksum([before, *block, whole])
        yield from (f"{line}," for line in block[:-1])
        yield f"{block[-1]},{before}"


def seal(place: Path, run: str) -> str:
    """checksums.csv: the length of every file and its last checksum. Each line is a block."""
    lines = []
    for file in sorted(place.iterdir()):
        if file.name == "checksums.csv" or file.suffix not in (".csv", ".yaml"):
            continue
        content = file.read_bytes()
        end = f"{zlib.crc32(content):08x}"
        if file.suffix == ".csv":
            end = "" if file.name in ("samples.csv", "layers.csv") else content[-9:-1].decode()
        lines.append(csv_line([file.name, len(content), end, ""]))
    before = "file,bytes,end,edited"
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
    put(place, RECORDED + as_yaml({"description": description}), machine, [(row, samples, layers)])
    return place


#: A line of measurements.csv with its lines in samples.csv and layers.csv.
WholeRow = Tuple[Row, List[Row], List[Row]]


def put(place: Path, plan: str, machine: Dict[str, Any], rows: Sequence[WholeRow],
        records: Sequence[Tuple[str, Sequence[str], Iterable[Sequence[Any]]]] = ()) -> None:
    """Writes the files of an existing folder. All rows have the same columns. `records`: name, columns and cells of record files."""
    (place / "plan.yaml").write_text(plan, encoding="utf-8")
    run = "".join(random.SystemRandom().choices(string.ascii_lowercase, k=10))
    (place / "machine.yaml").write_text(f"{FORMAT}\nrun: {run}\n" + as_yaml(machine), encoding="utf-8")
    for name, columns, cells in records:
        with open(place / name, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"{line}\n" for line in in_blocks(",".join(columns), map(csv_line, cells), run))
    tables: Dict[str, List[str]] = {"samples.csv": [], "layers.csv": []}
    before, *_ = lines_of([rows[0][0]])
    whole = f"{before},row_checksum:{run}"
    written = [whole]
    for row, *parts in rows:
        line = lines_of([row])[1]
        block = [before, line]
        for table, part in zip(tables.values(), parts):
            lines = lines_of([{"id": row["id"], **cells} for cells in part])
            block += lines
            table += lines if not table else lines[1:]
        before = checksum([*block, whole])
        written.append(f"{line},{before}")
    for name, lines in tables.items():
        if lines:
            (place / name).write_text(joined(lines), encoding="utf-8")
    (place / "measurements.csv").write_text(joined(written), encoding="utf-8")
    (place / "checksums.csv").write_text(seal(place, run), encoding="utf-8")

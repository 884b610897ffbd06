"""Writes a results folder as `roof run` does: plan.yaml, machine.yaml, samples.csv, layers.csv, measurements.csv, checksums.csv."""

import base64
import csv
import ctypes
import errno
import fcntl
import io
import json
import os
import random
import shutil
import string
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence, Tuple, Union

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
    """Writes the files beside the folder, flushes them, and renames: the folder is there whole, as it was before, or not at all.
    Returns the folder. Raises FileExistsError as require_free, also where another process was first, and OSError."""
    place = require_free(folder, replace)
    real = Path(os.path.realpath(place))
    real.parent.mkdir(parents=True, exist_ok=True)
    run = "".join(random.SystemRandom().choices(string.ascii_lowercase, k=10))
    part = real.with_name(f".{real.name[:200]}.{run}.part")
    try:
        part.mkdir()
        write_files(part, run, machine, description, row, samples, layers)
        flush(part)
        try:
            part.rename(real)  # onto nothing, or an empty folder
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            with locked(real):
                require_free(place, replace)
                exchange(part, real)
        flush(real.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return place


def write_files(place: Path, run: str, machine: Dict[str, Any], description: str, row: Row, samples: List[Row],
                layers: List[Row]) -> None:
    (place / "plan.yaml").write_text(RECORDED + as_yaml({"description": description}), encoding="utf-8")
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


def flush(folder: Path) -> None:
    """The files and the names in a folder, to the disk. Some file systems cannot flush names."""
    for path in [*(one for one in folder.iterdir() if one.suffix in (".csv", ".yaml")), folder]:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            os.fsync(descriptor)
        except OSError:
            if path != folder:
                raise
        finally:
            os.close(descriptor)


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """Holds the lock that `roof run` holds on its folder. Raises FileExistsError while another process has it."""
    descriptor = os.open(place / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileExistsError(f"another process writes to {place}") from None
        except OSError:  # a file system without locks
            pass
        if not (place / ".lock").exists() or not os.path.samestat(os.fstat(descriptor), (place / ".lock").stat()):
            raise FileExistsError(f"another process has replaced {place}")
        yield
    finally:
        os.close(descriptor)


def exchange(part: Path, place: Path) -> None:
    """Puts `part` where `place` is, with the files there that are none of a recording; `part` then holds what was replaced."""
    own = {"plan.yaml", "machine.yaml", "samples.csv", "layers.csv", "measurements.csv", "checksums.csv", "digest.csv", ".lock"}
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    at_once, of_working_folder = 2, -100
    if rename is None or rename(of_working_folder, os.fsencode(part), of_working_folder, os.fsencode(place), at_once) != 0:
        aside = part.with_name(part.name + ".old")
        place.rename(aside)
        part.rename(place)
        aside.rename(part)
    for other in list(part.iterdir()):
        if other.name not in own:
            other.rename(place / other.name)


def rank_of_environment() -> Tuple[int, int]:
    """The number of this process among those that run one script at once, and how many they are; (0, 1) where nothing says so."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    for rank, size in (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
                       ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"), ("SLURM_PROCID", "SLURM_NTASKS"), ("LOCAL_RANK", "LOCAL_WORLD_SIZE")):
        numbers = os.environ.get(rank, ""), os.environ.get(size, "")
        if all(number.isdecimal() for number in numbers) and int(numbers[0]) < int(numbers[1]) > 1:
            return int(numbers[0]), int(numbers[1])
    return 0, 1


def of_rank(folder: Union[str, Path]) -> Path:
    """The folder of the first process, and `folder-rankN` of the others."""
    rank = rank_of_environment()[0]
    place = Path(folder)
    return place if rank == 0 else place.with_name(f"{place.name}-rank{rank}")

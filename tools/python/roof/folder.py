"""Writes a results folder as `roof run` does: plan.yaml, machine.yaml, samples.csv, layers.csv, measurements.csv,
checksums.csv."""

import base64
import csv
import ctypes
import errno
import fcntl
import json
import os
import random
import shutil
import string
import sys
import zlib
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

RECORDED = 'name: "pytorch"\n'  #: the first line of plan.yaml
FORMAT = "format: 3"  #: the number of the format, as ert/method/results/results.cpp has it

#: The files of results folders; there are more beside them.
RESULTS = ("plan.yaml", "machine.yaml", "samples.csv", "layers.csv", "measurements.csv", "checksums.csv", "digest.csv")

Row = Dict[str, Union[str, float, int]]


def as_yaml(fields: Dict[str, Any]) -> str:
    """One line for each field; its value is JSON, which YAML contains."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())


def lines_of(rows: Sequence[Row]) -> List[str]:
    """The header and a line for each row, without line ends; none without rows."""
    return [csv_line(cells) for cells in [list(rows[0]), *(row.values() for row in rows)]] if rows else []


def checksum(lines: Iterable[Union[str, bytes]]) -> str:
    """Of a block and what stands before it (docs/reliability.md)."""
    total = 0
    for line in lines:
        total = (total * 0x5DEECE66D + zlib.crc32(line.encode() if isinstance(line, str) else line)) % 2**48
    return base64.urlsafe_b64encode(total.to_bytes(6, "big")).decode()


def joined(lines: Iterable[str]) -> str:
    return "".join(line + "\n" for line in lines)


#: What it writes is its answer.
_WRITER = csv.writer(SimpleNamespace(write=str), lineterminator="")


def csv_line(cells: Iterable[Any]) -> str:
    """A line of CSV, without its end."""
    text: str = _WRITER.writerow(cells)  # type: ignore[assignment]
    return text.replace("\r", " ").replace("\n", " ")


def in_blocks(header: str, lines: Iterable[str], run: str, each: int = 256) -> Iterator[str]:
    """The lines of a file with a checksum at the end of each block of them (ert/base/checksum.hpp)."""
    whole, before = f"{header},block_checksum:{run}", header
    yield whole
    lines = iter(lines)
    while block := list(islice(lines, each)):
        before = checksum([before, *block, whole])
        yield from (f"{line}," for line in block[:-1])
        yield f"{block[-1]},{before}"


def seal(place: Path, run: str) -> str:
    """checksums.csv: the length of every file and its last checksum. Each line is a block."""
    lines = []
    for file in sorted(place.iterdir()):
        content = file.read_bytes()
        end = f"{zlib.crc32(content):08x}"
        if file.suffix == ".csv":
            end = "" if file.name in ("samples.csv", "layers.csv") else content[-9:-1].decode()
        lines.append(csv_line([file.name, len(content), end, ""]))
    return joined(in_blocks("file,bytes,end,edited", lines, run, 1))


def identity(bench: str, device: str, point: Dict[str, str]) -> str:
    """The name of a row, as roof forms it: the axes in the order of its columns."""
    return " ".join([bench, device, *(f"{axis}={value}" for axis, value in point.items() if value)])


def require_free(folder: Union[str, Path], replace: bool) -> Path:
    """The folder. Raises FileExistsError if it holds results, or what is left of them; with `replace` only if they are
    no recording of this package."""
    place = Path(folder)
    plan = place / "plan.yaml"
    is_recording = plan.is_file() and plan.read_text("utf-8", "replace").startswith(RECORDED)
    if holds(place, RESULTS) and not (replace and is_recording):
        remedy = ", since they are no recording" if replace else ", or replace a recording by replace=True"
        raise FileExistsError(f"{place} holds results already; name another folder{remedy}")
    return place


def holds(place: Path, names: Iterable[str]) -> bool:
    """Whether one of these is in the folder, a dangling link or one that cannot be read included."""
    return any(os.path.lexists(place / name) for name in names)


def letters() -> str:
    return "".join(random.SystemRandom().choices(string.ascii_lowercase, k=10))


#: A line of measurements.csv with its lines in samples.csv and layers.csv.
WholeRow = Tuple[Row, List[Row], List[Row]]
Records = Tuple[str, Sequence[str], Iterable[Sequence[Any]]]  #: name, columns and cells of a record file


def write_files(place: Path, plan: str, machine: Dict[str, Any], rows: Sequence[WholeRow],
                records: Sequence[Records]) -> None:
    """All rows have the same columns."""
    (place / "plan.yaml").write_text(plan, encoding="utf-8")
    run = letters()
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


def write(folder: Union[str, Path], machine: Dict[str, Any], description: str, row: Row, samples: List[Row],
          layers: List[Row], replace: bool = False) -> Path:
    """A recording. Returns the folder. Raises FileExistsError as require_free, also where another process was first,
    and OSError."""
    place = require_free(folder, replace)
    plan = RECORDED + as_yaml({"description": description})
    put(place, plan, machine, [(row, samples, layers)], check=lambda: require_free(place, replace))
    return place


def put(place: Path, plan: str, machine: Dict[str, Any], rows: Sequence[WholeRow], records: Sequence[Records] = (),
        check: Optional[Callable[[], Any]] = None) -> None:
    """Writes the files beside the folder, flushes them, and renames: the folder is there whole, as it was before, or
    not at all. `check` raises where a folder that is there may not be changed. Raises OSError."""
    real = Path(os.path.realpath(place))
    real.parent.mkdir(parents=True, exist_ok=True)
    part = real.with_name(f".{real.name[:200]}.{letters()}.part")
    try:
        part.mkdir()
        write_files(part, plan, machine, rows, records)
        flush(*part.iterdir(), part)
        try:
            part.rename(real)  # onto nothing, or an empty folder
        except OSError as error:
            if check is None or error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            with locked(real):
                check()
                exchange(part, real)
        flush(real.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def flush(*paths: Path) -> None:
    """Files, and the names in folders, to the disk. Some file systems cannot flush names."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            os.fsync(descriptor)
        except OSError:
            if not path.is_dir():
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
    """Puts `part` where `place` is, with the files there that are none of a recording; `part` then holds what was
    replaced."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    at_once, here = 2, -100  # of the working folder
    if rename is None or rename(here, os.fsencode(part), here, os.fsencode(place), at_once) != 0:
        aside = part.with_name(part.name + ".old")
        place.rename(aside)
        part.rename(place)
        aside.rename(part)
    for other in list(part.iterdir()):
        if other.name not in (*RESULTS, ".lock"):
            other.rename(place / other.name)


def rank_of_environment() -> Tuple[int, int]:
    """The number of this process among those that run one script at once, and how many they are; (0, 1) where nothing
    says so."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    for rank, size in (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                       ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
                       ("SLURM_PROCID", "SLURM_NTASKS"), ("LOCAL_RANK", "LOCAL_WORLD_SIZE")):
        numbers = os.environ.get(rank, ""), os.environ.get(size, "")
        if all(number.isdecimal() for number in numbers) and int(numbers[0]) < int(numbers[1]) > 1:
            return int(numbers[0]), int(numbers[1])
    return 0, 1


def of_rank(folder: Union[str, Path]) -> Path:
    """The folder of the first process, and `folder-rankN` of the others."""
    rank = rank_of_environment()[0]
    place = Path(folder)
    return place if rank == 0 else place.with_name(f"{place.name}-rank{rank}")

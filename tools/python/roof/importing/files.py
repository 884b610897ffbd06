"""Files to import: their bytes whatever the encoding, their format by the first of them, and the name of what cannot be read."""

import codecs
import gzip
import importlib
import io
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, List

from roof.errors import InputError
from roof.importing import Imported

#: Modules in the order of the checks: perf's lines are also JSON, so perf comes before PyTorch.
READERS = ("nsight_systems", "perf_stat", "nsight_compute", "likwid", "ert_roofline", "kineto", "key_averages")

HEAD = 64 << 10
LARGEST_TEXT = 1 << 30  #: of files that are read at once
MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
SQLITE = b"SQLite format 3\0"

#: Files that other programs convert: their first bytes, the ends of their names, what they are, and what to do.
FOREIGN = (
    (b"", (".nsys-rep", ".qdrep"), "a report of Nsight Systems", "nsys export --type sqlite {}"),
    (b"NVR\0", (".ncu-rep",), "a report of Nsight Compute", "ncu --import {} --csv --page raw --print-units base > FILE.csv"),
    (b"PERFILE2", ("perf.data",), "a recording of `perf record`, which has samples and no counts", "perf stat -j -o FILE.json PROGRAM"),
    (b"PK\x03\x04", (".zip",), "a zip archive", "unzip {}"),
    (b"BZh", (".bz2",), "compressed by bzip2", "bunzip2 {}"),
    (b"\xfd7zXZ\0", (".xz",), "compressed by xz", "unxz {}"),
    (b"\x28\xb5\x2f\xfd", (".zst",), "compressed by zstd", "unzstd {}"),
)
KNOWN = ("Nsight Compute's CSV, Nsight Systems' SQLite export, PyTorch's trace and its table of operators, `perf stat -j` and `-x`, "
         "likwid-perfctr's CSV, the Empirical Roofline Tool's roofline.json")


class Source:
    """A file to import. `name`: as the user gave it; `row`: the row's name in the results."""

    def __init__(self, path: Path, row: str) -> None:
        self.path, self.name, self.row = path, str(path), row
        try:
            with open(path, "rb") as file:
                self.raw = file.read(HEAD)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        self.is_compressed = self.raw.startswith(b"\x1f\x8b")
        with closing(self.stream()) as stream:
            self.head = self._read(stream, HEAD)

    def stream(self) -> BinaryIO:
        """The text in UTF-8, without a byte-order mark and not compressed. What is no text of its encoding is replaced. Reading raises
        OSError, EOFError or zlib.error where the compression is damaged; `read` tells of that."""
        file: BinaryIO = gzip.open(self.path, "rb") if self.is_compressed else open(self.path, "rb")  # type: ignore[assignment]
        try:
            first = file.read(4)
        except (OSError, EOFError, zlib.error):
            file.close()
            raise InputError(f"{self.name}: the compressed file is damaged or cut off") from None
        mark, encoding = next(((mark, name) for mark, name in MARKS if first.startswith(mark)), (b"", "utf-8"))
        file.seek(len(mark))
        if encoding == "utf-8":
            return file
        return io.BufferedReader(_Recoded(file, encoding))  # type: ignore[arg-type]

    def _read(self, stream: BinaryIO, length: int) -> bytes:
        try:
            return stream.read(length)
        except (OSError, EOFError, zlib.error) as error:
            damaged = self.is_compressed or not isinstance(error, OSError)
            raise InputError(f"{self.name}: " + ("the compressed file is damaged or cut off" if damaged else str(error))) from None

    def read(self, stream: BinaryIO, length: int) -> bytes:
        """The next bytes of a stream; empty at its end. Raises InputError."""
        return self._read(stream, length)

    def text(self) -> str:
        """The whole text, up to 1 GiB. Bytes that are no text become U+FFFD."""
        with closing(self.stream()) as stream:
            content = self._read(stream, LARGEST_TEXT + 1)
        if len(content) > LARGEST_TEXT:
            raise InputError(f"{self.name}: it holds more than 1 GiB of text")
        return content.decode("utf-8", "replace")


class _Recoded(io.RawIOBase):
    """A stream of another encoding, as UTF-8."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self.file, self.decoder, self.rest = file, codecs.getincrementaldecoder(encoding)("replace"), b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: bytearray) -> int:  # type: ignore[override]
        while not self.rest:
            piece = self.file.read(HEAD)
            self.rest = self.decoder.decode(piece, final=not piece).encode()
            if not piece:
                break
        length = min(len(into), len(self.rest))
        into[:length], self.rest = self.rest[:length], self.rest[length:]
        return length

    def close(self) -> None:
        self.file.close()
        super().close()


def foreign(source: Source, by_name: bool) -> None:
    """Raises InputError for a file that another program converts, by its first bytes or else by its name."""
    for begin, ends, what, how in FOREIGN:
        if source.name.endswith(ends) if by_name else begin and source.raw.startswith(begin):
            raise InputError(f"{source.name}: this is {what}; convert it: {how.format(source.name)}")


def tables(path: Path) -> List[str]:
    """The names of a database's tables; none if it is damaged."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as base:
            return [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    except sqlite3.Error:
        return []


def import_file(path: Path, row: str = "") -> Imported:
    """The format is recognised by content. The row is named after the file unless `row` is given. Raises InputError for a file of
    another format, and for one that is wrong or cut off."""
    stem = path.name[:-3] if path.name.endswith(".gz") else path.name
    source = Source(path, row or Path(stem).stem)
    if not source.head:
        raise InputError(f"{source.name}: it is empty")
    foreign(source, by_name=False)
    for name in READERS:
        try:
            reader = importlib.import_module(f"roof.importing.{name}")
        except ModuleNotFoundError as error:
            if error.name == f"roof.importing.{name}":
                continue
            raise
        if reader.reads(path, source.head):
            try:
                return reader.read(source)
            except RecursionError:
                raise InputError(f"{source.name}: it is nested too deeply") from None
    foreign(source, by_name=True)
    raise InputError(f"{source.name}: the format is unknown. Known formats: {KNOWN}")

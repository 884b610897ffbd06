"""Files to import: their bytes whatever the encoding, their format by the first of them, and the name of what cannot be
read."""

import csv
import gzip
import importlib
import io
import json
import re
import zlib
from pathlib import Path
from typing import Any, Iterator, List, TextIO, Tuple

from roof.importing import Imported
from roof.texts import InputError

#: Modules in the order of the checks: perf's lines are also JSON, so perf comes before PyTorch.
READERS = ("nsight_systems", "perf_stat", "nsight_compute", "likwid", "ert_roofline", "kineto", "key_averages")

HEAD = 64 << 10
LARGEST_TEXT = 1 << 28  #: of files that are held as a whole
PIECE = 4 << 20  #: characters that are read at once
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)
SQLITE = "SQLite format 3\0"

NSYS, PERF = "nsys export --type sqlite REPORT.nsys-rep", "perf stat -j -o FILE.json PROGRAM"
#: Files that other programs convert: their first bytes, the ends of their names, what they are, and what to do.
FOREIGN = ((b"", ".nsys-rep .qdrep", "a report of Nsight Systems", "nsys export --type sqlite {}"),
           (b"NVR\0", ".ncu-rep", "a report of Nsight Compute",
            "ncu --import {} --csv --page raw --print-units base > FILE.csv"),
           (b"PERFILE2", "perf.data", "a recording of `perf record`, which has samples and no counts", PERF),
           (b"", ".pftrace .perfetto-trace", "a trace of Perfetto", "torch.profiler's export_chrome_trace() is read"),
           (b"PK\x03\x04", ".zip", "a zip archive", "unzip {}"), (b"BZh", ".bz2", "compressed by bzip2", "bunzip2 {}"),
           (b"\xfd7zXZ\0", ".xz", "compressed by xz", "unxz {}"),
           (b"\x28\xb5\x2f\xfd", ".zst", "compressed by zstd", "unzstd {}"),
           (b"\x04\x22\x4d\x18", ".lz4", "compressed by lz4", "unlz4 {}"),
           (b"7z\xbc\xaf", ".7z", "a 7z archive", "7z x {}"),
           (b"", ".tar .tgz .tar.gz", "an archive of files", "tar xf {}"),
           (b"\x89HDF", ".h5 .hdf", "a table in HDF5, as `nsys export` writes it", NSYS),
           (b"PAR1", ".parquet", "a table in Parquet, as `nsys export` writes it", NSYS),
           (b"ARROW1", ".arrow", "a table in Arrow, as `nsys export` writes it", NSYS))
#: Texts of programs whose counts or times another command writes: a part of a line, what they are, and the command.
TEXTS = ((r"^==\d+== (?:NVPROF is profiling|Profiling (?:application|result))", "a text of nvprof",
          "nsys profile --trace=cuda,nvtx PROGRAM, then nsys export --type sqlite"),
         (r'^ *"?Time ?\(%\)"?[ ,]', "a summary of `nsys stats`", NSYS),
         (r"^# (?:To display the perf\.data header|Samples: |Overhead )",
          "the text of `perf report`, which has no counts", PERF),
         (r'^"?(?:Index|Kind)"?,.*(?:KernelName|Kernel_Name)|^"?Name"?,"?Calls"?,"?TotalDuration', "a table of rocprof",
          "torch.profiler's export_chrome_trace()"),
         (r'^\{"(?:Type|data)":.*\n\{"', "an export of Nsight Systems in lines of JSON", NSYS),
         (r"^[^\n]{0,100}\0{9}[^\n]*ustar", "an archive of files", "the one that `tar xf` takes out of it"),
         (r"^version https://git-lfs", "a pointer of Git LFS", "the one that `git lfs pull` puts in its place"),
         (r"(?i)\A\s*<(?:!doctype )?html", "a page of the Web", "the one that the page offers"))
KNOWN = ("Nsight Compute's CSV, Nsight Systems' SQLite export, PyTorch's trace and its table of operators, "
         "`perf stat -j` and `-x`, likwid-perfctr's CSV, the Empirical Roofline Tool's roofline.json")


class Source:
    """A file to import. `name`: as the user gave it; `row`: the row's name in the results."""

    def __init__(self, path: Path, row: str) -> None:
        self.path, self.name, self.row = path, str(path), row
        try:
            if path.stat().st_size == 0:  # as are pipes and /proc/kmsg, whose readers may wait for ever
                raise InputError(f"{path}: it is empty or no regular file")
            with open(path, "rb") as file:
                self.raw = file.read(HEAD)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        with self.stream() as stream:
            self.head = self.read(stream, HEAD)

    def stream(self) -> TextIO:
        """The text, not compressed, without a byte-order mark, for `read`. What its encoding lacks becomes U+FFFD."""
        file: Any = gzip.open(self.path) if self.raw.startswith(b"\x1f\x8b") else open(self.path, "rb")
        first = self.read(file, HEAD)
        file.seek(0)
        return io.TextIOWrapper(file, json.detect_encoding(first), "replace", newline="")

    def read(self, stream: Any, length: int) -> Any:
        """The next characters of a stream; empty at its end. Raises InputError."""
        try:
            return stream.read(length)
        except DAMAGED:
            raise InputError(f"{self.name}: the compressed file is damaged or cut off") from None
        except OSError as error:
            raise InputError(f"{self.name}: {error.strerror}") from None

    def text(self) -> str:
        """The whole text, up to 2**28 characters."""
        pieces: List[str] = []
        with self.stream() as stream:
            while piece := self.read(stream, PIECE):
                pieces.append(piece)
                if sum(map(len, pieces)) > LARGEST_TEXT:
                    raise InputError(f"{self.name}: it holds more than {LARGEST_TEXT} characters")
        return "".join(pieces)

    def table(self, text: str, by: str, begin: int = 0) -> Iterator[Tuple[str, List[str]]]:
        """The cells of each row of a CSV that begins there, with its place: "FILE:3". Raises InputError; also at its
        end where that is not one of a line."""
        lines, before = text[begin:].splitlines(keepends=True), text[:begin].count("\n")
        rows = csv.reader(lines, delimiter=by)
        try:
            for cells in rows:
                yield f"{self.name}:{before + rows.line_num}", cells
        except csv.Error as error:
            raise InputError(f"{self.name}:{before + rows.line_num}: this is no CSV: {error}") from None
        if not text.endswith("\n"):
            raise InputError(f"{self.name}:{before + len(lines)}: the line is cut off")


def import_file(path: Path, row: str = "") -> Imported:
    """The format is recognised by content. The row is named after the file unless `row` is given. Raises InputError for
    a file of another format, and for one that is wrong or cut off."""
    source = Source(path, row or Path(path.name.removesuffix(".gz")).stem)
    name, head = source.name, source.head
    if not head:
        raise InputError(f"{name}: it is empty")
    foreign = [(begin and source.raw.startswith(begin), name.endswith(tuple(ends.split())),
                f"{name}: this is {what}; convert it: {how.format(name)}") for begin, ends, what, how in FOREIGN]
    for by_content, _, sentence in foreign:
        if by_content:
            raise InputError(sentence)
    if head.startswith(SQLITE) and not source.raw.startswith(SQLITE.encode()):
        raise InputError(f"{name}: this is a compressed database; convert it: gunzip {name}")
    for module in READERS:
        reader = importlib.import_module(f"roof.importing.{module}")
        if reader.reads(head):
            try:
                found: Imported = reader.read(source)
                found.missing, found.remarks = (list(dict.fromkeys(one)) for one in (found.missing, found.remarks))
                return found
            except RecursionError:
                raise InputError(f"{name}: it is nested too deeply") from None
            except MemoryError:
                raise InputError(f"{name}: there is not enough memory to read it") from None
    for _, by_name, sentence in foreign:
        if by_name:
            raise InputError(sentence)
    for line, what, how in TEXTS:
        if re.search(line, head, re.MULTILINE):
            raise InputError(f"{name}: this is {what}; a file that can be read: {how}")
    raise InputError(f"{name}: the format is unknown. Known formats: {KNOWN}")

"""The digests of a fleet (digest.csv), found in folders that anybody may have written.

Only regular files are read, no link is followed, and a folder that cannot be used is one row with its reason.
"""

import base64
import csv
import datetime
import hashlib
import math
import multiprocessing
import os
import re
import stat
import subprocess
import sys
import zlib
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from roof.errors import InputError, printable
from roof.fleet.nodes import NODE_NAME
from roof.fleet.tables import shortened
from roof.program import program

HEADER = "what,name,value,low,high,unit,state,n,spec"
FACTS = ("node", "kind", "plan", "revision", "time")
LARGEST = 1 << 20  #: bytes of the text, and of the file
MOST_LEVELS, MOST_ENTRIES = 6, 1_000_000
MOST_BYTES = 64 << 20  #: of a folder without a digest; a calibration has 3 MB
KINDS = ("fact", "ceiling", "link", "end")
DIGITS = re.compile("[0-9.eE+-]*")


class Rates(NamedTuple):
    """Ceilings or links of one digest. Equal names, units and states of many digests are one object."""

    names: Tuple[str, ...]
    units: Tuple[str, ...]
    states: Tuple[str, ...]
    numbers: np.ndarray  #: a row each as the properties have it

    @property
    def value(self) -> np.ndarray:
        """SI."""
        return self.numbers[0]

    @property
    def low(self) -> np.ndarray:
        return self.numbers[1]

    @property
    def high(self) -> np.ndarray:
        """Infinity for a lower bound, which cannot be compared."""
        return self.numbers[2]

    @property
    def spec(self) -> np.ndarray:
        """What the core's spec allows; 0 if there is none."""
        return self.numbers[3]

    @property
    def rounds(self) -> np.ndarray:
        """0: not known."""
        return self.numbers[4]

    def some(self, places: List[int]) -> "Rates":
        return Rates(*(tuple(words[k] for k in places) for words in self[:3]), self.numbers[:, places])


@dataclass
class Digest:
    node: str
    kind: str  #: CPU and its threads; the GPUs
    plan: str  #: fingerprint of plan.yaml
    revision: str  #: of roof
    time: str  #: UTC, ISO 8601, of the newest row
    run: str
    facts: Dict[str, str]
    ceilings: Rates
    links: Rates
    seconds: float = 0.0  #: of `time`, from 1970

    def key(self) -> Tuple[str, ...]:
        return self.node, self.kind, self.plan, self.revision, self.time


@dataclass
class Fleet:
    digests: List[Digest]  #: ordered by node, kind, plan, revision and time, whatever the order of the files
    refused: List[Tuple[str, str]] = field(default_factory=list)  #: folders, and why they cannot be used
    expected: Dict[str, Dict[str, str]] = field(default_factory=dict)  #: nodes that should have a digest, with facts
    notes: List[str] = field(default_factory=list)
    damaged: Dict[str, str] = field(default_factory=dict)  #: nodes of which a folder cannot be used, as its path or machine.yaml names them


def seconds_of(time: str) -> float:
    """Of "2026-11-22T18:02:16Z". What follows the day may be missing or wrong: then it is midnight. Raises ValueError."""
    day = datetime.date(int(time[:4]), int(time[5:7]), int(time[8:10]))
    seconds, unit = (day - datetime.date(1970, 1, 1)).days * 86400.0, 3600.0
    for place in (11, 14, 17):
        part = time[place : place + 2]
        if len(part) < 2 or not part.isascii() or not part.isdigit() or int(part) > 61:
            break
        seconds += unit * int(part)
        unit /= 60
    return seconds


def _checksum(lines: Iterable[bytes]) -> bytes:
    """docs/reliability.md."""
    total = 0
    for line in lines:
        total = (total * 0x5DEECE66D + zlib.crc32(line)) & 0xFFFFFFFFFFFF
    return base64.urlsafe_b64encode(total.to_bytes(6, "big"))


def _decompressed(file: bytes) -> bytes:
    text = b""
    while file:
        unpacker = zlib.decompressobj(31)
        try:
            text += unpacker.decompress(file, LARGEST + 1 - len(text))
        except zlib.error as error:
            raise InputError("it is damaged: it cannot be decompressed") from error
        if len(text) > LARGEST:
            raise InputError("it is longer than 1 MiB")
        if not unpacker.eof:
            raise InputError("it is damaged: its compressed form is cut off")
        file = unpacker.unused_data
    return text


class _Reader:
    """Parses digests. Raises InputError with a sentence that begins with the line, where one is to blame."""

    def __init__(self) -> None:
        self._shared: Dict[Tuple[str, ...], Tuple[str, ...]] = {}

    def digest(self, file: bytes) -> Tuple[Digest, str]:
        """With the last checksum."""
        if len(file) > LARGEST:
            raise InputError("it is longer than 1 MiB")
        text = _decompressed(file) if file[:2] == b"\x1f\x8b" else file
        lines = text.split(b"\n")
        header = lines[0].decode("utf-8", "replace")
        names, _, run = header.partition(",block_checksum")
        if names not in (HEADER, HEADER + ",rounds") or (run and not run.startswith(":")):
            raise InputError("its columns are not those of a digest, or have no checksums")
        if lines.pop() or len(lines) < 2:
            raise InputError("it is cut off")
        last = _prove(lines, names.encode(), [header.encode()] if run else [])
        is_simple = max(map(len, lines)) <= 200 and b'"' not in text
        return self._read(_columns(text[len(lines[0]) + 1 : -1], names.count(",") + 1, len(lines) - 1, is_simple), run[1:]), last

    def _read(self, columns: List[List[str]], run: str) -> Digest:
        kinds, names = columns[:2]
        number = [kinds.count(kind) for kind in KINDS]
        order = range(len(kinds))
        if kinds != [kind for kind, n in zip(KINDS, number) for _ in range(n)]:
            unknown = next((k for k, kind in enumerate(kinds) if kind not in KINDS), None)
            if unknown is not None:
                raise InputError(f"{unknown + 2}: it is no fact, ceiling, link or end")
            if "end" in kinds[:-1]:
                raise InputError(f"{kinds.index('end') + 3}: it stands after the end")
            order = sorted(order, key=lambda k: KINDS.index(kinds[k]))
            columns = [[column[k] for k in order] for column in columns]
            kinds, names = columns[:2]
        if number[3] != 1 or columns[2][-1] != str(len(kinds) - 1):
            raise InputError("it is cut off")
        if len(set(zip(kinds, names))) < len(names):
            raise InputError("a name stands twice")
        facts = dict(zip(names[: number[0]], columns[2]))
        for fact in FACTS:
            if not facts.get(fact):
                raise InputError(f"it names no {fact}")
        first = [facts.pop(fact) for fact in FACTS]
        if not NODE_NAME.fullmatch(first[0]):
            raise InputError(f"'{first[0]}' is no node's name")
        try:
            if not re.match(r"\d{4}-\d\d-\d\dT", first[4], re.ASCII):
                raise ValueError
            seconds = seconds_of(first[4])
        except ValueError as error:
            raise InputError(f"'{first[4]}' is no time") from error
        end = number[0] + number[1]
        for link in names[end:-1]:
            if len(link.split(" ")) != 2 or not all(map(NODE_NAME.fullmatch, link.split(" "))):
                raise InputError(f"'{shortened(link, 40)}' are not the names of two nodes")
        ceilings, links = (self._rates(columns, order, slice(*ends)) for ends in ((number[0], end), (end, len(kinds) - 1)))
        return Digest(*first, run, facts, ceilings, links, seconds)

    def _rates(self, columns: List[List[str]], order: Sequence[int], at: slice) -> Rates:
        of_rates = [column[at] for column in columns]
        n, counts = len(of_rates[0]), of_rates[7] + (of_rates[9] if len(columns) > 9 else [])
        rates = of_rates[2] + of_rates[3] + [text or "inf" for text in of_rates[4]] + [text or "inf" for text in of_rates[8]]
        is_well, numbers = False, np.zeros((5, n))
        try:
            numbers[:4] = np.frombuffer(array("d", map(float, rates))).reshape(4, n)
            whole = list(map(int, counts))
            value, low, high, spec = numbers[:4]
            is_well = bool((low > 0).all() and (low <= value).all() and (value <= high).all() and np.isfinite(value).all() and (spec > 0).all())
            is_well = is_well and DIGITS.fullmatch("".join(sum((of_rates[k] for k in (2, 3, 4, 8)), counts))) is not None and min(whole, default=0) >= 0
        except (ValueError, OverflowError):
            pass
        if n and not is_well:
            raise InputError(next(filter(None, (_fault(row, k + 2) for row, k in zip(zip(*of_rates), order[at]))), "its numbers cannot be read"))
        numbers[3, np.isinf(numbers[3])] = 0
        numbers[4] = whole[n:] if len(whole) > n else 0
        words = (tuple(of_rates[k]) for k in (1, 5, 6))
        return Rates(*(self._shared.setdefault(word, word) for word in words), numbers)


def _prove(lines: List[bytes], before: bytes, run_header: List[bytes]) -> str:
    """The last checksum; each block has one in its last line (docs/reliability.md)."""
    first = 1
    for end in [k for k, line in enumerate(lines) if k and not line.endswith(b",")]:
        last, _, stated = lines[end].rpartition(b",")
        if stated != _checksum([before, *[line[:-1] for line in lines[first:end]], last, *run_header]):
            raise InputError(f"{first + 1}: this line or one to {end + 1} is not as it was written, or of another run")
        before, first = stated, end + 1
    if first < len(lines):
        raise InputError("it is cut off")
    return before.decode()


def _columns(text: bytes, width: int, rows: int, is_simple: bool) -> List[List[str]]:
    """Without the column of the checksums."""
    try:
        body = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("it is no UTF-8") from error
    cells = body.replace("\n", ",").split(",") if is_simple else [cell for row in csv.reader(body.split("\n")) for cell in row]
    if len(cells) != rows * (width + 1):
        raise InputError(f"its lines have not {width + 1} cells each, as its header has")
    if not is_simple and any(len(cell.encode()) > 200 for cell in cells):
        raise InputError("a cell is too long")
    return [cells[k :: width + 1] for k in range(width)]


def _fault(row: Sequence[str], number: int) -> str:
    """What is wrong with the numbers of a line; empty if nothing is."""
    for k in (2, 3, 4, 8):
        if (row[k] or k < 4) and not (re.fullmatch(r"\d*\.?\d+(e[+-]?\d+)?|\d+\.", row[k], re.ASCII | re.I) and 0 < float(row[k]) < math.inf):
            return f"{number}: '{shortened(row[k], 40)}' is no number above 0"
    if float(row[3]) > float(row[2]) or (row[4] and float(row[2]) > float(row[4])):
        return f"{number}: the value lies outside its interval"
    for k, what in ((7, "samples"), (9, "rounds")):
        if k < len(row) and not re.fullmatch(r"\d{1,9}", row[k], re.ASCII):
            return f"{number}: '{shortened(row[k], 40)}' is no number of {what}"
    return ""


def parse_digest(file: bytes, name: str, reader: Optional[_Reader] = None) -> Tuple[Digest, str]:
    """`file`: the text, or its compressed form. With its last checksum. Raises InputError, which begins with `name`."""
    try:
        return (reader or _Reader()).digest(file)
    except InputError as error:
        raise InputError(f"{name}:{'' if str(error)[:1].isdigit() else ' '}{printable(str(error))}") from error


def _read_regular(file: str, most: int) -> bytes:
    """The content of a regular file that is no link. Raises InputError."""
    name = os.path.basename(file)
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"{name} is no regular file" if os.path.islink(file) else f"{name}: {error.strerror}") from error
    with open(descriptor, "rb") as content:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{name} is no regular file")
        if status.st_size > most:
            raise InputError(f"{name} is larger than {most >> 20} MiB")
        return content.read()


def _machine_lines(folder: str) -> List[str]:
    try:
        return _read_regular(f"{folder}/machine.yaml", MOST_BYTES).decode("utf-8", "replace").split("\n")
    except InputError:
        return []


def _value_in(lines: List[str], key: str) -> str:
    return next((line[len(key) + 1 :].strip().strip("\"'") for line in lines if line.startswith(key + ":")), "")


def exported(folder: Path, form: str, *options: str, quiet: bool = False) -> Tuple[bytes, int]:
    """What `roof export FOLDER --format FORM` writes, and its exit status: 1 for a folder that is damaged or not finished, which it names.

    `quiet`: raises InputError with what it says instead.
    """
    done = subprocess.run([program(), "export", str(folder), "--format", form, *options], capture_output=True, check=False)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode and (quiet or done.returncode != 1):
        raise InputError((said.splitlines() or ["it cannot be read"])[0].replace("roof: ", "", 1))
    sys.stderr.write(said)
    return done.stdout, done.returncode


def _read_some(places: List[Tuple[str, bool]]) -> List[Union[Tuple[Digest, str], str]]:
    """The digest of each folder with its last checksum, or why it cannot be used. With a place: whether it has a machine.yaml."""
    reader, read = _Reader(), []  # type: ignore[var-annotated]
    for place, has_machine in places:
        try:
            digest, fingerprint = parse_digest(_read_regular(f"{place}/digest.csv", LARGEST), "digest.csv", reader)
            run = _value_in(_machine_lines(place)[:2], "run") if has_machine else ""
            if run and run != digest.run:
                raise InputError("digest.csv is of another run than machine.yaml")
            read.append((digest, fingerprint))
        except InputError as error:
            read.append(str(error))
    return read


def _read_all(places: List[Tuple[str, bool]]) -> Iterable[Union[Tuple[Digest, str], str]]:
    """The same, of many folders on all processors."""
    chunk = 250
    chunks = [places[k : k + chunk] for k in range(0, len(places), chunk)]
    try:
        if len(chunks) < 4:
            raise OSError
        with multiprocessing.get_context("fork").Pool() as pool:
            return [one for some in pool.map(_read_some, chunks, 1) for one in some]
    except OSError:  # few, or no second process can be made
        return _read_some(places)


class _Search:
    def __init__(self, fleet: Fleet):
        self.fleet = fleet
        self.found: List[Tuple[Digest, str, str]] = []  # with the fingerprint and the folder
        self.with_digest: List[Tuple[str, bool]] = []
        self.entries = 0

    def folder(self, place: str, level: int = 0) -> None:
        folders, files = [], set()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    self.entries += 1
                    if self.entries > MOST_ENTRIES:
                        raise InputError("a fleet has at most 1,000,000 files and folders")
                    folders.append(entry.path) if entry.is_dir(follow_symlinks=False) else files.add(entry.name)
        except OSError as error:
            self.fleet.refused.append((place, f"it cannot be read: {error.strerror}"))
        if "digest.csv" in files:
            self.with_digest.append((place, "machine.yaml" in files))
        elif "measurements.csv" in files:
            try:
                self._make(Path(place), files)
            except InputError as error:
                self._refuse(place, str(error))
        if level < MOST_LEVELS:
            for inner in sorted(folders):
                self.folder(inner, level + 1)

    def _refuse(self, place: str, reason: str, not_of: str = "") -> None:
        self.fleet.refused.append((place, reason))
        node = _node_of(Path(place))
        if node and node != not_of:
            self.fleet.damaged[node] = reason

    def _make(self, place: Path, files) -> None:
        """The digest of a folder without one, which is kept where the folder can be written; none of a run of training steps."""
        size = 0
        for name in files:
            try:
                status = os.lstat(place / name)
            except OSError:
                continue  # another process's temporary file
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{name} is no regular file")
            size += status.st_size
        if size > MOST_BYTES:
            raise InputError("it has no digest, and more than 64 MiB to make one from")
        text, status = exported(place, "digest", quiet=True)
        if not text:
            return
        if not _value_in(_machine_lines(str(place)), "node"):
            raise InputError("its machine.yaml names no node")
        self.found.append((*parse_digest(text, "digest.csv"), str(place)))
        exported(place, "digest", "--out", str(place / "digest.csv"), quiet=True)  # fails in a folder that can only be read

    def digests(self) -> List[Digest]:
        """In their order. A copy in another folder counts once, and is named: it may stand in the place of another node's."""
        for (place, _), read in zip(self.with_digest, _read_all(self.with_digest)):
            if isinstance(read, str):
                self._refuse(place, read)
            else:
                self.found.append((*read, place))
        self.found.sort(key=lambda one: (one[0].key(), one[1:]))
        digests: List[Digest] = []
        before, first = "", ""
        for digest, fingerprint, place in self.found:
            if fingerprint != before:
                digests.append(digest)
                before, first = fingerprint, place
            elif not os.path.samefile(first, place):
                self._refuse(place, f"its digest is that of {first} and counts once", digest.node)
        return digests


def _node_of(place: Path) -> str:
    """The node whose folder this is: as machine.yaml has it, else by the folder's name; empty if neither is one's."""
    folder = place.parent.name if place.name in ("cpu", "gpu") else place.name  # as `roof fleet script` lays them out
    names = (_value_in(_machine_lines(str(place)), "node"), folder)
    return next((name for name in names if NODE_NAME.fullmatch(name)), "")


def read_fleet(folders: List[str]) -> Fleet:
    """Finds the results folders in `folders`, down to six levels. Raises InputError for a folder that is none."""
    fleet = Fleet([])
    search = _Search(fleet)
    for folder in folders:
        if not os.path.isdir(folder):
            raise InputError(f"there is no folder {folder}")
        search.folder(folder.rstrip("/") or "/")
    fleet.digests = search.digests()
    fleet.refused.sort()
    cut = sum("left out" in digest.facts for digest in fleet.digests)
    if cut:
        fleet.notes.append(f"{cut} of {len(fleet.digests)} digests {'lacks' if cut == 1 else 'lack'} rates that did not fit, which are not "
                           "judged: see `left out` there. The run makes a whole one where digest.csv is deleted.")
    return fleet


def _hidden(names: Iterable[str], stem: str) -> Dict[str, str]:
    """New names, in an order that does not show that of the names."""
    order = sorted(set(names), key=lambda name: hashlib.sha256(name.encode()).digest())
    return {name: f"{stem}-{number}" for number, name in enumerate(order, 1)}


def anonymise(fleets: List[Fleet]) -> None:
    """Other names for nodes, the values of facts of expected nodes, and folders. A node has one name in all fleets."""
    names = {name for fleet in fleets for digest in fleet.digests for name in (digest.node, *" ".join(digest.links.names).split())}
    names |= {node for fleet in fleets for node in (*fleet.expected, *fleet.damaged)}
    nodes = _hidden(names, "node")
    values: Dict[str, set] = {}
    for fleet in fleets:
        for facts in fleet.expected.values():
            for key, value in facts.items():
                values.setdefault(key, set()).add(value)
    hidden = {key: _hidden(of_key, key) for key, of_key in values.items()}
    for fleet in fleets:
        for digest in fleet.digests:
            digest.node = nodes[digest.node]
            links = tuple(" ".join(nodes[end] for end in name.split(" ")) for name in digest.links.names)
            digest.links = digest.links._replace(names=links)
        fleet.digests.sort(key=Digest.key)
        fleet.expected = {nodes[node]: {key: hidden[key][value] for key, value in facts.items()} for node, facts in fleet.expected.items()}
        fleet.refused = [("a folder", "left out: it may hold names") for _ in fleet.refused]
        fleet.damaged = {nodes[node]: "its folder cannot be used" for node in fleet.damaged}

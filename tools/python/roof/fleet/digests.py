"""digest.csv: the ceilings of a run, as it is written (analysis/fleet/digest.hpp) and proven."""

import csv
import datetime
import math
import re
import zlib
from array import array
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Dict, List, NamedTuple, Sequence, Tuple

import numpy as np

from roof.errors import InputError
from roof.fleet.nodes import NODE_NAME
from roof.fleet.tables import shortened
from roof.folder import checksum

HEADER = "what,name,value,low,high,unit,state,n,spec"
FACTS = ("node", "kind", "plan", "revision", "time")
LARGEST, LONGEST = 1 << 20, 200  #: bytes of the text, and of the file; characters of a cell
KINDS = ("fact", "ceiling", "link", "end")
DIGITS = re.compile("[0-9.eE+-]*")


class Rates(NamedTuple):
    """Ceilings or links of one digest. Equal names, units and states of many digests are one object.

    `numbers`: rows of the value in SI; low; high, infinite for a lower bound, which cannot be compared; what the core's
    spec allows, 0 if there is none; rounds, 0 if they are not known."""

    names: Tuple[str, ...]
    units: Tuple[str, ...]
    states: Tuple[str, ...]
    numbers: np.ndarray

    value, low, high, spec, rounds = (property(lambda self, k=k: self.numbers[k]) for k in range(5))

    def some(self, places: Sequence[int]) -> "Rates":
        return Rates(*(tuple(words[k] for k in places) for words in self[:3]), self.numbers[:, list(places)])


NO_RATES = Rates((), (), (), np.zeros((5, 0)))
_shared = lru_cache(maxsize=None)(tuple)  # the first of equal ones


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

    def common_rates(self, other: "Digest") -> Tuple[Rates, Rates]:
        """Of this and of the other digest: the ceilings that both have and that are no lower bounds."""
        places, theirs = ({name: k for k, name in enumerate(c.names) if c.high[k] < math.inf}
                          for c in (self.ceilings, other.ceilings))
        names = [name for name in theirs if name in places]
        return self.ceilings.some([places[n] for n in names]), other.ceilings.some([theirs[n] for n in names])


def seconds_of(time: str) -> float:
    """Of "2026-11-22T18:02:16Z"; midnight where what follows the day is missing or wrong. Raises ValueError."""
    day = datetime.date(int(time[:4]), int(time[5:7]), int(time[8:10]))
    seconds, unit = (day - datetime.date(1970, 1, 1)).days * 86400.0, 3600.0
    for place in (11, 14, 17):
        part = time[place : place + 2]
        if len(part) < 2 or not part.isascii() or not part.isdigit() or int(part) > 61:
            break
        seconds += unit * int(part)
        unit /= 60
    return seconds


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


def _prove(lines: List[bytes], before: bytes, run_header: List[bytes]) -> str:
    """The last checksum; each block has one in its last line (docs/reliability.md)."""
    first = 1
    for end in [k for k, line in enumerate(lines) if k and not line.endswith(b",")]:
        last, _, stated = lines[end].rpartition(b",")
        if stated.decode("latin-1") != checksum([before, *(line[:-1] for line in lines[first:end]), last, *run_header]):
            raise InputError(f"{first + 1}: this line or one to {end + 1} is not as it was written, or of another run")
        before, first = stated, end + 1
    if first < len(lines):
        raise InputError("it is cut off")
    return before.decode()


def _columns(text: bytes, width: int, rows: int) -> List[List[str]]:
    """Without the column of the checksums."""
    try:
        cells = list(chain.from_iterable(csv.reader(text.decode("utf-8").split("\n"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError("it is no CSV in UTF-8") from error
    if len(cells) != rows * (width + 1):
        raise InputError(f"its lines have not {width + 1} cells each, as its header has")
    if max(map(len, cells)) > LONGEST:
        raise InputError("a cell is too long")
    return [cells[k :: width + 1] for k in range(width)]


def _parse(columns: List[List[str]], run: str) -> Digest:
    kinds, names = columns[:2]
    if unknown := [k for k, kind in enumerate(kinds) if kind not in KINDS]:
        raise InputError(f"{unknown[0] + 2}: it is no fact, ceiling, link or end")
    if "end" in kinds[:-1]:
        raise InputError(f"{kinds.index('end') + 3}: it stands after the end")
    if kinds[-1] != "end" or columns[2][-1] != str(len(kinds) - 1):
        raise InputError("it is cut off")
    if len(set(zip(kinds, names))) < len(names):
        raise InputError("a name stands twice")
    at = {kind: [k for k, one in enumerate(kinds) if one == kind] for kind in KINDS}
    facts = {names[k]: columns[2][k] for k in at["fact"]}
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
    for k in at["link"]:
        if len(names[k].split(" ")) != 2 or not all(map(NODE_NAME.fullmatch, names[k].split(" "))):
            raise InputError(f"'{shortened(names[k], 40)}' are not the names of two nodes")
    return Digest(*first, run, facts, *(_rates(columns, at[kind]) for kind in ("ceiling", "link")), seconds)


def _rates(columns: List[List[str]], at: List[int]) -> Rates:
    if not at:
        return NO_RATES
    rows = [[column[k] for k in at] for column in columns]
    counts = rows[7] + (rows[9] if len(rows) > 9 else [])
    rates = rows[2] + rows[3] + [text or "inf" for text in rows[4] + rows[8]]
    is_well, numbers = False, np.zeros((5, len(at)))
    try:
        numbers[:4] = value, low, high, spec = np.frombuffer(array("d", map(float, rates))).reshape(4, -1)
        whole = list(map(int, counts))
        is_ordered = (low > 0) & (low <= value) & (value <= high) & np.isfinite(value) & (spec > 0)
        is_plain = DIGITS.fullmatch("".join(rows[2] + rows[3] + rows[4] + rows[8] + counts))
        is_well = bool(is_ordered.all()) and is_plain is not None and min(whole) >= 0
    except (ValueError, OverflowError):
        pass
    if not is_well:
        faults = (_fault(row, k + 2) for row, k in zip(zip(*rows), at))
        raise InputError(next(filter(None, faults), "its numbers cannot be read"))
    numbers[3, np.isinf(numbers[3])] = 0
    numbers[4] = whole[len(at) :] or 0
    return Rates(*(_shared(tuple(rows[k])) for k in (1, 5, 6)), numbers)


def _fault(row: Sequence[str], number: int) -> str:
    """What is wrong with the numbers of a line; empty if nothing is."""
    form = re.compile(r"\d*\.?\d+(e[+-]?\d+)?|\d+\.", re.ASCII | re.I)
    for k in (2, 3, 4, 8):
        if (row[k] or k < 4) and not (form.fullmatch(row[k]) and 0 < float(row[k]) < math.inf):
            return f"{number}: '{shortened(row[k], 40)}' is no number above 0"
    if float(row[3]) > float(row[2]) or (row[4] and float(row[2]) > float(row[4])):
        return f"{number}: the value lies outside its interval"
    for k, what in ((7, "samples"), (9, "rounds")):
        if k < len(row) and not re.fullmatch(r"\d{1,9}", row[k], re.ASCII):
            return f"{number}: '{shortened(row[k], 40)}' is no number of {what}"
    return ""


def parse_digest(file: bytes, name: str) -> Tuple[Digest, str]:
    """Of the text or its compressed form, with its last checksum. Raises InputError with `name` and the bad line."""
    try:
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
        return _parse(_columns(text[len(lines[0]) + 1 : -1], names.count(",") + 1, len(lines) - 1), run[1:]), last
    except InputError as error:
        raise InputError(f"{name}:{'' if str(error)[:1].isdigit() else ' '}{error}") from error

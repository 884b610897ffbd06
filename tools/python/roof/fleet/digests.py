"""digest.csv: the ceilings of a run, as it is written (analysis/fleet/digest.hpp) and proven."""

import csv
import datetime
import gzip
import io
import math
import re
import zlib
from array import array
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, takewhile
from typing import Dict, List, NamedTuple, Sequence, Tuple

import numpy as np

from roof.fleet.scripts import NODE_NAME
from roof.fleet.tables import shortened
from roof.folder import checksum
from roof.texts import InputError

HEADER = "what,name,value,low,high,unit,state,n,spec"
FACTS = ("node", "kind", "plan", "revision", "time")
LARGEST, LONGEST = 1 << 20, 200  #: bytes of the text, and of the file; characters of a cell
RATES = ("ceiling", "link")
KINDS = ("fact", *RATES, "end")
ENDS = re.compile(f"{NODE_NAME.pattern} {NODE_NAME.pattern}")  #: of a link
PLAIN = re.compile("[0-9.eE+-]*;[0-9]*")  #: rates and counts


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
    day = datetime.date(int(time[:4]), int(time[5:7]), int(time[8:10])) - datetime.date(1970, 1, 1)
    parts = takewhile(bool, (re.match("[0-5][0-9]|6[01]", time[place:]) for place in (11, 14, 17)))
    return day.days * 86400.0 + sum(unit * int(part[0]) for part, unit in zip(parts, (3600, 60, 1)))


def _decompressed(file: bytes) -> bytes:
    try:
        with gzip.open(io.BytesIO(file)) as content:
            text = content.read(LARGEST + 1)
    except EOFError as error:
        raise InputError("it is damaged: its compressed form is cut off") from error
    except (OSError, zlib.error) as error:
        raise InputError("it is damaged: it cannot be decompressed") from error
    if len(text) > LARGEST:
        raise InputError("it is longer than 1 MiB")
    return text


def _prove(lines: List[bytes], before: bytes, run_header: List[bytes]) -> str:
    """The last checksum; each block has one in its last line (docs/reliability.md)."""
    first = 0
    for end in [k for k, line in enumerate(lines) if not line.endswith(b",")]:
        last, _, stated = lines[end].rpartition(b",")
        if stated.decode("latin-1") != checksum([before, *(line[:-1] for line in lines[first:end]), last, *run_header]):
            raise InputError(f"{first + 2}: this line or one to {end + 2} is not as it was written, or of another run")
        before, first = stated, end + 1
    if first < len(lines):
        raise InputError("it is cut off")
    return before.decode()


def _columns(lines: List[bytes], width: int) -> List[List[str]]:
    """Without the last one, that of the checksums."""
    try:
        cells = list(chain.from_iterable(csv.reader(line.decode("utf-8") for line in lines)))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError("it is no CSV in UTF-8") from error
    if len(cells) != len(lines) * width:
        raise InputError(f"its lines have not {width} cells each, as its header has")
    if max(map(len, cells)) > LONGEST:
        raise InputError("a cell is too long")
    return [cells[k::width] for k in range(width)][:-1]


def _parse(columns: List[List[str]], run: str) -> Digest:
    kinds, names, values, *_ = columns
    if unknown := [k for k, kind in enumerate(kinds) if kind not in KINDS]:
        raise InputError(f"{unknown[0] + 2}: it is no fact, ceiling, link or end")
    if "end" in kinds[:-1]:
        raise InputError(f"{kinds.index('end') + 3}: it stands after the end")
    if [kinds[-1], values[-1]] != ["end", str(len(kinds) - 1)]:
        raise InputError("it is cut off")
    if len(set(zip(kinds, names))) < len(names):
        raise InputError("a name stands twice")
    at = {kind: [k for k, one in enumerate(kinds) if one == kind] for kind in KINDS}
    facts = {names[k]: values[k] for k in at["fact"]}
    if absent := [fact for fact in FACTS if not facts.get(fact)]:
        raise InputError(f"it names no {absent[0]}")
    node, kind, plan, revision, time = (facts.pop(fact) for fact in FACTS)
    if not NODE_NAME.fullmatch(node):
        raise InputError(f"'{node}' is no node's name")
    try:
        if not re.match(r"\d{4}-\d\d-\d\dT", time, re.ASCII):
            raise ValueError
        seconds = seconds_of(time)
    except ValueError as error:
        raise InputError(f"'{time}' is no time") from error
    if wrong := [names[k] for k in at["link"] if not ENDS.fullmatch(names[k])]:
        raise InputError(f"'{shortened(wrong[0], 40)}' are not the names of two nodes")
    return Digest(node, kind, plan, revision, time, run, facts, *(_rates(columns, at[what]) for what in RATES), seconds)


def _rates(columns: List[List[str]], at: List[int]) -> Rates:
    rows = [[column[k] for k in at] for column in columns]
    _, names, values, lows, highs, units, states, samples, specs, *rounds = rows
    rates, counts = values + lows + highs + specs, sum(rounds, samples)
    is_well, numbers = False, np.zeros((5, len(at)))
    try:
        given = np.array(array("d", [float(text or "inf") for text in rates]))
        numbers[:4] = value, low, high, spec = given.reshape(4, len(at))
        numbers[4] = list(map(int, counts))[len(at):] or 0
        is_ordered = (low > 0) & (low <= value) & (value <= high) & np.isfinite(value) & (spec > 0)
        is_well = bool(is_ordered.all()) and PLAIN.fullmatch("".join((*rates, ";", *counts))) is not None
    except ValueError:
        pass
    if not is_well:
        faults = (_fault(row, k + 2) for row, k in zip(zip(*rows), at))
        raise InputError(next(filter(None, faults), "its numbers cannot be read"))
    numbers[3, np.isinf(numbers[3])] = 0
    return Rates(*(_shared(tuple(words)) for words in (names, units, states)), numbers)


def _fault(row: Sequence[str], number: int) -> str:
    """What is wrong with the numbers of a line; empty if nothing is."""
    form = re.compile(r"\d*\.?\d+(e[+-]?\d+)?|\d+\.", re.ASCII | re.I)
    _, _, value, low, high, _, _, samples, spec, *rounds = row
    for text in (value, low, high or "1", spec or "1"):
        if not (form.fullmatch(text) and 0 < float(text) < math.inf):
            return f"{number}: '{shortened(text, 40)}' is no number above 0"
    if not float(low) <= float(value) <= float(high or "inf"):
        return f"{number}: the value lies outside its interval"
    for text, what in ((samples, "samples"), *((one, "rounds") for one in rounds)):
        if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
            return f"{number}: '{shortened(text, 40)}' is no number of {what}"
    return ""


def parse_digest(file: bytes, name: str) -> Tuple[Digest, str]:
    """Of the text or its compressed form, with its last checksum. Raises InputError with `name` and the bad line."""
    try:
        if len(file) > LARGEST:
            raise InputError("it is longer than 1 MiB")
        text = _decompressed(file) if file.startswith(b"\x1f\x8b") else file
        first, _, rest = text.partition(b"\n")
        header = first.decode("utf-8", "replace")
        form = re.fullmatch(f"({HEADER}(?:,rounds)?),block_checksum(:.*)?", header)
        if form is None:
            raise InputError("its columns are not those of a digest, or have no checksums")
        names, run = form.groups("")
        *lines, rest = rest.split(b"\n")
        if rest or not lines:
            raise InputError("it is cut off")
        last = _prove(lines, names.encode(), [header.encode()] if run else [])
        return _parse(_columns(lines, names.count(",") + 2), run[1:]), last
    except InputError as error:
        raise InputError(f"{name}:{'' if str(error)[:1].isdigit() else ' '}{error}") from error

"""The digests of a fleet, found in folders that anybody may have written.

Only regular files are read, no link is followed, and a folder that cannot be used is one row with its reason."""

import hashlib
import multiprocessing
import os
import stat
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Optional, Set, Tuple, Union

from roof.fleet.digests import LARGEST, Digest, parse_digest
from roof.fleet.scripts import NODE_NAME
from roof.folder import RESULTS
from roof.program import program
from roof.texts import InputError

MOST_LEVELS, MOST_ENTRIES = 6, 1_000_000
AT_ONCE = 500  #: folders that one process reads before another is worth its start
MOST_BYTES = 64 << 20  #: of a folder without a digest; a calibration has 3 MB


@dataclass
class Fleet:
    digests: List[Digest]  #: ordered by node, kind, plan, revision and time, whatever the order of the files
    refused: List[Tuple[str, str]] = field(default_factory=list)  #: folders, and why they cannot be used
    expected: Dict[str, Dict[str, str]] = field(default_factory=dict)  #: nodes that should have a digest, with facts
    notes: List[str] = field(default_factory=list)
    #: nodes of which a folder cannot be used, as its path or machine.yaml names them
    damaged: Dict[str, str] = field(default_factory=dict)

    def refuse(self, place: str, reason: str, not_of: str = "") -> None:
        self.refused.append((place, reason))
        here = Path(place)  # cpu and gpu: as `roof fleet script` lays them out
        folder = here.parent.name if here.name in ("cpu", "gpu") else here.name
        node = next(filter(NODE_NAME.fullmatch, (_in_machine(place, "node"), folder)), "")
        if node and node != not_of:
            self.damaged[node] = reason


def read_regular(file: str, most: int) -> bytes:
    """The content of a regular file that is no link. Raises InputError."""
    name = os.path.basename(file)
    try:
        with open(file, "rb", 0, opener=lambda one, how: os.open(one, how | os.O_NOFOLLOW | os.O_NONBLOCK)) as content:
            status = os.fstat(content.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{name} is no regular file")
            if status.st_size > most:
                raise InputError(f"{name} is larger than {most >> 20} MiB")
            return content.read()
    except OSError as error:
        is_other = os.path.islink(file) or isinstance(error, IsADirectoryError)
        raise InputError(name + (" is no regular file" if is_other else f": {error.strerror}")) from error


def _in_machine(folder: str, key: str, most_lines: Optional[int] = None) -> str:
    """A value of machine.yaml; empty if there is none."""
    try:
        lines = read_regular(f"{folder}/machine.yaml", MOST_BYTES).decode("utf-8", "replace").split("\n")[:most_lines]
    except InputError:
        lines = []
    return next((line.partition(":")[2].strip().strip("\"'") for line in lines if line.startswith(key + ":")), "")


def exported(folder: Union[str, Path], form: str, *options: str, quiet: bool = False) -> Tuple[bytes, int]:
    """What `roof export FOLDER --format FORM` writes, and its exit status: 1 for a folder that is damaged or not
    finished, which it names. `quiet`: raises InputError with what it says instead."""
    words = [program(), "export", str(folder), "--format", form, *options]
    done = subprocess.run(words, capture_output=True, check=False)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode and (quiet or done.returncode != 1):
        raise InputError((said.splitlines() or ["it cannot be read"])[0].replace("roof: ", "", 1))
    sys.stderr.write(said)
    return done.stdout, done.returncode


Read = Union[Tuple[Digest, str], str]  #: a digest with its last checksum, or why it cannot be used
Found = Tuple[Digest, str, str]  #: with the folder


def _read_some(places: List[Tuple[str, bool]]) -> List[Read]:
    """The digest of each folder. With a place: whether it has a machine.yaml."""
    read: List[Read] = []
    for place, has_machine in places:
        try:
            digest, fingerprint = parse_digest(read_regular(f"{place}/digest.csv", LARGEST), "digest.csv")
            run = _in_machine(place, "run", 2) if has_machine else ""
            if run and run != digest.run:
                raise InputError("digest.csv is of another run than machine.yaml")
            read.append((digest, fingerprint))
        except InputError as error:
            read.append(str(error))
    return read


def _read_all(places: List[Tuple[str, bool]]) -> List[Read]:
    """The same, of many folders on all processors."""
    size = max(AT_ONCE, -(-len(places) // len(os.sched_getaffinity(0))))
    parts = [places[k : k + size] for k in range(0, len(places), size)]
    if len(parts) > 1:
        try:
            with ProcessPoolExecutor(len(parts) - 1, multiprocessing.get_context("fork")) as pool:
                others = pool.map(_read_some, parts[1:])
                return [one for read in (_read_some(parts[0]), *others) for one in read]
        except (OSError, RuntimeError):  # no other process can be made, or one was killed
            pass
    return _read_some(places)


def _walk(top: str, fleet: Fleet) -> Iterator[Tuple[str, int, Set[str]]]:
    """Each folder down to six levels, with its level, and the names in it that are no folders."""
    def cannot_read(error: OSError) -> None:
        fleet.refused.append((error.filename, f"it cannot be read: {error.strerror}"))

    entries = 0
    for place, folders, files in os.walk(top, onerror=cannot_read):
        entries += len(folders) + len(files)
        if entries > MOST_ENTRIES:
            raise InputError("a fleet has at most 1,000,000 files and folders")
        level = len(Path(place).relative_to(top).parts)
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        yield place, level, {*files, *links}
        # without those such as a recording that is not whole yet
        folders[:] = sorted(one for one in folders if one[0] != ".") if level < MOST_LEVELS else []


def _make(place: Path, files: Set[str], found: List[Found]) -> None:
    """The digest of a folder without one, which is kept where the folder can be written; none of training steps."""
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
    text, _ = exported(place, "digest", quiet=True)
    if text:
        if not _in_machine(str(place), "node"):
            raise InputError("its machine.yaml names no node")
        found.append((*parse_digest(text, "digest.csv"), str(place)))
        exported(place, "digest", "--out", f"{place}/digest.csv", quiet=True)  # fails where nothing can be written


def read_fleet(folders: List[str]) -> Fleet:
    """Finds the results folders in `folders`, down to six levels. Digests are in their order; a copy in another folder
    counts once, and is named: it may stand in another node's place. Raises InputError for a folder that is none."""
    fleet, found, with_digest = Fleet([]), [], []  # type: Fleet, List[Found], List[Tuple[str, bool]]
    for folder in folders:
        if not os.path.isdir(folder):
            raise InputError(f"there is no folder {folder}")
        for place, level, files in _walk(str(Path(folder)), fleet):
            if "digest.csv" in files:
                with_digest.append((place, "machine.yaml" in files))
            elif "measurements.csv" in files:
                try:
                    _make(Path(place), files, found)
                except InputError as error:
                    fleet.refuse(place, str(error))
            elif files.intersection(RESULTS if level else RESULTS[1:]):  # a plan alone may be that of the fleet
                fleet.refuse(place, "it has neither digest.csv nor measurements.csv: its run was stopped before the "
                             "first row, or they are lost")
    for (place, _), read in zip(with_digest, _read_all(with_digest)):
        if isinstance(read, str):
            fleet.refuse(place, read)
        else:
            found.append((*read, place))
    before, first = "", ""
    for digest, fingerprint, place in sorted(found, key=lambda one: (one[0].key(), one[1:])):
        if fingerprint != before:
            fleet.digests.append(digest)
            before, first = fingerprint, place
        elif not os.path.samefile(first, place):
            fleet.refuse(place, f"its digest is that of {first} and counts once", digest.node)
    fleet.refused.sort()
    cut = sum("left out" in digest.facts for digest in fleet.digests)
    if cut:
        fleet.notes.append(f"{cut} of {len(fleet.digests)} digests {'lacks' if cut == 1 else 'lack'} rates that did "
                           "not fit, which are not judged: see `left out` there. The run makes a whole one where "
                           "digest.csv is deleted.")
    return fleet


def _hidden(names: Iterable[str], stem: str) -> Dict[str, str]:
    """New names, in an order that does not show that of the names."""
    order = sorted(set(names), key=lambda name: hashlib.sha256(name.encode()).digest())
    return {name: f"{stem}-{number}" for number, name in enumerate(order, 1)}


def anonymise(fleets: List[Fleet]) -> None:
    """Other names for nodes, the values of facts of expected nodes, and folders. A node has one name in all fleets."""
    all_ = [one for fleet in fleets for one in fleet.digests]
    names = {name for one in all_ for name in (one.node, *" ".join(one.links.names).split())}
    names |= {node for fleet in fleets for node in (*fleet.expected, *fleet.damaged)}
    nodes = _hidden(names, "node")
    known = {fact for fleet in fleets for facts in fleet.expected.values() for fact in facts.items()}
    hidden = {key: _hidden((value for of, value in known if of == key), key) for key in {key for key, _ in known}}
    for fleet in fleets:
        for one in fleet.digests:
            one.node = nodes[one.node]
            ends = (name.split(" ") for name in one.links.names)
            one.links = one.links._replace(names=tuple(f"{nodes[a]} {nodes[b]}" for a, b in ends))
        fleet.digests.sort(key=Digest.key)
        fleet.expected = {nodes[node]: {key: hidden[key][value] for key, value in facts.items()}
                          for node, facts in fleet.expected.items()}
        fleet.refused = [("a folder", "left out: it may hold names") for _ in fleet.refused]
        fleet.damaged = {nodes[node]: "its folder cannot be used" for node in fleet.damaged}

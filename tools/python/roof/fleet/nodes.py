"""Names and lists of nodes."""

import re
from pathlib import Path
from typing import Dict, List

from roof.errors import InputError

NODE_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,63}")
MOST_NODES = 100_000


def read_expected(file: str) -> Dict[str, Dict[str, str]]:
    """A node on each line, then blanks and KEY=VALUE. Empty lines and those that begin with # are skipped. Raises InputError."""
    nodes: Dict[str, Dict[str, str]] = {}
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        faults = [f"'{word}' is not of the form KEY=VALUE" for word in words[1:] if word.find("=") < 1]
        if not NODE_NAME.fullmatch(words[0]):
            faults = [f"'{words[0]}' is no node's name"]
        elif words[0] in nodes:
            faults = [f"'{words[0]}' stands twice"]
        if faults:
            raise InputError(f"{file}:{number}: {faults[0]}")
        nodes[words[0]] = dict(word.split("=", 1) for word in words[1:])
    return nodes


def node_list(text: str) -> List[str]:
    """ "r[1-2]n[01-03],login1" -> r1n01 r1n02 r1n03 r2n01 r2n02 r2n03 login1. Raises InputError."""
    nodes: List[str] = []
    for word in re.findall(r"(?:[^][,\s]|\[[^][\s]*\]|[][])+", text):
        names = [""]
        for part in re.findall(r"\[[^][]*\]|[^][]+|[][]", word):
            ends = [part]
            if part.startswith("[") and part.endswith("]") and len(part) > 1:
                ends = [number for each in part[1:-1].split(",") for number in _numbers_in(each, word)]
            if len(names) * len(ends) > MOST_NODES:
                raise InputError("--nodes: more than 100,000 nodes")
            names = [name + end for name in names for end in ends]
        for name in names:
            if not NODE_NAME.fullmatch(name):
                raise InputError(f"--nodes: '{name}' is no node's name")
        nodes += names
        if len(nodes) > MOST_NODES:
            raise InputError("--nodes: more than 100,000 nodes")
    return nodes


def _numbers_in(part: str, word: str) -> List[str]:
    ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part, re.ASCII)
    first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
    if not 0 <= last - first < MOST_NODES:
        raise InputError(f"--nodes: '{part}' in '{word}' is no range such as 01-32")
    return [f"{number:0{len(ends[1])}}" for number in range(first, last + 1)]

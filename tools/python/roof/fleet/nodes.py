"""Names and lists of nodes."""

import re
from itertools import product
from pathlib import Path
from typing import Dict, List

from roof.errors import InputError

NODE_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,63}")
MOST_NODES = 100_000


def read_expected(file: str) -> Dict[str, Dict[str, str]]:
    """A node on each line, then blanks and KEY=VALUE; empty lines and those with # are skipped. Raises InputError."""
    nodes: Dict[str, Dict[str, str]] = {}
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        node, *facts = line.split() or ["#"]
        if node.startswith("#"):
            continue
        fault = next((f"'{word}' is not of the form KEY=VALUE" for word in facts if word.find("=") < 1), "")
        fault = f"'{node}' stands twice" if node in nodes else fault
        fault = fault if NODE_NAME.fullmatch(node) else f"'{node}' is no node's name"
        if fault:
            raise InputError(f"{file}:{number}: {fault}")
        nodes[node] = dict(word.split("=", 1) for word in facts)
    return nodes


def node_list(text: str) -> List[str]:
    """ "r[1-2]n[01-03],login1" -> r1n01 r1n02 r1n03 r2n01 r2n02 r2n03 login1. Raises InputError."""
    nodes: List[str] = []
    for word in re.findall(r"(?:[^][,\s]|\[[^][\s]*\]|[][])+", text):
        parts, number = [], 1
        for ranges, plain in re.findall(r"\[([^][]*)\]|([^][]+|[][])", word):
            parts.append([plain] if plain else [one for each in ranges.split(",") for one in _numbers(each, word)])
            number *= len(parts[-1])
            if number + len(nodes) > MOST_NODES:
                raise InputError("--nodes: more than 100,000 nodes")
        for name in map("".join, product(*parts)):
            if not NODE_NAME.fullmatch(name):
                raise InputError(f"--nodes: '{name}' is no node's name")
            nodes.append(name)
    return nodes


def _numbers(part: str, word: str) -> List[str]:
    for first, last in re.findall(r"\A(\d{1,9})(?:-(\d{1,9}))?\Z", part, re.ASCII):
        numbers = range(int(first), int(last or first) + 1)
        if 0 < len(numbers) <= MOST_NODES:
            return [f"{number:0{len(first)}}" for number in numbers]
    raise InputError(f"--nodes: '{part}' in '{word}' is no range such as 01-32")

"""Texts of other tools: units ("Kbyte", "nsecond", "Ghz", "MiB", "MFLOP/s"), and numbers in the languages that tools write."""

import math
import re
from typing import Optional, Tuple

from roof.texts import printable

SMALL = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0}
LARGE = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
BINARY = {"": 1.0, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
NONE = {"": 1.0}
#: By the end of the text: the SI unit without prefix, and the prefixes that it takes. A longer end goes first.
UNITS = (*((text, "byte", LARGE) for text in ("Bytes", "Byte", "byte")), ("register", "register", NONE), ("request", "request", NONE),
         ("cluster", "cluster", NONE), ("second", "s", SMALL), ("sector", "sector", LARGE), ("thread", "thread", NONE),
         ("Joules", "J", NONE), ("block", "block", NONE), ("cycle", "cycle", LARGE), ("FLOP", "FLOP", LARGE), ("inst", "inst", LARGE),
         ("pass", "pass", NONE), ("warp", "warp", NONE), ("sec", "s", SMALL), ("hz", "Hz", LARGE), ("Hz", "Hz", LARGE),
         ("SM", "SM", NONE), ("B", "byte", BINARY), ("J", "J", NONE), ("W", "W", NONE), ("s", "s", SMALL), ("1", "", NONE), ("", "", NONE))

#: What separates thousands, besides the comma or point that is not the decimal mark. U+FFFD: a blank of an encoding that is not UTF-8.
BLANKS = "\u00a0\u2009\u202f\ufffd "
GROUPED = r"[0-9]{{1,3}}(?P<a>[{0}])[0-9]{{3}}(?:(?P=a)[0-9]{{3}})*|[0-9]{{1,2}}(?:(?P<b>[{0}])[0-9]{{2}})+(?P=b)[0-9]{{3}}"
NUMBERS = {mark: re.compile(rf"[-+]?(?:[0-9]+|{GROUPED.format(BLANKS + '’' + chr(39) + other)})(?:[{mark}][0-9]*)?(?:[eE][-+]?[0-9]+)?")
           for mark, other in (".,", ",.")}


def unit(text: str) -> Optional[Tuple[float, str]]:
    """A value in that unit times the factor is in the named one, or a quotient of two. None: unknown. No text: a plain number."""
    over, slash, under = text.partition("/")
    if slash:
        above, below = unit(over), unit(under)
        return (above[0] / below[0], f"{above[1]}/{below[1]}") if above and below else None
    if text == "%":
        return 0.01, ""
    found = ((prefixes[text[:len(text) - len(end)]], name) for end, name, prefixes in UNITS
             if text.endswith(end) and text[:len(text) - len(end)] in prefixes)
    return next(found, None)


def number(text: str, mark: str = ".") -> Optional[float]:
    """None for a text that is no finite number with that decimal mark, point or comma."""
    if not NUMBERS[mark].fullmatch(text):
        return None
    value = float(re.sub(r"[^-+0-9.eE]", "", text.replace("." if mark == "," else ",", "").replace(",", ".")))
    return value if math.isfinite(value) else None


def mark_of(text: str) -> str:
    """The decimal mark that a number shows; empty if it is a number with either, or with none."""
    able = [mark for mark in NUMBERS if number(text, mark) is not None]
    return able[0] if len(able) == 1 else ""


def shown(text: str) -> str:
    """A text of a file in a message."""
    return printable(text if len(text) <= 100 else f"{text[:100]}…")

"""Texts of other tools: units ("Kbyte", "nsecond", "MiB", "MFLOP/s"), and numbers in the languages that tools write."""

import re
from typing import Optional, Tuple

from roof.texts import printable

SMALL = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0}
LARGE = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
#: Texts, the SI unit that they mean if it is another, and the prefixes that they take.
TEXTS = (("byte Byte Bytes", "byte", LARGE), ("B", "byte", {"": 1.0, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}),
         ("second sec s", "s", SMALL), ("Hz hz", "Hz", LARGE), ("FLOP inst sector cycle", "", LARGE),
         ("Joules", "J", {"": 1.0}), ("request warp thread block register SM cluster pass J W", "", {"": 1.0}))
UNITS = {"": (1.0, ""), "1": (1.0, ""), "%": (0.01, ""), **{prefix + text: (factor, name or text)
            for texts, name, prefixes in TEXTS for text in texts.split() for prefix, factor in prefixes.items()}}

#: What separates thousands, besides the comma or point that is no decimal mark. U+FFFD: a blank in another encoding.
BLANKS = "\u00a0\u2009\u202f\ufffd "
WHOLE = (r"[0-9]+|[0-9]{1,3}(?P<a>[G])[0-9]{3}(?:(?P=a)[0-9]{3})*|"
         r"[0-9]{1,2}(?:(?P<b>[G])[0-9]{2})+(?P=b)[0-9]{3}").replace("G", f"{BLANKS}’'%s")
NUMBERS = {mark: re.compile(f"[-+]?(?:{WHOLE % (other, other)})(?:[{mark}][0-9]*)?(?:[eE][-+]?[0-9]+)?")
           for mark, other in (".,", ",.")}
LARGEST = 1e100  #: products of what tools count stay finite


def unit(text: str) -> Optional[Tuple[float, str]]:
    """A value in that unit times the factor is in the named one, or a quotient of two. None: unknown. "": a number."""
    above, slash, below = text.partition("/")
    over, under = UNITS.get(above), UNITS.get(below)
    return (over[0] / under[0], f"{over[1]}/{under[1]}") if slash and over and under else UNITS.get(text)


def number(text: str, mark: str = ".") -> Optional[float]:
    """None for a text that is no number with that decimal mark, point or comma, or none below 1e100."""
    if not NUMBERS[mark].fullmatch(text):
        return None
    value = float(re.sub(r"[^-+0-9.eE]", "", text.replace("." if mark == "," else ",", "").replace(",", ".")))
    return value if abs(value) < LARGEST else None


def mark_of(text: str) -> str:
    """The decimal mark that a number shows; empty if it is a number with either, or with none."""
    able = [mark for mark in NUMBERS if number(text, mark) is not None]
    return able[0] if len(able) == 1 else ""


def shown(text: str) -> str:
    """A text of a file in a message."""
    return printable(text if len(text) <= 100 else f"{text[:100]}…")

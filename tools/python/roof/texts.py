"""What a user is told: texts that a terminal shows, and errors that a user can mend, one sentence each, without a
traceback."""

import math
import re

# Control characters, and marks of the direction of text.
RAW = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: object) -> str:
    """The text of a foreign file without what a terminal would obey."""
    return RAW.sub("?", str(text))


class InputError(Exception):
    """A wrong file, option or environment. The sentence names it, and holds nothing that a terminal would obey."""

    def __init__(self, sentence: object) -> None:
        super().__init__(printable(sentence))


class Missing(InputError):
    """A library that only this command needs."""

    def __init__(self, library: str, extra: str):
        super().__init__(f"{library} is not installed for this Python: apt-get install python3-{library}, or pip "
                         f"install \"measured-roof[{extra}]\"")


def how_many(number: int, thing: str, many: str = "") -> str:
    return f"{number} {thing if number == 1 else many or thing + 's'}"


def si(value: float, unit: str) -> str:
    """1.234e9, "B/s" -> "1.23 GB/s"."""
    if not math.isfinite(value):
        return "-"
    if value == 0:
        return f"0 {unit}"
    rounded = abs(value) * (1 + 5e-4)  # 999.9 has four digits before the point once it is rounded to three
    scales = zip((1e15, 1e12, 1e9, 1e6, 1e3, 1, 1e-3, 1e-6), "PTGMk mu")
    factor, letter = next(((size, one) for size, one in scales if rounded >= size), (1e-9, "n"))
    if rounded / factor >= 1e6:
        return f"{value:.2e} {unit}"
    digits = 0 if rounded / factor >= 100 else 1 if rounded / factor >= 10 else 2
    return f"{value / factor:.{digits}f} {letter.strip()}{unit}"

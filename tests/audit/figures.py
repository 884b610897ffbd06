"""Compares a figure as an output shows it with the figure expected."""

import math
import re

SMALL = 1e-13
PREFIXES = {"": 1.0, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
UNITS = {f"{prefix}{unit}": factor for unit in ("s", "Hz", "FLOP/s", "FLOP", "B/s", "B", "images/s", "inputs/s", "sequences/s", "images/J", "inputs/J", "sequences/J", "FLOP/J", "B/J", "J", "W") for prefix, factor in PREFIXES.items()}
UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "%": 1e-2, "FLOP/B": 1.0, "min": 60.0, "h": 3600.0, "": 1.0}
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
UNIT = "|".join(sorted((re.escape(unit) for unit in UNITS if unit), key=len, reverse=True))
FIGURE = re.compile(rf"({NUMBER})(?:\s?({UNIT})(?![\w/]))?")


def near(shown, expected, relative=1e-9):
    return abs(shown - expected) <= max(relative * max(abs(shown), abs(expected)), SMALL)


def printed(number, unit, expected):
    """Whether a number with its unit shows the expected value, to the digits that are printed."""
    mantissa, _, exponent = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    last = 10.0 ** (int(exponent or 0) - decimals)
    factor = UNITS[unit or ""]
    return abs(float(number) - expected / factor) <= last * 0.5 * (1 + 1e-6) + 1e-12


def error_of_shares(one, other, draws=1000):
    """The standard error of the difference of two shares of so many random draws."""
    pooled = (one + other) / 2
    return math.sqrt(max(pooled * (1 - pooled), 1 / draws) * 2 / draws)


class Findings:
    """Counts what was checked and keeps the differences."""

    def __init__(self):
        self.checked, self.unaudited, self.differences, self.draws = 0, [], [], []
        self.where = self.subject = ""  # the case, and the row at hand

    def differs(self, place, shown, expected):
        self.differences.append((self.where, place, shown, expected, self.subject))

    def lacks(self, place, what):
        self.unaudited.append((self.where, place, what))

    def text(self, place, shown, expected):
        self.checked += 1
        if shown != expected:
            self.differs(place, shown, expected)

    def exact(self, place, shown, expected):
        """Two numbers, either of which may be missing (None)."""
        self.checked += 1
        if (shown is None) != (expected is None) or shown is not None and not near(float(shown), float(expected)):
            self.differs(place, shown, expected)

    def printed(self, place, text, *expected, unit=None):
        """The figures in a text, one for each value expected. A unit stands after the first; an interval takes it over."""
        if expected and isinstance(expected[0], bool):
            return self.text(place, text, "yes" if expected[0] else "no")
        self.checked += 1
        found = FIGURE.findall(text)
        expected = [value for value in expected if value is not None]
        if len(found) != len(expected):
            return self.differs(place, text, expected)
        known = unit or next((its for _, its in found if its), "")
        for (number, its), value in zip(found, expected):
            if not printed(number, its or known, value):
                return self.differs(place, text, expected)

    def draw(self, place, shown, expected, draws=1000):
        """A share of random draws beside one of draws of our own."""
        self.checked += 1
        self.draws.append((abs(shown - expected) / error_of_shares(shown, expected, draws), self.where, place, shown, expected, self.subject))

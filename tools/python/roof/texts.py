"""Texts that a terminal shows."""

from roof.errors import printable

__all__ = ["how_many", "printable", "si"]


def how_many(number: int, thing: str, many: str = "") -> str:
    return f"{number} {thing if number == 1 else many or thing + 's'}"


def si(value: float, unit: str) -> str:
    """Three digits and a prefix: "2.59 MFLOP"."""
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"

"""Errors that a user can mend: one sentence each, without a traceback."""

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

    def __init__(self, library: str, extra: str, debian: str = ""):
        debian = debian or f"python3-{library}"
        super().__init__(f"{library} is not installed for this Python: apt-get install {debian}, or pip install "
                         f"\"measured-roof[{extra}]\"")

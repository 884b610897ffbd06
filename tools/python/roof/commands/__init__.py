"""The commands of `roof` that the package has: a module each, whose main(arguments) returns the exit status."""

import argparse
import importlib.util
from typing import NoReturn

from roof.errors import InputError, Missing


class Words(argparse.ArgumentParser):
    """The options of a command; `texts`: those with a value, empty unless told; `flags`: those without."""

    def __init__(self, command: str, flags: str, texts: str, **usual: str) -> None:
        super().__init__(add_help=False, allow_abbrev=False)
        self.command = command
        for name in flags.split():
            self.add_argument(f"--{name}", action="store_true")
        for name in texts.split():
            self.add_argument(f"--{name}", *["-o"] * (name == "out"), default=usual.get(name.replace("-", "_"), ""))

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{self.command}: {message}; 'roof help {self.command}' shows how")


def require(extra: str, *libraries: str) -> None:
    """Raises Missing for the first that is not installed."""
    for library in libraries:
        if importlib.util.find_spec(library) is None:
            raise Missing(library, extra)


def whole(option: str, text: str, most: int, least: int = 1) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise InputError(f"{option}: '{text}' is not a whole number from {least} to {most}")
    return int(text)

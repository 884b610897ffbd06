"""The commands of `roof` that the package has: a module each, whose main(arguments) returns the exit status."""

import argparse
import importlib.util
from functools import partial
from typing import NoReturn

from roof.texts import InputError, Missing


#: Words of other programs for values of options, as in tools/roof/console/options.cpp; "cuda:" is a beginning.
ALIASES = {"precision": {"float64": "fp64", "double": "fp64", "float32": "fp32", "float": "fp32", "single": "fp32",
                         "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "tensorfloat32": "tf32"},
           "device": {"cuda": "gpu:0", "cuda:": "gpu:"}}


def in_our_words(option: str, text: str) -> str:
    aliases = ALIASES.get(option, {})
    begin, colon, rest = text.partition(":")
    return aliases.get(begin + colon, begin + colon) + rest


class Words(argparse.ArgumentParser):
    """The options of a command; `texts`: those with a value, empty unless told; `flags`: those without."""

    def __init__(self, command: str, flags: str, texts: str, **usual: str) -> None:
        super().__init__(add_help=False, allow_abbrev=False)
        self.command = command
        for name in flags.split():
            self.add_argument(f"--{name}", action="store_true")
        for name in texts.split():
            self.add_argument(f"--{name}", *["-o"] * (name == "out"), type=partial(in_our_words, name),
                              default=usual.get(name.replace("-", "_"), ""))

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

"""`roof estimate config.json` and `roof estimate FILE.onnx`: PyTorch runs the model on shapes, or its operators are
read; the program places what was counted."""

import argparse
import importlib.util
import subprocess
import tempfile
from pathlib import Path
from typing import Any, List, Sequence

from roof.commands import Words, require, whole
from roof.estimating import PHASES, estimate
from roof.program import program
from roof.texts import InputError

LACKS_LIBRARY = 69  #: the exit status for which the program reads the file itself, without PyTorch
LARGEST = {"--batch": 65536, "--tokens": 1 << 24, "--size": 1 << 24}
PASSED_ON = ("on", "gpus", "link", "images", "out", "csv")  #: options that only the program reads


def options(arguments: List[str]) -> argparse.Namespace:
    words = Words("estimate", "json", f"batch tokens size optimizer precision {' '.join(PASSED_ON)}", precision="fp32")
    words.add_argument("model")
    words.add_argument("--algorithm", choices=("direct", "auto"), default="direct")
    words.add_argument("--phase", choices=PHASES, default="train")
    given = words.parse_intermixed_args(arguments)
    if not given.batch:
        words.error("--batch is required")
    given.is_onnx = given.model.endswith(".onnx")
    words_of_size = [word.partition("=") for word in given.size.split(",") if word]
    given.sizes = {name: number("--size", value) for name, _, value in words_of_size}
    other = next((name for name in given.sizes if name != "tokens" and not given.is_onnx), None)
    if other is not None:
        raise InputError(f"--size {other}: {given.model} leaves no such extent open")
    given.tokens = number("--tokens", given.tokens) if given.tokens else given.sizes.get("tokens")
    given.batches = [number("--batch", word) for word in given.batch.split(",")]
    if given.optimizer not in ("", "sgd", "adamw"):
        raise InputError(f"unknown optimizer '{given.optimizer}'; legal values: sgd, adamw")
    return given


def number(option: str, text: str) -> int:
    return whole(option, text, LARGEST[option], 0 if option == "--size" else 1)  # a cache may be empty


def main(arguments: List[str]) -> int:
    given = options(arguments)
    if given.is_onnx:
        require("onnx", "onnx")
        from roof.onnx_reading.network import estimated

        sizes = {**given.sizes, **({"tokens": given.tokens} if given.tokens else {})}
        return show([estimated(given.model, batch, sizes, given.precision, given.phase, given.optimizer)
                     for batch in given.batches], given)
    if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
        return LACKS_LIBRARY
    return show([estimate(given.model, batch=batch, tokens=given.tokens, precision=given.precision, phase=given.phase,
                          optimizer=given.optimizer or None) for batch in given.batches], given)


def show(counted: Sequence[Any], given: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        folders = [one.write(Path(scratch) / str(number)) for number, one in enumerate(counted)]
        words = [program(), "estimate", "--from", ",".join(map(str, folders))]
        told = {option: getattr(given, option) for option in PASSED_ON}
        words += [word for option, value in told.items() if value for word in (f"--{option}", value)]
        return subprocess.run([*words, *(["--json"] if given.json else [])], check=False).returncode

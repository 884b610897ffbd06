"""Helpers of the tests of `roof import`: files of tools under a neutral name, read by their content alone."""

import tempfile
from pathlib import Path

from roof.importing.files import import_file
from roof.texts import InputError

DATA = Path(__file__).parent / "data"


def text_of(name):
    return (DATA / name).read_text(encoding="utf-8")


def imported(content):
    """The import of a file with this text or these bytes, called "x"."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "x"
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return import_file(place)


def refusal(content):
    """The sentence with which a file is refused, without the folder's name; empty if it is read."""
    try:
        imported(content)
    except InputError as error:
        return "x" + str(error).partition("/x")[2]
    return ""


def replaced(text, part, by):
    assert part in text, part
    return text.replace(part, by, 1)

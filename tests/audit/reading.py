"""Reads a results folder as results/README.md and docs/reliability.md describe it. Uses no code of the program under test."""

import base64
import csv
import zlib
from pathlib import Path

import yaml

FORMATS = (2, 3)

#: What the machine.yaml of an import does not say.
SILENT = {"cpu_model": "", "isa": [], "hypervisor": "", "governor": "", "huge_pages": "",
          "versions": {}, "capabilities": [], "inconsistencies": [], "features": []}


class Refused(Exception):
    """A folder that a reader of this format must refuse."""


def checksum(before, lines):
    """docs/reliability.md, Checksums."""
    total = 0
    for line in [before, *lines]:
        total = (total * 0x5DEECE66D + zlib.crc32(line.encode())) % 2**48
    return base64.urlsafe_b64encode(total.to_bytes(6, "big")).decode()


def number(cell, otherwise=None):
    return otherwise if cell in ("", None) else float(cell)


def estimate(row, name):
    return tuple(float(row.get(f"{name}_{part}_s") or 0) for part in ("median", "low", "high"))


def table(path):
    """The rows of a CSV file as dictionaries; none where the file is missing."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lines_by_row(path):
    """The header, and for each id its lines as they stand in the file."""
    if not path.exists():
        return "", {}
    text = path.read_text(encoding="utf-8").splitlines()
    found = {}
    for line in text[1:]:
        found.setdefault(next(csv.reader([line]))[0], []).append(line)
    return text[0], found


def broken_rows(folder):
    """The ids whose checksum does not match the lines of the row; none for a folder without `row_checksum`."""
    path = folder / "measurements.csv"
    text = path.read_text(encoding="utf-8").splitlines()
    plain, _, column = text[0].rpartition(",")
    name, _, run = column.partition(":")
    if name != "row_checksum":
        return set()
    others = [lines_by_row(folder / name) for name in ("samples.csv", "layers.csv")]
    broken, before = set(), plain
    for line in text[1:]:
        body, _, found = line.rpartition(",")
        identity = next(csv.reader([line]))[0]
        block = [body]
        for header, lines in others:
            if identity in lines:
                block += [header, *lines[identity]]
        if run:  # format 3
            block.append(text[0])
        if checksum(before, block) != found:
            broken.add(identity)
        before = found
    return broken


class Row:
    """One line of measurements.csv with its layers and samples."""

    def __init__(self, cells, layers, samples, damaged):
        self.cells, self.layers, self.samples = cells, layers, samples
        self.id = cells["id"]
        self.status = "damaged" if damaged else cells["status"]
        self.ok = self.status == "ok"

    def __getitem__(self, name):
        return self.cells.get(name) or ""

    @property
    def ranks(self):
        return int(self["ranks"] or 1)

    @property
    def threads(self):
        return int(self["threads"] or 0)

    @property
    def batch(self):
        return int(self["batch"] or 0)

    @property
    def images(self):
        """Images of one step of all ranks: weak scaling, the default, gives each rank the whole batch (docs/parallel.md)."""
        return self.batch * (self.ranks if self["scaling"] != "strong" else 1)

    @property
    def step(self):
        return estimate(self.cells, "launch")

    def used(self):
        return [sample for sample in self.samples if sample.get("used", "1") == "1"]


class Folder:
    def __init__(self, path):
        self.path = Path(path)
        self.name = self.path.name
        self.machine = {**SILENT, **(yaml.safe_load((self.path / "machine.yaml").read_text(encoding="utf-8")))}
        self.machine["versions"] = yaml.load((self.path / "machine.yaml").read_text(encoding="utf-8"), yaml.BaseLoader).get("versions") or {}  # as text
        if self.machine.get("format") not in FORMATS:
            raise Refused(f"format {self.machine.get('format')}")
        layers, samples = {}, {}
        for name, found in (("layers.csv", layers), ("samples.csv", samples)):
            for line in table(self.path / name):
                found.setdefault(line["id"], []).append(line)
        damaged = broken_rows(self.path)
        self.rows = [Row(cells, layers.get(cells["id"], []), samples.get(cells["id"], []), cells["id"] in damaged)
                     for cells in table(self.path / "measurements.csv")]

    @property
    def steps(self):
        return [row for row in self.rows if row["role"] == "step"]

    @property
    def measured_steps(self):
        return [row for row in self.steps if row.ok]

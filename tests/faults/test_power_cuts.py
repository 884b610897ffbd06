"""Power cuts at every moment of a sweep, its continuing, a calibration and a report. A run is recorded once with its flushes; a cut after any of its
changes leaves what was flushed, and by chance a part of what was not: of each file the first of its later writes, the last of them in part,
and of each folder the first of its later names. Rows that were announced are there, the same command continues, and a page is the old one or the
new one. Without flushes, or without those of folders, rows are lost: then the test sees nothing if it does not say so.

usage: test_power_cuts.py FAKE_ROOF RECORD_WRITES [CUTS]
"""

import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOF = RECORDER = None
CUTS = 120
STEPS = """name: cuts
run:
  - {bench: train, model: [tinynet, widenet], batch: [4, 8, 16]}
  - {bench: flops}
"""
ROOFS = """name: roofs
run:
  - {bench: flops}
  - {bench: bandwidth}
"""
ANNOUNCED = re.compile(r"^\[\d+/\d+\] ok (.*?)  ", re.MULTILINE)


class Disk:
    """Files and names as they are, and those that are flushed. Paths are relative to `root`."""

    def __init__(self, root, copy):
        self.root = root
        self.names = {}     # flushed: path -> number of a file, or None for a folder
        self.files = {}     # flushed content by number
        self.later = {}     # by number: changes since the flush
        self.entries = {}   # by folder: changes of names since its flush
        self.numbers = {}   # by inode
        self.now = {}       # path -> number
        for path in sorted(copy.rglob("*")):
            number = None
            if path.is_file():
                number = len(self.files)
                self.files[number] = path.read_bytes()
            self.names[str(path.relative_to(copy))] = self.now[str(path.relative_to(copy))] = number

    def change_name(self, path, change):
        self.entries.setdefault(os.path.dirname(path), []).append(change)

    def apply(self, kind, inode, number, data, path):
        path = os.path.relpath(path, self.root)
        if path.startswith(".."):
            return
        if kind == "open" and number == 1:
            self.numbers[inode] = self.now[path] = len(self.files)
            self.files[self.now[path]] = b""
            self.change_name(path, ("add", path, self.now[path]))
        elif kind == "open":
            self.numbers[inode] = self.now[path]
        elif kind in ("write", "cut"):
            self.later.setdefault(self.numbers[inode], []).append((kind, number, data))
        elif kind == "flush":
            self.files[self.numbers[inode]] = self.content(self.numbers[inode], None)
            self.later[self.numbers[inode]] = []
        elif kind == "flush-folder":
            for change in self.entries.pop("" if path == "." else path, []):
                self.rename(self.names, change)
        elif kind == "rename":
            to = os.path.relpath(data.decode(), self.root)
            self.now[to] = self.now.pop(path)
            self.change_name(to, ("move", path, to))
        elif kind == "unlink":
            self.now.pop(path)
            self.change_name(path, ("remove", path, None))
        elif kind == "mkdir":
            self.now[path] = None
            self.change_name(path, ("add", path, None))

    @staticmethod
    def rename(names, change):
        kind, path, to = change
        if kind == "add":
            names[path] = to
        elif kind == "remove":
            names.pop(path, None)
        elif path in names:
            names[to] = names.pop(path)

    def content(self, number, chance):
        """With all later changes, or by chance with the first of them, the last in part."""
        text, later = self.files[number], self.later.get(number, [])
        kept = len(later) if chance is None else chance.randint(0, len(later))
        for index, (kind, at, data) in enumerate(later[:kept]):
            if kind == "cut":
                text = text[:at].ljust(at, b"\0")
            else:
                some = data[:chance.randint(0, len(data))] if chance is not None and index == kept - 1 else data
                text = text[:at].ljust(at, b"\0") + some + text[at + len(some):]
        return text

    def after_cut(self, chance, place):
        """Writes what is left into the folder `place`."""
        names = dict(self.names)
        for changes in self.entries.values():
            for change in changes[:chance.randint(0, len(changes))]:
                self.rename(names, change)
        for path, number in sorted(names.items()):
            if os.path.dirname(path) and not (place / path).parent.is_dir():
                continue  # the folder's own name is lost
            if number is None:
                (place / path).mkdir()
            else:
                (place / path).write_bytes(self.content(number, chance))


def records_in(log):
    text, at = log.read_bytes(), 0
    while at < len(text):
        end = text.index(b"\n", at)
        kind, inode, number, size, path = text[at:end].decode().split(" ", 4)
        at = end + 1 + int(size)
        yield kind, int(inode), int(number), text[end + 1:at], path


def run(folder, *words, log=None, unflushed=""):
    environment = {**os.environ, "ROOF_UNFLUSHED": unflushed}
    if log is not None:
        environment |= {"LD_PRELOAD": str(RECORDER), "ROOF_WRITES": str(log)}
    return subprocess.run([ROOF, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False)


def ids(folder):
    file = folder / "results" / "run" / "measurements.csv"
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    return [row[0] for row in csv.reader(text[:text.rfind("\n") + 1].splitlines()[1:])]


class Recorded:
    """A command in a folder, and its changes of files."""

    def __init__(self, scratch, name, before, words, unflushed=""):
        self.name, self.words = name, words
        self.before = scratch / (name + unflushed) / "before"
        work, log = self.before.parent / "work", self.before.parent / "log"
        self.before.mkdir(parents=True)
        before(self.before)
        shutil.copytree(self.before, work)
        done = run(work, *words, log=log, unflushed=unflushed)
        assert done.returncode == 0, done.stderr
        self.root, self.records = str(work.resolve()), list(records_in(log))
        self.after = work

    def cut(self, at, chance, place):
        """Returns what was said before the cut."""
        disk, said = Disk(self.root, self.before), ""
        for kind, inode, number, data, path in self.records[:at]:
            if kind == "say":
                said += data.decode()
            else:
                disk.apply(kind, inode, number, data, path)
        disk.after_cut(chance, place)
        return said


class PowerCuts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = Path(scratch.name)

    def stages(self, unflushed=""):
        def plans(place):
            (place / "steps.yaml").write_text(STEPS, encoding="utf-8")
            (place / "roofs.yaml").write_text(ROOFS, encoding="utf-8")

        def whole(place):
            plans(place)
            shutil.copytree(self.scratch / "sweep" / "work" / "results" / "run", place / "results" / "run")
            (place / "page.html").write_text("the old page", encoding="utf-8")

        sweep = ["sweep", "steps.yaml", "--out", "results/run"]
        made = [Recorded(self.scratch, "sweep", plans, sweep, unflushed),
                Recorded(self.scratch, "roofs", plans, ["sweep", "roofs.yaml", "--out", "results/run"], unflushed)]
        if unflushed:
            return made
        first = made[0]
        made.append(Recorded(self.scratch, "continue", lambda place: first.cut(len(first.records) // 2, random.Random(2), place), sweep))
        made.append(Recorded(self.scratch, "report", whole, ["report", "results/run", "--out", "page.html"]))
        return made

    def failures_of(self, stage, at, chance):
        """What is wrong after a cut."""
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            said = stage.cut(at, chance, place)
            found = []
            missing = set(ANNOUNCED.findall(said)) - set(ids(place))
            if missing:
                found.append(f"announced, and lost: {sorted(missing)}")
            if stage.name == "report" and (place / "page.html").read_text(encoding="utf-8", errors="replace") not in (
                    "the old page", (stage.after / "page.html").read_text(encoding="utf-8")):
                found.append("the page is neither the old one nor the new one")
            again = run(place, *stage.words)
            if again.returncode != 0:
                found.append(f"the same command ends with {again.returncode}: {again.stderr}")
            if sorted(ids(place)) != sorted(ids(stage.after)):
                found.append("rows are lost or doubled")
            checked = run(place, "check", "results/run")
            if checked.returncode != 0:
                found.append(checked.stdout)
            return found

    def test_a_power_cut_at_any_moment_loses_no_announced_row(self):
        chance = random.Random(1)
        stages = self.stages()
        cuts = [(stage, at) for stage in stages for at in range(len(stage.records) + 1)]
        cuts = chance.sample(cuts, CUTS) if CUTS < len(cuts) else cuts + chance.choices(cuts, k=CUTS - len(cuts))
        self.assertGreater(sum(len(ANNOUNCED.findall(data.decode())) for kind, _, _, data, _ in stages[0].records if kind == "say"), 8)
        for stage, at in cuts:
            with self.subTest(stage=stage.name, at=at):
                self.assertEqual([], self.failures_of(stage, at, chance))
        print(f"{len(cuts)} cuts")

    def test_missing_flushes_would_be_seen(self):
        chance = random.Random(1)
        for unflushed in ("files", "folders"):
            stages = self.stages(unflushed)
            with self.subTest(unflushed=unflushed):
                found = [self.failures_of(stage, len(stage.records), chance) for stage in stages for _ in range(5)]
                self.assertTrue(any("announced, and lost" in text for some in found for text in some), found)


if __name__ == "__main__":
    ROOF, RECORDER = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    if len(sys.argv) > 3:
        CUTS = int(sys.argv[3])
    unittest.main(argv=sys.argv[:1])

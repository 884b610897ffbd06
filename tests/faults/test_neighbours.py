"""What is beside a run, and not the user's own choice: a calibration of another owner, renamed, moved, copied, in capitals, with links, pipes and
sockets, of another version or machine, or with two files lost. Every command answers, takes the calibration that is the newest by its rows,
and names once what it could not take; nothing is refused.

usage: test_neighbours.py FAKE_ROOF [PAIRS [SEED [COMMANDS]]]; PAIRS: accidents of two at once, chosen by chance; COMMANDS: beside a report, after
each accident
"""

import itertools
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from kept_tree import KeptTree
from served import NOBODY, Served

ROOF = None
PAIRS, SEED, COMMANDS = 4, 1, 4
ROOFS = "run:\n  - {bench: flops}\n  - {bench: bandwidth}\n"
STEPS = "run:\n  - {bench: train, model: tinynet, batch: [4, 8]}\n"
HOME = Path("results/fake-2cpu")
OLDER, NEWER, RUN = (f"2026-01-0{day}T000000Z-fake-node-test" for day in (1, 2, 3))
#: Those that take a calibration.
TAKERS = {
    "report": ["report", str(HOME / RUN), "--out", "page.html", "--json"],
    "newest": ["report", "--out", "page.html", "--brief"],
    "whatif": ["whatif", str(HOME / RUN), "--set", "fp32=2x"],
    "compare": ["compare", "other", str(HOME / RUN)],
    "baseline": ["report", str(HOME / RUN), "--baseline", "other", "--out", "page.html"],
    "export": ["export", str(HOME / RUN), "--format", "points"],
    "place": ["place", "--flops", "2e12", "--bytes", "3e10", "--seconds", "1.4"],
    "estimate": ["estimate", "alexnet", "--batch", "8", "--on", "here"],
    "run": ["run", "tinynet", "--batch", "4", "--out", str(HOME / "new")],
}
OTHERS = {
    "trace": ["trace", str(HOME / RUN), "--out", "trace.json"],
    "check": ["check", str(HOME / RUN)],
    "dry": ["sweep", "steps.yaml", "--dry-run"],
    "calibrate": ["calibrate", "--plan", "roofs.yaml", "--out", "calibrated"],
    "own": ["run", "tinynet", "--batch", "4"],
}


def sealed(folder, file, edit):
    """Changes a file as if it had been written so."""
    text = (folder / file).read_text(encoding="utf-8")
    changed = edit(text)
    assert changed != text, file
    (folder / file).write_text(changed, encoding="utf-8")
    subprocess.run([ROOF, "check", folder, "--accept-edited"], capture_output=True, check=False)


def at(time):
    return lambda text: re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", time, text)


def field(name, value):
    return lambda text: re.sub(rf"(?m)^( *{name}: ).*$", rf"\g<1>{value}", text)


def with_fact(line):
    return lambda text: text.replace("cpu_model:", f"{line}\ncpu_model:", 1)


def in_place(file, make):
    def change(folder):
        (folder / file).unlink()
        make(folder / file)
    return change


def bind(file):
    server = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(file.parent)  # a socket's path is short
    try:
        server.bind(file.name)
    finally:
        os.chdir(here)
        server.close()


def renamed(name):
    return lambda folder: folder.rename(folder.with_name(name))


def lost(*files):
    def change(folder):
        for file in files:
            (folder / file).unlink()
    return change


def only(name, text=None):
    def change(folder):
        for file in folder.iterdir():
            if file.name != name:
                file.unlink()
        if text is not None:
            (folder / name).write_text(text, encoding="utf-8")
        if not (folder / name).is_file():
            raise FileNotFoundError(name)
    return change


def copied(name):
    return lambda folder: shutil.copytree(folder, folder.with_name(name))


def in_capitals(folder):
    for file in list(folder.iterdir()):
        file.rename(file.with_name(file.name.upper()))


def exchanged(folder):
    older, aside = folder.with_name(OLDER), folder.with_name("aside")
    older.rename(aside)
    folder.rename(older)
    aside.rename(folder)


def mode(number, file="."):
    return lambda folder: (folder / file).chmod(number)


def beside(make):
    return lambda folder: make(folder.with_name("beside"))


# What is done to the newer calibration; whether it is still the one that is taken, and how it is told: as damage, as odd on standard error, as a
# remark on the page, or not at all.
KINDS = {
    "nothing": (lambda folder: None, True, None),
    "mode 000": (mode(0), False, "odd"), "mode 0111": (mode(0o111), False, "odd"), "mode 0444": (mode(0o444), False, "odd"),
    "rows of mode 000": (mode(0, "measurements.csv"), False, "odd"), "machine.yaml of mode 000": (mode(0, "machine.yaml"), False, "odd"),
    "a link loop": (in_place("measurements.csv", lambda file: file.symlink_to(file.name)), False, "odd"),
    "a dangling link": (in_place("measurements.csv", lambda file: file.symlink_to("nothing")), False, "damage"),
    "a pipe": (in_place("measurements.csv", os.mkfifo), False, "odd"), "a socket": (in_place("samples.csv", bind), False, "odd"),
    "a folder": (in_place("machine.yaml", Path.mkdir), False, "damage"), "a pipe of the plan": (in_place("plan.yaml", os.mkfifo), False, "odd"),
    "a looping folder beside": (beside(lambda place: place.symlink_to(place.name)), True, "odd"),
    "a socket beside": (beside(bind), True, None), "a pipe beside": (beside(os.mkfifo), True, None),
    "a private folder beside": (beside(lambda place: place.mkdir(mode=0)), True, "odd"),
    **{f"{name} in its place": (lambda folder, make=make: (shutil.rmtree(folder), make(folder)), False, "odd")
       for name, make in (("a file", Path.touch), ("a pipe", os.mkfifo), ("a dangling link", lambda place: place.symlink_to("nothing")))},
    "an archive of it": (lambda folder: folder.with_name(f"{folder.name}.tar.gz").touch(), True, None),
    "in capitals": (in_capitals, False, "odd"),
    "two files lost": (lost("measurements.csv", "checksums.csv"), False, "damage"),
    "rows and the machine lost": (lost("measurements.csv", "machine.yaml"), False, "damage"),
    "three files lost": (lost("measurements.csv", "checksums.csv", "machine.yaml"), False, "damage"),
    "rows emptied and checksums lost": (lambda folder: (lost("checksums.csv")(folder), (folder / "measurements.csv").write_text("")), False, "damage"),
    **{f"only {name} is left": (only(name), False, "page" if name == "plan.yaml" else "damage")
       for name in ("measurements.csv", "samples.csv", "checksums.csv", "machine.yaml", "plan.yaml")},
    "only digest.csv is left": (only("digest.csv", "what,name\n"), False, "damage"),
    "only kernels.csv is left": (only("kernels.csv", "id,name,block_checksum:abcdefghij\n"), False, "damage"),
    "only a folder kernels.csv is left": (lambda folder: (only(".lock", "")(folder), (folder / "kernels.csv").mkdir()),
                                          False, "odd"),
    "only a table of others is there": (only("table.csv", "id,name\n"), False, None),
    "only a page and a lock are left": (lambda folder: (only(".lock", "")(folder), (folder / "report.html").touch()), False, None),
    "an older name": (renamed("2025-01-01T000000Z-fake-node-test"), True, "odd"),
    "a later name": (renamed("2031-01-01T000000Z-fake-node-test"), True, "odd"),
    "a killed recording beside": (lambda folder: lost("measurements.csv", "checksums.csv")(
        shutil.copytree(folder, folder.with_name(".it.abcdefghij.part"))), True, None),
    "a plain name": (renamed("0"), True, None), "a name with letters": (renamed("old"), True, None),
    "a clock that was ahead": (lambda folder: sealed(folder.with_name(OLDER), "measurements.csv", at("2025-01-01T00:00:00Z")), True, "odd"),
    "the older one has a later name": (lambda folder: folder.with_name(OLDER).rename(folder.with_name("zz")), True, None),
    "names exchanged": (exchanged, True, "odd"),
    "a copy": (copied("Copy of it"), True, "page"),
    "moved into the run": (lambda folder: folder.rename(folder.with_name(RUN) / folder.name), True, None),
    "the older one within the run": (lambda folder: folder.with_name(OLDER).rename(folder.with_name(RUN) / "inner"), True, None),
    "another format": (lambda folder: sealed(folder, "machine.yaml", field("format", "9")), False, "damage"),
    "another processor": (lambda folder: sealed(folder, "machine.yaml", field("cpu_model", "Another CPU")), False, "page"),
    "another node": (lambda folder: sealed(folder, "machine.yaml", field("node", "another")), False, None),
    "another cache": (lambda folder: sealed(folder, "machine.yaml", field("capacity_bytes", "65536")), False, "page"),
    "other threads": (lambda folder: sealed(folder, "machine.yaml", field("threads", "1")), False, "page"),
}


class Neighbours(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.place = Path(place.name)
        cls.place.chmod(0o755)
        cls.whole = cls.place / "whole"
        cls.whole.mkdir()
        (cls.whole / "roofs.yaml").write_text(ROOFS, encoding="utf-8")
        (cls.whole / "steps.yaml").write_text(STEPS, encoding="utf-8")
        for folder, plan, day in ((HOME / OLDER, "roofs", 1), (HOME / NEWER, "roofs", 2), (HOME / RUN, "steps", 3), (Path("other"), "steps", 4)):
            subprocess.run([ROOF, "sweep", f"{plan}.yaml", "--out", folder], cwd=cls.whole, capture_output=True, check=True)
            sealed(cls.whole / folder, "measurements.csv", at(f"2026-01-0{day}T00:00:01Z"))

        if os.geteuid() == 0:
            for one in [cls.whole, *cls.whole.rglob("*")]:
                os.chown(one, NOBODY, NOBODY, follow_symlinks=False)
        cls.home, cls.tree = cls.place / "home", KeptTree(cls.whole, cls.place / "home")
        cls.served = Served([ROOF], cls.place)
        cls.addClassCleanup(cls.served.end)
        cls.addClassCleanup(cls.tree.restore)  # so that the folder can be removed
        cls.turns = itertools.cycle(name for name in [*TAKERS, *OTHERS] if name != "report")

    def answers(self, names, commands=None):
        """Makes the accidents, and checks some commands, each in its turn, and the report, whose page is kept. Status and streams of each."""
        self.tree.restore()
        for name in names:
            KINDS[name][0](self.home / HOME / NEWER)
        if os.geteuid() == 0:
            for one in [self.home, *self.home.rglob("*")]:
                if one.lstat().st_uid != NOBODY:
                    os.chown(one, NOBODY, NOBODY, follow_symlinks=False)
        chosen = commands or ["report", *itertools.islice(self.turns, COMMANDS)]
        said = {}
        for name in chosen:
            status, out, err = said[name] = self.served.answer(self.home, {**TAKERS, **OTHERS}[name])
            if name == "report":
                self.page = (self.home / "page.html").read_text(encoding="utf-8") if status < 2 else ""
            if "no calibration" not in err:  # that of two accidents none is left is an answer
                self.assertIn(status, (0, 1), f"{names}, {name}: {err}")
            self.assertNotRegex(err, "filesystem error|exception|unexpected", names)
        return said

    def test_every_kind_is_told_as_it_is_and_the_newest_calibration_by_its_rows_is_taken(self):
        for name, (_, is_taken, told) in KINDS.items():
            with self.subTest(name):
                said = self.answers([name])
                study = json.loads(said["report"][1])["studies"][0]
                self.assertIn("2026-01-02" if is_taken else "2026-01-01", study["calibration"]["date"], study["calibration"]["folder"])
                for taker, (status, _, err) in said.items():
                    if taker in OTHERS:
                        continue
                    sentences = [line for line in err.splitlines() if line.startswith("roof: ") and "measuring" not in line]
                    if told == "damage":
                        self.assertEqual((1, True), (status, "roof: damaged: " in err), (taker, err))
                    else:
                        self.assertEqual((0, 1 if told == "odd" else 0), (status, len(sentences)), (taker, err))
                if told is not None:
                    self.assertIn("Damaged files" if told == "damage" else "Remarks on the files", self.page)

    def test_two_files_lost_emptied_or_halved_are_told_or_change_no_answer(self):
        files = ["measurements.csv", "samples.csv", "machine.yaml", "plan.yaml", "checksums.csv"]
        accidents = {"lost": Path.unlink, "emptied": lambda file: file.write_bytes(b""),
                     "halved": lambda file: file.write_bytes(file.read_bytes()[:file.stat().st_size // 2])}
        pairs = [(*two, how, then) for two in itertools.combinations(files, 2) for how in accidents for then in accidents]
        whole = self.answers(["nothing"], [*TAKERS, *OTHERS])
        for first, second, how, then in random.Random(SEED).sample(pairs, min(len(pairs), 2 * PAIRS)):
            def change(folder, first=first, second=second, how=how, then=then):
                accidents[how](folder / first)
                accidents[then](folder / second)

            with self.subTest(files=(first, second), how=(how, then)), mock.patch.dict(KINDS, {"pair": (change, None, None)}):
                for taker, (status, out, err) in self.answers(["pair"]).items():
                    if taker in TAKERS and (status, out) != whole[taker][:2]:
                        self.assertIn(NEWER, err, taker)

    def test_two_at_once_end_no_command(self):
        chance = random.Random(SEED)
        tried = 0
        while tried < PAIRS:
            pair = chance.sample(sorted(KINDS), 2)
            try:
                self.answers(pair)
                tried += 1
            except (OSError, AssertionError) as error:
                if isinstance(error, AssertionError) and str(error) not in ("machine.yaml", "measurements.csv"):
                    raise  # else the second accident has no place after the first
                chance.random()


if __name__ == "__main__":
    ROOF = os.path.abspath(sys.argv.pop(1))
    PAIRS = int(sys.argv.pop(1)) if len(sys.argv) > 1 else PAIRS
    SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 else SEED
    COMMANDS = int(sys.argv.pop(1)) if len(sys.argv) > 1 else COMMANDS
    unittest.main()

"""What is beside a run, and not the user's own choice: a calibration of another owner, renamed, moved, copied, in capitals, with links, pipes and
sockets, of another version or machine, or with two files lost. Every command answers, takes the calibration that is the newest by its rows,
and names once what it could not take; nothing is refused.

usage: test_neighbours.py FAKE_ROOF [PAIRS [SEED]]; PAIRS: accidents of two at once, chosen by chance
"""

import itertools
import json
import os
import random
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOF = None
PAIRS, SEED = 4, 1
ROOFS = "run:\n  - {bench: flops}\n  - {bench: bandwidth}\n"
STEPS = "run:\n  - {bench: train, model: tinynet, batch: [4, 8]}\n"
HOME = Path("results/fake-2cpu")
OLDER, NEWER, RUN = (f"2026-01-0{day}T000000Z-fake-node-test" for day in (1, 2, 3))
NOBODY = 65534
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
    **{f"only {name} is left": (only(name), False, "page" if name.endswith(".yaml") else "damage")
       for name in ("measurements.csv", "samples.csv", "checksums.csv", "machine.yaml", "plan.yaml")},
    "only digest.csv is left": (only("digest.csv", "what,name\n"), False, "damage"),
    "only kernels.csv is left": (only("kernels.csv", "id,name,block_checksum:abcdefghij\n"), False, "damage"),
    "only a table of others is there": (only("table.csv", "id,name\n"), False, None),
    "only a page and a lock are left": (lambda folder: (only(".lock", "")(folder), (folder / "report.html").touch()), False, None),
    "an older name": (renamed("2025-01-01T000000Z-fake-node-test"), True, "odd"),
    "a later name": (renamed("2031-01-01T000000Z-fake-node-test"), True, "odd"),
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

    def roof(self, folder, words):
        def as_nobody():
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)

        (folder / "page.html").unlink(missing_ok=True)
        return subprocess.run([ROOF, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=60, preexec_fn=as_nobody)

    def answers(self, names):
        """Makes the accidents in a copy of the folders, and checks each command."""
        with tempfile.TemporaryDirectory(dir=self.place) as scratch:
            folder = Path(scratch) / "home"
            shutil.copytree(self.whole, folder, symlinks=True)
            for name in names:
                KINDS[name][0](folder / HOME / NEWER)
            if os.geteuid() == 0:
                Path(scratch).chmod(0o755)
                for one in [folder, *folder.rglob("*")]:
                    os.chown(one, NOBODY, NOBODY, follow_symlinks=False)
            said = {name: self.roof(folder, words) for name, words in {**TAKERS, **OTHERS}.items()}
            self.page = ""
            if said["report"].returncode < 2:
                self.roof(folder, TAKERS["report"])
                self.page = (folder / "page.html").read_text(encoding="utf-8")
            for one in [folder, *folder.rglob("*")]:
                if not one.is_symlink() and not stat.S_IMODE(one.stat().st_mode) & 0o400:
                    one.chmod(0o755)
        for name, done in said.items():
            if "no calibration" not in done.stderr:  # that of two accidents none is left is an answer
                self.assertIn(done.returncode, (0, 1), f"{names}, {name}: {done.stderr}")
            self.assertNotRegex(done.stderr, "filesystem error|exception|unexpected", names)
        return said

    def test_every_kind_is_told_as_it_is_and_the_newest_calibration_by_its_rows_is_taken(self):
        for name, (_, is_taken, told) in KINDS.items():
            with self.subTest(name):
                said = self.answers([name])
                taken = json.loads(said["report"].stdout)["studies"][0]["calibration"]["folder"]
                day = "02" if is_taken else "01"
                self.assertIn("2026-01-" + day, json.loads(said["report"].stdout)["studies"][0]["calibration"]["date"], taken)
                for taker in TAKERS:
                    sentences = [line for line in said[taker].stderr.splitlines() if line.startswith("roof: ") and "measuring" not in line]
                    if told == "damage":
                        self.assertEqual((1, True), (said[taker].returncode, "roof: damaged: " in said[taker].stderr), (taker, said[taker].stderr))
                    else:
                        self.assertEqual(0, said[taker].returncode, (taker, said[taker].stderr))
                        self.assertEqual(1 if told == "odd" else 0, len(sentences), (taker, said[taker].stderr))
                if told is not None:
                    self.assertIn("Damaged files" if told == "damage" else "Remarks on the files", self.page)

    def test_two_files_lost_emptied_or_halved_are_told_or_change_no_answer(self):
        files = ["measurements.csv", "samples.csv", "machine.yaml", "plan.yaml", "checksums.csv"]
        accidents = {"lost": Path.unlink, "emptied": lambda file: file.write_bytes(b""),
                     "halved": lambda file: file.write_bytes(file.read_bytes()[:file.stat().st_size // 2])}
        pairs = [(*two, how, then) for two in itertools.combinations(files, 2) for how in accidents for then in accidents]
        whole = self.answers(["nothing"])
        for first, second, how, then in random.Random(SEED).sample(pairs, min(len(pairs), 2 * PAIRS)):
            def change(folder, first=first, second=second, how=how, then=then):
                accidents[how](folder / first)
                accidents[then](folder / second)

            with self.subTest(files=(first, second), how=(how, then)), mock.patch.dict(KINDS, {"pair": (change, None, None)}):
                said = self.answers(["pair"])
                for taker in TAKERS:
                    if (said[taker].returncode, said[taker].stdout) != (whole[taker].returncode, whole[taker].stdout):
                        self.assertIn(NEWER, said[taker].stderr, taker)

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
    unittest.main()

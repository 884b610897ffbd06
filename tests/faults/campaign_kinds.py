"""The kinds of accidents of campaign.py: to the text of a file, to a file or a folder, and to what stands beside it."""

import gzip
import os
import shutil
from pathlib import Path

import test_neighbours as neighbours

#: Accidents to the newer calibration that leave a folder consistent in itself: who names it gets what is there.
CONSISTENT = ("an older name", "a later name", "a plain name", "a name with letters", "a clock that was ahead", "the older one has a later name",
              "names exchanged", "a copy", "moved into the run", "the older one within the run", "another processor", "another node", "another cache",
              "other threads")


# Accidents in the text of a file: of bytes, of the same file of another folder.

def lines_of(text):
    return text.splitlines(keepends=True)


def at_line(change):
    def changed(chance, text, other):
        lines = lines_of(text)
        change(chance, lines, lines_of(other))
        return b"".join(lines)
    return changed


def at_cell(change):
    def of_line(chance, lines, _):
        place = chance.randrange(len(lines))
        cells = lines[place].rstrip(b"\n").split(b",")
        change(chance, cells)
        lines[place] = b",".join(cells) + b"\n"
    return at_line(of_line)


def replaced(old, new):
    """One letter of `old`, chosen by chance."""
    def changed(chance, text, other):
        places = [place for place, letter in enumerate(text) if letter in old]
        if not places:
            return text
        place = chance.choice(places)
        return text[:place] + new(chance, text[place:place + 1]) + text[place + 1:]
    return changed


def without_column(chance, text, other):
    column = chance.randrange(text.split(b"\n")[0].count(b",") + 1)
    return b"\n".join(b",".join(cell for place, cell in enumerate(line.split(b",")) if place != column) for line in text.split(b"\n"))


EVERY = bytes(range(256))
TEXTS = {
    "a bit": replaced(EVERY, lambda chance, letter: bytes([letter[0] ^ 1 << chance.randrange(8)])),
    "a digit": replaced(b"0123456789", lambda chance, letter: b"%d" % chance.randrange(10)),
    "a digit lost": replaced(b"0123456789", lambda chance, letter: b""),
    "a point lost": replaced(b".", lambda chance, letter: b""),
    "a comma lost": replaced(b",", lambda chance, letter: b""),
    "a quote": replaced(EVERY, lambda chance, letter: b'"' + letter),
    "a tab": replaced(EVERY, lambda chance, letter: b"\t" + letter),
    "a letter that is no UTF-8": replaced(EVERY, lambda chance, letter: b"\xff" + letter),
    "a mark of direction": replaced(EVERY, lambda chance, letter: "\u202e".encode() + letter),
    "a line lost": at_line(lambda chance, lines, other: lines.pop(chance.randrange(len(lines)))),
    "a line twice": at_line(lambda chance, lines, other: lines.insert(chance.randrange(len(lines)), chance.choice(lines))),
    "a line moved": at_line(lambda chance, lines, other: lines.insert(chance.randrange(len(lines)), lines.pop(chance.randrange(len(lines))))),
    "lines of another": at_line(lambda chance, lines, other: lines.extend(other[1:])),
    "a line of another": at_line(lambda chance, lines, other: other and lines.__setitem__(chance.randrange(len(lines)), chance.choice(other))),
    "the header of another": at_line(lambda chance, lines, other: other and lines.__setitem__(0, other[0])),
    "the header lost": at_line(lambda chance, lines, other: lines.pop(0)),
    "a cell emptied": at_cell(lambda chance, cells: cells.__setitem__(chance.randrange(len(cells)), b"")),
    "a cell twice": at_cell(lambda chance, cells: cells.insert(chance.randrange(len(cells)), chance.choice(cells))),
    "a cell of text": at_cell(lambda chance, cells: cells.__setitem__(chance.randrange(len(cells)), chance.choice(
        [b"nan", b"inf", b"-0", b"1e400", b"1e-320", b"0x10", b"=1+1", b"99999999999999999999"]))),
    "a column lost": without_column,
    "a tail cut": lambda chance, text, other: text[:chance.randrange(len(text))],
    "zeroes": lambda chance, text, other: (place := chance.randrange(len(text))) * 0 or text[:place] + bytes(64) + text[place + 64:],
    "emptied": lambda chance, text, other: b"",
    "twice": lambda chance, text, other: text + text,
    "that of another": lambda chance, text, other: other,
    "line ends of Windows": lambda chance, text, other: text.replace(b"\n", b"\r\n"),
    "a mark of UTF-8": lambda chance, text, other: b"\xef\xbb\xbf" + text,
    "UTF-16": lambda chance, text, other: text.decode("utf-8", "replace").encode("utf-16"),
    "compressed": lambda chance, text, other: gzip.compress(text),
    "marks of a merge": lambda chance, text, other: b"<<<<<<< HEAD\n" + text + b"=======\n" + other + b">>>>>>> theirs\n",
}
# Accidents to the place of a file.
def link_to(target):
    return lambda file: (file.unlink(), file.symlink_to(target(file)))


def owned(user, mode):
    return lambda path: (os.chown(path, user, user), path.chmod(mode))


FILES = {
    "lost": Path.unlink, "a folder": lambda file: (file.unlink(), file.mkdir()), "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
    "a socket": lambda file: (file.unlink(), neighbours.bind(file)), "a link to itself": link_to(lambda file: file.name),
    "a dangling link": link_to(lambda file: "nothing"), "a link to another's": link_to(lambda file: file.parents[1] / "other-of-it" / file.name),
    "a link to a device": link_to(lambda file: "/dev/zero"), "a link to a file of the system": link_to(lambda file: "/etc/hostname"),
    "unreadable": lambda file: file.chmod(0), "of another user": owned(0, 0o600), "of another user, to be read": owned(0, 0o644),
    "in capitals": lambda file: file.rename(file.with_name(file.name.upper())),
    "renamed as a copy": lambda file: file.rename(file.with_name(f"{file.stem} (1){file.suffix}")),
}
# Accidents to a folder: (what is done, whether its rows are still there to be taken).
FOLDERS = {
    "unreadable": (lambda folder: folder.chmod(0), False), "unlistable": (lambda folder: folder.chmod(0o333), True),
    "without a way in": (lambda folder: folder.chmod(0o444), False), "without a list or writing": (lambda folder: folder.chmod(0o111), False),
    "read-only": (lambda folder: folder.chmod(0o555), True), "of another user": (owned(0, 0o700), False),
    "of another user, to be read": (owned(0, 0o755), True), "lost": (shutil.rmtree, False),
    "a file": (lambda folder: (shutil.rmtree(folder), folder.touch()), False),
    "a link to itself": (lambda folder: (shutil.rmtree(folder), folder.symlink_to(folder.name)), False),
    "a link to where it was moved": (lambda folder: (folder.rename(folder.with_name("elsewhere")), folder.symlink_to("elsewhere")), True),
    "in capitals": (neighbours.in_capitals, False), "copied": (neighbours.copied("Copy of it"), True),
    "a copy within": (lambda folder: shutil.copytree(folder, folder / "copy"), True),
    "stray files": (lambda folder: [(folder / name).write_bytes(b"\0\xff,") for name in
                                    ("measurements (1).csv", "._samples.csv", ".DS_Store", ".nfs0001", "notes.txt", "Thumbs.db", "measurements.csv~")], True),
    "a part of a killed writer": (lambda folder: (folder / "measurements.csv.abcdef.part").write_text("id,"), True),
    "a pipe as the lock": (lambda folder: ((folder / ".lock").unlink(missing_ok=True), os.mkfifo(folder / ".lock")), True),
    "a link as the lock": (lambda folder: ((folder / ".lock").unlink(missing_ok=True), (folder / ".lock").symlink_to("/etc/hostname")), True),
    "a link as the page": (lambda folder: (folder / "report.html").symlink_to("/etc/hostname"), True),
    "a link as what is cut": (lambda folder: (folder / "samples.csv.cut").symlink_to("/etc/hostname"), True),
}
#: What stands beside any folder.
BESIDE = {
    "a private folder": lambda place: place.mkdir(mode=0), "a loop": lambda place: place.symlink_to(place.name), "a pipe": os.mkfifo,
    "a socket": neighbours.bind, "an empty folder": Path.mkdir, "a file": Path.touch, "a dangling link": lambda place: place.symlink_to("nothing"),
    "another's": lambda place: (place.mkdir(), os.chown(place, 0, 0), place.chmod(0o700)),
    "a folder that is no UTF-8": lambda place: Path(os.fsdecode(os.fsencode(place) + b"\xff")).mkdir(),
    "a name with marks": lambda place: place.with_name("beside\u202e\n,=1+1").mkdir(),
}

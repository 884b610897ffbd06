"""Accidents to shared results: one or two at once, to files, names, links, owners and neighbours of a run, its calibrations, the nodes of a fleet and
an import; commands of every verb that reads folders answer, as another user than the owner of the system. Each answer is as before, or refuses
what the user named, or names what is wrong; an accident to what the user did not name ends no command.

usage: campaign.py FAKE_ROOF TRIES [SEED]
"""

import gc
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import test_neighbours as neighbours
from campaign_kinds import BESIDE, CONSISTENT, FILES, FOLDERS, TEXTS
from kept_tree import KeptTree
from served import NOBODY, SEPARATOR, Served
from test_neighbours import HOME, NEWER, OLDER, RUN

PACKAGE = Path(__file__).resolve().parents[2] / "tools/python"
NODES = [f"n{number}" for number in range(1, 9)]
ROUNDS = "rounds: 3\nrun:\n  - {bench: flops}\n"
TRACE = json.dumps({"traceEvents": [{"ph": "X", "cat": "kernel", "name": name, "ts": 4 * ord(name), "dur": 3} for name in "kl"]})
RAW = re.compile(r"filesystem error|exception|unexpected|Traceback|terminate called|what\(\)")
PAGE, TABLES = "page.html", "tables"
PLACES = {"run": HOME / RUN, "newer": HOME / NEWER, "older": HOME / OLDER, "other": Path("other"), "n1": Path("fleet/n1"), "n2": Path("fleet/n2"),
          "later": Path("later/n3"), "import": Path("imported")}
OF_FLEET = ("n1", "n2")
#: Each command, and the folders that it reads: first those that it is told, then those that it finds.
COMMANDS = {
    "report": (["report", HOME / RUN, "--out", PAGE, "--json"], ("run",), ("newer",)),
    "newest": (["report", "--out", PAGE, "--brief"], (), ("run", "newer")),
    "anonymised": (["report", HOME / RUN, "--out", PAGE, "--anonymise", "--data", TABLES], ("run",), ("newer",)),
    "baseline": (["report", HOME / RUN, "--baseline", "other", "--out", PAGE], ("run", "other"), ("newer",)),
    "two reports": (["report", HOME / RUN, "other", "--out", PAGE], ("run", "other"), ("newer",)),
    "named roofs": (["report", HOME / RUN, "--calibration", HOME / NEWER, "--out", PAGE], ("run", "newer"), ()),
    "of a calibration": (["report", HOME / NEWER, "--out", PAGE], ("newer",), ()),
    "of an import": (["report", "imported", "--out", PAGE], ("import",), ("newer",)),
    "whatif": (["whatif", HOME / RUN, "--set", "fp32=2x"], ("run",), ("newer",)),
    "compare": (["compare", "other", HOME / RUN], ("other", "run"), ("newer",)),
    "compare roofs": (["compare", HOME / OLDER, HOME / NEWER], ("older", "newer"), ()),
    "points": (["export", HOME / RUN, "--format", "points"], ("run",), ("newer",)),
    "csv": (["export", HOME / NEWER, "--format", "csv"], ("newer",), ()),
    "digest": (["export", HOME / NEWER, "--format", "digest"], ("newer",), ()),
    "place": (["place", "--flops", "2e12", "--bytes", "3e10", "--seconds", "1.4"], (), ("newer",)),
    "estimate": (["estimate", "alexnet", "--batch", "8", "--on", "here"], (), ("newer",)),
    "trace": (["trace", HOME / RUN, "--out", PAGE], ("run",), ()),
    "check": (["check", HOME / RUN], ("run",), ()),
    "dry": (["sweep", "steps.yaml", "--dry-run"], (), ()),
    "run": (["run", "tinynet", "--batch", "4", "--out", HOME / "new"], (), ("newer",)),
    "own": (["run", "tinynet", "--batch", "4"], (), ("newer",)),
    "append": (["sweep", "steps.yaml", "--out", HOME / RUN], ("run",), ()),
    "calibrate": (["calibrate", "--plan", "roofs.yaml", "--out", "calibrated"], (), ()),
    "health": (["health", "--reference", "fleet", "--plan", "rounds.yaml", "--node", "n4"], OF_FLEET, ()),
    "fleet": (["fleet", "fleet", "--expect", "nodes.txt", "--out", PAGE], OF_FLEET, ()),
    "hidden fleet": (["fleet", "fleet", "--expect", "nodes.txt", "--anonymise", "--json"], OF_FLEET, ()),
    "retest": (["fleet", "retest", "fleet", "--expect", "nodes.txt"], OF_FLEET, ()),
    "history": (["fleet", "history", "fleet", "later"], (*OF_FLEET, "later"), ()),
    "compare fleets": (["fleet", "compare", "fleet", "later", "--expect", "nodes.txt"], (*OF_FLEET, "later"), ()),
    "atlas": (["atlas", HOME / NEWER, "--json"], ("newer",), ()),
    "atlas add": (["atlas", "add", HOME / NEWER, "a-machine", "--out", "atlas"], ("newer",), ()),
}
OF_PACKAGE = ("fleet", "atlas")
HIDDEN, ANONYMOUS = "run|node|machine", ("anonymised", "hidden fleet")
#: A name under which an accident puts a folder.
RENAMED = re.compile(r"(?<=[/>'])(Copy of it|elsewhere|beside|old|zz|inner|copy|0|20(25|31)-01-01T000000Z-fake-node-test)(?=[\"'/<:; ,])")
WRITING = ("run", "own", "append", "calibrate", "health")  # whose words have times and names


def serve():
    """As fake_roof.cpp --serve, for commands of the package: this process has imported their libraries once."""
    sys.path.insert(0, str(PACKAGE))
    import roof.commands.atlas
    import roof.commands.fleet
    import roof.fleet.history
    import roof.fleet.judge
    import roof.fleet.links
    import roof.fleet.reports  # noqa: F401
    from roof.__main__ import main

    gc.freeze()  # its pages are not copied in each child
    for line in sys.stdin:
        user, folder, out, err, *words = line.rstrip("\n").split(SEPARATOR)
        child = os.fork()
        if child == 0:
            status = 70
            for file, stream in ((out, 1), (err, 2)):
                os.dup2(os.open(file, os.O_WRONLY), stream)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            try:
                os.chdir(folder)
                if os.geteuid() != int(user):
                    os.setgroups([])
                    os.setgid(int(user))
                    os.setuid(int(user))
                signal.alarm(600)  # of a busy machine
                sys.argv = ["roof", *words]
                status = main()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


class Campaign:
    def __init__(self, roof, scratch, seed):
        self.roof_path, self.scratch, self.chance = roof, Path(scratch), random.Random(seed)
        neighbours.ROOF = roof
        self.package, self.program = (Served(words, self.scratch, ROOF_PROGRAM=str(roof)) for words in ([sys.executable, "-B", __file__], [roof]))
        self.whole, self.home = self.scratch / "whole", self.scratch / "home"
        self.counts, self.kinds, self.wrong = Counter(), Counter(), 0
        self.make()
        self.answers = {name: self.fresh(name) for name in COMMANDS}
        # What each command says where a folder that it finds is not there.
        self.without = {(name, place): self.fresh(name, PLACES[place]) for name, (_, _, found) in COMMANDS.items() for place in found}
        for name, answer in self.answers.items():
            if answer[0] > (1 if name in ("health", "history", "compare fleets", "fleet", "hidden fleet", "retest") else 0) and not answer[1]:
                raise SystemExit(f"{name} of whole folders: {answer}")

    def make(self):
        self.scratch.chmod(0o755)
        self.whole.mkdir()
        for name, text in (("roofs", neighbours.ROOFS), ("steps", neighbours.STEPS), ("rounds", ROUNDS)):
            (self.whole / f"{name}.yaml").write_text(text, encoding="utf-8")
        (self.whole / "nodes.txt").write_text("".join(f"{node}\n" for node in NODES), encoding="utf-8")
        (self.whole / "trace.json").write_text(TRACE, encoding="utf-8")
        made = [(folder, plan, day, "fake-node") for day, (folder, plan) in enumerate(
            ((HOME / OLDER, "roofs"), (HOME / NEWER, "roofs"), (HOME / RUN, "steps"), (Path("other"), "steps")), 1)]
        made += [(Path(week, node), "rounds", day, node) for day, week in ((5, "fleet"), (12, "later")) for node in NODES]
        for folder, plan, day, node in made:
            self.run_whole("sweep", f"{plan}.yaml", "--out", folder, "--node", node)
            neighbours.sealed(self.whole / folder, "measurements.csv", neighbours.at(f"2026-01-{day:02}T00:00:01Z"))
            if plan == "rounds":
                (self.whole / folder / "digest.csv").unlink(missing_ok=True)
                self.run_whole("export", folder, "--format", "digest", "--out", folder / "digest.csv")
                self.run_whole("check", folder, "--accept-edited")
        self.run_whole("import", "trace.json", "--out", "imported")
        for folder in PLACES.values():  # what a link may lead to
            shutil.copytree(self.whole / "other", self.whole / folder.parent / "other-of-it", dirs_exist_ok=True) if folder.parent != HOME else None
        for one in [self.whole, *self.whole.rglob("*")] if os.geteuid() == 0 else []:
            os.chown(one, NOBODY, NOBODY, follow_symlinks=False)
        self.tree = KeptTree(self.whole, self.home)

    def run_whole(self, *words):
        subprocess.run([self.roof_path, *map(str, words)], cwd=self.whole, capture_output=True, check=False,
                       env={**os.environ, "ROOF_PYTHON": sys.executable})

    def fresh(self, name, lost=None):
        self.tree.restore()
        if lost:
            shutil.rmtree(self.home / lost)
        return self.answer(name)

    def answer(self, name):
        """Status, standard output with the page, and standard error."""
        words = [str(word) for word in COMMANDS[name][0]]
        page = self.home / PAGE
        page.unlink(missing_ok=True)
        status, out, err = (self.package if words[0] in OF_PACKAGE else self.program).answer(self.home, words)
        return status, out + (page.read_text(encoding="utf-8", errors="replace") if page.is_file() else ""), err

    def accident(self):
        """One of chance: (what it is, the folder that it befalls, whether an older calibration may be taken for it without a word)."""
        chance = self.chance
        place = chance.choice(list(PLACES))
        folder = self.home / PLACES[place]
        group = chance.choice(["text", "text", "text", "file", "file", "folder", "rest", "beside", "neighbour"])
        if group == "neighbour":
            name = chance.choice(list(neighbours.KINDS))
            change, _, told = neighbours.KINDS[name]
            change(self.home / HOME / NEWER)
            return f"{name} (neighbour)", "newer", told in (None, "page")
        if group == "beside":
            name = chance.choice(list(BESIDE))
            BESIDE[name](folder.with_name("beside"))
            return f"{name} beside", place, True
        if group == "folder":
            name = chance.choice(list(FOLDERS))
            FOLDERS[name][0](folder)
            return f"folder {name}", place, name == "lost"
        files = sorted(file for file in folder.iterdir() if not file.is_fifo() and file.suffix in (".csv", ".yaml"))
        file = chance.choice(files)
        if group == "rest":
            for other in files:
                if other != file:
                    other.unlink()
            return f"only {file.name} is left", place, file.name == "plan.yaml"  # as of a run that has just begun
        if group == "file":
            name = chance.choice(list(FILES))
            FILES[name](file)
            return f"{file.name} {name}", place, False
        name = chance.choice(list(TEXTS))
        before = file.read_bytes()
        twin = {"run": "other", "other": "run", "newer": "older", "older": "newer", "n1": "n2", "n2": "n1", "later": "n1", "import": "run"}[place]
        other = self.whole / PLACES[twin] / file.name
        after = TEXTS[name](chance, before, other.read_bytes() if other.exists() else b"")
        if after == before:
            raise ValueError("it changes nothing")
        file.write_bytes(after)
        return f"{file.name}: {name}", place, False

    def try_once(self):
        self.tree.restore()
        befallen = []
        for _ in range(self.chance.choice((1, 2))):
            try:
                befallen.append(self.accident())
            except (OSError, ValueError, IndexError, AssertionError):
                pass  # has no place after the first
        if not befallen:
            return self.try_once()
        places = {place for _, place, _ in befallen}
        concerned = [name for name, (_, told, found) in COMMANDS.items() if places & {*told, *found}]
        for name in self.chance.sample(concerned, min(self.chance.choice((1, 1, 2)), len(concerned))):
            verdict = self.judge(name, befallen, self.answer(name))
            self.counts[verdict] += 1
            if verdict in ("SILENT", "CRASH", "ENDED"):
                self.wrong += 1
            if COMMANDS[name][0][0] in ("run", "sweep", "calibrate") and name != "dry":
                break  # it has changed the folders
        for what, place, _ in befallen:
            self.kinds[what, place] += 1

    def judge(self, name, befallen, answer):
        status, out, err = answer
        words, told, found = COMMANDS[name]
        places = {place for _, place, _ in befallen}

        def wrong(verdict):
            if self.counts[verdict] < 40:
                print(f"{verdict}: roof {' '.join(map(str, words))} after {befallen}: status {status}\n{err[-600:]}{self.difference(name, out)}", flush=True)
            return verdict

        if status not in (0, 1, 2) or RAW.search(err) or (status == 2 and not (err or out)):
            return wrong("CRASH")
        if name == "health" and "not judged: 15 s were over" in out:  # the machine was too busy
            return "too late"
        if self.same(name, answer, self.answers[name]):
            return "unchanged"
        is_named = any(self.names(name, place, err + out) for place in places)
        if status == 2 and self.answers[name][0] != 2:
            if places & set(told):
                return "refused" if "roof: " in err or words[0] == "fleet" else wrong("CRASH")
            return "refused" if "no calibration" in err or is_named else wrong("ENDED")  # of two accidents no calibration may be left
        if is_named:
            return "told"
        if any(may and (name, place) in self.without and self.same(name, answer, self.without[name, place]) for _, place, may in befallen):
            return "passed over by rule"
        if "newer" in told and any(what == f"{one} (neighbour)" for what, _, _ in befallen for one in CONSISTENT):
            return "as it is"
        if name in WRITING and status == self.answers[name][0]:
            return "unchanged"
        return wrong("SILENT")

    def names(self, name, place, text):
        """Whether the answer has a line that the whole one has not, and that names the folder, its node or one of its files."""
        def lines(text):  # the numbers of hidden names are counted with what is beside
            return (re.sub(rf"\b({HIDDEN})-\d+", r"\1-N", text) if name in ANONYMOUS else text).splitlines()

        before = set(lines(self.answers[name][1] + self.answers[name][2]))
        new = "\n".join(line for line in lines(text) if line not in before)
        words = [rf"\b{PLACES[place].name}\b", r"\w\.(csv|yaml)\b|passed over|has not ended|its rows disagree|Remarks on the files", RENAMED.pattern]
        return re.search("|".join(words + [rf"\b({HIDDEN})-N\b|a folder"] * (name in ANONYMOUS)), new) is not None

    def same(self, name, one, other):
        return one[0] == other[0] and (one[1] == other[1] or self.plain(name, one[1]) == self.plain(name, other[1]))

    @staticmethod
    def plain(name, text):
        text = RENAMED.sub(NEWER, text)
        if name == "anonymised":
            text = re.sub(rf"\b({HIDDEN})-\d+", r"\1-N", text)  # counted with what is beside it
        if "both sides use the same calibration" in text:  # not so where a copy of it is nearer
            text = "\n".join(line for line in text.split("\n") if "both sides use the same calibration" not in line)
        return re.sub(r"20\d\d-\d\d-\d\d[-T0-9:Z]*(-\w+)*", "DATE", text) if name in WRITING else text

    def difference(self, name, out):
        before = self.plain(name, self.answers[name][1]).splitlines()
        return "".join(f"  | {line[:200]}\n" for line in [line for line in self.plain(name, out).splitlines() if line not in before][:4])

    def summary(self):
        return f"{len(self.kinds)} kinds in their places; " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(self.counts.items()))


def main():
    """Prints the tally every 250 accidents, at the end, and when it is stopped."""
    roof, tries, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    stopped = []
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: stopped.append(True))
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as scratch:
        campaign = Campaign(roof, scratch, seed)
        for number in range(1, tries + 1):
            campaign.try_once()
            if number % 250 == 0 or number == tries or stopped:
                print(f"{number} accidents, seed {seed}: {campaign.summary()}", flush=True)
            if stopped:
                break
        campaign.tree.restore()  # so that the folder can be removed
        campaign.package.end()
        campaign.program.end()
    return 1 if campaign.wrong else 0


if __name__ == "__main__":
    sys.exit(serve() if sys.argv[1:] == ["--serve"] else main())

"""Two users measure into the same results, and the sweep of one or of both is killed at a call that changes a file. Neither loses or doubles a row,
neither writes into the folder of the other, and no command of one ends because of what the other left. Only root can be two users.

usage: test_two_users.py FAKE_ROOF INJECT [KILLS [SEED]]
"""

import csv
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOF = INJECT = None
KILLS, SEED = 8, 1
PLAN = "name: shared\nrun:\n  - {bench: train, model: [tinynet, widenet], batch: [4, 8]}\n  - {bench: flops}\n  - {bench: bandwidth}\n"
ALICE, BOB = 65533, 65534
MASKS = (0o022, 0o077, 0o027, 0o002)


def start(place, user, mask, *words, fault=None):
    def become():
        os.setgroups([])
        os.setgid(BOB)  # one group
        os.setuid(user)
        os.umask(mask)

    environment = {**os.environ, "LD_PRELOAD": str(INJECT), "HOME": "/nonexistent"}
    environment.pop("ROOF_FAULT", None)
    if fault:
        environment["ROOF_FAULT"] = fault
    return subprocess.Popen([ROOF, *words], cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=become)


def ends(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def rows(folder):
    """The complete lines of its measurements."""
    file = folder / "measurements.csv"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return list(csv.reader(text[:text.rfind("\n") + 1].splitlines()))[1:]


@unittest.skipUnless(os.geteuid() == 0, "only root can be two users")
class TwoUsers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = Path(scratch.name)
        cls.scratch.chmod(0o755)
        place = cls.new_place("whole")
        status, _, err = ends(start(place, ALICE, 0o022, "sweep", "plan.yaml", "--out", "results/fake-2cpu/run"))
        cls.calls = int(err.split("calls: ")[1].split()[0])
        cls.ids = [row[0] for row in rows(place / "results/fake-2cpu/run")]
        assert status == 0 and cls.calls > 20 and len(cls.ids) > 10, err

    @classmethod
    def new_place(cls, name):
        place = cls.scratch / name
        (place / "results/fake-2cpu").mkdir(parents=True)
        (place / "plan.yaml").write_text(PLAN, encoding="utf-8")
        for folder in (place, place / "results", place / "results/fake-2cpu"):
            folder.chmod(0o1777)
        return place

    def folders(self, place, user):
        return sorted(folder for folder in (place / "results/fake-2cpu").iterdir() if folder.stat().st_uid == user)

    def sane(self, done, allowed=(0, 1)):
        status, _, err = done
        self.assertIn(status, allowed, err)
        self.assertNotRegex(err, "filesystem error|exception|unexpected|terminate")

    def test_a_kill_of_one_or_both_harms_neither(self):
        chance = random.Random(SEED)
        kills = tries = 0
        while kills < KILLS:
            place = self.new_place(f"try{kills}")
            masks = {user: chance.choice(MASKS) for user in (ALICE, BOB)}
            at_once, both = chance.random() < 0.5, chance.random() < 0.4
            faults = {user: f"{chance.randrange(self.calls)} kill-{chance.choice(('before', 'half', 'after'))}" if user == ALICE or both else None
                      for user in masks}
            with self.subTest(masks=masks, faults=faults, at_once=at_once):
                before, running = {}, []
                for user, fault in faults.items():
                    running.append(start(place, user, masks[user], "sweep", "plan.yaml", fault=fault))
                    if not at_once:
                        running[-1].wait()
                for process, fault in zip(running, faults.values()):
                    self.sane(ends(process), (0, -9) if fault else (0,))
                    kills += fault is not None
                for user in masks:
                    before[user] = {folder: rows(folder) for folder in self.folders(place, user)}
                for user in chance.sample(sorted(masks), 2):  # each looks, and goes on
                    self.sane(ends(start(place, user, masks[user], "report", "--brief", "--out", f"page{user}.html")), (0, 1, 2))
                    self.sane(ends(start(place, user, masks[user], "place", "--flops", "1e12", "--seconds", "100")), (0, 1, 2))
                    self.sane(ends(start(place, user, masks[user], "sweep", "plan.yaml")), (0,))
                for user in masks:
                    mine = self.folders(place, user)
                    for folder, kept in before[user].items():
                        self.assertEqual(kept, rows(folder)[:len(kept)])
                    for folder in mine:
                        self.assertLessEqual({file.stat().st_uid for file in folder.iterdir()}, {user})  # none, if the kill came before the first file
                        found = [row[0] for row in rows(folder)]
                        self.assertEqual(len(found), len(set(found)))
                        self.assertEqual(found, self.ids[:len(found)])
                        self.sane(ends(start(place, user, masks[user], "check", str(folder.relative_to(place)))), (0,) if found else (0, 2))
                    self.assertIn(self.ids, [[row[0] for row in rows(folder)] for folder in mine])
                self.assertEqual(len(list((place / "results/fake-2cpu").iterdir())), sum(len(self.folders(place, user)) for user in masks))
            subprocess.run(["rm", "-rf", place], check=True)
            if (tries := tries + 1) % 50 == 0:
                print(f"{kills} kills so far", file=sys.stderr, flush=True)
        print(f"{kills} kills", file=sys.stderr)


if __name__ == "__main__":
    ROOF, INJECT = (Path(word).resolve() for word in sys.argv[1:3])
    KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else KILLS
    SEED = int(sys.argv[4]) if len(sys.argv) > 4 else SEED
    unittest.main(argv=sys.argv[:1])

"""Folders that others made, or that are in use: links in them lead no write outside, rows of another machine are not added to them, what measured
nothing is told, runs at once have a folder each, and a page for others names nothing.

usage: test_folders.py FAKE_ROOF
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOF = None
ROOFS = "run:\n  - {bench: flops}\n  - {bench: bandwidth}\n"
STEPS = "run:\n  - {bench: train, model: tinynet, batch: [4, 8]}\n"


class Folders(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.place = Path(scratch.name)
        for name, plan in (("roofs", ROOFS), ("steps", STEPS)):
            (self.place / f"{name}.yaml").write_text(plan, encoding="utf-8")
        self.victim = self.place / "victim"
        self.victim.write_text("precious\n", encoding="utf-8")

    def roof(self, *words, **more):
        return subprocess.run([ROOF, *words], cwd=self.place, capture_output=True, text=True, check=False, timeout=120, **more)

    def sweep(self, plan, folder):
        done = self.roof("sweep", f"{plan}.yaml", "--out", folder)
        self.assertEqual(0, done.returncode, done.stderr)
        return self.place / folder

    def change(self, file, edit):
        text = file.read_text(encoding="utf-8")
        self.assertNotEqual(text, edit(text))
        file.write_text(edit(text), encoding="utf-8")

    # ------------------------------------------------------------------------------------------------ links
    def test_what_is_cut_is_kept_beside_the_file_and_not_through_a_link(self):
        run = self.sweep("steps", "run")
        for link in (False, True):
            with open(run / "samples.csv", "a", encoding="utf-8") as file:
                file.write("an unfinished")
            if link:
                (run / "samples.csv.cut").unlink()
                (run / "samples.csv.cut").symlink_to("../victim")
            done = self.roof("sweep", "steps.yaml", "--out", "run")
            self.assertEqual("precious\n", self.victim.read_text(encoding="utf-8"))
            if link:
                self.assertEqual(2, done.returncode)
                self.assertIn("samples.csv.cut: it is a link", done.stderr)
                self.assertTrue((run / "samples.csv").read_text(encoding="utf-8").endswith("an unfinished"))  # nothing was lost
            else:
                self.assertEqual(0, done.returncode, done.stderr)
                self.assertEqual("an unfinished\n", (run / "samples.csv.cut").read_text(encoding="utf-8"))

    def test_accepted_edits_and_checksums_replace_a_link(self):
        run = self.sweep("steps", "run")
        for name in ("measurements.csv", "checksums.csv", "report.html"):
            text = (run / name).read_bytes() if (run / name).exists() else b""
            outside = self.place / ("of-" + name)
            outside.write_bytes(text)
            (run / name).unlink(missing_ok=True)
            (run / name).symlink_to("../of-" + name)
            before = outside.read_bytes()
            self.change(run / "plan.yaml", lambda old: old + "# edited\n")
            self.roof("check", "run", "--accept-edited")
            self.roof("report", "run", "--brief")
            self.assertEqual(before, outside.read_bytes(), name)

    def test_rows_are_not_appended_through_a_link(self):
        run = self.sweep("steps", "run")
        shutil.copy(run / "samples.csv", self.place / "outside.csv")
        before = (self.place / "outside.csv").read_bytes()
        rows = (run / "measurements.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        (run / "measurements.csv").write_text("".join(rows[:2]), encoding="utf-8")
        (run / "checksums.csv").unlink()
        (run / "samples.csv").unlink()
        (run / "samples.csv").symlink_to("../outside.csv")
        self.assertNotEqual(0, self.roof("sweep", "steps.yaml", "--out", "run").returncode)
        self.assertEqual(before, (self.place / "outside.csv").read_bytes())

    # ------------------------------------------------------------------------------------------------ rows of one machine
    def test_rows_of_another_machine_or_state_are_not_appended(self):
        for name, edit in (("processor", lambda text: re.sub(r"cpu_model: .*", "cpu_model: Another CPU", text)),
                           ("microcode", lambda text: text.replace("versions:", "versions:\n  microcode: 0xdead", 1)),
                           ("kernel", lambda text: text.replace("versions:", "versions:\n  kernel: Linux 2.4", 1)),
                           ("revision", lambda text: re.sub(r"revision: .*", "revision: 111111111111", text)),
                           ("caches", lambda text: text.replace("32768", "65536"))):
            run = self.sweep("steps", f"run-{name}")
            described = self.place / f"run-{name}" / "machine.yaml"
            self.change(described, edit)
            self.roof("check", run, "--accept-edited")
            rows = (run / "measurements.csv").read_bytes()
            done = self.roof("sweep", "steps.yaml", "--out", run)
            known = name not in ("microcode", "kernel")  # the made machine has neither: what one side lacks is not compared
            self.assertEqual(2 if known else 0, done.returncode, (name, done.stderr))
            if known:
                self.assertIn(f"holds rows of {name} ", done.stderr)
            self.assertEqual(rows, (run / "measurements.csv").read_bytes())

    # ------------------------------------------------------------------------------------------------ exit status, unfinished folders
    def test_what_measured_nothing_has_exit_status_2_and_is_not_the_newest_run(self):
        (self.place / "lacks.yaml").write_text("run:\n  - {bench: flops, isa: avx512}\n", encoding="utf-8")
        measured = self.roof("sweep", "steps.yaml")
        self.assertEqual(0, measured.returncode, measured.stderr)
        done = self.roof("calibrate", "--plan", "lacks.yaml", "--out", "results/fake-2cpu/later")
        self.assertEqual(2, done.returncode, done.stdout)
        newest = json.loads(self.roof("report", "--json", "--out", "page.html").stdout)["studies"][0]["folder"]
        self.assertEqual(measured.stdout.splitlines()[-1], newest)
        self.assertIn("later' measured nothing", self.roof("report", "--brief", "--out", "page.html").stderr)

    def test_what_is_left_of_the_newest_run_is_named_and_the_one_before_is_taken(self):
        home = self.place / "results/fake-2cpu"
        older, whole = self.sweep("steps", home / "2026-01-01T000000Z-a"), self.sweep("steps", "whole")
        (whole / "digest.csv").write_text("what,name\n", encoding="utf-8")
        files = [file.name for file in whole.iterdir() if file.suffix in (".csv", ".yaml")]
        self.assertLess({"plan.yaml", "machine.yaml", "samples.csv", "layers.csv", "checksums.csv", "digest.csv"}, set(files))
        for name in files:
            rest = home / "zz"
            rest.mkdir()
            shutil.copy2(whole / name, rest)
            done = self.roof("report", "--json", "--out", "page.html")
            shutil.rmtree(rest)
            if name == "measurements.csv":  # it is the newest run
                self.assertEqual(2, done.returncode)
                self.assertIn("zz/machine.yaml", done.stderr)
                continue
            self.assertEqual(str(older.relative_to(self.place)), json.loads(done.stdout)["studies"][0]["folder"], name)
            self.assertEqual(0 if name == "plan.yaml" else 1, done.returncode, (name, done.stderr))  # it is written first
            self.assertRegex(done.stderr, "zz' measured nothing" if name == "plan.yaml" else "roof: damaged: .*zz/.*; 'zz' was passed over")

    def test_nothing_is_appended_where_the_rows_were_lost(self):
        run = self.sweep("steps", "run")
        (run / "measurements.csv").unlink()
        before = {file.name: file.read_bytes() for file in run.iterdir()}
        done = self.roof("sweep", "steps.yaml", "--out", "run")
        self.assertEqual(2, done.returncode, done.stdout)
        self.assertIn("damaged, so nothing is appended: run/measurements.csv: it is missing", done.stderr)
        self.assertEqual(before, {file.name: file.read_bytes() for file in run.iterdir()})

    def test_a_folder_that_has_not_ended_is_named_by_each_command(self):
        run, cal = self.sweep("steps", "run"), self.sweep("roofs", "cal")
        for folder in (run, cal):
            (folder / "checksums.csv").unlink()
        for words in (["export", "cal"], ["export", "run", "--format", "points"], ["compare", "run", "cal"], ["report", "run", "--brief"],
                      ["place", "--flops", "1e9", "--seconds", "1", "--on", "cal"], ["whatif", "run", "--set", "fp32=2x"]):
            self.assertIn("the run has not ended", self.roof(*words).stderr, words)

    # ------------------------------------------------------------------------------------------------ at once
    def test_eight_runs_at_once_are_eight_runs(self):
        words = [ROOF, "run", "tinynet", "--batch", "4,8"]
        runs = [subprocess.Popen(words, cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(8)]
        said = [one.communicate(timeout=300) for one in runs]
        self.assertEqual([0] * 8, [one.returncode for one in runs], said)
        folders = [out.splitlines()[-1] for out, _ in said]
        self.assertEqual(8, len(set(folders)))
        for folder in folders:
            self.assertEqual(0, self.roof("check", folder).returncode)
            self.assertEqual(3, len((self.place / folder / "measurements.csv").read_text(encoding="utf-8").splitlines()))

    def test_a_run_whose_folder_is_in_use_makes_another(self):
        home = self.place / "results/fake-2cpu"
        self.assertEqual(0, self.roof("run", "tinynet", "--batch", "4,8").returncode)
        first, = home.iterdir()
        lines = (first / "measurements.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        (first / "measurements.csv").write_text("".join(lines[:2]), encoding="utf-8")
        (first / "checksums.csv").unlink()
        lock = subprocess.Popen(["flock", "--no-fork", first / ".lock", "sleep", "60"]) if shutil.which("flock") else self.skipTest("flock is not installed")
        try:
            while subprocess.run(["flock", "-n", first / ".lock", "true"], check=False).returncode == 0:
                pass
            done = self.roof("run", "tinynet", "--batch", "4,8")
        finally:
            lock.kill()
            lock.wait()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(2, len(list(home.iterdir())))
        self.assertEqual(2, len((first / "measurements.csv").read_text(encoding="utf-8").splitlines()))

    # ------------------------------------------------------------------------------------------------ for others
    def test_an_anonymous_report_names_no_node_folder_kernel_or_firmware(self):
        secrets = ["node-of-mine", "Linux 9.8.7-secret", "firmware-of-mine", "0xbadc0de", "folder-of-mine", "cal-of-mine", "base-of-mine"]
        for folder, plan in (("folder-of-mine", "steps"), ("cal-of-mine", "roofs"), ("base-of-mine", "steps")):
            run = self.sweep(plan, f"home-of-mine/{folder}")
            self.change(run / "machine.yaml", lambda text: text.replace("fake-node", "node-of-mine").replace(
                "versions:", "versions:\n  kernel: Linux 9.8.7-secret\n  BIOS: firmware-of-mine\n  microcode: 0xbadc0de", 1))
            self.roof("check", run, "--accept-edited")
        words = ["report", "home-of-mine/folder-of-mine", "--baseline", "home-of-mine/base-of-mine"]
        open_page, hidden = self.place / "open.html", self.place / "hidden"
        self.assertEqual(0, self.roof(*words, "--out", open_page).returncode)
        for secret in secrets[1:]:  # the node stands there only where a calibration of another node was passed over
            self.assertIn(secret, open_page.read_text(encoding="utf-8"), "the page names it, unless it is told not to")
        done = self.roof(*words, "--anonymise", "--out", hidden / "page.html", "--data", hidden / "data", "--pictures", hidden / "pictures")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        as_json = self.roof(*words, "--anonymise", "--json", "--out", hidden / "page.html")
        texts = {"JSON": as_json.stdout}
        for file in hidden.rglob("*"):
            if file.is_file() and file.suffix not in (".png", ".pdf"):  # made of the SVG beside them
                texts[file.name] = file.read_text(encoding="utf-8")
        self.assertGreater(len(texts), 10)
        for name, text in texts.items():
            for secret in [*secrets, "home-of-mine", str(self.place)]:
                self.assertNotIn(secret, text, name)
        self.assertIn("fake-2cpu", texts["page.html"])
        self.assertIn("Fake CPU", texts["page.html"])


if __name__ == "__main__":
    ROOF = os.path.abspath(sys.argv.pop(1))
    unittest.main()

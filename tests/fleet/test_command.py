"""`roof fleet` and `roof atlas` as commands of the program, on folders that it measured."""

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from made_fleets import MEMORY, WEEKS, as_bound, make_fleet, make_links, slow_down, write
from needed import called, roof

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(os.environ["ROOF_RECORDED"])
CALIBRATION = RECORDED / "epyc-zen4-1"
#: The published files of results/atlas, and the calibrations that they were made of.
SOURCES = {"amd-epyc-zen4-2cpu": RECORDED / "epyc-zen4-6", "intel-xeon-emerald-rapids-2cpu": RECORDED / "xeon-emerald-rapids-1",
           "nvidia-h200": ROOT / "results/examples/nvidia-h200/2026-11-27T181558Z-dcfd76afa88d"}


class Commands(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def measure(self, folder, node):
        plan = self.place / "plan.yaml"
        plan.write_text("name: small\nrounds: 3\nmeasure: {min_samples: 3, max_samples: 5, budget_seconds: 1}\n"
                        "run:\n  - {bench: flops, operation: fma, precision: fp32, threads: 1}\n")
        done = roof("sweep", plan, "--out", self.place / folder, "--node", node, cwd=self.place)
        self.assertEqual(0, done.returncode, done.stderr)
        return self.place / folder

    def test_a_sweep_leaves_a_digest_that_fleet_reads_and_a_folder_without_one_is_digested_once(self):
        folder = self.measure("fleet/a", "n17")
        digest = (folder / "digest.csv").read_bytes()
        self.assertIn(b"fact,node,n17,", digest)
        done = roof("fleet", self.place / "fleet", "--json")
        node, = json.loads(done.stdout)["groups"][0]["nodes"]
        self.assertEqual((2, "n17", "not judged"), (done.returncode, node["node"], node["finding"]))
        (folder / "digest.csv").unlink()
        self.assertIn("1 node of its kind, plan and revision is too few to tell", called("fleet", self.place / "fleet").stdout)
        self.assertEqual(digest, (folder / "digest.csv").read_bytes())
        (folder / "digest.csv").unlink()
        (folder / "checksums.csv").unlink()
        done = called("fleet", self.place / "fleet")
        self.assertEqual(2, done.returncode)
        self.assertIn("has not ended", done.stdout)
        self.assertFalse((folder / "digest.csv").exists())
        self.assertEqual("n17\n", called("fleet", "retest", self.place / "fleet").stdout)

    def test_the_digest_of_another_node_in_place_of_its_own_is_named(self):
        for node in ("n1", "n2"):
            self.measure(f"fleet/{node}", node)
        shutil.copy(self.place / "fleet/n2/digest.csv", self.place / "fleet/n1/digest.csv")
        done = called("fleet", self.place / "fleet")
        self.assertEqual(2, done.returncode)
        self.assertIn("of another run than machine.yaml", done.stdout)
        self.assertEqual("n1\nn2\n", called("fleet", "retest", self.place / "fleet").stdout)

    def test_retest_prints_missing_and_damaged_nodes_and_a_page_is_written(self):
        write(make_fleet(8), self.place / "fleet", "n0000")
        expected = self.place / "nodes.txt"
        expected.write_text("".join(f"n0000{i} rack=r1\n" for i in range(9)))
        self.assertEqual("n00008\n", called("fleet", "retest", self.place / "fleet", "--expect", expected).stdout)
        file = self.place / "fleet/n00003/digest.csv"
        file.write_bytes(file.read_bytes()[:300])
        done = called("fleet", "retest", self.place / "fleet")
        self.assertEqual((0, "n00003\n"), (done.returncode, done.stdout))
        self.assertIn("n00003 cannot be used", done.stderr)
        self.assertEqual(["n00003", "n00008"], json.loads(called("fleet", "retest", self.place / "fleet", "--expect", expected, "--json").stdout))
        done = called("fleet", self.place / "fleet", "--expect", expected, "--out", self.place / "fleet.html")
        self.assertEqual(2, done.returncode)
        self.assertIn("expected, and there is no digest", done.stdout)
        self.assertIn("<h1>Fleet</h1>", (self.place / "fleet.html").read_text())

    def test_ages_and_other_options_of_another_form_are_refused_in_one_sentence(self):
        write(make_fleet(8, days=["2025-11-22"]), self.place / "fleet")
        self.assertEqual(0, called("fleet", self.place / "fleet").returncode)
        self.assertIn("8 too old", called("fleet", self.place / "fleet", "--max-age", "36h").stdout)
        self.assertEqual(0, called("fleet", self.place / "fleet", "--max-age", "100000d").returncode)
        refused = [["fleet", self.place / "fleet", "--max-age", age] for age in ("0", "-1d", "soon", "d", "inf", "h")]
        refused += [["fleet", "script", "slurm", option, "0"] for option in ("--at-once", "--minutes", "--gpus")]
        refused += [["fleet", "script"], ["fleet", "retest"], ["fleet", "compare", "x"], ["fleet", self.place / "none"], ["fleet", "--json"],
                    ["fleet", "rettest", "x"], ["atlas", self.place / "none"], ["atlas", "add", CALIBRATION],
                    ["atlas", "add", CALIBRATION, "My Machine"]]
        for number, words in enumerate(refused):
            done = (called if number % 8 else roof)(*words)
            self.assertEqual((2, ""), (done.returncode, done.stdout), words)
            self.assertRegex(done.stderr, r"\Aroof: [^\n]+\n\Z")

    def test_a_python_without_the_libraries_says_how_to_get_them_and_scripts_need_none(self):
        python = self.place / "python"
        python.write_text('#!/bin/sh\nexec python3 -S -I "$@"\n')
        python.chmod(0o755)
        bare = {**os.environ, "ROOF_PYTHON": str(python)}
        done = roof("fleet", self.place, env=bare)
        self.assertEqual(2, done.returncode)
        self.assertRegex(done.stderr,
                         r'\Aroof: \w+ is not installed for this Python: apt-get install python3-\w+, or pip install "measured-roof\[fleet\]"\n\Z')
        done = roof("fleet", "script", "slurm", "--nodes", "n[1-2]", "--at-once", "3", "--out", "/shared/f", env=bare)
        self.assertEqual(0, done.returncode, done.stderr)
        for text in ("for node in n1 n2; do", "results=/shared/f", "%3"):
            self.assertIn(text, done.stdout)

    def test_where_memory_is_short_it_ends_with_a_sentence(self):
        python = self.place / "python"
        for kilobytes in (100000, 150000):
            python.write_text(f'#!/bin/sh\nulimit -v {kilobytes}\nexec python3 "$@"\n')
            python.chmod(0o755)
            done = roof("fleet", self.place, env={**os.environ, "ROOF_PYTHON": str(python)}, timeout=60)
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertRegex(done.stderr, r"(\A|\n)roof: [^\n]+\n\Z")

    def test_history_names_the_node_that_drifted_and_bounds_alone_tell_nothing(self):
        fleet = make_fleet(12, 2, daily=0.003, days=WEEKS)
        write(fleet, self.place / "fleet")
        self.assertEqual(0, called("fleet", "history", self.place / "fleet").returncode)
        for week in range(4, 8):
            slow_down(fleet, 32 + week, 1, 0.08)
        write(fleet, self.place / "fleet")
        done = called("fleet", "history", self.place / "fleet", "--out", self.place / "page.html")
        self.assertEqual(1, done.returncode)
        for text in ("n00004", "2026-09-28", "1 drifted"):
            self.assertIn(text, done.stdout)
        self.assertIn("n00004", (self.place / "page.html").read_text())
        for place in range(len(fleet.digests)):
            as_bound(fleet, place)
        write(fleet, self.place / "fleet")
        for options in ([], ["--json"], ["--anonymise"]):
            done = called("fleet", "history", self.place / "fleet", *options)
            self.assertEqual((2, ""), (done.returncode, done.stderr))

    def test_compare_and_links_exit_1_with_what_is_slow(self):
        fleet = make_fleet(20, 3)
        write(fleet, self.place / "a")
        self.assertEqual(0, called("fleet", "compare", self.place / "a", self.place / "a").returncode)
        for node in range(20):
            slow_down(fleet, node, 1, 0.1)
        slow_down(fleet, 7, 2, 0.2)
        write(fleet, self.place / "b")
        done = called("fleet", "compare", self.place / "a", self.place / "b")
        self.assertEqual(1, done.returncode)
        for text in ("0.900 [0.900, 0.900]", "slower", "n00007"):
            self.assertIn(text, done.stdout)
        self.assertNotIn("n0000", called("fleet", "compare", self.place / "a", self.place / "b", "--anonymise").stdout)
        write(make_links(nodes=16, per_switch=4, slow_uplink=0.3), self.place / "links")
        done = called("fleet", self.place / "links", "--json")
        document = json.loads(done.stdout)
        self.assertEqual((1, "links between nodes and others", 120),
                         (done.returncode, document["links"][0]["fault"], document["networks"][0]["links"]))

    def test_a_slow_node_is_named_at_every_width(self):
        fleet = make_fleet(20, 24)
        slow_down(fleet, 7, MEMORY, 0.3)
        write(fleet, self.place / "fleet")
        self.assertIn("n00007", called("fleet", self.place / "fleet").stdout)


class Atlas(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def machines(self, *words):
        done = called("atlas", *words, "--json")
        self.assertEqual(0, done.returncode, done.stderr)
        return [row["machine"] for row in json.loads(done.stdout)]

    def test_it_shows_the_machines_that_come_with_roof_and_adds_one_without_its_node(self):
        built_in = self.machines()
        self.assertEqual(sorted(path.stem for path in (ROOT / "results/atlas").glob("*.csv")), built_in)
        self.assertEqual([*built_in, "here"], self.machines(CALIBRATION))
        self.assertEqual(0, called("atlas", "add", CALIBRATION, "my-machine", "--out", self.place / "atlas").returncode)
        self.assertIn("fact,node,unknown,", (self.place / "atlas/my-machine.csv").read_text())
        self.assertEqual(["my-machine"], self.machines(self.place / "atlas"))
        self.assertEqual(0, called("atlas", self.place / "atlas", "--out", self.place / "atlas.html").returncode)
        page = (self.place / "atlas.html").read_text()
        self.assertIn("<h1>Atlas of measured roofs</h1>", page)
        self.assertIn("<svg", page)

    def test_a_link_in_the_place_of_a_machine_is_replaced_and_not_followed(self):
        victim = self.place / "victim"
        victim.write_text("precious")
        (self.place / "my-machine.csv").symlink_to(victim)
        self.assertEqual(0, called("atlas", "add", CALIBRATION, "my-machine", "--out", self.place).returncode)
        self.assertEqual("precious", victim.read_text())
        self.assertIn("fact,node,unknown,", (self.place / "my-machine.csv").read_text())

    def test_a_pipe_in_the_place_of_a_machine_is_refused_at_once(self):
        os.mkfifo(self.place / "pipe.csv")
        for place in (self.place / "pipe.csv", self.place):
            done = called("atlas", place)
            self.assertEqual(2, done.returncode)
            self.assertIn("pipe.csv is no regular file", done.stderr)

    def test_the_published_files_are_the_digests_of_their_sources(self):
        for name, source in SOURCES.items():
            self.assertEqual(0, called("atlas", "add", source, name, "--out", self.place).returncode)
            self.assertEqual((ROOT / f"results/atlas/{name}.csv").read_bytes(), (self.place / f"{name}.csv").read_bytes())

    def test_the_h100_is_that_of_its_own_page(self):
        row, = (row for row in json.loads(called("atlas", "--json").stdout) if row["machine"] == "nvidia-h100-80gb-hbm3")
        self.assertEqual(("66.8", "3.21", "7.91"), tuple(f"{row[key] / 1e12:.3g}" for key in ("fp64_flop_per_s", "DRAM_byte_per_s", "L2_byte_per_s")))

    def test_a_damaged_or_unfinished_calibration_is_named_and_not_published(self):
        for damage, words in (("samples.csv", "damaged"), ("checksums.csv", "has not ended")):
            with self.subTest(damage):
                folder = self.place / damage
                shutil.copytree(CALIBRATION, folder)
                file = folder / damage
                if not file.exists():
                    self.skipTest(f"the calibration has no {damage}")
                if damage == "samples.csv":
                    content = bytearray(file.read_bytes())
                    content[4096:8192] = bytes(4096)
                    file.write_bytes(content)
                else:
                    file.unlink()
                expected = roof("export", folder, "--format", "atlas").returncode
                shown, added = roof("atlas", folder), roof("atlas", "add", folder, "mine", "--out", self.place / "atlas")
                self.assertEqual((1, 1, 1), (expected, shown.returncode, added.returncode))
                self.assertIn(words, shown.stderr)
                self.assertIn(words, added.stderr)
                self.assertFalse((self.place / "atlas/mine.csv").exists())


if __name__ == "__main__":
    unittest.main()

"""Folders that anybody may have written."""

import contextlib
import hashlib
import io
import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import needed  # noqa: F401
from made_fleets import lines_of, make_fleet, make_links, sealed, slow_down, write
from roof.fleet import folders
from roof.fleet.folders import anonymise, read_fleet
from roof.fleet.history import compare_fleets, judge_history
from roof.fleet.judge import judge, nodes_to_retest
from roof.fleet.links import judge_links
from roof.fleet.reports import comparison_report, fleet_json, fleet_report, history_report
from roof.fleet.scripts import read_expected
from roof.texts import InputError
from test_digests import CHANGED, COLUMNS, DIGEST


LARGE = "it has no digest, and more than 64 MiB to make one from"


class Folders(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root = Path(place.name, "fleet")
        self.root.mkdir()

    def test_the_findings_do_not_depend_on_the_order_of_the_files(self):
        fleet = make_fleet(20)
        slow_down(fleet, 7, 3, 0.2)
        texts = set()
        for name in ("a", "b"):
            write(fleet, self.root / name)
            texts.add(fleet_report(judge(read_fleet([str(self.root / name)])), []).text(0))
            fleet.digests.reverse()
        text, = texts
        self.assertIn("20 nodes: 1 slow", text)
        self.assertIn("n00007", text)

    def test_written_digests_with_right_checksums_are_judged_or_refused(self):
        chance = random.Random(7)
        odd = ("", "0", "1e308", "1e-320", "nan", "-0", "made-99999999999999999999cpu", "9" * 40,
               "2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "\u202e", "'", "=1+1", "x" * 190)
        for _ in range(30):
            with tempfile.TemporaryDirectory() as folder:
                for node in range(chance.choice((1, 7, 13))):
                    lines = lines_of(make_fleet(1, 3, seed=node).digests[0])
                    for _ in range(chance.choice((0, 1))):
                        place, cell = chance.randrange(1, len(lines) - 1), chance.randrange(1, 10)
                        cells = lines[place].split(",")
                        cells[cell] = chance.choice(odd)
                        lines[place] = ",".join(cells)
                    lines[1] = lines[1].replace("n00000", f"n{node}")
                    Path(folder, str(node)).mkdir()
                    Path(folder, str(node), "digest.csv").write_text(sealed(lines), encoding="utf-8")
                fleet = read_fleet([folder])
                reports = [fleet_report(judge(fleet), judge_links(fleet)),
                           history_report(judge_history(fleet), fleet.refused),
                           comparison_report(compare_fleets(fleet, make_fleet(8, 3))),
                           comparison_report(compare_fleets(fleet, fleet))]
                self.assertNotIn("\u202e", "".join(report.text(60) + report.page() for report in reports))

    def test_a_bad_folder_is_one_row_with_its_reason_and_the_others_stay_usable(self):
        write(make_fleet(12), self.root, "a")

        def made(name):
            (self.root / name).mkdir()
            return self.root / name / "digest.csv"

        made("link").symlink_to(self.root / "a0/digest.csv")
        (self.root / "linked-folder").symlink_to(self.root / "a0")
        made("long").write_bytes(b"x" * ((1 << 20) + 1))
        made("mib").write_bytes(b"x" * (1 << 20))
        made("empty").touch()
        made("<script>").write_text("what\n")
        os.mkfifo(made("pipe"))
        made("folder").mkdir()
        made("machine").touch()
        (self.root / "machine/machine.yaml").mkdir()
        (self.root / "huge").mkdir()
        with open(self.root / "huge/measurements.csv", "wb") as huge:
            huge.truncate(65 << 20)
        fleet = read_fleet([str(self.root)])
        self.assertEqual(12, len(fleet.digests))
        reasons = dict((Path(folder).name, reason) for folder, reason in fleet.refused)
        odd, no_file = f"digest.csv: {COLUMNS}", "digest.csv is no regular file"
        self.assertEqual({"link": no_file, "pipe": no_file, "long": "digest.csv is larger than 1 MiB", "huge": LARGE,
                          **dict.fromkeys(("empty", "<script>", "mib", "machine"), odd)}, reasons)
        self.assertEqual(reasons.keys() - {"<script>"}, fleet.damaged.keys())
        findings = judge(fleet)
        page = fleet_report(findings, []).page()
        self.assertIn("&lt;script&gt;", page)
        self.assertNotIn("<script>", page)
        self.assertEqual(8, len(fleet_json(findings, [])["refused"]))

    def test_nodes_with_a_damaged_digest_stay_in_the_list_to_measure_again(self):
        fleet = make_fleet(8)
        for one in fleet.digests:
            folder = self.root / one.node / "cpu" if one.node == "n00003" else self.root / one.node
            folder.mkdir(parents=True)
            (folder / "digest.csv").write_text(sealed(lines_of(one)))
        self.assertEqual([], nodes_to_retest(judge(read_fleet([str(self.root)]))))
        for damage in (lambda text: text[:300], lambda text: "", lambda text: text.replace("made", "mad3")):
            for folder in ("n00002", "n00003/cpu"):
                file = self.root / folder / "digest.csv"
                text = file.read_text()
                file.write_text(damage(text))
                self.assertEqual([folder[:6]], nodes_to_retest(judge(read_fleet([str(self.root)]))))
                file.write_text(text)
        (self.root / "n00002/digest.csv").write_text((self.root / "n00001/digest.csv").read_text())
        fleet = read_fleet([str(self.root)])
        self.assertIn("counts once", fleet.refused[0][1])
        self.assertEqual(["n00002"], nodes_to_retest(judge(fleet)))

    def test_a_node_of_which_only_other_files_are_left_is_named_and_measured_again(self):
        fleet = make_fleet(8)
        write(fleet, self.root)
        (self.root / "plan.yaml").write_text("name: of the fleet\n", encoding="utf-8")
        self.assertEqual([], read_fleet([str(self.root)]).refused)
        (self.root / "machine.yaml").touch()
        self.assertEqual([str(self.root)], [folder for folder, _ in read_fleet([str(self.root)]).refused])
        (self.root / "machine.yaml").unlink()
        node = (self.root / "5").rename(self.root / fleet.digests[5].node)
        for file in node.iterdir():
            file.unlink()
        for name in ("machine.yaml", "plan.yaml", "samples.csv", "layers.csv", "checksums.csv"):
            (node / name).touch()
            read = read_fleet([str(self.root)])
            self.assertEqual([str(node)], [folder for folder, _ in read.refused])
            self.assertIn("neither digest.csv nor measurements.csv", read.refused[0][1])
            self.assertEqual([node.name], nodes_to_retest(judge(read)))
            (node / name).unlink()

    def test_folders_down_to_six_levels_are_looked_at_but_no_hidden_ones(self):
        digest = sealed(DIGEST)
        for number, place in enumerate(("1/2/3/4/5/6", "1/2/3/4/5/6/7", ".n1.abcdefghij.part")):
            (self.root / place).mkdir(parents=True)
            (self.root / place / "digest.csv").write_text(digest.replace("n17", f"n{number}"))
        (self.root / "n1").mkdir()
        read = read_fleet([str(self.root) + "/"])
        self.assertEqual([(str(self.root / "1/2/3/4/5/6"), f"digest.csv:2: {CHANGED}")], read.refused)
        with mock.patch.object(folders, "MOST_ENTRIES", 9), self.assertRaisesRegex(InputError, "^a fleet has at most"):
            read_fleet([str(self.root)])
        with mock.patch.object(folders, "MOST_ENTRIES", 10):
            read_fleet([str(self.root)])
        with mock.patch.object(os, "scandir", side_effect=PermissionError(13, "Permission denied", "there")):
            self.assertEqual([("there", "it cannot be read: Permission denied")], read_fleet([str(self.root)]).refused)
        with self.assertRaisesRegex(InputError, f"^there is no folder {self.root}/none$"):
            read_fleet([str(self.root / "none")])

    def test_many_folders_are_read_as_few_are(self):
        write(make_fleet(45, 2), self.root)
        (self.root / "20/digest.csv").write_text("what\n")
        with mock.patch.object(folders, "AT_ONCE", 10), \
                mock.patch.object(os, "sched_getaffinity", lambda process: range(2 + process)):
            fleet = read_fleet([str(self.root)])
            self.assertEqual((44, 1, "n00019"), (len(fleet.digests), len(fleet.refused), fleet.digests[19].node))
            with mock.patch.object(folders, "_read_some", lambda some: [some]), \
                    mock.patch.object(folders, "ProcessPoolExecutor") as pool:
                pool.return_value.__enter__.return_value.map = map
                places = list(range(31))
                self.assertEqual([places[:16], places[16:]], folders._read_all(places))
                self.assertEqual(1, pool.call_args[0][0])
                pool.side_effect = OSError
                self.assertEqual([places], folders._read_all(places))

    def test_a_folder_without_a_digest_has_one_made_of_at_most_64_mib(self):
        files = {name: self.root / name for name in ("measurements.csv", "machine.yaml")}

        def refused():
            fleet = read_fleet([str(self.root)])
            return [reason for _, reason in fleet.refused], [one.node for one in fleet.digests], fleet.damaged

        with mock.patch.object(folders, "exported", return_value=(sealed(DIGEST).encode(), 0)) as made:
            files["machine.yaml"].write_bytes(b"node: 'n17'\n")
            with open(files["measurements.csv"], "wb") as file:
                file.truncate((64 << 20) - 12)
            self.assertEqual(([], ["n17"], {}), refused())
            self.assertEqual(("digest", "--out", f"{self.root}/digest.csv"), made.call_args[0][1:])
            with open(files["measurements.csv"], "ab") as file:
                file.write(b"x")
            self.assertEqual(([LARGE], [], {"n17": LARGE}), refused())
            files["measurements.csv"].write_bytes(b"")
            files["machine.yaml"].write_bytes(b"nodes: n17\n")
            nameless = "its machine.yaml names no node"
            self.assertEqual(([nameless], [], {"fleet": nameless}), refused())
            made.return_value = b"", 0
            self.assertEqual(([], [], {}), refused())
            os.mkfifo(self.root / "pipe")
            self.assertEqual((["pipe is no regular file"], [], {"fleet": "pipe is no regular file"}), refused())

    def test_what_the_program_says_of_a_folder_that_it_cannot_export(self):
        for status, said, quiet, answer in (
                (0, "a remark\n", False, 0), (0, "", True, 0), (1, "roof: damaged\nmore\n", False, 1),
                (1, "roof: damaged\nmore\n", True, "damaged"), (2, "", False, "it cannot be read"),
                (2, "roof: of roof: x\n", False, "of roof: x")):
            done = subprocess.CompletedProcess([], status, b"text", said.encode())
            with mock.patch.object(subprocess, "run", return_value=done), mock.patch.object(folders, "program", str), \
                    contextlib.redirect_stderr(io.StringIO()) as shown:
                if isinstance(answer, str):
                    with self.assertRaisesRegex(InputError, f"^{answer}$"):
                        folders.exported("f", "csv", quiet=quiet)
                else:
                    self.assertEqual((b"text", answer), folders.exported("f", "csv", quiet=quiet))
                    self.assertEqual(said, shown.getvalue())

    def test_a_digest_of_another_run_a_copy_and_one_that_lacks_rates_are_named(self):
        opened = os.listdir("/proc/self/fd")
        digest, other = (sealed(lines, "abc") for lines in (DIGEST, [*DIGEST[:8], *DIGEST[9:11], "end,,9,,,,,,,"]))
        for name, text, machine in (
                ("b", digest, "format: 3\nrun: abc\n"), ("c", other, "format: 2\nname: x\nrun: abd\n"),
                ("a", digest, "format: 3\nrun: abd\nnode: n3\n"),
                *((name, digest, "") for name in ("d", "n17", "~"))):
            (self.root / name).mkdir()
            (self.root / name / "digest.csv").write_text(text)
            if machine:
                (self.root / name / "machine.yaml").write_text(machine)
        (self.root / "e").mkdir()
        (self.root / "e/plan.yaml").touch()
        fleet = read_fleet([str(self.root), str(self.root / "b")])
        lost = ("it has neither digest.csv nor measurements.csv: its run was stopped before the first row, or they are "
                "lost")
        copy = f"its digest is that of {self.root}/b and counts once"
        run = "digest.csv is of another run than machine.yaml"
        expected = (("a", run), ("d", copy), ("e", lost), ("n17", copy), ("~", copy))
        self.assertEqual([(str(self.root / name), why) for name, why in expected], fleet.refused)
        self.assertEqual({"n3": run, "d": copy, "e": lost}, fleet.damaged)
        self.assertEqual(([2, 3], []), (sorted(len(one.ceilings.names) for one in fleet.digests), fleet.notes))
        self.assertEqual(len(opened), len(os.listdir("/proc/self/fd")))
        for name, lacks in (("d", "1 of 3 digests lacks"), ("n17", "2 of 4 digests lack")):
            lines = [line.replace("n17,,", f"{name},,").replace("BIOS", "left out") for line in DIGEST]
            (self.root / name / "digest.csv").write_text(sealed(lines))
            self.assertEqual([f"{lacks} rates that did not fit, which are not judged: see `left out` there. The run "
                              "makes a whole one where digest.csv is deleted."], read_fleet([str(self.root)]).notes)

    def test_an_anonymised_fleet_names_no_node_rack_or_folder(self):
        fleet = make_fleet(3)
        fleet.digests[0].links = make_links(nodes=4).digests[0].links.some([0, 5])
        nodes = sorted((*(f"n0000{number}" for number in range(4)), "n00044", "gone"),
                       key=lambda name: hashlib.sha256(name.encode()).digest())
        new = {name: f"node-{number}" for number, name in enumerate(nodes, 1)}
        fleet.expected = {"n00002": {"rack": "secret"}, "gone": {}}
        fleet.refused, fleet.damaged = [("/home/somebody", "somebody")], {"n00044": "x"}
        anonymise([fleet])
        self.assertEqual(sorted(new[f"n0000{number}"] for number in range(3)), [one.node for one in fleet.digests])
        ends = next(one.links.names for one in fleet.digests if one.links.names)
        self.assertEqual((f"{new['n00000']} {new['n00001']}", f"{new['n00002']} {new['n00003']}"), ends)
        self.assertEqual({new["n00002"]: {"rack": "rack-1"}, new["gone"]: {}}, fleet.expected)
        self.assertEqual({new["n00044"]: "its folder cannot be used"}, fleet.damaged)
        self.assertEqual([("a folder", "left out: it may hold names")], fleet.refused)

    def test_expected_nodes_are_read_with_their_facts_and_wrong_lines_are_refused(self):
        file = self.root / "nodes.txt"
        file.write_text("# nodes\nn1 rack=r3  a=b=c x=\n\n#n3\nn2\n")
        self.assertEqual({"n1": {"rack": "r3", "a": "b=c", "x": ""}, "n2": {}}, read_expected(str(file)))
        for text, sentence in (("../n1\n", "1: '../n1' is no node's name"), ("n1\nn1\n", "2: 'n1' stands twice"),
                               ("\nn1 rack\n", "2: 'rack' is not of the form KEY=VALUE"),
                               ("n1 a=b =x", "1: '=x' is not of the form KEY=VALUE")):
            file.write_text(text)
            with self.assertRaises(InputError) as raised:
                read_expected(str(file))
            self.assertEqual(f"{file}:{sentence}", str(raised.exception))
        with self.assertRaisesRegex(InputError, f"^cannot read {self.root}: Is a directory$"):
            read_expected(str(self.root))


if __name__ == "__main__":
    unittest.main()

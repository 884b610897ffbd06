"""Folders that anybody may have written, and digests that are damaged."""

import gzip
import os
import random
import tempfile
import unittest
from pathlib import Path

import needed  # noqa: F401
from made_fleets import changed, lines_of, make_fleet, make_links, sealed, slow_down, write
from roof.errors import InputError
from roof.fleet.digests import parse_digest
from roof.fleet.folders import anonymise, read_fleet
from roof.fleet.comparison import compare_fleets
from roof.fleet.history import judge_history
from roof.fleet.judge import judge, nodes_to_retest
from roof.fleet.links import judge_links
from roof.fleet.nodes import read_expected
from roof.fleet.reports import comparison_report, fleet_json, fleet_report, history_report

TRIES = int(os.environ.get("ROOF_MUTATIONS", "3000"))


def text_of(fleet=None):
    fleet = fleet or make_fleet(1, 3)
    return sealed(lines_of(fleet.digests[0]))


class Digests(unittest.TestCase):
    def lines(self):
        fleet = make_fleet(1, 2)
        changed(fleet, 0, node="n17", facts={"BIOS": "2.1, beta"})
        fleet.digests[0].links = make_links(nodes=16).digests[0].links.some([0])
        return lines_of(fleet.digests[0])

    def forged(self, place, cell, text):
        lines = self.lines()
        cells = lines[place].split(",")
        cells[cell] = text
        lines[place] = ",".join(cells)
        return sealed(lines).encode()

    def refused(self, words, file):
        with self.assertRaisesRegex(InputError, words):
            parse_digest(file, "d")

    def test_a_digest_reads_back_as_it_was_written_in_either_form(self):
        text = sealed(self.lines()).encode()
        for file in (text, gzip.compress(text), gzip.compress(text[:100]) + gzip.compress(text[100:])):
            found, _ = parse_digest(file, "d")
            self.assertEqual(("n17", "made-26cpu", "2.1, beta", 2, ("n00000 n00001",)),
                             (found.node, found.kind, found.facts["BIOS"], len(found.ceilings.names), found.links.names))
            self.assertEqual([5, 5], found.ceilings.rounds.tolist())
        older = [",".join(line.split(",")[:-1]) for line in self.lines() if "BIOS" not in line]
        found, _ = parse_digest(sealed([*older[:-1], f"end,,{len(older) - 2},,,,,,"]).encode(), "d")
        self.assertEqual([0, 0], found.ceilings.rounds.tolist())
        found, _ = parse_digest(sealed(self.lines(), "abc").encode(), "d")
        self.assertEqual("abc", found.run)

    def test_numbers_that_no_measurement_has_are_refused(self):
        place = next(k for k, line in enumerate(self.lines()) if line.startswith("ceiling"))
        for number in ("nan", "inf", "-1e11", "0", "1e999", "x", "", "1_0", " 1", "0x10", "1,5"[:1] + "٣"):
            self.refused("no number above 0|cannot be read", self.forged(place, 2, number))
        self.refused("outside its interval", self.forged(place, 2, "5e+15"))
        self.refused("number of samples", self.forged(place, 7, "-3"))
        self.refused("number of rounds", self.forged(place, 9, "x"))

    def test_foreign_names_times_and_lines_are_refused(self):
        self.refused("no node's name", self.forged(1, 2, "../n1"))
        for time in ("yesterday-22T", "2026-13-22T00:00:00Z", "20261122T"):
            self.refused("no time", self.forged(5, 2, time))
        link = len(self.lines()) - 2
        for ends in ("n18", "n17 ../n18", " n18", "n17 n18 n19"):
            self.refused("not the names of two nodes", self.forged(link, 1, ends))
        self.refused("twice", self.forged(2, 1, "node"))
        self.refused("no fact, ceiling, link or end", self.forged(link, 0, "script"))
        self.refused("columns", b"id,seconds\n")
        self.refused("names no kind", self.forged(2, 1, "sort"))
        self.refused("a cell is too long", self.forged(2, 2, "x" * 201))
        self.refused("no CSV", self.forged(2, 1, "ki\rnd"))
        self.refused("longer than 1 MiB", gzip.compress(b"x" * (2 << 20)))

    def test_what_is_cut_changed_or_moved_is_refused(self):
        text = sealed(self.lines()).encode()
        for file in (text[:-1], text[:100], b"", gzip.compress(text)[:50], text.replace(b"made", b"mad3"), text + text, text + b"x\n"):
            self.refused("^d:", file)
        lines = text.split(b"\n")
        lines[7], lines[8] = lines[8], lines[7]
        self.refused("not as it was written", b"\n".join(lines))

    def test_no_mutated_digest_is_believed_or_ends_in_a_traceback(self):
        chance = random.Random(20261128)
        text = sealed(self.lines()).encode()
        whole, _ = parse_digest(text, "d")
        for number in range(TRIES):
            file = bytearray(text if number % 3 else gzip.compress(text, mtime=0))
            for _ in range(chance.randint(1, 3)):
                at = chance.randrange(len(file))
                file[at : at + chance.choice((0, 1, 1, 5, 40))] = bytes(chance.randrange(256) for _ in range(chance.choice((0, 1, 1, 4))))
            try:
                found, _ = parse_digest(bytes(file), "d")
            except InputError as error:
                self.assertNotIn("\n", str(error))
                continue
            self.assertEqual(whole.key(), found.key())  # a mutation without effect, such as in the header of gzip
            self.assertEqual(whole.ceilings.numbers.tolist(), found.ceilings.numbers.tolist())

    def test_written_digests_with_right_checksums_are_judged_or_refused(self):
        chance = random.Random(7)
        odd = ("", "0", "1e308", "1e-320", "nan", "-0", "made-99999999999999999999cpu", "9" * 40, "2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z",
               "0001-01-01T00:00:00Z", "\u202e", "'", "=1+1", "x" * 190)
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
                reports = [fleet_report(judge(fleet), judge_links(fleet)), history_report(judge_history(fleet), fleet.refused),
                           comparison_report(compare_fleets(fleet, make_fleet(8, 3))), comparison_report(compare_fleets(fleet, fleet))]
                self.assertNotIn("\u202e", "".join(report.text(60) + report.page() for report in reports))


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

    def test_a_bad_folder_is_one_row_with_its_reason_and_the_others_stay_usable(self):
        write(make_fleet(12), self.root, "a")

        def made(name):
            (self.root / name).mkdir()
            return self.root / name / "digest.csv"

        made("link").symlink_to(self.root / "a0/digest.csv")
        (self.root / "linked-folder").symlink_to(self.root / "a0")
        made("long").write_bytes(b"x" * (2 << 20))
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
        self.assertEqual({"link", "long", "empty", "<script>", "pipe", "machine", "huge"}, set(reasons))
        for name, words in (("link", "no regular file"), ("pipe", "no regular file"), ("long", "larger than 1 MiB"), ("huge", "more than 64 MiB")):
            self.assertIn(words, reasons[name])
        findings = judge(fleet)
        page = fleet_report(findings, []).page()
        self.assertIn("&lt;script&gt;", page)
        self.assertNotIn("<script>", page)
        self.assertEqual(7, len(fleet_json(findings, [])["refused"]))
        with self.assertRaisesRegex(InputError, "there is no folder"):
            read_fleet([str(self.root / "none")])

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

    def test_a_hidden_folder_is_not_looked_at(self):
        with tempfile.TemporaryDirectory() as place:
            hidden = Path(place, ".n1.abcdefghij.part")
            hidden.mkdir()
            (hidden / "machine.yaml").write_text("format: 3\nrun: abcdefghij\nnode: n1\n", encoding="utf-8")
            self.assertEqual(([], {}), (read_fleet([place]).refused, read_fleet([place]).damaged))
            hidden.rename(Path(place, "n1"))
            self.assertEqual(["n1"], list(read_fleet([place]).damaged))

    def test_many_folders_are_read_as_few_are(self):
        write(make_fleet(1100, 2), self.root)
        (self.root / "500/digest.csv").write_text("what\n")
        fleet = read_fleet([str(self.root)])
        self.assertEqual((1099, 1), (len(fleet.digests), len(fleet.refused)))
        self.assertEqual("n00499", fleet.digests[499].node)

    def test_a_digest_that_lacks_rates_is_told(self):
        fleet = make_fleet(8, 2)
        for place in (2, 5):
            fleet.digests[place].facts["left out"] = "413"
        write(fleet, self.root)
        self.assertIn("2 of 8 digests lack rates", fleet_report(judge(read_fleet([str(self.root)])), []).text(0))

    def test_an_anonymised_fleet_names_no_node_rack_or_folder(self):
        fleet = make_fleet(12)
        fleet.expected = {"n00003": {"rack": "secret"}, "gone": {}}
        fleet.refused, fleet.damaged = [("/home/somebody", "somebody")], {"n00044": "x"}
        anonymise([fleet])
        findings = judge(fleet)
        text = str(fleet_json(findings, [])) + fleet_report(findings, []).page() + str(nodes_to_retest(findings))
        for name in ("n000", "secret", "somebody", "gone"):
            self.assertNotIn(name, text)
        self.assertEqual(12, len(findings.groups[0].nodes))

    def test_expected_nodes_are_read_with_their_facts_and_wrong_lines_are_refused(self):
        file = self.root / "nodes.txt"
        file.write_text("# nodes\nn1 rack=r3  switch=s1\n\nn2\n")
        self.assertEqual({"n1": {"rack": "r3", "switch": "s1"}, "n2": {}}, read_expected(str(file)))
        for text in ("../n1\n", "n1\nn1\n", "n1 rack\n", "n1 =x\n"):
            file.write_text(text)
            with self.assertRaisesRegex(InputError, "nodes.txt:[12]: "):
                read_expected(str(file))


if __name__ == "__main__":
    unittest.main()

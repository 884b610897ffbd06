"""`roof fleet` on fleets of the second generator (other_fleets.py): states and exit statuses."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from needed import ROOF, called

import other_fleets
from other_fleets import MEMORY_PLACES, Fleet, digest_text, judge


class Fleets(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = Path(self.place.name, "fleet")
        self.folder.mkdir()

    def write(self, fleet):
        fleet.write(self.folder)
        return fleet

    def judge(self, *words):
        return judge(called, self.folder, *words)

    def digest(self, node, scale=1.0, time="2025-03-10T02:00:00Z", is_bound=False, **more):
        """One more digest, of usual rates times `scale`."""
        rates = [(name, *(1e10 * (q + 1) * scale * side for side in (1, 0.995)), None if is_bound else 1e10 * (q + 1) * scale * 1.005)
                 for q, name in enumerate(other_fleets.QUANTITIES)]
        place = self.folder / f"more{len(list(self.folder.iterdir()))}" / node
        place.mkdir(parents=True)
        (place / "digest.csv").write_text(digest_text(node, time, rates, **more), encoding="ascii")

    def nodes(self, states, state):
        return {node for node, found in states.items() if found == state}

    def test_a_healthy_fleet_exits_0(self):
        self.write(Fleet(1, 40))
        status, states = self.judge()
        self.assertEqual((0, {"fine"}), (status, set(states.values())))

    def test_slower_nodes_are_named_in_text_and_list_and_exit_1(self):
        for number, share in ((1, 0.1), (9, 0.1), (20, 0.1), (40, 0.3)):
            with self.subTest(number=number), tempfile.TemporaryDirectory() as folder:
                fleet = Fleet(number, 100).plant(range(number), MEMORY_PLACES, share)
                fleet.write(folder)
                status, states = judge(called, folder)
                self.assertEqual(1, status)
                found = {node for node, state in states.items() if state in ("slow", "slower population")}
                self.assertEqual(fleet.planted_nodes(), found)
                text = called("fleet", folder).stdout
                again = called("fleet", "retest", folder).stdout.split()
                for node in found:
                    self.assertIn(node, text)
                    self.assertIn(node, again)

    def test_missing_nodes_exit_2_and_a_slow_one_beside_them_1(self):
        fleet = self.write(Fleet(2, 20))
        expected = Path(self.place.name, "nodes.txt")
        expected.write_text("\n".join([*fleet.names, "gone1", "gone2"]), encoding="ascii")
        status, states = self.judge("--expect", str(expected))
        self.assertEqual((2, {"gone1", "gone2"}), (status, self.nodes(states, "missing")))
        self.digest("r000n03", 0.7, "2025-03-12T02:00:00Z")
        self.assertEqual(1, self.judge("--expect", str(expected))[0])

    def test_an_empty_folder_exits_2(self):
        self.assertEqual(2, self.judge()[0])

    def test_few_nodes_of_a_new_revision_are_not_judged(self):
        self.write(Fleet(3, 30))
        for node in range(5):
            self.digest(f"r000n{node:02}", 0.5 if node == 0 else 1, "2025-03-11T12:00:00Z", revision="new")
        status, states = self.judge()
        self.assertEqual((2, 5), (status, len(self.nodes(states, "not judged"))))

    def test_digests_of_long_ago_and_of_the_future(self):
        self.write(Fleet(4, 30))
        self.digest("old", time="2023-05-10T02:00:00Z")
        self.digest("ahead", time="2138-05-10T02:00:00Z")
        self.digest("r000n02", time="2138-05-10T02:00:00Z")
        self.digest("r000n02", 0.5, "2025-03-12T02:00:00Z")
        status, states = self.judge()
        self.assertEqual((1, {"old"}, {"ahead"}, {"r000n02"}),
                         (status, self.nodes(states, "too old"), self.nodes(states, "from the future"), self.nodes(states, "slow")))

    def test_one_name_twice_on_a_day(self):
        self.write(Fleet(5, 30))
        self.digest("r000n04", 0.5, "2025-03-10T03:00:00Z")
        self.assertEqual({"r000n04"}, self.nodes(self.judge()[1], "twice") | self.nodes(self.judge()[1], "slow"))
        self.assertNotEqual(0, self.judge()[0])

    def test_a_node_with_fewer_processors(self):
        self.write(Fleet(6, 30))
        self.digest("half", kind="made-32cpu")
        self.assertEqual((1, {"half"}), (self.judge()[0], self.nodes(self.judge()[1], "changed kind")))

    def test_lower_bounds_alone_are_not_judged(self):
        for node in range(30):
            self.digest(f"n{node}", 0.5 if node == 7 else 1 - node % 5 / 500, is_bound=True)
        status, states = self.judge()
        self.assertEqual(2, status)
        self.assertNotIn("fine", states.values())
        self.digest("n7", 0.5, "2025-03-12T02:00:00Z", is_bound=True)
        self.assertEqual((1, {"n7"}), (self.judge()[0], self.nodes(self.judge()[1], "slow")))

    def test_health_ends_when_its_time_is_over_and_leaves_nothing(self):
        machine = json.loads(subprocess.run([ROOF, "doctor", "--json"], capture_output=True, text=True, check=True).stdout)["machine"]["name"]
        self.digest("n1", kind=machine)
        plan = Path(self.place.name, "plan.yaml")
        plan.write_text("name: long\nmeasure: {warmup: 1, min_samples: 1000000, max_samples: 1000000, interval: 0.0001, budget_seconds: 600}\n"
                        "run:\n  - {bench: flops, operation: fma, precision: fp32, threads: 1}\n", encoding="ascii")
        scratch = Path(self.place.name, "scratch")
        scratch.mkdir()
        done = subprocess.run([ROOF, "health", "--reference", self.folder, "--device", "cpu", "--plan", plan, "--node", "n9", "--seconds", "1"],
                              cwd=scratch, env={**os.environ, "TMPDIR": str(scratch)}, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((2, "n9 is not judged: 1 s were over\n", []), (done.returncode, done.stdout, list(scratch.iterdir())))

    def test_planted_faults_are_found(self):
        for name in ("one of 8, one quantity, 10%", "one of 100, memory, 3%", "one of 30 without any scatter, 5%",
                     "one of 40 on every second of six days, memory, 10%"):
            made, plan = other_fleets.PLANTED[name]
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                fleet = Fleet(11, **made)
                fleet.plant(*plan(fleet.chance)).write(folder)
                status, states = judge(called, folder)
                self.assertEqual((1, fleet.planted_nodes()), (status, self.nodes(states, "slow")))


if __name__ == "__main__":
    unittest.main()

"""The commands of docs/fleet.md on six Slurm nodes of one machine (cluster.py): calibrate, measure the network, train, lose a node.

usage: test_cluster.py BUILD. BUILD holds bin/roof. Status 77, with the reason, where no cluster can be made. With ROOF_CLUSTER=1 also
the tests that take minutes or need a quiet machine. With ROOF_CLUSTER_LOG=FILE the commands and their outputs are appended to that file.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import cluster

BUILD = None
INSIDE = "--inside"
RESULTS = cluster.SHARED / "results"
MODEL = "resnet18"

PLAN = """
name: one-core
measure: {warmup: 1, min_samples: 5, max_samples: 5, interval: 0.02, budget_seconds: 0.05}
rounds: 5
run:
  - {bench: flops, operation: fma, precision: fp32, threads: 1}
"""

MEMORY_PLAN = """
name: one-memory
measure: {warmup: 1, min_samples: 3, max_samples: 3, interval: 0.02, budget_seconds: 0.01}
rounds: 3
run:
  - {bench: bandwidth, operation: load, threads: 1, working_set: [8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576,
     2097152, 4194304, 8388608, 16777216, 33554432, 67108864, 134217728, 268435456]}
"""

WHOLE = "ROOF_CLUSTER" in os.environ
takes_minutes = unittest.skipUnless(WHOLE, "takes minutes; set ROOF_CLUSTER=1")


def rows_in(folder):
    with open(folder / "measurements.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Slurm_nodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster.Cluster(BUILD)
        cls.addClassCleanup(cls.cluster.end)

    def tearDown(self):
        cluster.run("scancel", "--user=root", status=None)

    def roof(self, *words, status=0):
        done = cluster.run("roof", *words, status=status)
        cluster.log(f"$ roof {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_the_three_commands_measure_all_nodes_and_none_of_these_is_slow(self):
        plan = cluster.SHARED / "one-core.yaml"
        plan.write_text(PLAN, encoding="utf-8")
        folder = RESULTS / "fleet"
        script = cluster.SHARED / "fleet.sh"
        script.write_text(self.roof("fleet", "script", "slurm", "--plan", str(plan), "--nodes", "n[1-6]", "--at-once", "1" if WHOLE else "6", "--out",
                                    str(folder)),
                          encoding="utf-8")
        cluster.run("bash", str(script))
        # Not by squeue, which would take time from the jobs.
        cluster.wait_until("all nodes are measured", lambda: len(list(folder.glob("*/digest.csv"))) == 6, 180)
        cluster.wait_until("the jobs are done", lambda: not cluster.run("squeue", "-h").stdout.strip())
        self.assertEqual("", cluster.run("bash", str(script)).stdout, "a second run submits jobs")
        expected = cluster.SHARED / "nodes.txt"
        expected.write_text("".join(f"{node} rack=r1\n" for node in [*cluster.NODES, "n7"]), encoding="ascii")
        page = cluster.SHARED / "fleet.html"
        self.assertIn("n7", self.roof("fleet", str(folder), "--expect", str(expected), "--out", str(page), status=0 if WHOLE else None))
        self.assertRegex(page.read_text(encoding="utf-8"), "6 nodes: 6 fine" if WHOLE else r"6 nodes: \d (fine|slow)")  # others may be busy
        self.assertIn("n7", self.roof("fleet", "retest", str(folder), "--expect", str(expected)).split())

    def test_dead_nodes_hold_up_no_other_and_a_second_run_measures_them(self):
        """n2 dies unnoticed, n5 is known to be down. Only two nodes may be measured at once."""
        plan = cluster.SHARED / "one-core.yaml"
        plan.write_text(PLAN, encoding="utf-8")
        folder = RESULTS / "dead"
        script = cluster.SHARED / "dead.sh"
        script.write_text(self.roof("fleet", "script", "slurm", "--plan", str(plan), "--nodes", "n[1-6],n77", "--at-once", "2", "--out",
                                    str(folder)),
                          encoding="utf-8")
        measured = lambda: sorted(path.parent.name for path in folder.glob("*/digest.csv"))
        for node in ("n2", "n5"):
            for process in self.cluster.processes_on(node):
                os.kill(process, signal.SIGKILL)
        cluster.run("scontrol", "update", "NodeName=n5", "State=DOWN", "Reason=test")
        said = cluster.run("bash", str(script))
        cluster.log(f"$ bash {script.name}\n{said.stdout}{said.stderr}")
        self.assertIn("n77: left out, Slurm does not know it", said.stderr)
        self.assertIn("n5: left out, it is down", said.stderr)
        self.assertIn("5 nodes", said.stdout)
        cluster.wait_until("the living nodes are measured", lambda: measured() == ["n1", "n3", "n4", "n6"], 120)
        for node in ("n2", "n5"):
            self.cluster.start_node(node)
        known = lambda: cluster.run("sinfo", "-h", "-N", "-n", "n5", "-o", "%t").stdout.strip() == "idle"
        cluster.wait_until("n5 is back", known)
        said = cluster.run("bash", str(script))
        cluster.log(f"$ bash {script.name}\n{said.stdout}{said.stderr}")
        self.assertRegex(said.stdout, ": [12] nodes")  # the job of n2 may have been queued again, or have ended
        cluster.wait_until("all nodes are measured", lambda: measured() == cluster.NODES, 120)
        self.cluster.wait_until_idle()

    @takes_minutes
    def test_four_ranks_start_each_time(self):
        """Without workloads/mpi/mpi.cpp: keep_fences_in_order() one of about twenty starts crashes on busy processors."""
        starts = "for i in $(seq 20); do timeout 60 srun -K --mpi=pmix roof list devices > /dev/null && echo started; done\n"
        self.assertEqual(20, self.cluster.submit(starts, "-N4", "-n4").count("started"))

    @takes_minutes
    def test_the_fleet_names_a_loaded_node_and_a_slow_link(self):
        self.cluster.slow_link("n2", "n4", "200mbit")
        self.cluster.load_adapter("n6")
        out = self.cluster.submit(f"srun --mpi=pmix roof calibrate --ranks 6 --quick --out {RESULTS}/network\n", "-N6", "-n6")
        self.assertIn("allreduce", out)
        self.roof("fleet", str(RESULTS / "network"), status=1)
        document = json.loads(cluster.run("roof", "fleet", str(RESULTS / "network"), "--json", status=1).stdout)
        self.assertEqual([("link", "n2 n4"), ("node", "n6")], sorted((found["fault"], found["nodes"]) for found in document["links"]))

    @takes_minutes
    def test_a_network_trains_on_two_and_four_nodes_and_is_predicted_from_one(self):
        """Each node has half of a processor, so that four nodes do not wait for each other's processors."""
        cluster.log("each node has half of a processor" if self.cluster.share_processors(0.5) else "the nodes share the processors")
        train = f"roof run {MODEL} --steps 8 --threads 1"
        self.cluster.submit(f"{train} --batch 1,2,4 --out {RESULTS}/one\n", "-N1", "-n1")
        folders = [RESULTS / "one"]
        for nodes in (2, 4):
            for scaling in ("weak", "strong"):
                folders.append(RESULTS / f"{scaling}{nodes}")
                self.cluster.submit(f"srun --mpi=pmix {train} --batch 4 --scaling {scaling} --out {folders[-1]}\n", f"-N{nodes}", f"-n{nodes}")
                row = rows_in(folders[-1])[0]
                self.assertEqual(("ok", str(nodes)), (row["status"], row["ranks"]), row["reason"])
                self.assertGreater(float(row["exposed_median_s"]), 0)
        folders.append(RESULTS / "messages")
        self.cluster.submit(f"srun --mpi=pmix roof calibrate --ranks 4 --quick --out {folders[-1]}\n", "-N4", "-n4")
        self.cluster.share_processors(None)
        estimate = ["estimate", MODEL, "--nodes", "2,4,8", "--from", ",".join(map(str, folders))]
        self.roof(*estimate)
        held_out = json.loads(cluster.run("roof", *estimate, "--json").stdout)["held_out"]
        self.assertEqual([("weak", 2, "2 ranks: not held out"), ("weak", 4, "2 ranks"), ("strong", 2, "2 ranks: not held out"),
                          ("strong", 4, "2 ranks")], [(row["scaling"], row["ranks"], row["fitted_ranks"]) for row in held_out])

    @takes_minutes
    def test_the_prolog_drains_a_loaded_node_within_15_seconds_and_lets_the_others_in(self):
        """Each node has a third of a processor, and n3, once it is loaded, a third of that. Reading memory takes longer than such a turn."""
        if not self.cluster.share_processors(0.3):
            self.skipTest("there are no control groups that share out processors")
        self.addCleanup(self.cluster.share_processors, None)
        plan = cluster.SHARED / "health.yaml"
        plan.write_text(MEMORY_PLAN, encoding="utf-8")
        for node in cluster.NODES:
            self.cluster.submit(f"roof sweep {plan} --out {RESULTS}/health/$SLURMD_NODENAME\n", "-N1", "-w", node)
        self.cluster.set_prolog(self.roof("health", "--reference", str(RESULTS / "health"), "--plan", str(plan), "--device", "cpu",
                                          "--seconds", "10", "--prolog", "slurm"))
        self.addCleanup(self.cluster.set_prolog, cluster.NO_PROLOG)
        (self.cluster.group("n3") / "cpu.cfs_quota_us").write_text("1000", encoding="ascii")
        refused = cluster.SHARED / "n3.out"
        job = cluster.SHARED / "hello.sh"
        job.write_text("#!/bin/sh\nhostname\n", encoding="ascii")
        begin = time.monotonic()
        cluster.run("sbatch", "-w", "n3", "-o", str(refused), str(job))
        cluster.wait_until("the loaded node is drained", lambda: "drain" in cluster.run("sinfo", "-h", "-n", "n3", "-o", "%T").stdout, 15)
        cluster.log(f"n3 was drained after {time.monotonic() - begin:.1f} s")
        self.assertIn("n3 is slow", cluster.run("sinfo", "-h", "-R", "-n", "n3", "-o", "%E").stdout)
        for node in ("n1", "n2", "n4", "n5", "n6"):
            self.assertEqual(node, self.cluster.submit("hostname\n", "-N1", "-w", node, seconds=30).strip())
        self.assertFalse(refused.exists(), "a job ran on the loaded node")

    def test_a_node_that_is_lost_during_a_row_ends_it_and_is_named(self):
        folder = RESULTS / "lost"
        job = threading.Thread(target=self.cluster.submit, args=(
            f"export ROOF_RANK_TIMEOUT=8\nsrun --mpi=pmix roof run {MODEL} --batch 1 --steps 100000 --threads 1 --out {folder}\n",
            "-N2", "-n2", "-w", "n1,n2"))
        job.start()
        trains = lambda: self.cluster.processes_on("n2", "roof")
        cluster.wait_until("the row runs", trains)
        time.sleep(5)
        # The row goes on without the node's slurmd.
        for process in self.cluster.processes_on("n2", "slurmd"):
            os.kill(process, signal.SIGKILL)
        time.sleep(5)
        self.assertTrue(trains())
        measured = folder / "measurements.csv"
        self.assertEqual([], rows_in(folder) if measured.exists() else [])
        # The node is lost.
        for process in self.cluster.processes_on("n2"):
            os.kill(process, signal.SIGSTOP)
        cluster.run("ip", "link", "set", "v2", "down")
        cluster.wait_until("the row ends", lambda: measured.exists() and len(rows_in(folder)) == 1, 90)
        row = rows_in(folder)[0]
        cluster.log(f"{folder}/measurements.csv: {row['status']}: {row['reason']}")
        self.assertEqual("failed", row["status"])
        self.assertIn("no answer from rank 1 on n2", row["reason"])
        cluster.run("ip", "link", "set", "v2", "up")
        for process in self.cluster.processes_on("n2"):
            os.kill(process, signal.SIGKILL)
        job.join()
        self.cluster.start_node("n2")
        self.cluster.wait_until_idle()


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    if INSIDE not in sys.argv:
        reason = cluster.missing()
        if reason is not None:
            print(f"skipped: {reason}")
            sys.exit(77)
        os.execvp("unshare", ["unshare", "--net", "--uts", "--pid", "--mount", "--fork", "--mount-proc", sys.executable, "-B",
                              os.path.abspath(__file__), str(BUILD), INSIDE, *sys.argv[1:]])
    sys.argv.remove(INSIDE)
    unittest.main()

"""The commands of docs/fleet.md on six Slurm nodes of one machine (cluster.py): calibrate, measure the network, train, lose a node.

usage: ROOF_CLUSTER=1 test_cluster.py BUILD. BUILD holds bin/roof. Status 77, with the reason, where no cluster can be made, and without
ROOF_CLUSTER, because it takes minutes and starts daemons. With ROOF_CLUSTER_LOG=FILE
the commands and their outputs are appended to that file.
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

# Takes 3 of 4 ms of each processor from everything else, as another tenant of the node would.
LOADER = """
import os, time
for cpu in sorted(os.sched_getaffinity(0))[1:]:
    if os.fork() == 0:
        os.sched_setaffinity(0, {cpu})
        break
else:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
while True:
    end = time.monotonic() + 0.003
    while time.monotonic() < end:
        pass
    time.sleep(0.001)
"""


def rows_in(folder):
    with open(folder / "measurements.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Loader:
    """Loads a node while it runs a job. The nodes share the processors, so the others' jobs must not run then."""

    def __init__(self, node):
        self.node = node
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        loads = None
        while not self.ends.wait(0.1):
            is_busy = cluster.run("squeue", "-h", "-w", self.node, "-t", "running", status=None).stdout.strip() != ""
            if is_busy and loads is None:
                loads = subprocess.Popen([sys.executable, "-c", LOADER], start_new_session=True)
            elif not is_busy and loads is not None:
                os.killpg(loads.pid, signal.SIGKILL)
                loads = None
        if loads is not None:
            os.killpg(loads.pid, signal.SIGKILL)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


class Slurm_nodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster.Cluster(BUILD)
        cls.addClassCleanup(cls.cluster.end)

    def roof(self, *words, status=0):
        done = cluster.run("roof", *words, status=status)
        cluster.log(f"$ roof {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_the_printed_script_calibrates_all_and_the_fleet_shows_the_loaded_node_last(self):
        script = cluster.SHARED / "fleet.sh"
        script.write_text(self.roof("fleet", "script", "slurm", "--plan", "calibrate/cpu-quick", "--nodes", "n[1-6]", "--at-once", "1",
                                    "--out", str(RESULTS / "fleet")), encoding="utf-8")
        with Loader("n3"):
            cluster.run("bash", str(script))
            cluster.wait_until("the jobs are done", lambda: not cluster.run("squeue", "-h").stdout.strip(), 150)
        self.assertEqual(cluster.NODES, sorted(path.parent.name for path in (RESULTS / "fleet").glob("*/digest.csv")))
        self.roof("fleet", str(RESULTS / "fleet"))
        document = json.loads(cluster.run("roof", "fleet", str(RESULTS / "fleet"), "--json").stdout)
        self.assertEqual(cluster.NODES, sorted(node["node"] for group in document["groups"] for node in group["nodes"]))
        rates = {node: self.flops(node) for node in cluster.NODES}
        self.assertEqual("n3", min(rates, key=rates.get), rates)

    @staticmethod
    def flops(node):
        with open(RESULTS / "fleet" / node / "digest.csv", encoding="utf-8", newline="") as file:
            return max(float(row["value"]) for row in csv.DictReader(file) if row["unit"] == "FLOP/s")

    def test_the_pairs_show_a_slow_link_and_the_fleet_names_it(self):
        self.cluster.slow_link("n2", "n4", "200mbit")
        out = self.cluster.submit(f"srun --mpi=pmix roof calibrate --ranks 6 --quick --out {RESULTS}/network\n", "-N6", "-n6")
        self.assertIn("allreduce", out)
        self.assertIn("n2 n4", self.roof("fleet", str(RESULTS / "network"), status=1))
        document = json.loads(cluster.run("roof", "fleet", str(RESULTS / "network"), "--json", status=1).stdout)
        self.assertEqual([("link", "n2 n4")], [(found["fault"], found["nodes"]) for found in document["links"]])

    def test_a_network_trains_on_two_and_four_nodes(self):
        for nodes in (2, 4):
            folder = RESULTS / f"train{nodes}"
            self.cluster.submit(f"srun --mpi=pmix roof run resnet18 --batch 1 --steps 3 --threads 1 --out {folder}\n", f"-N{nodes}", f"-n{nodes}")
            row = rows_in(folder)[0]
            self.assertEqual(("ok", str(nodes)), (row["status"], row["ranks"]), row["reason"])
            self.assertGreater(float(row["exposed_median_s"]), 0)

    def test_a_node_that_is_lost_during_a_row_ends_it_and_is_named(self):
        folder = RESULTS / "lost"
        job = threading.Thread(target=self.cluster.submit, args=(
            f"export ROOF_RANK_TIMEOUT=8\nsrun --mpi=pmix roof run resnet18 --batch 1 --steps 100000 --threads 1 --out {folder}\n",
            "-N2", "-n2", "-w", "n1,n2"))
        job.start()
        trains = lambda: cluster.run("squeue", "-h", "-w", "n2", "-t", "running").stdout.strip() and len(self.cluster.processes_on("n2")) > 2
        cluster.wait_until("the row runs", trains)
        time.sleep(5)
        for process in self.cluster.processes_on("n2"):
            os.kill(process, signal.SIGSTOP)
        cluster.run("ip", "link", "set", "v2", "down")
        measured = folder / "measurements.csv"
        cluster.wait_until("the row ends", lambda: measured.exists() and len(rows_in(folder)) == 1, 90)
        row = rows_in(folder)[0]
        cluster.log(f"{folder}/measurements.csv: {row['status']}: {row['reason']}")
        self.assertEqual("failed", row["status"])
        self.assertIn("no answer from rank 1 on n2", row["reason"])
        cluster.run("ip", "link", "set", "v2", "up")
        for process in self.cluster.processes_on("n2"):
            os.kill(process, signal.SIGKILL)
        job.join()
        self.cluster.on("n2", "slurmd", "-N", "n2")


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    if INSIDE not in sys.argv:
        reason = cluster.missing() if "ROOF_CLUSTER" in os.environ else "ROOF_CLUSTER is not set"
        if reason is not None:
            print(f"skipped: {reason}")
            sys.exit(77)
        os.execvp("unshare", ["unshare", "--net", "--uts", "--pid", "--mount", "--fork", "--mount-proc", sys.executable, "-B",
                              os.path.abspath(__file__), str(BUILD), INSIDE, *sys.argv[1:]])
    sys.argv.remove(INSIDE)
    unittest.main()

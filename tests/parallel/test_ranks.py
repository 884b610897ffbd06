"""Ranks in separate processes, started as a user does: they have the losses of one rank with all images, and report every failure.

usage: test_ranks.py RANKS_PROGRAM ROOF. RANKS_PROGRAM is roof with small networks under the models' names, for the tests of
processes, transports and failures. ROOF runs a step of a full-size network with each launcher. The class By_mpi needs mpirun.
"""

import csv
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SMALL = None
ROOF = None
PROCESSORS = len(os.sched_getaffinity(0))
PLANS = Path(__file__).resolve().parents[2] / "configs" / "run"
TRAIN = ["--data", "hashed", "--parameters", "hashed", "--steps", "3", "--json"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def start(*words, program=None, before=(), folder=None):
    return subprocess.run([*before, program or SMALL, *words], capture_output=True, text=True, cwd=folder, check=False, timeout=120,
                          env={**os.environ, **AS_ROOT})


def rows_of(*words, program=None, before=(), status=0):
    """Returns the rows of `roof run`."""
    with tempfile.TemporaryDirectory() as folder:
        done = start("run", *words, *TRAIN, "--out", "rows", program=program, before=before, folder=folder)
    if done.returncode != status:
        raise AssertionError(f"status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["rows"]


@functools.lru_cache
def alone(model, batch, precision="fp32"):
    return rows_of(model, "--batch", batch, "--precision", precision)[0]


def has_bf16():
    return "avx512_bf16" in Path("/proc/cpuinfo").read_text(encoding="ascii")


def goes_on(process):
    return Path(f"/proc/{process}").exists() and " Z " not in Path(f"/proc/{process}/stat").read_text(encoding="ascii")


class Ranks(unittest.TestCase):
    def assert_same_losses(self, one, other, tolerance=1e-4):
        self.assertEqual("ok", other["status"], other["reason"])
        self.assertEqual(3, len(one["losses"]))
        for a, b in zip(one["losses"], other["losses"]):
            self.assertAlmostEqual(a, b, delta=tolerance * a)


class Started_by_roof(Ranks):
    def test_two_and_four_see_the_losses_of_one_with_all_images(self):
        for words in (["--batch", "2", "--ranks", "2"], ["--batch", "1", "--ranks", "4"],
                      ["--batch", "4", "--ranks", "2,4", "--scaling", "strong"]):
            for row in rows_of("alexnet", *words, "--communication", "overlapped,serial,broadcast", "--bucket-mb", "1"):
                self.assert_same_losses(alone("alexnet", "4"), row)

    def test_statistics_of_batch_norm_cross_ranks(self):
        row = rows_of("resnet18", "--batch", "2", "--ranks", "2", "--batch-norm", "synchronised")[0]
        self.assert_same_losses(alone("resnet18", "4"), row, 1e-3)

    @unittest.skipUnless(has_bf16(), "this processor has no instructions for bf16")
    def test_ranks_in_bf16_see_what_one_sees_within_the_reach_of_its_digits(self):
        one = alone("resnet18", "4", "bf16")
        for row in rows_of("alexnet", "--batch", "2", "--ranks", "2", "--precision", "bf16", "--communication",
                           "overlapped,serial,broadcast"):
            self.assert_same_losses(alone("alexnet", "4", "bf16"), row, 2e-2)
        local = rows_of("resnet18", "--batch", "2", "--ranks", "2", "--precision", "bf16")[0]
        self.assertEqual("ok", local["status"])
        self.assertNotEqual(one["losses"], local["losses"])
        all_ranks = ["--batch-norm", "synchronised"]
        synchronised = rows_of("resnet18", "--batch", "2", "--ranks", "2", "--precision", "bf16", *all_ranks)[0]
        self.assert_same_losses(one, synchronised, 2e-2)

    def test_roof_itself_takes_steps_of_a_whole_network_on_two_ranks(self):
        words = ["alexnet", "--data", "synthetic", "--parameters", "random", "--steps", "2", "--json"]
        with tempfile.TemporaryDirectory() as folder:
            done = start("run", *words, "--batch", "1", "--ranks", "2", "--out", "rows", program=ROOF, folder=folder)
        self.assertEqual(0, done.returncode, done.stderr)
        row = json.loads(done.stdout)["rows"][0]
        self.assertEqual("ok", row["status"], row["reason"])
        self.assertIn("2 ranks by shared memory", row["variant"])

    @unittest.skipIf(PROCESSORS < 2, "the plan needs two hardware threads")
    def test_the_plan_of_scaling_has_a_row_for_each_way(self):
        with tempfile.TemporaryDirectory() as folder:
            done = start("sweep", str(PLANS / "scaling.yaml"), "--out", "rows", folder=folder)
            self.assertEqual(0, done.returncode, done.stderr)
            report = start("report", "rows", "--out", "report.html", folder=folder)
            self.assertEqual(0, report.returncode, report.stderr)
            lines = (Path(folder) / "rows" / "measurements.csv").read_text(encoding="utf-8").splitlines()
            html = (Path(folder) / "report.html").read_text(encoding="utf-8")
        self.assertEqual(1 + 2 + 2 * 2 * 3, len(lines))
        self.assertIn("efficiency", html)

    def test_a_batch_that_cannot_be_shared_out_is_a_row_with_that_reason(self):
        row = rows_of("alexnet", "--batch", "3", "--ranks", "2", "--scaling", "strong", status=2)[0]
        self.assertEqual("unsupported", row["status"])
        self.assertIn("cannot be shared out evenly", row["reason"])

    def start_endless(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        process = subprocess.Popen([SMALL, "run", "alexnet", "--batch", "1", "--ranks", "2", "--steps", "1000000", "--parameters",
                                    "hashed", "--out", "rows"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder.name, start_new_session=True)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        while "Epoch" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
        self.assertEqual(1, len(children))
        self.assertEqual("/dev/null", os.readlink(f"/proc/{children[0]}/fd/1"))  # standard output is rank 0's
        return process, int(children[0])

    def test_a_rank_that_is_killed_ends_the_row_with_its_name(self):
        process, rank = self.start_endless()
        os.kill(rank, signal.SIGKILL)
        out, _ = process.communicate(timeout=30)
        self.assertEqual(1, process.returncode)
        self.assertIn("failed: rank 1 was ended by signal 9", out)

    def test_an_interrupt_ends_all_ranks(self):
        process, rank = self.start_endless()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(130, process.returncode)
        self.assertIn("to continue:", err)
        self.assertFalse(Path(f"/proc/{rank}").exists())

    def test_the_environment_of_a_launcher_silences_no_command_and_stale_ranks_answer_at_once(self):
        def said(*words, **variables):
            with tempfile.TemporaryDirectory() as folder:
                return subprocess.run([SMALL, *words], capture_output=True, text=True, cwd=folder, check=False, timeout=60,
                                      env={**os.environ, **AS_ROOT, **variables})
        for variables in ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, {"PMI_RANK": "1", "PMI_SIZE": "2"},
                          {"ROOF_RANK": "1", "ROOF_RANKS": "2", "ROOF_RANK_MEMORY": "0"}):
            with self.subTest(variables=variables):
                self.assertIn("there is no results folder", said("check", "nowhere", **variables).stderr)
                self.assertIn("alexnet", said("list", "models", **variables).stdout)
                done = said("run", "alexnet", "--batch", "1", "--steps", "1", **variables)
                self.assertNotEqual(0, done.returncode)
                self.assertIn("roof: ", done.stderr)
        memory = os.memfd_create("of_no_ranks")
        self.addCleanup(os.close, memory)
        os.ftruncate(memory, 1 << 26)
        done = subprocess.run([SMALL, "rank"], capture_output=True, text=True, check=False, timeout=60, pass_fds=[memory],
                              env={**os.environ, "ROOF_RANK": "1", "ROOF_RANKS": "2", "ROOF_RANK_MEMORY": str(memory)})
        self.assertEqual(1, done.returncode)
        self.assertIn("does not wait for this rank", done.stderr)

    def test_ranks_end_with_a_roof_that_is_killed(self):
        process, rank = self.start_endless()
        process.kill()
        process.wait()
        tries = 0
        while tries < 100 and goes_on(rank):
            tries += 1
            time.sleep(0.1)
        self.assertFalse(goes_on(rank), "rank 1")

    def test_the_all_reduce_is_measured_between_ranks_that_share_memory_and_predicts_their_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            done = start("calibrate", "--ranks", "3", "--quick", "--json", "--out", "messages", program=ROOF, folder=folder)
            self.assertEqual(0, done.returncode, done.stderr)
            network = json.loads(done.stdout)["network"]
            words = ["run", "alexnet", *TRAIN, "--batch", "1", "--out"]
            of_a_rank = max(1, PROCESSORS // 3)
            for out, threads in (("one", ["--threads", str(of_a_rank)]), ("three", ["--ranks", "3"])):
                self.assertEqual(0, start(*words, out, *threads, folder=folder).returncode)
            predicted = start("estimate", "alexnet", "--nodes", "3", "--from", "one,three,messages", "--json", folder=folder)
            self.assertEqual(0, predicted.returncode, predicted.stderr)
        self.assertEqual({("allreduce", "1x2"), ("allreduce", "1x3")}, {(row["operation"], row["path"]) for row in network})
        self.assertEqual([("weak", 3, "2 ranks")],
                         [(row["scaling"], row["ranks"], row["fitted_ranks"]) for row in json.loads(predicted.stdout)["held_out"]])

    def test_ranks_that_share_memory_send_no_messages(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = Path(folder) / "plan.yaml"
            plan.write_text("name: p\nrun:\n  - {bench: network, path: [1x2, 2x2], size: 64}\n", encoding="ascii")
            done = start("sweep", str(plan), "--out", "rows", program=ROOF, folder=folder)
            self.assertEqual(0, done.returncode, done.stderr)
            with open(Path(folder) / "rows" / "measurements.csv", encoding="utf-8", newline="") as file:
                rows = {(row["operation"], row["path"]): row for row in csv.DictReader(file)}
        self.assertEqual("ok", rows["allreduce", "1x2"]["status"])
        self.assertIn("share memory and send each other no messages", rows["ring", "1x2"]["reason"])
        self.assertIn("messages between ranks need several: mpirun", rows["allreduce", "2x2"]["reason"])

    def test_nobody_starts_a_rank_by_hand(self):
        done = start("rank", program=ROOF)
        self.assertEqual(2, done.returncode)
        self.assertIn("roof itself starts", done.stderr)


@unittest.skipIf(shutil.which("mpirun") is None, "no mpirun here: apt-get install openmpi-bin")
class By_mpi(Ranks):
    def setUp(self):
        if not (Path(ROOF).parent / "roof_mpi.so").exists():
            self.skipTest("this build has no MPI part")

    @staticmethod
    def mpirun(ranks, *options):
        return ["mpirun", "--oversubscribe", "--bind-to", "none", *options, "-n", str(ranks)]

    def script(self, text):
        """Returns the path of a temporary script."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "script"
        path.write_text("#!/bin/sh\n" + text, encoding="ascii")
        path.chmod(0o755)
        return str(path)

    def test_two_and_four_see_the_losses_of_one_with_all_images(self):
        row = rows_of("alexnet", "--batch", "1", "--ranks", "4", before=self.mpirun(4))[0]
        self.assert_same_losses(alone("alexnet", "4"), row)
        for row in rows_of("alexnet", "--batch", "2", "--communication", "overlapped,serial,broadcast", before=self.mpirun(2)):
            self.assert_same_losses(alone("alexnet", "4"), row)
            self.assertIn("Open MPI", row["variant"])

    def test_statistics_of_batch_norm_cross_ranks(self):
        row = rows_of("resnet18", "--batch", "2", "--batch-norm", "synchronised", before=self.mpirun(2))[0]
        self.assert_same_losses(alone("resnet18", "4"), row, 1e-3)

    def test_ranks_with_another_file_of_choices_follow_rank_0_and_write_none(self):
        network = ("{name: small, image: [3, 12, 12], layers: [{convolution: {channels: 16, window: 3, padding: 1}}, relu, flatten, "
                   "{linear: {features: 10}}]}")
        words = ["run", network, "--batch", "2", "--algorithm", "auto", *TRAIN, "--out", "rows"]
        with tempfile.TemporaryDirectory() as folder:
            def ranks(*caches):
                each = [["-n", "1", "-x", f"XDG_CACHE_HOME={folder}/{cache}", ROOF, *words] for cache in caches]
                before = ["mpirun", "--oversubscribe", "--bind-to", "none", *each[0], *([":", *each[1]] if len(each) > 1 else [])]
                done = subprocess.run(before, capture_output=True, text=True, cwd=folder, check=False, timeout=120, env={**os.environ, **AS_ROOT})
                self.assertEqual(0, done.returncode, done.stderr)
                shutil.rmtree(Path(folder, "rows"))
                return json.loads(done.stdout)["rows"][0]
            def files(cache):
                return {path.name: path.read_bytes() for path in Path(folder, cache).rglob("*.csv")}
            ranks("second")  # makes choices of its own
            kept = files("second")
            self.assertEqual(1, len(kept))
            row = ranks("first", "second")
            self.assertEqual(kept, files("second"))
            self.assertEqual(1, len(files("first")))
        self.assertIn("2 ranks", row["variant"])
        self.assert_same_losses(rows_of(network, "--batch", "4", program=ROOF)[0], row)

    def test_ranks_on_two_machines_train_as_one_and_say_so(self):
        # Both host names mean this machine: the replacement for ssh runs the command here.
        agent = self.script('shift\nexec /bin/sh -c "$*"\n')
        two = self.mpirun(2, "--mca", "plm_rsh_agent", agent, "--host", "localhost:1,another-machine:1", "--mca", "btl",
                          "tcp,self", "--mca", "btl_tcp_if_include", "lo", "--mca", "oob_tcp_if_include", "lo")
        row = rows_of("alexnet", "--batch", "2", before=two)[0]
        self.assert_same_losses(alone("alexnet", "4"), row)
        self.assertIn("several machines, 1 on this one", row["remarks"])

    def srun(self):
        # Sets the variables of srun --mpi=pmix. MPI uses the PMIX_… variables, which mpirun also sets.
        return self.script('export SLURM_PROCID=$OMPI_COMM_WORLD_RANK SLURM_STEP_NUM_TASKS=$OMPI_COMM_WORLD_SIZE\n'
                           'export SLURM_STEP_NUM_NODES=1 SLURM_NODEID=0 SLURM_STEP_TASKS_PER_NODE=$OMPI_COMM_WORLD_SIZE\n'
                           'unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_SIZE\nexec "$@"\n')

    def test_ranks_of_srun_are_told_by_its_environment(self):
        row = rows_of("alexnet", "--batch", "2", before=[*self.mpirun(2), self.srun()])[0]
        self.assert_same_losses(alone("alexnet", "4"), row)

    def test_ranks_of_srun_connect_by_fences_without_data(self):
        # Slurm's PMIx plug-in mixes up fences with and without data (workloads/mpi/mpi.cpp).
        def variables_of(*before):
            with tempfile.TemporaryDirectory() as folder:
                shows = self.mpirun(2, "-x", "OMPI_MCA_mpi_show_mca_params=enviro")
                done = start("run", "alexnet", "--batch", "1", *TRAIN, "--out", "rows", before=[*shows, *before], folder=folder)
            self.assertEqual(0, done.returncode, done.stderr)
            return done.stdout + done.stderr
        self.assertIn("pmix_base_collect_data=false (environment)", variables_of(self.srun()))
        self.assertNotIn("pmix_base_collect_data", variables_of())

    def test_a_rank_that_is_killed_ends_them_all(self):
        with tempfile.TemporaryDirectory() as folder:
            suicide = self.script('[ "$OMPI_COMM_WORLD_RANK" = 1 ] && (sleep 2; kill -9 $$) &\nexec "$@"\n')
            done = start("run", "alexnet", "--batch", "1", "--steps", "1000000", "--parameters", "hashed", "--out", "rows",
                         before=[*self.mpirun(2), suicide], folder=folder)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("signal 9", done.stderr)

    def test_roof_itself_takes_steps_of_a_whole_network_on_two_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            done = start("run", "alexnet", "--batch", "1", "--steps", "2", "--json", "--out", "rows", program=ROOF,
                         before=self.mpirun(2), folder=folder)
        self.assertEqual(0, done.returncode, done.stderr)
        row = json.loads(done.stdout)["rows"][0]
        self.assertEqual("ok", row["status"], row["reason"])
        self.assertIn("2 ranks by Open MPI", row["variant"])

    def test_a_rank_that_freezes_ends_the_row_in_time_with_its_number_and_node(self):
        with tempfile.TemporaryDirectory() as folder:
            freezes = self.script('[ "$OMPI_COMM_WORLD_RANK" = 2 ] && (sleep 3; kill -STOP $$; sleep 20; kill -KILL $$) &\nexec "$@"\n')
            done = subprocess.run([*self.mpirun(3), "-x", "ROOF_RANK_TIMEOUT=2", freezes, SMALL, "run", "alexnet", "--batch", "1", "--steps",
                                   "1000000", "--parameters", "hashed", "--out", "rows"],
                                  capture_output=True, text=True, cwd=folder, check=False, timeout=120, env={**os.environ, **AS_ROOT})
            rows = (Path(folder) / "rows" / "measurements.csv").read_text(encoding="utf-8")
        self.assertNotEqual(0, done.returncode)
        self.assertIn("no answer from rank 2 on " + os.uname().nodename, rows)

    def calibrate(self, ranks, *words):
        with tempfile.TemporaryDirectory() as folder:
            done = start("calibrate", "--ranks", str(ranks), "--quick", "--json", "--out", "rows", *words, program=ROOF,
                         before=self.mpirun(ranks), folder=folder)
            self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout)

    def test_messages_between_ranks_are_measured_by_pairs_rings_and_all_reduces(self):
        document = self.calibrate(3)
        found = {(row["operation"], row["path"]) for row in document["network"]}
        pairs = {("pair", "0-1"), ("pair", "0-2"), ("pair", "1-2")}
        groups = {(operation, path) for operation in ("ring", "allreduce") for path in ("1x2", "1x3")}
        self.assertEqual(pairs | groups, found)
        for row in document["network"]:
            self.assertGreater(row["plateau_median_bytes_per_s"], 0)
            alpha, beta = row["alpha_median_s"], row["beta_median_bytes_per_s"]  # unknown where other work hides them
            self.assertTrue(alpha is None or alpha >= 0, row)
            self.assertTrue(beta is None or beta > 0, row)

    def test_a_network_between_more_ranks_than_there_are_is_refused(self):
        done = start("calibrate", "--ranks", "4", program=ROOF, before=self.mpirun(2))
        self.assertEqual(2, done.returncode)
        self.assertIn("mpirun -n 4 roof calibrate --ranks 4", done.stderr)

    def test_another_number_of_ranks_is_a_row_that_says_what_to_do(self):
        row = rows_of("alexnet", "--batch", "1", "--ranks", "4", before=self.mpirun(2), status=2)[0]
        self.assertEqual("unsupported", row["status"])
        self.assertIn("mpirun -n 4", row["reason"])


if __name__ == "__main__":
    SMALL, ROOF = (str(Path(sys.argv.pop(1)).resolve()) for _ in range(2))
    unittest.main()

"""Ranks on emulated GPUs that meet an accident in NCCL: the row says whom the others waited for, and nothing hangs. ROOF: a roof beside
the emulated part. `ROOF=… test_ranks.py --times 200` lets 200 runs meet the accidents in turn, four at a time, and says how each ended."""
import argparse
import collections
import concurrent.futures
import csv
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).parent
LIMIT = 4  # seconds that a rank waits
MOST = 60  # seconds of a run: beyond them it hangs
KILLED = ("failed", "rank 1 was ended by signal 9")
FROZEN = ("failed", f"rank 0 waited {LIMIT} s for rank 1")
DIFFERENT = ("failed", "rank 1: the ranks have different parameters after the same steps: ")
ACCIDENTS = {
    "none": ("ok", ""),
    "kill init 1": KILLED, "kill call 1": KILLED, "kill run 1": KILLED, "kill graph 1": KILLED,
    "freeze init 1": FROZEN, "freeze call 1": FROZEN, "freeze run 1": FROZEN, "freeze graph 1": FROZEN,
    "hang init 1": FROZEN,
    "hang init 0": ("failed", f"rank 0 waited {LIMIT} s for the other ranks: the start of NCCL"),
    "hang call 0": ("failed", f"rank 0 waited {LIMIT} s for the other ranks: the connection between the GPUs"),
    "hang run 0": ("failed", f"rank 0 waited {LIMIT} s for the other ranks: the exchange between the GPUs"),
    "hang graph 0": ("failed", f"rank 0 waited {LIMIT} s for the other ranks: the exchange between the GPUs"),
    "wrong run 1": DIFFERENT, "wrong graph 1": DIFFERENT,
    # The step has been measured by then.
    "kill leave 1": ("ok", ""), "freeze leave 1": ("ok", ""), "hang leave 0": ("ok", ""),
}


def rows_with(accident, *command, **environment):
    """(status, reason) of each row. Throws subprocess.TimeoutExpired."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder, "results")
        subprocess.run([os.environ["ROOF"], *map(str, command), "--out", results], capture_output=True, check=False, timeout=MOST,
                       start_new_session=True,  # SIGCONT to the tests' group, as a shell sends it, would wake a frozen rank
                       env={**os.environ, "ROOF_EMULATED_GPUS": "2", "ROOF_RANK_TIMEOUT": str(LIMIT),
                            "ROOF_EMULATED_NCCL_ACCIDENT": accident, **environment})
        with open(results / "measurements.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))


def fault_of(accident):
    """What is wrong with the run that meets the accident; empty where nothing is."""
    try:
        (row,) = rows_with(accident, "sweep", HERE / "ranks.yaml")
    except subprocess.TimeoutExpired:
        return f"not over after {MOST} s"
    status, reason = ACCIDENTS[accident]
    is_due = row["status"] == status and row["reason"].startswith(reason)
    return "" if is_due else f"{row['status']}: {row['reason']}"


def faults_of(accidents):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(fault_of, accidents))


class Accidents(unittest.TestCase):
    def test_end_the_row_and_name_the_rank(self):
        self.assertEqual({}, {accident: fault for accident, fault in zip(ACCIDENTS, faults_of(ACCIDENTS)) if fault})

    def test_of_a_sum_of_several_gpus_ends_its_row_and_no_other(self):
        rows = rows_with("hang run 1", "sweep", HERE / "allreduce.yaml")
        self.assertEqual(["failed", "ok"], [row["status"] for row in rows])
        self.assertIn(f"NCCL waited {LIMIT} s for gpu:1", rows[0]["reason"])


class Memory(unittest.TestCase):
    def test_that_one_rank_lacks_ends_the_row_before_the_first_step(self):
        (row,) = rows_with("none", "sweep", HERE / "ranks.yaml", ROOF_EMULATED_MIB="256,0")
        self.assertEqual("out_of_memory", row["status"])
        self.assertIn("rank 1's share of the step", row["reason"])


class Pair(unittest.TestCase):
    """What is told of both ranks of a row."""
    def remarks(self, plan=HERE / "ranks.yaml", **environment):
        (row,) = rows_with("none", "sweep", plan, **environment)
        self.assertEqual("ok", row["status"], row["reason"])
        return row["remarks"]

    def test_is_recorded_to_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder, "profiled.yaml")
            plan.write_text((HERE / "ranks.yaml").read_text(encoding="utf-8") + "profile: true\n", encoding="utf-8")
            remarks = self.remarks(plan, ROOF_EMULATED_PROFILER="1")
        self.assertIn("a fake profiler saw the launches", remarks)
        self.assertNotIn("not profiled", remarks)

    def test_on_one_gpu_takes_turns(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder, "shared.yaml")
            plan.write_text((HERE / "ranks.yaml").read_text(encoding="utf-8").replace("gpu:0,1", "gpu:0") + "    ranks: 2\n", encoding="utf-8")
            self.assertIn("several ranks on one GPU: they take turns", self.remarks(plan, NCCL_HOSTID="word"))

    def test_with_a_slow_and_capped_gpu_says_so_before_its_communication_is_judged(self):
        remarks = self.remarks(ROOF_EMULATED_CLOCKS="8,6")
        self.assertIn("the ranks' clocks differ, rank 1 at 6.00 MHz and rank 0 at 8.00 MHz", remarks)
        self.assertRegex(remarks, "rank 1: the clock was below 98% of [^;]*; the driver named the power cap in [0-9]+ of them")
        self.assertRegex(remarks, "rank 0: the clock was below 98% of [^;]*; the driver named no power cap")

    def test_with_equal_clocks_says_what_they_were(self):
        self.assertIn("the clocks of all ranks were from 8.00 MHz to 8.00 MHz", self.remarks(ROOF_EMULATED_CLOCKS="8,8"))

    def test_makes_no_context_on_the_gpu_of_the_other(self):
        with tempfile.TemporaryDirectory() as locks:
            self.remarks(ROOF_EMULATED_EXCLUSIVE=locks)
            self.assertEqual(["gpu0", "gpu1"], sorted(os.listdir(locks)))


class Devices(unittest.TestCase):
    def test_that_were_not_asked_for_take_no_part_in_sums(self):
        rows = rows_with("none", "calibrate", "--device", "gpu:0,2", "--plan", HERE / "calibrated_sums.yaml", ROOF_EMULATED_GPUS="3")
        self.assertEqual([("gpu:0", "nccl:0,2", "ok")], [(row["device"], row["path"], row["status"]) for row in rows])
        self.assertIn(", 2 ranks", rows[0]["variant"])
        self.assertIn("times 2(N-1)/N: 100% of it for 2 GPUs", rows[0]["remarks"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int)
    times = parser.parse_known_args()[0].times
    if times is None:
        unittest.main()
    begin = time.monotonic()
    met = list(itertools.islice(itertools.cycle(ACCIDENTS), times))
    ends = collections.Counter((accident, fault or "as it should") for accident, fault in zip(met, faults_of(met)))
    for (accident, end), count in sorted(ends.items()):
        print(f"{count:4} {accident}: {end}")
    print(f"{times} runs in {time.monotonic() - begin:.0f} s")
    sys.exit(any(end != "as it should" for _, end in ends))

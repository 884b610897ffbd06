"""The acceptance on a GPU, as far as it goes without one: how time is shared, that steps which fail or cannot run do not end it, and
that ours stand beside the right peers."""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tools" / "gpu_acceptance"
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "peers")]

# pylint: disable=wrong-import-position
import read_back

from acceptance import budget, builds, goals, sequence
from acceptance.budget import Step
from acceptance.catalogue import STEPS
from acceptance.journal import Journal
from acceptance.programs import Failed, TimeOver, run
from acceptance.scene import Scene, gpu, part
from acceptance.steps import ceilings, machine, profiles, training


def step(name, least, most, action=lambda scene, seconds: None, needs=()):
    return Step(name, f"what {name} proves", least, most, needs, action)


class Quiet(unittest.TestCase):
    """In a folder that is gone afterwards; what is printed is kept."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.said = io.StringIO()
        silence = contextlib.redirect_stdout(self.said)
        silence.__enter__()
        self.addCleanup(silence.__exit__, None, None, None)

    def write(self, name, *lines):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def executable(self, name, *lines):
        self.write(f"bin/{name}", "#!/bin/sh", *lines).chmod(0o755)


class Sharing(unittest.TestCase):
    def test_all_get_their_least_and_the_first_what_is_over(self):
        steps = [step("a", 10, 30), step("b", 20, 90)]
        self.assertEqual(30, budget.grant(steps, 100))
        self.assertEqual(18, budget.grant(steps, 38), "b keeps its 20")
        self.assertEqual(90, budget.grant(steps[1:], 100))

    def test_the_first_does_not_wait_for_those_that_do_not_fit(self):
        steps = [step("a", 10, 30), step("b", 20, 90), step("c", 5, 5)]
        self.assertEqual(["a", "c"], [one.name for one in budget.fitting(steps, 18)])
        self.assertEqual(13, budget.grant(steps, 18))

    def test_what_does_not_fit_gets_nothing(self):
        self.assertIsNone(budget.grant([step("a", 10, 30), step("b", 1, 2)], 9.5))
        self.assertIsNone(budget.grant([step("a", 10, 30)], -1))

    def test_the_steps_there_are_fit_into_the_usual_time(self):
        least, most = budget.foreseen(STEPS)
        self.assertLessEqual(least, 8 * 60 - 10)
        self.assertGreater(most, 8 * 60, "or some of the time would be idle")
        for one in STEPS:
            self.assertLessEqual(one.least, one.most, one.name)
        self.assertEqual(len(STEPS), len({one.name for one in STEPS}))


class Sequence(Quiet):
    """With a clock turned by hand: a step takes what it is told to, at most what it was granted."""

    def setUp(self):
        super().setUp()
        self.now = 1000.0
        self.granted = {}

    def taking(self, name, least, most, seconds, **more):
        def action(_, limit):
            self.granted[name] = limit
            self.now += min(limit, seconds)
            if seconds > limit:
                raise TimeOver(f"{name} was not done")
        return step(name, least, most, action, **more)

    def run_all(self, steps, seconds):
        journal = Journal(self.folder)
        sequence.run_all(steps, None, journal, self.now + seconds, clock=lambda: self.now)
        return {row["step"]: row for row in journal.rows}

    def test_what_the_first_leaves_over_goes_to_the_next(self):
        rows = self.run_all([self.taking("a", 10, 60, 5), self.taking("b", 10, 200, 150)], 100)
        self.assertEqual({"a": 60, "b": 95}, self.granted)
        self.assertEqual(["ok", "cut off"], [row["status"] for row in rows.values()])
        self.assertEqual(1100, self.now, "it never takes longer than it was told to")
        self.assertIn("--only b --minutes 30", rows["b"]["reason"])

    def test_a_step_that_hangs_takes_from_no_other_step_its_least(self):
        rows = self.run_all([self.taking("hangs", 10, 500, 1e9), self.taking("b", 20, 30, 15), self.taking("c", 5, 8, 4)], 60)
        self.assertEqual(35, self.granted["hangs"])
        self.assertEqual(["cut off", "ok", "ok"], [row["status"] for row in rows.values()])

    def test_what_is_left_out_is_said_with_how_to_run_it_alone(self):
        rows = self.run_all([self.taking("a", 10, 10, 10), self.taking("large", 50, 60, 50), self.taking("b", 5, 5, 5)], 30)
        self.assertEqual(["ok", "left out", "ok"], [row["status"] for row in rows.values()])
        self.assertIn("tools/gpu_acceptance --only large", rows["large"]["reason"])
        self.assertIn("it wants 50 s, and 20 s are left", rows["large"]["reason"])

    def test_what_cannot_run_here_says_why_and_keeps_no_time(self):
        absent = self.taking("absent", 50, 60, 1, needs=(lambda scene: None, lambda scene: "there is no moon"))
        rows = self.run_all([absent, self.taking("a", 10, 100, 90)], 95)
        self.assertEqual({"a": 95}, self.granted)
        self.assertEqual(("unavailable", "there is no moon"), (rows["absent"]["status"], rows["absent"]["reason"]))

    def test_a_step_that_fails_is_said_and_the_next_one_runs(self):
        def fail(_, seconds):
            raise Failed("the sums differ")
        steps = [step("a", 1, 1, fail), step("b", 1, 1, lambda scene, seconds: 1 / 0), step("c", 1, 1, lambda *_: "seven of them")]
        rows = self.run_all(steps, 60)
        self.assertEqual(["failed", "failed", "ok"], [row["status"] for row in rows.values()])
        self.assertEqual(["the sums differ", "ZeroDivisionError: division by zero", "seven of them"],
                         [row["reason"] for row in rows.values()])

    def test_what_is_finished_is_kept_when_the_rest_is_cut_off(self):
        def die(_, seconds):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.run_all([self.taking("a", 1, 1, 1), step("b", 1, 1, die)], 60)
        again = Journal(self.folder)
        self.assertTrue(again.is_done("a"))
        self.assertFalse(again.is_done("b"))
        self.assertIn("| a | ok |", (self.folder / "summary.md").read_text(encoding="utf-8"))
        self.assertFalse(Journal(self.folder, "roof 9.9").is_done("a"), "another build has not shown it")
        again.add(step("a", 1, 1), "failed", reason="now it fails | so")
        self.assertEqual(1, again.status(["a"]))
        self.assertEqual(1, len(again.rows))
        self.assertIn("now it fails \\| so", (self.folder / "summary.md").read_text(encoding="utf-8"))


class Programs(Quiet):
    def test_a_program_that_fails_tells_its_last_words(self):
        log = self.folder / "log"
        with self.assertRaisesRegex(Failed, "status 3: the reason"):
            run(["sh", "-c", "echo first; echo the reason >&2; exit 3"], log, 10)
        self.assertEqual("first\n", log.read_text(encoding="utf-8"))
        self.assertEqual("x\n", run(["sh", "-c", "echo $WORD; exit 1"], log, 10, accepted=(0, 1), WORD="x"))
        with self.assertRaisesRegex(Failed, "No such file"):
            run([self.folder / "none"], log, 10)

    def test_one_whose_time_is_over_is_ended_with_all_it_started_and_its_words_are_kept(self):
        with self.assertRaisesRegex(TimeOver, "sh was not done"):
            self.run_with_child(0.5)
        self.assertEqual("begun\n", (self.folder / "log").read_text(encoding="utf-8"))
        self.assert_child_has_ended()

    def test_one_is_ended_too_when_the_acceptance_is_interrupted(self):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with self.assertRaises(KeyboardInterrupt):
            self.run_with_child(100)
        self.assert_child_has_ended()

    def run_with_child(self, seconds):
        run(["sh", "-c", "echo begun; sleep 1000 & echo $! >&2; wait"], self.folder / "log", seconds)

    def assert_child_has_ended(self):
        child = int((self.folder / "log.err").read_text(encoding="utf-8"))
        state = Path(f"/proc/{child}/stat")
        self.assertTrue(not state.exists() or ") Z" in state.read_text(encoding="utf-8"))


class WithoutGpu(Quiet):
    def test_every_step_says_why_it_cannot_run(self):
        done = subprocess.run([sys.executable, "-B", PROGRAM, "--build", self.folder, "--out", self.folder / "out"],
                              capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(1, done.returncode, done.stderr)
        rows = json.loads((self.folder / "out" / "steps.json").read_text(encoding="utf-8"))
        self.assertEqual([one.name for one in STEPS], [row["step"] for row in rows])
        self.assertEqual(["ok"] + ["unavailable"] * (len(STEPS) - 1), [row["status"] for row in rows])
        self.assertTrue(all("the build has no" in row["reason"] for row in rows))
        again = subprocess.run([sys.executable, "-B", PROGRAM, "--build", self.folder, "--out", self.folder / "out", "--only", "machine"],
                               capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(0, again.returncode, again.stderr)

    def test_the_list_names_every_step_and_what_it_proves(self):
        done = subprocess.run([sys.executable, "-B", PROGRAM, "--list"], capture_output=True, text=True, check=True, timeout=60)
        for one in STEPS:
            self.assertRegex(done.stdout, f"(?m)^{one.name} .*{one.proves[:20]}")

    def test_the_page_names_each_step_that_there_is_and_no_other(self):
        page = (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8")
        table = page[page.index("| never seen on hardware | step |"):]
        named = {word for line in table.splitlines() if line.startswith("| ")
                 for word in re.findall(r"`([\w-]+)`", line.split("|")[-3])}
        self.assertEqual({one.name for one in STEPS}, named)

    def test_why_there_is_no_gpu_is_what_roof_says(self):
        doctor = {"machine": {"devices": [{"kind": "cpu"}], "capabilities": [{"name": "gpu", "reason": "no driver"}]},
                  "absent": [{"name": "cudnn", "reason": "libcudnn.so.9: cannot open"}]}
        self.executable("roof", f"echo '{json.dumps(doctor)}'")
        scene = Scene(self.folder, self.folder)
        self.assertEqual("no GPU: no driver", gpu(scene))
        self.assertIn("libcudnn.so.9", part("cudnn")(scene))
        self.assertIsNone(part("cupti")(scene))

    def test_plans_and_programs_that_are_named_are_there(self):
        for path in (training.PLAN, training.BENCH, profiles.PLAN, ceilings.PEERS / "torch_gpu.py", ceilings.PEERS / "torch_loop.py"):
            self.assertTrue(path.is_file(), path)

    def test_provenance_is_written_without_anything(self):
        self.assertIn("no roof", machine.provenance(Scene(self.folder, self.folder), 30))
        kept = json.loads((self.folder / "provenance.json").read_text(encoding="utf-8"))
        self.assertLessEqual({"utc", "python", "nvidia-smi", "torch", "revision"}, set(kept))


class Packing(Quiet):
    def test_a_build_comes_back_out_of_its_archive_and_tells_what_it_lacks(self):
        shutil.copy2(shutil.which("true"), self.write("bin/roof"))
        builds.pack(self.folder, self.folder / "packed.tar.gz")
        self.assertIn("test_gpu: not in this build", self.said.getvalue())
        with builds.unpacked(self.folder / "packed.tar.gz") as folder:
            self.assertTrue(os.access(folder / "bin" / "roof", os.X_OK))
        self.assertFalse(folder.exists())
        with builds.unpacked(self.folder) as folder:
            self.assertEqual(self.folder, folder)
        self.assertEqual("", builds.identity(self.folder / "nowhere"))


class Training(Quiet):
    def test_a_row_that_explains_why_it_is_not_measured_does_not_do(self):
        measured = {"status": "ok", "reason": ""}
        training.require_measured([measured])
        for rows, words in (([], "no row"), ([measured, {"status": "unsupported", "reason": "no NCCL"}], "no NCCL")):
            with self.assertRaisesRegex(Failed, words):
                training.require_measured(rows)

    def test_a_sweep_whose_time_is_over_keeps_its_rows_and_says_how_to_go_on(self):
        self.executable("roof", f"cp {self.folder}/rows {self.folder}/training/measurements.csv; sleep 1000")
        (self.folder / "training").mkdir()
        scene = Scene(self.folder, self.folder)
        self.write("rows", "id,status,reason", "a,ok,", "b,unsupported,no fp8", "c,ok,")
        self.assertIn("2 rows measured; the rest", training.sweep(scene, 0.5))
        self.write("rows", "id,status,reason", "a,ok,", "b,failed,the loss is not finite")
        with self.assertRaisesRegex(Failed, "b: the loss"):
            training.sweep(scene, 0.5)

    def test_little_time_is_for_few_rows_and_much_for_all(self):
        words, left_out = training.rows_for(65)
        self.assertEqual("resnet50:32,alexnet:4", words[words.index("--rows") + 1])
        self.assertIn("2 rows in bf16", left_out)
        words, left_out = training.rows_for(1800)
        self.assertNotIn("--no-compile", words)
        self.assertEqual("", left_out)


def ceiling(kind, median, **fields):
    return {"kind": kind, "median": median, "low": 0.999 * median, "high": 1.001 * median, **fields}


CEILINGS = [
    ceiling("compute", 700e12, operation="matmul", precision="bf16", isa="cublaslt"),
    ceiling("compute", 950e12, operation="tile", precision="bf16", isa="wgmma", share_of_promise=0.98),
    ceiling("compute", 620e12, operation="tile", precision="bf16", isa="mma", share_of_promise=0.63),
    ceiling("compute", 60e12, operation="fma", precision="fp32", isa="cuda", share_of_promise=0.95),
    ceiling("bandwidth", 4.4e12, operation="copy", level="DRAM"),
    ceiling("bandwidth", 9.9e12, operation="copy", level="L2"),
    ceiling("bandwidth", 4.5e12, operation="load", level="DRAM"),
]


class Table(Quiet):
    def test_ours_stand_beside_the_median_of_the_peers_visits(self):
        visits = [{"matmul bf16": 680e12, "copy": 4.0e12}, {"matmul bf16": 720e12}, {"matmul bf16": 700e12}]
        rows = {row["what"]: row for row in ceilings.rows_beside(CEILINGS, visits)}
        self.assertEqual(1.0, rows["matmul bf16"]["ratio"])
        self.assertEqual(3, rows["matmul bf16"]["visits"])
        self.assertEqual(950e12, rows["matmul bf16"]["raw issue rate"])
        self.assertAlmostEqual(1.1, rows["copy"]["ratio"])
        self.assertIsNone(rows["read"]["ratio"])

    def test_is_written_of_what_there_is_so_far(self):
        self.write("peers-before.json", json.dumps({"copy": 4.0e12}))
        self.write("peers-after.json", '{"copy": 4.')  # ended while it wrote
        ceilings.write_tables(self.folder)
        lines = (self.folder / "peers.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(1 + len(ceilings.BESIDE), len(lines))
        self.write("ceilings.json", json.dumps(CEILINGS))
        ceilings.write_tables(self.folder)
        text = (self.folder / "peers.md").read_text(encoding="utf-8")
        self.assertIn("| copy | 4.4e+12 | 4e+12 | 1 | 1.1 | - |", text)
        self.assertIn("| copy: ours / peer | 1.1 | at least 1 | met |", text)

    def test_a_calibration_without_ceilings_is_a_failure(self):
        log = self.write("calibration.json", '{"ceilings": [{"kind": "compute"}]}', "rest")
        self.assertEqual([{"kind": "compute"}], ceilings.ceilings_in(log))
        self.write("calibration.json", '{"ceilings": []}')
        with self.assertRaisesRegex(Failed, "no ceiling"):
            ceilings.ceilings_in(log)
        self.write("calibration.json.err", "nothing could be measured on gpu:0: it is asleep")
        with self.assertRaisesRegex(Failed, "it is asleep"):
            ceilings.ceilings_in(log)

    def test_a_calibration_says_what_was_wide_failed_or_disturbed(self):
        self.write("measurements.csv", "id,status", "a,ok", "b,failed")
        self.write("samples.csv", "id,disturbance", "a,", "a,the card was too hot")
        wide = {**CEILINGS[0], "low": 600e12}
        self.assertEqual("2 ceilings, 1 of them with an interval beyond 1%; 1 rows failed, 1 launches disturbed",
                         ceilings.words_of([wide, CEILINGS[1]], self.folder))


class Goals(unittest.TestCase):
    def test_what_was_seen_is_held_against_what_is_wanted(self):
        beside = {row["what"]: row for row in ceilings.rows_beside(CEILINGS, [{"read": 4.6e12, "matmul bf16": 700e12}])}
        found = {row["goal"]: row for row in goals.rows(CEILINGS, beside, 4.8e12, {"calibration": 55, "quick-calibration": 16})}
        due = {"read: ours / peer": "missed", "copy: ours / peer": "not seen", "matmul bf16: ours / peer": "met",
               "read: ours / data sheet": "met", "bf16: raw issue rate / cuBLASLt": "met",
               "bf16 tensor cores: share of what is promised at the clock": "met",
               "fp32 fma: share of what is promised at the clock": "missed", "share of ceilings with an interval inside 1%": "met",
               "calibration: seconds": "met", "quick-calibration: seconds": "missed"}
        self.assertEqual(due, {goal: found[goal]["is"] for goal in due})

    def test_the_data_sheets_bandwidth_is_that_of_the_card(self):
        devices = [{"kind": "cpu", "model": "x"}, {"kind": "gpu", "model": "NVIDIA H200"}]
        self.assertEqual(4.8e12, goals.promised_bandwidth(devices))
        self.assertIsNone(goals.promised_bandwidth([{"kind": "gpu", "model": "NVIDIA X1"}]))
        self.assertIsNone(goals.promised_bandwidth([]))


class ReadBack(unittest.TestCase):
    """On counters made by hand."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name, *lines):
        (self.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def test_formulas_are_those_of_the_one_table(self):
        formulas = read_back.formulas()
        self.assertEqual(("flops.fp32", 2.0), formulas["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"])
        self.assertEqual(("bytes.device", 1.0), formulas["dram__bytes_read.sum"])
        rows = read_back.TABLE.read_text(encoding="utf-8").count("- {quantity:")
        self.assertEqual(rows, len(read_back.ROW.findall(read_back.TABLE.read_text(encoding="utf-8"))))

    def test_known_and_counted_are_compared_over_whole_launches(self):
        self.write("measurements.csv", "id,bench,status,flops,compulsory_bytes",
                   "flops gpu:0 operation=fma,flops,ok,1000,0",
                   "bandwidth gpu:0 operation=load working_set=64,bandwidth,ok,0,1000",
                   "flops gpu:0 operation=tile,flops,unsupported,0,0")
        ffma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
        self.write("counters.csv", "id,device,scope,layer,phase,name,launch,metric,value,unit",
                   f"flops gpu:0 operation=fma,gpu:0,step,,,,,{ffma},502,instruction",
                   f"flops gpu:0 operation=fma,gpu:0,kernel,,,k,0,{ffma},77,instruction",
                   "bandwidth gpu:0 operation=load working_set=64,gpu:0,step,,,,,dram__bytes_read.sum,900,byte",
                   "bandwidth gpu:0 operation=load working_set=64,gpu:0,step,,,,,dram__bytes_write.sum,50,byte")
        flops, load = read_back.compare(self.folder)
        self.assertAlmostEqual(1.004, flops["ratio"])
        self.assertTrue(flops["is_near"])
        self.assertAlmostEqual(0.95, load["ratio"])
        self.assertFalse(load["is_near"])

    def test_kernels_stand_beside_those_of_nsight_compute(self):
        self.write("counters.csv", "id,device,scope,layer,phase,name,launch,metric,value,unit",
                   '"x",gpu:0,kernel,,,"k(float*, int)",0,lts__t_bytes.sum,100,byte',
                   '"x",gpu:0,kernel,,,"k(float*, int)",1,lts__t_bytes.sum,300,byte')
        said = ('==PROF== Connected\n"ID","Kernel Name","lts__t_bytes.sum"\n"","","byte"\n'
                '"0","k(float *, int)","160"\n"1","other","5"\n')
        line, = read_back.beside_ncu(self.folder, said)
        self.assertAlmostEqual(1.25, line["ratio"])
        with self.assertRaisesRegex(RuntimeError, "no table"):
            read_back.medians_of_ncu("==ERROR== no\n")


if __name__ == "__main__":
    unittest.main()

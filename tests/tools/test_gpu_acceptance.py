"""The parts of the GPU acceptance that need no GPU: time is shared, failed and unavailable steps do not end the run,
and no process outlives it."""

import importlib.machinery
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import unittest
from pathlib import Path

from quiet import ROOT, Quiet

from acceptance import builds, sequence
from acceptance.catalogue import STEPS
from acceptance.scene import Scene, gpu, part
from acceptance.sequence import Journal, Step
from acceptance.steps import ceilings, machine, profiles, training
from measuring import Failed, TimeOver, run

PROGRAM = ROOT / "tools" / "gpu_acceptance"
LOADER = importlib.machinery.SourceFileLoader("gpu_acceptance", str(PROGRAM))
acceptance_program = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_acceptance", LOADER))
LOADER.exec_module(acceptance_program)


def is_running(state):
    """Whether the process runs, by its state in /proc."""
    try:
        return ") Z" not in state.read_text(encoding="utf-8")
    except OSError:
        return False


def step(name, least, most, action=lambda scene, seconds: None, needs=()):
    return Step(name, f"what {name} proves", least, most, needs, action)


class Sharing(unittest.TestCase):
    def test_all_get_their_least_and_the_first_what_is_over(self):
        steps = [step("a", 10, 30), step("b", 20, 90)]
        self.assertEqual(30, sequence.grant(steps, 100))
        self.assertEqual(18, sequence.grant(steps, 38), "b keeps its 20")
        self.assertEqual(90, sequence.grant(steps[1:], 100))

    def test_the_first_does_not_wait_for_those_that_do_not_fit(self):
        steps = [step("a", 10, 30), step("b", 20, 90), step("c", 5, 5)]
        self.assertEqual(["a", "c"], [one.name for one in sequence.fitting(steps, 18)])
        self.assertEqual(13, sequence.grant(steps, 18))

    def test_what_does_not_fit_gets_nothing(self):
        self.assertIsNone(sequence.grant([step("a", 10, 30), step("b", 1, 2)], 9.5))
        self.assertIsNone(sequence.grant([step("a", 10, 30)], -1))

    def test_a_step_that_is_asked_for_alone_may_take_all_the_time(self):
        (one,) = acceptance_program.chosen(acceptance_program.ask(["--only", "kernel-times", "--minutes", "30"]), None)
        self.assertEqual(("kernel-times", 30 * 60), (one.name, one.most))

    def test_the_steps_there_are_fit_into_the_usual_time(self):
        least, most = (sum(getattr(one, field) for one in STEPS) for field in ("least", "most"))
        self.assertLessEqual(least, 9 * 60 - 10)
        self.assertGreater(most, 9 * 60, "or some of the time would be idle")
        for one in STEPS:
            self.assertLessEqual(one.least, one.most, one.name)
        self.assertEqual(len(STEPS), len({one.name for one in STEPS}))


class Sequence(Quiet):
    """Runs steps on a manual clock. A step takes its given time, but at most the time it was granted."""

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

    def test_rows_of_an_older_form_are_not_read(self):
        (self.folder / "steps.json").write_text('[{"step": "a", "status": "ok", "seconds": 1}]', encoding="utf-8")
        journal = Journal(self.folder)
        self.assertFalse(journal.is_done("a"))
        journal.write()


class Programs(Quiet):
    def test_a_program_that_fails_tells_its_last_words(self):
        log = self.folder / "log"
        with self.assertRaisesRegex(Failed, "status 3: the reason"):
            run(["sh", "-c", "echo first; echo the reason >&2; exit 3"], log, 10)
        self.assertEqual("first\n", log.read_text(encoding="utf-8"))
        self.assertEqual("x\n", run(["sh", "-c", "echo $WORD; exit 1"], log, 10, accepted=(0, 1), WORD="x").text)
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
        """The signal may still be pending, so this waits a short time."""
        state = Path("/proc") / (self.folder / "log.err").read_text(encoding="utf-8").strip() / "stat"
        patience = 200
        while is_running(state) and patience > 0:
            time.sleep(0.05)
            patience -= 1
        self.assertGreater(patience, 0)


class WithoutGpu(Quiet):
    def test_every_step_says_why_it_cannot_run(self):
        done = subprocess.run([sys.executable, "-B", PROGRAM, "--build", self.folder, "--out", self.folder / "out"],
                              capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(1, done.returncode, done.stderr)
        rows = json.loads((self.folder / "out" / "steps.json").read_text(encoding="utf-8"))
        self.assertEqual([one.name for one in STEPS], [row["step"] for row in rows])
        self.assertEqual(["ok"] + ["unavailable"] * (len(STEPS) - 1), [row["status"] for row in rows])
        self.assertTrue(all("the build has no" in row["reason"] for row in rows))
        with tarfile.open(self.folder / "out.tar.gz") as archive:
            self.assertLessEqual({"out/summary.md", "out/steps.json", "out/provenance.json"}, set(archive.getnames()))
        again = subprocess.run([sys.executable, "-B", PROGRAM, "--build", self.folder, "--out", self.folder / "out", "--only", "machine"],
                               capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(0, again.returncode, again.stderr)

    def test_the_list_names_every_step_and_what_it_proves(self):
        done = subprocess.run([sys.executable, "-B", PROGRAM, "--list"], capture_output=True, text=True, check=True, timeout=60)
        for one in STEPS:
            self.assertRegex(done.stdout, f"(?m)^{one.name} .*{one.proves[:20]}")

    def test_why_there_is_no_gpu_is_what_roof_says(self):
        doctor = {"machine": {"devices": [{"kind": "cpu"}], "capabilities": [{"name": "gpu", "reason": "no driver"}]},
                  "absent": [{"name": "cudnn", "reason": "libcudnn.so.9: cannot open"}]}
        self.executable("roof", f"echo '{json.dumps(doctor)}'")
        scene = Scene(self.folder, self.folder)
        self.assertEqual("no GPU: no driver", gpu(scene))
        self.assertIn("libcudnn.so.9", part("cudnn")(scene))
        self.assertIsNone(part("cupti")(scene))

    def test_tests_that_were_carried_along_are_told_where_the_tree_is(self):
        for name, file in (("test_gpu", "configs/calibrate/gpu.yaml"), ("test_cudnn_device", "tests/engine/data/parity_family.csv")):
            self.executable(name, f'test -f "$ROOF_TREE/{file}"')
        scene = Scene(self.folder, self.folder)
        machine.device_tests(scene, 30)
        machine.parity(scene, 30)

    def test_small_steps_train_a_network_of_a_few_layers(self):
        self.assertEqual(("resnet18", 32), Scene(self.folder, self.folder).network("resnet18", 32))
        network, batch = Scene(self.folder, self.folder, is_small=True).network("resnet18", 32)
        self.assertTrue(network.startswith("{name: small"))
        self.assertEqual(2, batch)

    def test_plans_and_programs_that_are_named_are_there(self):
        plans = [ROOT / "configs" / "run" / f"{name}.yaml" for name in ("gpu_sustained", "gpu_more")]
        plans += [ceilings.SMALL_PLANS / f"{name}.yaml" for name in ("sustained", "more-ceilings")]
        for path in (*plans, training.PLAN, training.BENCH, profiles.PLAN, ceilings.PEERS / "torch_gpu.py", ceilings.PEERS / "torch_loop.py"):
            self.assertTrue(path.is_file(), path)

    def test_what_lasts_begins_with_tensor_cores_and_memory(self):
        plan = (ROOT / "configs/run/gpu_sustained.yaml").read_text(encoding="utf-8")
        rows = plan.partition("\nrun:")[2].split("- bench: ")[1:]
        self.assertEqual(["flops", "matmul", "bandwidth"], [row.split()[0] for row in rows[:3]])
        self.assertIn("tile", rows[0])
        self.assertEqual("fma", rows[-1].split()[2], "CUDA cores alone do not draw what the card may")

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


if __name__ == "__main__":
    unittest.main()

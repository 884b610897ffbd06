"""Which profiles tests/acceptance/steps/recorders.py accepts and which it rejects."""

import csv
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]

from measuring import Failed  # pylint: disable=wrong-import-position
from acceptance.steps import recorders  # pylint: disable=wrong-import-position

FLOPS = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"


class ProfileChecks(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.write("measurements.csv", remarks="tracing made a launch 3.1% slower (median of 5)", reason="")

    def write(self, file_name, *lines, **line):
        lines = list(lines) or [line]
        with (self.folder / file_name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)

    def count(self, *lines):
        self.write("counters.csv", *({"scope": scope, "phase": phase, "name": "k", "metric": metric, "value": value, "unit": "x"}
                                     for scope, phase, metric, value in lines))

    def refused(self, words, check, *arguments):
        with self.assertRaisesRegex(Failed, words):
            check(*arguments)

    def test_a_counted_program_has_both_passes(self):
        self.refused("no kernel was counted: tracing", recorders.check_counted_program, self.folder)
        self.count(("kernel", "forward", recorders.L2, 1))
        self.refused("no kernel of backward", recorders.check_counted_program, self.folder)
        self.count(("kernel", "forward", recorders.L2, 1), ("kernel", "backward", recorders.L2, 1))
        recorders.check_counted_program(self.folder)
        self.write("kernels.csv", name="another", graph_node="", phase="")
        self.refused("counted and never traced, as k", recorders.check_counted_program, self.folder)

    def test_kernels_of_graphs_have_phases(self):
        self.refused("no kernel of a CUDA graph", recorders.check_graph_phases, self.folder)
        self.write("kernels.csv", {"graph_node": "1", "phase": "forward"}, {"graph_node": "2", "phase": ""})
        self.refused("50% of", recorders.check_graph_phases, self.folder)
        self.write("kernels.csv", {"graph_node": "1", "phase": "forward"}, {"graph_node": "", "phase": ""})
        recorders.check_graph_phases(self.folder)

    def test_phases_add_up_to_the_step(self):
        self.count(("step", "", FLOPS, 100))
        self.refused("no phase was counted", recorders.check_phases, self.folder)
        self.count(("step", "", FLOPS, 100), ("phase", "forward", FLOPS, "nan"))
        self.refused("phases add up to nan", recorders.check_phases, self.folder)
        self.count(("step", "", FLOPS, 100), ("phase", "forward", FLOPS, 40), ("phase", "backward", FLOPS, 50))
        self.refused("add up to 90, the step is 100", recorders.check_phases, self.folder)
        self.count(("step", "", FLOPS, 100), ("phase", "forward", FLOPS, 40), ("phase", "backward", FLOPS, 59))
        recorders.check_phases(self.folder)

    def test_probes_reach_the_roofs_they_were_measured_on(self):
        table = self.folder / "counted.csv"
        self.refused("no probe was placed", recorders.check_probes_on_roofs, table)
        line = {"row": "r", "kernel": "chain_kernel", "category": "probe", "time_s": "1", "attainable_s": "0.95"}
        self.write("counted.csv", line)
        recorders.check_probes_on_roofs(table)
        self.write("counted.csv", line, {**line, "kernel": "stream_kernel", "attainable_s": "0.5"})
        self.refused("stream_kernel of r: 0.500", recorders.check_probes_on_roofs, table)

    def test_tracing_costs_little(self):
        remark = "tracing made a launch 9.0% slower (median of 2 with it and 2 without, in turns)"
        step = {"id": "a", "launch_median_s": "100e-6", "reason": ""}
        self.write("kernels.csv", *[{"id": "a"}] * 8)  # 4 a launch, for 9 us
        self.write("measurements.csv", {**step, "remarks": remark})
        recorders.check_cost_of_tracing(self.folder)
        self.write("kernels.csv", *[{"id": "a"}] * 3)
        self.refused("6.0 us for each kernel, and made a step 9.0% slower", recorders.check_cost_of_tracing, self.folder)
        self.write("measurements.csv", {**step, "remarks": ""})
        self.refused("not said", recorders.check_cost_of_tracing, self.folder)

    def test_each_step_runs_its_program_first_and_fails_where_the_check_does(self):
        scene = Recording(self.folder)
        for step in (recorders.count_pytorch, recorders.record_graphs, recorders.record_our_steps):
            with self.subTest(step.__name__), self.assertRaises(Failed):
                step(scene, 60)
        self.assertEqual(["profile", "profile", "run"], [words[1] for words in scene.seen])
        self.assertIn("--counters", scene.seen[0])
        self.assertIn("--graph", scene.seen[1])
        self.assertIn("--profile-steps", scene.seen[2])

    def test_probes_are_placed_once_they_are_counted_and_calibrated(self):
        scene = Recording(self.folder)
        with self.assertRaisesRegex(Failed, "come first"):
            recorders.place_probes(scene, 10)
        for name in ("read-back/counters.csv", "calibration/measurements.csv"):
            (self.folder / name).parent.mkdir()
            (self.folder / name).touch()
        with self.assertRaisesRegex(Failed, "no probe was placed"):
            recorders.place_probes(scene, 10)
        self.assertEqual("report", scene.seen[0][1])

    def test_a_program_is_counted_alone_and_then_after_tracing(self):
        scene = Recording(self.folder)

        def count(folder):
            folder.mkdir()
            for name in ("counters.csv", "measurements.csv"):
                (folder / name).write_bytes((self.folder / name).read_bytes())

        self.count(("kernel", "forward", recorders.L2, 1), ("kernel", "backward", recorders.L2, 1))
        scene.does = count
        self.assertIn("tracing made", recorders.count_pytorch(scene, 60))
        self.assertIn("--from-start", scene.seen[0])
        self.assertIn("--after", scene.seen[1])


class Recording:
    """A scene that records the programs instead of running them."""

    def __init__(self, out):
        self.out = out
        self.roof = "roof"
        self.narrow = "bf16"
        self.seen = []
        self.does = lambda folder: None

    def network(self, name, batch):
        return name, batch

    def fresh(self, name):
        return self.out / name

    def run(self, command, log, seconds, accepted=(0,)):
        self.seen.append([str(word) for word in command])
        self.does(Path(command[command.index("--out") + 1]))


if __name__ == "__main__":
    unittest.main()

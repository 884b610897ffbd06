"""Each chip that people have, emulated: its ceilings by its own instructions, and a training step under them. The shapes of mma.sync and what
each chip lacks are those of the PTX ISA; the losses are those of plain Python in double precision. ROOF: a roof beside the emulated parts."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from small_training import BatchNorm, Convolution, Linear, MaxPool, Relu, Training  # pylint: disable=wrong-import-position

LAUNCHES, BATCH, RATE, WITHIN = 2, 2, 0.01, {"fp32": 1e-5, "fp16": 1e-3}
# Capability; of each tile that the chip has, how its variant begins.
CHIPS = {
    "p40": ("6.1", {}),
    "v100": ("7.0", {"tile mma fp16": "m8n8k4"}),
    "t4": ("7.5", {"tile mma fp16": "m16n8k8", "tile mma int8": "m8n8k16"}),
    "a100": ("8.0", {"tile mma fp16": "m16n8k16", "tile mma int8": "m16n8k32"}),
    "a10": ("8.6", {"tile mma fp16": "m16n8k16", "tile mma int8": "m16n8k32"}),
    "l4": ("8.9", {"tile mma fp16": "m16n8k16", "tile mma int8": "m16n8k32"}),
    "b300": ("10.3", {"tile mma fp16": "m16n8k16", "tile mma int8": "m16n8k32",
                      "tile tcgen05 fp16": "m128n256", "tile_pairs tcgen05 fp16": "m256n256"}),
    "rtx5090": ("12.0", {"tile mma fp16": "m16n8k16", "tile mma int8": "m16n8k32", "tile mma fp8": "m16n8k32",
                         "tile_nv mma fp4": "m16n8k64"}),
}


def rows_of(results):
    with open(results / "measurements.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader([line for line in file if not line.startswith("#")]))


class Chip(unittest.TestCase):
    losses = Training((3, 8, 8), [Convolution(3, 4, False), BatchNorm(4), Relu(), MaxPool(), Linear(64, 10)], RATE).losses(LAUNCHES, 1, BATCH)

    def roof(self, *arguments):
        done = subprocess.run([os.environ["ROOF"], *map(str, arguments)], capture_output=True, text=True, check=False, env=self.environment)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def check(self, name):
        capability, tiles = CHIPS[name]
        self.environment = {**os.environ, "ROOF_EMULATED_CARD": name}
        with tempfile.TemporaryDirectory() as scratch:
            ceilings = pathlib.Path(scratch, "ceilings")
            self.roof("sweep", HERE / "chips.yaml", "--out", ceilings)
            rows = [row for row in rows_of(ceilings) if row["operation"].startswith("tile")]
            found = {f"{row['operation']} {row['isa']} {row['precision']}": row["variant"].partition(",")[0].split(": ")[-1]
                     for row in rows if row["status"] == "ok"}
            self.assertEqual(tiles, found)
            for row in rows:
                if row["status"] == "ok":
                    self.assertIn("not run on hardware", row["remarks"])
                elif name == "l4" and row["precision"] == "fp8":  # the code of 8.0 stands for it
                    self.assertIn("this build holds no code for this GPU", row["reason"])
                else:
                    self.assertIn(f"this GPU of compute capability {capability} has no {row['operation']} in {row['precision']}", row["reason"])
            self.check_steps(ceilings, {"fp32", *(["fp16"] if tiles else [])})

    def check_steps(self, results, have_roofs):
        (study,) = json.loads(self.roof("report", results, "--calibration", results, "--json"))["studies"]
        steps = [row for row in study["rows"] if row["losses"] is not None]
        self.assertEqual([("fp32", "ok"), ("fp16", "ok")], [(step["precision"], step["status"]) for step in steps])
        for step in steps:
            self.assertEqual(LAUNCHES, len(step["losses"]))
            for loss, due in zip(step["losses"], self.losses):
                self.assertAlmostEqual(due, loss, delta=WITHIN[step["precision"]] * due)
            self.assertEqual("emulated", step["known"])
            self.assertEqual(step["precision"] in have_roofs, step["compute_roof_flop_per_s"] is not None)
        self.assertTrue((results / "report.html").exists())


for chip in CHIPS:
    setattr(Chip, f"test_{chip}_is_measured_by_its_own_instructions", lambda self, name=chip: self.check(name))


class Driver(unittest.TestCase):
    def test_that_is_too_old_is_named_with_what_to_do(self):
        done = subprocess.run([os.environ["ROOF"], "doctor"], capture_output=True, text=True, check=False,
                              env={**os.environ, "ROOF_EMULATED_DRIVER": "470.82"})
        self.assertIn("the NVIDIA driver 470.82 is too old for this build", done.stdout)
        self.assertRegex(done.stdout, r"remedy: install an NVIDIA driver for CUDA 1[23]\.\d+ or newer, (580|525) or later")


class Unissued(unittest.TestCase):
    """Where the tensor cores of a chip were not measured, its CUDA cores are no roof of what they multiply."""

    def test_a_point_in_fp16_has_no_compute_roof_and_one_in_fp32_has(self):
        environment = {**os.environ, "ROOF_EMULATED_CARD": "v100"}
        with tempfile.TemporaryDirectory() as scratch:
            ceilings = pathlib.Path(scratch, "ceilings")

            def roof(*words):
                done = subprocess.run([os.environ["ROOF"], *map(str, words)], capture_output=True, text=True, check=False, env=environment)
                return done.stdout + done.stderr

            roof("sweep", HERE / "unissued.yaml", "--out", ceilings)
            point = ("place", "--flops", "1e9", "--bytes", "1e6", "--seconds", "0.01", "--on", ceilings, "--device", "gpu:0", "--precision")
            self.assertIn("no compute roof was measured for fp16", roof(*point, "fp16"))
            self.assertNotIn("no compute roof", roof(*point, "fp32"))


if __name__ == "__main__":
    unittest.main()

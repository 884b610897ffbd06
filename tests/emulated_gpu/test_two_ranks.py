"""Two ranks on emulated GPUs have the losses of plain Python in double precision, which shares nothing with the program. ROOF: a roof beside the
emulated part."""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from small_training import BatchNorm, Convolution, Linear, MaxPool, Relu, Training  # pylint: disable=wrong-import-position

PLAN = pathlib.Path(__file__).with_name("two_ranks.yaml")
STEPS, BATCH, RATE, WITHIN = 6, 2, 0.01, 1e-5
IMAGE = (3, 8, 8)


def unmixed(is_adamw=False):
    layers = [Convolution(3, 4, True), Relu(), Convolution(4, 4, True), Relu(), MaxPool(), Linear(64, 10)]
    return Training(IMAGE, layers, RATE, is_adamw)


def residual():
    return Training(IMAGE, [Convolution(3, 4, False), BatchNorm(4), Relu(), Convolution(4, 4, False), BatchNorm(4), 2, Relu(), MaxPool(),
                            Linear(64, 10)], RATE)


class Reference(unittest.TestCase):
    def test_has_the_gradients_of_small_differences(self):
        step = 1e-5
        for training in (unmixed(), residual()):
            _, gradients = training.differentiate(0, BATCH)
            for of_layer, slopes in zip(training.values, gradients):
                for values, slope in zip(of_layer, slopes):
                    middle, value = len(values) // 2, values[len(values) // 2]
                    values[middle] = value + step
                    above, _ = training.differentiate(0, BATCH)
                    values[middle] = value - step
                    below, _ = training.differentiate(0, BATCH)
                    values[middle] = value
                    self.assertAlmostEqual(slope[middle], (above - below) / (2 * step), delta=1e-8)


class TwoRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "results")
            done = subprocess.run([os.environ["ROOF"], "sweep", PLAN, "--out", results], capture_output=True, text=True, check=False,
                                  env={**os.environ, "ROOF_EMULATED_GPUS": "2"})
            assert done.returncode == 0, done.stderr
            cls.losses = {}
            with open(results / "samples.csv", newline="", encoding="utf-8") as file:
                for sample in csv.DictReader(file):
                    cls.losses.setdefault(sample["id"], []).append(float(sample["loss"]))

    def check(self, network, due, count, optimizer="sgd"):
        rows = {row: losses for row, losses in self.losses.items()
                if f"name: {network}," in row and ("optimizer=adamw" in row) == (optimizer == "adamw")}
        self.assertEqual(count, len(rows), list(self.losses))
        for row, losses in rows.items():
            self.assertEqual(STEPS, len(losses))
            for loss, expected in zip(losses, due):
                self.assertAlmostEqual(expected, loss, delta=WITHIN * expected, msg=row)

    def test_have_the_losses_of_one_rank_with_both_batches(self):
        due = unmixed().losses(STEPS, 1, 2 * BATCH)
        self.assertLess(due[-1], 0.9 * due[0])
        self.check("unmixed", due, 1 + 3)

    def test_take_the_same_steps_of_adamw_as_one_rank(self):
        self.check("unmixed", unmixed(is_adamw=True).losses(STEPS, 1, 2 * BATCH), 1 + 3, "adamw")

    def test_take_the_statistics_of_their_own_batch(self):
        due = residual().losses(STEPS, 2, BATCH)
        self.assertGreater(abs(due[0] - residual().losses(1, 1, 2 * BATCH)[0]), 100 * WITHIN)
        self.check("residual", due, 3)


if __name__ == "__main__":
    unittest.main()

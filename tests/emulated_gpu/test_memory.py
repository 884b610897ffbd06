"""What a training row says of a GPU's memory beside what the emulated driver counted as allocated at most, and whether a card of that size is
enough and one of 0.9 of it refused by a row. ROOF: a roof beside the emulated part."""
import csv
import os
import pathlib
import subprocess
import tempfile
import unittest

WIDE = ["{name: wide, image: [3, 35, 35], layers: [flatten, linear: {features: 1536}, relu, linear: {features: 10}]}", "--batch", 2]
TRAINING = [["--optimizer", "sgd"], ["--optimizer", "adamw"], ["--optimizer", "adamw", "--precision", "bf16"]]
ROWS = [[*WIDE, *kind] for kind in (*TRAINING, ["--phase", "forward"])]
TWO_GPUS = [[*WIDE, *TRAINING[0], "--device", "gpu:0,1"]]
LEAST, APART = 0.92, 40e6  # of what the row says, and bytes that trials of products may have taken before


def trained(arguments, mebibytes=None):
    """The row, and the bytes that all GPUs had allocated at most."""
    with tempfile.TemporaryDirectory() as folder:
        results, peaks = pathlib.Path(folder, "results"), pathlib.Path(folder, "peak")
        environment = {"ROOF_EMULATED_GPUS": "2", "ROOF_EMULATED_PEAK": str(peaks)}
        if mebibytes is not None:
            environment["ROOF_EMULATED_MIB"] = repr(mebibytes)
        where = [] if "--device" in arguments else ["--device", "gpu:0"]
        done = subprocess.run([os.environ["ROOF"], "run", *map(str, arguments), *where, "--data", "hashed", "--parameters", "hashed", "--steps", "2",
                               "--out", results], capture_output=True, text=True, check=False, env={**os.environ, **environment})
        file = results / "measurements.csv"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        assert len(rows) == 1, done.stderr
        return rows[0], sum(int(one.read_text(encoding="utf-8")) for one in pathlib.Path(folder).glob("peak*"))


class Memory(unittest.TestCase):
    def check(self, arguments):
        gpus = 2 if "gpu:0,1" in arguments else 1
        row, peak = trained(arguments)
        self.assertEqual("ok", row["status"], row["reason"])
        says = float(row["memory_bytes"])
        self.assertLessEqual(peak, says + APART * gpus)
        if "forward" not in arguments:  # whose trials take more than the step
            self.assertLessEqual(peak, says)
        self.assertGreaterEqual(peak, LEAST * says)
        mebibytes = says / gpus / 2**20
        enough, _ = trained(arguments, mebibytes)
        self.assertEqual("ok", enough["status"], enough["reason"])
        refused, _ = trained(arguments, 0.9 * mebibytes)
        self.assertEqual("out_of_memory", refused["status"], refused["reason"])

    def test_is_what_the_row_says_and_the_least_card_has(self):
        for arguments in ROWS:
            with self.subTest(arguments=arguments):
                self.check(arguments)

    def test_of_two_gpus_is_what_the_row_says(self):
        for arguments in TWO_GPUS:
            with self.subTest(arguments=arguments):
                self.check(arguments)


if __name__ == "__main__":
    unittest.main()

"""The training step's kernels as the assembler left them, in the object that is shipped: nothing goes through local memory, and what
is stored side by side moves 16 bytes by each instruction. ROOF_CUDNN_PART names the object."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))
import machine_code  # noqa: E402  pylint: disable=wrong-import-position

KERNELS = machine_code.kernels(os.environ["ROOF_CUDNN_PART"])


def found(*words):
    return {key: counts for key, counts in KERNELS.items() if all(word in key[1] for word in words)}


class Kernels(unittest.TestCase):
    def test_are_there_for_each_architecture(self):
        for word in ("NormaliseBody", "StatisticsBody", "GradientBody", "DescendBody", "MaxGradientBody", "softmax_rows"):
            self.assertLessEqual({80, 90, 100}, {capability for capability, _ in found(word)}, word)

    def test_do_not_go_through_local_memory(self):
        self.assertEqual({}, {key: counts for key, counts in KERNELS.items()
                              if any(name.startswith(("LDL", "STL")) for name in counts)})

    def test_update_reads_three_arrays_four_numbers_at_a_time_and_writes_two(self):
        for key, counts in found("DescendBody").items():
            with self.subTest(key):  # once for each way the loop was unrolled
                self.assertGreater(counts["LDG.128"], 0)
                self.assertEqual(0, counts["LDG.128"] % 3)
                self.assertGreaterEqual(3 * counts["STG.128"], 2 * counts["LDG.128"])
                self.assertEqual(0, counts["LDG.64"] + counts["STG.32"])

    def test_wide_vectors_of_values_move_16_bytes_at_a_time(self):
        for body in ("NormaliseBody", "StatisticsBody", "12GradientBody", "MaskBody"):
            kernels = found(body, "Li8E")
            self.assertGreater(len(kernels), 0, body)
            for key, counts in kernels.items():
                with self.subTest(key):
                    self.assertGreater(counts["LDG.128"], 0)
                    if body != "StatisticsBody" and "Lb0E" not in key[1]:  # these store sums, a channel each
                        self.assertGreater(counts["STG.128"], 0)


if __name__ == "__main__":
    unittest.main()

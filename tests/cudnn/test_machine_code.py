"""Machine code of the training step's kernels in the shared object ROOF_CUDNN_PART: kernels use no local memory, and loads and stores
of adjacent values move 16 bytes each."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))
import machine_code  # noqa: E402  pylint: disable=wrong-import-position

KERNELS = machine_code.kernels(os.environ["ROOF_CUDNN_PART"])
BUILT = machine_code.architectures(os.environ["ROOF_CUDA_ARCHITECTURES"])


def found(name, *arguments):
    """Returns the kernels of the function or body `name` that have all of these template arguments."""
    return [kernel for kernel in KERNELS
            if name in (kernel.function, *kernel.arguments) and all(argument in kernel.arguments for argument in arguments)]


class Kernels(unittest.TestCase):
    def test_are_there_for_each_architecture(self):
        for name in ("NormaliseBody", "StatisticsBody", "GradientBody", "NormGradientBody", "BothGradientsBody", "PooledGradient",
                     "DescendBody", "MaxGradientBody", "softmax_rows"):
            self.assertLessEqual(set(BUILT), {kernel.capability for kernel in found(name)}, name)

    def test_do_not_go_through_local_memory(self):
        self.assertEqual([], [kernel for kernel in KERNELS
                              if any(name.startswith(("LDL", "STL")) for name in kernel.counts)])

    def test_update_reads_each_array_four_numbers_at_a_time_and_writes_all_but_the_gradients(self):
        for optimizer, arrays in (("(Optimizer)0", 3), ("(Optimizer)1", 4)):
            kernels = found("DescendBody", optimizer)
            self.assertGreater(len(kernels), 0, optimizer)
            for kernel in kernels:
                with self.subTest(kernel):  # one per unrolling of the loop
                    self.assertGreater(kernel.counts["LDG.128"], 0)
                    self.assertEqual(0, kernel.counts["LDG.128"] % arrays)
                    self.assertGreaterEqual(arrays * kernel.counts["STG.128"], (arrays - 1) * kernel.counts["LDG.128"])
                    self.assertEqual(0, kernel.counts["STG.32"])

    def test_wide_vectors_of_values_move_16_bytes_at_a_time(self):
        for body in ("NormaliseBody", "NormGradientBody", "BothGradientsBody", "StatisticsBody", "GradientBody", "MaskBody", "MaxBody",
                     "MaxGradientBody"):
            kernels = found(body, "8")
            self.assertGreater(len(kernels), 0, body)
            for kernel in kernels:
                with self.subTest(kernel):
                    self.assertGreater(kernel.counts["LDG.128"], 0)
                    # Sums alone are stored one per channel. The second enumerator is that of a reduction that stores the gradient.
                    if body not in ("StatisticsBody", "GradientBody") or "(Beside)1" in kernel.arguments:
                        self.assertGreater(kernel.counts["STG.128"], 0)


if __name__ == "__main__":
    unittest.main()

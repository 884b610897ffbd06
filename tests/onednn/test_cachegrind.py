"""The bytes of a step are an interval. The cache misses that cachegrind counts must be inside it, and near what the blocking of our own kernels
moves into such caches.

The simulated caches are smaller than any feature map, so no layer finds the previous layer's results in them. The
simulator supports AVX2 at most, so oneDNN is limited to it; this project's loops use what the processor reports.
"""

import math
import os
import re
import shutil
import subprocess
import sys
import unittest

LINE = 64
FIRST_LEVEL = f"16384,8,{LINE}"
LAST_LEVEL = f"65536,8,{LINE}"
FACTOR = 2.5  # what eviction and conflicts in so small caches change


def run(*command):
    """Bytes into the first level, into the last, and the numbers that it prints."""
    whole = ["valgrind", "--tool=cachegrind", "--cachegrind-out-file=/dev/null", f"--D1={FIRST_LEVEL}", f"--LL={LAST_LEVEL}",
               "--cache-sim=yes", *command]
    done = subprocess.run(whole, capture_output=True, text=True, check=True,
                          env={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "OMP_NUM_THREADS": "1"})
    def missed(what):
        return LINE * int(re.search(what + r"\s+misses:\s+([\d,]+)", done.stderr)[1].replace(",", ""))
    return missed("D1 "), missed("LLd"), *map(float, done.stdout.split())


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
class Bytes(unittest.TestCase):
    def test_that_caches_miss_lie_in_the_interval(self):
        for shape in ("1x1", "3x3"):
            first, last = run(STEP, shape, "1"), run(STEP, shape, "2")
            compulsory, no_reuse = first[2:]
            for level, name in enumerate(("first level", "last level")):
                with self.subTest(shape=shape, level=name):
                    moved = last[level] - first[level]
                    print(f"{shape}, {name}: {compulsory:.3g} <= {moved:.3g} <= {no_reuse:.3g} B", file=sys.stderr)
                    self.assertLessEqual(compulsory, moved)
                    self.assertLessEqual(moved, no_reuse)

    def test_own_kernels_move_what_their_blocking_says_within_a_factor(self):
        for kernel in ("direct", "wino", "linear"):
            for part in ("forward", "backward_data", "backward_weights"):
                times = ("1", "2") if kernel == "linear" else ("0", "1")  # the first pass of a small kernel fetches its code, too
                before, after = (run(KERNEL, kernel, part, each, FIRST_LEVEL.split(",")[0], LAST_LEVEL.split(",")[0]) for each in times)
                for level, name in enumerate(("first level", "last level")):
                    with self.subTest(kernel=kernel, part=part, level=name):
                        moved, said = after[level] - before[level], after[2 + level]
                        print(f"{kernel} {part}, {name}: {moved:.4g} B, said {said:.4g}, {moved / said:.2f}", file=sys.stderr)
                        self.assertLess(abs(math.log(moved / said)), math.log(FACTOR))


if __name__ == "__main__":
    KERNEL, STEP = sys.argv.pop(), sys.argv.pop()
    unittest.main()

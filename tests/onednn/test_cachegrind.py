"""The bytes of a step are an interval. The cache misses that cachegrind counts must be inside it.

The simulated caches are smaller than any feature map, so no layer finds the previous layer's results in them. The
simulator supports AVX2 at most, so oneDNN is limited to it; this project's loops use what the processor reports.
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

LINE = 64
FIRST_LEVEL = f"16384,8,{LINE}"
LAST_LEVEL = f"65536,8,{LINE}"


def run(program, shape, steps):
    """(bytes into the first level, into the last, compulsory, no reuse)"""
    command = ["valgrind", "--tool=cachegrind", "--cachegrind-out-file=/dev/null", f"--D1={FIRST_LEVEL}", f"--LL={LAST_LEVEL}",
               "--cache-sim=yes", program, shape, str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True,
                          env={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "OMP_NUM_THREADS": "1"})
    def missed(what):
        return LINE * int(re.search(what + r"\s+misses:\s+([\d,]+)", done.stderr)[1].replace(",", ""))
    return missed("D1 "), missed("LLd"), *map(float, done.stdout.split())


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
class Bytes(unittest.TestCase):
    def test_that_caches_miss_lie_in_the_interval(self):
        for shape in ("1x1", "3x3"):
            first, last = run(PROGRAM, shape, 1), run(PROGRAM, shape, 2)
            compulsory, no_reuse = first[2:]
            for level, name in enumerate(("first level", "last level")):
                with self.subTest(shape=shape, level=name):
                    moved = last[level] - first[level]
                    print(f"{shape}, {name}: {compulsory:.3g} <= {moved:.3g} <= {no_reuse:.3g} B", file=sys.stderr)
                    self.assertLessEqual(compulsory, moved)
                    self.assertLessEqual(moved, no_reuse)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()

"""What batch scripts export for OpenMP: the program has its threads all the same, computes the same, and hands the variables on."""

import json
import os
import re
import subprocess
import tempfile
import unittest

ROOF = os.environ["ROOF_PROGRAM"]
VARIABLES = ("OMP_PROC_BIND=true", "OMP_PROC_BIND=close", "OMP_PROC_BIND=spread", "OMP_PLACES=cores", "OMP_PLACES=threads",
             "OMP_PLACES={0}", "GOMP_CPU_AFFINITY=0", "OMP_THREAD_LIMIT=1", "OMP_DYNAMIC=true", "OMP_MAX_ACTIVE_LEVELS=0",
             "OMP_STACKSIZE=64G", "KMP_AFFINITY=compact")

#: A step of milliseconds, of layers of which each thread has a part.
NETWORK = ("{name: small, image: [3, 16, 16], layers: [{convolution: {channels: 16, window: 3, padding: 1}}, batch_norm, relu, "
           "{max_pool: {window: 2}}, flatten, {linear: {features: 10}}]}")
CHANGING = ("OMP_PROC_BIND=true", "OMP_THREAD_LIMIT=1", "OMP_DYNAMIC=true", "OMP_MAX_ACTIVE_LEVELS=0")  # each changed a step before


def said_by(*words, variable="ROOF_NOTHING=1"):
    name, value = variable.split("=")
    done = subprocess.run([ROOF, *words], capture_output=True, text=True, check=False, timeout=120, env={**os.environ, name: value})
    return done.returncode, done.stdout


class Variables(unittest.TestCase):
    def test_all_processors_are_seen(self):
        for variable in VARIABLES:
            with self.subTest(variable):
                self.assertEqual(len(os.sched_getaffinity(0)) > 1, json.loads(said_by("doctor", "--json", variable=variable)[1])["machine"]["threads"] > 1)

    def test_a_step_has_the_same_losses(self):
        losses = {}
        with tempfile.TemporaryDirectory() as folder:
            for number, variable in enumerate(("ROOF_NOTHING=1", *CHANGING)):
                out = said_by("run", NETWORK, "--batch", "4", "--steps", "3", "--threads", str(min(2, len(os.sched_getaffinity(0)))),
                              "--parameters", "hashed", "--data", "hashed", "--out", f"{folder}/{number}", variable=variable)[1]
                losses[variable] = re.search(r"losses +(.*)", out).group(1)
        self.assertEqual({losses["ROOF_NOTHING=1"]}, set(losses.values()), losses)

    def test_a_program_that_it_starts_gets_them(self):
        with tempfile.TemporaryDirectory() as folder:
            out = said_by("profile", "--time-only", "--out", f"{folder}/run", "--", "sh", "-c", "echo limit $OMP_THREAD_LIMIT", variable="OMP_THREAD_LIMIT=1")[1]
        self.assertIn("limit 1", out)


if __name__ == "__main__":
    unittest.main()

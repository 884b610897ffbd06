"""Which shared parts the program opens: none for the CPU, all for a listing. Fake parts beside a copy of the program
record that they were opened."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PARTS = ("roof_gpu.so", "roof_cupti.so", "roof_cudnn.so")
ON_CPU = "name: small\nrun:\n  - {bench: flops, operation: fma, isa: scalar, precision: fp32, threads: 1}\n"
ON_GPU = "name: small\nrun:\n  - {bench: flops, device: 'gpu:0', operation: fma}\n"


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        shutil.copy2(os.environ["ROOF_PROGRAM"], self.folder / "roof")
        for part in PARTS:
            shutil.copy2(os.environ["ROOF_ANNOUNCING_PART"], self.folder / part)

    def opened_by(self, *words):
        told = self.folder / "opened"
        told.unlink(missing_ok=True)
        subprocess.run([self.folder / "roof", *words], cwd=self.folder, capture_output=True, check=False, timeout=120,
                       env={**os.environ, "ROOF_PARTS_OPENED": str(told)})
        return set(told.read_text(encoding="utf-8").split()) if told.exists() else set()

    def sweep(self, plan):
        (self.folder / "small.yaml").write_text(plan, encoding="utf-8")
        opened = self.opened_by("sweep", "small.yaml", "--out", "out")
        self.assertTrue((self.folder / "out" / "measurements.csv").exists())
        return opened

    def test_a_sweep_on_the_cpu_opens_none(self):
        self.assertEqual(self.sweep(ON_CPU), set())

    def test_a_training_step_on_the_cpu_opens_none(self):
        self.assertEqual(self.opened_by("run", "alexnet", "--batch", "1", "--explain"), set())

    def test_a_command_without_devices_opens_none(self):
        for words in (["--help"], ["help", "run"], ["list", "plans"], ["estimate", "alexnet", "--batch", "4"]):
            with self.subTest(words=words):
                self.assertEqual(self.opened_by(*words), set())

    def test_a_plan_for_a_gpu_and_doctor_open_them(self):
        self.assertLessEqual({"roof_gpu.so"}, self.sweep(ON_GPU))
        for words in (["doctor"], ["list", "benches"], ["list", "devices"]):
            with self.subTest(words=words):
                self.assertLessEqual({"roof_gpu.so"}, self.opened_by(*words))

    def test_a_library_that_a_part_needs_is_found_in_a_python_package_and_named(self):
        shutil.copy2(os.environ["ROOF_NEEDING_PART"], self.folder / "roof_gpu.so")
        library = Path(os.environ["ROOF_MADE_LIBRARY"])
        packages = self.folder / "environment" / "lib" / "python3.99" / "site-packages" / "nvidia" / "made" / "lib"
        packages.mkdir(parents=True)
        environment = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "CONDA_PREFIX")}

        def doctor(**more):
            told = self.folder / "opened"
            told.unlink(missing_ok=True)
            done = subprocess.run([self.folder / "roof", "doctor"], cwd=self.folder, capture_output=True, check=True, text=True, timeout=120,
                                  env={**environment, "ROOF_PARTS_OPENED": str(told), **more})
            return "roof_gpu.so" in told.read_text(encoding="utf-8"), done.stdout

        opened, text = doctor()
        self.assertFalse(opened)
        self.assertIn(f"{library.name}: cannot open shared object file", text)
        shutil.copy2(library, packages)
        opened, text = doctor(VIRTUAL_ENV=str(self.folder / "environment"))
        self.assertTrue(opened)
        self.assertIn(f"{library.name} of {packages.resolve()}", text)
        self.assertFalse(doctor(VIRTUAL_ENV="environment")[0], "a relative path names the folder that the program runs in")

    def test_the_grammar_of_plans_lists_each_bench_of_the_parts_with_its_axes(self):
        shown = subprocess.run([os.environ["ROOF_PROGRAM"], "list", "benches", "--json"], capture_output=True, check=True, timeout=120, text=True).stdout
        benches = [(bench["name"], bench["device_kind"], [axis["name"] for axis in bench["axes"]]) for bench in json.loads(shown)["benches"]]
        table = re.findall(r"^\| `(\w+)` \| ([\w, ]+) \| (`.*) \|$", (Path(__file__).parents[2] / "configs" / "README.md").read_text(encoding="utf-8"), re.M)
        told = {(name, kind): re.findall(r"`([a-z_]+)`", axes) for name, kinds, axes in table for kind in kinds.split(", ")}
        self.assertLessEqual({(name, kind) for name, kind, _ in benches}, told.keys())
        for name, kind, axes in benches:
            self.assertEqual([], [axis for axis in axes if axis not in told[name, kind]], f"{name} on {kind}")


if __name__ == "__main__":
    unittest.main()

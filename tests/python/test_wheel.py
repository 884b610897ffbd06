"""From source the package becomes a wheel that holds every module, is pure Python and needs nothing else; with the program: test_package."""

import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "tools/python"

def builds_wheels(python):
    return subprocess.run([python, "-c", "import setuptools, wheel"], capture_output=True, check=False).returncode == 0


# Debian's packages setuptools and wheel are for Debian's Python.
PYTHON = next(filter(builds_wheels, [sys.executable, "/usr/bin/python3"]), None)


@unittest.skipIf(PYTHON is None, "setuptools or wheel is not installed")
class Wheel(unittest.TestCase):
    def test_it_holds_every_module_and_requires_nothing(self):
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / "package"
            shutil.copytree(SOURCE / "roof", copy / "roof", ignore=shutil.ignore_patterns("__pycache__", "program"))
            modules = [path.relative_to(copy) for path in (copy / "roof").rglob("*") if path.is_file()]
            (copy / "pyproject.toml").write_bytes((SOURCE / "pyproject.toml").read_bytes())
            subprocess.run([PYTHON, "-c", "from setuptools import build_meta; build_meta.build_wheel('.')"], cwd=copy, check=True,
                           capture_output=True)
            wheel, = copy.glob("*.whl")
            self.assertTrue(wheel.name.endswith("-py3-none-any.whl"), wheel.name)
            with zipfile.ZipFile(wheel) as archive:
                names = set(archive.namelist())
                metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        self.assertLessEqual({str(module) for module in modules}, names)
        required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
        self.assertEqual(["pandas"], [line.split()[1].rstrip(";") for line in required if "frames" in line])
        self.assertEqual([], [line for line in required if "extra == " not in line])


if __name__ == "__main__":
    unittest.main()

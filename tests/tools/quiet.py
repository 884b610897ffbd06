"""Shared by the tests of the acceptance: a test case with its own folder, and the import path of its modules."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]


class Quiet(unittest.TestCase):
    """Runs each test in a temporary folder and captures its output."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.said = io.StringIO()
        silence = contextlib.redirect_stdout(self.said)
        silence.__enter__()
        self.addCleanup(silence.__exit__, None, None, None)

    def write(self, name, *lines):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def executable(self, name, *lines):
        self.write(f"bin/{name}", "#!/bin/sh", *lines).chmod(0o755)

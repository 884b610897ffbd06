"""The example notebook, cell by cell as Jupyter runs them: `!command` in a shell with {NAME} replaced, the last expression of a cell shown."""

import ast
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebooks" / "three_networks.ipynb"


class Notebook:
    """Runs cells in one namespace and one folder."""

    def __init__(self, folder):
        self.names = {}
        self.folder = folder
        self.environment = {**os.environ, "PATH": f"{Path(os.environ['ROOF_PROGRAM']).parent}:{os.environ['PATH']}",
                            "ROOF_RESULTS": str(Path(folder) / "results")}

    def command(self, line):
        words = re.sub(r"\{(\w+)\}", lambda name: str(self.names[name.group(1)]), line[1:])
        done = subprocess.run(words, shell=True, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def run(self, source):
        """What the cell shows."""
        if source.startswith("!"):
            return self.command(source.strip())
        body = ast.parse(source).body
        last = ast.unparse(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), str(NOTEBOOK), "exec"), self.names)
        return eval(last, self.names) if last else None


class Example(unittest.TestCase):
    def test_shows_three_networks_in_ten_cells_and_one_page(self):
        cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        self.assertEqual(10, len(cells))
        shown = []
        with tempfile.TemporaryDirectory() as folder:
            notebook = Notebook(folder)
            before = Path.cwd()
            os.chdir(folder)
            try:
                for cell in cells:
                    source = "".join(cell["source"])
                    if cell["cell_type"] == "code" and not source.startswith("%pip"):  # the package is on the path
                        shown.append(notebook.run(source))
                page = shown[-1]._repr_html_()
            finally:
                os.chdir(before)
        for network in ("alexnet", "resnet18", "vgg16"):
            self.assertIn(network, page)
        # A quick calibration of a machine that others use may end before it has roofs, and says so.
        self.assertRegex(page[:20000], '<img alt="Roofline of alexnet|were not measured')


if __name__ == "__main__":
    unittest.main()

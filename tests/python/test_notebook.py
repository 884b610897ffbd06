"""A notebook with `roof.report` and, where there is PyTorch, `roof.record`: each cell's value is shown as Jupyter shows it, by `_repr_html_`."""

import ast
import base64
import importlib.util
import json
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from roof.notebook import MOST_BYTES, Report, inline

PUBLISHED = Path(__file__).resolve().parents[2] / "results/examples/amd-epyc-family26-2cpu"
NOTEBOOK = Path(__file__).resolve().parent / "data/roof.ipynb"
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" aria-label="Roofline of a"><title>long</title><g class="mark" data-key="1:2" data-x="3"/></svg>'


def shown(code, names):
    """What a cell shows: the value of its last line."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    return value._repr_html_() if value is not None else ""


class Notebook(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.place)

    def check(self, html):
        images = re.findall(r'<img alt="[^"]*" src="data:image/svg\+xml;base64,([^"]*)">', html)
        for image in images:
            self.assertLess(len(image), MOST_BYTES)
            self.assertTrue(base64.b64decode(image).startswith(b"<svg "))
            self.assertEqual(re.findall(rb"""(?:href|src|url\()[="']*https?:""", base64.b64decode(image)), [])
        self.assertEqual(re.findall(r"https?:|<script|<link", html), [])
        return len(images)

    def test_the_cells_of_a_notebook_show_figure_and_answer_and_fetch_nothing(self):
        shutil.copytree(PUBLISHED, "published")
        names, pictures = {}, []
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
            code = "".join(cell["source"])
            if cell["cell_type"] != "code" or ("torch" in code and importlib.util.find_spec("torch") is None):
                continue
            html = shown(code, names)
            if html:
                pictures.append(self.check(html))
                self.assertRegex(html, "<p>[a-z0-9]+, batch [0-9]+, fp32 on cpu: ")
        self.assertEqual(pictures[0], 4)  # all steps, and one for each network at its largest batch

    def test_a_figure_is_an_image_without_what_a_pointer_shows(self):
        image = inline(PICTURE)
        self.assertTrue(image.startswith('<img alt="Roofline of a" src="data:image/svg+xml;base64,'))
        self.assertEqual(base64.b64decode(image.split("base64,")[1][:-2]).decode(),
                         '<svg xmlns="http://www.w3.org/2000/svg" aria-label="Roofline of a"><g class="mark"/></svg>')
        self.assertIn("too many points", inline(PICTURE.replace("<g", "<!--" + "x" * MOST_BYTES + "--><g")))

    def test_names_of_files_are_no_markup(self):
        document = {"page": "<b>.html", "studies": [{"calibration": None, "rows": [
            {"model": "<i>", "batch_images": 1, "precision": "fp32", "device": "cpu", "answer": None, "reason": "made", "status": "failed"}]}]}
        html = Report(document, [])._repr_html_()
        self.assertIn("&lt;i&gt;, batch 1, fp32 on cpu: made", html)
        self.assertNotIn("<b>", html)


if __name__ == "__main__":
    unittest.main()

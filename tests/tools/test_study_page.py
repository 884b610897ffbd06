"""tools/study_page: writes rows, predictions, shares and answers as Markdown, only between the marks of a page."""

import importlib.machinery
import importlib.util
import io
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True

LOADER = importlib.machinery.SourceFileLoader("study_page", str(ROOT / "tools/study_page"))
pages = importlib.util.module_from_spec(importlib.util.spec_from_loader("study_page", LOADER))
LOADER.exec_module(pages)

# Replaces roof: a sweep writes a folder of two rows, one out of memory; estimate prints answers; report writes a picture.
FAKE = """\
#!{python}
import json, os, sys
words = sys.argv[1:]
def option(name): return words[words.index(name) + 1]
if words[0] == "sweep":
    assert "--predict" in words
    folder = option("--out")
    os.makedirs(folder)
    def write(name, text): open(os.path.join(folder, name), "w").write(text)
    write("machine.yaml", "cpu_model: \\"A CPU\\"\\ncores: 2\\nhypervisor: KVM\\n")
    write("measurements.csv", "id,bench,model,batch,data,status,launch_median_s,launch_low_s,launch_high_s,data_median_s,"
          "forward_median_s,backward_median_s,update_median_s\\n"
          "one,train,net,4,synthetic,ok,0.2,0.19,0.21,0,0.05,0.14,0.01\\n"
          "two,train,net,512,photos/set,out_of_memory,,,,,,,\\n"
          "three,flops,,,,ok,1,1,1,0,0,0,0\\n")
    write("predictions.csv", "row,least_s,predicted_s,memory_bytes,fits\\none,0.1,0.15,1,1\\ntwo,9,9,9,0\\n")
    write("layers.csv", "id,kind,phase,time_median_s,implementation\\none,convolution,forward,0.05,jit\\n"
          "one,convolution,backward,0.12,jit\\none,linear,backward,0.02,gemm\\none,sgd,update,0.001,own\\n")
elif words[0] == "report":
    if "--pictures" in words: open(os.path.join(option("--pictures"), "roofline-1.svg"), "w").write("<svg/>")
    print("the answers\\n\\nthe verdict\\nnet unsupported -\\n\\nthe page")
elif words[0] == "estimate":
    print(json.dumps({{"hypotheses": [{{"hypothesis": "a < b", "answer": "fails", "numbers": "2 < 1"}}]}}))
"""


class StudyPage(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        for part in ("docs/studies", "docs/pictures"):
            (self.folder / part).mkdir(parents=True)
        self.page = self.folder / "docs/studies/a.md"
        self.roof = self.folder / "roof"
        self.roof.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
        self.roof.chmod(0o755)

    def run_tool(self, content, *words):
        self.page.write_text(content, encoding="utf-8")
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            status = pages.main([*words, "--roof", str(self.roof), "--results", str(self.folder / "results"), "--docs",
                                 str(self.folder / "docs")])
        return status, said.getvalue()

    def test_a_page_changes_only_between_its_marks(self):
        status, said = self.run_tool(f"before\n{pages.MARKS[0]}\nold\n{pages.MARKS[1]}\nafter\n", "a")
        self.assertEqual((status, said), (0, ""))
        text = self.page.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertNotIn("old", text)
        self.assertIn("A CPU, 2 cores, under KVM", text)
        self.assertIn("| net, batch 4 | 200 ms [190 ms, 210 ms] | 20 | 25% / 70% / 5% | 0 ms | 150 ms | -25% |", text)
        self.assertIn("| net, batch 512, set | out of memory | - | - | - | out of memory | - |", text)
        self.assertNotIn("three", text)
        self.assertIn("| `a < b` | fails | 2 < 1 |", text)
        self.assertIn("the verdict", text)
        self.assertIn("the answers", text)
        self.assertNotIn("unsupported", text)
        self.assertNotIn("the page", text)
        self.assertEqual((self.folder / "docs/pictures/study-a.svg").read_text(encoding="utf-8"), "<svg/>")

    def test_small_shares_are_left_out(self):
        self.run_tool(f"{pages.MARKS[0]}{pages.MARKS[1]}", "a")
        text = self.page.read_text(encoding="utf-8")
        self.assertIn("| net, batch 4 | 60% | 25% | 10% |", text)
        self.assertNotIn("sgd", text)
        self.assertIn("| share of the step by implementation (measured) | `jit` | `gemm` |", text)
        self.assertIn("| net, batch 4 | 85% | 10% |", text)

    def test_a_page_without_marks_is_unchanged(self):
        status, said = self.run_tool("no marks\n", "a")
        self.assertEqual(status, 1)
        self.assertIn("lacks the marks", said)
        self.assertEqual(self.page.read_text(encoding="utf-8"), "no marks\n")

    def test_every_study_has_a_page_with_marks_and_a_plan(self):
        for name in pages.PICTURES:
            text = (ROOT / f"docs/studies/{name}.md").read_text(encoding="utf-8")
            self.assertEqual([text.count(mark) for mark in pages.MARKS], [1, 1])
            self.assertTrue((ROOT / f"configs/studies/{name}.yaml").exists())

    def test_a_failing_program_is_reported(self):
        self.roof.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
        status, said = self.run_tool("no marks\n", "a")
        self.assertEqual(status, 1)
        self.assertIn("ended with status 3", said)


if __name__ == "__main__":
    unittest.main()

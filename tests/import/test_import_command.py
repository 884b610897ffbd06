"""`roof import` in Python: its words and tables, folders that the program reads, and files that are damaged."""

import contextlib
import io
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from roof.commands import import_
from roof.importing.files import import_file
from roof.texts import InputError
from traces import DATA, roof, steps

HAS_PROGRAM = "ROOF_PROGRAM" in os.environ
LIMIT = 2 << 30  #: bytes of memory for a damaged file
SECONDS = 20
MUTATIONS = int(os.environ.get("ROOF_MUTATIONS", "60"))


def trace(place):
    file = Path(place) / "made.json"
    file.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "traceEvents": steps()}),
                    encoding="utf-8")
    return file


class Command(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.file = trace(self.place)

    def run_command(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(0, import_.main([str(word) for word in words]))
        return said.getvalue()

    def refused(self, *words):
        with self.assertRaises(InputError) as raised:
            import_.main([str(word) for word in words])
        return str(raised.exception)

    def test_a_link_in_the_place_of_the_folder_is_not_followed(self):
        results = self.place / "results"
        (results / "imported").mkdir(parents=True)
        (results / "imported/made").symlink_to(self.place / "elsewhere")
        with mock.patch.dict(os.environ, {"ROOF_RESULTS": str(results)}):
            self.assertIn("made is a link: --out names the folder", self.refused(self.file))
        self.assertFalse((self.place / "elsewhere").exists())

    def test_the_summary_names_rows_and_what_is_missing(self):
        out = self.run_command(self.file, "--out", self.place / "run", "--machine", "server")
        self.assertEqual([f"{self.file}: PyTorch profiler", "  import gpu:0 model=made precision=fp32: 3 kernels, 3 calls, 0 copies, 0 counters",
                          "  missing for a point on a roofline: bytes: this is a recording of times; Nsight Compute counts them",
                          "  FLOPs are those of one step's operators that have a formula, from their shapes", str(self.place / "run")],
                         out.splitlines())

    def test_json_has_the_same(self):
        found = json.loads(self.run_command(self.file, "--out", self.place / "run", "--json", "--name", "mine"))
        self.assertEqual([{"id": "import gpu:0 model=mine precision=fp32", "kernels": 3, "calls": 3, "copies": 0, "counters": 0}],
                         found["files"][0]["rows"])
        self.assertEqual(str(self.place / "run"), found["folder"])

    def test_wrong_words_are_refused_with_a_sentence(self):
        for words, part in (((), "FILE"), ((self.file, "--device", "toaster"), "legal values: cpu, gpu"), ((self.file, "--no"), "--no"),
                            ((self.file, self.file, "--name", "x"), "one by one"), ((self.file, self.file), "two rows are called"),
                            ((self.place / "none",), "No such file"), ((self.place,), "directory")):
            self.assertIn(part, self.refused(*words))

    def test_a_device_can_be_named(self):
        for given, device in (("gpu:3", "gpu:3"), ("cuda:1", "gpu:1"), ("cuda", "gpu:0"), ("cpu", "cpu")):
            out = self.run_command(self.file, "--out", self.place / given, "--device", given)
            self.assertIn(f"import {device} model=made", out)
            self.assertIn(f",{device},", (self.place / given / "kernels.csv").read_text(encoding="utf-8"))

    def test_a_folder_with_results_is_kept(self):
        self.run_command(self.file, "--out", self.place / "run")
        self.assertIn("give --out another folder", self.refused(self.file, "--out", self.place / "run"))
        self.assertRegex(self.refused(self.file, "--out", self.file / "run"), "Not a directory|File exists")
        for name in ("kernels.csv", "digest.csv", "samples.csv"):  # all that is left of others
            left = self.place / f"of {name}" / name
            left.parent.mkdir()
            left.write_text("of another run", encoding="utf-8")
            self.assertIn("give --out another folder", self.refused(self.file, "--out", left.parent))
            self.assertEqual("of another run", left.read_text(encoding="utf-8"))

    @unittest.skipUnless(HAS_PROGRAM, "the program reads what the package writes")
    def test_the_program_checks_and_reports_the_folder(self):
        many = self.place / "many.json"
        many.write_text(json.dumps({"traceEvents": steps(400)}), encoding="utf-8")
        real = [DATA / name for name in ("kineto_resnet_mi300.json.gz", "kineto_modules_2.13.json.gz", "kineto_vllm_graphs.json.gz")]
        for file in (self.file, many, *real):
            folder = self.place / f"of {file.name}"
            self.run_command(file, "--out", folder, "--machine", "server")
            check = roof("check", folder)
            self.assertEqual((0, "1 row, 0 of them damaged: nothing is wrong with this folder\n"), (check.returncode, check.stdout), file)
            report = roof("report", folder)
            self.assertEqual((0, ""), (report.returncode, report.stderr), file)
            self.assertIn("imported from PyTorch profiler", report.stdout)
            page = (folder / "report.html").read_text(encoding="utf-8")
            self.assertIn("<td>server</td>", page)
            self.assertNotIn("core(s)", page)  # no file of another tool says how many the machine has
        step = roof("report", self.place / "of kineto_resnet_mi300.json.gz")
        self.assertIn("19.0 ms", step.stdout)
        self.assertIn("≥ 1.94 TFLOP/s", roof("report", self.place / "of kineto_vllm_graphs.json.gz").stdout)
        kernels = (self.place / "of many.json/kernels.csv").read_text(encoding="utf-8").splitlines()
        kernels[100] = kernels[100].replace("gemm", "gemv")
        (self.place / "of many.json/kernels.csv").write_text("\n".join(kernels) + "\n", encoding="utf-8")
        self.assertEqual(1, roof("check", self.place / "of many.json").returncode)


def mutated(content, chance):
    """The bytes with one to four changes."""
    content = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randrange(len(content) + 1), chance.randint(0, 20)
        kind = chance.randint(0, 5)
        if kind == 0 and at < len(content):
            content[at] = chance.randrange(256)
        elif kind == 1:
            del content[at:at + length]
        elif kind == 2:
            other = chance.randrange(len(content) + 1)
            content[at:at] = content[other:other + length]
        elif kind == 3:
            del content[at:]
        elif kind == 4:
            content[at:at] = chance.choice([b'"', b",", b"{", b"}", b"[", b"]", b"-", b".", b"9", b"e", b"\n", b"null", b"1e999", b"\0"])
        else:
            digits = [place for place, one in enumerate(content) if 48 <= one < 58]
            if digits:
                content[chance.choice(digits)] = chance.choice(b"0123456789-e.")
    return bytes(content)


def events_at_random(chance):
    """A trace whose values are of any type."""
    anything = [None, True, -1, 0, 3, 2**63, 1e300, "x", "7", [], {}, [[]], [[2, 3], [3, 4]], {"a": 1}, "aten::mm", "kernel", "cpu_op"]
    events = steps()
    for one in events:
        for key in list(one):
            if chance.random() < 0.05:
                one[key] = chance.choice(anything)
        args = one.get("args")
        for key in list(args) if isinstance(args, dict) else []:
            if chance.random() < 0.05:
                args[key] = chance.choice(anything)
    return json.dumps({"traceEvents": events, "deviceProperties": chance.choice(anything)}).encode()


CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({0}, {0}))
from roof.commands.import_ import main
from roof.texts import InputError
try:
    sys.exit(main(sys.argv[1:]))
except InputError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""


class Damage(unittest.TestCase):
    """Damaged files are read, with sound numbers, or refused with one sentence. ROOF_MUTATIONS: of each file."""

    def attempt(self, file, content):
        file.write_bytes(content)
        try:
            found = import_file(file)
        except InputError as error:
            self.assertNotIn("\n", str(error))
            return
        for row in found.rows:
            for value in (*row.times, row.flops, row.executed, row.compulsory):
                self.assertTrue(value is None or 0 <= value < 1e300, content[:2000])
            for record in row.records:
                self.assertGreaterEqual(getattr(record, "duration", 0) or 0, 0)

    def test_mutated_and_written_files(self):
        chance = random.Random(20260131)
        with tempfile.TemporaryDirectory() as place:
            whole = Path(place) / "whole"
            base = sqlite3.connect(whole)
            base.executescript((DATA / "nsys.sql").read_text(encoding="utf-8"))
            base.close()
            contents = [trace(place).read_bytes(), whole.read_bytes(), json.dumps(steps()).encode()]
            contents += [(DATA / name).read_bytes() for name in ("kineto.json", "kineto_cpu_2.13.json", "kineto_vllm_graphs.json.gz")]
            for content in contents:
                for _ in range(MUTATIONS):
                    self.attempt(Path(place) / "x", mutated(content, chance))
            for _ in range(MUTATIONS):
                self.attempt(Path(place) / "x", events_at_random(chance))

    def test_a_file_that_is_cut_off_is_refused(self):
        with tempfile.TemporaryDirectory() as place:
            for content in (trace(place).read_bytes(), json.dumps(steps()).encode()):
                for length in range(1, len(content), 1 + len(content) // 40):
                    file = Path(place) / "x"
                    file.write_bytes(content[:length])
                    with self.assertRaises(InputError):
                        import_file(file)

    def test_the_command_has_no_traceback_and_little_memory(self):
        chance = random.Random(7)
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "x"
            content = trace(place).read_bytes()
            hostile = [b'{"traceEvents": [' + b"[" * 200_000, b'{"traceEvents": [{"ts": ' + b"9" * 100_000, b'{"traceEvents": ["' + b"a" * (1 << 24)]
            for number, made in enumerate([*hostile, *(mutated(content, chance) for _ in range(5))]):
                file.write_bytes(made)
                done = subprocess.run([sys.executable, "-B", "-c", CHILD.format(LIMIT), str(file), "--out", f"{place}/{number}"], capture_output=True,
                                      text=True, check=False, timeout=6 * SECONDS)
                self.assertIn(done.returncode, (0, 2), done.stderr)
                self.assertLessEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()

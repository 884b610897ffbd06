import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import roof
from roof import host, program

ECHO = """#!/bin/sh
case "$1" in
  doctor) echo '{"machine": {"name": "known", "node": "n3", "cpu_model": "x", "cores": 2, "governor": null, "devices":
    [{"name": "cpu", "kind": "cpu", "model": "x", "levels": [{"name": "L1", "capacity_bytes": 1, "instances": 1}]}]}}' ;;
  calibrate) echo "{\\"arguments\\": \\"$*\\"}" ;;
  export) echo "level,rate"; echo "DRAM,1e10" ;;
  *) echo "roof: no such thing" >&2; exit 2 ;;
esac
"""
HAS_PANDAS = importlib.util.find_spec("pandas") is not None


class Program(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        fake = self.folder / "roof"
        fake.write_text(ECHO, encoding="utf-8")
        fake.chmod(0o755)
        self.use(ROOF_PROGRAM=str(fake))

    def use(self, **variables):
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)

    def test_calibrate_passes_its_options_and_reads_the_document(self):
        self.assertEqual({"arguments": "calibrate --quick --json"}, roof.calibrate("--quick"))

    def test_an_error_has_the_message_of_the_program(self):
        with self.assertRaisesRegex(RuntimeError, "roof nothing: roof: no such thing"):
            program.run("nothing")

    def test_a_missing_program_is_named_with_what_to_do(self):
        self.use(ROOF_PROGRAM="", PATH=str(self.folder / "empty"))
        with self.assertRaisesRegex(program.NotFound, "install it, put it on PATH, or set ROOF_PROGRAM"):
            program.run("list")

    def test_a_program_that_cannot_be_run_is_named_with_the_variable(self):
        (self.folder / "plain").write_text("no program\n", encoding="utf-8")
        for place in ("nowhere/roof", "", "plain"):
            self.use(ROOF_PROGRAM=str(self.folder / place))
            with self.assertRaisesRegex(program.NotFound, f"ROOF_PROGRAM names {self.folder / place}, which cannot be run: "):
                program.run("list")

    def test_the_machine_is_the_program_s_and_without_it_what_python_knows(self):
        known = host.describe()
        self.assertEqual("known", known["name"])
        self.assertNotIn("governor", known)
        self.assertEqual("L1", known["devices"][0]["levels"][0]["name"])
        self.use(ROOF_PROGRAM="", PATH=str(self.folder / "empty"))
        self.assertEqual("mine", host.describe("mine")["name"])

    def test_the_node_is_the_program_s_and_without_it_the_scheduler_s_or_the_host_s(self):
        self.assertEqual("n3", host.describe()["node"])
        self.use(ROOF_PROGRAM="", PATH=str(self.folder / "empty"), SLURMD_NODENAME="", NODE_NAME="-k8s worker/7")
        self.assertEqual("k8s-worker-7", host.describe()["node"])
        self.use(SLURMD_NODENAME="n" * 80)
        self.assertEqual("n" * 64, host.describe()["node"])
        self.use(SLURMD_NODENAME="", NODE_NAME="")
        self.assertEqual(host.node_name(), host.describe()["node"])

    @unittest.skipUnless(HAS_PANDAS, "pandas is not installed")
    def test_ceilings_are_a_data_frame(self):
        frame = roof.ceilings(self.folder)
        self.assertEqual(("DRAM", 1e10), (frame.level[0], frame.rate[0]))

    @unittest.skipUnless(HAS_PANDAS, "pandas is not installed")
    def test_a_folder_is_loaded_without_its_checksums(self):
        (self.folder / "machine.yaml").write_text("format: 2\nname: x\n", encoding="utf-8")
        (self.folder / "measurements.csv").write_text("id,launch_median_s,row_checksum\na,0.5,AAAAAAAA\n", encoding="utf-8")
        loaded = roof.load(self.folder)
        self.assertEqual(["id", "launch_median_s"], list(loaded.measurements.columns))
        self.assertEqual(0, len(loaded.layers))

    def test_a_pipe_in_a_folder_is_refused_at_once(self):
        os.mkfifo(self.folder / "machine.yaml")
        with self.assertRaisesRegex(ValueError, "machine.yaml is no regular file"):
            roof.load(self.folder)

    def test_a_folder_that_has_lost_its_rows_is_not_loaded_as_an_empty_one(self):
        (self.folder / "machine.yaml").write_text("format: 3\nname: x\n", encoding="utf-8")
        with self.assertRaisesRegex(ValueError, "no measurements.csv"):
            roof.load(self.folder)

    @unittest.skipIf(HAS_PANDAS, "pandas is installed")
    def test_without_pandas_frames_say_what_they_need(self):
        with self.assertRaisesRegex(ImportError, "pip install pandas"):
            roof.ceilings(self.folder)

    def test_what_a_command_of_the_package_lacks_is_one_sentence(self):
        counters = Path(__file__).resolve().parents[1] / "import/data/ncu_raw.csv"
        self.use(ROOF_PROGRAM="", PATH=str(self.folder / "empty"))
        for words, lack in ((["import", str(counters), "--out", str(self.folder / "out")], "the program roof was not found"),
                            (["report"], "the others are the program's"), ([], "the others are the program's")):
            done = subprocess.run([sys.executable, "-m", "roof", *words], capture_output=True, text=True, check=False)
            self.assertEqual((2, ""), (done.returncode, done.stdout))
            self.assertRegex(done.stderr, r"\Aroof: [^\n]*" + lack + r"[^\n]*\n\Z")

    def test_a_folder_of_another_format_is_refused(self):
        (self.folder / "machine.yaml").write_text("format: 1\n", encoding="utf-8")
        with self.assertRaisesRegex(ValueError, "format: 1"):
            roof.load(self.folder)


if __name__ == "__main__":
    unittest.main()

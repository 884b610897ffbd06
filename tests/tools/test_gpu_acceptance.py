"""The acceptance on a GPU, as far as it goes without one: steps that fail do not end it, and ours stand beside the right peers."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.stem, str(path))
    spec = importlib.util.spec_from_loader(path.stem, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


acceptance = load(ROOT / "tools" / "gpu_acceptance")


def ceiling(kind, median, **fields):
    return {"kind": kind, "median": median, **fields}


CEILINGS = [
    ceiling("compute", 700e12, operation="matmul", precision="bf16", isa="cublaslt"),
    ceiling("compute", 950e12, operation="tile", precision="bf16", isa="wgmma"),
    ceiling("compute", 620e12, operation="tile", precision="bf16", isa="mma"),
    ceiling("bandwidth", 4.4e12, operation="copy", level="DRAM"),
    ceiling("bandwidth", 9.9e12, operation="copy", level="L2"),
]


class Training(unittest.TestCase):
    def test_a_build_without_the_part_is_said_to_be_one(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            journal = acceptance.Journal(Path(folder))
            with self.assertRaisesRegex(RuntimeError, "no cuDNN part"):
                acceptance.training_steps(journal, Path(folder), Path(folder), 1, "")

    def test_its_steps_run_one_after_the_other_though_the_first_fails(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            programs = Path(folder) / "bin"
            programs.mkdir()
            (programs / "roof_cudnn.so").touch()
            for name, text in (("test_cudnn_device", "exit 1"), ("roof", "echo swept")):
                (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
                (programs / name).chmod(0o755)
            journal = acceptance.Journal(Path(folder))
            acceptance.training_steps(journal, Path(folder), Path(folder), 0.01, "")
        self.assertEqual(["training: device tests", "training: 1 rank(s)", "training: 2 rank(s)", "training: sweep",
                          "training: beside PyTorch"], [row["step"] for row in journal.rows])
        self.assertEqual(["failed", "failed", "failed", "ok"], [row["status"] for row in journal.rows[:4]])

    def test_a_row_that_explains_why_it_is_not_measured_does_not_do(self):
        measured = {"status": "ok", "reason": ""}
        acceptance.require_measured([measured])
        for rows, words in (([], "no row"), ([measured, {"status": "unsupported", "reason": "no NCCL"}], "no NCCL")):
            with self.assertRaisesRegex(RuntimeError, words):
                acceptance.require_measured(rows)

    def test_the_plan_is_there(self):
        self.assertTrue(acceptance.ROOF_PLAN.is_file())


class Journal(unittest.TestCase):
    def test_a_step_that_fails_is_said_and_the_next_one_runs(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
            journal = acceptance.Journal(Path(folder))
            self.assertIsNone(journal.step("first", lambda: 1 / 0))
            self.assertEqual(7, journal.step("second", lambda: 7))
            kept = json.loads((Path(folder) / "steps.json").read_text(encoding="utf-8"))
        self.assertEqual(["failed", "ok"], [row["status"] for row in kept])
        self.assertIn("ZeroDivisionError", said.getvalue())
        self.assertEqual(["first"], [row["step"] for row in journal.failures])

    def test_a_program_that_fails_tells_its_last_words(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            with self.assertRaisesRegex(RuntimeError, "status 3: the reason"):
                acceptance.run(["sh", "-c", "echo first; echo the reason >&2; exit 3"], log, 10)
            self.assertEqual("first\nthe reason\n", log.read_text(encoding="utf-8"))
            self.assertEqual("x\n", acceptance.run(["sh", "-c", "echo $WORD; exit 1"], log, 10, accepted=(0, 1), WORD="x"))


    def test_a_calibration_without_ceilings_is_a_failure(self):
        self.assertEqual([{"kind": "compute"}], acceptance.ceilings_in('{"ceilings": [{"kind": "compute"}]}\nrest'))
        with self.assertRaisesRegex(RuntimeError, "no ceiling"):
            acceptance.ceilings_in('{"ceilings": []}')


class Table(unittest.TestCase):
    def test_ours_stand_beside_the_median_of_the_peers_visits(self):
        visits = [{"matmul bf16": 680e12, "copy": 4.0e12}, {"matmul bf16": 720e12}, {"matmul bf16": 700e12}]
        rows = {row["what"]: row for row in acceptance.rows_beside(CEILINGS, visits)}
        self.assertEqual(1.0, rows["matmul bf16"]["ratio"])
        self.assertEqual(3, rows["matmul bf16"]["visits"])
        self.assertEqual(950e12, rows["matmul bf16"]["raw issue rate"])
        self.assertAlmostEqual(1.1, rows["copy"]["ratio"])
        self.assertIsNone(rows["read"]["ours"])

    def test_is_written_as_csv_and_markdown(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            acceptance.write_table(acceptance.rows_beside(CEILINGS, []), Path(folder))
            lines = (Path(folder) / "peers.csv").read_text(encoding="utf-8").splitlines()
            self.assertEqual(1 + len(acceptance.BESIDE), len(lines))
            self.assertIn("| copy | 4.4e+12 | - |", (Path(folder) / "peers.md").read_text(encoding="utf-8"))


class ReadBack(unittest.TestCase):
    """On counters made by hand."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name, *lines):
        (self.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def test_formulas_are_those_of_the_one_table(self):
        formulas = acceptance.read_back.formulas()
        self.assertEqual(("flops.fp32", 2.0), formulas["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"])
        self.assertEqual(("bytes.device", 1.0), formulas["dram__bytes_read.sum"])
        rows = acceptance.read_back.TABLE.read_text(encoding="utf-8").count("- {quantity:")
        self.assertEqual(rows, len(acceptance.read_back.ROW.findall(acceptance.read_back.TABLE.read_text(encoding="utf-8"))))

    def test_known_and_counted_are_compared_over_whole_launches(self):
        self.write("measurements.csv", "id,bench,status,flops,compulsory_bytes",
                   "flops gpu:0 operation=fma,flops,ok,1000,0",
                   "bandwidth gpu:0 operation=load working_set=64,bandwidth,ok,0,1000",
                   "flops gpu:0 operation=tile,flops,unsupported,0,0")
        ffma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
        self.write("counters.csv", "id,device,scope,layer,phase,name,launch,metric,value,unit",
                   f"flops gpu:0 operation=fma,gpu:0,step,,,,,{ffma},502,instruction",
                   f"flops gpu:0 operation=fma,gpu:0,kernel,,,k,0,{ffma},77,instruction",
                   "bandwidth gpu:0 operation=load working_set=64,gpu:0,step,,,,,dram__bytes_read.sum,900,byte",
                   "bandwidth gpu:0 operation=load working_set=64,gpu:0,step,,,,,dram__bytes_write.sum,50,byte")
        flops, load = acceptance.read_back.compare(self.folder)
        self.assertAlmostEqual(1.004, flops["ratio"])
        self.assertTrue(flops["is_near"])
        self.assertAlmostEqual(0.95, load["ratio"])
        self.assertFalse(load["is_near"])

    def test_kernels_stand_beside_those_of_nsight_compute(self):
        self.write("counters.csv", "id,device,scope,layer,phase,name,launch,metric,value,unit",
                   '"x",gpu:0,kernel,,,"k(float*, int)",0,lts__t_bytes.sum,100,byte',
                   '"x",gpu:0,kernel,,,"k(float*, int)",1,lts__t_bytes.sum,300,byte')
        said = ('==PROF== Connected\n"ID","Kernel Name","lts__t_bytes.sum"\n"","","byte"\n'
                '"0","k(float *, int)","160"\n"1","other","5"\n')
        line, = acceptance.read_back.beside_ncu(self.folder, said)
        self.assertAlmostEqual(1.25, line["ratio"])
        with self.assertRaisesRegex(RuntimeError, "no table"):
            acceptance.read_back.medians_of_ncu("==ERROR== no\n")


if __name__ == "__main__":
    unittest.main()

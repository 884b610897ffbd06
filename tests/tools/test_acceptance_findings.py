"""The conclusions of the GPU acceptance: matching peers, goals, rows that count as failures, counters."""

import json
import unittest

from quiet import Quiet

from acceptance.scene import Scene
from acceptance.steps import ceilings, profiles, training
from measuring import Failed


class Training(Quiet):
    def test_a_row_that_explains_why_it_is_not_measured_does_not_do(self):
        measured = {"status": "ok", "reason": ""}
        training.require_measured([measured])
        for rows, words in (([], "no row"), ([measured, {"status": "unsupported", "reason": "no NCCL"}], "no NCCL")):
            with self.assertRaisesRegex(Failed, words):
                training.require_measured(rows)

    def test_a_sweep_whose_time_is_over_keeps_its_rows_and_says_how_to_go_on(self):
        self.executable("roof", '[ "$1" = doctor ] && exit 1', f"cp {self.folder}/rows {self.folder}/training-sweep/measurements.csv; sleep 1000")
        (self.folder / "training-sweep").mkdir()
        scene = Scene(self.folder, self.folder)
        self.write("rows", "id,status,reason", "a,ok,", "b,unsupported,no fp8", "c,ok,")
        self.assertIn("2 rows measured; the rest", training.sweep(scene, 0.5))
        self.write("rows", "id,status,reason", "a,ok,", "b,failed,the loss is not finite")
        with self.assertRaisesRegex(Failed, "b: the loss"):
            training.sweep(scene, 0.5)

    def two_ranks(self, nccl, loss):
        """The step with a roof of these words: one rank has the losses 2 and 1."""
        self.executable("roof", 'while [ "$1" != --out ]; do [ "$1" = --ranks ] && ranks=2; shift; done', 'mkdir -p "$2" && cd "$2"',
                        f"printf 'status,reason,variant\nok,,2 ranks by NCCL {nccl}\n' > measurements.csv",
                        f'[ "$ranks" ] && last={loss} || last=1', "printf 'id,loss\na,2\na,%s\n' $last > samples.csv")
        return training.two_ranks(Scene(self.folder, self.folder), 30)

    def test_losses_of_two_ranks_are_those_of_one_to_a_hundred_thousandth(self):
        self.assertIsNone(self.two_ranks("2.30.7", 1.000009))
        with self.assertRaisesRegex(Failed, "a has the losses .*1.00002.*, one rank with both batches"):
            self.two_ranks("2.30.7", 1.00002)

    def test_a_transport_that_this_nccl_has_not_is_said_to_be_unseen(self):
        self.assertEqual("NCCL 2.28 has no NCCL_MULTI_RANK_GPU_ENABLE: unseen", self.two_ranks("2.28.9", 1))

    def test_little_time_is_for_few_rows_and_much_for_all(self):
        words, left_out = training.rows_for(205, "bf16")
        self.assertEqual("resnet50:256,gpt2@1024:16", words[words.index("--rows") + 1])
        self.assertIn("2 rows in bf16", left_out)
        words, left_out = training.rows_for(2100, "fp16")
        self.assertNotIn("--no-compile", words)
        self.assertIn("fp16:auto", words)
        self.assertEqual("", left_out)
        for row in ("resnet50:256", "gpt2@1024:16", "vit_b_16:64", "llama_1b@4096/decode:1"):
            self.assertIn(row, words[words.index("--rows") + 1].split(","))


def ceiling(kind, median, **fields):
    return {"kind": kind, "median": median, "low": 0.999 * median, "high": 1.001 * median, **fields}


CEILINGS = [
    ceiling("compute", 700e12, operation="matmul", precision="bf16", isa="cublaslt"),
    ceiling("compute", 950e12, operation="tile", precision="bf16", isa="wgmma", share_of_spec=0.98),
    ceiling("compute", 620e12, operation="tile", precision="bf16", isa="mma", share_of_spec=0.63),
    ceiling("compute", 60e12, operation="fma", precision="fp32", isa="cuda", share_of_spec=0.95),
    ceiling("bandwidth", 4.4e12, operation="copy", level="DRAM"),
    ceiling("bandwidth", 9.9e12, operation="copy", level="L2"),
    ceiling("bandwidth", 4.5e12, operation="load", level="DRAM"),
]


class Table(Quiet):
    def test_ours_stand_beside_the_median_of_the_peers_visits(self):
        rounds = [{"matmul bf16": 680e12, "copy": 4.0e12}, {"matmul bf16": 720e12}, {"matmul bf16": 700e12}]
        rows = {row["what"]: row for row in ceilings.rows_beside(CEILINGS, rounds)}
        self.assertEqual(1.0, rows["matmul bf16"]["ratio"])
        self.assertEqual(3, rows["matmul bf16"]["rounds"])
        self.assertEqual(950e12, rows["matmul bf16"]["raw issue rate"])
        self.assertAlmostEqual(1.1, rows["copy"]["ratio"])
        self.assertIsNone(rows["read"]["ratio"])

    def test_is_written_of_what_there_is_so_far(self):
        self.write("peers-before.json", json.dumps({"copy": 4.0e12}))
        self.write("peers-after.json", '{"copy": 4.')  # interrupted while writing
        ceilings.write_tables(self.folder)
        lines = (self.folder / "peers.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(1 + len(ceilings.BESIDE), len(lines))
        self.write("ceilings.json", json.dumps(CEILINGS))
        ceilings.write_tables(self.folder)
        text = (self.folder / "peers.md").read_text(encoding="utf-8")
        self.assertIn("| copy | 4.4e+12 | 4e+12 | 1 | 1.1 | - |", text)
        self.assertIn("| copy: ours / peer | 1.1 | at least 1 | met |", text)

    def test_a_calibration_without_ceilings_is_a_failure(self):
        log = self.write("calibration.json", '{"ceilings": [{"kind": "compute"}]}', "rest")
        self.assertEqual([{"kind": "compute"}], ceilings.ceilings_in(log))
        self.write("calibration.json", '{"ceilings": []}')
        with self.assertRaisesRegex(Failed, "no ceiling"):
            ceilings.ceilings_in(log)
        self.write("calibration.json.err", "nothing could be measured on gpu:0: it is asleep")
        with self.assertRaisesRegex(Failed, "it is asleep"):
            ceilings.ceilings_in(log)

    def test_a_calibration_with_a_failed_row_is_a_failure(self):
        self.write("measurements.csv", "id,status,reason", "a,ok,", "b,failed,the sums differ", "c,unsupported,no NCCL")
        with self.assertRaisesRegex(Failed, "1 rows failed, the first: b: the sums differ"):
            ceilings.words_of(CEILINGS, self.folder)

    def test_a_calibration_says_what_was_wide_or_disturbed(self):
        self.write("measurements.csv", "id,status", "a,ok", "b,unsupported")
        self.write("samples.csv", "id,disturbance", "a,", "a,the card was too hot")
        wide = {**CEILINGS[0], "low": 600e12}
        self.assertEqual("2 ceilings, 1 of them with an interval beyond 1%; 1 launches disturbed",
                         ceilings.words_of([wide, CEILINGS[1]], self.folder))


class Goals(unittest.TestCase):
    def test_what_was_seen_is_held_against_what_is_wanted(self):
        beside = {row["what"]: row for row in ceilings.rows_beside(CEILINGS, [{"read": 4.6e12, "matmul bf16": 700e12}])}
        found = {row["goal"]: row for row in ceilings.goal_rows(CEILINGS, beside, 4.8e12, {"calibration": 55, "quick-calibration": 16})}
        due = {"read: ours / peer": "missed", "copy: ours / peer": "not seen", "matmul bf16: ours / peer": "met",
               "read: ours / data sheet": "met", "bf16: raw issue rate / cuBLASLt": "met",
               "bf16 tensor cores: share of what is promised at the clock": "met",
               "fp32 fma: share of what is promised at the clock": "missed", "share of ceilings with an interval inside 1%": "met",
               "calibration: seconds": "met", "quick-calibration: seconds": "missed"}
        self.assertEqual(due, {goal: found[goal]["is"] for goal in due})

    def test_the_data_sheets_bandwidth_is_that_of_the_card(self):
        devices = [{"kind": "cpu", "model": "x"}, {"kind": "gpu", "model": "NVIDIA H200"}]
        self.assertEqual(4.8e12, ceilings.spec_bandwidth(devices))
        self.assertIsNone(ceilings.spec_bandwidth([{"kind": "gpu", "model": "NVIDIA X1"}]))
        self.assertIsNone(ceilings.spec_bandwidth([]))


class ReadBack(Quiet):
    """Comparisons of hand-made counters."""

    def test_formulas_are_those_of_the_one_table(self):
        formulas = profiles.formulas()
        self.assertEqual(("flops.fp32", 2.0), formulas["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"])
        self.assertEqual(("bytes.device", 1.0), formulas["dram__bytes_read.sum"])
        rows = profiles.TABLE.read_text(encoding="utf-8").count("- {quantity:")
        self.assertEqual(rows, len(profiles.ROW.findall(profiles.TABLE.read_text(encoding="utf-8"))))

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
        flops, load = profiles.compare(self.folder)
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
        line, = profiles.beside_ncu(self.folder, said)
        self.assertAlmostEqual(1.875, line["ratio"])
        with self.assertRaisesRegex(Failed, "no table"):
            profiles.largest_of_ncu("==ERROR== no\n")


if __name__ == "__main__":
    unittest.main()

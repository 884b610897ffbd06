"""tools/prediction_table and tools/layer_shares: the pages say what the records in results/examples hold."""
import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))


class Page(unittest.TestCase):
    def test_says_what_follows_from_the_record(self):
        for tool in ("prediction_table", "layer_shares"):
            with self.subTest(tool):
                done = subprocess.run([sys.executable, "-B", ROOT / "tools" / tool, "--check"], capture_output=True, text=True, check=False)
                self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_an_exchange_has_the_bytes_of_all_blocks_under_the_roof_of_memory(self):
        loader = importlib.machinery.SourceFileLoader("layer_shares", str(ROOT / "tools" / "layer_shares"))
        tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("layer_shares", loader))
        loader.exec_module(tool)
        name = "train cpu model=net batch=4 precision=fp32 ranks=2 scaling=weak communication=serial"
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "placements.csv").write_text(
                "row,scope,level,level_roof_byte_per_s,time_median_s\n"
                f"{name},step,L3,9e10,0.04\n{name},step,DRAM,1e10,0.04\n{name},layer,L1,1e11,0.01\n")
            (Path(folder) / "scaling.csv").write_text(
                "row,device,ranks,exposed_s,hidden_s,messages_bytes\n"
                f"{name},cpu,2,0.008,0.002,2e7\n{name},gpu:0,2,1,1,2e7\nother,cpu,2,1,1,2e7\n{name},cpu,2,0,0,0\n")
            [row] = tool.exchanges(folder, "here")
        # Both blocks of 20 MB are read and written: 80 MB in 10 ms, where memory allows 8.
        self.assertEqual(("net batch 4, fp32, 2 ranks, weak scaling, serial", "0.2500", "0.8000", "DRAM"),
                         (row["step"], row["share_of_step"], row["share_of_roof"], row["binds"]))


if __name__ == "__main__":
    unittest.main()

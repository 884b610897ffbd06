"""`roof export` read by the programs that it is for, where this Python has them: PyTorch's own analysis of a profile, and Prometheus' parsers.
The calibration is the published one of an H100. Its figures here are those of its bare samples, not of roof."""

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
H100 = next(place for place in (ROOT / "results/examples/nvidia-h100-80gb-hbm3").iterdir() if place.is_dir())
NAME = "NVIDIA H100 80GB HBM3"


def export(form, *options):
    return subprocess.run([os.environ["ROOF_PROGRAM"], "export", H100, "--format", form, *options], capture_output=True, text=True, check=True).stdout


def best_of_samples(work, **axes):
    """The highest median rate of any row with these axes: what the roof is, but for the choice among rounds."""
    with open(H100 / "measurements.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["status"] == "ok" and all(row[axis] == value for axis, value in axes.items())]
    return max(float(row[work]) / float(row["launch_median_s"]) for row in rows)


class Exports(unittest.TestCase):
    def near(self, shown, samples):
        self.assertLess(abs(shown / samples - 1), 0.03)

    def test_the_peaks_are_those_of_the_samples(self):
        """In all forms the same, in the units of each."""
        bf16 = best_of_samples("flops", bench="flops", precision="bf16", operation="tile")
        memory = json.loads(export("tracelens", "--device", "gpu:0"))
        self.near(memory["max_achievable_tflops"]["matrix_bf16"] * 1e12, bf16)
        self.assertAlmostEqual(memory["memory_gb"], 85017493504 / 2**30)
        sim = json.loads(export("inference-sim", "--device", "gpu:0"))[NAME]
        self.assertEqual(sim["TFlopsPeak"], memory["max_achievable_tflops"]["matrix_bf16"])
        self.assertAlmostEqual(sim["BwPeakTBs"] * 1000, memory["mem_bw_gbps"])

    @unittest.skipUnless(importlib.util.find_spec("torch"), "this Python has no PyTorch")
    def test_pytorch_shows_a_kernel_beside_the_measured_peak(self):
        """A profile with one kernel that does 10% of the peak's FLOPs and half of the bytes in a second."""
        peaks = json.loads(export("tracelens", "--device", "gpu:0"))
        kernel = {"name": "a_kernel", "cat": "kernel", "ph": "X", "dur": 1e6,
                  "args": {"device": 0, "name": "a_kernel", "kernel_flop": peaks["max_achievable_tflops"]["matrix_bf16"] * 1e11, "kernel_num_gb": peaks["mem_bw_gbps"] / 2}}
        with tempfile.TemporaryDirectory() as place:
            trace = Path(place) / "trace.json"
            trace.write_text(json.dumps({"deviceProperties": [{"id": 0, "name": NAME}], "traceEvents": [kernel]}), encoding="utf-8")
            (Path(place) / "peaks.py").write_text(export("pytorch", "--device", "gpu:0"), encoding="utf-8")
            script = (f"import peaks, torch\nfrom torch._inductor.analysis.profile_analysis import JsonProfile\n"
                      f"profile = JsonProfile({str(trace)!r}, dtype=torch.bfloat16)\nprofile._compute_stats()\n"
                      f"stats, = profile._devices[0].stats['a_kernel']\nprint(stats.achieved_flops, stats.achieved_bandwidth)")
            done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=place)
        self.assertEqual(done.returncode, 0, done.stderr)
        flops, bandwidth = map(float, done.stdout.split()[-2:])
        self.assertAlmostEqual(flops, 10, places=6)
        self.assertAlmostEqual(bandwidth, 50, places=6)

    @unittest.skipUnless(importlib.util.find_spec("prometheus_client"), "this Python has no prometheus_client")
    def test_prometheus_client_reads_the_roofs(self):
        from prometheus_client.parser import text_string_to_metric_families

        families = {family.name: family for family in text_string_to_metric_families(export("prometheus"))}
        self.assertEqual({family.type for family in families.values()}, {"gauge"})
        memory, = (s.value for s in families["roof_bandwidth_bytes_per_second"].samples if s.labels["level"] == "DRAM" and s.labels["device"] == "gpu:0")
        self.assertAlmostEqual(memory / 1e9, json.loads(export("tracelens", "--device", "gpu:0"))["mem_bw_gbps"])

    @unittest.skipUnless(shutil.which("promtool"), "there is no promtool")
    def test_promtool_has_nothing_to_say(self):
        done = subprocess.run(["promtool", "check", "metrics"], input=export("prometheus"), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()

"""A peak asked for by a call: found, measured once, remembered for this machine, and said to be a lower bound."""

import math
import os
import subprocess
import sys
import tempfile
import unittest
from functools import lru_cache
from pathlib import Path
from unittest import mock

import roof
from roof import peaks

FAKE = """#!/bin/sh
echo "$*" >> $LOG
case "$1" in
  doctor) echo '{"machine": {"name": "m", "node": "n", "cpu_model": "x", "threads": 2, "versions": {"microcode": "'$MICROCODE'"},
    "identity": '${IDENTITY:-null}', "state": {"microcode": "'$MICROCODE'"},
    "devices": [{"name": "cpu", "kind": "cpu", "model": "x"}]}}' ;;
  calibrate) while [ "$1" != --out ]; do shift; done; sleep ${TAKES:-0}; mkdir -p "$2"; echo x > "$2/measurements.csv"; echo '{}' ;;
  place) if [ "$EMPTY" ]; then echo "roof: place: there is no calibration in here" >&2; exit 2; fi
    if [ "$KNOWN" = null ] && [ "$6" = --json ]; then echo "roof: place: this machine has no calibration yet" >&2; exit 2; fi
    echo '{"calibration": '$KNOWN', "quality": "a core was shared'$LEFT_OUT'", "roofs": [
      {"device": "cpu", "kind": "compute", "level": "core", "precision": "fp32", "median": 1e11, "low": 9e10, "high": 1.1e11, "steadiness": "steady",
       "stands_in": null},
      {"device": "cpu", "kind": "compute", "level": "core", "precision": "fp64", "median": 5e10, "low": 5e10, "high": null, "steadiness": "at least",
       "stands_in": "fma avx2 was not measured"},
      {"device": "cpu", "kind": "compute", "level": "core", "precision": "bf16", "median": 4e11, "low": 3e11, "high": null, "steadiness": "at least",
       "stands_in": null},
      {"device": "cpu", "kind": "compute", "level": "core", "precision": "int8", "median": 7e11, "low": null, "high": null, "steadiness": "at least",
       "stands_in": null},
      {"device": "cpu", "kind": "bandwidth", "level": "DRAM", "precision": null, "median": 1e10, "low": 9e9, "high": 1.1e10, "steadiness": "steady",
       "stands_in": null}]}' ;;
esac
"""


PUBLISHED = Path(__file__).resolve().parents[2] / "results/examples/intel-xeon-processor-family6-2cpu/2026-11-24T093310Z-1334ddf78021"
PROGRAM = os.environ["ROOF_PROGRAM"]


class Peaks(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        fake = self.folder / "roof"
        fake.write_text(FAKE, encoding="utf-8")
        fake.chmod(0o755)
        self.log = self.folder / "log"
        self.use(ROOF_PROGRAM=str(fake), LOG=str(self.log), XDG_CACHE_HOME=str(self.folder / "cache"), MICROCODE="1", KNOWN="null", LEFT_OUT="",
                 ROOF_CALIBRATION="")

    def use(self, **variables):
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)
        peaks._found.cache_clear()
        peaks._roofs.cache_clear()

    def calibrations(self):
        return [line for line in self.log.read_text(encoding="utf-8").splitlines() if line.startswith("calibrate")]

    def test_a_peak_is_the_roof_that_the_program_gives(self):
        self.assertEqual((1e11, 9e10, 1.1e11), (roof.peak("fp32", "cpu"), roof.peak("fp32", "cpu").low, roof.peak("fp32", "cpu").high))
        self.assertEqual("", roof.peak("fp32", "cpu").reason)
        self.assertEqual(1e10, roof.bandwidth("dram", "cpu"))
        self.assertEqual(0.25, roof.mfu(5e10, 2, "fp32", "cpu"))
        self.assertEqual(0.125, roof.mfu(5e10, 2, "fp32", "cpu", devices=2))

    def test_the_program_places_work_under_the_roof_whose_peak_it_gives(self):
        self.use(ROOF_PROGRAM=PROGRAM, ROOF_CALIBRATION=str(PUBLISHED))
        point = roof.place(1e12, 100, 1e9, device="cpu")
        self.assertEqual(("fp32", 1e12 / roof.peak("fp32", "cpu")), (point["binds"], point["attainable_s"]))

    def test_an_amount_that_is_not_above_zero_is_refused_in_one_sentence(self):
        for name, call in (("seconds", lambda x: roof.mfu(5e10, x, "fp32", "cpu")), ("flops", lambda x: roof.mfu(x, 1, "fp32", "cpu")),
                           ("devices", lambda x: roof.mfu(5e10, 1, "fp32", "cpu", devices=x)), ("seconds", lambda x: roof.place(1e9, x, device="cpu")),
                           ("flops", lambda x: roof.place(x, 1, device="cpu")), ("bytes", lambda x: roof.place(1e9, 1, x, device="cpu"))):
            for amount in (0, -2.5, math.nan, math.inf):
                with self.subTest(name=name, amount=amount), self.assertRaises(ValueError) as raised:
                    call(amount)
                self.assertEqual(f"{name} must be a number above 0, not {amount!r}", str(raised.exception))

    def test_a_lower_bound_says_so_with_its_reason(self):
        rate = roof.peak("bf16", "cpu")
        self.assertTrue(rate.is_lower_bound)
        self.assertEqual("at least: a core was shared", rate.reason)
        self.assertTrue(repr(rate).startswith(">= 4e+11"))

    def test_a_roof_that_stands_in_says_for_what(self):
        self.assertTrue(roof.peak("fp64", "cpu").is_lower_bound)
        self.assertEqual("at least: fma avx2 was not measured", roof.peak("fp64", "cpu").reason)

    def test_an_end_of_the_interval_that_one_sample_cannot_tell_is_not_a_number(self):
        self.assertTrue(math.isnan(roof.peak("int8", "cpu").low))

    def test_what_a_busy_machine_left_out_is_measured_again_by_a_later_call(self):
        self.use(LEFT_OUT=". 82 of 102 rows were not measured.")
        with self.assertRaisesRegex(ValueError, "measured: bf16, fp32, fp64, int8 .*; a core was shared. 82 of 102 rows were not measured"):
            roof.peak("fp8", "cpu")
        self.assertEqual(1, len(self.calibrations()))
        kept, = (self.folder / "cache/roof").iterdir()
        roof.peak("fp32", "cpu")
        self.assertEqual(1, len(self.calibrations()))
        os.utime(kept, (0, 0))  # not even its rate of fp32 is an answer for ever
        roof.peak("fp32", "cpu")
        self.assertEqual(2, len(self.calibrations()))
        self.use(LEFT_OUT="")
        os.utime(kept, (0, 0))
        roof.peak("fp32", "cpu")
        self.assertEqual(2, len(self.calibrations()))

    def test_a_probe_without_ceilings_is_not_kept_and_a_later_call_measures_again(self):
        self.use(EMPTY="1")
        for times in (1, 2):
            with self.assertRaisesRegex(RuntimeError, "measured no ceilings"):
                roof.peak("fp32", "cpu")
            self.assertEqual(times, len(self.calibrations()))
        self.assertEqual([], list((self.folder / "cache/roof").iterdir()))
        self.use(EMPTY="")
        self.assertEqual(1e11, roof.peak("fp32", "cpu"))

    def test_a_kept_probe_without_ceilings_is_replaced(self):
        roof.peak("fp32", "cpu")
        kept, = (self.folder / "cache/roof").iterdir()
        real = peaks._roofs.__wrapped__

        def broken(folder):
            if folder == str(kept) and len(self.calibrations()) == 1:
                raise RuntimeError("no calibration in there")
            return real(folder)

        self.use(KNOWN="null")
        with mock.patch.object(peaks, "_roofs", lru_cache(maxsize=None)(broken)):
            self.assertEqual(1e11, roof.peak("fp32", "cpu"))
        self.assertEqual(2, len(self.calibrations()))

    def test_of_processes_that_ask_at_once_one_measures(self):
        self.use(TAKES="0.5")
        ask = [sys.executable, "-c", "import roof; print(float(roof.peak('fp32', 'cpu')))"]
        asked = [subprocess.Popen(ask, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(4)]
        self.assertEqual(["100000000000.0\n"] * 4, [one.communicate(timeout=120)[0] for one in asked])
        self.assertEqual(1, len(self.calibrations()))

    def test_another_host_name_is_no_other_machine_and_another_quota_is(self):
        for identity, calibrations in (('{"host":"h","quota":"2"}', 1), ('{"host":"h","quota":"2"}', 1), ('{"host":"h","quota":"0.5"}', 2),
                                       ('{"host":"g","quota":"2"}', 3)):
            self.use(IDENTITY=identity)
            roof.peak("fp32", "cpu")
            self.assertEqual(calibrations, len(self.calibrations()))

    def test_a_share_above_the_peak_is_an_error_and_one_of_a_lower_bound_is_marked(self):
        with self.assertRaisesRegex(ValueError, "1.2e.11 FLOP/s of each device are above its peak in fp32"):
            roof.mfu(1.2e11, 1, "fp32", "cpu")
        with self.assertRaisesRegex(ValueError, "only a lower bound"):
            roof.mfu(5e11, 1, "bf16", "cpu")
        self.assertFalse(roof.mfu(5e10, 1, "fp32", "cpu").is_upper_bound)
        self.assertTrue(roof.mfu(2e11, 1, "bf16", "cpu").is_upper_bound)
        self.assertEqual(1.05, roof.mfu(1.05e11, 1, "fp32", "cpu"))  # within the interval of the peak

    def test_a_neighbour_that_is_damaged_does_not_stop_a_peak(self):
        fake = Path(os.environ["ROOF_PROGRAM"])
        fake.write_text(FAKE.replace("there is no calibration in here", "damaged: x").replace('"$EMPTY"', '"$6" = --json'), encoding="utf-8")
        self.assertEqual(1e11, roof.peak("fp32", "cpu"))

    def test_it_is_measured_once_and_again_for_another_machine(self):
        roof.peak("fp32", "cpu")
        peaks._found.cache_clear()
        roof.peak("bf16", "cpu")
        self.assertEqual(1, len(self.calibrations()))
        self.assertIn("--plan calibrate/cpu-peak --threads 2", self.calibrations()[0])
        self.use(MICROCODE="2")
        roof.peak("fp32", "cpu")
        self.assertEqual(2, len(self.calibrations()))

    def test_a_full_calibration_of_this_machine_is_taken_and_one_of_another_microcode_or_a_quick_one_is_not(self):
        known = self.folder / "known"
        known.mkdir()
        (known / "plan.yaml").write_text("name: cpu\n", encoding="utf-8")
        (known / "machine.yaml").write_text('name: m\ncpu_model: x\nthreads: 2\nversions:\n  microcode: "1"\n', encoding="utf-8")
        self.use(KNOWN=f'"{known}"')
        self.assertEqual(str(known), roof.peak("fp32", "cpu").source)
        self.assertEqual([], self.calibrations())
        self.use(MICROCODE="2")
        self.assertNotEqual(str(known), roof.peak("fp32", "cpu").source)
        self.use(MICROCODE="1", XDG_CACHE_HOME=str(self.folder / "other"))
        (known / "plan.yaml").write_text("name: cpu-quick\nquick: true\n", encoding="utf-8")
        self.assertNotEqual(str(known), roof.peak("fp32", "cpu").source)

    def test_the_calibration_of_the_environment_goes_first(self):
        self.use(ROOF_CALIBRATION="/mine")
        self.assertEqual("/mine", roof.peak("fp32", "cpu").source)

    def test_what_was_not_measured_is_named_with_what_was(self):
        with self.assertRaisesRegex(ValueError, "precision 'fp8' was not measured on cpu; measured: bf16, fp32, fp64, int8"):
            roof.peak("fp8", "cpu")


if __name__ == "__main__":
    unittest.main()

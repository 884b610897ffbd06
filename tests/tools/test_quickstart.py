"""tools/quickstart: a report whenever steps were measured, whatever the status of the calibration. Stubs replace cmake and roof."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Notes its subcommand, and ends with the status that the environment gives it.
ROOF = """\
#!/bin/sh
echo "$1" >> "$STUB_LOG"
case "$1" in
    calibrate) exit "$STUB_CALIBRATE" ;;
    sweep) echo "the verdict of the sweep"; echo results/made; exit "$STUB_SWEEP" ;;
    report) echo "the verdict of the report"; echo results/made/report.html ;;
esac
"""


class Quickstart(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        for name in ("quickstart", "stages.bash"):
            self.place(f"tools/{name}", (ROOT / "tools" / name).read_text(encoding="utf-8"))
        for name in ("tools/install_dependencies", "bin/cmake", "build/bin/roof-make-images"):
            self.place(name, "#!/bin/sh\n")
        self.place("build/bin/roof", ROOF)
        self.place("configs/run/quickstart.yaml", "")

    def place(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def run_with(self, calibrate, sweep):
        """The status, the subcommands of roof that ran, and standard output."""
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}", STUB_LOG=str(log),
                           STUB_CALIBRATE=str(calibrate), STUB_SWEEP=str(sweep))
        done = subprocess.run([shutil.which("bash"), self.folder / "tools/quickstart"], env=environment, text=True,
                              capture_output=True, check=False, timeout=60)
        return done.returncode, log.read_text(encoding="utf-8").split(), done.stdout

    def test_a_failed_calibration_still_gives_a_report_and_the_status_of_the_steps(self):
        for calibrate in (0, 1, 2, 139):
            with self.subTest(calibrate=calibrate):
                status, ran, said = self.run_with(calibrate, 0)
                self.assertEqual((0, ["doctor", "calibrate", "sweep", "report"]), (status, ran))
                self.assertTrue(said.endswith(f"report: {self.folder}/results/made/report.html\n"), said)

    def test_a_failed_step_gives_a_report_and_status_1(self):
        status, ran, said = self.run_with(0, 1)
        self.assertEqual((1, "report"), (status, ran[-1]))
        self.assertIn("the verdict of the report", said)

    def test_an_interrupted_calibration_ends_it(self):
        self.assertEqual((130, ["doctor", "calibrate"]), self.run_with(130, 0)[:2])

    def test_a_sweep_that_measured_nothing_has_no_report(self):
        self.assertEqual((2, ["doctor", "calibrate", "sweep"]), self.run_with(0, 2)[:2])


if __name__ == "__main__":
    unittest.main()

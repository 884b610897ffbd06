"""The scripts that `roof fleet script` prints, run with stand-ins for Slurm, PBS, GNU parallel and ssh.

A stand-in knows the nodes n1 to n4, of which n3 is down. What it is called with, and the jobs that wait, are files in one folder.
`tests/cluster` runs the Slurm script on a real Slurm.
"""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOF = os.environ["ROOF_PROGRAM"]

COMMON = """#!/usr/bin/env bash
set -eu
place=$(dirname "$0")
echo "$(basename "$0") $*" >> "$place/calls"
"""

PROGRAMS = {
    # Leaves a digest; on a node that the file `broken` names it fails.
    "roof": """
while [ $# -gt 0 ]; do case $1 in --node) node=$2 ;; --out) out=$2 ;; esac; shift; done
if grep -qsx "$node" "$place/broken"; then exit 1; fi
mkdir -p "$out" && printf 'fact,node,%s,\\nend,,1,\\n' "$node" > "$out/digest.csv"
""",
    "sinfo": 'printf "n1 idle\\nn1 idle\\nn2 mixed\\nn3 down*\\nn4 idle\\n"',
    "squeue": 'cat "$place"/waiting/* 2> /dev/null || true',
    "sbatch": 'cat > "$place/script"; mkdir -p "$place/waiting"; echo 7',
    "scancel": 'rm -f "$place/waiting/$1"',
    "scontrol": """
case $1 in
  show) echo "MaxArraySize            = $(cat "$place/largest" 2> /dev/null || echo 1001)" ;;
  update) echo "${3#*=}" > "$place/waiting/${2#*=}" ;;
  release)
    if [ -e "$place/busy" ]; then exit 0; fi
    for task in "$place"/waiting/*; do SLURMD_NODENAME=$(cat "$task") sh "$place/script" || true; rm "$task"; done ;;
esac
""",
    "pbsnodes": """
for node in "n1 free" "n2 job-busy" "n3 down,offline" "n4 free"; do
  printf "%s\\n     Mom = %s\\n     state = %s\\n\\n" "${node% *}" "${node% *}" "${node#* }"
done
""",
    "qsub": """
job=$(($(cat "$place/last" 2> /dev/null || echo 0) + 1)); echo $job > "$place/last"
mkdir -p "$place/waiting"; touch "$place/waiting/$job.server"
cat > "$place/script"
if [ ! -e "$place/busy" ]; then sh "$place/script" > /dev/null || true; rm "$place/waiting/$job.server"; fi
echo "$job.server"
""",
    "qstat": '[ -e "$place/waiting/$1" ]',
    "ssh": """
shift 2; node=$1; shift
case $node in n1 | n2 | n4) sh -c "$*" ;; *) echo "ssh: $node: not known" >&2; exit 255 ;; esac
""",
    "parallel": """
while [ "$1" != "${1#--}" ]; do shift 2; done
command=$1; shift 2; failed=0
for node in "$@"; do sh -c "${command//\\{\\}/$node}" || failed=$((failed + 1)); done
exit $failed
""",
}


class Printed_scripts(unittest.TestCase):
    def setUp(self):
        self.place = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.place)
        for name, text in PROGRAMS.items():
            path = self.place / name
            path.write_text(COMMON + text, encoding="utf-8")
            path.chmod(0o755)
        self.results = self.place / "results"

    def script(self, engine, *options):
        return subprocess.run([ROOF, "fleet", "script", engine, "--out", str(self.results), *options], capture_output=True, text=True,
                              check=True).stdout

    def run_script(self, engine, *options, status=0):
        """What it says, and the nodes that were handed to the engine in this run."""
        (self.place / "calls").write_text("", encoding="utf-8")
        done = subprocess.run(["bash", "-c", self.script(engine, *options)], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{self.place}:{os.environ['PATH']}"})
        self.assertEqual(status, done.returncode, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def calls(self, program):
        lines = (self.place / "calls").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.split()[0] == program]

    def measured(self):
        return sorted(str(path.parent.relative_to(self.results)) for path in self.results.glob("**/digest.csv"))

    def test_slurm_measures_what_it_can_and_names_the_others(self):
        said = self.run_script("slurm", "--nodes", "n77,n[1-4]", "--at-once", "2", "--minutes", "5")
        self.assertEqual(["n1", "n2", "n4"], self.measured())
        self.assertIn("n77: left out, Slurm does not know it", said)
        self.assertIn("n3: left out, it is down*", said)
        call, = self.calls("sbatch")
        for option in ("--array=1-3%2", "--exclusive", "--mem=0", "--time=5", "--hold"):
            self.assertIn(option, call.split())
        self.assertEqual([], self.calls("scancel"))
        self.run_script("slurm", "--nodes", "n77,n[1-4]")
        self.assertEqual([], self.calls("sbatch"), "a second run submits jobs")

    def test_slurm_submits_again_only_what_lacks_a_digest_and_a_job(self):
        (self.place / "broken").write_text("n2\n", encoding="utf-8")
        self.run_script("slurm", "--nodes", "n[1-2]")
        (self.place / "busy").touch()
        self.assertIn("1 nodes", self.run_script("slurm", "--nodes", "n[1-2]"))
        self.run_script("slurm", "--nodes", "n[1-2]")
        self.assertEqual([], self.calls("sbatch"), "a waiting job is submitted again")
        self.assertIn("1 nodes", self.run_script("slurm"))
        self.assertIn("--array=1-1%20", self.calls("sbatch")[0])  # n4, of all that sinfo lists

    def test_slurm_keeps_to_the_largest_array(self):
        (self.place / "largest").write_text("3", encoding="utf-8")
        self.assertIn("2 of 3 nodes", self.run_script("slurm", "--nodes", "n[1,2,4]"))
        self.assertEqual(["n1", "n2"], self.measured())
        self.run_script("slurm", "--nodes", "n[1,2,4]")
        self.assertEqual(["n1", "n2", "n4"], self.measured())

    def test_each_device_has_a_folder_and_a_node_is_done_with_all_of_them(self):
        self.run_script("slurm", "--nodes", "n1", "--device", "cpu,gpu")
        self.assertEqual(["n1/cpu", "n1/gpu"], self.measured())
        self.assertEqual(["roof calibrate --device cpu --node n1", "roof calibrate --device gpu --side-by-side --node n1"],
                         [call.partition(" --out")[0] for call in self.calls("roof")])
        (self.results / "n1/gpu/digest.csv").unlink()
        self.run_script("slurm", "--nodes", "n1", "--device", "cpu,gpu")
        self.assertEqual(2, len(self.calls("roof")))

    def test_pbs_measures_what_it_can_and_names_the_others(self):
        said = self.run_script("pbs", "--nodes", "n77,n[1-4]", "--minutes", "90")
        self.assertEqual(["n1", "n2", "n4"], self.measured())
        self.assertIn("n77: left out, PBS does not know it", said)
        self.assertIn("n3: left out, it is down,offline", said)
        self.assertIn("-l select=1:host=n1 -l place=excl -l walltime=01:30:00", self.calls("qsub")[0])
        self.run_script("pbs", "--nodes", "n77,n[1-4]")
        self.assertEqual([], self.calls("qsub"), "a second run submits jobs")

    def test_pbs_submits_no_more_than_may_wait_and_the_others_in_the_next_run(self):
        (self.place / "busy").touch()
        self.assertIn("2 jobs wait or run, 1 nodes are left", self.run_script("pbs", "--at-once", "2"))
        self.assertEqual(2, len(self.calls("qsub")))
        self.run_script("pbs", "--at-once", "2")
        self.assertEqual([], self.calls("qsub"), "waiting jobs are submitted again")
        for job in (self.place / "waiting").iterdir():  # they ended, without digests
            job.unlink()
        (self.place / "busy").unlink()
        self.assertIn("0 nodes are left", self.run_script("pbs"))
        self.assertEqual(["n1", "n2", "n4"], self.measured())

    def test_parallel_goes_on_after_a_node_that_does_not_answer(self):
        said = self.run_script("parallel", "--nodes", "n77,n[1-3]", status=2)
        self.assertIn("n77: not known", said)
        self.assertEqual(["n1", "n2"], self.measured())
        self.run_script("parallel", "--nodes", "n[1-2]")
        self.assertEqual([], self.calls("ssh"))

    @unittest.skipIf(shutil.which("shellcheck") is None, "shellcheck is not installed")
    def test_shellcheck_has_nothing_to_say(self):
        for engine in ("slurm", "pbs", "parallel"):
            for options in (["--nodes", "n[1-2]"], ["--nodes", "n[1-2]", "--device", "cpu,gpu"]):
                done = subprocess.run(["shellcheck", "-"], input=self.script(engine, *options), capture_output=True, text=True, check=False)
                self.assertEqual("", done.stdout)


if __name__ == "__main__":
    unittest.main()

"""Runs the program in a folder of its own, with what an environment, a shim, a wrapper or a closed stream does to it, and judges what every
answer has to be: no signal, no words of a library, and JSON where JSON was asked for."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONGEST, ASLEEP = 300, 60  # seconds of processor time, and of sleep of all threads: a busy machine makes neither longer
RAW = re.compile(r"filesystem error|json\.exception|terminate called|unexpected: |Traceback|what\(\)")
CLEAN = re.compile(r"OMP_|GOMP_|KMP_|MKL_|HWLOC_|ONEDNN_|DNNL_|ROOF_|LC_|LANG|SLURM|PMI|OMPI|XDG_|LD_PRELOAD|TMPDIR|TERM$|COLUMNS")


class Skip(Exception):
    """This machine cannot make the situation."""


class Wrong(Exception):
    """What was seen is not what is promised."""


def must(holds, *why):
    if not holds:
        raise Wrong(" ".join(str(one) for one in why)[:2000])


def activity(root):
    """Seconds of processor time of a process and its descendants, and whether a thread of them runs, or waits for a processor or a disk."""
    stats = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            stats[int(file.parent.name)] = file.read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
    tree, added = set(), {root}
    while added:
        tree |= added
        added = {process for process, stat in stats.items() if int(stat[1]) in added} - tree
    ticks = sum(sum(map(int, stats[one][11:15])) for one in tree & stats.keys())
    threads = (thread for one in tree for thread in Path(f"/proc/{one}/task").glob("*/stat"))
    try:
        runs = any(thread.read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()[0] in "RD" for thread in threads)
    except OSError:
        runs = True  # one has just ended
    return ticks / os.sysconf("SC_CLK_TCK"), runs


def ends(process, until=None):
    """What it says until it ends; None as soon as `until` holds. Raises Wrong where it is stuck."""
    step, seconds, slept = (0.2 if until else 1), 0, 0
    while not (until and until()):
        try:
            return process.communicate(timeout=step)
        except subprocess.TimeoutExpired:
            before, (seconds, runs) = seconds, activity(process.pid)
            slept = 0 if runs or seconds != before else slept + step
            if seconds > LONGEST or slept > ASLEEP:
                process.kill()
                raise Wrong(f"{process.args} does not end: {seconds:.0f} s of processor time, the last {slept:.0f} s asleep") from None
    return None


class Jail:
    def __init__(self, roof, lack, python=None):
        self.roof_path, self.lack_path, self.python_path = Path(roof).resolve(), Path(lack).resolve(), python
        self.folder = Path(tempfile.mkdtemp(prefix="situation-"))
        self.folder.chmod(0o755)
        self.runs = 0

    def close(self):
        subprocess.run(["chmod", "-R", "u+rwx", self.folder], check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, more):
        clean = {name: value for name, value in os.environ.items() if not CLEAN.match(name)}
        path = f"{Path(sys.executable).parent}:{clean['PATH']}"  # a script in the place of python3 would answer in its own words
        environment = {**clean, "PATH": path, "HOME": str(self.folder), "LC_ALL": "C.UTF-8", **(more or {})}
        return {name: value for name, value in environment.items() if value is not None}

    def lacking(self, what):
        return {"LD_PRELOAD": str(self.lack_path), "ROOF_LACKS": what}

    def run(self, words, env=None, wrapper=(), lacks=None, raw=False, **how):
        """Of any program. `env`: more variables; None takes one away. `wrapper`: words before. `raw`: signals and words of libraries may be."""
        environment = self.environment({**(self.lacking(lacks) if lacks else {}), **(env or {})})
        how = {"cwd": self.folder, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **how}
        done = subprocess.Popen([*wrapper, *words], env=environment, **how)
        done.out, done.err = ((text or b"").decode("utf-8", "replace") for text in ends(done))
        if not raw:
            must(done.returncode >= 0, words, "was ended by signal", -done.returncode, done.err)
            must(not RAW.search(done.out + done.err), words, "said", done.out[-500:] + done.err[-500:])
        return done

    def roof(self, *words, **how):
        done = self.run([self.roof_path, *words], **how)
        if "--json" in words and done.returncode == 0 and how.get("stdout", subprocess.PIPE) == subprocess.PIPE:
            try:
                done.json = json.loads(done.out)
            except ValueError as error:
                raise Wrong(f"roof {words} --json: no JSON ({error}): {done.out[:300]}") from error
        return done

    def fine(self, *words, **how):
        done = self.roof(*words, **how)
        must(done.returncode == 0, words, "has status", done.returncode, done.err)
        return done

    def machine(self, **how):
        """What the program says of the machine, without what changes from run to run."""
        machine = self.fine("doctor", "--json", **how).json["machine"]
        for device in machine["devices"]:
            device.pop("memory_available", None)
            device.pop("memory_available_bytes", None)
        return machine

    def new_folder(self):
        self.runs += 1
        return self.folder / f"run{self.runs}"

    def step(self, plan=HERE / "plan.yaml", **how):
        """The row of a small training step, its losses, and the run."""
        folder = self.new_folder()
        done = self.roof("sweep", plan, "--out", folder, **how)
        rows = read(folder / "measurements.csv")
        losses = [sample["loss"] for sample in read(folder / "samples.csv")]
        return (rows[0] if rows else None), losses, done

    def program(self, name, source, *options):
        """A program or a shared object written in C; skips without a compiler."""
        if not shutil.which("cc"):
            raise Skip("there is no cc")
        file = self.folder / name
        if not file.exists():
            Path(f"{file}.c").write_text(source, encoding="utf-8")
            subprocess.run(["cc", "-o", file, f"{file}.c", *options], check=True, capture_output=True)
        return file


def read(file):
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    return list(csv.DictReader(text[:text.rfind("\n") + 1].splitlines()))

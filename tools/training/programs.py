"""The two programs that are compared, run and asked: `roof run`, and PyTorch by tools/peers/torch_step.py."""

import csv
import json
import os
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

PEERS = Path(__file__).resolve().parents[1] / "peers"

# Without these glibc gives the activations back after each step and faults them in again, in small pages.
ALLOCATOR = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "MALLOC_TRIM_THRESHOLD_": "20000000000",
             "MALLOC_MMAP_THRESHOLD_": "20000000000", "MALLOC_TOP_PAD_": "268435456"}


class NotMeasured(Exception):
    """A program that did not answer; the reason is its message."""


def openmp(threads):
    """The same for both programs. Binding threads to cores is left out: it gains nothing on a quiet machine, and on a shared one
    a step then waits for whatever else its core is given to."""
    return {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}


# ------------------------------------------------------------------------------------------------------------- PyTorch

class Torch:
    """A PyTorch process with one network, which waits between requests."""

    def __init__(self, options, python, model, batch, precision, variant):
        threads = options.threads
        command = shlex.split(python) + [str(PEERS / "torch_step.py"), "--model", model, "--batch", str(batch), "--precision",
                                         precision, "--threads", str(threads), "--warmup", "1", *torch_device(options), *variant]
        self.complaints = tempfile.TemporaryFile("w+")
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=self.complaints, text=True,
                                            env={**os.environ, **ALLOCATOR, **openmp(threads)})
        except OSError as error:
            raise NotMeasured(f"{command[0]}: {error.strerror}") from error
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.complaints.seek(0)
            reason = self.complaints.read().strip().splitlines() or ["no message"]
            raise NotMeasured(f"PyTorch ended: {reason[-1]}")
        return json.loads(line)

    def steps(self, count):
        """{"seconds": [...], "peak_memory_bytes": ...}"""
        try:
            self.process.stdin.write(f"{count}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer says why
        return self.answer()

    def note(self):
        compiled = (", compiled" if self.about["compiled"] else "") + (", CUDA graph" if self.about.get("graph") else "")
        return f"torch {self.about['torch']}, {self.about['layout']}{compiled}, {self.about['sgd']} SGD"

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()
        self.process.stdout.close()
        self.complaints.close()


def on_gpu(options):
    return options.device.startswith("gpu")


def torch_device(options):
    return ("--device", "cuda") if on_gpu(options) else ()


class Choice:
    """PyTorch at its best: of Pythons, layouts, CUDA graphs and torch.compile, whichever is the fastest. What lost clearly at one batch of
    a network and precision is not tried at the next ones, and torch.compile no more once it lost at all."""

    HOPELESS = 1.15

    def __init__(self, options):
        self.options = options
        self.lost = set()
        self.last = {}

    def variants(self, model, precision):
        """(python, arguments) of those without torch.compile that are still in question."""
        ways = [("--layout", layout) for layout in ("channels_last", "contiguous")]
        if on_gpu(self.options):
            ways += [(*way, "--graph") for way in ways]
        found = [(python, way) for python in self.options.python for way in ways]
        return [variant for variant in found if (model, precision, variant) not in self.lost]

    def compiled(self, model, precision, best):
        """The way of `best`, compiled, for each Python."""
        way = tuple(word for word in best[1] if word != "--compile")
        plain = tuple(word for word in way if word != "--graph")
        ways = {(*way, "--compile"), (*plain, "--compile")}
        found = [(python, way) for python in self.options.python for way in sorted(ways)] if self.options.compile else []
        return [variant for variant in found if (model, precision, variant) not in self.lost]

    def known(self, model, batch, precision):
        """The variant that was the best at the last batch tried, running; None if there is none."""
        variant = self.last.get((model, precision))
        return variant and Torch(self.options, variant[0], model, batch, precision, variant[1])

    def fastest(self, model, batch, precision, trial_steps, say):
        """The variant with the least median in a short trial, still running, and that median. Throws NotMeasured with the
        first reason there was."""
        best, times, reasons = None, {}, []

        def attempt(variant):
            nonlocal best
            say(f"trying PyTorch {' '.join(variant[1])} of {variant[0]}")
            try:
                torch = Torch(self.options, variant[0], model, batch, precision, variant[1])
                times[variant] = statistics.median(torch.steps(trial_steps)["seconds"])
            except (NotMeasured, OSError) as error:
                reasons.append(str(error))
                self.lost.add((model, precision, variant))
                return
            if times[variant] == min(times.values()):
                torch, best = best, torch
            if torch:
                torch.close()

        for variant in self.variants(model, precision):
            attempt(variant)
        plain = min(times, key=times.get) if times else self.last.get((model, precision))
        for variant in self.compiled(model, precision, plain) if plain else ():
            attempt(variant)
        if best is None:
            raise NotMeasured(reasons[0] if reasons else "PyTorch failed at a smaller batch")
        least = min(times.values())
        self.last[model, precision] = min(times, key=times.get)
        for variant, seconds in times.items():
            if seconds > least * (1 if "--compile" in variant[1] else self.HOPELESS):
                self.lost.add((model, precision, variant))
        return best, least


# ---------------------------------------------------------------------------------------------------------------- roof

def our_device(options):
    return ("--device", options.device) if on_gpu(options) else ("--threads", str(options.threads))


def run_roof(options, row, steps, folder, *more):
    """Our round: (seconds of each timed step, peak memory in bytes, of the process or as planned on a GPU, the row that `roof` printed). The first
    step is not timed. Throws NotMeasured."""
    command = shlex.split(options.roof) + ["run", row.model, "--batch", str(row.batch), "--precision", row.precision,
                                           "--algorithm", row.algorithm, *our_device(options), "--steps", str(steps + 1),
                                           "--json", "--out", str(folder), *more]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(command, stdout=out, stderr=err,
                              env={**os.environ, **openmp(options.threads)}) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        printed, complaints = out.read(), err.read()
    if process.returncode != 0:
        reason = (complaints.strip() or printed.strip() or "no message").splitlines()[-1]
        raise NotMeasured(f"roof ended with status {process.returncode}: {reason}")
    answer = json.loads(printed)["rows"][0]
    if answer["status"] != "ok":
        raise NotMeasured(f"{answer['status']}: {answer['reason']}")
    with open(Path(folder) / "samples.csv", newline="", encoding="utf-8") as file:
        seconds = tuple(float(line["launch_s"]) for line in csv.DictReader(file) if line["used"] == "1")
    memory = answer["peak_memory_bytes"] if on_gpu(options) else usage.ru_maxrss * 1024
    return seconds, memory, answer


def placement(options, folder):
    """(fraction reached, what binds) of the step in that folder; empty without a calibration."""
    if not options.calibration:
        return "", ""
    tables = Path(folder) / "tables"
    command = shlex.split(options.roof) + ["report", str(folder), "--calibration", options.calibration, "--brief",
                                           "--out", str(Path(folder) / "report.html"), "--data", str(tables)]
    subprocess.run(command, capture_output=True, check=False)
    try:
        with open(tables / "placements.csv", newline="", encoding="utf-8") as file:
            step = next(line for line in csv.DictReader(file) if line["scope"] == "step")
        return float(step["fraction_reached"]), step["binds"]
    except (OSError, StopIteration, ValueError, KeyError):
        return "", ""

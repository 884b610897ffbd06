"""Runs the two programs that are compared: `roof run`, and PyTorch with tools/peers/torch_step.py."""

import json
import os
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

import pages
from measuring import NotMeasured, last_line

PEERS = Path(__file__).resolve().parents[1] / "peers"

# Without these, glibc returns the activations to the kernel after each step and faults them in again as small pages.
ALLOCATOR = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "MALLOC_TRIM_THRESHOLD_": "20000000000",
             "MALLOC_MMAP_THRESHOLD_": "20000000000", "MALLOC_TOP_PAD_": "268435456"}


def openmp(threads):
    """Environment of both programs. Threads are not bound to cores: that gains nothing on a quiet machine, and on a shared one a
    step waits for other programs on its core."""
    return {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}


# ------------------------------------------------------------------------------------------------------------- PyTorch

class Torch:
    """A PyTorch process with one network; it waits for requests."""

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
            raise NotMeasured(f"PyTorch ended: {last_line(self.complaints.read())}")
        return json.loads(line)

    def steps(self, count):
        """{"seconds": [...], "peak_memory_bytes": ...}"""
        try:
            self.process.stdin.write(f"{count}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # answer() raises with the reason
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
    """The fastest variant of PyTorch among Pythons, layouts, CUDA graphs and torch.compile. A variant that is clearly slower at one batch of
    a network and precision is not tried at later ones; torch.compile is dropped after one loss."""

    GIVE_UP_FACTOR = 1.15

    def __init__(self, options):
        self.options = options
        self.lost = set()
        self.last = {}

    def variants(self, model, precision):
        """(python, arguments) of the remaining variants without torch.compile."""
        variants = [("--layout", layout) for layout in self.options.layouts.split(",")]
        if on_gpu(self.options):
            variants += [(*variant, "--graph") for variant in variants]
        found = [(python, variant) for python in self.options.python for variant in variants]
        return [variant for variant in found if (model, precision, variant) not in self.lost]

    def compiled(self, model, precision, best):
        """The variant `best` with torch.compile, for each Python."""
        arguments = tuple(word for word in best[1] if word != "--compile")
        plain = tuple(word for word in arguments if word != "--graph")
        variants = {(*arguments, "--compile"), (*plain, "--compile")}
        found = [(python, variant) for python in self.options.python for variant in sorted(variants)] if self.options.compile else []
        return [variant for variant in found if (model, precision, variant) not in self.lost]

    def known(self, model, batch, precision):
        """A process with the best variant of the last batch tried; None without one."""
        variant = self.last.get((model, precision))
        return variant and Torch(self.options, variant[0], model, batch, precision, variant[1])

    def fastest(self, model, batch, precision, trial_steps, say):
        """The process with the least median in a short trial, still running, and that median. Raises NotMeasured with the first
        reason."""
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
            if seconds > least * (1 if "--compile" in variant[1] else self.GIVE_UP_FACTOR):
                self.lost.add((model, precision, variant))
        return best, least


# ---------------------------------------------------------------------------------------------------------------- roof

def our_device(options):
    return ("--device", options.device) if on_gpu(options) else ("--threads", str(options.threads))


def network_of(options, model):
    """What roof is given to run: a name, or the ONNX file of that name."""
    file = options.networks and options.networks / f"{model}.onnx"
    return str(file) if file and file.is_file() else model


def run_roof(options, row, steps, folder, *more, cache=None):
    """One round of ours: (seconds of each timed step, peak memory in bytes, the row that `roof` printed). The memory is that of the process;
    on a GPU, the planned one. The first step is not timed. `cache`: the folder of its choices, if not the user's. Raises NotMeasured."""
    command = shlex.split(options.roof) + ["run", network_of(options, row.model), "--batch", str(row.batch), "--precision", row.precision,
                                           "--algorithm", row.algorithm, *our_device(options), "--steps", str(steps + 1),
                                           "--json", "--out", str(folder), *more]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(command, stdout=out, stderr=err,
                              env={**os.environ, **openmp(options.threads), **({"XDG_CACHE_HOME": str(cache)} if cache else {})}) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        printed, complaints = out.read(), err.read()
    if process.returncode != 0:
        raise NotMeasured(f"roof ended with status {process.returncode}: {last_line(complaints, printed)}")
    answer = json.loads(printed)["rows"][0]
    if answer["status"] != "ok":
        raise NotMeasured(f"{answer['status']}: {answer['reason']}")
    seconds = tuple(float(line["launch_s"]) for line in pages.rows(Path(folder) / "samples.csv") if line["used"] == "1")
    memory = answer["peak_memory_bytes"] if on_gpu(options) else usage.ru_maxrss * 1024
    return seconds, memory, answer


def placement(options, folder):
    """(share of attainable, bottleneck) of the step in that folder; empty without a calibration."""
    if not options.calibration:
        return "", ""
    tables = Path(folder) / "tables"
    command = shlex.split(options.roof) + ["report", str(folder), "--calibration", options.calibration, "--brief",
                                           "--out", str(Path(folder) / "report.html"), "--data", str(tables)]
    subprocess.run(command, capture_output=True, check=False)
    try:
        step = next(line for line in pages.rows(tables / "placements.csv") if line["scope"] == "step")
        return float(step["share_of_attainable"]), step["binds"]
    except (StopIteration, ValueError, KeyError):
        return "", ""

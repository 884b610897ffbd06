"""Runs the two programs that are compared: `roof run`, and PyTorch with tools/peers/torch_step.py."""

import json
import os
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

import pages
from measuring import Failed, last_line, run

#: Seconds of a step above which no variants of PyTorch are tried.
SLOW = 2.0

PEERS = Path(__file__).resolve().parents[1] / "peers"

# Without these, glibc returns the activations to the kernel after each step and faults them in again as small pages.
ALLOCATOR = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "MALLOC_TRIM_THRESHOLD_": "20000000000",
             "MALLOC_MMAP_THRESHOLD_": "20000000000", "MALLOC_TOP_PAD_": "268435456"}


def openmp(threads):
    """Environment of both programs. Threads are not bound to cores: that gains nothing on a quiet machine, and on a shared one a
    step waits for other programs on its core."""
    return {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}


# ------------------------------------------------------------------------------------------------------------- PyTorch

def torch_step(options, python, model, batch):
    return [*shlex.split(python), str(PEERS / "torch_step.py"), "--model", model, "--batch", str(batch), "--threads", str(options.threads)]


class Torch:
    """A PyTorch process with one network; it waits for requests."""

    def __init__(self, options, python, model, batch, precision, variant):
        command = [*torch_step(options, python, model, batch), "--precision", precision, "--warmup", "1", *torch_device(options), *variant]
        self.complaints = tempfile.TemporaryFile("w+")
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.complaints, text=True,
                                            env={**os.environ, **ALLOCATOR, **openmp(options.threads)})
        except OSError as error:
            raise Failed(f"{command[0]}: {error.strerror}") from error
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.complaints.seek(0)
            raise Failed(f"PyTorch ended: {last_line(self.complaints.read())}")
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
        mode = self.about["compiled"]
        words = [f"torch {self.about['torch']}", self.about["layout"], "eager" if not mode else f"compiled with its loss ({mode})",
                 "padded vocabulary" if self.about.get("padded") else "", "CUDA graph" if self.about.get("graph") else "", self.about["optimizer"]]
        return ", ".join(filter(None, words))

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

    def __init__(self, options, say=lambda text: None):
        self.options = options
        self.say = say
        self.lost = set()
        self.last = {}  #: the fastest variant of a network and precision at the last batch, that batch and the seconds of a step

    def variants(self, model, precision):
        """(python, arguments) of the remaining variants without torch.compile."""
        variants = [("--layout", layout) for layout in self.options.layouts.split(",")]
        if on_gpu(self.options):
            variants += [(*variant, "--graph") for variant in variants]
        found = [(python, variant) for python in self.options.python for variant in variants]
        return [variant for variant in found if (model, precision, variant) not in self.lost]

    def compiled(self, model, precision, best):
        """The variant `best` with torch.compile of network and loss in each mode, for each Python; on a GPU GPT-2 has a padded vocabulary, too.
        max-autotune captures CUDA graphs by itself."""
        arguments = best[1][:best[1].index("--compile")] if "--compile" in best[1] else best[1]
        plain = tuple(word for word in arguments if word != "--graph")
        variants = {(*plain, "--compile"): 0, (*arguments, "--compile"): 0, (*plain, "--compile", "max-autotune"): 0}
        if on_gpu(self.options) and "@" in model and "/" not in model:
            variants |= {(*variant, "--padded"): 0 for variant in variants}
        found = [(python, variant) for python in self.options.python for variant in variants] if self.options.compile else []
        return [variant for variant in found if (model, precision, variant) not in self.lost]

    def start(self, model, batch, precision):
        """A process with the fastest variant, and the seconds of its step. Where a step is slow, that is the variant of the batch before."""
        variant, smaller, seconds = self.last.get((model, precision), (None, 1, 0))
        seconds *= batch / smaller
        if seconds > SLOW:
            return self.torch(variant, model, batch, precision), seconds
        return self.fastest(model, batch, precision, 3 if seconds < 0.5 else 1)

    def torch(self, variant, model, batch, precision):
        return Torch(self.options, variant[0], model, batch, precision, variant[1])

    def fastest(self, model, batch, precision, trial_steps):
        """The process with the least median in a short trial, still running, and that median. Raises Failed with the first
        reason."""
        best, times, reasons = None, {}, []

        def attempt(variant):
            nonlocal best
            self.say(f"trying PyTorch {' '.join(variant[1])} of {variant[0]}")
            try:
                torch = self.torch(variant, model, batch, precision)
                times[variant] = statistics.median(torch.steps(trial_steps)["seconds"])
            except (Failed, OSError) as error:
                reasons.append(str(error))
                self.lost.add((model, precision, variant))
                return
            if times[variant] == min(times.values()):
                torch, best = best, torch
            if torch:
                torch.close()

        for variant in self.variants(model, precision):
            attempt(variant)
        plain = min(times, key=times.get) if times else self.last.get((model, precision), (None,))[0]
        for variant in self.compiled(model, precision, plain) if plain else ():
            attempt(variant)
        if best is None:
            raise Failed(reasons[0] if reasons else "PyTorch failed at a smaller batch")
        fastest = min(times, key=times.get)
        self.last[model, precision] = fastest, batch, times[fastest]
        for variant, seconds in times.items():
            if seconds > times[fastest] * (1 if "--compile" in variant[1] else self.GIVE_UP_FACTOR):
                self.lost.add((model, precision, variant))
        return best, times[fastest]


# ---------------------------------------------------------------------------------------------------------------- roof

def our_device(options):
    return ("--device", options.device) if on_gpu(options) else ("--threads", str(options.threads))


def network_of(options, model):
    """What roof is given to run: a name, or the ONNX file of that name."""
    file = options.networks and options.networks / f"{model}.onnx"
    return str(file) if file and file.is_file() else model


def run_roof(options, row, steps, folder, *more, cache=None):
    """One round of ours: (seconds of each timed step, peak memory in bytes, the row that `roof` printed). The memory is that of the process;
    on a GPU, the planned one. The first step is not timed. `cache`: the folder of its choices, if not the user's. Raises Failed."""
    model, _, tokens = row.model.partition("@")
    tokens, _, phase = tokens.partition("/")
    command = [*shlex.split(options.roof), "run", network_of(options, model), *(["--tokens", tokens] if tokens else []),
               *(["--phase", phase] if phase else []), "--batch", row.batch,
               "--precision", row.precision, "--algorithm", row.algorithm, *our_device(options), "--steps", steps + 1, "--json", "--out", folder, *more]
    done = run(command, **openmp(options.threads), **({"XDG_CACHE_HOME": str(cache)} if cache else {}))
    answer = json.loads(done.text)["rows"][0]
    if answer["status"] != "ok":
        raise Failed(f"{answer['status']}: {answer['reason']}")
    seconds = tuple(float(line["launch_s"]) for line in pages.rows(Path(folder) / "samples.csv") if line["used"] == "1")
    return seconds, answer["memory_bytes"] if on_gpu(options) else done.memory_bytes, answer


def placement(options, folder):
    """(share of attainable, bottleneck) of the step in that folder; empty without a calibration."""
    if not options.calibration:
        return "", ""
    try:
        run([*shlex.split(options.roof), "report", folder, "--calibration", options.calibration, "--brief", "--out", folder / "report.html",
             "--data", folder / "tables"])
        step = next(line for line in pages.rows(folder / "tables" / "placements.csv") if line["scope"] == "step")
        return float(step["share_of_attainable"]), step["binds"]
    except (Failed, StopIteration, ValueError, KeyError):
        return "", ""

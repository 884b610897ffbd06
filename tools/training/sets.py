"""Fresh sets of choices of one network: how much slower a set makes the steps than the fastest set, and `auto` than `direct`."""

import random
import shutil
import statistics
import tempfile
from pathlib import Path

import pages
from measuring import NotMeasured
from training import table
from training.programs import run_roof
from training.table import Row

ALGORITHMS = ("auto", "direct")


def add_arguments(parser):
    parser.add_argument("--sets", type=int, metavar="N", help="instead of PyTorch: make N fresh sets of choices for the first model and "
                        "batch, run them in turns, and print the time of each over the fastest, and of auto over direct; about 15 minutes "
                        "for 10 sets at 1 s a step and 3 rounds")


def measure(options, progress):
    """{(algorithm, set): [the steps of each round]}. A set is a cache folder; its choices are made by a first run that is not
    counted. Undecided choices go on being tried, as in any run."""
    model, batch = options.models[0], options.batches[0]
    folder = Path(tempfile.mkdtemp(prefix="bench-training-"))
    found = {}

    def run(number, algorithm, steps, where):
        row = Row(model, batch, "fp32", algorithm)
        return run_roof(options, row, steps, folder / where, "--lr", "1e-4", cache=folder / f"cache-{number}")[0]

    try:
        sets = [(algorithm, number) for number in range(options.sets) for algorithm in ALGORITHMS]
        for algorithm, number in sets:
            progress.say(f"set {number + 1} of {options.sets}, {algorithm}: making the choices")
            steps = run(number, algorithm, 1, f"first-{algorithm}-{number}")
        count = max(1, min(20, int(options.seconds / statistics.median(steps))))
        draw = random.Random(0)
        for turn in range(options.rounds):
            for algorithm, number in draw.sample(sets, len(sets)):
                progress.say(f"round {turn + 1} of {options.rounds}: set {number + 1}, {algorithm}")
                steps = run(number, algorithm, count, f"{algorithm}-{number}-{turn}")
                found.setdefault((algorithm, number), []).append(steps)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def over(rounds, base):
    """(the median over rounds of the ratio, low, high) of the time of `rounds` over that of `base`."""
    pairs = list(zip(base, rounds))
    return (table.ratio_of(pairs), *table.bootstrap(pairs))


def as_text(found):
    sets = sorted({number for _, number in found})
    autos = {number: found["auto", number] for number in sets}
    fastest = min(sets, key=lambda number: statistics.median(s for steps in autos[number] for s in steps))
    lines, worst = [], 1.0
    directs = [steps for number in sets for steps in found["direct", number]]
    for number in sets:
        ratio, low, high = over(autos[number], autos[fastest]) if number != fastest else (1.0, 1.0, 1.0)
        worst = max(worst, high)
        step = statistics.median(s for steps in autos[number] for s in steps)
        lines.append((str(number + 1), f"{step:.4g} s", f"{ratio:.3f}", f"[{low:.3f}, {high:.3f}]"))
    ratio, low, high = over([steps for number in sets for steps in autos[number]], directs)
    return "\n".join([pages.as_text(("set", "step", "over the fastest", "95% interval"), lines),
                      f"time over the fastest of {len(sets)} sets: upper end of the intervals {worst:.3f}",
                      f"auto over direct: {ratio:.3f} [{low:.3f}, {high:.3f}], lower end {low:.3f}",
                      "Ratios are taken within a round, medians over the rounds, with intervals by bootstrap over rounds and steps."])


def compare(options, progress):
    if options.sets < 1:
        raise NotMeasured("--sets: at least 1")
    found = measure(options, progress)
    progress.clear()
    print(as_text(found))

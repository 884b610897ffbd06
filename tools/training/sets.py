"""Fresh sets of choices of one network: how much slower a set makes the steps than the fastest set, and `auto` than `direct`."""

import csv
import random
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path

import pages
from measuring import Failed, ratio_of
from training.programs import run_roof
from training.table import Row

ALGORITHMS = ("auto", "direct")


def add_arguments(parser):
    parser.add_argument("--sets", type=int, metavar="N", help="instead of PyTorch: make N fresh sets of choices for the first model and "
                        "batch, run them in turns, and print the time of each over the fastest, and of auto over direct; about 15 minutes "
                        "for 10 sets at 1 s a step and 3 rounds")


def measure(options, progress):
    """{(algorithm, set): [the median step of each round]}, and {set: choices_of it}. A set is a cache folder; its choices are made by a
    first run that is not counted. Undecided choices go on being tried, as in any run."""
    model, batch = options.models[0], options.batches[0]
    sets = [(algorithm, number) for number in range(options.sets) for algorithm in ALGORITHMS]
    with tempfile.TemporaryDirectory(prefix="bench-training-") as folder:
        def run(algorithm, number, turn, steps):
            progress.say(f"round {turn} of {options.rounds}: set {number + 1}, {algorithm}")
            return statistics.median(run_roof(options, Row(model, batch, "fp32", algorithm), steps, Path(folder, f"{algorithm}-{number}-{turn}"),
                                              "--lr", "1e-4", cache=Path(folder, f"cache-{number}"))[0])

        first = [run(*one, 0, 1) for one in sets]
        count = max(1, min(20, int(options.seconds / first[-1])))
        draw = random.Random(0)
        found = {one: [] for one in sets}
        for turn in range(1, options.rounds + 1):
            for one in draw.sample(sets, len(sets)):
                found[one].append(run(*one, turn, count))
        return found, {number: choices_of(Path(folder, f"cache-{number}")) for number in range(options.sets)}


def choices_of(cache):
    """{(shape, pass): ({implementation: its least seconds}, the chosen one)}, of `auto` alone."""
    seconds, chosen = defaultdict(dict), {}
    for path in cache.glob("roof/*/convolutions.csv"):
        with open(path, encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                key = line["shape"], line["pass"]
                if not line["pass"].endswith(", direct") and line["seconds"]:
                    seconds[key][line["implementation"]] = min(float(text) for text in line["seconds"].split())
                    if line["choice"]:
                        chosen[key] = line["implementation"]
    return {key: (seconds[key], chosen[key]) for key in chosen}


def by_other_sets(choices):
    """{set: time of its choices over that of the fastest implementations}, both by what the other sets measured; each pass counts once."""
    over = {}
    for number, mine in choices.items():
        taken = least = 0
        for key, (_, chosen) in mine.items():
            others = [other[key][0] for who, other in choices.items() if who != number and key in other]
            best = {name: min(other[name] for other in others if name in other) for name in set().union(*others)}
            if chosen in best:
                taken, least = taken + best[chosen], least + min(best.values())
        if least:
            over[number] = taken / least
    return over


def as_text(found, choices):
    sets = sorted({number for _, number in found})
    autos = {number: found["auto", number] for number in sets}
    fastest = min(sets, key=lambda number: statistics.median(autos[number]))
    over = {number: ratio_of(zip(autos[number], autos[fastest])) for number in sets}
    chosen = by_other_sets(choices)
    lines = [(str(number + 1), f"{statistics.median(autos[number]):.4g} s", f"{ratio.median:.3f}", f"[{ratio.low:.3f}, {ratio.high:.3f}]",
              f"{chosen[number]:.3f}" if number in chosen else "-") for number, ratio in over.items()]
    direct = ratio_of((auto, direct) for number in sets for auto, direct in zip(autos[number], found["direct", number]))
    return "\n".join([pages.as_text(("set", "step", "over the fastest", "interval", "its choices"), lines),
                      f"time over the fastest of {len(sets)} sets: upper end of the intervals {max(r.high for r in over.values()):.3f}",
                      f"auto over direct: {direct.median:.3f} [{direct.low:.3f}, {direct.high:.3f}], lower end {direct.low:.3f}",
                      f"time of the choices over the fastest: at most {max(chosen.values()):.3f}" if chosen else "No choice was kept.",
                      "Ratios of steps are taken within a round, medians over the rounds with the interval of their order statistics. Those "
                      "of choices are of the least times of the convolutions' passes, as the other sets measured them; each pass counts once."])


def compare(options, progress):
    if options.sets < 1:
        raise Failed("--sets: at least 1")
    found, choices = measure(options, progress)
    progress.clear()
    print(as_text(found, choices))

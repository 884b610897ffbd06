"""Rounds of training programs in a CSV file, and their comparison: ratios with intervals, as text and in a page."""

import csv
import math
import random
import statistics
from collections import namedtuple
from pathlib import Path

import pages

#: A network, a batch, and how roof computes it.
Row = namedtuple("Row", "model batch precision algorithm")

#: One program's round of a row. `who`: "roof" or "torch"; `steps`: seconds of each timed one; `memory_bytes`: the process's
#: peak; `fraction`: of the ceiling that `binds`, empty where no ceilings were given; `note`: the variant of PyTorch or remarks.
Round = namedtuple("Round", "round who model batch precision algorithm steps memory_bytes fraction binds note")

Comparison = namedtuple("Comparison", "row ours theirs ratio low high rounds steps memory_ratio fraction binds note")

MARKS = ("<!-- the table: written by tools/bench_training -->", "<!-- end of the table -->")
RESAMPLES = 2000


def row_of(round):
    return Row(round.model, round.batch, round.precision, round.algorithm)


# ---------------------------------------------------------------------------------------------------------------- CSV

def append_csv(path, round):
    new = not Path(path).exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(Round._fields)
        writer.writerow(round._replace(steps=" ".join(f"{seconds:.9g}" for seconds in round.steps)))


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [Round(int(line["round"]), line["who"], line["model"], int(line["batch"]), line["precision"],
                      line["algorithm"], tuple(map(float, line["steps"].split())), float(line["memory_bytes"]),
                      float(line["fraction"]) if line["fraction"] else "", line["binds"], line["note"])
                for line in csv.DictReader(file)]


# ----------------------------------------------------------------------------------------------------------- comparing

def ratio_of(rounds):
    """The median over rounds of PyTorch's median step over ours. `rounds`: pairs (ours, theirs) of steps."""
    return statistics.median(statistics.median(theirs) / statistics.median(ours) for ours, theirs in rounds)


def bootstrap(rounds):
    """The middle 95% of the ratio over resampled rounds with resampled steps."""
    draw = random.Random(0)
    found = sorted(ratio_of([[draw.choices(steps, k=len(steps)) for steps in pair]
                             for pair in draw.choices(rounds, k=len(rounds))]) for _ in range(RESAMPLES))
    return found[round(0.025 * RESAMPLES)], found[round(0.975 * RESAMPLES) - 1]


def compare(rounds):
    """One Comparison for each of our rows that PyTorch was measured with, in the order of the rounds."""
    theirs = {(v.model, v.batch, v.precision, v.round): v for v in rounds if v.who == "torch"}
    found = []
    for row in dict.fromkeys(row_of(v) for v in rounds if v.who == "roof"):
        both = [(v, theirs[row.model, row.batch, row.precision, v.round]) for v in rounds
                if v.who == "roof" and row_of(v) == row and (row.model, row.batch, row.precision, v.round) in theirs]
        if both:
            found.append(compare_row(row, both))
    return found


def compare_row(row, both):
    rounds = [(ours.steps, peer.steps) for ours, peer in both]
    low, high = bootstrap(rounds)
    fractions = [ours.fraction for ours, _ in both if ours.fraction != ""]
    return Comparison(row, statistics.median(s for ours, _ in rounds for s in ours),
                      statistics.median(s for _, peer in rounds for s in peer), ratio_of(rounds), low, high, len(rounds),
                      sum(len(ours) for ours, _ in rounds),
                      max(ours.memory_bytes for ours, _ in both) / max(peer.memory_bytes for _, peer in both),
                      statistics.median(fractions) if fractions else None, both[-1][0].binds, both[-1][1].note)


# ------------------------------------------------------------------------------------------------------------- showing

HEAD = ("model", "batch", "precision", "algorithm", "ours", "PyTorch", "ratio", "95% interval", "memory", "reached", "binds",
        "PyTorch's variant")
FOOT = ("ours, PyTorch: images per second of the median step, measured. ratio: PyTorch's time over ours, more than 1 is faster, "
        "with its interval by bootstrap over rounds and steps. memory: our process's peak over PyTorch's. reached: the "
        "time the measured ceilings allow over the time taken; binds: the ceiling under which most of that time lies.")
PAGE_FOOT = ("Batches: PyTorch's time over ours, more than 1 is faster, with its interval by bootstrap over rounds and steps (measured). "
             "Memory: our process's peak over PyTorch's. Reached: the time that the measured ceilings allow over the time taken. Both from the "
             "least to the largest of the batches.")


def cells(c):
    return (c.row.model, str(c.row.batch), c.row.precision, c.row.algorithm, f"{c.row.batch / c.ours:.4g}",
            f"{c.row.batch / c.theirs:.4g}", f"{c.ratio:.3f}", f"[{c.low:.3f}, {c.high:.3f}]", f"{c.memory_ratio:.2f}",
            "-" if c.fraction is None else f"{100 * c.fraction:.0f}%", c.binds or "-", c.note)


def summaries(comparisons):
    """A line for each precision and algorithm: geometric mean and least ratio."""
    lines = []
    for kind in dict.fromkeys((c.row.precision, c.row.algorithm) for c in comparisons):
        some = [c for c in comparisons if (c.row.precision, c.row.algorithm) == kind]
        least = min(some, key=lambda c: c.ratio)
        mean = math.exp(statistics.fmean(math.log(c.ratio) for c in some))
        lines.append(f"{' '.join(kind)}: geometric mean {mean:.3f} over {len(some)} rows; "
                     f"least {least.ratio:.3f} ({least.row.model}, batch {least.row.batch})")
    return lines


def as_text(comparisons):
    return "\n".join([pages.as_text(HEAD, list(map(cells, comparisons))), *summaries(comparisons), FOOT])


def least_to_largest(numbers, form):
    """"-" without any."""
    texts = [form.format(number) for number in sorted(numbers)]
    return "-" if not texts else texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def page_table(comparisons):
    """Head and rows: a row for each network, precision and algorithm, a column with the ratio for each batch."""
    batches = sorted({c.row.batch for c in comparisons})
    rows = []
    for kind in dict.fromkeys(c.row._replace(batch=None) for c in comparisons):
        some = {c.row.batch: c for c in comparisons if c.row._replace(batch=None) == kind}
        ratios = [f"{some[b].ratio:.2f} [{some[b].low:.2f}, {some[b].high:.2f}]" if b in some else "-" for b in batches]
        rows.append((kind.model, f"{kind.precision} {kind.algorithm}", *ratios,
                     least_to_largest((c.memory_ratio for c in some.values()), "{:.2f}"),
                     least_to_largest((c.fraction for c in some.values() if c.fraction is not None), "{:.0%}")))
    return ("model", "mode", *(f"batch {batch}" for batch in batches), "memory", "reached"), rows


def as_markdown(comparisons):
    lines = [f"- {text}" for text in summaries(comparisons)]
    return "\n".join([pages.as_markdown(*page_table(comparisons)), "", *lines, "", PAGE_FOOT])


def write_page(path, comparisons):
    """Writes the table between the page's two marks. Raises ValueError if one is missing."""
    pages.write_between(path, *MARKS, as_markdown(comparisons))

"""Rounds of training programs in a CSV file, and their comparison: ratios with intervals, as text and in a page."""

import statistics
from collections import namedtuple

import pages
from measuring import append_csv, ratio_of, read_csv

#: A network, a batch, and how roof computes it.
Row = namedtuple("Row", "model batch precision algorithm")

#: One program's round of a row. `who`: "roof" or "torch"; `steps`: seconds of each timed one; `memory_bytes`: the process's
#: peak; `fraction`: of the ceiling that `binds`, empty where no ceilings were given; `note`: the variant of PyTorch or remarks.
Round = namedtuple("Round", "round who model batch precision algorithm steps memory_bytes fraction binds note")

#: `ours`, `theirs`: seconds of the median step; `ratio`: a measuring.Ratio, of theirs over ours.
Comparison = namedtuple("Comparison", "row ours theirs ratio memory_ratio fraction binds note")

MARKS = pages.marks_of("the table", "bench_training")


def row_of(round):
    return Row(round.model, round.batch, round.precision, round.algorithm)


# ------------------------------------------------------------------------------------------------------------- keeping

def keep(path, rounds):
    append_csv(path, [round._replace(steps=" ".join(f"{seconds:.9g}" for seconds in round.steps)) for round in rounds])


def read(path):
    return read_csv(path, Round, round=int, batch=int, memory_bytes=float, steps=lambda text: tuple(map(float, text.split())),
                    fraction=lambda text: float(text) if text else "")


# ----------------------------------------------------------------------------------------------------------- comparing

def compare(rounds):
    """One Comparison for each of our rows that PyTorch was measured with, in the order of the rounds."""
    theirs = {(v.model, v.batch, v.precision, v.round): v for v in rounds if v.who == "torch"}
    both = [(ours, theirs.get((ours.model, ours.batch, ours.precision, ours.round))) for ours in rounds if ours.who == "roof"]
    rows = pages.grouped((pair for pair in both if pair[1]), lambda pair: row_of(pair[0]))
    return [compare_row(row, *zip(*pairs)) for row, pairs in rows.items()]


def compare_row(row, ours, theirs):
    """`ours`, `theirs`: the same rounds of both."""
    ratio = ratio_of(zip(*([statistics.median(v.steps) for v in rounds] for rounds in (theirs, ours))))
    fractions = [v.fraction for v in ours if v.fraction != ""]
    return Comparison(row, *(statistics.median(s for v in rounds for s in v.steps) for rounds in (ours, theirs)), ratio,
                      max(v.memory_bytes for v in ours) / max(v.memory_bytes for v in theirs),
                      statistics.median(fractions) if fractions else None, ours[-1].binds, theirs[-1].note)


# ------------------------------------------------------------------------------------------------------------- showing

HEAD = ("model", "batch", "precision", "algorithm", "ours", "PyTorch", "ratio", "interval", "memory", "reached", "binds", "PyTorch's variant")
FOOT = ("ours, PyTorch: images per second of the median step, measured. ratio: PyTorch's time over ours, more than 1 is faster, "
        "the median over the rounds with the interval of its order statistics. memory: our process's peak over PyTorch's. reached: the "
        "time the measured ceilings allow over the time taken; binds: the ceiling under which most of that time lies.")
PAGE_FOOT = ("Batches: PyTorch's time over ours, more than 1 is faster: the median over the rounds with the interval of its order statistics (measured). "
             "Memory: our process's peak over PyTorch's. Reached: the time that the measured ceilings allow over the time taken. Both from the "
             "least to the largest of the batches.")


def cells(c):
    return (c.row.model, str(c.row.batch), c.row.precision, c.row.algorithm, f"{c.row.batch / c.ours:.4g}",
            f"{c.row.batch / c.theirs:.4g}", f"{c.ratio.median:.3f}", f"[{c.ratio.low:.3f}, {c.ratio.high:.3f}]", f"{c.memory_ratio:.2f}",
            "-" if c.fraction is None else f"{100 * c.fraction:.0f}%", c.binds or "-", c.note)


def summaries(comparisons):
    """A line for each precision and algorithm: geometric mean and least ratio."""
    lines = []
    for kind in dict.fromkeys((c.row.precision, c.row.algorithm) for c in comparisons):
        some = [c for c in comparisons if (c.row.precision, c.row.algorithm) == kind]
        least = min(some, key=lambda c: c.ratio.median)
        mean = statistics.geometric_mean(c.ratio.median for c in some)
        lines.append(f"{' '.join(kind)}: geometric mean {mean:.3f} over {len(some)} rows; "
                     f"least {least.ratio.median:.3f} ({least.row.model}, batch {least.row.batch})")
    return lines


def coverage_of(comparisons):
    return f"Intervals cover {100 * min(0.95, *(c.ratio.coverage for c in comparisons)):.0f}% or more."


def as_text(comparisons):
    return "\n".join([pages.as_text(HEAD, list(map(cells, comparisons))), *summaries(comparisons), f"{FOOT} {coverage_of(comparisons)}"])


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
        ratios = ["{:.2f} [{:.2f}, {:.2f}]".format(*some[b].ratio[:3]) if b in some else "-" for b in batches]
        rows.append((kind.model, f"{kind.precision} {kind.algorithm}", *ratios, least_to_largest((c.memory_ratio for c in some.values()), "{:.2f}"),
                     least_to_largest((c.fraction for c in some.values() if c.fraction is not None), "{:.0%}")))
    return ("model", "mode", *(f"batch {batch}" for batch in batches), "memory", "reached"), rows


def as_markdown(comparisons):
    lines = [f"- {text}" for text in summaries(comparisons)]
    return "\n".join([pages.as_markdown(*page_table(comparisons)), "", *lines, "", f"{PAGE_FOOT} {coverage_of(comparisons)}"])


def write_page(path, comparisons):
    """Writes the table between the page's two marks. Raises ValueError if one is missing."""
    pages.write_between(path, *MARKS, as_markdown(comparisons))

"""Tables of rounds of programs that measure ceilings: ratios with intervals, wall times, how well our rounds agree, and the theoretical peak
per clock and core of the vendor's guide; as text or between the marks of a page."""

import math
import statistics
from collections import Counter, namedtuple

import pages
from ceilings.answers import Quantity
from measuring import ratio_of

#: `name`: that of its marks in a page. `foot`: text below the table.
Table = namedtuple("Table", "name head rows foot")

#: `ratio`: a measuring.Ratio, of ours over theirs.
Comparison = namedtuple("Comparison", "quantity peer ours theirs ratio")

#: Wall time of a round in seconds, stored with the rates.
WALL_TIME = Quantity("program", "wall time", "", 0)


class Sample(namedtuple("Sample", "round who level operation precision threads value")):
    """A rate in byte/s or FLOP/s, or a wall time in seconds."""

    @property
    def quantity(self):
        return Quantity(self.level, self.operation, self.precision, self.threads)


def samples_of(number, who, rates):
    """`rates`: {Quantity: value}."""
    return [Sample(number, who, *quantity, value) for quantity, value in rates.items()]


# ------------------------------------------------------------------------------------------------------ beside peers

def compare(samples):
    """One Comparison for each quantity that `roof` and a peer measured in the same round."""
    rates = {key: {sample.round: sample.value for sample in some}
             for key, some in pages.grouped(samples, lambda sample: (sample.quantity, sample.who)).items()}
    found = []
    for quantity, peer in sorted(key for key in rates if key[0] != WALL_TIME and key[1] != "roof"):
        theirs = rates[quantity, peer]
        both = [(rate, theirs[number]) for number, rate in rates.get((quantity, "roof"), {}).items() if number in theirs]
        if both:
            found.append(Comparison(quantity, peer, *map(statistics.median, zip(*both)), ratio_of(both)))
    return found


def rate_text(quantity, rate):
    unit = "FLOP/s" if quantity.level == "core" else "B/s"
    return f"{rate / 1e12:.3g} T{unit}" if rate >= 1e12 else f"{rate / 1e9:.4g} G{unit}"


def comparison_table(name, other, comparisons, foot):
    """`other`: the head of the column with the peer's rates."""
    rows = [(c.quantity.level, c.quantity.operation, c.quantity.precision or "-", str(c.quantity.threads),
             rate_text(c.quantity, c.ours), c.peer, rate_text(c.quantity, c.theirs), f"{c.ratio.median:.3f}",
             f"[{c.ratio.low:.3f}, {c.ratio.high:.3f}]", str(c.ratio.rounds)) for c in comparisons]
    return Table(name, ("level", "operation", "precision", "threads", "ours", "peer", other, "ratio", "interval", "rounds"), rows, foot)


def peers_table(comparisons):
    behind = [c for c in comparisons if c.ratio.high < 1]
    least = min((c.ratio.coverage for c in comparisons), default=1)
    return comparison_table("peers", "theirs", comparisons,
                            f"{len(comparisons) - len(behind)} of {len(comparisons)} are not behind the peer: their interval reaches 1. "
                            f"Intervals cover {100 * min(least, 0.95):.0f}% or more.")


def search_table(comparisons):
    by_level = pages.grouped(comparisons, lambda c: c.quantity.level)
    ratios = {level: [c.ratio.median for c in some] for level, some in by_level.items()}
    words = "; ".join(f"{level} {statistics.median(some):.3f}, least {min(some):.3f}" for level, some in ratios.items())
    return comparison_table("search", "after half a minute", comparisons, f"Ratios, the median over operations: {words}.")


# ------------------------------------------------------------------------------------------------------------- time

def time_table(samples):
    programs = pages.grouped(samples, lambda sample: sample.who)
    seconds = {name: [sample.value for sample in some if sample.quantity == WALL_TIME] for name, some in programs.items()}
    ours = statistics.median(seconds["roof"])
    rows = [(name, f"{statistics.median(times):.1f} s", f"{statistics.median(times) / ours:.1f}x",
             str(len({sample.quantity for sample in programs[name]} - {WALL_TIME})), str(len(times))) for name, times in seconds.items() if times]
    return Table("time", ("program", "wall time", "of ours", "quantities", "rounds"), rows,
                 "Wall time of a round, the median; quantities: level, operation, precision and threads, each counted once.")


# ------------------------------------------------------------------------------------------------- ourselves, again

def key_of(ceiling):
    return (ceiling["kind"], ceiling["level"], ceiling["operation"], ceiling["precision"], ceiling["isa"],
            ceiling["threads"], ceiling.get("condition"))


def high_end(ceiling):
    """A lower bound has no upper end."""
    return math.inf if ceiling["high"] is None else ceiling["high"]


def meet(before, after):
    return before["low"] <= high_end(after) and after["low"] <= high_end(before)


def by_key(calibrations):
    """{key: [the same ceiling in each calibration]}"""
    return pages.grouped((ceiling for calibration in calibrations for ceiling in calibration["ceilings"]), key_of)


def pairs_in_a_row(calibrations):
    """(key, a ceiling, the same in the next calibration)."""
    each = [{key_of(ceiling): ceiling for ceiling in calibration["ceilings"]} for calibration in calibrations]
    return [(key, before[key], after[key]) for before, after in zip(each, each[1:]) for key in before if key in after]


def agreement(calibrations):
    """For calibrations in a row: (number of ceilings whose interval overlaps that of the calibration before, number of ceilings)."""
    pairs = pairs_in_a_row(calibrations)
    return sum(meet(before, after) for _, before, after in pairs), len(pairs)


def group_of(key):
    kind, level = key[:2]
    return "arithmetic" if kind == "compute" else "latency" if kind == "latency" else level


def is_bound(ceiling):
    return ceiling["high"] is None


def half_width(ceilings):
    """The median, in percent; a lower bound has none."""
    widths = [(c["high"] - c["low"]) / (2 * c["median"]) for c in ceilings if not is_bound(c)]
    return f"{100 * statistics.median(widths):.2f}%" if widths else "-"


def share(flags):
    flags = list(flags)
    return f"{100 * sum(flags) / max(1, len(flags)):.0f}%"


def spread(rates):
    return (max(rates) - min(rates)) / statistics.median(rates)


def repeatability_rows(calibrations):
    pairs = pairs_in_a_row(calibrations)
    seen, rows = by_key(calibrations), []
    for group in [*dict.fromkeys(map(group_of, seen)), "all"]:
        def is_in(key, group=group):
            return group in ("all", group_of(key))
        of_group = [meet(before, after) for key, before, after in pairs if is_in(key)]
        ceilings = [c for key, found in seen.items() if is_in(key) for c in found]
        spreads = [spread([c["median"] for c in found]) for key, found in seen.items() if is_in(key)]
        rows.append((group, str(len(of_group)), f"{100 * sum(of_group) / max(1, len(of_group)):.1f}%",
                     half_width(ceilings), share(c.get("steadiness", "steady") in ("steady", "seen once") for c in ceilings),
                     share(map(is_bound, ceilings)), f"{100 * statistics.median(spreads):.2f}%"))
    return rows


def levels_sentence(calibrations):
    found = Counter()
    for calibration in calibrations:
        sweeps = pages.grouped(calibration.get("levels_by_threads", ()), lambda level: (level["device"], level["threads"]))
        found.update(" ".join(level["name"] for level in levels) for levels in sweeps.values())
    return "; ".join(f"{levels}: in {count} of {found.total()} sweeps" for levels, count in found.most_common())


def repeatability_table(calibrations):
    agree, total = agreement(calibrations)
    closed = [meet(before, after) for _, before, after in pairs_in_a_row(calibrations) if not is_bound(before) and not is_bound(after)]
    foot = (f"{agree} of {total} ceilings ({100 * agree / max(1, total):.0f}%) agree with the calibration before, within their "
            f"intervals; without lower bounds {sum(closed)} of {len(closed)} ({share(closed)}). "
            f"Levels found: {levels_sentence(calibrations) or 'none'}.")
    return Table("repeatability", ("ceilings", "pairs in a row", "agree", "half-width", "steady", "at least", "spread over rounds"),
                 repeatability_rows(calibrations), foot)


# --------------------------------------------------------------------------------------- beside the vendor's guide

def spec_of(calibrations):
    """by_key() of ceilings with a spec rate, without conditions."""
    return by_key([{"ceilings": [c for c in calibration["ceilings"] if c.get("share_of_spec") and not c.get("condition")]}
                   for calibration in calibrations])


def fastest_of_each(found):
    """The fastest of ceilings that differ only in the instruction set."""
    alike = pages.grouped(found, lambda key: (*key[:4], key[5]))
    fastest = (max(alike[place], key=lambda key: statistics.median(c["median"] for c in found[key])) for place in sorted(alike, key=order_of))
    return {key: found[key] for key in fastest}


def order_of(place):
    """By threads, the core before its caches, then by name."""
    _, level, operation, precision, threads = place
    return threads, level != "core", level, precision or "", operation


def verdict_of(ceilings):
    """The most frequent verdict, with its count if there are others."""
    counts = Counter(c.get("steadiness", "steady") for c in ceilings)
    word, count = counts.most_common(1)[0]
    return word if count == len(ceilings) else f"{word} ({count} of {len(ceilings)})"


def theory_row(key, ceilings):
    _, level, operation, precision, isa, threads, _ = key
    shares = [c["share_of_spec"] for c in ceilings]
    return (level, operation, precision or "-", isa or "-", str(threads), f"{statistics.median(c['per_clock_and_core'] for c in ceilings):.4g}",
            f"{ceilings[0]['spec_per_clock_and_core']:.4g}", f"{100 * statistics.median(shares):.1f}%",
            f"[{100 * min(shares):.1f}%, {100 * max(shares):.1f}%]", str(len(ceilings)), verdict_of(ceilings))


def farthest_sentence(found):
    def share(key):
        return statistics.median(c["share_of_spec"] for c in found[key])
    key = min(found, key=share)
    _, level, operation, precision, _, threads, _ = key
    name = " ".join(word for word in (level, precision, operation) if word)
    return f"Farthest from the spec: {name}, {threads} thread{'' if threads == 1 else 's'}, {100 * share(key):.1f}%."


def theory_table(calibrations):
    """None if no guide covers this processor."""
    found = fastest_of_each(spec_of(calibrations))
    if not found:
        return None
    foot = ("FLOPs or bytes per clock and core, the median over the rounds (measured), beside the vendor's guide (spec); of spec: the "
            "median [least, largest] over the rounds that could read a clock beside it. The fastest instruction set with a spec is shown. " + farthest_sentence(found))
    return Table("theory", ("level", "operation", "precision", "isa", "threads", "per clock", "spec", "of spec",
                            "least, largest", "rounds", "verdict"), [theory_row(*item) for item in found.items()], foot)


def interference_of(calibrations):
    """The share of our samples with interference, and its causes; empty if the calibrations have no samples."""
    samples = [calibration["samples"] for calibration in calibrations if calibration.get("samples")]
    taken = sum(of_one["taken"] for of_one in samples)
    if not taken:
        return ""
    reasons = Counter()
    for of_one in samples:
        reasons.update(of_one["disturbed"])
    words = ", ".join(f"{reason} {100 * count / taken:.0f}%" for reason, count in reasons.most_common(3))
    return f"{100 * reasons.total() / taken:.0f}% of our samples disturbed" + (f" ({words})" if words else "")


# ------------------------------------------------------------------------------------------------------------- showing

def as_text(table):
    return f"{pages.as_text(table.head, table.rows)}\n{table.foot}"


def beside_one_another(table):
    """The rows that differ only in threads as one, with what was measured for each number of threads, and without empty columns: for a
    page."""
    if "threads" not in table.head:
        return table
    keys, measured = ([i for i, name in enumerate(table.head) if name in names and any(row[i] != "-" for row in table.rows)] for names in (
        ("level", "operation", "precision", "isa", "peer", "spec"),
        ("per clock", "of spec", "least, largest", "ours", "theirs", "after half a minute", "ratio", "interval")))
    place = table.head.index("threads")
    counts = sorted({row[place] for row in table.rows}, key=int)
    found = {}
    for row in table.rows:
        found.setdefault(tuple(row[i] for i in keys), {})[row[place]] = [row[i] for i in measured]
    head = [table.head[i] for i in keys]
    for count in counts:
        first, *others = (table.head[i] for i in measured)
        head += [f"{count} thread{'' if count == '1' else 's'}: {first}", *others]
    rows = [[*key, *(cell for count in counts for cell in cells.get(count, ["-"] * len(measured)))] for key, cells in found.items()]
    return table._replace(head=head, rows=rows)


def write_page(path, tables, setting):
    """Writes each table between its two marks, below a line with machine and date. Raises ValueError if a mark is missing."""
    for table in map(beside_one_another, tables):
        pages.write_between(path, *pages.marks_of(table.name, "bench_ceilings"),
                            f"{setting}\n\n{pages.as_markdown(table.head, table.rows)}\n\n{table.foot}")

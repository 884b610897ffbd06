"""Tables of rounds of programs that measure ceilings: ratios with intervals, wall times, and how well our rounds agree; as text or
between the marks of a page."""

import csv
import math
import statistics
from collections import Counter, namedtuple

import pages
from ceilings.answers import Quantity

#: `name`: that of its marks in a page. `foot`: text below the table.
Table = namedtuple("Table", "name head rows foot")

Comparison = namedtuple("Comparison", "quantity peer ours theirs ratio low high rounds coverage")

#: Wall time of a round in seconds, stored with the rates.
WALL_TIME = Quantity("program", "wall time", "", 0)


# ------------------------------------------------------------------------------------------------------ beside peers

def median_interval(count):
    """Indices into sorted data that enclose the median with at least 95%, else the ends; and their coverage."""
    def coverage(low):
        return 1 - 2 * sum(math.comb(count, k) for k in range(low + 1)) / 2 ** count
    low = 0
    while low + 1 < (count + 1) // 2 and coverage(low + 1) >= 0.95:
        low += 1
    return low, count - 1 - low, coverage(low)


def compare(samples):
    """`samples`: [(round, who, Quantity, rate)]. One Comparison for each quantity that `roof` and a peer measured."""
    by_round = {(who, quantity, number): rate for number, who, quantity, rate in samples}
    pairs = sorted({(quantity, who) for _, who, quantity, _ in samples if who != "roof" and quantity != WALL_TIME})
    rounds = sorted({number for number, *_ in samples})
    found = []
    for quantity, peer in pairs:
        both = [(by_round["roof", quantity, n], by_round[peer, quantity, n]) for n in rounds
                if ("roof", quantity, n) in by_round and (peer, quantity, n) in by_round]
        if not both:
            continue
        ratios = sorted(ours / theirs for ours, theirs in both)
        low, high, coverage = median_interval(len(ratios))
        found.append(Comparison(quantity, peer, statistics.median(ours for ours, _ in both),
                                statistics.median(theirs for _, theirs in both), statistics.median(ratios),
                                ratios[low], ratios[high], len(ratios), coverage))
    return found


def rate_text(quantity, rate):
    unit = "FLOP/s" if quantity.level == "core" else "B/s"
    return f"{rate / 1e12:.3g} T{unit}" if rate >= 1e12 else f"{rate / 1e9:.4g} G{unit}"


def comparison_table(name, other, comparisons, foot):
    """`other`: the head of the column with the peer's rates."""
    rows = [(c.quantity.level, c.quantity.operation, c.quantity.precision or "-", str(c.quantity.threads),
             rate_text(c.quantity, c.ours), c.peer, rate_text(c.quantity, c.theirs), f"{c.ratio:.3f}",
             f"[{c.low:.3f}, {c.high:.3f}]", str(c.rounds)) for c in comparisons]
    return Table(name, ("level", "operation", "precision", "threads", "ours", "peer", other, "ratio", "interval", "rounds"), rows, foot)


def peers_table(comparisons):
    behind = [c for c in comparisons if c.high < 1]
    least = min((c.coverage for c in comparisons), default=1)
    return comparison_table("peers", "theirs", comparisons,
                            f"{len(comparisons) - len(behind)} of {len(comparisons)} are not behind the peer: their interval reaches 1. "
                            f"Intervals cover {100 * min(least, 0.95):.0f}% or more.")


def search_table(comparisons):
    """Our ceilings beside what our own program finds in half a minute for each."""
    by_level = {}
    for c in comparisons:
        by_level.setdefault(c.quantity.level, []).append(c.ratio)
    words = "; ".join(f"{level} {statistics.median(ratios):.3f}, least {min(ratios):.3f}" for level, ratios in by_level.items())
    return comparison_table("search", "after half a minute", comparisons, f"Ratios, the median over operations: {words}.")


# ------------------------------------------------------------------------------------------------------------- time

def time_table(samples):
    """Wall time of a round and number of measured quantities of each program."""
    seconds, answers = {}, {}
    for _, who, quantity, value in samples:
        if quantity == WALL_TIME:
            seconds.setdefault(who, []).append(value)
        else:
            answers.setdefault(who, set()).add(quantity)
    ours = statistics.median(seconds["roof"])
    rows = [(name, f"{statistics.median(times):.1f} s", f"{statistics.median(times) / ours:.1f}x",
             str(len(answers.get(name, ()))), str(len(times))) for name, times in seconds.items()]
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


def pairs_in_a_row(calibrations):
    """(key, a ceiling, the same in the next calibration)."""
    by_key = [{key_of(ceiling): ceiling for ceiling in calibration["ceilings"]} for calibration in calibrations]
    return [(key, before[key], after[key]) for before, after in zip(by_key, by_key[1:]) for key in before if key in after]


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
    seen = {}
    for ceiling in (c for calibration in calibrations for c in calibration["ceilings"]):
        seen.setdefault(key_of(ceiling), []).append(ceiling)
    rows = []
    for group in [*dict.fromkeys(map(group_of, seen)), "all"]:
        def is_in(key, group=group):
            return group in ("all", group_of(key))
        of_group = [meet(before, after) for key, before, after in pairs if is_in(key)]
        ceilings = [c for key, found in seen.items() if is_in(key) for c in found]
        spreads = [spread([c["median"] for c in found]) for key, found in seen.items() if is_in(key)]
        rows.append((group, str(len(of_group)), f"{100 * sum(of_group) / max(1, len(of_group)):.1f}%",
                     half_width(ceilings), share(c.get("steadiness", "steady") == "steady" for c in ceilings),
                     share(map(is_bound, ceilings)),
                     f"{100 * statistics.median(spreads):.2f}%"))
    return rows


def levels_sentence(calibrations):
    found = Counter()
    for calibration in calibrations:
        sweeps = {}
        for level in calibration.get("levels_by_threads", ()):
            sweeps.setdefault((level["device"], level["threads"]), []).append(level["name"])
        found.update(" ".join(levels) for levels in sweeps.values())
    return "; ".join(f"{levels}: in {count} of {found.total()} sweeps" for levels, count in found.most_common())


def repeatability_table(calibrations):
    agree, total = agreement(calibrations)
    closed = [meet(before, after) for _, before, after in pairs_in_a_row(calibrations) if not is_bound(before) and not is_bound(after)]
    foot = (f"{agree} of {total} ceilings ({100 * agree / max(1, total):.0f}%) agree with the calibration before, within their "
            f"intervals; without lower bounds {sum(closed)} of {len(closed)} ({share(closed)}). "
            f"Levels found: {levels_sentence(calibrations) or 'none'}.")
    return Table("repeatability", ("ceilings", "pairs in a row", "agree", "half-width", "steady", "at least", "spread over rounds"),
                 repeatability_rows(calibrations), foot)


# ------------------------------------------------------------------------------------------------------------- showing

def as_text(table):
    return f"{pages.as_text(table.head, table.rows)}\n{table.foot}"


def marks_of(name):
    return f"<!-- {name}: written by tools/bench_ceilings -->", f"<!-- end of {name} -->"


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
        pages.write_between(path, *marks_of(table.name),
                            f"{setting}\n\n{pages.as_markdown(table.head, table.rows)}\n\n{table.foot}")


# ---------------------------------------------------------------------------------------------------------------- CSV

HEADER = ["round", "who", "level", "operation", "precision", "threads", "value"]


def write_csv(path, samples):
    """Rates in byte/s and FLOP/s, wall times in seconds."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows([number, who, *quantity, repr(value)] for number, who, quantity, value in samples)


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [(int(row["round"]), row["who"],
                 Quantity(row["level"], row["operation"], row["precision"], int(row["threads"])),
                 float(row["value"])) for row in csv.DictReader(file)]

"""Compares our ceilings with the theoretical peak per clock and core of the vendor's guide, and reports the interference: medians over
calibrations, as a Table and as text."""

import statistics
from collections import Counter

from ceilings.tables import Table, key_of


def spec_of(calibrations):
    """{key: [the same ceiling in each calibration]} of ceilings with a spec rate, without conditions."""
    found = {}
    for calibration in calibrations:
        for ceiling in calibration["ceilings"]:
            if ceiling.get("share_of_spec") and not ceiling.get("condition"):
                found.setdefault(key_of(ceiling), []).append(ceiling)
    return found


def fastest_of_each(found):
    """The fastest of ceilings that differ only in the instruction set."""
    best = {}
    for key, ceilings in found.items():
        kind, level, operation, precision, _, threads, _ = key
        rate = statistics.median(c["median"] for c in ceilings)
        place = kind, level, operation, precision, threads
        if place not in best or rate > best[place][0]:
            best[place] = rate, key
    return {best[place][1]: found[best[place][1]] for place in sorted(best, key=order_of)}


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
    return (level, operation, precision or "-", isa or "-", str(threads),
            f"{statistics.median(c['per_clock_and_core'] for c in ceilings):.4g}",
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

"""Ceilings from samples.csv (docs/method.md, sections 2 and 6): value, interval and state of each."""

import math
import statistics
from dataclasses import dataclass, field, replace

from draws import half_width_in_errors
from levels import condition, find_levels, past_l1, sweeps_of
from reading import number
from roofs import MULTIPLY_ADDS
from run_clock import RunClock

THIRD, FEWEST, WINDOW, LUCK, SHOWN, FASTER, CHANCE, ENOUGH_ROUNDS = 3, 5, 1.5, 4, 0.45, 0.04, 2, 3
LINE = 64


def order_interval(values):
    """Median and order statistics: section 2."""
    ordered, n, k, below = sorted(values), len(values), 0, 0.0
    while n >= 6 and 1 - 2 * (below + math.comb(n, k) / 2**n) >= 0.95:
        below += math.comb(n, k) / 2**n
        k += 1
    k = max(k, 1)
    return statistics.median(ordered), ordered[k - 1], ordered[n - k]


@dataclass(frozen=True)
class Sample:
    rate: float
    clock: float
    disturbed: bool
    against: bool = False  # of a set that agrees with no other: counts only against a steady rate
    late: bool = False  # in the second half of its row

    def times(self, factor):
        return Sample(self.rate * factor, self.clock, self.disturbed, True)


@dataclass
class Sustained:
    rate: tuple  # median, low, high
    samples: int
    rounds: int
    state: str
    centre: float
    per_clock: tuple = None
    clock: float = None
    differ: bool = False


def tolerance(level):
    return 0.01 if level in ("core", "L1", "L2") else 0.03


def sustained(rounds, tolerance, clock=None):
    """The estimator of every ceiling. `clock`: (median, low, high) of the run's clock, where rates follow it."""
    value = (lambda s: s.rate / s.clock) if clock else (lambda s: s.rate)
    kept = [[s for s in of if not clock or s.clock > 0] for of in rounds]
    every = [value(s) for of in kept for s in of if not s.against]
    if not every:
        return None
    reach = WINDOW * tolerance
    inside = lambda values, centre: [v for v in values if abs(v - centre) <= reach * centre]
    ordered = sorted(every, reverse=True)
    centre = ordered[min(THIRD, (len(ordered) + 1) // 2) - 1]
    for _ in every:
        moved = statistics.median(inside(every, centre))
        if moved == centre:
            break
        centre = moved
    window = inside(every, centre)
    own = lambda of: [value(s) for s in of if not s.against]
    rate_of = lambda of: statistics.median(told) if len(told := [value(s) for s in of if not s.against and not s.disturbed]) >= 2 else 0
    agreeing = [len(inside(own(of), centre)) >= 2 for of in kept]
    rates = sorted(filter(None, map(rate_of, kept)), reverse=True)
    anchor = rates[ENOUGH_ROUNDS - 1] if sum(agreeing) < ENOUGH_ROUNDS <= len(rates) else centre
    is_near = lambda of: rate_of(of) > 0 and abs(rate_of(of) / anchor - 1) <= LUCK * tolerance
    in_window = [agrees and anchor == centre for agrees in agreeing]
    counts = [agrees or is_near(of) for agrees, of in zip(in_window, kept)]
    medians = [statistics.median(inside(own(of), centre)) if agrees else rate_of(of) for of, agrees, count in zip(kept, in_window, counts) if count]
    places = ["near" if count else "" if rate_of(of) <= 0 else "slower" if rate_of(of) < anchor else "faster" for of, count in zip(kept, counts)]
    told = [place for place in places if place]
    against = [value(s) for of in kept for s in of if s.against]
    judged_on = [v for of, agrees in zip(kept, in_window) if agrees or not is_near(of) for v in own(of)] + against
    undisturbed = inside([value(s) for of in kept for s in of if not s.against and not s.disturbed], centre)
    late = [value(s) for of in kept for s in of if s.late and not s.against]
    share = lambda of, middle, width: sum(abs(v - middle) <= width * middle for v in of) / len(of)
    is_kept = lambda middle, width: share(every, middle, width) >= SHOWN and (not late or 3 * share(late, middle, width) >= share(every, middle, width))
    goes_on = len(medians) >= ENOUGH_ROUNDS and told and told[-1] == "near" and 2 * len(undisturbed) >= len(window)
    is_chance = lambda count: count <= FASTER * (len(every) + len(against))
    beyond = sum(v > anchor * (1 + LUCK * tolerance) for v in every + against)
    shown = (goes_on and sum(agreeing) >= ENOUGH_ROUNDS and 2 * sum(agreeing) > len(medians) and len(window) >= FEWEST and is_kept(centre, reach)
             and is_chance(sum(v > centre * (1 + reach) for v in judged_on)))
    differ = (not shown and goes_on and is_chance(beyond) and beyond <= CHANCE and is_kept(anchor, LUCK * tolerance))
    first = places.index("slower") if "slower" in places else len(places)
    changed = not shown and not differ and first < len(places) and set(places[first:]) <= {"slower", ""} and places[:first].count("near") >= 2
    if shown or differ:
        mean = statistics.fmean(medians)
        half = half_width_in_errors(len(medians)) * statistics.stdev(medians) / math.sqrt(len(medians))
        agree = over_rounds([m for m, agrees in zip(medians, [a for a, count in zip(in_window, counts) if count]) if agrees], -math.inf) if shown else None
        last = medians[-1]
        rate = (agree[0], min(mean - half, agree[1], last), max(mean + half, agree[2], last)) if shown else (anchor, min(mean - half, anchor), max(mean + half, centre))
    else:
        _, low, high = order_interval(window)
        rate = (low, low, high)
    agrees = rate[2] - rate[1] <= 2 * tolerance * rate[0]
    of_run = (clock[0], clock[1] if shown else clock[0], clock[2]) if clock else (1, 1, 1)
    whole = tuple(r * c for r, c in zip(rate, of_run))
    is_narrow = (whole[2] - whole[1]) / 2 <= tolerance * whole[0]
    state = ("unsteady: rounds" if differ else "unsteady: changed" if changed else "at least" if not shown
             else "unsteady: rounds" if not agrees else "steady" if is_narrow else "unsteady: clock")
    return Sustained(whole, len(window), len(medians) if shown or differ else sum(agreeing), state, centre * of_run[0], rate if clock else None, differ=differ)


def over_rounds(medians, lowest=0.0):
    """The mean with Student's interval, which begins at 0 at the lowest."""
    mean = statistics.fmean(medians)
    half = half_width_in_errors(len(medians)) * statistics.stdev(medians) / math.sqrt(len(medians))
    return mean, max(lowest, mean - half), mean + half


def over_all_rounds(rounds, tolerance):
    """On a GPU, whose clock differs by rounds: over all rounds with two undisturbed samples; none where they are fewer than three. The clock
    and the rate per clock are over the same rounds, if two samples of each have a clock."""
    kept = [of for of in ([s for s in of if not s.disturbed and not s.against] for of in rounds) if len(of) >= 2]
    if len(kept) < ENOUGH_ROUNDS:
        return None
    mean, low, high = over_rounds([statistics.median(s.rate for s in of) for of in kept])
    timed = [with_clock for of in kept if len(with_clock := [s for s in of if s.clock > 0]) >= 2]
    of_all = len(timed) == len(kept)
    per_clock = over_rounds([statistics.median(s.rate / s.clock for s in of) for of in timed]) if of_all else None
    clock = statistics.fmean(statistics.median(s.clock for s in of) for of in timed) if of_all else None
    return Sustained((mean, low, high), sum(map(len, kept)), len(kept), "steady" if (high - low) / 2 <= tolerance * mean else "unsteady: rounds", mean, per_clock, clock)


class Point:
    """The rounds of a point: rows that are equal but for their round."""

    def __init__(self, rows, places):
        self.row, self.samples, self.places, self.rounds = rows[0], [], [], 0
        ok = [row for row in rows if row.ok and row.step[0] > 0]
        self.rounds = len(ok)
        if ok:
            self.row = max(ok, key=lambda row: work(row) / row.step[0])
        for row in ok:
            round_ = [Sample(work(row) / seconds, number(cells.get("clock_hz"), 0.0), bool(cells.get("disturbance"))) for cells in row.samples
                      if (seconds := float(cells["launch_s"])) > 0 and (cells.get("used", "1") == "1" or cells.get("disturbance"))]
            round_ = [replace(s, late=at >= (len(round_) + 1) // 2) for at, s in enumerate(round_)]
            if round_:
                self.samples.append(round_)
                self.places.append(places[row.id])
        rates = sorted((s.rate for of in self.samples for s in of), reverse=True)
        if rates:
            self.fastest, self.typical = third(rates), statistics.median(rates)
            self.sustained = sustained(self.samples, 0.03)
        elif ok:
            median, low, high = self.row.step
            rate = tuple(work(self.row) / t for t in (median, high, low))
            self.fastest = self.typical = rate[0]
            self.sustained = Sustained(rate, int(self.row["samples"] or 0), 1, "at least", rate[0])

    @property
    def threads(self):
        return self.row.threads or 1

    @property
    def set(self):
        return number(self.row["working_set_bytes"])

    def typical_rate(self, per_clock):
        rates = [s.rate / s.clock for of in self.samples for s in of if s.clock > 0] if per_clock else []
        return statistics.median(rates) if rates else self.typical

    def by_state(self, disturbed):
        rates = sorted((s.rate for of in self.samples for s in of if s.disturbed == disturbed), reverse=True)
        return (third(rates), statistics.median(rates)) if len(rates) >= 3 else None


def third(falling):
    """The third fastest; of fewer than five the upper median."""
    return falling[min(2, (len(falling) - 1) // 2)]


def work(row):
    return float(row["flops"] or 0) if row["role"] == "compute" else float(row["compulsory_bytes"] or 0) / (LINE if row["role"] == "latency" else 1)


def points_of_rows(rows):
    places, groups = {row.id: at for at, row in enumerate(rows)}, {}
    for row in rows:
        words = [word for word in row.id.split(" ") if not word.startswith("round=")]
        groups.setdefault(" ".join(words), []).append(row)
    return [Point(of, places) for of in groups.values()]


@dataclass
class Made:
    """A ceiling as computed here."""
    device: str
    kind: str
    level: str
    operation: str
    precision: str
    isa: str
    condition: str
    threads: int
    sustained: Sustained
    working_set: float
    extent: tuple
    clock: float
    point: Point = field(repr=False, default=None)
    nearer: float = 0.0  # the edge of the level before


def made(point, samples, level, clock, extent=(0, 0)):
    row = point.row
    scales = row["device"] == "cpu" and level != "DRAM" and (level == "core" or level[0] == "L" and level[1:].isdigit())
    of_run = clock.under(point) if scales else None
    found = point.sustained
    if samples:
        follows = scales and row["device"] in clock.varying
        found = sustained(credible(samples, of_run), tolerance(level), of_run) if follows else sustained(samples, tolerance(level))
        if follows and found.state == "at least":  # it stays a lower bound, whose samples need no clock
            found = sustained(samples, tolerance(level))
            found = replace(found, rate=(found.rate[1], *found.rate[1:]), state="at least")
        if row["device"].startswith("gpu") and (found.differ or found.rounds < ENOUGH_ROUNDS):
            found = over_all_rounds(samples, tolerance(level)) or found
    under = condition(row)
    if row["device"].startswith("gpu") and level == "DRAM" and row["operation"] == "store":
        under += (", " if under else "") + "bytes not counted"
    hertz = found.clock or (of_run[0] if of_run else number(row["clock_median_hz"], 0.0) if not scales else 0.0)
    return Made(row["device"], row["role"], level, row["operation"] or row["bench"], row["precision"], row["isa"], under, point.threads, found,
                point.set or 0.0, extent, hertz, point)


def credible(samples, of_run):
    if not of_run:
        return samples
    def told(s):
        return Sample(s.rate, of_run[0], True, s.against) if s.disturbed and not of_run[1] <= s.clock <= of_run[2] else s
    return [[told(s) for s in of] for of in samples]


def pooled(points, extra=()):
    rounds = [[] for _ in range(max(len(p.samples) for p in [*points, *(p for p, _ in extra)]))]
    for point in points:
        for of, into in zip(point.samples, rounds):
            into.extend(of)
    for point, factor in extra:
        for of, into in zip(point.samples, rounds):
            into.extend(s.times(factor) for s in of)
    return rounds


def agreeing(points, level):
    if len(points) < 2:
        return points
    found = sustained(pooled(points), tolerance(level))
    showing = [p for p in points if found and sum(abs(s.rate / found.centre - 1) <= 0.01 for of in p.samples for s in of) >= 2]
    if showing or any(p.samples for p in points):
        return showing or points
    falling = sorted(points, key=lambda p: -p.fastest)  # without samples
    return [p for p in falling if abs(p.fastest / falling[1].fastest - 1) <= 0.01]


def on_level(level, sweep, role, clock):
    within = lambda first: {size: point for size, point in sweep.items() if first <= size <= level.last}
    flat = [size for size in sweep if level.clear <= size <= level.flat_end]
    on = within(level.first) or {size: sweep[size] for size in flat[-1:]}  # of which the nearer level serves least
    if not on:
        return None
    points = list(on.values())
    if role == "latency":
        middle = math.sqrt(level.first * level.flat_end)
        points = [points[-1] if level.name == "DRAM" else min(points, key=lambda p: abs(math.log2(p.set / middle)))]
    shows = agreeing(points, level.name)
    named = max(shows, key=lambda p: (p.rounds, p is shows[len(shows) // 2]))
    named = named if named.rounds > shows[len(shows) // 2].rounds else shows[len(shows) // 2]
    per_clock = level.device == "cpu" and level.name != "DRAM" and level.device in clock.varying
    beside_own = lambda p: p not in points and p.set < named.set  # a smaller set, which may be faster by itself
    others = [(p, named.typical_rate(per_clock) / p.typical_rate(per_clock) if beside_own(p) else 1)
              for size, p in sweep.items() if level.clear <= size <= level.last and p not in shows]
    return replace(made(named, pooled(shows, others), level.name, clock, (level.first, level.last)), nearer=level.nearer)


def ceilings(folder):
    """(ceilings, levels, points) of a calibration."""
    points = points_of_rows(folder.rows)
    clock, sweeps = RunClock(points), sweeps_of(points)
    levels, found, paths = find_levels(sweeps, folder.machine), [], {}
    there = [point for point in points if point.rounds]
    found += [made(p, p.samples, "core", clock) for p in there if p.row["role"] == "compute" and not p.row["intensity"]]
    for role in ("bandwidth", "nodes", "latency"):
        if role == "nodes":
            found += [made(p, p.samples, "DRAM", clock) for p in there if p.row["role"] == "bandwidth" and p.row["cpu_node"] and p.set and not p.row["path"]]
            continue
        for key, sweep in sweeps.items():
            for level in levels:
                served = level.name == "DRAM" or level.past_l1 == past_l1(next(iter(sweep.values())).row)
                if (key[0], key[1], key[2]) == (role, level.device, level.threads) and served:
                    found += [ceiling for ceiling in [on_level(level, sweep, role, clock)] if ceiling]
    for point in there:
        row = point.row
        if row["role"] != "compute" and row["path"] and row["operation"] != "alone":
            key = (row["device"], row["path"], row["operation"] or row["bench"]) if row["size"] else row.id
            one = made(point, point.samples, row["path"], clock)
            if key not in paths or one.sustained.rate[0] > paths[key].sustained.rate[0]:
                paths[key] = one
    return in_order(found + list(paths.values())), levels, points


def distance(made):
    """Of a memory level from the core; None for a path."""
    if made.kind != "bandwidth" or made.level != "DRAM" and not (made.level[0] == "L" and made.level[1:].isdigit()):
        return None
    return math.inf if made.level == "DRAM" else int(made.level[1:])


def in_order(found):
    """Without the levels that a farther one outruns under the same accesses (docs/method.md, section 6)."""
    def outruns(near, far):
        alike = [(c.device, c.operation, c.isa, c.condition, c.threads, c.point.row["placement"] == "siblings") for c in (near, far)]
        if alike[0] != alike[1] or distance(near) is None or distance(far) is None or distance(near) >= distance(far):
            return False
        return far.sustained.rate[1] > near.sustained.rate[0 if near.sustained.state == "at least" else 2]

    at = 0
    while at < len(found):
        faster = next((other for other in found if outruns(found[at], other)), None)
        if faster is None:
            at += 1
            continue
        found = [c for c in found if c is not (found[at] if found[at].sustained.state == "at least" else faster)]
        at = 0
    return found


def unmeasured(folder, points):
    """[(device, precision, threads, operation, isa)] of multiply-adds that the machine offers and that have no row that is ok."""
    machine, found, widest_of = folder.machine, [], {}
    isas, features = machine.get("isa") or [], machine.get("features") or []
    widest = next((isa for isa in reversed(isas) if isa != "amx"), None)
    for point in points:
        row = point.row
        operation, isa, precision = row["operation"] or row["bench"], row["isa"], row["precision"]
        if row["role"] != "compute" or operation not in MULTIPLY_ADDS or condition(row) or row["status"] == "unsupported":
            continue
        if row["device"] == "cpu" and isas:
            of_dot = {"bf16": f"{isa}_bf16"}.get(precision, "avx_vnni" if isa == "avx2" else f"{isa}_vnni")
            need = f"amx_{precision}" if isa == "amx" else f"{isa}_fp16" if precision == "fp16" else of_dot if operation == "dot" else None
            if isa != "amx" and isa not in isas or need and need not in features:
                continue
        key = row["device"], precision, point.threads
        if not point.rounds:
            found.append((*key, operation, isa))
        if row["device"] == "cpu" and precision in ("fp32", "fp64"):
            widest_of[key] = widest_of.get(key, False) or widest is None or isa == widest
    return found + [(*key, "fma", widest) for key, has in widest_of.items() if not has]

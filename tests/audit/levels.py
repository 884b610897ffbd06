"""Memory levels from sweeps of working sets (docs/method.md, section 6, From a sweep to levels): the division into plateaus is searched
anew here."""

import math
import statistics
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

ASCENT, LONG_ASCENT, PLATEAU, SPAN, LATENCY, MOST_LEVELS, CONTRAST, CLEAR, APART, FROM_NEARER, AGREE = 0.22, 3, 0.13, 0.4, 0.7, 7, 0.1, 1.68, 1.3, 0.1, 0.003


def condition(row):
    found = [row["placement"]] if row["placement"] not in ("", "cores") else []
    found += [f"{row['pages']} pages"] if row["pages"] not in ("", "huge") else []
    found += [row["path"]] if row["path"] else []
    found += [f"node {row['cpu_node']} from node {row['memory_node']}"] if row["cpu_node"] and row["memory_node"] else []
    return ", ".join(found)


def past_l1(row):
    return row["device"].startswith("gpu") and (row["isa"] in ("cg", "bulk") or row["operation"] == "store")


@dataclass
class Level:
    device: str
    threads: int
    name: str
    first: float  # the smallest set that the nearer level does not help to serve
    last: float  # the largest set of which the level serves half
    edge: float  # 0: memory
    flat_end: float
    clear: float
    beyond: float = 0.0
    past_l1: bool = False
    nearer: float = 0.0  # the edge of the level before
    sharing: str = "unclear"


def sweeps_of(points):
    """{(role, device, threads, condition, operation, past L1): {working set: fastest point}}"""
    found = {}
    for point in points:
        row = point.row
        if point.rounds and row["role"] in ("bandwidth", "latency") and point.set and not row["cpu_node"] and not row["path"]:
            key = (row["role"], row["device"], point.threads, condition(row), row["operation"] or row["bench"], row["isa"] if past_l1(row) else "")
            of = found.setdefault(key, {})
            if point.set not in of or of[point.set].sustained.rate[0] < point.sustained.rate[0]:
                of[point.set] = point
    return {key: dict(sorted(of.items())) for key, of in sorted(found.items(), key=lambda item: (("bandwidth", "latency").index(item[0][0]), *item[0][1:]))}


def curve(sweep):
    """[(set, fastest, typical)]: of the undisturbed samples, or of the disturbed ones where more sets have three of them."""
    every = [(size, point.fastest, point.typical) for size, point in sweep.items()]
    alone, shared = ([(size, *rates) for size, point in sweep.items() if (rates := point.by_state(state))] for state in (False, True))
    most = alone if len(alone) >= len(shared) else shared
    return every if 2 * len(most) < len(every) else most


class Cost:
    """log2 of the time of a line over octaves: a median of three, then the least of itself and all larger sets."""

    def __init__(self, points, weight):
        self.octaves, self.weight = [math.log2(size) for size, _, _ in points], weight
        raw = [-math.log2(rate) for _, rate, _ in points]
        smooth = [raw[0]] + [statistics.median(raw[at - 1:at + 2]) for at in range(1, len(raw) - 1)] + ([min(raw[-2:])] if len(raw) > 1 else [])
        self.costs = [min(smooth[at:]) for at in range(len(smooth))]

    def __call__(self, octave):
        at = bisect_left(self.octaves, octave)
        if at == len(self.octaves):
            return self.costs[-1]
        if at == 0 or self.octaves[at] == octave:
            return self.costs[at]
        share = (octave - self.octaves[at - 1]) / (self.octaves[at] - self.octaves[at - 1])
        return self.costs[at - 1] + share * (self.costs[at] - self.costs[at - 1])


def divided(costs, edges, most):
    """[(first, last)] of the plateaus of the division with the least sum, in octaves. `edges`: where each has to lie, (low, high)."""
    low = max(of.octaves[0] for of in costs)
    octaves = sorted({octave for of in costs for octave in of.octaves if octave >= low})
    rise = [sum(of.weight * of(octave) for of in costs) for octave in octaves]
    n, best = len(octaves), []
    # best[k][j]: the least sum of k + 1 plateaus, the last of which ends at j, with its first and the end of the one before
    for k in range(len(edges) + 1 if edges else most):
        row = [(math.inf, 0, None)] * n
        for i in range(n):
            if k == 0:
                start, before = (PLATEAU, None) if i == 0 else (math.inf, None)
            else:
                start, before = math.inf, None
                for end in range(i):
                    if edges and not (octaves[end] <= math.log2(edges[k - 1][1]) and octaves[i] >= math.log2(edges[k - 1][0])):
                        continue
                    ascent = octaves[i] - octaves[end]
                    total = best[k - 1][end][0] + PLATEAU + ASCENT * (ascent + max(0.0, ascent - LONG_ASCENT))
                    if total < start:
                        start, before = total, end
            for j in range(i, n):
                if octaves[j] - octaves[i] >= SPAN and start + rise[j] - rise[i] < row[j][0]:
                    row[j] = (start + rise[j] - rise[i], i, before)
        best.append(row)
    k = len(best) - 1 if edges else min(range(len(best)), key=lambda at: (best[at][-1][0], at))
    if best[k][-1][0] == math.inf:
        return None
    found, end = [], n - 1
    while k >= 0:
        _, first, before = best[k][end]
        found.insert(0, (octaves[first], octaves[end]))
        k, end = k - 1, before
    return found


def whole(octave):
    return float(round(2**octave))


def medians_between(points, low, high):
    """The medians of the fastest and the typical rates of these sets. The fastest rate of a larger set is one of a smaller set too."""
    fastest, rates, typical = 0.0, [], []
    for size, rate, usual in reversed(points):
        fastest = max(fastest, rate)
        if whole(low) <= size <= whole(high):
            rates.append(fastest)
            typical.append(usual)
    return (statistics.median(rates), statistics.median(typical)) if rates else None


def is_edge(curves, near, far):
    """Latencies, else loads, show it by their fastest rates; and one of them by its typical rates, which fall at least half as much."""
    last, typically = False, False
    for points, _ in curves:
        before, after = medians_between(points, *near), medians_between(points, *far)
        if before and after:
            fall = math.log2(before[0] / after[0])
            last = fall >= CONTRAST
            typically |= last and math.log2(before[1] / after[1]) >= 0.5 * fall
    return last and typically


def edge_between(costs, start, end):
    """Where the time crosses the mean of both levels' times, by the curve with the closest points around it."""
    found = []
    for of in costs:
        near, far = 2 ** of(start), 2 ** of(end)
        if math.log2(far / near) < CONTRAST:
            continue
        half = (near + far) / 2
        for at in range(1, len(of.octaves)):
            left, right = 2 ** of.costs[at - 1], 2 ** of.costs[at]
            if of.octaves[at] > start and right >= half:
                bracket = of.octaves[at] - of.octaves[at - 1]
                share = min(max((half - left) / (right - left), 0), 1) if right != left else 0
                found.append((bracket, -math.log2(far / near), of.octaves[at - 1] + share * bracket))
                break
    return 2 ** (min(found)[2] if found else (start + end) / 2)


def plateaus(curves, edges, most=MOST_LEVELS):
    """[(first set, last set, edge)] of curves [(points, weight)]."""
    if len(curves[0][0]) < 3:
        return []
    costs = [Cost(points, weight) for points, weight in curves if points]
    found = divided(costs, edges, most)
    if found is None:
        return None
    at = 0
    while not edges and at + 1 < len(found):
        if is_edge(curves, found[at], found[at + 1]):
            at += 1
        else:
            found[at:at + 2] = [(found[at][0], found[at + 1][1])]
    made = []
    for at, (low, high) in enumerate(found):
        edge = 0.0
        if at + 1 < len(found):
            edge = edge_between(costs, math.log2(whole(high)), math.log2(whole(found[at + 1][0])))
            edge = min(max(edge, edges[at][0]), edges[at][1]) if edges else edge
        made.append((whole(low), whole(high), edge))
    return made


def placed_between(edges, points):
    """Where the sets are too few to find the edges again: each belongs to the level in which it lies wherever the edges are."""
    found = []
    for at in range(len(edges) + 1):
        low, high = CLEAR * edges[at - 1][1] if at else 0, edges[at][0] if at < len(edges) else math.inf
        sizes = [size for size, _, _ in points if low <= size <= high]
        found.append((sizes[0] if sizes else 0.0, sizes[-1] if sizes else 0.0, high if at < len(edges) else 0.0))
    return found


def caches_of(machine, device, threads):
    """(number of the caches that are reported, capacity of the largest that so many threads reach)"""
    levels = next((its["levels"] for its in machine["devices"] if its["name"] == device), [])
    caches = [level for level in levels if level["name"] != "DRAM" and float(level.get("capacity_bytes") or 0) > 0]
    reached = [float(level["capacity_bytes"]) * instances(level, threads, machine) for level in caches]
    return len(caches), max(reached, default=0.0)


def instances(level, threads, machine):
    each = max(1, math.ceil((level.get("shared_by_threads") or 0) / max(1, machine.get("smt") or 1)))
    return min(max(math.ceil(threads / each), 1), max(1, level.get("instances") or 1))


def levels_of(loads, latencies, edges, device, threads, machine, shows_caches, number_of_first=1):
    points = curve(loads)
    caches, largest = caches_of(machine, device, threads)
    past_caches = bool(points) and points[-1][0] > CLEAR * largest
    most = caches + (past_caches or shows_caches) if caches >= 3 else MOST_LEVELS
    curves = [(points, 1)] + ([(curve(latencies), LATENCY)] if latencies else [])
    found = plateaus(curves, edges, most) or (placed_between(edges, points) if edges else [])
    memory = past_caches or shows_caches and len(found) + number_of_first - 1 > caches
    sizes, made = [size for size, _, _ in points], []
    index = lambda size: bisect_left(sizes, size)
    for at, (low, high, edge) in enumerate(found):
        nearer, is_last = found[at - 1][2] if at else 0, at + 1 == len(found)
        if high <= 0 or is_last and high < CLEAR * nearer:
            continue
        is_memory = is_last and memory
        begin = math.sqrt(low * high) if is_memory and nearer else low
        end = max(1, index(high + 1))
        held = CLEAR * largest if is_memory and past_caches else 0
        first = min(index(max(begin, held, nearer / FROM_NEARER)), end - 1)
        rates = [{size: fastest for size, fastest, _ in points}]
        rates += [{size: point.fastest for size, point in latencies.items()}] if latencies else []

        def falls(a, b):
            return max(of[sizes[a]] / of[sizes[b]] - 1 for of in rates if sizes[a] in of and sizes[b] in of)

        agree = [i for i in range(index(max(low, 2.1 * nearer)) + 2, first + 1)
                 if falls(i - 1, first) > AGREE and max(falls(i - 2, i - 1), falls(i - 1, i - 2)) <= AGREE]
        first = max(agree) - 2 if agree and not is_memory and device == "cpu" else first
        clear = min(index(max(low, held, CLEAR * nearer)), first)
        measured = list(loads)  # in whatever state of the cores
        after = len(measured) if is_last else bisect_right(measured, edge)
        last = max(sizes[first], measured[after - 1]) if after else sizes[first]
        made.append(Level(device, threads, "DRAM" if is_memory else f"L{at + number_of_first}", sizes[first], last, edge, sizes[end - 1], sizes[clear],
                          measured[after] if after < len(measured) else 0.0, nearer=nearer))
    return made


def find_levels(sweeps, machine):
    chosen, fewest, every = {}, {}, []
    for key, sweep in sweeps.items():
        role, device, threads, under, operation, past = key
        if role == "bandwidth" and not under and not past and ((device, threads) not in chosen or operation == "load"):
            chosen[device, threads] = sweep
    for (device, threads), sweep in sorted(chosen.items()):
        is_cpu = device == "cpu"
        latencies = sweeps.get(("latency", device, threads, "", "latency", "")) if is_cpu else None
        edges = []
        for level in fewest.get(device, []):
            if level.edge:  # of a cache that is shared or each thread's own
                edges.append((level.edge / APART, level.edge * threads / level.threads * APART))
        of_fewest = fewest.get(device, [])
        shows_caches = bool(latencies) or bool(of_fewest) and of_fewest[-1].name == "DRAM"
        levels = levels_of(sweep, latencies, edges, device, threads, machine, shows_caches)
        past = sweeps.get(("bandwidth", device, threads, "", "load", "cg"))
        if past:
            levels = behind_l1(levels, levels_of(past, None, [], device, threads, machine, False, 2))
        if is_cpu and not fewest.get(device):
            fewest[device] = levels
        every += levels
    for one in every:
        for more in every:
            if one.threads == 1 and more.threads > 1 and (one.device, one.name) == (more.device, more.name) and one.edge and more.edge:
                one.sharing = more.sharing = sharing(one, more, machine)
    return every


def behind_l1(through, past):
    for level in past:
        level.past_l1 = level.name != "DRAM"
    if past and through:
        past[-1].first = max(past[-1].first, through[-1].first)
    if not through or through[0].name != "L1":
        return past
    through[0].last = through[0].edge = through[0].flat_end
    return [through[0], *past]


def reported(machine, device, name):
    levels = next((its["levels"] for its in machine["devices"] if its["name"] == device), [])
    return next((level for level in levels if level["name"] == name), None)


def sharing(one, more, machine):
    growth = more.edge / one.edge
    about = lambda wanted: wanted / APART < growth < wanted * APART
    seen = "per core" if about(more.threads) else "shared" if about(1) else "unclear"
    told = reported(machine, one.device, one.name)
    if not told or not told.get("capacity_bytes") or not told.get("shared_by_threads"):
        return seen
    is_shared = math.ceil(told["shared_by_threads"] / max(1, machine.get("smt") or 1)) > 1
    return seen if seen == ("shared" if is_shared else "per core") else "unclear"

"""Roofs from ceilings, and the time that they allow (docs/method.md, sections 6 and 7)."""

import re
from dataclasses import dataclass, field, replace
from itertools import combinations

# Of the bytes that a loop reads and writes: docs/method.md, section 6, the table of operations.
READ_SHARE = {"load": 1.0, "store": 0.0, "store_nt": 0.0, "copy": 0.5, "copy_nt": 0.5, "update": 0.5, "accumulate": 2 / 3,
              "accumulate_two": 3 / 4, "triad": 2 / 3}

MULTIPLY_ADDS = ("fma", "mul+add", "dot", "tile", "tile_pairs", "widened", "matmul")
NARROWEST_FIRST = ("scalar", "neon", "sse", "avx2", "sve", "avx512", "amx")


def read_share(operation):
    """By its name, or counted in its text: "y[i]+=a*x[i]" reads two of three. None where it is no loop over arrays."""
    if operation in READ_SHARE:
        return READ_SHARE[operation]
    target, is_assigned, terms = operation.split(":")[-1].partition("=")
    arrays = lambda text: set(re.findall(r"\w+(?=\[i\])", text))
    stored = arrays(target) if is_assigned else set()
    read = arrays(terms) | (arrays(target) if not is_assigned or target[-1] in "+-*" else set())
    return len(read) / (len(read) + len(stored)) if read or stored else None


@dataclass(frozen=True)
class Ceiling:
    """A line of the program's own ceilings table; this auditor takes its rate as given (see ceilings.py)."""
    device: str
    kind: str
    level: str
    operation: str
    precision: str
    isa: str
    threads: int
    median: float
    low: float
    high: float
    samples: int
    condition: str
    working_set: int
    state: str
    known: str
    rounds: int
    lasting: bool = False

    @property
    def at_least(self):
        return self.state == "at least"

    @property
    def rounds_of_interval(self):
        """0 for an interval over samples."""
        return 0 if self.at_least or self.rounds < 3 else self.rounds


@dataclass
class Level:
    name: str
    nearer: float  # what the caches nearer to the core hold, bytes
    loops: dict = field(default_factory=dict)  # operation -> Ceiling

    @property
    def best(self):
        return max(self.loops.values(), key=lambda ceiling: ceiling.median)

    @property
    def best_rate(self):
        return self.best.median

    def fastest(self, low, read, written, rate=lambda ceiling: ceiling.median):
        """The least time for these bytes and the loops that make it up; `read` and `written` are None where they are not told apart."""
        if read is None or written is None or read + written <= 0:
            best = max(self.loops.values(), key=rate)
            return low / rate(best), [best]
        return sequence(read, written, [(rate(loop), read_share(operation), loop) for operation, loop in self.loops.items()])

    def seconds(self, low, read, written):
        return self.fastest(low, read, written)[0]

    def interval(self):
        """The ends of the roof's interval over its median: those of the level's fastest loop, whatever the mix."""
        return self.best.low / self.best.median, max(1.0, self.best.high / self.best.median)

    @property
    def rounds_of_interval(self):
        return self.best.rounds_of_interval


def sequence(read, written, loops):
    """The fastest sequence of loops that reads and writes these bytes: a linear program with two conditions, so one or two loops."""
    found = []
    for rate, share, loop in loops:
        if (share or not read) and (share < 1 or not written):
            found.append((max(read / share if read else 0, written / (1 - share) if written else 0) / rate, [loop]))
    for (rate_a, a, loop_a), (rate_b, b, loop_b) in combinations(loops, 2):
        # x_a a + x_b b = read and x_a (1 - a) + x_b (1 - b) = written
        determinant = a * (1 - b) - b * (1 - a)
        if abs(determinant) < 1e-12:
            continue
        x_a = (read * (1 - b) - written * b) / determinant
        x_b = (written * a - read * (1 - a)) / determinant
        if x_a >= -1e-9 * read and x_b >= -1e-9 * written:
            found.append((max(x_a, 0) / rate_a + max(x_b, 0) / rate_b, [loop for loop, x in ((loop_a, x_a), (loop_b, x_b)) if x > 1e-9 * (read + written)]))
    return min(found, key=lambda item: item[0]) if found else (None, [])


@dataclass
class Roofs:
    """The roofs of one device at one number of threads."""
    device: str
    threads: int
    levels: list
    compute: dict  # precision -> Ceiling
    mixes: dict
    latency: object = None

    def level(self, name):
        return next(level for level in self.levels if level.name == name)


def devices(ceilings):
    return list(dict.fromkeys(ceiling.device for ceiling in ceilings))


def thread_counts(ceilings, device):
    return sorted({ceiling.threads for ceiling in ceilings if ceiling.device == device and ceiling.kind in ("compute", "bandwidth")})


def best_by(ceilings, key):
    found = {}
    for ceiling in ceilings:
        name = key(ceiling)
        if name not in found or ceiling.median > found[name].median:
            found[name] = ceiling
    return found


def width(isa):
    return NARROWEST_FIRST.index(isa) + 1 if isa in NARROWEST_FIRST else 0


def roof_of(ceilings, threads, unmeasured=()):
    """The fastest at these threads or fewer (docs/method.md, section 6): (ceiling, whether something faster may not have been measured)."""
    fastest = lambda of: max(of, key=lambda ceiling: ceiling.median, default=None)
    own, fewer = fastest([c for c in ceilings if c.threads == threads]), fastest([c for c in ceilings if c.threads < threads])
    is_open = own is None or own.at_least
    takes_fewer = fewer is not None and (own is None or fewer.low > (own.median if is_open else own.high))
    best = fewer if takes_fewer else own
    if best is None:
        return None, False
    two = ("mul+add", "widened")  # instructions: no faster than one as wide
    stands_in = takes_fewer and is_open or any(
        (device, precision, at) == (best.device, best.precision, threads) and (width(isa) > width(best.isa) or width(isa) == width(best.isa) and operation not in two)
        for device, precision, at, operation, isa in unmeasured if best.kind == "compute")
    if stands_in and not best.at_least:
        best = replace(best, median=best.low, state="at least")
    return best, stands_in


def roofs_of(ceilings, levels, device, threads, unmeasured=()):
    """`levels`: rows of the table of levels, with `to_bytes`. Threads that were not measured: the largest measured number."""
    counts = thread_counts(ceilings, device)
    if not counts:
        return None
    at = threads if threads in counts else counts[-1]
    mine = [ceiling for ceiling in ceilings if ceiling.device == device and ceiling.threads <= at and not ceiling.condition]
    loops = [ceiling for ceiling in mine if ceiling.kind == "bandwidth" and read_share(ceiling.operation) is not None]
    names = dict.fromkeys([row["level"] for row in levels if row["device"] == device] + [ceiling.level for ceiling in loops])
    capacity = {row["level"]: float(row["to_bytes"] or 0) for row in levels if row["device"] == device and int(row["threads"]) == at}
    found, nearer = [], 0.0
    for name in sorted(names, key=lambda name: (name[0] != "L" and name != "DRAM", name == "DRAM", name)):
        roof, stands_in = roof_of([loop for loop in loops if loop.level == name], at)
        if roof:
            of_level = [replace(loop, state="at least") if stands_in else loop for loop in loops if loop.level == name and loop.threads == roof.threads]
            found.append(Level(name, nearer, best_by(of_level, lambda ceiling: ceiling.operation)))
        nearer = max(nearer, capacity.get(name, 0.0))
    roofs, mixes = {}, {}
    for precision in dict.fromkeys(ceiling.precision for ceiling in mine if ceiling.kind == "compute"):
        of = [ceiling for ceiling in mine if ceiling.kind == "compute" and ceiling.precision == precision]
        roof, _ = roof_of([c for c in of if c.operation in MULTIPLY_ADDS or c.operation.endswith("FLOPs")], at, unmeasured)
        if roof:
            roofs[precision] = roof
        faster = [c for c in of if c.threads == at and (not roof or c.median > roof.median)]
        if faster:
            mixes[precision] = max(faster, key=lambda ceiling: ceiling.median)
    latency = [c for c in ceilings if c.device == device and c.kind == "latency" and c.operation == "latency" and found and c.level == found[-1].name]
    return Roofs(device, at, found, roofs, mixes, max(latency, key=lambda c: c.median) if latency else None)

"""Places steps, phases and layers under roofs (docs/method.md, sections 5 and 7; docs/parallel.md for ranks)."""

from dataclasses import dataclass, field

PHASES = ("forward", "backward", "update")


def rate(amount, times):
    """The rate of an amount over (median, low, high) of a time: its interval is the inverted one."""
    median, low, high = times
    return tuple(amount / t if t else 0.0 for t in (median, high, low))


@dataclass
class Part:
    """A layer in one pass, as layers.csv has it."""
    name: str
    kind: str
    phase: str
    implementation: str
    times: tuple
    samples: int
    flops: float
    executed: float
    low: float
    no_reuse: float
    read: float
    written: float
    known: str
    refetched: tuple = ()  # (bytes kept, bytes moved again where the nearer caches keep fewer)

    @staticmethod
    def of(cells):
        value = lambda name: float(cells.get(name) or 0)
        read, written = value("read_bytes"), value("written_bytes")
        told_apart = read + written > 0
        return Part(cells["layer"], cells["kind"], cells["phase"], cells.get("implementation", ""),
                    tuple(value(f"time_{part}_s") for part in ("median", "low", "high")), int(value("samples")), value("flops"),
                    value("executed_flops"), value("compulsory_bytes"), value("no_reuse_bytes"), read if told_apart else None,
                    written if told_apart else None, cells.get("work_known", ""),
                    tuple(tuple(map(float, pair.split(":"))) for pair in (cells.get("refetched_bytes") or "").split()))

    @property
    def time(self):
        return self.times[0]

    @property
    def calculated(self):
        """Executed FLOPs where they are known."""
        return self.executed or self.flops

    def high(self, nearer):
        return self.low if self.low <= nearer else max(self.no_reuse, self.low)

    def again(self, nearer):
        return sum(moved for kept, moved in self.refetched if nearer < kept)

    def at(self, level):
        """All bytes that cross into the caches nearer than the level, and those read and written, as Level.fastest takes them."""
        again = self.again(level.nearer)
        return self.low + again, None if self.read is None else self.read + again, self.written


@dataclass
class Allowed:
    """What the roofs allow one part: seconds by roof, the longest of them, and its name."""
    by_roof: dict

    @property
    def bound(self):
        return max(self.by_roof, key=self.by_roof.get) if self.by_roof else ""

    @property
    def seconds(self):
        return max(self.by_roof.values(), default=0.0)


def allowed(part, roofs, precision):
    times = {}
    compute = roofs.compute.get(precision)
    if part.calculated and not compute:
        return Allowed({})
    if compute and part.calculated:
        times[precision] = part.calculated / compute.median
    for level in reversed(roofs.levels):  # the farthest level first: it is named where two allow the same
        if part.low:
            times[level.name] = level.seconds(*part.at(level))
    return Allowed({name: seconds for name, seconds in times.items() if seconds is not None})


def interval_of(roofs, precision, name):
    """The ends of a roof's interval over its median."""
    if name == precision:
        roof = roofs.compute[precision]
        return roof.low / roof.median, max(1.0, roof.high / roof.median)
    return roofs.level(name).interval()


def rounds_of(roofs, precision, name):
    """The rounds of a roof's interval; 0 for one over samples."""
    return (roofs.compute[precision] if name == precision else roofs.level(name)).rounds_of_interval


@dataclass
class Point:
    scope: str
    name: str
    kind: str
    phase: str
    implementation: str
    times: tuple
    samples: int
    flops: float
    executed: float
    parts: list
    known: str
    attainable: float = 0.0
    bound: str = ""
    verdict: str = "unknown"  # compute, bandwidth, launch, latency, unexplained
    note: str = ""
    served: str = ""

    @property
    def time(self):
        return self.times[0]

    @property
    def low(self):
        return sum(part.low for part in self.parts)

    def high(self, nearer):
        return sum(part.high(nearer) for part in self.parts)

    def level_seconds(self, level):
        if level.name not in self.seconds_at:
            self.seconds_at[level.name] = self._level_seconds(level)
        return self.seconds_at[level.name]

    def _level_seconds(self, level):
        return sum(level.seconds(*part.at(level)) for part in self.parts if part.low)

    @property
    def share(self):
        return self.attainable / self.time if self.time and self.attainable else None

    @property
    def headroom(self):
        return max(0.0, self.time - self.attainable)

    seconds_at: dict = field(default_factory=dict)
    beyond: float = 0.0  # how many times faster than the roofs allow, where that is beyond all intervals

    @property
    def rate(self):
        return rate(self.flops, self.times)


def whole_of(row):
    """A step without layers counts as one part; counted bytes are those of the farthest level (docs/method.md, section 10)."""
    value = lambda name: float(row[name] or 0)
    read, written = value("read_bytes"), value("written_bytes")
    low = value("compulsory_bytes")
    return Part(row["model"], "", "", "", row.step, int(row["samples"] or 0), value("flops"), value("executed_flops"), low, value("no_reuse_bytes"),
                read if read + written else None, written if read + written else None, row["work_known"])


def placed(row, roofs):
    """The points of a measured step: the step, its phases, its layers in the order of layers.csv."""
    layered = [Part.of(cells) for cells in row.layers]
    parts = layered or [whole_of(row)]
    precision = row["precision"]
    layers, time_of, roof_of = [], {}, {}
    for part in parts:
        allows = allowed(part, roofs, precision) if roofs else Allowed({})
        if not layered:
            time_of[id(part)], roof_of[id(part)] = allows.seconds, allows.bound
            continue
        point = Point("layer", part.name, part.kind, part.phase, part.implementation, part.times, part.samples, part.flops, part.executed,
                      [part], part.known, allows.seconds, allows.bound)
        point.allows = allows
        time_of[id(part)] = min(allows.seconds, part.time)
        roof_of[id(part)] = allows.bound
        if roofs and allows.seconds > part.time:
            fastest = max(seconds / interval_of(roofs, precision, name)[1] for name, seconds in allows.by_roof.items())
            point.beyond = allows.seconds / part.time if fastest > part.times[2] else 0.0
        layers.append(point)
    shortest = min((part.time for part in layered), default=0.0)
    for point in layers:
        point.verdict = verdict(point, roofs, precision, shortest, row.threads)

    def summed(scope, name, phase, times, samples, flops, executed, of):
        point = Point(scope, name, "", phase, "", times, samples, flops, executed, of, row["work_known"])
        point.attainable = sum(time_of[id(part)] for part in of)
        under = {}
        for part in of:
            under[roof_of[id(part)]] = under.get(roof_of[id(part)], 0.0) + time_of[id(part)]
        point.bound = max(under, key=under.get) if under else ""
        if roofs and precision not in roofs.compute and any(part.calculated for part in of):
            point.attainable, point.bound = 0.0, ""
        point.verdict = verdict(point, roofs, precision, 0.0, row.threads)
        return point

    points = [summed("step", row["model"], "", row.step, int(row["samples"] or 0), float(row["flops"] or 0), float(row["executed_flops"] or 0), parts)]
    for phase in PHASES:
        of = [part for part in parts if part.phase == phase]
        times = tuple(float(row[f"{phase}_{part}_s"] or 0) for part in ("median", "low", "high"))
        if of and times[0]:
            points.append(summed("phase", phase, phase, times, 0, sum(part.flops for part in of),
                                 executed_of(of), of))
    return points + layers


def executed_of(parts):
    """Of a phase: those of its parts where one is known to execute another number than is counted, else unknown (0)."""
    total = sum(part.calculated for part in parts)
    return total if total != sum(part.flops for part in parts) and any(part.executed for part in parts) else 0.0


def verdict(point, roofs, precision, shortest, threads):
    """docs/method.md, Which bound is claimed."""
    if not point.bound or not point.share:
        return "unknown"
    if point.share >= 0.5:
        return "compute" if point.bound == precision else "bandwidth"
    if point.scope == "layer":
        if point.attainable < shortest and point.time <= 2 * shortest:
            return "launch"
        if roofs.latency and point.low:
            chase = point.low / 64 / max(1, threads) / roofs.latency.median
            if chase / 2 <= point.time <= chase * 2:
                return "latency"
    return "unexplained"

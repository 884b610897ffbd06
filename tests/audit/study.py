"""A results folder under the ceilings of a calibration: the figures that every output shows, each once, by docs/method.md."""

import fitted
import lasting
from answer import has_bytes_of_others, took_turns, waited
from draws import deviations, shares_of_roofs
from placing import PHASES, allowed, placed, rate
from reading import Folder
from roofs import Ceiling, Level, Roofs, devices, roofs_of


def as_roof(made):
    """A ceiling as roofs.py takes it."""
    rate = made.sustained.rate
    return Ceiling(made.device, made.kind, made.level, made.operation, made.precision, made.isa, made.threads, rate[0], rate[1], rate[2], made.sustained.samples,
                   made.condition, int(made.working_set), made.sustained.state, fitted.timed(made.point.row), made.sustained.rounds)


STATES = ("steady", "seen once", "unsteady: clock", "unsteady: rounds", "unsteady: changed", "at least")  # a sum has the last of its parts


def added(ceilings):
    """The sum of the ceilings of several devices; a lower bound if one of them is one."""
    first = ceilings[0]
    total = lambda name: sum(getattr(ceiling, name) for ceiling in ceilings)
    state = max((ceiling.state for ceiling in ceilings), key=STATES.index)
    return Ceiling(first.device, first.kind, first.level, first.operation, first.precision, first.isa, first.threads, total("median"), total("low"),
                   total("high"), min(ceiling.samples for ceiling in ceilings), first.condition, first.working_set, state, "measured, added",
                   min(ceiling.rounds for ceiling in ceilings))


def group(several, name):
    """Roofs of the devices of a group, added level by level and precision by precision (docs/parallel.md, Under which roof)."""
    if not all(several):
        return None
    levels = []
    for level in several[0].levels:
        members = [next((other for other in roofs.levels if other.name == level.name), None) for roofs in several]
        if all(members):
            loops = {name: added([member.loops[name] for member in members]) for name in level.loops if all(name in member.loops for member in members)}
            levels.append(Level(level.name, sum(member.nearer for member in members), loops))
    both = lambda tables: {p: added([t[p] for t in tables]) for p in tables[0] if all(p in t for t in tables)}
    return Roofs(name, several[0].threads, levels, both([r.compute for r in several]), both([r.mixes for r in several]), several[0].latency)


KINDS = ("convolution", "linear", "batch_norm", "layer_norm", "attention", "relu", "relu6", "gelu", "gelu_tanh", "silu", "hard_swish", "sigmoid", "hard_sigmoid", "max_pool", "average_pool", "add",
         "multiply", "concat", "slice", "shuffle", "flatten", "dropout", "rms_norm", "rope", "embedding", "positions", "take_positions", "resize", "tanh", "loss")


def kind_of(layer):
    """The kind of layer that the breakdown names; updates stand apart."""
    kind = "loss" if layer.kind == "softmax_cross_entropy" else layer.kind
    return "update" if layer.phase == "update" else kind if kind in KINDS else "other"


def farthest_only(roofs):
    """Roofs over bytes that were counted at the farthest level alone."""
    return roofs and Roofs(roofs.device, roofs.threads, roofs.levels[-1:], roofs.compute, roofs.mixes, roofs.latency)


def verdict_of_whole(point, row):
    return "unknown" if not point.bound else "unexplained" if point.share < 0.5 else "compute" if point.bound == row["precision"] else "bandwidth"


class Step:
    """A measured step with its points."""

    def __init__(self, study, row):
        self.study, self.row = study, row
        self.roofs = farthest_only(study.roofs_for(row)) if row["work_known"] == "counter" and not row.layers else study.roofs_for(row)
        self.link = study.link_for(row)
        self.points = placed(row, self.roofs)
        self.step = self.points[0]
        self.layers = [point for point in self.points if point.scope == "layer"]
        if not self.layers:
            self.points[0].verdict = verdict_of_whole(self.points[0], row)
        drawn = {id(layer.parts[0]): (deviations(layer.parts[0], self.roofs, row["precision"]) if self.roofs else {}, layer.time) for layer in self.layers}
        for point in self.points:
            if not self.layers:
                drawn[id(point.parts[0])] = (deviations(point.parts[0], self.roofs, row["precision"]) if self.roofs else {}, point.time)
            point.drawn = shares_of_roofs(point, [drawn[id(part)] for part in point.parts])
        if self.link and self.step.attainable < self.link_seconds:
            self.step.attainable, self.step.bound, self.step.drawn = self.link_seconds, "link", {"link": 1.0}
            self.step.verdict = "link" if self.step.share >= 0.5 else "unexplained"

    @property
    def crossing(self):
        """Bytes that each of n links carries each way."""
        n = self.row.ranks
        factor = 1 if self.row["communication"] == "broadcast" else 2 * (n - 1) / n
        return float(self.row["messages_bytes"] or 0) * factor

    @property
    def bus(self):
        seconds = sum(float(self.row[f"{name}_median_s"] or 0) for name in ("exposed", "hidden"))
        return self.crossing / seconds if seconds else None

    @property
    def link_seconds(self):
        return self.crossing / self.link.median

    @property
    def compute_roof(self):
        return self.roofs.compute.get(self.row["precision"]) if self.roofs else None

    @property
    def share_of_peak(self):
        roof = self.compute_roof
        return self.step.flops / self.step.time / roof.median if roof and self.step.time else None

    def roof_may_be_higher(self, point):
        if not hasattr(point, "may_be_higher"):
            point.may_be_higher = self._roof_may_be_higher(point)
        return point.may_be_higher

    def _roof_may_be_higher(self, point):
        return any(ceiling.at_least for part in point.parts for ceiling in self.binding(part))

    def bytes_may_be_more(self, point):
        if not hasattr(point, "more_bytes"):
            point.more_bytes = self._bytes_may_be_more(point)
        return point.more_bytes

    def _bytes_may_be_more(self, point):
        """Whether with `high` bytes the bandwidth roofs would allow more of the measured time of a part, or the bytes are unknown."""
        def most(part):
            return max((level.seconds(*part.at(level)) * part.high(level.nearer) / part.low for level in self.roofs.levels if part.low),
                       default=0.0)
        if not self.roofs:
            return False
        if self.roofs.levels and not any(part.low for part in point.parts):
            return True
        return any(min(most(part), part.time) > (1 + 1e-9) * min(allowed(part, self.roofs, self.row["precision"]).seconds, part.time)
                   for part in point.parts)

    def nearer_may_bind(self, point):
        """Whether most of the time under the roof that binds is that of parts of which a nearer cache may have held so many bytes that another
        roof allows less for the others (docs/method.md, section 7)."""
        under = of_nearer = 0.0
        for part in point.parts:
            allows = allowed(part, self.roofs, self.row["precision"]) if self.roofs else None
            if not allows or allows.bound != point.bound or allows.bound == self.row["precision"]:
                continue
            seconds = min(allows.seconds, part.time) if part.time else allows.seconds
            under += seconds
            elsewhere = max(0.0, part.low - self.roofs.level(allows.bound).nearer) / part.low
            others = max((other for name, other in allows.by_roof.items() if name != allows.bound), default=0.0)
            if self.row["work_known"] == "analytic" and elsewhere * allows.seconds < others:
                of_nearer += seconds
        return 2 * of_nearer > under

    def at_most(self, point):
        """A share is an upper bound under a roof that may be higher, if the bytes cannot be more (docs/method.md, section 7)."""
        return self.roof_may_be_higher(point) and not self.bytes_may_be_more(point)

    def binding(self, part):
        """The ceilings whose roof binds a part."""
        allows = allowed(part, self.roofs, self.row["precision"]) if self.roofs else None
        if not allows or not allows.bound:
            return []
        if allows.bound == self.row["precision"]:
            return [self.compute_roof]
        level = self.roofs.level(allows.bound)
        return level.fastest(*part.at(level))[1]

    @property
    def images_per_second(self):
        """(median, low, high): of the median step and its median wait for data."""
        wait = float(self.row["data_median_s"] or 0)
        return rate(self.row.images, [end + wait for end in self.row.step])

    @property
    def tokens_per_second(self):
        """None for images, and where no rate is known."""
        tokens = 1 if self.row["phase"] == "decode" else int(self.row["tokens"] or 0)
        return self.images_per_second[0] * tokens or None

    def time_by_verdict(self):
        if not self.layers:  # unknown
            return dict.fromkeys(("compute", "bandwidth", "unexplained", "inside", "outside", "exposed_share", "waiting_share", "waited_share"))
        shares = {"compute": 0.0, "bandwidth": 0.0, "unexplained": 0.0}
        for layer in self.layers:
            if layer.verdict != "unknown":
                shares[layer.verdict if layer.verdict in shares else "unexplained"] += layer.time
        # A layer without a roof is in no share, and not outside.
        inside = sum(layer.time for layer in self.layers)
        exposed, waiting = (float(self.row[f"{name}_median_s"] or 0) for name in ("exposed", "data"))
        left = max(0.0, self.step.time - inside - exposed)
        outside = None if inside > self.step.time else left - waited(self, left)
        shares |= {"inside": inside, "outside": outside if any(shares.values()) else 0.0, "exposed_share": exposed, "waiting_share": waiting,
                   "waited_share": waited(self, left)}
        return {name: None if seconds is None else seconds / (waiting + max(self.step.time, inside)) for name, seconds in shares.items()}

    def phase_seconds(self):
        return {phase: float(self.row[f"{phase}_median_s"] or 0) for phase in PHASES}

    def breakdown(self):
        """(by, name, seconds): phases as measured; kinds of layer, updates apart; then exposed communication; what is left, if anything, is
        outside the layers."""
        kinds = {}
        for layer in self.layers:
            name = kind_of(layer)
            kinds[name] = kinds.get(name, 0.0) + layer.time
        found = []
        for by, parts in (("phase", self.phase_seconds()), ("kind", kinds)):
            if not any(parts.values()):
                continue
            found += [(by, name, seconds) for name, seconds in parts.items()]
            rest = self.step.time - sum(parts.values())
            exposed = min(float(self.row["exposed_median_s"] or 0), max(0.0, rest))
            found += [(by, "exposed communication", exposed)] if exposed > 1e-9 * self.step.time else []
            rest -= exposed
            at_rest = waited(self, rest)
            found += [(by, "waiting for a processor", at_rest)] if at_rest > 1e-9 * self.step.time else []
            rest -= at_rest
            found += [(by, "outside the layers", rest)] if rest > 1e-9 * self.step.time else []
        return found

    def headroom(self):
        return sorted((layer for layer in self.layers if layer.bound and layer.headroom > 0), key=lambda layer: -layer.headroom)

    def what_if(self, memory, arithmetic):
        """Each layer keeps its share of its roof; time outside the layers stays."""
        predicted, least, under = self.step.time, 0.0, {}
        for layer in self.layers:
            changed = {name: seconds / (arithmetic if name == self.row["precision"] else memory) for name, seconds in layer.allows.by_roof.items()}
            if not changed:
                continue
            longest = max(changed, key=changed.get)
            predicted += layer.time * (changed[longest] / layer.allows.seconds - 1)
            seconds = changed[longest] / layer.allows.seconds * min(layer.allows.seconds, layer.time)
            least += seconds
            under[longest] = under.get(longest, 0.0) + seconds
        return predicted, least, max(under, key=under.get) if under else ""


class Study:
    def __init__(self, folder, calibration_folder):
        self.folder = Folder(folder)
        self.name = self.folder.name
        self.calibration, self.made, self.measured_levels, self.sweep_points, self.unmeasured = fitted.of(calibration_folder)
        self.ceilings = [as_roof(made) for made in self.made]
        self.levels = [{"device": level.device, "threads": level.threads, "level": level.name, "to_bytes": level.last} for level in self.measured_levels]
        self.lasting = lasting.ceilings(self, self.ceilings)
        self.beside = []  # the other studies of a report
        self.steps = [Step(self, row) for row in self.folder.measured_steps]

    def roofs_for(self, row):
        if has_bytes_of_others(row) or took_turns(row):
            return None
        over = self.roofs_at(row["device"], row.threads, self.lasting)
        return over if lasting.lasts(row) and lasting.among(over, row) else self.roofs_at(row["device"], row.threads)

    def roofs_at(self, device, threads, ceilings=None):
        ceilings = self.ceilings if ceilings is None else ceilings
        kind, _, numbers = device.partition(":")
        if "," in numbers:
            return group([roofs_of(ceilings, self.levels, self.calibrated_as(f"{kind}:{number}"), 1, self.unmeasured) for number in numbers.split(",")], device)
        return roofs_of(ceilings, self.levels, device, threads, self.unmeasured)

    def calibrated_as(self, device):
        """The first calibrated device of the same model stands for one of a group that was not calibrated (docs/parallel.md, Under which roof)."""
        model = {entry["name"]: (entry["kind"], entry["model"]) for entry in self.calibration.machine["devices"]}
        calibrated = devices(self.ceilings)
        same = [other for other in calibrated if device in model and model.get(other) == model[device]]
        return device if device in calibrated or not same else same[0]

    def link_for(self, row):
        if row.ranks < 2 or row["device"] == "cpu":
            return None
        found = [c for c in self.ceilings if c.operation == "bus" and c.device.startswith("gpu")]
        return max(found, key=lambda ceiling: ceiling.median) if found else None

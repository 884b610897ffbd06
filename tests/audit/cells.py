"""A cell of a table as people see it, and the rules by which shown.yaml checks it."""

import re

import answer
import exported
import told
from exported import figure
from figures import NUMBER
from roofs import READ_SHARE
from tables import TAKEN

DAMAGED = "the reason of damage names file and line"


def digits(text):
    return re.search(r"\d", text)


class Cell:
    """A cell as shown, with its record and where differences are reported."""

    def __init__(self, findings, spot, text, record):
        self.findings, self.spot, self.text, self.record = findings, spot, text, record

    def figures(self, *values, text=None):
        text = self.text if text is None else text
        if all(value is None for value in values):
            return self.findings.text(self.spot, text in ("-", "", "?"), True) if digits(text) else None
        self.findings.printed(self.spot, text, *values)

    def same(self, wanted, text=None):
        self.findings.text(self.spot, (self.text or "-") if text is None else text, wanted)


def time(cell):
    if cell.record.get("time") is None:
        return cell.figures(None)
    shown, _, disturbed = cell.text.partition(", unstable: ")
    cell.figures(*cell.record["time"], text=shown)
    if disturbed:
        cell.same(answer.disturbances(cell.record["of_row"]), text=disturbed)


def time_or_median(cell):
    cell.figures(*(cell.record["time"] if "[" in cell.text else cell.record["time"][:1]))


def samples(cell):
    n = cell.record.get("samples")
    cell.same("-" if n is None else f"range of {n}" if n < 6 else str(n))


def samples_of_ceiling(cell):
    n = cell.record["samples"]
    cell.same("-" if not n else f"range of {n}" if n < 6 else str(n))


def reached(cell):
    """'≤ 80%', '> 100%, from L3'."""
    share, record = cell.record.get("share"), cell.record
    if share is None:
        return cell.same("-")
    shown, _, served = cell.text.partition(", from ")
    if share >= 1.005:
        cell.same("≤ 100%" if record["may_be_higher"] else "> 100%", text=shown)
    else:
        cell.same(bool(record["at_most"]), text=shown.startswith("≤ "))
        cell.figures(share, text=shown)
    if served:
        cell.same(record["served"], text=served)


def of_peak(cell):
    """'47%', or '≤ 47%' of a lower bound."""
    if cell.record.get("of_peak") is None:
        return cell.same("-")
    cell.same(bool(cell.record["of_peak_at_most"]), text=cell.text.startswith("≤ "))
    cell.figures(cell.record["of_peak"])


def of_nearer(cell):
    """'≤ 13%' from a tenth on."""
    share = cell.record["nearer_share"]
    if share is None or share < 0.1:
        return cell.same("-")
    cell.figures(share)


def rate(cell):
    cell.figures(cell.record["rate"][0] if cell.record.get("rate") and cell.record["rate"][0] else None)


def layer_rate(cell):
    if not cell.record["rate"][0]:
        return cell.same("no FLOPs")
    cell.figures(cell.record["rate"][0])


def intensity(cell):
    """'0.25 to 47', or one number where both print alike."""
    low, high = cell.record["intensity_low"], cell.record["intensity_high"]
    if low is None or high is None:
        return cell.figures(None)
    found = re.findall(NUMBER, cell.text)
    cell.figures(*((low, high) if len(found) == 2 else (high,)))


def binds(cell):
    drawn = cell.record.get("drawn")
    if cell.record.get("bound") in ("", None) or drawn is None:
        return cell.same("-")
    nearer = " or a nearer level"
    if nearer in cell.text and not cell.record["nearer_may_bind"]:
        cell.findings.differs(cell.spot, cell.text, "no nearer level")
    exported.binds(cell.findings, cell.spot, accesses_off(cell.text.replace(nearer, "")), drawn.shares)
    for level, access in ACCESS.findall(cell.text):
        accessed(cell, level, access)


ACCESS = re.compile(r"\b(L\d|DRAM) (mix [\d.>]+:[\d.>]+|\w+)(?= or|\)|$| \()")


def accesses_off(text):
    return ACCESS.sub(r"\1", text)


def accessed(cell, level, access):
    """The access of a level's roof: the loop that alone makes it, or the mix of reads and writes."""
    point = cell.record["point"]
    if level not in {its.name for its in cell.record["roofs"].levels}:
        return cell.findings.differs(cell.spot, level, "a level of the roofs")
    if access == "or":
        return
    wanted = access_of(point, cell.record["roofs"].level(level))
    if wanted.startswith("mix") and access.startswith("mix"):
        a, b = (tuple(map(float, re.findall(r"[\d.]+", text))) for text in (access, wanted))
        if ">" in access:  # one side more than 99 times the other
            cell.same(True, text=(b[0] > 98 * b[1]) if access.startswith("mix >") else (b[1] > 98 * b[0]))
        elif abs(a[0] / a[1] - b[0] / b[1]) > 0.06 * max(a[0] / a[1], b[0] / b[1]):
            cell.findings.differs(cell.spot, access, wanted)
    elif access not in (wanted, "mix"):
        cell.findings.text(cell.spot, access, wanted)


def access_of(point, level):
    """The loop of the roof, or 'mix R:W' where it is that of the work's own reads and writes between loops."""
    read, written = (sum(getattr(part, name) or 0 for part in point.parts) for name in ("read", "written"))
    known = all(part.read is not None for part in point.parts if part.low)
    loops = {id(loop): loop for part in point.parts if part.low for loop in level.fastest(part.low, part.read, part.written)[1]}
    if not known or not read + written:
        return level.best.operation
    if len(loops) == 1:
        (loop,) = loops.values()
        share = READ_SHARE[loop.operation]
        if abs(read / (read + written) - share) < 0.02:
            return loop.operation
    return f"mix {read / written:.6f}:1" if written and read >= written else f"mix 1:{written / read:.6f}" if read else "mix 0:1"


def shares(cell):
    of = [cell.record.get(name) for name in ("compute_bound", "bandwidth_bound", "unexplained")]
    cell.figures(*(of if any(of) else [None]))


def bar(cell):
    """The shares in words and as widths of the bar."""
    record = cell.record
    shares = [record.get(name) for name in ("compute_bound", "bandwidth_bound", "unexplained")]
    if record.get("time") is None or not any(shares):
        return cell.same("-")
    words, *widths = re.split(r" width:", cell.text)
    cell.figures(*(share for share in (*shares, record["outside"], record["waited_share"], record["exposed_share"], record["waiting_share"]) if share), text=words)
    for shown, share in zip(widths, (*shares, 1 - record["inside"])):  # inside: also layers without a roof
        cell.figures(share, text=shown)


def length(cell):
    """A bar of at most twenty letters."""
    cell.same(round(20 * min(max(cell.record["of_step"], 0), 1)), text=len(cell.text))


def then(cell):
    """'fp32', or 'DRAM, then fp32'."""
    before, _, after = cell.text.rpartition(", then ")
    cell.same(cell.record["under"], text=after)
    cell.same(cell.record["under_before"], text=before or after)


def ceiling(cell):
    record = cell.record
    if record["at_least"]:
        cell.same(True, text=cell.text.startswith("≥ "))
        return cell.figures(record["rate"][0])
    cell.figures(*record["rate"])


def access(cell):
    record = cell.record
    if record["at_least"]:
        cell.same(True, text=cell.text.startswith("≤ "))
        return cell.figures(1 / record["rate"][0])
    value, low, high = record["rate"]
    if not low:  # a rate that may be zero: its time has no upper end
        cell.same(True, text=cell.text.endswith(", -]"))
    cell.figures(1 / value, 1 / high, 1 / low if low else None)


def of_spec(cell):
    record = cell.record
    if record["of_spec"] is None:
        return cell.same("-")
    cell.same(record["above_spec"], text=cell.text.endswith("*"))
    cell.figures(record["of_spec"], text=cell.text.rstrip("*"))


def reported(cell):
    if cell.record["reported"] is None:
        return cell.same("not reported")
    cell.figures(cell.record["reported"])


def level_verdict(cell):
    record = cell.record
    words = ["contradiction: more than a factor of two apart"] if record["contradiction"] else ["agree"] if record["agrees"] else []
    if record["unseen"]:
        words.append(f"not measured with {', '.join(map(str, record['unseen']))} thread{'' if record['unseen'] == [1] else 's'}")
    cell.same("; ".join(words) or "-")


def measured(cell):
    if cell.record["measured_s"] is None:
        return cell.same(cell.record["status"])
    cell.figures(cell.record["measured_s"])


def of_roof(cell):
    least, most = cell.record["least"], cell.record["most"]
    if least > 1:
        return cell.same("> 100%")
    if most > 1:
        cell.same(True, text=cell.text.startswith("at least "))
        return cell.figures(least)
    cell.figures(*((least, most) if " to " in cell.text else (least,)))


WARNED = 0.02  # of the time, unclassified


def category(cell):
    shown = cell.text.removesuffix(" (!)")
    cell.same(cell.record["category"], text=shown)


def step(cell):
    cell.same(cell.record["step_told"], text=cell.text.removesuffix(" (!)"))


def counted_time(cell):
    cell.same(cell.record["time_known"] == "counter", text=cell.text.endswith(" (counter)"))
    cell.figures(cell.record["seconds"], text=cell.text.removesuffix(" (counter)"))


def added(cell):
    if not cell.record["added_told"]:
        return cell.same("as a whole")
    cell.same(f"{told.counted(cell.record['added_told'], 'kernel')}, added up")


def steps(cell):
    cell.same(str(cell.record["steps"]) if cell.record["steps"] else "not marked")


def part(cell, name):
    """'12.3 ms, 45%', of the wall time."""
    time_shown, _, share = cell.text.rpartition(", ")
    cell.figures(cell.record[name], text=time_shown)
    cell.figures(cell.record[name] / cell.record["wall"] if cell.record["wall"] else 0, text=share)


def sized(cell, name):
    if cell.record["unsized"] == cell.record["copies"]:
        return cell.same("?")
    cell.figures(cell.record[name])


CHECKS = {name: check for name, check in globals().items() if callable(check) and not name.startswith("_")}


def as_text(value):
    if value is TAKEN:
        return DAMAGED
    return "-" if value in (None, "") else exported.same(value) if not isinstance(value, str) else value


def check(cell, rule):
    if rule.startswith("="):
        return cell.same(as_text(figure(cell.record, rule[1:])))
    if rule.startswith("!"):
        name, *words = rule[1:].split()
        return CHECKS[name](cell, *words)
    cell.figures(*(figure(cell.record, name) for name in re.split(r",\s*", rule)))

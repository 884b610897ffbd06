"""The recorded files of a folder (docs/import.md, The recorded files) and the tables made of them: kernels, time breakdown, calls, copies,
memory, counted kernels and phases (docs/method.md, sections 9 and 10; docs/profile.md)."""

import fnmatch
import re
from pathlib import Path

import yaml

from reading import number, table

ROOT = Path(__file__).resolve().parents[2]
RULES = yaml.safe_load((ROOT / "configs" / "kernels.yaml").read_text(encoding="utf-8"))
METRICS = yaml.safe_load((ROOT / "configs" / "counters" / "nvidia.yaml").read_text(encoding="utf-8"))["metrics"]
FILES = ("kernels", "api", "copies", "memory", "synchronisations", "ranges", "counters")
# The purpose of a call, by a part of its name; the first that fits.
PURPOSES = (("wait", "Synchronize"), ("event", "StreamWaitEvent"), ("launch", "Launch"), ("copy", "Memcpy"), ("copy", "Memset"), ("allocate", "Malloc"),
            ("allocate", "MemAlloc"), ("allocate", "Free"), ("allocate", "HostAlloc"), ("allocate", "MemPool"), ("event", "Event"))


def read(folder, name):
    return table(folder / f"{name}.csv")


def holds(text, parts):
    return any(fnmatch.fnmatchcase(text, "*" + re.sub(r"([\[?])", r"[\1]", part.lower()) + "*") for part in parts)


def first_rule(rules, name, layer, kind, phase):
    for rule in rules:
        if (holds(name, rule["names"]) and not holds(name, rule.get("without", [])) and phase in rule.get("phases", [phase])
                and ("layers" not in rule or holds(layer, rule["layers"]) or holds(kind, rule["layers"]))):
            return rule
    return None


def category_of(name, layer="", kind="", phase=""):
    """(category, algorithm) by configs/kernels.yaml."""
    words = [word.lower() for word in (name, layer, kind, phase)]
    rule = first_rule(RULES["categories"], *words)
    if not rule:
        return "unclassified", ""
    algorithm = first_rule(RULES["algorithms"], *words) if rule["category"].startswith("convolution") else None
    return rule["category"], algorithm["algorithm"] if algorithm else ""


class Recording:
    def __init__(self, folder):
        """`folder`: reading.Folder. Rows whose recorded lines are damaged have no records."""
        self.folder = folder
        self.kinds = {}
        for row in folder.rows:
            for layer in row.layers:
                self.kinds.setdefault(layer["layer"], layer["kind"])
        self.records = {name: read(folder.path, name) for name in FILES}
        for of in self.records["kernels"]:
            of["category"], of["algorithm"] = category_of(of["name"], of.get("layer") or "", self.kinds.get(of.get("layer") or "", ""), of.get("phase") or "")

    def there(self, name):
        return (self.folder.path / f"{name}.csv").exists()

    def grouped(self, name, *by):
        found = {}
        for record in self.records[name]:
            found.setdefault(tuple(record.get(column) or "" for column in by), []).append(record)
        return found

    def kernels(self):
        """Totals by row, device, category, algorithm and name."""
        return [{"id": key[0], "kernel_device": key[1], "category": key[2], "algorithm": key[3], "kernel": key[4], "launches": len(of), "seconds": seconds(of),
                 "measured": "measured"} for key, of in self.grouped("kernels", "id", "device", "category", "algorithm", "name").items()]

    def time_breakdown(self):
        marked = {key[0]: [span(step) for step in of if step["kind"] == "step" and step["start_s"]] for key, of in self.grouped("ranges", "id").items()}
        for identity, device in dict.fromkeys((record["id"], record.get("device") or "") for name in ("kernels", "copies") for record in self.records[name]):
            mine = lambda name: [record for record in self.records[name] if (record["id"], record.get("device") or "") == (identity, device)]
            kernels, copies = mine("kernels"), mine("copies")
            placed = [record for record in kernels + copies if record.get("start_s")]
            if not placed:
                continue
            of = {"K": [], "U": [], "C": [], "M": [span(copy) for copy in copies if copy.get("start_s")]}
            for kernel in kernels:
                if kernel.get("start_s"):
                    kind = "C" if kernel["category"].startswith("collective") else "U" if kernel["category"] == "unclassified" else "K"
                    of[kind].append(span(kernel))
            spans = [one for several in of.values() for one in several]
            steps = marked.get(identity) or [(min(a for a, _ in spans), max(b for _, b in spans))]
            each = [breakdown(of, step) for step in steps]
            mean = {name: sum(one[name] for one in each) / len(each) for name in each[0]}
            count = int(sum(one["kernel_count"] for one in each) // len(each))
            yield {"id": identity, "told_device": device, "steps": len(marked.get(identity) or []), **mean, "at_once": mean["summed"] / mean["computing"] if mean["computing"] else 0.0,
                   "at_once_known": mean["summed"] / mean["computing"] if count and mean["computing"] else None if not count else 0.0,
                   "unplaced": len(kernels) + len(copies) - len(placed), "measured": "measured"}

    def calls(self):
        groups = {}
        for record in self.records["api"]:
            groups.setdefault((record["id"], re.sub(r"_v\d+$", "", record["name"])), []).append(record)
        for (identity, plain), of in groups.items():
            longest = max(float(call["duration_s"]) for call in of)
            yield {"id": identity, "call": plain, "purpose": next((purpose for purpose, part in PURPOSES if part in plain), "other"), "calls": len(of),
                   "seconds": seconds(of), "mean": seconds(of) / len(of), "longest": longest, "measured": "measured"}

    def copies(self, links):
        """`links(device, kind, source, destination)`: the best measured rate of such a copy."""
        for (identity, device, kind, source, destination), of in self.grouped("copies", "id", "device", "kind", "source", "destination").items():
            sized = [copy for copy in of if copy["bytes"]]
            sizes = [float(copy["bytes"]) for copy in sized]
            rate = sum(sizes) / seconds(sized) if sized and seconds(sized) else None
            link = links(device, kind, source, destination)
            yield {"id": identity, "told_device": device, "kind": kind, "source": source, "destination": destination, "copies": len(of), "bytes": float(sum(sizes)),
                   "unsized": len(of) - len(sized), "smallest": min(sizes, default=0.0), "largest": max(sizes, default=0.0), "seconds": seconds(of), "rate": rate,
                   "link": link, "of_link": rate / link if rate and link else None, "measured": "measured"}

    def memory(self):
        for (identity, device, kind), of in self.grouped("memory", "id", "device", "memory").items():
            timed = all(record.get("start_s") for record in of)
            of = sorted(of, key=lambda record: float(record["start_s"])) if timed else of
            held, total, peak, unmatched, points = {}, 0.0, 0.0, 0, []
            for record in of:
                address, size = record.get("address"), number(record.get("bytes"))
                if record["action"] == "allocate":
                    total += size or 0
                    if size is not None and address:
                        held[address] = size
                elif address in held:
                    total -= held.pop(address)
                else:
                    unmatched += 1
                peak = max(peak, total)
                points.append((number(record.get("start_s")), total))
            count = lambda action: sum((record["action"] == "allocate") == action for record in of)
            yield {"id": identity, "told_device": device, "memory_kind": kind, "peak": peak, "left": total, "allocations": count(True), "releases": count(False),
                   "unmatched": unmatched, "measured": "measured", "timeline": points if timed else []}

    def memory_over_time(self):
        for use in self.memory():
            for at, held in use["timeline"]:
                yield {"id": use["id"], "kernel_device": use["told_device"], "memory_kind": use["memory_kind"], "at": at, "held": held, "measured": "measured"}

    def counted(self, roofs_of):
        """Kernels with counters: the mean over counted launches, times the timed launches. `roofs_of(device)`: the roofs with the most threads."""
        timed = {}
        for total in sorted(self.kernels(), key=lambda total: -total["seconds"]):  # named by the category with the most time
            of = timed.setdefault((total["id"], total["kernel_device"], total["kernel"]), {"category": total["category"], "launches": 0, "seconds": 0.0})
            of["launches"] += total["launches"]
            of["seconds"] += total["seconds"]
        for key, records in self.grouped("counters", "id", "device", "name").items():
            records = [record for record in records if record["scope"] == "kernel"]
            if not records:
                continue
            metrics, counted = mean_metrics(records)
            of = timed.get(key)
            if of:
                launches, time, known, category = of["launches"], of["seconds"], "measured", of["category"]
            elif metrics.get("gpu__time_duration.sum", (0, ""))[1] == "s":
                launches, time, known, category = counted, metrics["gpu__time_duration.sum"][0] * counted, "counter", category_of(key[2])[0]
            else:
                continue
            if time <= 0:
                continue
            flops, moved = work_of(metrics)
            flops, moved = ({name: value * launches for name, value in amounts.items()} for amounts in (flops, moved))
            total, levels = sum(flops.values()) if flops else None, {name: value for name, value in moved.items() if value > 0 and name != "shared"}
            allowed, roof = allowed_counted(flops, levels, roofs_of(key[1]))
            bound = max(allowed, key=allowed.get) if allowed else ""
            farthest = next((name for name in ("DRAM", "L3", "L2", "L1") if name in levels), None)
            base = {"id": key[0], "kernel": key[2], "category": category, "kernel_device": key[1], "launches": launches, "counted": counted, "seconds": time, "flops": total,
                    "most_flops": "",  # of functions only, which no made folder has
                    "counted_as": counted if counted != launches else None, "roof": roof, "bound": bound or None, "attainable": allowed[bound] if bound else None,
                    "share": allowed[bound] / time if bound else None, "counter": "counter", "time_known": known, "rate": total / time if total is not None else None,
                    "intensity": total / levels[farthest] if total is not None and farthest else None, **{level: moved.get(level) for level in ("L1", "L2", "DRAM")}}
            for level in sorted(moved) or [None]:
                yield base | {"level": level, "bytes": moved.get(level)}

    def phases(self):
        for (identity, device), of in self.grouped("counters", "id", "device").items():
            whole = [record for record in of if record["scope"] == "phase"]
            records = whole or [record for record in of if record["scope"] == "kernel"]
            by_phase = {}
            for record in records:
                by_phase.setdefault(record["phase"], []).append(record)
            if not any(by_phase):
                continue
            for phase, mine in by_phase.items():
                metrics, counted = mean_metrics(mine)
                flops, moved = work_of({name: (value * counted, unit) for name, (value, unit) in metrics.items()})
                total = sum(flops.values()) if flops else None
                base = {"id": identity, "phase": phase, "kernel_device": device, "added": 0 if whole else counted, "added_told": None if whole else counted, "flops": total,
                        "intensity": total / moved["DRAM"] if total is not None and moved.get("DRAM") else None, "counter": "counter",
                        "most_of": max(flops, key=flops.get) if flops else "", **{level: moved.get(level) for level in ("L1", "shared", "L2", "DRAM")}}
                for unit, amounts in (("FLOP", flops), ("byte", moved)):
                    for what, amount in amounts.items():
                        yield base | {"of": what, "amount": float(amount), "unit": unit}


def seconds(records):
    return sum(float(record["duration_s"]) for record in records)


def span(record):
    return float(record["start_s"]), float(record["start_s"]) + float(record["duration_s"])


def union(spans, window):
    """Disjoint sorted spans within a window."""
    made = []
    for start, end in sorted((max(a, window[0]), min(b, window[1])) for a, b in spans if b > window[0] and a < window[1]):
        if made and start <= made[-1][1]:
            made[-1][1] = max(made[-1][1], end)
        else:
            made.append([start, end])
    return made


def length(spans):
    return sum(b - a for a, b in spans)


def without(spans, others):
    """The parts of disjoint spans that no other covers."""
    made = []
    for start, end in spans:
        for a, b in others:
            if a < end and b > start:
                if a > start:
                    made.append([start, a])
                start = max(start, b)
        if start < end:
            made.append([start, end])
    return made


def breakdown(of, window):
    """Section 9, by unions of the spans of each kind."""
    K, U, C, M = (union(of[kind], window) for kind in "KUCM")
    running = union(K + U, window)
    busy = union(running + C, window)
    inside = [(max(a, window[0]), min(b, window[1])) for a, b in of["K"] + of["U"] if b > window[0] and a < window[1]]
    wall = window[1] - window[0]
    return {"wall": wall, "kernels": length(K), "unclassified": length(without(U, K)), "collectives": length(without(C, running)), "copies": length(without(M, busy)),
            "idle": wall - length(union(busy + M, window)), "hidden_collectives": length(C) - length(without(C, running)), "hidden_copies": length(M) - length(without(M, busy)),
            "summed": length(inside), "computing": length(running), "kernel_count": len(inside)}


def mean_metrics(records):
    """({metric: (mean, unit)} of those that all counted launches have, number of launches)."""
    found = {}
    for record in records:
        found.setdefault(record["metric"], []).append((float(record["value"]), record["unit"]))
    most = max(map(len, found.values()))
    return {name: (sum(value for value, _ in of) / most, of[-1][1]) for name, of in found.items() if len(of) == most}, most


def allowed_counted(flops, levels, roofs):
    """({roof: seconds}, the compute roof): levels that were counted, and FLOPs if each of their precisions has a roof."""
    allowed, roof = {}, None
    if not roofs:
        return allowed, roof
    for level in roofs.levels:
        if level.name in levels:
            allowed[level.name] = levels[level.name] / level.best_rate
    there = {name: amount for name, amount in flops.items() if amount > 0}
    most = max(there, key=there.get) if there else None
    if there and all(name in roofs.compute for name in there):
        roof = roofs.compute[most].median
        allowed[most] = sum(amount / roofs.compute[name].median for name, amount in there.items())
    return allowed, roof


def known(metrics, names, unit):
    """The first of these metrics with this unit, or without one."""
    return next((metrics[name][0] for name in names if name in metrics and metrics[name][1] in (unit, "")), None)


def work_of(metrics):
    """({precision: FLOPs}, {level: bytes}) by configs/counters/nvidia.yaml; a sum that lacks a term is left out (docs/profile.md)."""
    flops, sums = {}, {}
    for metric in METRICS:
        kind, _, what = metric["quantity"].partition(".")
        if kind == "flops":
            sums.setdefault((what, metric["source"]), []).append(metric)
    for (precision, _), terms in sums.items():
        counts = [known(metrics, (term["metric"], "sm" + term["metric"].removeprefix("smsp")), "inst") for term in terms]
        if all(count is not None for count in counts):
            flops[precision] = flops.get(precision, 0.0) + sum(count * term["factor"] for count, term in zip(counts, terms))
    for metric in {metric["metric"]: metric for metric in METRICS if metric["quantity"].startswith("tensor.")}.values():
        precision, value = metric["quantity"].removeprefix("tensor."), metrics.get(metric["metric"], (0, ""))[0]
        if precision != "int8" and value > 0:
            flops[precision] = flops.get(precision, 0.0) + metric["factor"] * value
    moved = {}
    for level, stem in (("L1", "l1tex__t"), ("L2", "lts__t"), ("DRAM", "dram_")):
        of_bytes, of_sectors = f"{stem}_bytes", f"{stem}_sectors"
        whole = known(metrics, (f"{of_bytes}.sum",), "byte")
        both = [known(metrics, (f"{of_bytes}_{way}.sum", f"{of_bytes}_op_{way}.sum"), "byte") for way in ("read", "write")]
        sectors = known(metrics, (f"{of_sectors}.sum",), "sector")
        sectors_both = [known(metrics, (f"{of_sectors}_{way}.sum", f"{of_sectors}_op_{way}.sum"), "sector") for way in ("read", "write")]
        found = whole if whole is not None else sum(both) if None not in both else 32 * sectors if sectors is not None else 32 * sum(sectors_both) if None not in sectors_both else None
        if found is not None:
            moved[level] = found
    for metric in METRICS:  # what the copy engine moves, and what the fabric counts twice
        level = metric["quantity"].removeprefix("bytes.")
        unit = "sector" if "sectors" in metric["metric"] else "byte"
        if level in ("L1", "L2") and level in moved and metric["metric"] not in ("l1tex__t_bytes.sum", "lts__t_bytes.sum"):
            moved[level] += metric["factor"] * (known(metrics, (metric["metric"],), unit) or 0)
    shared = known(metrics, ("smsp__sass_data_bytes_mem_shared.sum",), "byte")
    return flops, moved | ({"shared": shared} if shared is not None else {})

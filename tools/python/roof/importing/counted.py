"""Texts of other tools: units ("Kbyte", "nsecond", "MiB", "MFLOP/s"), and numbers in the languages that tools write.
Work by hardware counters: counted metrics become FLOPs by precision and bytes at DRAM. NVIDIA's metrics have the
meaning that configs/counters/nvidia.yaml says and the program prints. A precision with an incomplete set of metrics is
not counted; it is named."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Dict, List, Optional, Tuple

from roof import program
from roof.importing import Counter, Imported, Row
from roof.texts import printable

Metrics = Dict[str, Tuple[float, str]]  #: value and SI unit without prefix, by name

NO_BYTES = "bytes at DRAM: there is no metric"

SMALL = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0}
LARGE = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
#: Texts, the SI unit that they mean if it is another, and the prefixes that they take.
TEXTS = (("byte Byte Bytes", "byte", LARGE), ("B", "byte", {"": 1.0, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}),
         ("second sec s", "s", SMALL), ("Hz hz", "Hz", LARGE), ("FLOP inst sector cycle", "", LARGE),
         ("Joules", "J", {"": 1.0}), ("request warp thread block register SM cluster pass J W", "", {"": 1.0}))
UNITS = {"": (1.0, ""), "1": (1.0, ""), "%": (0.01, ""), **{prefix + text: (factor, name or text)
            for texts, name, prefixes in TEXTS for text in texts.split() for prefix, factor in prefixes.items()}}

#: What separates thousands, besides the comma or point that is no decimal mark. U+FFFD: a blank in another encoding.
BLANKS = "\u00a0\u2009\u202f\ufffd "
WHOLE = (r"[0-9]+|[0-9]{1,3}(?P<a>[G])[0-9]{3}(?:(?P=a)[0-9]{3})*|"
         r"[0-9]{1,2}(?:(?P<b>[G])[0-9]{2})+(?P=b)[0-9]{3}").replace("G", f"{BLANKS}’'%s")
NUMBERS = {mark: re.compile(f"[-+]?(?:{WHOLE % (other, other)})(?:[{mark}][0-9]*)?(?:[eE][-+]?[0-9]+)?")
           for mark, other in (".,", ",.")}
LARGEST = 1e100  #: products of what tools count stay finite


def unit(text: str) -> Optional[Tuple[float, str]]:
    """A value in that unit times the factor is in the named one, or a quotient of two. None: unknown. "": a number."""
    above, slash, below = text.partition("/")
    over, under = UNITS.get(above), UNITS.get(below)
    return (over[0] / under[0], f"{over[1]}/{under[1]}") if slash and over and under else UNITS.get(text)


def number(text: str, mark: str = ".") -> Optional[float]:
    """None for a text that is no number with that decimal mark, point or comma, or none below 1e100."""
    if not NUMBERS[mark].fullmatch(text):
        return None
    value = float(re.sub(r"[^-+0-9.eE]", "", text.replace("." if mark == "," else ",", "").replace(",", ".")))
    return value if abs(value) < LARGEST else None


def mark_of(text: str) -> str:
    """The decimal mark that a number shows; empty if it is a number with either, or with none."""
    able = [mark for mark in NUMBERS if number(text, mark) is not None]
    return able[0] if len(able) == 1 else ""


def shown(text: str) -> str:
    """A text of a file in a message."""
    return printable(text if len(text) <= 100 else f"{text[:100]}…")


@dataclass
class CountedWork:
    #: by precision; "" where it is unknown
    flops: Dict[str, float] = field(default_factory=lambda: defaultdict(float))
    moved: Optional[float] = None  #: bytes at DRAM
    missing: List[str] = field(default_factory=list)  #: sentences about what could not be counted
    at_least: bool = False  #: FLOPs are a lower bound

    def lacking_bytes(self) -> List[str]:
        """A sentence if the bytes at DRAM are unknown and none says so yet."""
        is_said = self.moved is not None or any(one.startswith("bytes at DRAM") for one in self.missing)
        return [] if is_said else [NO_BYTES]


@lru_cache(maxsize=None)
def families() -> List[Dict[str, Dict[str, Any]]]:
    """The metrics of each family of chips by name, with quantity, factor and source."""
    listed = program.run_json("list", "counters", "--json")["counters"]
    return [{one["metric"]: one for one in family["metrics"]} for family in listed]


@lru_cache(maxsize=None)
def table() -> Dict[str, Dict[str, Any]]:
    return {name: one for family in families() for name, one in family.items()}


def value(metrics: Metrics, unit: str, *names: str) -> Optional[float]:
    """Of the first of these metrics that is there with this unit, or with none."""
    return next((metrics[name][0] for name in names if name in metrics and metrics[name][1] in (unit, "")), None)


def count_scalar(metrics: Metrics, work: CountedWork) -> None:
    """Instructions outside tensor cores. Packed pairs are a sum of their own, since most chips have none."""
    sums: Dict[Any, Dict[str, float]] = defaultdict(dict)
    for name, one in table().items():
        if one["quantity"].startswith("flops."):
            sums[one["quantity"][6:], one["source"]][name] = one["factor"]
    for (precision, _), factors in sums.items():
        counts = {name: value(metrics, "inst", name, "sm" + name[4:]) for name in factors}  # sm__: of older versions
        absent = [name.partition("_op_")[2].partition("_pred_on")[0] for name, count in counts.items() if count is None]
        if not absent:
            work.flops[precision] += sum(factors[name] * (count or 0.0) for name, count in counts.items())
        elif len(absent) < len(factors):
            work.missing.append(f"FLOPs of {precision}: {' and '.join(absent)} not counted, so the sum is incomplete")


def count_tensor(metrics: Metrics, work: CountedWork) -> None:
    """The sums, or the metrics by sparsity where there is no sum. Operations on integers are no FLOPs."""
    counted: Dict[str, str] = {}
    for name in sorted(metrics):
        whole = name.partition("_sparsity_o")[0] + ".sum" if "_sparsity_o" in name else name
        quantity = table().get(whole, {}).get("quantity", "")
        if quantity.startswith("tensor."):
            counted[whole] = quantity[7:]
        is_sum = name.startswith("sm__ops_path_tensor_src_") and name.endswith(".sum")
        if not is_sum or (whole != name and whole in metrics):
            continue
        if not quantity:
            work.missing.append(f"FLOPs of {name}: the precision is unknown")
        elif quantity != "tensor.int8" and metrics[name][0] > 0:
            work.flops[quantity[7:]] += table()[whole]["factor"] * metrics[name][0]
    if "sm__inst_executed_pipe_tensor.sum" in metrics:
        work.missing.append("FLOPs of tensor cores: sm__inst_executed_pipe_tensor counts instructions, whose FLOPs "
                            "differ by chip and type; ask for sm__ops_path_tensor_src_*.sum")
    # The precisions that each chip with the counted metrics has, and that no metric counts.
    able = [{one["quantity"][7:] for one in family.values() if one["quantity"].startswith("tensor.")}
            for family in families() if counted and counted.keys() <= family.keys()]
    absent = set.intersection(*able) - set(counted.values()) if able else set()
    if absent or (not counted and any("_sass_thread_inst_executed_op_" in name for name in metrics)):
        which = f" in {', '.join(sorted(absent))}" if absent else ""
        work.missing.append(f"FLOPs of tensor cores{which}: there is no metric")


def count_work(metrics: Metrics) -> CountedWork:
    """FLOPs and bytes of metrics of Nsight Compute and CUPTI. Calls the program `roof` once for their meaning."""
    work = CountedWork()
    count_scalar(metrics, work)
    count_tensor(metrics, work)
    work.missing += ["FLOPs: there is no metric"] * (not work.flops and not work.missing)
    for level, stem in (("L1", "l1tex__t_"), ("L2", "lts__t_"), ("DRAM", "dram__")):  # the report has the others
        work.moved, one_way = None, False
        for unit, size in (("byte", 1.0), ("sector", 32.0)):
            name = f"{stem}{unit}s"
            ways = [value(metrics, unit, f"{name}_{way}.sum", f"{name}_op_{way}.sum") for way in ("read", "write")]
            whole = value(metrics, unit, f"{name}.sum")
            if work.moved is None and (whole is not None or None not in ways):
                work.moved = size * (sum(way or 0.0 for way in ways) if whole is None else whole)
            one_way = one_way or ways != [None, None]
        if work.moved is None and one_way:
            work.missing.append(f"bytes at {level}: only one direction was counted")
    work.missing += work.lacking_bytes()
    return work


def set_work(row: Row, work: CountedWork, imported: Imported) -> None:
    imported.set_flops(row, work.flops)
    row.compulsory = row.no_reuse = work.moved
    row.at_least = work.at_least


def add_processor(imported: Imported, name: str, seconds: float, work: CountedWork, metrics: Metrics,
                  before: str = "") -> None:
    """Adds the row of a program or region on the processor. 0 seconds: unknown. `before`: of the sentences."""
    row = Row("cpu", {"model": name}, times=[seconds] if seconds > 0 else [])
    set_work(row, work, imported)
    row.records = [Counter(device="cpu", scope="step", metric=metric, value=amount, unit=unit)
                   for metric, (amount, unit) in metrics.items()]
    imported.rows.append(row)
    imported.missing += [before + one for one in work.lacking_bytes() + work.missing]

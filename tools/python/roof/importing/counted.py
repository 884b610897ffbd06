"""Work by hardware counters: counted metrics become FLOPs by precision and bytes by memory level.

The meaning of NVIDIA's metrics is that of configs/counters/nvidia.yaml, which the program prints. A precision or level with an incomplete
set of metrics is not counted; it is named. Older files are read too: sectors of 32 bytes, `sm__sass_…` for `smsp__sass_…`.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Dict, Iterable, List, Optional, Tuple

from roof import program
from roof.importing import Counter, Imported, Row
from roof.texts import si

Metrics = Dict[str, Tuple[float, str]]  #: value and SI unit without prefix, by name
SECTOR = 32.0
TENSOR = "sm__ops_path_tensor_src_"


@dataclass
class CountedWork:
    flops: Dict[str, float] = field(default_factory=dict)  #: by precision; "" where it is unknown
    bytes: Dict[str, float] = field(default_factory=dict)  #: by level: L1, shared, L2, L3, DRAM
    missing: List[str] = field(default_factory=list)  #: sentences about what could not be counted
    at_least: bool = False  #: FLOPs are a lower bound

    def add(self, precision: str, flops: float) -> None:
        self.flops[precision] = self.flops.get(precision, 0.0) + flops

    @property
    def precision(self) -> str:
        """That of most FLOPs."""
        return max(sorted(self.flops), key=lambda one: self.flops[one], default="")


@lru_cache(maxsize=None)
def families() -> List[Dict[str, Dict[str, Any]]]:
    """The metrics of each family of chips by name, with quantity, factor and source."""
    return [{one["metric"]: one for one in family["metrics"]} for family in program.run_json("list", "counters", "--json")["counters"]]


@lru_cache(maxsize=None)
def table() -> Dict[str, Dict[str, Any]]:
    return {name: one for family in families() for name, one in family.items()}


def value(metrics: Metrics, unit: str, *names: str) -> Optional[float]:
    """Of the first of these metrics that is there with this unit, or with none."""
    return next((metrics[name][0] for name in names if name in metrics and metrics[name][1] in (unit, "")), None)


def count_scalar(metrics: Metrics, work: CountedWork) -> None:
    """Instructions outside tensor cores. Packed pairs are a sum of their own, since most chips have none."""
    sums: Dict[Tuple[str, str], Dict[str, float]] = {}
    for name, one in table().items():
        if one["quantity"].startswith("flops."):
            sums.setdefault((one["quantity"][6:], one["source"]), {})[name] = one["factor"]
    for (precision, _), factors in sums.items():
        counts = {name: value(metrics, "inst", name, "sm" + name[4:]) for name in factors}
        absent = [name.partition("_op_")[2].partition("_pred_on")[0] for name, count in counts.items() if count is None]
        if not absent:
            work.add(precision, sum(factors[name] * (count or 0.0) for name, count in counts.items()))
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
        if not name.startswith(TENSOR) or not name.endswith(".sum") or (whole != name and whole in metrics):
            continue
        if not quantity:
            work.missing.append(f"FLOPs of {name}: the precision is unknown")
        elif quantity != "tensor.int8" and metrics[name][0] > 0:
            work.add(quantity[7:], table()[whole]["factor"] * metrics[name][0])
    if "sm__inst_executed_pipe_tensor.sum" in metrics:
        work.missing.append("FLOPs of tensor cores: sm__inst_executed_pipe_tensor counts instructions, whose FLOPs differ by chip and "
                            "type; ask for sm__ops_path_tensor_src_*.sum")
    if not counted:
        if any("_sass_thread_inst_executed_op_" in name for name in metrics):
            work.missing.append("FLOPs of tensor cores: there is no metric")
        return
    # The precisions that each chip with the counted metrics has, and that no metric counts.
    able = [{one["quantity"][7:] for one in family.values() if one["quantity"].startswith("tensor.")}
            for family in families() if counted.keys() <= family.keys()]
    if absent := set.intersection(*able) - set(counted.values()) if able else set():
        work.missing.append(f"FLOPs of tensor cores in {', '.join(sorted(absent))}: there is no metric")


def count_bytes(metrics: Metrics, level: str, stem: str, work: CountedWork) -> None:
    one_way = False
    for unit, factor in (("byte", 1.0), ("sector", SECTOR)):
        name = stem + ("bytes" if unit == "byte" else "sectors")
        whole = value(metrics, unit, f"{name}.sum")
        ways = [value(metrics, unit, f"{name}_{way}.sum", f"{name}_op_{way}.sum") for way in ("read", "write")]
        if whole is None and None not in ways:
            whole = sum(way or 0.0 for way in ways)
        if whole is not None:
            work.bytes[level] = factor * whole
            return
        one_way = one_way or ways != [None, None]
    if one_way:
        work.missing.append(f"bytes at {level}: only one direction was counted")


def count_work(metrics: Metrics) -> CountedWork:
    """FLOPs and bytes of metrics of Nsight Compute and CUPTI. Calls the program `roof` once for their meaning."""
    work = CountedWork()
    count_scalar(metrics, work)
    count_tensor(metrics, work)
    if not work.flops and not work.missing:
        work.missing.append("FLOPs: there is no metric")
    for level, stem in (("L1", "l1tex__t_"), ("L2", "lts__t_"), ("DRAM", "dram__")):
        count_bytes(metrics, level, stem, work)
        for name, one in table().items():  # traffic that the level's own metric leaves out, or counts twice
            if level in work.bytes and one["quantity"] == f"bytes.{level}" and name != f"{stem}bytes.sum":
                work.bytes[level] += one["factor"] * (value(metrics, "sector" if "_sectors_" in name else "byte", name) or 0.0)
    if (shared := value(metrics, "byte", "smsp__sass_data_bytes_mem_shared.sum")) is not None:
        work.bytes["shared"] = shared
    if not work.bytes:
        work.missing.append("bytes: there is no metric at any level")
    return work


def set_work(row: Row, work: CountedWork, imported: Imported) -> None:
    """FLOPs with the precision of most of them, and the bytes at DRAM; of several precisions a remark has the FLOPs of each."""
    row.flops = sum(work.flops.values()) if work.flops else None
    row.compulsory = row.no_reuse = work.bytes.get("DRAM")
    row.at_least = work.at_least
    if work.precision:
        row.point["precision"] = work.precision
        each = [f"{si(work.flops[one], 'FLOP')} in {one or 'either'}" for one in (work.precision, *sorted(work.flops))
                if work.flops[one] > 0]
        if len(each) > 2:
            imported.remarks.append(f"FLOPs of several precisions: {', '.join(dict.fromkeys(each))}. The row counts them together, as "
                                    f"{work.precision}.")


def add_processor(imported: Imported, name: str, times: List[float], work: CountedWork, metrics: Metrics) -> None:
    """Adds the row of a program or region on the processor."""
    row = Row("cpu", {"model": name}, times=times)
    set_work(row, work, imported)
    row.records = [Counter(device="cpu", scope="step", metric=metric, value=of[0], unit=of[1]) for metric, of in metrics.items()]
    imported.rows.append(row)
    if "DRAM" not in work.bytes and not any(one.startswith("bytes at DRAM") for one in work.missing):
        work.missing.insert(0, "bytes at DRAM: there is no metric")
    add_once(imported.missing, work.missing)


def add_once(sentences: List[str], more: Iterable[str]) -> None:
    sentences.extend(one for one in dict.fromkeys(more) if one not in sentences)

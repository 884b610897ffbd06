"""Readers of other tools' files, for `roof import`. Each format is a module of this folder, named in `files.READERS`:

    def reads(head: str) -> bool                   whether the file is of this format, by its first characters
    def read(source: Source) -> Imported           the whole file; raises InputError with line, byte or table

`head` holds the first 65,536 characters (all of a shorter file): not compressed, without a byte-order mark. `Source`
(files.py) gives the whole in the same way: `source.text()`, or `source.stream()` for files of any size. `source.name`
stands in messages, and `source.row` is the name of the row in the results. The frame writes the results folder, prints
the summary and answers the command line.

What a file lacks is None or absent, never 0. Times of records are integers in nanoseconds on one clock; other times are
seconds."""

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Dict, List, Optional, Tuple, Type

from roof.texts import si


class Record:
    """A line of a record file (docs/import.md lists them). Its attributes are the columns; `start` and `duration` are
    nanoseconds here and seconds there. What is not given is None."""

    file = ""
    __slots__: Tuple[str, ...] = ()
    values: Any  #: all attributes of a record, in their order
    times: List[int]  #: positions in `values` of what is in nanoseconds

    def cells(self, row: str) -> List[Any]:
        """Of its line, after the name of its row; None is an empty cell."""
        values = [row, *type(self).values(self)]
        for place in self.times:
            if values[place] is not None:
                values[place] /= 1e9
        return values

    @classmethod
    def columns(cls) -> List[str]:
        return ["id", *(f"{one}_s" if one in ("start", "duration") else one for one in cls.__slots__)]


def of_kind(name: str, file: str, *columns: str) -> Any:
    scope: Dict[str, Any] = {}  # there may be millions: their constructor is written out, as a dataclass has it
    exec(f"def __init__(self, {', '.join(f'{one}=None' for one in columns)}):\n"
         + "".join(f"    self.{one} = {one}\n" for one in columns), scope)
    times = [place for place, one in enumerate(columns, 1) if one in ("start", "duration")]
    return type(name, (Record,), {"__slots__": columns, "file": file, "__init__": scope["__init__"], "times": times,
                                  "values": attrgetter(*columns)})


RECORDS: List[Type[Record]] = [of_kind(*one.split()) for one in (
    # grid, block: "64x1x1"
    "Kernel kernels.csv device stream correlation layer phase name start duration grid block registers shared_bytes "
    "graph_node",
    # of the host into a device's library; domain: runtime or driver
    "Call api.csv thread correlation layer phase domain name start duration",
    # kind: H2D, D2H, D2D, P2P, H2H, memset; source, destination: pageable, pinned, device, managed
    "Copy copies.csv device stream correlation layer phase kind source destination bytes start duration",
    # action: allocate or free; memory: as a copy's, or pool
    "Memory memory.csv device correlation layer phase action memory address bytes start",
    # kind: event, stream wait, stream, context
    "Wait synchronisations.csv device stream correlation layer phase kind start duration",
    # kind: step, phase, layer, nvtx
    "Range ranges.csv thread kind name start duration",
    # scope: kernel, phase, step; unit: SI without prefix (FLOP, byte, s, Hz, …), or empty
    "Counter counters.csv device scope layer phase name launch metric value unit")]
Kernel, Call, Copy, Memory, Wait, Range, Counter = RECORDS


@dataclass
class Layer:
    """A part of a step in a phase (forward, backward, update): a line of layers.csv. `times`: seconds in each step."""

    name: str
    kind: str
    phase: str
    times: List[float]
    flops: Optional[float] = None
    executed: Optional[float] = None
    compulsory: Optional[float] = None  #: bytes, each operand once
    no_reuse: Optional[float] = None


@dataclass
class Row:
    """One measured program, region or device."""

    device: str  #: cpu, gpu:0, …
    point: Dict[str, str] = field(default_factory=dict)  #: axes: model (the row's name), precision, operation, path
    role: str = "step"  #: or bandwidth, compute: a ceiling
    times: List[float] = field(default_factory=list)  #: seconds of each step
    #: seconds of data, forward, backward, update in each step
    phases: Dict[str, List[float]] = field(default_factory=dict)
    flops: Optional[float] = None
    executed: Optional[float] = None  #: without the pairs that a mask of attention leaves out
    compulsory: Optional[float] = None  #: bytes at the memory farthest from the core
    no_reuse: Optional[float] = None
    known: str = "counter"  #: how FLOPs and bytes are known: counter, analytic, …
    at_least: bool = False  #: the FLOPs are a lower bound; `missing` names what they lack
    layers: List[Layer] = field(default_factory=list)
    records: List[Any] = field(default_factory=list)  #: of all kinds, in any order

    def of(self, kind: Type[Record]) -> List[Any]:
        return [record for record in self.records if type(record) is kind]


@dataclass
class Imported:
    format: str  #: "Nsight Compute, details page"
    rows: List[Row] = field(default_factory=list)
    missing: List[str] = field(default_factory=list)  #: sentences about data it lacks for a point on a roofline
    remarks: List[str] = field(default_factory=list)  #: sentences about the meaning of its numbers
    models: Dict[str, str] = field(default_factory=dict)  #: names of the chips, by device

    def set_flops(self, row: Row, flops: Dict[str, float]) -> None:
        """Of the row, by precision ("": unknown): their sum, with the precision of most of them."""
        row.flops = sum(flops.values()) if flops else None
        ordered = sorted(flops, key=lambda one: (-flops[one], one))
        if ordered and ordered[0]:
            row.point["precision"] = ordered[0]
            each = [f"{si(flops[one], 'FLOP')} in {one or 'another precision'}" for one in ordered if flops[one] > 0]
            self.remarks += [f"FLOPs of several precisions: {', '.join(each)}. The row counts them together, as "
                             f"{ordered[0]}."] * (len(each) > 1)

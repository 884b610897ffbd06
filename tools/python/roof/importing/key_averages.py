"""PyTorch's table of operators: key_averages().table(), printed into a file. Groups of dashes mark the columns; what
precedes them in their line (blanks of a notebook, "# ", "[rank0]: ", times) precedes every line of the table. The time
of an operator is its own, without those that it calls, so that the times add up; on a GPU it is the GPU's. Each table
is a row."""

import re
from typing import Dict, List, Optional, Tuple

from roof.importing import Imported, Layer, Row
from roof.importing.counted import UNITS, shown
from roof.importing.files import Source
from roof.texts import InputError

TIME = re.compile(r"(-?)([0-9]{1,30}(?:\.[0-9]+)?)(us|ms|s)")
DEVICE = re.compile(r"(?:Self )?(?!CPU)(\w+)(?: total)?")  #: columns of the times on CUDA, XPU, …
FLOPS = re.compile(r"Total ([KMGTP]?)FLOPs")
TOTAL = re.compile(r"(?:Self )?(\w+) time total: (\S+)$")
MOST = 500  #: ranks that may have printed into one file
WHOLE = 0.99  #: share of the time from which a table has all rows that matter
#: Operators that multiply and for which PyTorch's tables have no FLOPs.
OTHERS = re.compile(r"aten::(conv[13]d|conv_tr|convolution_b|_scaled_|_grouped_mm|_flash_|_efficient_|\w*rnn|_addmm_a|"
                    r"_weight_int\d|_dyn_quant_matmul|_mixed_dtypes|_cslt_sparse_mm|_sparse_semi|sparse_sampled|"
                    r"fbgemm_linear|(mv|addmv_?|addbmm_?|addmm_|baddbmm_|v?dot|_int_mm|_sparse_sparse_matmul)$)|"
                    "quantized::|flash_attn|xformers|vllm")
CALLS = ("# of Calls", "Number of Calls")


def is_heading(line: str) -> bool:
    return "Self CPU" in line and any(calls in line for calls in CALLS)


def ruler(line: str) -> Optional[str]:
    """What precedes two or more groups of dashes that end the line; None for another line."""
    line = line.rstrip()
    rest = line[len(line.rstrip("- ")):]
    groups = rest[rest.find("---"):].split()
    is_ruler = len(groups) > 1 and min(map(len, groups)) > 2
    return without_times(line[:len(line) - len(rest)] + rest[:rest.find("---")]) if is_ruler else None


def without_times(text: str) -> str:
    """Those of a log differ from line to line."""
    return re.sub("[0-9]+(?:[-:.,T][0-9]+)+", lambda time: "0" * len(time[0]), text)


def reads(head: str) -> bool:
    return any(map(is_heading, head.splitlines()))


class Table:
    """One table. `lines`: those from its heading on, with their numbers and without what precedes the dashes."""

    def __init__(self, name: str, lines: List[Tuple[int, str]]) -> None:
        self.name = name
        end = next((at for at, (_, line) in enumerate(lines) if at > 1 and ruler(line) is not None), 0)
        if not end:
            raise InputError(f"{name}: line {lines[-1][0]}: the table is cut off")
        begins = [match.start() for match in re.finditer(r"-+", lines[1][1])]
        cells = [[line[at:to].strip() for at, to in zip(begins, [*begins[1:], None])] for _, line in lines[:end]]
        self.heading = cells[0]
        self.own = "Self CPU" if "Self CPU" in self.heading else "Self CPU total"
        self.calls = next((calls for calls in CALLS if calls in self.heading), "")
        devices = [match for column in self.heading if (match := DEVICE.fullmatch(column)) and match[0] != match[1]]
        device, self.on = (devices[0][1], devices[0][0]) if devices else ("CPU", "")  # on: the column of a device
        # Others are blank, or go on with a stack.
        self.rows = [(number, dict(zip(self.heading, row))) for (number, _), row in zip(lines[2:end], cells[2:])
                     if any(row[:-1])]
        for number, row in self.rows:
            for column in ("Name", self.own, self.calls):
                if not row.get(column):
                    raise InputError(f"{name}: line {number}: its cell '{column}' is empty")
        totals = {match[1]: (number, match[2]) for number, line in lines[end:] if (match := TOTAL.match(line.strip()))}
        total = self.seconds(*totals[device]) if device in totals else None
        if not total:
            raise InputError(f"{name}: line {lines[end][0]}: the table does not end in 'Self {device} time total: …'")
        self.total = total

    def seconds(self, number: int, text: str) -> Optional[float]:
        """None for a time below 0, which old versions print where a clock ran backwards."""
        match = TIME.fullmatch(text)
        if not match:
            raise InputError(f"{self.name}: line {number}: '{shown(text)}' is not a time")
        return None if match[1] else float(match[2]) * UNITS[match[3]][0]


def tables_in(source: Source) -> List[Table]:
    lines = list(enumerate(source.text().splitlines(), 1))
    headings = {number for number, line in lines if is_heading(line)}
    found: Dict[int, Table] = {}
    befores = dict.fromkeys(before for before in (ruler(line) for _, line in lines) if before is not None)
    if len(befores) > MOST:
        raise InputError(f"{source.name}: more than {MOST} different texts precede its lines of dashes")
    for before in befores:
        own = [(number, line[len(before):]) for number, line in lines if without_times(line[:len(before)]) == before]
        starts = [at for at, (number, _) in enumerate(own[:-1]) if number in headings and ruler(own[at + 1][1]) == ""]
        found.update({own[at][0]: Table(source.name, own[at:end]) for at, end in zip(starts, [*starts[1:], len(own)])})
    if headings - found.keys():
        raise InputError(f"{source.name}: line {min(headings - found.keys())}: the table has no line of dashes below "
                         "its heading")
    return [table for _, table in sorted(found.items())]


def row_of(table: Table, name: str, imported: Imported) -> Row:
    steps = max([1.0] + [float(row[table.calls]) for _, row in table.rows
                         if row["Name"].startswith("ProfilerStep") and re.fullmatch("[0-9]{1,15}", row[table.calls])])
    column, prefix = next(((match[0], match[1]) for heading in table.heading if (match := FLOPS.fullmatch(heading))),
                          ("", ""))
    row = Row("gpu:0" if table.on else "cpu", {"model": name}, times=[table.total / steps], known="analytic")
    kernels: List[Layer] = []  # their times are also those of the operators that launched them
    hosts = {cells["Name"] for number, cells in table.rows if table.seconds(number, cells.get("CPU total", "0s"))}
    printed, others = 0.0, []  # type: float, List[str]  # seconds of the rows, and operators that lack FLOPs
    for number, cells in table.rows:
        operator, shapes = cells["Name"], f" {cells['Input Shapes']}" if "Input Shapes" in cells else ""
        time = table.seconds(number, cells[table.on or table.own])
        if operator.startswith("ProfilerStep"):
            printed += 0.0 if table.on else time or 0.0
            continue
        if time is None:
            imported.remarks.append(f"line {number}: the time of {shown(operator)} is below 0 and was left out")
        count = re.fullmatch(r"[0-9]{1,30}(?:\.[0-9]+)?", cells.get(column, ""))
        others += [shown(operator)] * bool(OTHERS.match(operator) and not count)
        flops = float(count[0]) * 1000.0 ** ("", *"KMGTP").index(prefix) / steps if count else None
        # Up to PyTorch 1.5 the time on a device is not the operator's own.
        times = [] if time is None or table.on.endswith(" total") else [time / steps]
        if not table.on or time or flops is not None:  # the others did not run on the device
            on_host = [table.seconds(number, cells.get(of, "1s")) for of in (table.own, "CPU total")]
            phase = ("update" if operator.startswith("Optimizer.")
                     else "backward" if operator.startswith("autograd::") or "backward" in operator.lower()
                     else "forward")
            if table.on and on_host == [0, 0] and operator in hosts:
                continue  # a range, as the device ran it: its kernels are rows of their own
            (kernels if table.on and on_host == [0, 0] else row.layers).append(
                Layer(operator + shapes, operator, phase, times, flops))
    printed += steps * max(sum(sum(layer.times) for layer in layers) for layers in (row.layers, kernels))
    row.layers += kernels if not any(any(layer.times) for layer in row.layers) else []
    counted = [layer.flops for layer in row.layers if layer.flops is not None]
    row.flops = sum(counted) if counted else None
    if not counted:
        reason = "no printed row has any; print all with row_limit=-1" if column else "profile with with_flops=True"
        imported.missing.append(f"FLOPs: {reason}")
    is_whole = printed >= WHOLE * table.total or table.on.endswith(" total")
    lacking = [f"the printed rows have {printed / table.total:.0%} of the time; print all with row_limit=-1"]
    lacking = lacking * (not is_whole) + [f"PyTorch counts none for {', '.join(dict.fromkeys(others))}"] * bool(others)
    if counted and lacking:
        row.at_least = True
        imported.missing.append(f"FLOPs: a lower bound: {'; '.join(lacking)}")
    return row


def read(source: Source) -> Imported:
    imported = Imported("PyTorch's table of operators")
    for place, table in enumerate(tables_in(source)):
        imported.rows.append(row_of(table, source.row + f" {place + 1}" * (place > 0), imported))
    imported.missing.append("bytes: the table has none")
    imported.remarks.append("FLOPs are PyTorch's; an operator's time is its own")
    return imported

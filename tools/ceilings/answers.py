"""Parses the output of other programs into rates in byte/s, FLOP/s or operations/s."""

import csv
import io
import json
import math
import re
from collections import namedtuple

# A measured quantity: a memory level or "core", an operation as `roof` names it, a precision (empty for bandwidth), threads.
# Operation "roof" stands for the best mix of a precision.
Quantity = namedtuple("Quantity", "level operation precision threads")


def parse_bare(text):
    """{argument: byte/s} of tools/ceilings/bare_loops.cpp."""
    return {argument: float(rate) for argument, rate in (line.split() for line in text.splitlines())}


def parse_stream(text):
    """{operation: byte/s} of STREAM ("Copy:  25000.0 …") and BabelStream ("Copy        26000.1 …")."""
    names = {"Copy": "copy", "Triad": "triad", "Dot": "load"}
    rows = re.findall(r"^(Copy|Triad|Dot):?\s+([0-9.]+)\s", text, re.MULTILINE)
    return {names[name]: float(rate) * 1e6 for name, rate in rows}


def parse_cpufp(text):
    """{(operation, precision): operations/s} of cpufp's table, the best of its instruction sets. Newer versions have a column for the
    vector length before that of the computation."""
    types = {"fp64": "fp64", "fp32": "fp32", "fp16": "fp16", "bf16": "bf16", "int8": "int8",
             "f64": "fp64", "f32": "fp32", "f16": "fp16", "u8": "int8", "s8": "int8"}
    best = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        rate = re.match(r"([0-9.]+) ([GT])(FL)?OPS$", cells[-1]) if len(cells) in (3, 4) else None
        computation = cells[-2] if rate else ""
        words = re.findall(r"[a-z]+[0-9]+", computation.lower())
        known = [types[word] for word in words if word in types]
        if not known:
            continue
        is_mul_add = computation.startswith("ADD(MUL") or cells[0] in ("AVX", "SSE")
        narrow = min(known, key=lambda name: int(re.sub(r"\D", "", name)))
        operation = ("mul+add" if is_mul_add else "tile" if cells[0].startswith("AMX") else "dot" if narrow in ("bf16", "int8") else "fma")
        value = float(rate.group(1)) * (1e12 if rate.group(2) == "T" else 1e9)
        best[operation, narrow] = max(value, best.get((operation, narrow), 0))
    return best


def parse_likwid(text):
    """The rate of one test of likwid-bench: FLOP/s of peakflops, byte/s of the others."""
    return float(re.search(r"^MFlops/s:\s*([0-9.]+)" if "Test: peakflops" in text else r"^MByte/s:\s*([0-9.]+)", text, re.MULTILINE).group(1)) * 1e6


def parse_mixbench(text):
    """{("fma", precision): FLOP/s, ("load", ""): byte/s}: the highest of each in mixbench's CSV."""
    blocks = {"Single Precision ops": "fp32", "Double precision ops": "fp64", "Half precision ops": "fp16"}
    columns, best = [], {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if cells[0] == "Experiment ID":
            columns = [blocks.get(name) for name in cells[1::4]]
        elif columns and re.fullmatch(r"\d+", cells[0]):
            for index, precision in enumerate(columns):
                block = cells[1 + 4 * index:5 + 4 * index]
                if precision is None or len(block) < 4:
                    continue
                for key, cell in ((("fma", precision), block[2]), (("load", ""), block[3])):
                    value = float(cell) * 1e9
                    if math.isfinite(value) and value > best.get(key, 0):
                        best[key] = value
    return best


def parse_ert(text):
    """{(level, operation, precision): rate} of ERT's roofline.json, with levels as it names them. It counts each element as read and
    written: update."""
    empirical = json.JSONDecoder().raw_decode(text[text.index("{"):])[0]["empirical"]
    return {**{(name, "update", ""): value * 1e9 for name, value in empirical["gbytes"]["data"]},
            **{("core", "roof", name.split()[0].lower()): value * 1e9 for name, value in empirical["gflops"]["data"]}}


def parse_ert_curve(text):
    """[(bytes of the working set, byte/s)] of the curve that ERT keeps in its files `max`: a line for each working set, of all
    threads together, with trials, three times, and three rates in GB/s from the sixth number on. Empty if the text
    holds none."""
    lines = (line.split() for line in text.splitlines())
    return [(int(words[0]), max(map(float, words[5:8])) * 1e9) for words in lines if len(words) == 11 and words[0].isdigit()]


def at_working_set(curve, size, within=1.25):
    """The best rate of a curve near that working set. None if the curve has no point there."""
    return max((rate for bytes_, rate in curve if size / within <= bytes_ <= size * within), default=None)


def parse_ceilings_table(text):
    """{Quantity: rate} of the table `ceilings.csv` of `roof report --data`: bandwidths, the best of the instruction sets."""
    rates = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row["kind"] != "bandwidth" or row["condition"]:
            continue
        quantity = Quantity(row["level"], row["operation"], "", int(row["threads"]))
        rates[quantity] = max(float(row["rate_median_per_s"]), rates.get(quantity, 0))
    return rates


def parse_roof(document):
    """{Quantity: rate} of `roof calibrate --json`, the best of its instruction sets; conditions are left out. A copy is the faster of those
    with and without stores that bypass the caches, because compilers choose either for a peer's loop."""
    rates = {}
    for ceiling in document["ceilings"]:
        if ceiling["condition"] or ceiling["kind"] not in ("bandwidth", "compute"):
            continue
        is_compute = ceiling["kind"] == "compute"
        precision = ceiling["precision"] if is_compute else ""
        operations = {ceiling["operation"], ceiling["operation"].replace("copy_nt", "copy")} | ({"roof"} if is_compute else set())
        for operation in operations:
            quantity = Quantity(ceiling["level"], operation, precision, ceiling["threads"])
            rates[quantity] = max(ceiling["median"], rates.get(quantity, 0))
    return rates

"""The programs compared with our ceilings: runs each and returns its rates as {Quantity: rate}."""

import math
import os
import tempfile

from ceilings.answers import (Quantity, at_working_set, parse_bare, parse_ceilings_table, parse_cpufp, parse_ert, parse_ert_curve,
                              parse_likwid, parse_mixbench, parse_roof, parse_stream)
from measuring import Failed, run


def openmp(threads):
    return {"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}


def measure_with_threads(command, calibration, say, parse, arguments=lambda threads: ()):
    """`parse`: text -> {(operation, precision): rate}, of DRAM without a precision; `arguments`: of the command, for a number of threads."""
    rates = {}
    for threads in sorted({1, calibration["machine"]["threads"]}):
        say(f"{command[0]}, {threads} threads")
        for (operation, precision), rate in parse(run([*command, *arguments(threads)], **openmp(threads)).text).items():
            rates[Quantity("core" if precision else "DRAM", operation, precision, threads)] = rate
    return rates


def levels_of_cpu(calibration):
    return [level for level in calibration["levels_by_threads"] if level["device"] == "cpu"]


def held_at(calibration, level, operation):
    """The working set of our ceiling in bytes; without one, well inside the level."""
    for ceiling in calibration["ceilings"]:
        if (ceiling["kind"], ceiling["level"], ceiling["operation"], ceiling["threads"], ceiling.get("condition") or "") == (
                "bandwidth", level["name"], operation, level["threads"], "") and ceiling.get("working_set_bytes"):
            return ceiling["working_set_bytes"]
    low, high = level["from_bytes"], level["to_bytes"]
    return high if level["name"] == "DRAM" else math.sqrt(low * high)


# ---------------------------------------------------------------------------------------------------------- bare loops

def bare_points(calibration):
    """{argument: Quantity}: one thread in L1 and L2, at the working set of our ceiling."""
    return {f"{operation}:{int(held_at(calibration, level, operation))}": Quantity(level["name"], operation, "", 1)
            for level in levels_of_cpu(calibration) if level["threads"] == 1 and level["name"] in ("L1", "L2")
            for operation in ("load", "store", "copy", "update", "triad")}


def measure_bare(command, calibration, say):
    points = bare_points(calibration)
    say(command[0])
    return {points[argument]: rate for argument, rate in parse_bare(run([*command, *points]).text).items()}


# --------------------------------------------------------------------------------------------------------- likwid-bench

#: likwid's test of each operation, without its instruction set; those that end in mem bypass the caches.
LIKWID_STREAMS = {"load": "load", "store": "store", "store_nt": "store_mem", "copy": "copy", "copy_nt": "copy_mem", "update": "update",
                  "triad": "stream"}
LIKWID_PEAKS = {"fp64": "peakflops", "fp32": "peakflops_sp"}


def likwid_points(calibration, tests):
    """{Quantity: (test, bytes of all threads)}: the working set is that of our ceiling, in whole KiB of each thread; the test has the widest
    instruction set that both the machine and likwid have."""
    widths = [theirs for ours, theirs in (("avx512", "avx512"), ("avx2", "avx"), ("sse", "sse")) if ours in calibration["machine"]["isa"]]
    points = {}

    def add(quantity, stem, ending, size):
        test = next((name for name in (f"{stem}_{width}{ending}" for width in widths) if name in tests), None)
        if test:
            grain = 1024 * quantity.threads
            points[quantity] = test, max(1, int(size // grain)) * grain

    for level in levels_of_cpu(calibration):
        for operation, stem in LIKWID_STREAMS.items():
            if level["name"] == "DRAM" or not stem.endswith("_mem"):
                add(Quantity(level["name"], operation, "", level["threads"]), stem, "", held_at(calibration, level, operation))
    for threads in sorted({level["threads"] for level in levels_of_cpu(calibration)}):
        for precision, stem in LIKWID_PEAKS.items():
            add(Quantity("core", "fma", precision, threads), stem, "_fma", 16384 * threads)
    return points


def measure_likwid(command, calibration, say):
    """Each test runs some 0.2 s at our rate, longer than our samples; a test that likwid cannot run, as with too many threads, is left out. A
    copy is the faster of both kinds, as `parse_roof` says of ours."""
    ours, rates = parse_roof(calibration), {}
    tests = {line.split(" - ")[0] for line in run([*command, "-a"]).text.splitlines() if " - " in line}
    for quantity, (test, size) in likwid_points(calibration, tests).items():
        say(f"{test}, {size} bytes, {quantity.threads} threads")
        length = ["-i", str(max(10, round(0.2 * ours[quantity] / size)))] if quantity in ours and quantity.level != "core" else ["-s", "1"]
        try:  # likwid's kB has 1000 bytes
            rate = parse_likwid(run([*command, "-t", test, "-W", f"N:{max(1, round(size / 1000))}kB:{quantity.threads}", *length]).text)
        except (Failed, AttributeError):
            continue
        for known in {quantity, quantity._replace(operation=quantity.operation.replace("copy_nt", "copy"))}:
            rates[known] = max(rate, rates.get(known, 0))
    return rates


# -------------------------------------------------------------------------------------------------------------- others

def measure_stream(command, calibration, say):
    return measure_with_threads(command, calibration, say, lambda text: {(operation, ""): rate for operation, rate in parse_stream(text).items()})


def measure_mixbench(command, calibration, say):
    return measure_with_threads(command, calibration, say, parse_mixbench)


def measure_cpufp(command, calibration, say):
    return measure_with_threads(command, calibration, say, parse_cpufp,
                                lambda threads: ("--thread_pool=[0]" if threads == 1 else f"--thread_pool=[0-{threads - 1}]",))


def measure_ert(command, calibration, say):
    """ERT finds its levels in its own curve, and they differ from ours. If the command prints that curve too, the rate near the working set of
    our ceiling is taken."""
    say(command[0])
    threads = calibration["machine"]["threads"]
    text = run(command).text
    curve = parse_ert_curve(text)
    rates = {Quantity(level, operation, precision, threads): rate
             for (level, operation, precision), rate in parse_ert(text).items() if level == "core" or not curve}
    for level in levels_of_cpu(calibration):
        rate = at_working_set(curve, held_at(calibration, level, "update")) if level["threads"] == threads else None
        if rate:
            rates[Quantity(level["name"], "update", "", threads)] = rate
    return rates


def measure_search(command, calibration, say):
    """Our own program with half a minute for each bandwidth (calibrate/cpu-search): shows what more time finds in the last cache and in
    memory."""
    last = {level["name"] for level in levels_of_cpu(calibration)} - {"L1", "L2"}
    with tempfile.TemporaryDirectory() as folder:
        rows, numbers = os.path.join(folder, "rows"), os.path.join(folder, "numbers")
        say(f"{command[0]} sweep calibrate/cpu-search")
        run(command + ["sweep", "calibrate/cpu-search", "--out", rows])
        run(command + ["report", rows, "--calibration", rows, "--data", numbers, "--out", os.path.join(folder, "page.html"), "--brief"])
        with open(os.path.join(numbers, "ceilings.csv"), encoding="utf-8") as file:
            found = parse_ceilings_table(file.read())
    return {quantity: rate for quantity, rate in found.items() if quantity.level in last}


#: The function of each peer: (command, our calibration, say) -> {Quantity: rate}. Raises measuring.Failed.
PEERS = {"bare": measure_bare, "likwid": measure_likwid, "stream": measure_stream, "babelstream": measure_stream,
         "mixbench": measure_mixbench, "cpufp": measure_cpufp, "ert": measure_ert, "search": measure_search}

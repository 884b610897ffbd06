"""The programs compared with our ceilings: runs each and returns its rates as {Quantity: rate}."""

import math
import os
import tempfile

from ceilings.answers import (Quantity, at_working_set, parse_bare, parse_ceilings_table, parse_cpufp, parse_ert, parse_ert_curve,
                              parse_mixbench, parse_stream)
from measuring import run


def openmp(threads):
    return {"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}


def measure_with_threads(command, calibration, say, parse, arguments=lambda threads: ()):
    """`parse`: text -> {(level, operation, precision): rate}; `arguments`: of the command, for a number of threads."""
    rates = {}
    for threads in sorted({1, calibration["machine"]["threads"]}):
        say(f"{command[0]}, {threads} threads")
        for (level, operation, precision), rate in parse(run([*command, *arguments(threads)], **openmp(threads)).text).items():
            rates[Quantity(level, operation, precision, threads)] = rate
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
    """tools/ceilings/bare_loops.cpp."""
    points = bare_points(calibration)
    say(command[0])
    return {points[argument]: rate for argument, rate in parse_bare(run([*command, *points]).text).items()}


# -------------------------------------------------------------------------------------------------------------- others

def measure_stream(command, calibration, say):
    def parse(text):
        return {("DRAM", operation, ""): rate for operation, rate in parse_stream(text).items()}
    return measure_with_threads(command, calibration, say, parse)


def measure_mixbench(command, calibration, say):
    def parse(text):
        return {("core" if precision else "DRAM", operation, precision): rate
                for (operation, precision), rate in parse_mixbench(text).items()}
    return measure_with_threads(command, calibration, say, parse)


def measure_cpufp(command, calibration, say):
    def parse(text):
        return {("core", *key): rate for key, rate in parse_cpufp(text).items()}
    return measure_with_threads(command, calibration, say, parse,
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


#: The function of each peer: (command, our calibration, say) -> {Quantity: rate}. Raises NotMeasured.
PEERS = {"bare": measure_bare, "stream": measure_stream, "babelstream": measure_stream, "mixbench": measure_mixbench, "cpufp": measure_cpufp, "ert": measure_ert, "search": measure_search}

"""`roof fleet`: judges the digests of many nodes, lists those to measure again, and prints scripts that measure."""

import argparse
import gc
import math
import os
import sys
import time
from typing import List

from roof.commands import Words, require, whole
from roof.fleet.scripts import Script, fleet_script, node_list, read_expected
from roof.fleet.tables import say, say_json, show, write_page
from roof.texts import InputError, printable

PARSER = Words("fleet", "anonymise json",
               "expect group-by max-age out plan device nodes at-once minutes gpus image claim",
               at_once="20", minutes="30", gpus="8")
PARSER.add_argument("words", nargs="*")
VERBS = ("script", "retest", "history", "compare")  #: without one of them the fleet is judged


def _script(options: argparse.Namespace, words: List[str]) -> int:
    if len(words) != 1:
        PARSER.error("script: one of slurm, pbs, kubernetes and parallel")
    plan, devices = options.plan, options.device.split(",") if options.device else []
    if not devices and not plan:
        plan = "calibrate/cpu"
    elif not devices and plan.startswith("calibrate/gpu"):
        devices = ["gpu"]  # these plans name one GPU
    nodes = list(read_expected(options.nodes)) if os.path.isfile(options.nodes) else node_list(options.nodes)
    at_once, minutes = whole("--at-once", options.at_once, 10_000), whole("--minutes", options.minutes, 24 * 60)
    say(fleet_script(Script(words[0], plan, devices, nodes, options.out or "fleet", at_once, minutes, options.image,
                            options.claim, whole("--gpus", options.gpus, 64))))
    return 0


def _hours(age: str) -> float:
    """Of "36h" or "14d"; 0 of an empty text."""
    try:
        hours = float(age.rstrip("hd") if age[-1:] in ("h", "d") else age or 0) * (1 if age.endswith("h") else 24)
    except ValueError:
        hours = math.nan
    if age and not 0 < hours < math.inf:
        raise InputError(f"--max-age '{age}' is no time such as 36h or 14d")
    return hours


def main(arguments: List[str]) -> int:
    gc.disable()  # a short life, with millions of small objects
    options = PARSER.parse_intermixed_args(arguments)
    verb, *words = options.words if options.words[:1] and options.words[0] in VERBS else ["", *options.words]
    if verb == "script":
        return _script(options, words)
    require("fleet", "numpy", "scipy", "pandas")
    import numpy

    from roof.fleet import reports
    from roof.fleet.folders import anonymise, read_fleet
    from roof.fleet.judge import judge, nodes_to_retest
    from roof.fleet.members import JudgeOptions

    numpy.seterr(all="ignore")  # rates of hostile digests may differ by more than a number can
    if verb == "compare" and len(words) != 2:
        PARSER.error("compare: two folders, A and B")
    if not words:
        PARSER.error("DIR is missing")
    fleets = [read_fleet(some) for some in ([[words[0]], [words[1]]] if verb == "compare" else [words])]
    for fleet in fleets if options.expect else ():
        fleet.expected = read_expected(options.expect)
    if options.anonymise and verb != "retest":  # whose list is to be used
        anonymise(fleets)
    judging = JudgeOptions(options.group_by, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                           _hours(options.max_age) if verb in ("", "retest") else 0.0)
    if verb == "retest":
        nodes = nodes_to_retest(judge(fleets[0], judging))
        for folder, reason in fleets[0].refused:
            print(printable(f"roof: {folder} cannot be used: {reason}"), file=sys.stderr)
        say_json(nodes) if options.json else say("".join(f"{node}\n" for node in nodes))
        return 0
    status, report, document = (reports.of_history(fleets[0]) if verb == "history"
                                else reports.of_comparison(*fleets) if verb == "compare"
                                else reports.of_judge(fleets[0], judging))
    if options.out:
        write_page(options.out, report.page())
    show(report, options.json, document)
    return status

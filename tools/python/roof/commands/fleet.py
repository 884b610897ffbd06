"""`roof fleet`: judges the digests of many nodes, lists those to measure again, and prints scripts that measure."""

import argparse
import gc
import math
import os
import sys
import time
from typing import List

from roof.commands import Words, require, whole
from roof.errors import InputError, printable

PARSER = Words("fleet", "anonymise json",
               "expect group-by max-age out plan device nodes at-once minutes gpus image claim",
               at_once="20", minutes="30", gpus="8")
PARSER.add_argument("words", nargs="*")


def _script(options: argparse.Namespace, words: List[str]) -> int:
    from roof.fleet.nodes import node_list, read_expected
    from roof.fleet.scripts import Script, fleet_script
    from roof.fleet.tables import say

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


def _fleets(options: argparse.Namespace, *folders: List[str]):
    """A fleet of each list of folders."""
    from roof.fleet.folders import anonymise, read_fleet
    from roof.fleet.nodes import read_expected

    if not all(folders):
        PARSER.error("DIR is missing")
    fleets = [read_fleet(some) for some in folders]
    for fleet in fleets if options.expect else ():
        fleet.expected = read_expected(options.expect)
    if options.anonymise:
        anonymise(fleets)
    return fleets


def _judging(options: argparse.Namespace):
    from roof.fleet.members import JudgeOptions

    hours, age = 0.0, options.max_age
    if age:
        try:
            hours = float(age.rstrip("hd") if age[-1] in "hd" else age) * (1 if age.endswith("h") else 24)
        except ValueError:
            hours = math.nan
        if not 0 < hours < math.inf:
            raise InputError(f"--max-age '{age}' is no time such as 36h or 14d")
    return JudgeOptions(options.group_by, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), hours)


def _retest(options: argparse.Namespace, folders: List[str]) -> int:
    from roof.fleet.judge import judge, nodes_to_retest
    from roof.fleet.tables import say, say_json

    options.anonymise = False  # the list is to be used
    fleet, = _fleets(options, folders)
    nodes = nodes_to_retest(judge(fleet, _judging(options)))
    for folder, reason in fleet.refused:
        print(printable(f"roof: {folder} cannot be used: {reason}"), file=sys.stderr)
    say_json(nodes) if options.json else say("".join(f"{node}\n" for node in nodes))
    return 0


def _history(options: argparse.Namespace, folders: List[str]):
    """1 if a node drifted, or all nodes became slower; 2 if nothing can be told."""
    from roof.fleet.history import judge_history
    from roof.fleet.reports import history_report

    fleet, = _fleets(options, folders)
    found = judge_history(fleet)
    is_slower = any(series.drifts or any(shift.ratio < 1 for shift in series.shifts) for series in found)
    is_told = any(series.tests for series in found) and not fleet.refused
    return 1 if is_slower else 0 if is_told else 2, history_report(found, fleet.refused), None


def _compare(options: argparse.Namespace, folders: List[str]):
    """1 if a ceiling or a node is slower in B; 2 if nothing can be compared."""
    from roof.fleet.comparison import compare_fleets
    from roof.fleet.judge import status_of
    from roof.fleet.reports import comparison_report

    if len(folders) != 2:
        PARSER.error("compare: two folders, A and B")
    changes = compare_fleets(*_fleets(options, *([folder] for folder in folders)))
    is_slower = any(change.finding == "slower" for kind in changes.kinds for change in kind.ceilings)
    is_told = changes.kinds and not changes.nodes.refused
    status = 1 if is_slower or status_of(changes.nodes) == 1 else 0 if is_told else 2
    return status, comparison_report(changes), None


def _judge(options: argparse.Namespace, folders: List[str]):
    from roof.fleet.judge import judge, status_of
    from roof.fleet.links import judge_links
    from roof.fleet.reports import fleet_json, fleet_report

    fleet, = _fleets(options, folders)
    findings, links = judge(fleet, _judging(options)), judge_links(fleet)
    status = 1 if any(found.slow for found in links) else status_of(findings, any(not found.note for found in links))
    return status, fleet_report(findings, links), fleet_json(findings, links)


def main(arguments: List[str]) -> int:
    gc.disable()  # a short life, with millions of small objects
    options = PARSER.parse_intermixed_args(arguments)
    verbs = {"script": _script, "retest": _retest, "history": _history, "compare": _compare}
    verb = verbs.get(options.words[0]) if options.words else None
    if verb is _script:
        return _script(options, options.words[1:])
    require("fleet", "numpy", "scipy", "pandas")
    import numpy

    from roof.fleet.tables import show, write_page

    numpy.seterr(all="ignore")  # rates of hostile digests may differ by more than a number can
    if verb is _retest:
        return _retest(options, options.words[1:])
    status, report, document = verb(options, options.words[1:]) if verb else _judge(options, options.words)
    if options.out:
        write_page(options.out, report.page())
    show(report, options.json, document)
    return status

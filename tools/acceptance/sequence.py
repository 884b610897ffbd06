"""Runs each step that is possible here and fits into the time, whatever the result of earlier steps."""

import time

from acceptance import budget
from acceptance.journal import alone
from acceptance.programs import Failed, TimeOver


def reason_against(step, scene):
    """The first reason why the step cannot run here; None if it can."""
    return next((reason for reason in (need(scene) for need in step.needs) if reason), None)


def run_all(steps, scene, journal, end, clock=time.monotonic):
    """Runs the steps in order of importance until `end` on the clock. Steps that cannot run here get no share of the
    time."""
    against = {step.name: reason_against(step, scene) for step in steps}
    able = [step for step in steps if not against[step.name]]
    for step in steps:
        if against[step.name]:
            journal.add(step, "unavailable", reason=against[step.name])
            continue
        left = end - clock()
        seconds = budget.grant(able, left)
        able = able[1:]
        if seconds is None:
            journal.add(step, "left out", reason=f"it wants {step.least:g} s, and {max(0, left):.0f} s are left; {alone(step.name)}")
        else:
            run_one(step, scene, journal, seconds, clock)


def run_one(step, scene, journal, seconds, clock):
    begin = clock()
    try:
        remark = step.run(scene, seconds)
    except TimeOver as over:
        journal.add(step, "cut off", clock() - begin, f"{over}; {alone(step.name)} --minutes 30")
    except Failed as failure:
        journal.add(step, "failed", clock() - begin, str(failure))
    except Exception as error:  # the next step must still run
        journal.add(step, "failed", clock() - begin, f"{type(error).__name__}: {error}")
    else:
        journal.add(step, "ok", clock() - begin, remark or "")

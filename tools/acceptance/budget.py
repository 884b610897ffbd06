"""Shares the time among the steps in order of importance. Each step that fits gets its minimum; the first step that can
use the spare time gets it."""

from collections import namedtuple

#: A check on hardware. `proves`: what an ok result shows. `least`, `most`: seconds, minimum to start and maximum.
#: `needs`: functions of the scene that return the reason why the step cannot run here, or None. `run`: a function of
#: the scene and of the granted seconds; returns a remark or None, and throws Failed.
Step = namedtuple("Step", "name proves least most needs run")


def fitting(steps, seconds):
    """The steps, in order, whose minimum times fit together. A short step may fit where a longer one did not."""
    chosen = []
    for step in steps:
        if step.least <= seconds:
            chosen.append(step)
            seconds -= step.least
    return chosen


def grant(steps, seconds):
    """The seconds that the first of the remaining steps may take; None if they are less than its minimum."""
    first = steps[0]
    chosen = fitting(steps, seconds)
    if not chosen or chosen[0] is not first:
        return None
    spare = seconds - sum(step.least for step in chosen)
    return min(first.most, first.least + spare)


def foreseen(steps):
    """The sums of the minimum and of the maximum seconds of the steps."""
    return sum(step.least for step in steps), sum(step.most for step in steps)

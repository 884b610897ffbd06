"""How the time is shared: steps in the order of their importance; each that fits gets its least, and what is over goes to the first
that can use it."""

from collections import namedtuple

#: A check on hardware. `proves`: what is known once it is ok. `least`, `most`: seconds it is worth starting with, and may take. `needs`:
#: functions of the scene that return the reason why it cannot run here, or nothing. `run`: a function of the scene and of the
#: seconds granted; returns a remark or nothing, and throws Failed.
Step = namedtuple("Step", "name proves least most needs run")


def fitting(steps, seconds):
    """Of these, in their order, all whose leasts fit into the time together; a small one may fit where a larger did not."""
    chosen = []
    for step in steps:
        if step.least <= seconds:
            chosen.append(step)
            seconds -= step.least
    return chosen


def grant(steps, seconds):
    """Of the first of the steps that are to come: the seconds it may take, or nothing if they are not enough for it."""
    first = steps[0]
    chosen = fitting(steps, seconds)
    if not chosen or chosen[0] is not first:
        return None
    spare = seconds - sum(step.least for step in chosen)
    return min(first.most, first.least + spare)


def foreseen(steps):
    """Seconds of all of them, at least and at most."""
    return sum(step.least for step in steps), sum(step.most for step in steps)

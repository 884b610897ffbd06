"""Shares the time among the steps in order of importance, and runs each step that is possible here, whatever the result of earlier ones. Each
step that fits gets its minimum; the first step that can use the spare time gets it. How each ended is in steps.json and summary.md, which are
written after every step, so that finished steps are kept after an interruption."""

import json
import time
from collections import namedtuple

from measuring import Failed, TimeOver

#: A check on hardware. `proves`: what an ok result shows. `least`, `most`: seconds, minimum to start and maximum.
#: `needs`: functions of the scene that return the reason why the step cannot run here, or None. `run`: a function of
#: the scene and of the granted seconds; returns a remark or None, and raises Failed.
Step = namedtuple("Step", "name proves least most needs run")

#: ok; failed: a check failed; cut off: its time was over; unavailable: cannot run on this machine; left out: not enough
#: time.
ENDS = ("ok", "failed", "cut off", "unavailable", "left out")
FIELDS = {"step", "status", "seconds", "reason", "proves", "build"}


class Journal:
    """The record of all steps. Results of another `build`, or in an older format of the file, do not count."""

    def __init__(self, folder, build=""):
        self.folder = folder
        self.build = build
        self.file = folder / "steps.json"
        rows = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else []
        self.rows = [row for row in rows if FIELDS <= row.keys()]

    def is_done(self, name):
        return any((row["step"], row["status"], row["build"]) == (name, "ok", self.build) for row in self.rows)

    def add(self, step, status, seconds=0.0, reason=""):
        """Replaces earlier results of the step in this folder."""
        assert status in ENDS, status
        row = {"step": step.name, "status": status, "seconds": round(seconds, 1), "reason": reason, "proves": step.proves,
               "build": self.build}
        self.rows = [old for old in self.rows if old["step"] != step.name] + [row]
        print(f"[{row['seconds']:6.1f} s] {step.name}: {status}{': ' if reason else ''}{reason}", flush=True)
        self.write()

    def write(self):
        self.file.write_text(json.dumps(self.rows, indent=1) + "\n", encoding="utf-8")
        lines = ["| step | end | seconds | proves | reason | alone |", "|---|---|---|---|---|---|"]
        for row in self.rows:
            reason = row["reason"].replace("|", "\\|").replace("\n", " ")
            lines.append(f"| {row['step']} | {row['status']} | {row['seconds']} | {row['proves']} | {reason} | "
                         f"`{alone(row['step'])}` |")
        pages = [self.folder / name for name in ("peers.md", "pytorch.md")]
        tables = [page.read_text(encoding="utf-8") for page in pages if page.exists()]
        (self.folder / "summary.md").write_text("\n\n".join(["\n".join(lines), *tables]) + "\n", encoding="utf-8")

    def status(self, names):
        """The exit status: 0 if all these steps are ok."""
        return 0 if all(self.is_done(name) for name in names) else 1


def alone(name):
    return f"tools/gpu_acceptance --only {name}"


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
    chosen = fitting(steps, seconds)
    if steps[:1] != chosen[:1]:
        return None
    return min(steps[0].most, steps[0].least + seconds - sum(step.least for step in chosen))


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
        seconds = grant(able, left)
        able = able[1:]
        if seconds is None:
            journal.add(step, "left out", reason=f"it wants {step.least:g} s, and {max(0, left):.0f} s are left; {alone(step.name)}")
            continue
        begin = clock()
        status, remark = run_one(step, scene, seconds)
        journal.add(step, status, clock() - begin, remark)


def run_one(step, scene, seconds):
    """How the step ended, and its remark or the reason."""
    try:
        return "ok", step.run(scene, seconds) or ""
    except TimeOver as over:
        return "cut off", f"{over}; {alone(step.name)} --minutes 30"
    except Failed as failure:
        return "failed", str(failure)
    except Exception as error:  # the next step must still run
        return "failed", f"{type(error).__name__}: {error}"

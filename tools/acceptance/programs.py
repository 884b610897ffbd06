"""Runs programs with a time limit. Their output goes into a file, and no process they started outlives the call."""

import os
import signal
import subprocess
import time
from pathlib import Path


class Failed(Exception):
    """A check failed; the message gives the reason."""


class TimeOver(Exception):
    """The time of the step ended before the step did."""


def last_words(log):
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def errors_of(log):
    """The file with standard error, beside the log; it exists only if there was any."""
    return log.with_name(log.name + ".err")


def end_group(process):
    """Ends a program and all processes of its session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(3)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def run(command, log, seconds, accepted=(0,), **environment):
    """Runs the command and returns its standard output. Standard output is kept in `log`, standard error in
    errors_of(log). Throws Failed for a status that is not accepted, and TimeOver."""
    errors = errors_of(log)
    with open(log, "wb") as out, open(errors, "wb") as err:
        try:
            process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       env={**os.environ, **environment}, start_new_session=True)
        except OSError as error:
            raise Failed(f"{command[0]}: {error.strerror}") from error
        try:
            status = process.wait(max(0.1, seconds))
        except subprocess.TimeoutExpired:
            end_group(process)
            raise TimeOver(f"{Path(str(command[0])).name} was not done after {seconds:.0f} s") from None
        except BaseException:  # an interrupt, which does not reach the other session
            end_group(process)
            raise
    if errors.stat().st_size == 0:
        errors.unlink()
    if status not in accepted:
        told = errors if errors.exists() else log
        raise Failed(f"{Path(str(command[0])).name} ended with status {status}: {last_words(told)}")
    return log.read_text(encoding="utf-8", errors="replace")


class Countdown:
    """The remaining seconds of a step that runs several programs."""

    def __init__(self, seconds, clock=time.monotonic):
        self.clock = clock
        self.end = clock() + seconds

    @property
    def left(self):
        return self.end - self.clock()

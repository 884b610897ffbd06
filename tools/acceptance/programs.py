"""Programs that are run with a limit of time: what they printed is kept in a file while they run, and nothing of theirs outlives it."""

import os
import signal
import subprocess
import time
from pathlib import Path


class Failed(Exception):
    """Something that was to be shown was not; the message says what."""


class TimeOver(Exception):
    """The step's time was over before it was done."""


def last_words(log):
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def errors_of(log):
    """The file of standard error beside it; it is there if there was any."""
    return log.with_name(log.name + ".err")


def end_group(process):
    """Of a program in a session of its own: with all it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(3)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def run(command, log, seconds, accepted=(0,), **environment):
    """Standard output; that and standard error are kept beside each other, in `log` and errors_of(log). Throws Failed for a status that is not
    accepted, and TimeOver."""
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
        except BaseException:  # an interrupt: a session of its own does not hear it
            end_group(process)
            raise
    if errors.stat().st_size == 0:
        errors.unlink()
    if status not in accepted:
        told = errors if errors.exists() else log
        raise Failed(f"{Path(str(command[0])).name} ended with status {status}: {last_words(told)}")
    return log.read_text(encoding="utf-8", errors="replace")


class Countdown:
    """The seconds of a step that runs several programs."""

    def __init__(self, seconds, clock=time.monotonic):
        self.clock = clock
        self.end = clock() + seconds

    @property
    def left(self):
        return self.end - self.clock()

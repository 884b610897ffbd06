"""Runs programs in turns and within a time, keeps what they measured, and makes ratios of it: for the comparisons in this folder."""

import csv
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from contextlib import ExitStack
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path.append(str(TOOLS / "python"))  # beside this file, not installed
from roof.estimates import interval_indices  # pylint: disable=wrong-import-position

#: Our program, unless another is named.
ROOF = TOOLS.parent / "build" / "bin" / "roof"


class Failed(Exception):
    """A program or a check failed; the message gives the reason."""


class TimeOver(Failed):
    """A program was ended because its time was over."""


# ---------------------------------------------------------------------------------------------------- running programs

#: What it wrote to standard output, its wall time in seconds, and its peak memory in bytes, without that of programs it started.
Done = namedtuple("Done", "text seconds memory_bytes")


def last_line(*texts):
    return next((text.strip() for text in texts if text.strip()), "no message").splitlines()[-1]


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


def await_end(process, seconds):
    """The peak memory of the process. Raises TimeOver."""
    begin = time.monotonic()
    while True:
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            return 1024 * usage.ru_maxrss
        if time.monotonic() - begin > seconds:
            raise TimeOver(f"{Path(process.args[0]).name} was not done after {seconds:.0f} s")
        time.sleep(0.01)


def run(command, log=None, seconds=math.inf, accepted=(0,), **environment):
    """Runs a command that ends within so many seconds. With `log`, standard output is kept in that file, and standard error in
    errors_of(log). No process that it started outlives the call. Raises Failed for another status than those accepted, and TimeOver."""
    words = [str(word) for word in command]
    with ExitStack() as files:
        out, err = (files.enter_context(open(path, "w+b") if path else tempfile.TemporaryFile()) for path in (log, log and errors_of(log)))
        begin = time.monotonic()
        try:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env={**os.environ, **environment},
                                       start_new_session=True)
        except OSError as error:
            raise Failed(f"{words[0]}: {error.strerror}") from error
        try:
            memory = await_end(process, seconds)
        except BaseException:  # such as an interrupt, which does not reach the other session
            end_group(process)
            raise
        took = time.monotonic() - begin
        text, complaints = (file.seek(0) or file.read().decode(errors="replace") for file in (out, err))
    if log and not complaints:
        errors_of(log).unlink()
    if process.returncode not in accepted:
        raise Failed(f"{Path(words[0]).name} ended with status {process.returncode}: {last_line(complaints, text)}")
    return Done(text, took, memory)


class Countdown:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    @property
    def left(self):
        return self.end - time.monotonic()


class Progress:
    """The current activity on standard error: one line that is redrawn on a terminal, else a line each."""

    def __init__(self):
        self.live = sys.stderr.isatty()
        self.where = ""

    def say(self, text):
        line = f"{self.where}: {text}" if self.where else text
        print(f"\r\033[K{line}" if self.live else line, end="" if self.live else "\n", file=sys.stderr, flush=True)

    def note(self, text):
        """A line that stays."""
        print(f"{chr(10) if self.live else ''}{text}", file=sys.stderr, flush=True)

    def clear(self):
        if self.live:
            print("\r\033[K", end="", file=sys.stderr)


def in_turns(programs, orders, progress, needed=None):
    """Yields (round, name, what the program's function returned for that round). `programs`: {name: function of the round}; one that fails
    is left out from then on, but the failure of `needed` is raised. `orders`: the names in each round's order."""
    for number, order in enumerate(orders, 1):
        for name in order:
            try:
                if name in programs:
                    yield number, name, programs[name](number)
            except (Failed, KeyError, ValueError) as failure:
                if name == needed:
                    raise
                progress.note(f"left out from here on: {name}: {failure}")
                del programs[name]


def exit_status(name, compare, *arguments):
    """0, or 2 with the reason on standard error."""
    try:
        compare(*arguments)
    except (Failed, OSError, KeyError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return 0


# ------------------------------------------------------------------------------------------------------------- keeping

def append_csv(path, rows):
    """Appends named tuples; a new file gets their fields as its header."""
    is_new = not Path(path).exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for row in rows:
            if is_new:
                writer.writerow(row._fields)
            is_new = False
            writer.writerow(row)


def read_csv(path, row, **types):
    """The rows of such a file. `types`: functions that make values of the texts in these fields."""
    with open(path, newline="", encoding="utf-8") as file:
        return [row(**{name: types.get(name, str)(text) for name, text in line.items()}) for line in csv.DictReader(file)]


# ----------------------------------------------------------------------------------------------------------- comparing

#: The median with the interval of its order statistics, and how often that holds the true median.
Ratio = namedtuple("Ratio", "median low high rounds coverage")


def ratio_of(pairs):
    """The Ratio of the first over the second of each round's pair."""
    ratios = sorted(first / second for first, second in pairs)
    low, high = interval_indices(len(ratios))
    coverage = 1 - 2 * sum(math.comb(len(ratios), k) for k in range(low + 1)) / 2 ** len(ratios)
    return Ratio(statistics.median(ratios), ratios[low], ratios[high], len(ratios), coverage)

"""Runs programs to be compared, and shows which; for bench_ceilings and bench_training."""

import os
import subprocess
import sys


class NotMeasured(Exception):
    """A program failed; the message is the reason."""


def last_line(*texts):
    """The last line of the first text that has any."""
    return next((text.strip() for text in texts if text.strip()), "no message").splitlines()[-1]


def run(command, **environment):
    """Standard output of the command. Raises NotMeasured."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                              env={**os.environ, **environment})
    except OSError as error:
        raise NotMeasured(f"{command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise NotMeasured(f"{command[0]} ended with status {done.returncode}: {last_line(done.stderr, done.stdout)}")
    return done.stdout


class Progress:
    """The current activity on standard error: one line that is redrawn on a terminal, else a line each."""

    def __init__(self):
        self.live = sys.stderr.isatty()
        self.where = ""

    def at(self, where):
        self.where = where

    def say(self, text):
        line = f"{self.where}: {text}" if self.where else text
        print(f"\r\033[K{line}" if self.live else line, end="" if self.live else "\n", file=sys.stderr, flush=True)

    def note(self, text):
        """A line that stays."""
        print(f"{chr(10) if self.live else ''}{text}", file=sys.stderr, flush=True)

    def clear(self):
        if self.live:
            print("\r\033[K", end="", file=sys.stderr)


def exit_status(name, compare, *arguments):
    """0, or 2 with the reason on standard error."""
    try:
        compare(*arguments)
    except (NotMeasured, OSError, KeyError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return 0

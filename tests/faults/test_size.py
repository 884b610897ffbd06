"""A folder of many rows, and pages of many steps: the memory of `roof report`, and the size of a page. With `measure` also the times of the sizes
that docs/reliability.md names; exit status 1 beyond a bound.

usage: test_size.py ROOF LARGE_FOLDER [measure]
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOF = LARGE = None
MEASURE = False
ROWS, STEPS = 200_000, 5_000
MOST_SECONDS, MOST_MEGABYTES, MOST_PAGE = 5, 400, 6  # of 200,000 rows; MB of a page of 5,000 steps


def used(*words):
    """Processor seconds and megabytes of a command."""
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        process = subprocess.Popen([ROOF, *words], stdout=nothing)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


class Size(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.place = Path(scratch.name)

    def folder(self, kind, count):
        place = self.place / f"{kind}-{count}" / "run"
        place.parent.mkdir()
        subprocess.run([LARGE, kind, str(count), place], check=True)
        return str(place)

    def page_of(self, kind, count):
        page = self.place / "page.html"
        seconds, megabytes = used("report", self.folder(kind, count), "--out", str(page))
        return seconds, megabytes, page.stat().st_size / 1e6, page.read_text(encoding="utf-8")

    def test_rows_take_a_bounded_memory_each(self):
        count = ROWS if MEASURE else 20_000
        seconds, megabytes, page, _ = self.page_of("rows", count)
        print(f"report, {count} rows: {seconds:.1f} s of processor, {megabytes:.0f} MB, page of {page:.1f} MB")
        self.assertLess(megabytes, MOST_MEGABYTES * (count + 20_000) / (ROWS + 20_000))
        if MEASURE:
            self.assertLess(seconds, MOST_SECONDS)
            seconds, megabytes = used("check", self.folder("rows", count - 1))
            print(f"check, {count} rows: {seconds:.1f} s of processor, {megabytes:.0f} MB")

    def test_a_page_of_many_steps_stays_small_and_says_so(self):
        for count in (500, 1000, 2000, STEPS) if MEASURE else (600,):
            seconds, megabytes, page, text = self.page_of("steps", count)
            print(f"report, {count} steps: {seconds:.1f} s of processor, {megabytes:.0f} MB, page of {page:.1f} MB")
            self.assertLess(page, MOST_PAGE)
            self.assertIn(f" of {count} training steps are shown", text)


if __name__ == "__main__":
    ROOF, LARGE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    MEASURE = len(sys.argv) > 3
    unittest.main(argv=sys.argv[:1])

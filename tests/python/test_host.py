"""What else used the machine beside a recording, from files in the kernel's format."""

import os
import re
import tempfile
import unittest
from pathlib import Path

from roof import host

TREE = Path(__file__).resolve().parents[2]
TICKS = os.sysconf("SC_CLK_TCK")


class Host(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.system = Path(scratch.name)

    def put(self, path, text):
        file = self.system / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def test_the_columns_are_those_of_the_kernels_counts(self):
        def counts(at, own, user, stolen, waited):
            # user nice system idle iowait irq softirq steal guest guest_nice
            self.put("proc/stat", f"cpu {user * TICKS} 0 0 {99 * TICKS} 7 0 0 {stolen * TICKS} 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
            self.put("proc/self/task/12/schedstat", f"5 {waited * 10**9} 3\n")
            self.put("proc/self/task/13/schedstat", "5 0 3\n")
            found = host.counts(self.system)
            found.at, found.own = at, own
            return found
        before, after = counts(100, 10, 50, 2, 1), counts(110, 14, 74, 3, 4)
        # 24 s of all processors in 10 s, 4 of them ours; 1 s stolen; one of the threads waited for 3 s.
        self.assertEqual({"others_processors": 2.0, "stolen_processors": 0.1, "waited_share": 0.3}, host.use_between(before, after))
        self.assertEqual({}, host.use_between(before, before))

    def test_what_the_kernel_does_not_say_is_no_column(self):
        before, after = host.counts(self.system), host.counts(self.system)
        after.at = before.at + 1
        self.assertEqual({}, host.use_between(before, after))
        self.assertEqual([], host.throttling_between(before, after))

    def test_a_quota_of_the_own_container_is_named_in_both_versions_of_control_groups(self):
        for line, file in (("0::/jobs/one", "sys/fs/cgroup/jobs/cpu.stat"), ("4:cpu,cpuacct:/jobs/one", "sys/fs/cgroup/cpu/jobs/cpu.stat")):
            self.put("proc/self/cgroup", line + "\n")
            self.put(file, "usage_usec 7\nnr_periods 100\nnr_throttled 4\n")
            before = host.counts(self.system)
            self.put(file, "usage_usec 9\nnr_periods 140\nnr_throttled 34\n")
            self.assertEqual(["the control group's limit throttled this process in 75% of its periods"],
                             host.throttling_between(before, host.counts(self.system)))
            (self.system / file).unlink()

    def test_the_remark_begins_as_the_programs_own(self):
        header = (TREE / "ert/method/bench/process_limits.hpp").read_text(encoding="utf-8")
        self.assertEqual(host.THROTTLED, re.search(r'throttled_by_group = "(.*)"', header)[1])


if __name__ == "__main__":
    unittest.main()

"""tools/journeys: what a recorded run shows of a list, and that the lists of docs/architecture.md are of files that exist."""

import importlib.machinery
import importlib.util
import sys
import unittest

import tree

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("journeys", str(tree.ROOT / "tools/journeys"))
journeys = importlib.util.module_from_spec(importlib.util.spec_from_loader("journeys", LOADER))
LOADER.exec_module(journeys)

CALLGRIND = """\
version: 1
fn=(1) main
cfn=(2) read
calls=1 0
0 30
fn=(2)
cfn=(3) _ZSt4sort
calls=2 0
0 20
cfn=(2)
calls=1 0
fn=(3)
cfn=(4) less'2
calls=9 0
"""
CALLS = {"main": {"read"}, "read": {"read", "_ZSt4sort"}, "_ZSt4sort": {"less"}}
KNOWN = {"main": {"a.cpp"}, "read": {"b.hpp"}, "less": {"c.hpp"}, "never": {"d.hpp"}}


class Lists(unittest.TestCase):
    def test_calls_are_read_with_their_short_names(self):
        self.assertEqual(CALLS, dict(journeys.calls_in(CALLGRIND)))

    def test_a_true_and_complete_list_has_no_fault(self):
        self.assertEqual([], list(journeys.faults_of(3, ["a.cpp", "b.hpp", "c.hpp"], CALLS, KNOWN)))  # through the library's sort

    def test_a_unit_that_is_left_out_not_called_or_miscounted_is_named(self):
        self.assertEqual(["3 units are stated, 2 are listed", "c.hpp: no way to it through listed units; one is a.cpp > b.hpp > c.hpp"],
                         list(journeys.faults_of(3, ["a.cpp", "c.hpp"], CALLS, KNOWN)))
        self.assertEqual(["d.hpp: the run calls none of its functions"], list(journeys.faults_of(3, ["a.cpp", "b.hpp", "d.hpp"], CALLS, KNOWN)))

    def test_a_name_of_two_units_is_that_of_the_caller(self):
        self.assertEqual("b.hpp", journeys.owners(CALLS, {**KNOWN, "_ZSt4sort": {"b.hpp", "c.hpp"}})["_ZSt4sort"])

    def test_the_page_has_a_run_for_each_list_and_a_file_for_each_unit(self):
        lists = journeys.journeys_in(tree.text("docs/architecture.md"))
        self.assertEqual(5, len(lists))
        for title, count, units in lists:
            self.assertEqual(count, len(units), title)
            self.assertEqual(1, sum(title.startswith(words) for words in journeys.RUNS), title)
            self.assertEqual([], [unit for unit in units if not (tree.ROOT / unit).is_file()])


if __name__ == "__main__":
    unittest.main()

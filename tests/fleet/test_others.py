"""Links, drift over weeks, and two fleets, on made-up ones."""

import unittest

import needed  # noqa: F401
import numpy as np
from made_fleets import WEEKS, again, as_bound, changed, make_fleet, make_links, nodes_with, slow_down
from roof.fleet.history import compare_fleets, judge_history
from roof.fleet.judge import judge
from roof.fleet.links import LINK, NODE, UPLINK, judge_links
from roof.fleet.reports import comparison_report, fleet_json, fleet_report, history_report


class Links(unittest.TestCase):
    def found(self, fleet=None, **made):
        found, = judge_links(fleet or make_links(**made))
        return found

    def test_a_node_whose_links_are_all_slow_is_a_slow_node(self):
        found = self.found(nodes=16, slow_node=0.2)
        slow, = found.slow
        self.assertEqual((16, 120, NODE, ["n00000"], 15), (found.nodes, found.links, slow.fault, slow.nodes, slow.links))
        self.assertAlmostEqual(0.8, slow.ratio, delta=0.02)

    def test_a_slow_uplink_is_found_as_links_with_and_without_facts(self):
        for per_switch in (4, 8):
            fleet = make_links(per_switch=per_switch, slow_uplink=0.3)
            slow, = self.found(fleet).slow
            self.assertEqual((UPLINK, per_switch, "switch=s1", "the links among them are fast"),
                             (slow.fault, len(slow.nodes), slow.shared, slow.remark))
            self.assertAlmostEqual(0.7, slow.ratio, delta=0.02)
        fleet.expected = {}
        slow, = self.found(fleet).slow
        self.assertEqual((8, ""), (len(slow.nodes), slow.shared))

    def test_a_slow_link_between_halves_and_one_slow_link(self):
        slow, = self.found(nodes=16, slow_uplink=0.3).slow
        self.assertEqual((UPLINK, 8, 64), (slow.fault, len(slow.nodes), slow.links))
        slow, = self.found(nodes=16, slow_link=0.2).slow
        self.assertEqual((LINK, ["n00014", "n00015"]), (slow.fault, slow.nodes))

    def test_a_slow_node_behind_a_slow_uplink_is_told_from_it(self):
        node, uplink = self.found(slow_node=0.5, slow_uplink=0.3).slow
        self.assertEqual((NODE, "n00000", UPLINK), (node.fault, node.nodes[0], uplink.fault))

    def test_healthy_links_are_not_slow_and_few_tell_nothing(self):
        self.assertLessEqual(sum(bool(self.found(nodes=24, permutations=6, seed=seed).slow) for seed in range(20)), 3)
        self.assertIn("too few", self.found(nodes=24, permutations=1).note)
        self.assertEqual([], judge_links(make_fleet(0)))
        bounds = make_links(nodes=16)
        for one in bounds.digests:
            one.links.numbers[2] = np.inf
        self.assertEqual("there are only lower bounds", self.found(bounds).note)
        report = fleet_report(judge(bounds), judge_links(bounds))
        self.assertIn("lower bounds", report.text(80) + report.page() + str(fleet_json(judge(bounds), judge_links(bounds))))

    def test_the_order_of_digests_and_ends_does_not_matter_and_plans_are_apart(self):
        fleet = make_links(nodes=16, slow_node=0.2)
        ratio = self.found(fleet).slow[0].ratio
        fleet.digests.reverse()
        for one in fleet.digests:
            one.links = one.links._replace(names=tuple(" ".join(reversed(name.split())) for name in one.links.names))
        self.assertAlmostEqual(ratio, self.found(fleet).slow[0].ratio, places=12)
        self.assertEqual(([], []), (judge(fleet).groups, judge(fleet).aside))
        other = make_links(nodes=16, seed=2)
        for place in range(len(other.digests)):
            changed(other, place, revision="s")
        fleet.digests += other.digests
        self.assertEqual([1, 0], [len(found.slow) for found in judge_links(fleet)])


TWELVE = [*WEEKS, "2026-10-27", "2026-11-03", "2026-11-10", "2026-11-17"]
SMALL = dict(nodes=20, ceilings=4, scatter=0.02, daily=0.005, days=WEEKS)


def change_week(fleet, week, share):
    for node in range(20):
        slow_down(fleet, 8 * node + week, slice(None), share)


class History(unittest.TestCase):
    def test_a_node_that_becomes_slower_is_found_with_its_week(self):
        fleet = make_fleet(**{**SMALL, "days": TWELVE})
        for week in range(12):
            slow_down(fleet, 84 + week, 2, 0.06 if week > 4 else 0)
            slow_down(fleet, 36 + week, 2, 0.2)
        series, = judge_history(fleet)
        self.assertEqual(("2026-08-31", 20, 80), (series.weeks[0], series.nodes, series.tests))
        drift, = series.drifts
        self.assertEqual(("n00007", "ceiling 2", "2026-10-05", 5, 7), (drift.node, drift.ceiling, drift.since, drift.weeks_before, drift.weeks_after))
        self.assertAlmostEqual(0.94, drift.ratio, delta=0.01)

    def test_a_change_of_the_whole_fleet_is_apart(self):
        fleet = make_fleet(**SMALL)
        for week in range(4, 8):
            change_week(fleet, week, 0.1)
        series, = judge_history(fleet)
        self.assertEqual(([], 4), (series.drifts, len(series.shifts)))
        self.assertEqual(("2026-09-28", 20), (series.shifts[0].week, series.shifts[0].nodes))
        self.assertAlmostEqual(0.9, series.shifts[0].ratio, delta=0.01)

    def test_a_steady_fleet_hardly_ever_drifts_with_long_tails_neither(self):
        false = sum(bool(judge_history(make_fleet(**{**SMALL, "daily": 0.01, "seed": seed}))[0].drifts) for seed in range(10))
        self.assertLessEqual(false, 2)
        tails = dict(nodes=40, ceilings=8, daily=0.01, daily_freedom=3, days=WEEKS)
        false = sum(bool(judge_history(make_fleet(**tails, seed=seed))[0].drifts) for seed in range(8))
        self.assertLessEqual(false, 1)  # without regard to the tails most have one

    def test_the_smallest_drop_that_is_visible_is_found_in_most_cases(self):
        found = 0
        for seed in range(10):
            fleet = make_fleet(**{**SMALL, "daily": 0.01, "days": TWELVE, "seed": seed})
            visible = judge_history(fleet)[0].visible
            self.assertTrue(0.03 < visible < 0.06)
            for week in range(6, 12):
                slow_down(fleet, 84 + week, 2, visible)
            found += [drift.node for drift in judge_history(fleet)[0].drifts] == ["n00007"]
        self.assertGreaterEqual(found, 7)  # 9.5 expected; fewer with a chance of 0.1%

    def test_a_new_revision_begins_a_new_series_unless_ten_nodes_ran_both(self):
        fleet = make_fleet(**SMALL)
        for week in range(4, 8):
            change_week(fleet, week, 0.1)
            for node in range(20):
                changed(fleet, 8 * node + week, revision="s")
        self.assertEqual(2, len(judge_history(fleet)))
        for node in range(10):
            again(fleet, 8 * node + 4, revision="r")
            slow_down(fleet, -1, slice(None), 1 - 1 / 0.9)
            series = judge_history(fleet)
            self.assertEqual(1 if node == 9 else 2, len(series))
        self.assertEqual((["r", "s"], 8, [], []), (series[0].revisions, len(series[0].weeks), series[0].shifts, series[0].drifts))

    def test_empty_small_and_bound_inputs_tell_nothing(self):
        self.assertEqual([], judge_history(make_fleet(0)))
        self.assertEqual([], judge_history(make_links(nodes=16)))
        bounds, one_bound = make_fleet(**SMALL), make_fleet(**SMALL)
        for place in range(len(bounds.digests)):
            as_bound(bounds, place)
        as_bound(one_bound, 3)
        for fleet in (bounds, make_fleet(1), make_fleet(1, days=WEEKS), make_fleet(5, days=WEEKS), make_fleet(**{**SMALL, "days": WEEKS[:3]})):
            series, = judge_history(fleet)
            self.assertEqual((0, [], 0.0), (series.tests, series.drifts, series.visible))
            self.assertIn("othing can be told", history_report([series], []).text(0) + history_report([series], []).text(40))
        self.assertEqual(80, judge_history(one_bound)[0].tests)


class Comparison(unittest.TestCase):
    def finding(self, changes, ceiling):
        return next(change for change in changes.kinds[0].ceilings if change.ceiling == ceiling).finding

    def test_a_change_of_the_same_nodes_is_seen_against_their_own_rates(self):
        made = dict(nodes=20, ceilings=5, scatter=0.05, noise=0.002)
        a, b = make_fleet(**made), make_fleet(**made)
        for node in range(20):
            slow_down(b, node, 1, 0.05)
            slow_down(b, node, 2, -0.05)
        changes = compare_fleets(a, b)
        self.assertEqual(["slower", "faster", "same within 3%"], [self.finding(changes, f"ceiling {c}") for c in (1, 2, 0)])
        self.assertEqual(20, changes.kinds[0].ceilings[1].common)
        self.assertAlmostEqual(0.95, changes.kinds[0].ceilings[1].ratio, delta=0.005)
        self.assertEqual([], nodes_with(changes.nodes, "slow"))
        slow_down(b, 7, 3, 0.15)
        self.assertEqual(["n00007"], nodes_with(compare_fleets(a, b).nodes, "slow"))

    def test_different_nodes_are_compared_by_their_medians(self):
        a, b = make_fleet(40, 5), make_fleet(30, 5, seed=2)
        for place in range(30):
            changed(b, place, node=f"m{place:05}")
            slow_down(b, place, 1, 0.1)
        changes = compare_fleets(a, b)
        self.assertEqual(("slower", "same within 3%"), (self.finding(changes, "ceiling 1"), self.finding(changes, "ceiling 3")))
        self.assertEqual((0, 40, 30, []), (changes.kinds[0].ceilings[1].common, len(changes.only_a), len(changes.only_b), changes.nodes.groups))

    def test_equal_fleets_hardly_ever_differ(self):
        false = 0
        for seed in range(20):
            b = make_fleet(30, scatter=0.03, seed=1000 + seed)
            for place in range(30):
                changed(b, place, node=f"m{place:05}")
            found = [change.finding for change in compare_fleets(make_fleet(30, scatter=0.03, seed=seed), b).kinds[0].ceilings]
            false += found.count("slower") + found.count("faster")
        self.assertLessEqual(false, 3)

    def test_few_nodes_are_undecided_and_nothing_in_common_is_said(self):
        few = make_fleet(5)
        for place in range(5):
            slow_down(few, place, 3, 0.5)
        self.assertEqual("undecided", self.finding(compare_fleets(make_fleet(5), few), "ceiling 3"))
        other = make_fleet(20)
        for place in range(20):
            changed(other, place, kind="another")
        bounds = make_fleet(20)
        for place in range(20):
            as_bound(bounds, place)
        for a, b in ((make_fleet(20), other), (make_fleet(0), make_fleet(0)), (make_fleet(0), make_fleet(20))):
            changes = compare_fleets(a, b)
            self.assertEqual([], changes.kinds)
            self.assertIn("nothing can be compared", comparison_report(changes).text(80))
        changes = compare_fleets(bounds, bounds)
        self.assertEqual([], changes.kinds[0].ceilings)
        comparison_report(changes).text(40)

    def test_the_sign_test_has_its_exact_interval(self):
        # By hand: of six differences the ends of the interval are the least and the greatest, 2 / 64 = 3.1% outside; of nine the second ones, 3.9%.
        for nodes, place in ((6, 0), (9, 1)):
            a, b = make_fleet(nodes, 1, noise=0), make_fleet(nodes, 1, noise=0)
            for node in range(nodes):
                slow_down(b, node, 0, 0.01 * (node + 1))
            change = compare_fleets(a, b).kinds[0].ceilings[0]
            self.assertAlmostEqual(1 - 0.01 * (nodes - place), change.low, places=9)
            self.assertAlmostEqual(1 - 0.01 * (place + 1), change.high, places=9)


if __name__ == "__main__":
    unittest.main()

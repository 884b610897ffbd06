"""Findings on made-up fleets; tools/bench_fleet and tests/tools/other_fleets.py have the figures for many of them."""
import math
import unittest

import needed  # noqa: F401
import numpy as np
from made_fleets import CPU_NAMES, MEMORY, again, as_bound, changed, make_fleet, nodes_with, slow_down
from roof.fleet.healthy import BEFORE, SimulatedGroups, TailCounts, healthy
from roof.fleet.judge import judge, nodes_to_retest, status_of
from roof.fleet.members import JudgeOptions
from roof.fleet.quantities import Quantity, kind_of_ceiling, logs_of, means_of
from roof.fleet.reports import fleet_json, fleet_report
from roof.fleet.scale import Pooled, benjamini_hochberg, chance_of_difference, holm, scale
from roof.fleet.scale import scales_without_each

TODAY = JudgeOptions(now="2026-11-23T12:00:00Z")
TWO_DAYS, SIX_DAYS = ("2026-11-20", "2026-11-22"), [f"2026-11-1{day}" for day in range(6)]


def fleet_of(nodes, **more):
    return make_fleet(nodes, 24, names=CPU_NAMES, **more)


def node_of(findings, name):
    return next(node for node in findings.groups[0].nodes if node.node == name)


class Scale(unittest.TestCase):
    def test_the_scale_without_each_is_that_of_the_others(self):
        chance = np.random.default_rng(1)
        for n in (2, 3, 6, 7, 40):
            values = np.sort(chance.standard_t(2, n))
            found = scales_without_each(values)
            for k in range(n):
                median, variance, middle = scale(np.delete(values, k))
                np.testing.assert_allclose([found.median[k] + np.median(values), found.variance[k], found.middle[k] + np.median(values)],
                                           [median, variance, middle], atol=1e-12)

    def test_scatter_and_middle_are_those_of_a_normal_one_and_a_quarter_of_far_values_moves_them_little(self):
        values = np.random.default_rng(2).standard_normal(4000)
        median, variance, middle = scale(values)
        self.assertAlmostEqual(1, variance, delta=0.1)
        self.assertAlmostEqual(0, middle, delta=0.05)
        values[:1000] = 1e6
        self.assertLess(scale(values).variance, 16)

    def test_holm_and_benjamini_hochberg_by_hand(self):
        chances = [0.01, 0.04, 0.03, 0.005]  # at 5%: 0.005 * 4, 0.01 * 3, then 0.03 * 2 is too much
        self.assertEqual([True, False, False, True], holm(chances, 4, 0.05).tolist())
        self.assertEqual([True] * 4, benjamini_hochberg(chances, 4, 0.05).tolist())  # 0.04 <= 0.05 * 4 / 4
        self.assertEqual([False, False, False, True], holm(chances, 10, 0.05).tolist())
        self.assertEqual([], holm([]).tolist())

    def test_mann_and_whitney_by_a_table(self):
        # scipy.stats.mannwhitneyu(range(5), range(5, 10), method="asymptotic"): U = 0, p = 0.012186
        ranks, codes = np.arange(1.0, 11), np.repeat([0, 1], 5)
        np.testing.assert_allclose(chance_of_difference(ranks, codes), 0.012186, rtol=1e-4)
        self.assertEqual([1, 1], chance_of_difference(ranks, np.repeat([0, 1], [2, 8])).tolist())

    def test_the_standard_error_is_the_half_width_over_the_factor_of_the_rounds(self):
        for rounds, factor in ((0, 1.96), (2, 1.96), (3, 6.205), (5, 3.495), (40, 2.360)):  # Student's 98.75%
            found = logs_of(*(np.array([x]) for x in (1.0, math.exp(-0.03), math.exp(0.03), 0.0, float(rounds))))
            self.assertAlmostEqual(0.03 / factor, math.sqrt(found.variance[0]), places=4)

    def test_a_normal_scatter_of_many_machines_has_normal_chances(self):
        many = healthy(1000)
        self.assertAlmostEqual(0.00135, float(many.chance(-3)), delta=0.0003)  # of a normal number below -3
        self.assertAlmostEqual(-3, many.distance(0.00135), delta=0.1)
        self.assertEqual(0.5, float(many.chance(1.0)))
        self.assertGreater(float(healthy(8).chance(-3)), 2 * 0.00135)  # middle and scatter are uncertain themselves
        self.assertGreater(SimulatedGroups(30).freedom, SimulatedGroups(8).freedom)

    def test_far_distances_speak_for_long_tails_and_near_ones_for_a_normal_scatter(self):
        for far, least, most in ((0.0, 0.5, 1.0), (9.0, 0.0, 0.01)):
            counts, chance = TailCounts(40), np.random.default_rng(3)
            for _ in range(10):
                z = chance.standard_normal(40)
                z[0] += far
                counts.add(np.arange(40), z, healthy(40))
            self.assertTrue(least <= counts.weights(np.tile(BEFORE, (40, 1)))[20, 0] <= most)


class Findings(unittest.TestCase):
    def test_in_healthy_fleets_hardly_a_node_is_slow(self):
        for nodes in (8, 50):
            with_slow = sum(bool(nodes_with(judge(make_fleet(nodes, seed=seed)), "slow")) for seed in range(10))
            self.assertLessEqual(with_slow, 1)
        with_tails = sum(bool(nodes_with(judge(make_fleet(60, freedom=3, seed=seed)), "slow")) for seed in range(8))
        self.assertLessEqual(with_tails, 2)  # without regard to the tails all eight have one

    def test_a_node_that_is_slower_in_one_ceiling_is_found_and_no_other(self):
        for seed in range(5):
            fleet = make_fleet(40, seed=seed)
            slow_down(fleet, 7, 3, 0.1)
            findings = judge(fleet)
            self.assertEqual(["n00007"], nodes_with(findings, "slow"))
            node = node_of(findings, "n00007")
            self.assertEqual("ceiling 3", node.ceilings[0].ceiling)
            self.assertAlmostEqual(0.9, node.ceilings[0].ratio, delta=0.05)
            self.assertFalse(node.drain)

    def test_a_difference_below_3_percent_is_not_slow(self):
        fleet = make_fleet(40, scatter=0.001, noise=0.0005)
        slow_down(fleet, 7, 3, 0.02)
        self.assertEqual([], nodes_with(judge(fleet), "slow"))

    def test_a_node_is_to_be_drained_after_a_second_day_in_a_group_of_twelve(self):
        for nodes in (11, 12):
            fleet = make_fleet(nodes, days=TWO_DAYS)
            slow_down(fleet, 15, 3, 0.3)
            self.assertFalse(node_of(judge(fleet), "n00007").drain)
            slow_down(fleet, 14, 3, 0.3)
            node = node_of(judge(fleet), "n00007")
            self.assertEqual(("slow", nodes == 12), (node.finding, node.drain))

    def test_two_days_are_23_hours_apart(self):
        for earlier, drain in (("2026-11-21T23:59:00Z", False), ("2026-11-21T07:10:00Z", False), ("2026-11-21T06:50:00Z", True)):
            fleet = make_fleet(30, days=("2026-11-21", "2026-11-22"))
            for i in range(30):
                changed(fleet, 2 * i, time=earlier)
                changed(fleet, 2 * i + 1, time="2026-11-22T06:00:00Z")
            for place in (14, 15):
                slow_down(fleet, place, 3, 0.3)
            self.assertEqual(drain, node_of(judge(fleet), "n00007").drain)

    def test_a_wide_interval_that_reaches_down_to_slow_is_undecided(self):
        fleet = make_fleet(40, scatter=0.003, noise=0.002)
        fleet.digests[7].ceilings.numbers[1:3, 3] *= (0.8, 1.2)
        self.assertEqual(["n00007"], nodes_with(judge(fleet), "undecided"))

    def test_fewer_than_six_nodes_are_only_put_in_order(self):
        for nodes in (1, 2, 5):
            fleet = make_fleet(nodes)
            slow_down(fleet, 0, 3, 0.5)
            findings = judge(fleet)
            self.assertEqual((nodes, 2, 0), (len(nodes_with(findings, "not judged")), status_of(findings), findings.tests))

    def test_another_kind_plan_or_revision_is_not_compared(self):
        for key in ("kind", "plan", "revision"):
            fleet = make_fleet(20)
            slow_down(fleet, 7, slice(None), 0.5)
            self.assertEqual(1, len(nodes_with(judge(fleet), "slow")))
            changed(fleet, 7, **{key: "another"})
            self.assertEqual((2, []), (len(judge(fleet).groups), nodes_with(judge(fleet), "slow")))

    def test_two_populations_are_said_as_two_with_what_goes_with_them(self):
        fleet = make_fleet(40)
        for i in range(40):
            fleet.digests[i].facts["BIOS"] = "1.0" if i < 12 else "2.0"
            slow_down(fleet, i, 3, 0.15 if i < 12 else 0)
        findings = judge(fleet)
        self.assertEqual(([], 12), (nodes_with(findings, "slow"), len(nodes_with(findings, "slower population"))))
        split, = (c for c in findings.groups[0].ceilings if c.populations)
        self.assertEqual(("ceiling 3", 12), (split.ceiling, len(split.populations[0][1])))
        first = findings.groups[0].associations[0]
        self.assertEqual(("BIOS", "ceiling 3"), (first.fact, first.ceiling))
        self.assertAlmostEqual(0.85, min(first.ratio, 1 / first.ratio), delta=0.02)

    def test_a_slow_node_is_found_in_the_slower_of_two_populations(self):
        fleet = make_fleet(60)
        for i in range(30):
            slow_down(fleet, i, 3, 0.15)
        slow_down(fleet, 7, 3, 0.15)
        self.assertEqual(["n00007"], nodes_with(judge(fleet), "slow"))

    def test_a_claim_above_the_spec_of_the_others_is_implausible(self):
        fleet = make_fleet(20)
        for i in range(20):
            fleet.digests[i].ceilings.numbers[3] = 1.2e11 * np.arange(1, 21)
        fleet.digests[7].ceilings.numbers[:3, 3] *= 1.5
        self.assertEqual((["n00007"], 1), (nodes_with(judge(fleet), "implausible"), status_of(judge(fleet))))

    def test_missing_nodes_and_rows_are_told(self):
        fleet = make_fleet(20)
        fleet.expected = {"n00001": {}, "gone": {}}
        fleet.digests[3].ceilings = fleet.digests[3].ceilings.some(list(range(15)))
        for one in fleet.digests:
            one.ceilings.numbers[2, 7] = np.inf
        findings = judge(fleet)
        self.assertEqual([("gone", "missing")], [(node.node, node.finding) for node in findings.aside])
        self.assertEqual(("fine", "missing"), (node_of(findings, "n00003").finding, node_of(findings, "n00003").ceilings[0].finding))
        lead = fleet_report(findings, []).sections[0].lead
        self.assertTrue(lead.endswith(" Of 1 ceiling there are only lower bounds. Ceilings that a node's digest lacks: n00003 5."), lead)
        group = fleet_json(findings, [])["groups"][0]
        self.assertEqual((20, 5), (len(group["ceilings"]), len(group["node_ceilings"])))
        self.assertEqual(["gone"], nodes_to_retest(findings))

    def test_the_smallest_visible_difference_is_found_in_most_cases(self):
        found = 0
        for seed in range(12):
            fleet = make_fleet(60, seed=seed)
            visible = judge(fleet).groups[0].ceilings[3].visible
            self.assertTrue(0.04 < visible < 0.08)
            slow_down(fleet, 7, 3, visible)
            found += nodes_with(judge(fleet), "slow") == ["n00007"]
        self.assertGreaterEqual(found, 9)  # 11.4 expected; fewer with a chance of 0.2%


class Evidence(unittest.TestCase):
    def test_the_kind_of_a_ceiling(self):
        for name, kind in (("cpu bandwidth DRAM load threads=26", "cpu memory"), ("gpu:3 bandwidth L2 load", "gpu:3 cache"),
                           ("cpu compute core fma fp64 avx2 threads=26", "cpu compute"), ("ceiling 3", ""),
                           ("gpu:0 bandwidth host-to-device copy", "gpu:0 link"), ("cpu latency DRAM chase threads=1", "cpu latency")):
            self.assertEqual(kind, kind_of_ceiling(name))

    def test_eight_memory_rates_that_are_each_3_percent_low_are_one_finding(self):
        for seed in range(5):
            fleet = fleet_of(60, seed=seed)
            slow_down(fleet, 7, MEMORY, 0.03)
            findings = judge(fleet)
            self.assertEqual(["n00007"], nodes_with(findings, "slow"))
            self.assertIn("cpu memory, mean of 8", [c.ceiling for c in node_of(findings, "n00007").ceilings])

    def test_a_mean_is_weighted_by_scatter_and_counts_without_a_missing_row(self):
        # By hand: weights 1/0.01² and 1/0.02²; a node 2% and 6% low has a mean of (4 * 2% + 1 * 6%) / 5.
        place = (np.arange(41) - 20) / 20
        x = [0.01 * place[np.arange(41) * 7 % 41], 0.02 * place[np.arange(41) * 11 % 41]]
        x[0][40], x[1][40] = -0.02, -0.06
        def quantity(access, rates):
            of_rates = np.array(rates)[:, None]
            return Quantity(f"cpu bandwidth DRAM {access}", "B/s", np.arange(len(rates)), of_rates, np.full(of_rates.shape, 1e-8))

        quantities = [quantity(*one) for one in zip(("load", "store"), x)]
        groups = [one.group for one in quantities]
        w0, w1 = (1 / group.variance for group in groups)
        self.assertAlmostEqual(4, w0 / w1, delta=0.4)
        mean, = means_of(quantities, 41)
        self.assertEqual("cpu memory, mean of 2", mean.ceiling)
        expected = (w0 * (-0.02 - groups[0].median) + w1 * (-0.06 - groups[1].median)) / (w0 + w1)
        self.assertAlmostEqual(expected, mean.group.x[-1], places=12)
        quantities[1] = quantity("store", x[1][:40])
        groups[1] = quantities[1].group
        mean, = means_of(quantities, 41)
        w0, w1 = (1 / group.variance for group in groups)
        self.assertAlmostEqual(-0.02 - groups[0].median, mean.group.x[-1], places=12)
        self.assertAlmostEqual(1e-8 + 1e-10 + 1 / w0 - 1 / (w0 + w1), mean.variance[-1, -1], places=12)

    def test_a_node_that_is_slow_on_every_second_day_is_found(self):
        for first in (0, 1):
            fleet = fleet_of(40, daily=0.003, days=SIX_DAYS)
            for day in range(first, 6, 2):
                slow_down(fleet, 42 + day, MEMORY, 0.1)
            findings = judge(fleet)
            self.assertEqual(["n00007"], nodes_with(findings, "slow"))
            self.assertTrue(node_of(findings, "n00007").drain)

    def test_a_node_that_was_slow_and_then_was_not_is_repaired(self):
        fleet = fleet_of(40, scatter=0.003, daily=0.003, days=SIX_DAYS)
        for day in range(3):
            slow_down(fleet, 42 + day, MEMORY, 0.1)
        self.assertEqual([], nodes_with(judge(fleet), "slow"))

    def test_long_tails_on_the_upper_side_make_low_rates_less_certain(self):
        fleet = make_fleet(60, seed=4)
        slow_down(fleet, 7, 3, 0.08)
        self.assertEqual(["n00007"], nodes_with(judge(fleet), "slow"))
        for i in range(12):
            slow_down(fleet, 10 + i, i, -0.06 - 0.005 * i)
        self.assertEqual([], nodes_with(judge(fleet), "slow"))

    def test_among_nodes_without_any_scatter_a_slower_one_is_found(self):
        for nodes in (8, 30):
            fleet = fleet_of(nodes, scatter=0, noise=0)
            self.assertEqual(0, status_of(judge(fleet)))
            slow_down(fleet, 7, 3, 0.05)
            self.assertEqual(["n00007"], nodes_with(judge(fleet), "slow"))

    def test_eight_nodes_show_one_that_is_10_percent_slower(self):
        found = 0
        for seed in range(20):
            fleet = make_fleet(8, 40, seed=seed)
            slow_down(fleet, 2, seed, 0.1)
            found += nodes_with(judge(fleet), "slow") == ["n00002"]
        self.assertGreaterEqual(found, 18)

    def test_pooled_scatter_says_nothing_for_fewer_than_four(self):
        from roof.fleet.scale import pooled_scatter

        self.assertEqual(Pooled(), pooled_scatter([1.0] * 3, [0.0] * 3, [10.0] * 3, 3))
        self.assertAlmostEqual(2.0, pooled_scatter([2.0] * 30, [-0.1] * 30, [10.0] * 30, 30).variance, delta=0.4)


class States(unittest.TestCase):
    def check_named(self, findings, nodes):
        """The names stand in the text, the page, the JSON and the list to measure again."""
        report = fleet_report(findings, [])
        again_ = nodes_to_retest(findings)
        for node in nodes:
            for text in (report.text(0), report.page(), str(fleet_json(findings, [])), again_):
                self.assertIn(node, text)

    def test_a_healthy_fleet_is_fine_and_exits_0(self):
        findings = judge(fleet_of(30), TODAY)
        self.assertEqual((30, 0, []), (len(nodes_with(findings, "fine")), status_of(findings), nodes_to_retest(findings)))

    def test_slower_nodes_are_named_be_they_one_or_forty_of_a_hundred(self):
        for number, share in ((1, 0.1), (3, 0.1), (9, 0.1), (20, 0.1), (40, 0.3)):
            fleet = fleet_of(100)
            for i in range(number):
                slow_down(fleet, i, MEMORY, share)
            findings = judge(fleet, TODAY)
            self.assertEqual((1, 100 - number), (status_of(findings), len(nodes_with(findings, "fine"))))
            self.check_named(findings, [f"n{i:05}" for i in range(number)])

    def test_a_slower_population_that_a_fact_explains_is_fine_within_its_group(self):
        fleet = fleet_of(40)
        for i in range(40):
            fleet.digests[i].facts["module"] = "old" if i < 15 else "new"
            slow_down(fleet, i, MEMORY, 0.1 if i < 15 else 0)
        self.assertEqual(1, status_of(judge(fleet, TODAY)))
        self.assertEqual(0, status_of(judge(fleet, JudgeOptions("module", TODAY.now))))

    def test_no_digest_exits_2_and_says_so(self):
        findings = judge(make_fleet(0), TODAY)
        self.assertEqual((2, 0), (status_of(findings), status_of(findings, True)))  # links alone
        self.assertIn("nothing was judged", fleet_report(findings, []).text(0))

    def test_old_digests_are_too_old_and_future_ones_are_set_aside(self):
        fleet = fleet_of(30)
        changed(fleet, 4, time="2025-01-10T00:00:00Z")
        again(fleet, 5, time="2038-01-19T03:14:07Z")
        findings = judge(fleet, TODAY)
        old, = findings.aside
        self.assertEqual(("n00004", "too old", "its newest digest is of 2025-01-10T00:00"), (old.node, old.finding, old.reason))
        self.assertEqual((["n00005"], 2), (nodes_with(findings, "from the future"), status_of(findings)))
        self.check_named(findings, ["n00004", "n00005"])
        slow_down(fleet, 5, MEMORY, 0.5)
        self.assertEqual((["n00005"], 1), (nodes_with(judge(fleet, TODAY), "slow"), status_of(judge(fleet, TODAY))))
        for hours, number in ((35, 30), (37, 1)):  # the others' are 36 hours old
            self.assertEqual(number, len(judge(fleet_with_one_old(), JudgeOptions("", TODAY.now, hours)).aside))

    def test_digests_of_one_day_that_contradict_each_other_are_of_a_name_that_stands_twice(self):
        fleet = fleet_of(30)
        again(fleet, 4, time="2026-11-22T06:00:00Z")
        self.assertEqual(0, status_of(judge(fleet, TODAY)))
        fleet.digests[-1].facts["BIOS"], fleet.digests[4].facts["BIOS"] = "2.1", "1.9"
        self.assertEqual(["n00004"], nodes_with(judge(fleet, TODAY), "twice"))
        fleet.digests[-1].facts.clear()
        slow_down(fleet, 4, slice(None), 0.5)  # the earlier one
        self.assertEqual((["n00004"], 2), (nodes_with(judge(fleet, TODAY), "twice"), status_of(judge(fleet, TODAY))))

    def test_a_node_that_lost_a_gpu_or_half_of_its_processors_has_changed_its_kind(self):
        for usual, now in (("epyc-26cpu", "epyc-13cpu"), ("epyc-26cpu, 8 x H100", "epyc-26cpu, 7 x H100"), ("epyc-26cpu, 8 x H100", "epyc-26cpu")):
            fleet = fleet_of(30)
            for i in range(30):
                changed(fleet, i, kind=now if i == 4 else usual)
            findings = judge(fleet, TODAY)
            self.assertEqual((["n00004"], 1), (nodes_with(findings, "changed kind"), status_of(findings)))
            self.check_named(findings, ["n00004"])
        changed(fleet, 4, kind="another-2cpu")
        self.assertEqual(["n00004"], nodes_with(judge(fleet, TODAY), "not judged"))
        fleet = fleet_of(1, days=TWO_DAYS)
        changed(fleet, 0, kind="epyc-26cpu, 8 x H100")
        changed(fleet, 1, kind="epyc-26cpu, 7 x H100")
        self.assertEqual("changed kind", judge(fleet, TODAY).groups[0].nodes[0].finding)

    def test_lower_bounds_alone_are_not_judged_and_a_low_one_is_a_finding_when_it_stays(self):
        fleet = fleet_of(30, days=TWO_DAYS)
        for place in range(60):
            as_bound(fleet, place, 0.5 if place == 9 else 1)
        self.assertEqual((30, 2), (len(nodes_with(judge(fleet, TODAY), "not judged")) + len(nodes_with(judge(fleet, TODAY), "undecided")),
                                   status_of(judge(fleet, TODAY))))
        as_bound(fleet, 8, 0.5)
        self.assertEqual((["n00004"], 1), (nodes_with(judge(fleet, TODAY), "slow"), status_of(judge(fleet, TODAY))))

    def test_among_rates_a_bound_is_fine_above_what_matters_and_slow_when_it_stays_low(self):
        fleet = fleet_of(30, days=TWO_DAYS)
        as_bound(fleet, 9)
        self.assertEqual(0, status_of(judge(fleet, TODAY)))
        as_bound(fleet, 9, 0.6)
        self.assertEqual(2, status_of(judge(fleet, TODAY)))
        as_bound(fleet, 8, 0.6)
        self.assertEqual(["n00004"], nodes_with(judge(fleet, TODAY), "slow"))


def fleet_with_one_old():
    fleet = fleet_of(30)
    changed(fleet, 4, time="2025-01-10T00:00:00Z")
    return fleet


if __name__ == "__main__":
    unittest.main()

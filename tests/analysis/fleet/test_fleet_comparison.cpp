// Two made-up fleets.
#include "analysis/fleet/fleet_comparison.hpp"
#include "tests/analysis/fleet/made_fleet.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;
using namespace roof::analysis;
using tests::make_fleet;
using tests::slow_down;

namespace {

ChangeVerdict change_of(const FleetChanges& changes, const std::string& ceiling)
{
    for (const CeilingChange& change : changes.kinds.at(0).ceilings)
        if (change.ceiling == ceiling) return change.change;
    throw std::out_of_range(ceiling);
}

}  // namespace

TEST_CASE("a change of the same nodes is seen against their own rates, not against the scatter between them")
{
    const tests::MadeFleet made{.nodes = 20, .ceilings = 5, .scatter = 0.05};
    const Fleet a = make_fleet(made);
    Fleet b = make_fleet(made);
    for (std::size_t node = 0; node < 20; ++node) {
        slow_down(b, node, 1, 0.05);
        slow_down(b, node, 2, -0.05);
    }
    const FleetChanges changes = compare_fleets(a, b);
    REQUIRE(changes.kinds.size() == 1);
    CHECK(change_of(changes, "ceiling 1") == ChangeVerdict::slower);
    CHECK(change_of(changes, "ceiling 2") == ChangeVerdict::faster);
    CHECK(change_of(changes, "ceiling 0") == ChangeVerdict::same);
    CHECK(changes.kinds[0].ceilings[1].common == 20);
    CHECK(changes.kinds[0].ceilings[1].ratio == Approx(0.95).margin(0.005));
    CHECK(tests::nodes_with(changes.nodes, Finding::slow).empty());
}

TEST_CASE("a node that changed unlike the others is named")
{
    const tests::MadeFleet made{.nodes = 20, .ceilings = 5, .scatter = 0.05};
    const Fleet a = make_fleet(made);
    Fleet b = make_fleet({.nodes = 20, .ceilings = 5, .scatter = 0.05, .noise = 0.004});
    slow_down(b, 7, 3, 0.15);
    CHECK(tests::nodes_with(compare_fleets(b, b).nodes, Finding::slow).empty());
    b = make_fleet(made);
    slow_down(b, 7, 3, 0.15);
    CHECK(tests::nodes_with(compare_fleets(a, b).nodes, Finding::slow) == std::vector<std::string>{"n00007"});
}

TEST_CASE("fleets of different nodes are compared by their medians")
{
    const Fleet a = make_fleet({.nodes = 40, .ceilings = 5});
    Fleet b = make_fleet({.nodes = 30, .ceilings = 5, .seed = 2});
    for (std::size_t i = 0; i < 30; ++i) {
        b.digests[i].node = "m" + b.digests[i].node;
        slow_down(b, i, 1, 0.1);
    }
    const FleetChanges changes = compare_fleets(a, b);
    CHECK(change_of(changes, "ceiling 1") == ChangeVerdict::slower);
    CHECK(change_of(changes, "ceiling 3") == ChangeVerdict::same);
    CHECK(changes.kinds[0].ceilings[1].common == 0);
    CHECK(changes.only_a.size() == 40);
    CHECK(changes.only_b.size() == 30);
    CHECK(changes.nodes.groups.empty());
}

TEST_CASE("equal fleets hardly ever differ, and few nodes are undecided")
{
    int with_change = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        const auto fleet = [&](unsigned s) { return make_fleet({.nodes = 30, .scatter = 0.03, .seed = s}); };
        Fleet b = fleet(1000 + seed);
        for (Digest& digest : b.digests) digest.node = "m" + digest.node;
        const FleetChanges changes = compare_fleets(fleet(seed), b);
        for (const CeilingChange& change : changes.kinds.at(0).ceilings)
            with_change += change.change == ChangeVerdict::slower || change.change == ChangeVerdict::faster;
    }
    CHECK(with_change <= 3);
    Fleet few = make_fleet({.nodes = 5});
    for (std::size_t i = 0; i < 5; ++i) slow_down(few, i, 3, 0.5);
    CHECK(change_of(compare_fleets(make_fleet({.nodes = 5}), few), "ceiling 3") == ChangeVerdict::undecided);
}

TEST_CASE("kinds and plans that only one fleet has are not compared")
{
    Fleet b = make_fleet({.nodes = 20});
    for (Digest& digest : b.digests) digest.kind = "another";
    CHECK(compare_fleets(make_fleet({.nodes = 20}), b).kinds.empty());
}

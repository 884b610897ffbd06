// Evidence that is joined: over the ceilings of a kind, over days, and from the fleet's own tails.
#include "tests/analysis/fleet/made_fleet.hpp"

#include "analysis/fleet/fleet_tables.hpp"
#include "analysis/fleet/quantities.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace roof::analysis;
using roof::tests::cpu_names;
using roof::tests::make_fleet;
using roof::tests::nodes_with;
using roof::tests::slow_down;

namespace {

constexpr std::size_t memory = 8;  // the first names
const std::vector<std::string> six_days{"2026-11-10", "2026-11-11", "2026-11-12",
                                        "2026-11-13", "2026-11-14", "2026-11-15"};

const NodeFinding& node_of(const FleetFindings& findings, const std::string& name)
{
    return *std::ranges::find(findings.groups.at(0).nodes, name, &NodeFinding::node);
}

}  // namespace

TEST_CASE("the kind of a ceiling is its device and what it measures")
{
    CHECK(kind_of_ceiling("cpu bandwidth DRAM load threads=26") == "cpu memory");
    CHECK(kind_of_ceiling("gpu:3 bandwidth L2 load") == "gpu:3 cache");
    CHECK(kind_of_ceiling("cpu compute core fma fp64 avx2 threads=26") == "cpu compute");
    CHECK(kind_of_ceiling("gpu:0 bandwidth host-to-device copy") == "gpu:0 link");
    CHECK(kind_of_ceiling("cpu latency DRAM chase threads=1") == "cpu latency");
    CHECK(kind_of_ceiling("ceiling 3").empty());
}

TEST_CASE("eight memory rates that are each 3% low are one finding")
{
    int found = 0;
    constexpr int fleets = 20;
    for (unsigned seed = 1; seed <= fleets; ++seed) {
        Fleet fleet = make_fleet({.nodes = 60, .ceilings = 24, .seed = seed, .names = cpu_names()});
        for (std::size_t c = 0; c < memory; ++c) slow_down(fleet, 7, c, 0.03);
        const FleetFindings findings = judge(fleet);
        found += nodes_with(findings, Finding::slow) == std::vector<std::string>{"n00007"} &&
                 std::ranges::find(node_of(findings, "n00007").ceilings, "cpu memory, mean of 8",
                                   &NodeCeiling::ceiling) != node_of(findings, "n00007").ceilings.end();
    }
    CHECK(found >= 18);
}

TEST_CASE("the mean of a kind is weighted by what its ceilings scatter, and counts without a missing row")
{
    // By hand: weights 1/0.01² and 1/0.02²; a node 2% and 6% low has a mean of (4 * 2% + 1 * 6%) / 5.
    std::vector<NodeQuantity> ceilings(2);
    std::vector<RateGroup> groups;
    for (std::size_t c = 0; c < 2; ++c) {
        ceilings[c].name = c == 0 ? "cpu bandwidth DRAM load" : "cpu bandwidth DRAM store";
        std::vector<LogRate> rates;
        for (std::uint32_t i = 0; i < 41; ++i) {
            const double scatter = c == 0 ? 0.01 : 0.02;
            const double place = (static_cast<double>((i * (c == 0 ? 7 : 11)) % 41) - 20) / 20;
            rates.push_back({i == 40 ? (c == 0 ? -0.02 : -0.06) : scatter * place, 1e-8});
            ceilings[c].members.push_back(i);
        }
        ceilings[c].newest = rates;
        groups.emplace_back(rates);
    }
    const double w0 = 1 / groups[0].variance();
    const double w1 = 1 / groups[1].variance();
    CHECK(w0 / w1 == Approx(4).epsilon(0.1));
    const auto means = means_of(ceilings, {&groups[0], &groups[1]}, 41);
    REQUIRE(means.size() == 1);
    CHECK(means[0].name == "cpu memory, mean of 2");
    const double expected = (w0 * (-0.02 - groups[0].median()) + w1 * (-0.06 - groups[1].median())) / (w0 + w1);
    CHECK(means[0].newest.back().x == Approx(expected));
    ceilings[1].members.pop_back();
    ceilings[1].newest.pop_back();
    const auto without = means_of(ceilings, {&groups[0], &groups[1]}, 41);
    CHECK(without[0].newest.back().x == Approx(-0.02 - groups[0].median()));
    CHECK(without[0].newest.back().variance == Approx(1e-8 + 1 / w0 - 1 / (w0 + w1)));
}

TEST_CASE("a node that is slow on every second day is found, whether its newest day is slow or not")
{
    for (const std::size_t first : {0, 1}) {
        int found = 0;
        for (unsigned seed = 1; seed <= 5; ++seed) {
            Fleet fleet =
                make_fleet({.nodes = 40, .ceilings = 24, .daily = 0.003, .seed = seed, .names = cpu_names()}, six_days);
            for (std::size_t day = first; day < 6; day += 2)
                for (std::size_t c = 0; c < memory; ++c) slow_down(fleet, 7 * 6 + day, c, 0.1);
            const FleetFindings findings = judge(fleet);
            found += nodes_with(findings, Finding::slow) == std::vector<std::string>{"n00007"} &&
                     node_of(findings, "n00007").drain;
        }
        CHECK(found == 5);
    }
}

TEST_CASE("a node that was slow for some days and then was not is repaired")
{
    Fleet fleet = make_fleet({.nodes = 40, .ceilings = 24, .daily = 0.003, .names = cpu_names()}, six_days);
    for (std::size_t day = 0; day < 3; ++day)
        for (std::size_t c = 0; c < memory; ++c) slow_down(fleet, 7 * 6 + day, c, 0.1);
    CHECK(nodes_with(judge(fleet), Finding::slow).empty());
}

TEST_CASE("two days are 24 hours apart: midnight makes no second day")
{
    for (const auto& [earlier, drain] : std::vector<std::pair<std::string, bool>>{
             {"2026-11-21T23:59:00Z", false}, {"2026-11-21T06:10:00Z", true}, {"2026-11-21T06:00:00Z", true}}) {
        Fleet fleet = make_fleet({.nodes = 30}, {"2026-11-21", "2026-11-22"});
        for (std::size_t i = 0; i < 30; ++i) {
            fleet.digests[2 * i].time = earlier;
            fleet.digests[2 * i + 1].time = "2026-11-22T06:00:00Z";
        }
        for (const std::size_t digest : {2 * 7, 2 * 7 + 1}) slow_down(fleet, digest, 3, 0.3);
        CHECK(node_of(judge(fleet), "n00007").finding == Finding::slow);
        CHECK(node_of(judge(fleet), "n00007").drain == drain);
    }
}

TEST_CASE("in healthy fleets with long tails few have a slow node")
{
    int with_slow = 0;
    for (unsigned seed = 1; seed <= 15; ++seed)
        with_slow += !nodes_with(judge(make_fleet({.nodes = 60, .freedom = 3, .seed = seed})), Finding::slow).empty();
    CHECK(with_slow <= 3);  // without regard to the tails all fifteen have one
}

TEST_CASE("long tails on the upper side make low rates less certain")
{
    Fleet fleet = make_fleet({.nodes = 60});
    slow_down(fleet, 7, 3, 0.07);
    CHECK(nodes_with(judge(fleet), Finding::slow) == std::vector<std::string>{"n00007"});
    for (std::size_t i = 0; i < 12; ++i) slow_down(fleet, 10 + i, i, -0.06 - 0.005 * static_cast<double>(i));
    CHECK(nodes_with(judge(fleet), Finding::slow).empty());
}

TEST_CASE("among nodes without any scatter a slower one is found")
{
    for (const std::size_t nodes : {8, 30}) {
        Fleet fleet = make_fleet({.nodes = nodes, .ceilings = 24, .scatter = 0, .noise = 0, .names = cpu_names()});
        CHECK(status_of(judge(fleet)) == 0);
        slow_down(fleet, 7, 3, 0.05);
        CHECK(nodes_with(judge(fleet), Finding::slow) == std::vector<std::string>{"n00007"});
    }
}

TEST_CASE("quantities that scatter alike tell each other's scatter, so that eight nodes show one that is 10% slower")
{
    int found = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Fleet fleet = make_fleet({.nodes = 8, .ceilings = 40, .seed = seed});
        slow_down(fleet, 2, seed, 0.1);
        found += nodes_with(judge(fleet), Finding::slow) == std::vector<std::string>{"n00002"};
    }
    CHECK(found >= 18);
}

TEST_CASE("the smallest visible difference is found in 95% of cases, and is said")
{
    const FleetFindings healthy = judge(make_fleet({.nodes = 60}));
    const double visible = healthy.groups.at(0).ceilings.at(3).visible;
    CHECK(visible > 0.04);
    CHECK(visible < 0.08);
    CHECK(fleet_text(report_of(healthy)).find("would be found in 95% of cases") != std::string::npos);
    int found = 0;
    constexpr int fleets = 60;
    for (unsigned seed = 1; seed <= fleets; ++seed) {
        Fleet fleet = make_fleet({.nodes = 60, .seed = seed});
        slow_down(fleet, 7, 3, judge(fleet).groups.at(0).ceilings.at(3).visible);
        found += nodes_with(judge(fleet), Finding::slow) == std::vector<std::string>{"n00007"};
    }
    CHECK(found >= 51);  // 57 expected; fewer with a chance of 1%
}

// Findings on made-up fleets. tools/bench_fleet has the figures for large ones.
#include "tests/analysis/fleet/made_fleet.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::analysis;
using tests::make_fleet;
using tests::nodes_with;
using tests::slow_down;

namespace {

const NodeFinding& finding_of(const FleetFindings& findings, const std::string& node)
{
    const auto& nodes = findings.groups.at(0).nodes;
    return *std::ranges::find(nodes, node, &NodeFinding::node);
}

}  // namespace

TEST_CASE("in healthy fleets hardly a node is called slow")
{
    for (const std::size_t nodes : {8, 50}) {
        int with_slow = 0;
        for (unsigned seed = 1; seed <= 60; ++seed)
            with_slow += !nodes_with(judge(make_fleet({.nodes = nodes, .seed = seed})), Finding::slow).empty();
        CHECK(with_slow <= 3);
    }
}

TEST_CASE("a node that is 10% slower in one ceiling is found, and no other")
{
    for (unsigned seed = 1; seed <= 10; ++seed) {
        Fleet fleet = make_fleet({.nodes = 40, .seed = seed});
        slow_down(fleet, 7, 3, 0.1);
        const FleetFindings findings = judge(fleet);
        CHECK(nodes_with(findings, Finding::slow) == std::vector<std::string>{"n00007"});
        const NodeCeiling& ceiling = finding_of(findings, "n00007").ceilings.front();
        CHECK(ceiling.ceiling == "ceiling 3");
        CHECK(ceiling.ratio == Approx(0.9).margin(0.05));
        CHECK_FALSE(finding_of(findings, "n00007").drain);
    }
}

TEST_CASE("a difference of less than 3% is not slow, however certain it is")
{
    Fleet fleet = make_fleet({.nodes = 40, .scatter = 0.001, .noise = 0.0005});
    slow_down(fleet, 7, 3, 0.02);
    CHECK(nodes_with(judge(fleet), Finding::slow).empty());
}

TEST_CASE("a node is to be drained after a second day, in a group of twelve")
{
    for (const std::size_t nodes : {11, 12}) {
        Fleet fleet = make_fleet({.nodes = nodes, .day = "2026-11-22"});
        const Fleet before = make_fleet({.nodes = nodes, .day = "2026-11-20", .seed = 2});
        fleet.digests.insert(fleet.digests.end(), before.digests.begin(), before.digests.end());
        slow_down(fleet, 7, 3, 0.3);
        CHECK_FALSE(finding_of(judge(fleet), "n00007").drain);
        slow_down(fleet, nodes + 7, 3, 0.3);
        CHECK(finding_of(judge(fleet), "n00007").finding == Finding::slow);
        CHECK(finding_of(judge(fleet), "n00007").drain == (nodes == 12));
    }
}

TEST_CASE("a wide interval that reaches down to slow is undecided")
{
    Fleet fleet = make_fleet({.nodes = 40, .scatter = 0.003, .noise = 0.002});
    fleet.digests[7].ceilings[3].low *= 0.8;
    fleet.digests[7].ceilings[3].high *= 1.2;
    CHECK(nodes_with(judge(fleet), Finding::undecided) == std::vector<std::string>{"n00007"});
}

TEST_CASE("fewer than six nodes are only put in order")
{
    Fleet fleet = make_fleet({.nodes = 5});
    slow_down(fleet, 2, 3, 0.5);
    const FleetFindings findings = judge(fleet);
    CHECK(nodes_with(findings, Finding::undecided).size() == 5);
    CHECK(findings.tests == 0);
}

TEST_CASE("a node of another kind, plan or revision is not compared")
{
    Fleet fleet = make_fleet({.nodes = 20});
    for (DigestRate& rate : fleet.digests[7].ceilings) rate.value *= 0.5, rate.low *= 0.5, rate.high *= 0.5;
    for (std::string* key : {&fleet.digests[7].kind, &fleet.digests[7].plan, &fleet.digests[7].revision}) {
        const std::string before = std::exchange(*key, "another");
        CHECK(judge(fleet).groups.size() == 2);
        CHECK(nodes_with(judge(fleet), Finding::slow).empty());
        *key = before;
    }
    CHECK(nodes_with(judge(fleet), Finding::slow).size() == 1);
}

TEST_CASE("two populations are said as two, with what goes with them, and no node of theirs is slow")
{
    Fleet fleet = make_fleet({.nodes = 40});
    for (std::size_t i = 0; i < 40; ++i) fleet.digests[i].facts["BIOS"] = i < 12 ? "1.0" : "2.0";
    for (std::size_t i = 0; i < 12; ++i) slow_down(fleet, i, 3, 0.15);
    const FleetFindings findings = judge(fleet);
    CHECK(nodes_with(findings, Finding::slow).empty());
    const auto& ceilings = findings.groups.at(0).ceilings;
    const auto split = std::ranges::find_if(ceilings, [](const CeilingFinding& c) { return !c.populations.empty(); });
    REQUIRE(split != ceilings.end());
    CHECK(split->name == "ceiling 3");
    CHECK(split->populations.front().nodes.size() == 12);
    REQUIRE_FALSE(findings.groups.at(0).associations.empty());
    const Association& first = findings.groups.at(0).associations.front();
    CHECK((first.fact == "BIOS" && first.ceiling == "ceiling 3"));
}

TEST_CASE("a slow node is found in the slower of two populations")
{
    Fleet fleet = make_fleet({.nodes = 60});
    for (std::size_t i = 0; i < 30; ++i) slow_down(fleet, i, 3, 0.15);
    slow_down(fleet, 7, 3, 0.15);
    CHECK(nodes_with(judge(fleet), Finding::slow) == std::vector<std::string>{"n00007"});
}

TEST_CASE("expected nodes without a digest are missing, and a node without a ceiling is undecided")
{
    Fleet fleet = make_fleet({.nodes = 20});
    fleet.expected = {{"n00001"}, {"gone"}};
    fleet.digests[3].ceilings.pop_back();
    const FleetFindings findings = judge(fleet);
    CHECK(findings.missing == std::vector<std::string>{"gone"});
    CHECK(finding_of(findings, "n00003").finding == Finding::undecided);
    CHECK(finding_of(findings, "n00003").ceilings.front().finding == Finding::missing);
}

TEST_CASE("a claim above the spec of the others is implausible")
{
    Fleet fleet = make_fleet({.nodes = 20});
    for (Digest& digest : fleet.digests) digest.ceilings[3].spec = 4.2e11;
    DigestRate& claim = fleet.digests[7].ceilings[3];
    claim.value *= 3, claim.low *= 3, claim.high *= 3, claim.spec *= 3;
    CHECK(nodes_with(judge(fleet), Finding::implausible) == std::vector<std::string>{"n00007"});
}

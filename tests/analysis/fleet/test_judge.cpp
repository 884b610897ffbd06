// Findings on made-up fleets. tools/bench_fleet has the figures for large ones.
#include "tests/analysis/fleet/made_fleet.hpp"

#include "analysis/fleet/fleet_tables.hpp"
#include "analysis/fleet/quantities.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

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

TEST_CASE("the standard error of a rate is its half-width over the factor of its rounds")
{
    DigestRate rate = digest_rate({"L1 load"}, 1, std::exp(-0.03), std::exp(0.03));
    CHECK(std::sqrt(log_rate(rate).variance) == Approx(0.03 / 1.96));
    rate.rounds = 5;  // Student's 98.75% for four degrees of freedom
    CHECK(std::sqrt(log_rate(rate).variance) == Approx(0.03 / 3.495));
}

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
    CHECK(nodes_with(findings, Finding::not_judged).size() == 5);
    CHECK(status_of(findings) == 2);
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

TEST_CASE("two populations are said as two, the slower one by name, with what goes with them")
{
    Fleet fleet = make_fleet({.nodes = 40});
    for (std::size_t i = 0; i < 40; ++i) fleet.digests[i].facts["BIOS"] = i < 12 ? "1.0" : "2.0";
    for (std::size_t i = 0; i < 12; ++i) slow_down(fleet, i, 3, 0.15);
    const FleetFindings findings = judge(fleet);
    CHECK(nodes_with(findings, Finding::slow).empty());
    CHECK(nodes_with(findings, Finding::slower_population).size() == 12);
    CHECK(finding_of(findings, "n00011").finding == Finding::slower_population);
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

TEST_CASE("expected nodes without a digest are missing, and a missing row costs that row only")
{
    Fleet fleet = make_fleet({.nodes = 20});
    fleet.expected = {{"n00001"}, {"gone"}};
    fleet.digests[3].ceilings.pop_back();
    const FleetFindings findings = judge(fleet);
    REQUIRE(findings.aside.size() == 1);
    CHECK((findings.aside[0].node == "gone" && findings.aside[0].finding == Finding::missing));
    CHECK(finding_of(findings, "n00003").finding == Finding::fine);
    CHECK(finding_of(findings, "n00003").ceilings.front().finding == Finding::missing);
}

TEST_CASE("what no node or one node lacks is one line of the report, and rows of the JSON")
{
    Fleet fleet = make_fleet({.nodes = 20});
    fleet.digests[3].ceilings.resize(15);
    for (Digest& digest : fleet.digests) digest.ceilings[7].high = std::numeric_limits<double>::infinity();
    const FleetFindings findings = judge(fleet);
    const FleetReport report = report_of(findings, {});
    REQUIRE(report.sections.size() == 1);
    CHECK_THAT(report.sections[0].lead, Catch::EndsWith(" Of 1 ceiling there are only lower bounds. Ceilings that a "
                                                        "node's digest lacks: n00003 5."));
    CHECK(report.sections[0].tables[1].rows.empty());
    const std::size_t told = report.sections[0].tables[2].rows.size();
    const auto group = fleet_json(findings, {})["groups"][0];
    CHECK(group["ceilings"].size() == told + 1);
    CHECK(group["node_ceilings"].size() == 5);
}

TEST_CASE("a claim above the spec of the others is implausible")
{
    Fleet fleet = make_fleet({.nodes = 20});
    for (Digest& digest : fleet.digests) digest.ceilings[3].spec = 4.2e11;
    DigestRate& claim = fleet.digests[7].ceilings[3];
    claim.value *= 3, claim.low *= 3, claim.high *= 3, claim.spec *= 3;
    CHECK(nodes_with(judge(fleet), Finding::implausible) == std::vector<std::string>{"n00007"});
}

TEST_CASE("several days of a node show a difference that one day hides")
{
    int with_one = 0;
    int with_five = 0;
    for (unsigned seed = 1; seed <= 10; ++seed) {
        const tests::MadeFleet made{.nodes = 30, .ceilings = 5, .scatter = 0.002, .daily = 0.02, .seed = seed};
        for (const std::size_t days : {1, 5}) {
            std::vector<std::string> dates;
            for (std::size_t day = 0; day < days; ++day) dates.push_back(fmt::format("2026-11-{:02}", day + 10));
            Fleet fleet = make_fleet(made, dates);
            for (std::size_t day = 0; day < days; ++day) slow_down(fleet, 7 * days + day, 3, 0.08);
            const bool found = nodes_with(judge(fleet), Finding::slow) == std::vector<std::string>{"n00007"};
            (days == 1 ? with_one : with_five) += found;
        }
    }
    CHECK(with_five >= 9);
    CHECK(with_one <= 5);
}

TEST_CASE("ten nodes on three days tell the difference from day to day, which widens the intervals")
{
    const tests::MadeFleet made{.nodes = 10, .ceilings = 2, .scatter = 0.01, .daily = 0.03, .noise = 0.001};
    const auto ceiling = [](const Fleet& fleet) { return judge(fleet).groups.at(0).ceilings.at(0); };
    CHECK(ceiling(make_fleet(made, {"2026-11-10", "2026-11-11"})).day_to_day == 0);
    const Fleet fleet = make_fleet(made, {"2026-11-10", "2026-11-11", "2026-11-12"});
    CHECK(ceiling(fleet).day_to_day == Approx(0.03).epsilon(0.5));
    CHECK(judge(fleet).notes.empty());
}

TEST_CASE("a node that was slow and is as fast as the others on its newest day is not slow")
{
    Fleet fleet = make_fleet({.nodes = 30}, {"2026-11-10", "2026-11-11", "2026-11-12"});
    for (std::size_t day = 0; day < 2; ++day) slow_down(fleet, 7 * 3 + day, 3, 0.4);
    CHECK(nodes_with(judge(fleet), Finding::slow).empty());
}

TEST_CASE("of several digests of one day the newest counts")
{
    Fleet fleet = make_fleet({.nodes = 20});
    Digest again = fleet.digests[7];
    again.time = "2026-11-22T09:00:00Z";
    fleet.digests.push_back(again);
    slow_down(fleet, 7, 3, 0.3);
    CHECK(nodes_with(judge(fleet), Finding::slow).empty());
    slow_down(fleet, 20, 3, 0.3);
    const FleetFindings findings = judge(fleet);
    CHECK(nodes_with(findings, Finding::slow) == std::vector<std::string>{"n00007"});
    CHECK_FALSE(finding_of(findings, "n00007").drain);
}

TEST_CASE("facts that have nothing to do with the rates are not listed")
{
    int with_any = 0;
    for (unsigned seed = 1; seed <= 30; ++seed) {
        Fleet fleet = make_fleet({.nodes = 40, .scatter = 0.04, .seed = seed});
        for (std::size_t i = 0; i < 40; ++i)
            for (const char* fact : {"BIOS", "kernel", "microcode", "NVIDIA driver"})
                fleet.digests[i].facts[fact] = std::to_string((i * 7919 + fact[0] * seed) % 5);
        for (std::size_t i = 0; i < 40; ++i)
            fleet.expected.push_back({fleet.digests[i].node, {{"rack", std::to_string(i / 8)}}});
        with_any += !judge(fleet).groups.at(0).associations.empty();
    }
    CHECK(with_any <= 4);
}

TEST_CASE("a rack whose nodes are slower is listed with its ratio")
{
    Fleet fleet = make_fleet({.nodes = 40});
    for (std::size_t i = 0; i < 40; ++i) {
        fleet.expected.push_back({fleet.digests[i].node, {{"rack", std::to_string(i / 8)}}});
        if (i / 8 == 2) slow_down(fleet, i, 3, 0.06);
    }
    for (Digest& digest : fleet.digests) digest.facts["serial"] = digest.node;  // tells nothing, and costs no certainty
    const FleetFindings findings = judge(fleet);
    const auto& associations = findings.groups.at(0).associations;
    REQUIRE(associations.size() == 1);
    CHECK((associations[0].fact == "rack" && associations[0].value == "2"));
    CHECK(associations[0].ratio == Approx(0.94).margin(0.02));
}

TEST_CASE("a fact can divide the groups")
{
    Fleet fleet = make_fleet({.nodes = 40});
    for (std::size_t i = 0; i < 40; ++i) {
        fleet.digests[i].facts["kernel"] = i < 20 ? "6.1" : "6.6";
        if (i < 20) slow_down(fleet, i, 3, 0.1);
    }
    const FleetFindings findings = judge(fleet, {.group_by = "kernel"});
    REQUIRE(findings.groups.size() == 2);
    CHECK(findings.groups[0].by == "6.1");
    CHECK(nodes_with(findings, Finding::slow).empty());
    CHECK(judge(fleet, {.group_by = "no such fact"}).groups.at(0).by == "unknown");
}

TEST_CASE("a ceiling that is a lower bound on all nodes has no median")
{
    Fleet fleet = make_fleet({.nodes = 12, .ceilings = 1});
    for (Digest& digest : fleet.digests) digest.ceilings.front().high = std::numeric_limits<double>::infinity();
    const nlohmann::json ceilings = fleet_json(judge(fleet), {})["groups"][0]["ceilings"];
    REQUIRE(ceilings.size() == 1);
    CHECK(ceilings[0]["nodes"] == 0);
    CHECK(ceilings[0]["median"].is_null());
    CHECK(ceilings[0]["scatter"].is_null());
}

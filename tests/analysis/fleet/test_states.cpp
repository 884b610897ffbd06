// Which state a node gets, and the exit status that follows: the rows of a table of fleets that an operator has met.
#include "tests/analysis/fleet/made_fleet.hpp"

#include "analysis/fleet/fleet_tables.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace roof::analysis;
using roof::tests::cpu_names;
using roof::tests::make_fleet;
using roof::tests::nodes_with;
using roof::tests::slow_down;

namespace {

const JudgeOptions today{.now = "2026-11-23T12:00:00Z"};
constexpr std::size_t memory = 8;  // the first names

Fleet fleet_of(std::size_t nodes)
{
    return make_fleet({.nodes = nodes, .ceilings = 24, .names = cpu_names()});
}

void slow_memory(Fleet& fleet, std::size_t node, double share)
{
    for (std::size_t c = 0; c < memory; ++c) slow_down(fleet, node, c, share);
}

std::vector<std::string> names(std::size_t nodes)
{
    std::vector<std::string> all;
    for (std::size_t i = 0; i < nodes; ++i) all.push_back(fmt::format("n{:05}", i));
    return all;
}

/// The names of the nodes stand in the text, the page, the JSON and the list to measure again.
void check_named(const FleetFindings& findings, const std::vector<std::string>& nodes)
{
    const std::string text = fleet_text(report_of(findings));
    const std::string page = fleet_page(report_of(findings));
    const std::string json = fleet_json(findings).dump();
    const std::vector<std::string> again = nodes_to_retest(findings);
    for (const std::string& node : nodes) {
        CHECK(text.find(node) != std::string::npos);
        CHECK(page.find(node) != std::string::npos);
        CHECK(json.find(node) != std::string::npos);
        CHECK(std::ranges::find(again, node) != again.end());
    }
}

const NodeFinding* aside(const FleetFindings& findings, const std::string& node)
{
    const auto found = std::ranges::find(findings.aside, node, &NodeFinding::node);
    return found == findings.aside.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a healthy fleet is fine and exits 0")
{
    const FleetFindings findings = judge(fleet_of(30), today);
    CHECK(nodes_with(findings, Finding::fine).size() == 30);
    CHECK(status_of(findings) == 0);
    CHECK(nodes_to_retest(findings).empty());
}

TEST_CASE("slower nodes are named and exit 1, be they one or forty of a hundred")
{
    for (const auto& [number, share] : std::vector<std::pair<std::size_t, double>>{
             {1, 0.1}, {3, 0.1}, {9, 0.1}, {10, 0.1}, {20, 0.1}, {10, 0.3}, {40, 0.3}}) {
        INFO(number << " nodes slower by " << share);
        Fleet fleet = fleet_of(100);
        for (std::size_t i = 0; i < number; ++i) slow_memory(fleet, i, share);
        const FleetFindings findings = judge(fleet, today);
        CHECK(status_of(findings) == 1);
        check_named(findings, names(number));
        CHECK(nodes_with(findings, Finding::fine).size() == 100 - number);
    }
}

TEST_CASE("a slower population that a fact explains is fine within its group")
{
    Fleet fleet = fleet_of(40);
    for (std::size_t i = 0; i < 40; ++i) fleet.digests[i].facts["module"] = i < 15 ? "old" : "new";
    for (std::size_t i = 0; i < 15; ++i) slow_memory(fleet, i, 0.1);
    CHECK(status_of(judge(fleet, today)) == 1);
    JudgeOptions declared = today;
    declared.group_by = "module";
    CHECK(status_of(judge(fleet, declared)) == 0);
}

TEST_CASE("expected nodes without a digest are missing, named, and exit 2")
{
    Fleet fleet = fleet_of(20);
    for (const std::string& node : names(25)) fleet.expected.push_back({node});
    const FleetFindings findings = judge(fleet, today);
    CHECK(status_of(findings) == 2);
    check_named(findings, {"n00020", "n00021", "n00022", "n00023", "n00024"});
    slow_memory(fleet, 3, 0.2);
    CHECK(status_of(judge(fleet, today)) == 1);  // what was found wins
}

TEST_CASE("a folder without digests exits 2 and says so")
{
    const FleetFindings findings = judge({}, today);
    CHECK(status_of(findings) == 2);
    CHECK(fleet_text(report_of(findings)).find("nothing was judged") != std::string::npos);
    CHECK(status_of(findings, true) == 0);  // links alone
}

TEST_CASE("five nodes of a new revision are not judged, and exit 2")
{
    Fleet fleet = fleet_of(30);
    for (std::size_t i = 0; i < 5; ++i) fleet.digests[i].revision = "new";
    const FleetFindings findings = judge(fleet, today);
    CHECK(nodes_with(findings, Finding::not_judged) == names(5));
    CHECK(status_of(findings) == 2);
    check_named(findings, names(5));
}

TEST_CASE("a digest of long ago is too old: to that of the others, or by the option")
{
    Fleet fleet = fleet_of(30);
    fleet.digests[4].time = "2025-01-10T00:00:00Z";
    const FleetFindings findings = judge(fleet, today);
    REQUIRE(aside(findings, "n00004") != nullptr);
    CHECK(aside(findings, "n00004")->finding == Finding::too_old);
    CHECK(aside(findings, "n00004")->reason == "its newest digest is of 2025-01-10T00:00");
    CHECK(status_of(findings) == 2);
    check_named(findings, {"n00004"});
    JudgeOptions strict = today;
    strict.max_age_hours = 35;  // the others' are 36 hours old
    CHECK(judge(fleet, strict).aside.size() == 30);
    strict.max_age_hours = 37;
    CHECK(judge(fleet, strict).aside.size() == 1);
}

TEST_CASE("a digest from the future is set aside, and the one of today counts")
{
    Fleet fleet = fleet_of(30);
    fleet.digests.push_back(fleet.digests[4]);
    fleet.digests.back().time = "2038-01-19T03:14:07Z";
    FleetFindings findings = judge(fleet, today);
    CHECK(nodes_with(findings, Finding::future) == std::vector<std::string>{"n00004"});
    CHECK(status_of(findings) == 2);
    slow_memory(fleet, 4, 0.5);
    findings = judge(fleet, today);
    CHECK(nodes_with(findings, Finding::slow) == std::vector<std::string>{"n00004"});
    CHECK(status_of(findings) == 1);
    fleet.digests.erase(fleet.digests.begin() + 4);
    findings = judge(fleet, today);
    REQUIRE(aside(findings, "n00004") != nullptr);
    CHECK(aside(findings, "n00004")->finding == Finding::future);
}

TEST_CASE("digests of one day that contradict each other are of a name that stands twice")
{
    Fleet fleet = fleet_of(30);
    fleet.digests.push_back(fleet.digests[4]);
    fleet.digests.back().time = "2026-11-22T06:00:00Z";
    CHECK(status_of(judge(fleet, today)) == 0);
    fleet.digests.back().facts["BIOS"] = "2.1";
    fleet.digests[4].facts["BIOS"] = "1.9";
    CHECK(nodes_with(judge(fleet, today), Finding::twice) == std::vector<std::string>{"n00004"});
    fleet.digests.back().facts.clear();
    for (std::size_t c = 0; c < 24; ++c) slow_down(fleet, 4, c, 0.5);  // the earlier one
    const FleetFindings findings = judge(fleet, today);
    CHECK(nodes_with(findings, Finding::twice) == std::vector<std::string>{"n00004"});
    CHECK(status_of(findings) == 2);
    check_named(findings, {"n00004"});
}

TEST_CASE("a node that lost a GPU or half of its processors has changed its kind, and exits 1")
{
    for (const auto& [usual, changed] :
         std::vector<std::pair<std::string, std::string>>{{"epyc-26cpu", "epyc-13cpu"},
                                                          {"epyc-26cpu, 8 x H100", "epyc-26cpu, 7 x H100"},
                                                          {"epyc-26cpu, 8 x H100", "epyc-26cpu"}}) {
        Fleet fleet = fleet_of(30);
        for (Digest& digest : fleet.digests) digest.kind = usual;
        fleet.digests[4].kind = changed;
        const FleetFindings findings = judge(fleet, today);
        CHECK(nodes_with(findings, Finding::changed_kind) == std::vector<std::string>{"n00004"});
        CHECK(status_of(findings) == 1);
        check_named(findings, {"n00004"});
    }
    Fleet fleet = fleet_of(30);
    fleet.digests[4].kind = "another-2cpu";
    CHECK(nodes_with(judge(fleet, today), Finding::not_judged) == std::vector<std::string>{"n00004"});
}

TEST_CASE("a node that was of another kind before is judged as what it is, and its change is said")
{
    Fleet fleet = make_fleet({.nodes = 1, .ceilings = 24, .names = cpu_names()}, {"2026-11-20", "2026-11-22"});
    for (Digest& digest : fleet.digests) digest.kind = "epyc-26cpu, 8 x H100";
    fleet.digests[1].kind = "epyc-26cpu, 7 x H100";
    const FleetFindings findings = judge(fleet, today);
    REQUIRE(findings.groups.size() == 1);
    CHECK(findings.groups[0].nodes.at(0).finding == Finding::changed_kind);
}

TEST_CASE("nodes that left only lower bounds are not judged; a low bound is a finding when it stays")
{
    Fleet fleet = make_fleet({.nodes = 30, .ceilings = 24, .names = cpu_names()}, {"2026-11-20", "2026-11-22"});
    for (Digest& digest : fleet.digests)
        for (DigestRate& rate : digest.ceilings) rate.high = std::numeric_limits<double>::infinity();
    CHECK(nodes_with(judge(fleet, today), Finding::not_judged).size() == 30);
    CHECK(status_of(judge(fleet, today)) == 2);
    const auto halve = [&](std::size_t digest) {
        for (std::size_t c = 0; c < 24; ++c) slow_down(fleet, digest, c, 0.5);
    };
    halve(2 * 4 + 1);
    CHECK(nodes_with(judge(fleet, today), Finding::slow).empty());
    halve(2 * 4);
    const FleetFindings findings = judge(fleet, today);
    CHECK(nodes_with(findings, Finding::slow) == std::vector<std::string>{"n00004"});
    CHECK(status_of(findings) == 1);
}

TEST_CASE("among nodes with rates a bound is fine above what matters, undecided below it, and slow when it stays low")
{
    Fleet fleet = make_fleet({.nodes = 30, .ceilings = 24, .names = cpu_names()}, {"2026-11-20", "2026-11-22"});
    const auto bound = [&](std::size_t digest, double share) {
        for (DigestRate& rate : fleet.digests[digest].ceilings) {
            rate.value *= share, rate.low *= share;
            rate.high = std::numeric_limits<double>::infinity();
        }
    };
    bound(2 * 4 + 1, 1);
    CHECK(status_of(judge(fleet, today)) == 0);
    bound(2 * 4 + 1, 0.6);
    CHECK(nodes_with(judge(fleet, today), Finding::undecided).size() +
              nodes_with(judge(fleet, today), Finding::not_judged).size() ==
          1);
    CHECK(status_of(judge(fleet, today)) == 2);
    bound(2 * 4, 0.6);
    CHECK(nodes_with(judge(fleet, today), Finding::slow) == std::vector<std::string>{"n00004"});
}

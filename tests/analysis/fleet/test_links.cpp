// Slow nodes, uplinks and links on made-up networks. tools/bench_fleet has the figures.
#include "analysis/fleet/links.hpp"
#include "tests/analysis/fleet/made_fleet.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::analysis;
using tests::make_links;

namespace {

/// Of a fleet with one plan and revision.
LinkFindings findings_of(const Fleet& fleet)
{
    const std::vector<LinkFindings> all = judge_links(fleet);
    REQUIRE(all.size() == 1);
    return all.front();
}

}  // namespace

TEST_CASE("a node whose links are all slow is a slow node")
{
    const LinkFindings found = findings_of(make_links({.nodes = 16, .slow_node = 0.2}));
    CHECK(found.nodes == 16);
    CHECK(found.links == 120);
    REQUIRE(found.slow.size() == 1);
    CHECK(found.slow[0].fault == LinkFault::node);
    CHECK(found.slow[0].nodes == std::vector<std::string>{"n00000"});
    CHECK(found.slow[0].ratio == Approx(0.8).margin(0.02));
    CHECK(found.slow[0].links == 15);
}

TEST_CASE("a slow uplink of a switch is found as links, not as nodes")
{
    for (const std::size_t per_switch : {4, 8}) {
        const LinkFindings found = findings_of(make_links({.nodes = 32, .per_switch = per_switch, .slow_uplink = 0.3}));
        REQUIRE(found.slow.size() == 1);
        CHECK(found.slow[0].fault == LinkFault::uplink);
        CHECK(found.slow[0].nodes.size() == per_switch);
        CHECK(found.slow[0].shared == "switch=s1");
        CHECK(found.slow[0].remark == "the links among them are fast");
        CHECK(found.slow[0].ratio == Approx(0.7).margin(0.02));
    }
}

TEST_CASE("a slow uplink is found without facts, from the fast links behind it")
{
    Fleet fleet = make_links({.nodes = 32, .slow_uplink = 0.3});
    fleet.expected.clear();
    const LinkFindings found = findings_of(fleet);
    REQUIRE(found.slow.size() == 1);
    CHECK(found.slow[0].nodes.size() == 8);
    CHECK(found.slow[0].shared.empty());
}

TEST_CASE("a slow link between two halves of a network is one of links")
{
    const LinkFindings found = findings_of(make_links({.nodes = 16, .per_switch = 8, .slow_uplink = 0.3}));
    REQUIRE(found.slow.size() == 1);
    CHECK(found.slow[0].fault == LinkFault::uplink);
    CHECK(found.slow[0].nodes.size() == 8);
    CHECK(found.slow[0].links == 64);
}

TEST_CASE("one slow link is one of its own")
{
    const LinkFindings found = findings_of(make_links({.nodes = 16, .slow_link = 0.2}));
    REQUIRE(found.slow.size() == 1);
    CHECK(found.slow[0].fault == LinkFault::link);
    CHECK(found.slow[0].nodes == std::vector<std::string>{"n00014", "n00015"});
}

TEST_CASE("a slow node behind a slow uplink is told from it")
{
    Fleet fleet = make_links({.nodes = 32, .slow_node = 0.5, .slow_uplink = 0.3});
    const LinkFindings found = findings_of(fleet);
    REQUIRE(found.slow.size() == 2);
    CHECK((found.slow[0].fault == LinkFault::node && found.slow[0].nodes.front() == "n00000"));
    CHECK(found.slow[1].fault == LinkFault::uplink);
}

TEST_CASE("healthy links are not slow, and few links tell nothing")
{
    int with_slow = 0;
    for (unsigned seed = 1; seed <= 20; ++seed)
        with_slow += !findings_of(make_links({.nodes = 24, .permutations = 6, .seed = seed})).slow.empty();
    CHECK(with_slow <= 3);
    CHECK(findings_of(make_links({.nodes = 24, .permutations = 1})).note.find("too few") != std::string::npos);
    CHECK(judge_links({}).empty());
}

TEST_CASE("the findings do not depend on which digest has a link, nor on the order of its ends")
{
    Fleet fleet = make_links({.nodes = 16, .slow_node = 0.2});
    const double ratio = findings_of(fleet).slow.at(0).ratio;
    std::ranges::reverse(fleet.digests);
    for (Digest& digest : fleet.digests) {
        std::ranges::reverse(digest.links);
        for (DigestRate& link : digest.links) {
            const std::string& name = link.name();
            const std::size_t blank = name.find(' ');
            link.rename(name.substr(blank + 1) + " " + name.substr(0, blank));
        }
    }
    CHECK(findings_of(fleet).slow.at(0).ratio == ratio);
}

TEST_CASE("a run of links alone is no group of nodes, and its nodes are not missing")
{
    const FleetFindings findings = judge(make_links({.nodes = 16}));
    CHECK(findings.groups.empty());
    CHECK(findings.aside.empty());
}

TEST_CASE("links by different plans or revisions are judged apart")
{
    Fleet fleet = make_links({.nodes = 16});
    Fleet other = make_links({.nodes = 16, .seed = 2, .slow_node = 0.2});
    for (Digest& digest : other.digests) digest.revision = "s";
    fleet.digests.insert(fleet.digests.end(), other.digests.begin(), other.digests.end());
    const std::vector<LinkFindings> all = judge_links(fleet);
    REQUIRE(all.size() == 2);
    CHECK(all[0].slow.empty());
    CHECK(all[1].revision == "s");
    CHECK(all[1].slow.size() == 1);
}

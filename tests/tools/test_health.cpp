// `roof health`: one node against its fleet, from the measurement to one line.
#include "analysis/fleet/health.hpp"
#include "ert/base/files.hpp"
#include "tests/analysis/fleet/made_fleet.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <limits>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;
using tests::cpu_names;
using tests::make_fleet;
using tests::Said;
using tests::slow_down;
using tests::Workbench;

namespace {

const std::string health_plan = "name: small\nrounds: 3\nrun:\n  - {bench: flops, operation: fma}\n";

Said health(const Workbench& bench, const std::vector<std::string>& more)
{
    std::vector<std::string> words{"health", "--plan", bench.path("plan.yaml"), "--node", "n1"};
    words.insert(words.end(), more.begin(), more.end());
    return bench.roof(words);
}

/// Digests of this machine as the reference, on nodes n1 to n`nodes`; their rates are `times` those measured.
void write_reference(const Workbench& bench, int nodes, double times)
{
    write_file(bench.path("plan.yaml"), health_plan);
    REQUIRE(bench.roof({"sweep", bench.path("plan.yaml"), "--out", bench.path("run"), "--node", "n1"}).status == 0);
    Digest digest = parse_digest(read_file(bench.path("run/digest.csv")), "digest.csv");
    std::filesystem::remove_all(bench.path("run"));
    for (DigestRate& rate : digest.ceilings)
        for (double* value : {&rate.value, &rate.low, &rate.high}) *value *= times;
    for (int node = 1; node <= nodes; ++node) {
        digest.node = "n" + std::to_string(node);
        make_folder(bench.path("fleet/" + digest.node));
        write_file(bench.path("fleet/" + digest.node) + "/digest.csv", to_csv(digest));
    }
}

Fleet reference_of(std::size_t nodes)
{
    return make_fleet({.nodes = nodes, .ceilings = 24, .names = cpu_names()});
}

/// The last node, measured now, and taken out of the reference.
Digest taken_from(Fleet& fleet)
{
    Digest now = fleet.digests.back();
    fleet.digests.pop_back();
    now.plan = "another";
    now.revision = "newer";
    return now;
}

}  // namespace

TEST_CASE("a node like its fleet is fine in one line, and leaves nothing behind")
{
    const Workbench bench;
    write_reference(bench, 8, 1);
    // A folder of its own: other programs have theirs in the usual one.
    const std::string scratch = bench.path("scratch");
    make_folder(scratch);
    ::setenv("TMPDIR", scratch.c_str(), 1);
    const Said said = health(bench, {"--reference", bench.path("fleet")});
    ::unsetenv("TMPDIR");
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Catch::StartsWith("n1 is fine: ") && Contains("7 nodes"));
    CHECK(std::count(said.out.begin(), said.out.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(bench.path("results")));
    CHECK(std::filesystem::is_empty(scratch));
}

TEST_CASE("a node that is slower than its fleet exits 1 and says what failed, also as metrics and JSON")
{
    const Workbench bench;
    write_reference(bench, 8, 1.3);
    const Said said = health(bench, {"--reference", bench.path("fleet")});
    CHECK(said.status == 1);
    CHECK_THAT(said.out, Contains("n1 is slow: ") && Contains("at 0.769"));
    const Said metrics = health(bench, {"--reference", bench.path("fleet"), "--prometheus"});
    CHECK_THAT(metrics.out, Contains("# TYPE roof_health gauge\nroof_health{node=\"n1\",state=\"slow\"} 1\n") &&
                                Contains("roof_health_ratio{node=\"n1\",ceiling=\"") && Contains("\"} 0.7692\n"));
    for (const std::string name :
         {"roof_health", "roof_health_seconds", "roof_health_ratio"}) {  // Prometheus' text format
        CHECK_THAT(metrics.out, Contains("# HELP " + name + " "));
        CHECK_THAT(metrics.out, Contains("\n# TYPE " + name + " gauge\n" + name + "{"));
    }
    const auto document = nlohmann::json::parse(health(bench, {"--reference", bench.path("fleet"), "--json"}).out);
    CHECK(document["finding"] == "slow");
    CHECK(document["status"] == 1);
}

TEST_CASE("one digest is a reference: 10% below it is slow")
{
    const Workbench bench;
    write_reference(bench, 2, 1.02);
    CHECK(health(bench, {"--reference", bench.path("fleet/n2/digest.csv")}).status == 0);
    write_reference(bench, 2, 1.3);
    CHECK(health(bench, {"--reference", bench.path("fleet/n2/digest.csv")}).status == 1);
    const Said own = health(bench, {"--reference", bench.path("fleet/n1/digest.csv"), "--json"});
    CHECK(own.status == 2);
    CHECK_THAT(own.out, Contains("n1 is not judged: the reference has no other node"));
    CHECK(health(bench, {"--reference", bench.path("nothing")}).status == 2);
    CHECK_THROWS_WITH(read_fleet("/nonexistent"), "--reference: there is no digest and no folder /nonexistent");
}

TEST_CASE("the prolog is printed and nothing is measured")
{
    const Workbench bench;
    write_reference(bench, 2, 1);
    std::filesystem::rename(bench.path("fleet"), bench.path("my fleet; $(id)"));
    const std::string reference = bench.path("my fleet; $(id)");
    const Said said = bench.roof({"health", "--reference", reference, "--prolog", "slurm", "--seconds", "12"});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Catch::StartsWith("#!/bin/sh\n") &&
                             Contains("health --reference '" + reference + "' --seconds 12") &&
                             Contains("timeout -k 2 17 ") && Contains("--node \"$SLURMD_NODENAME\""));
    // What is refused without --prolog is no prolog either: it would let every job run, as root.
    for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
             {"--device", "cpu;touch PWNED"}, {"--device", "gpu:0"}, {"--plan", "unknown"}}) {
        std::vector<std::string> words{"health", "--reference", reference, "--prolog", "slurm"};
        words.insert(words.end(), wrong.begin(), wrong.end());
        const Said refused = bench.roof(words);
        INFO(wrong[1]);
        CHECK(refused.status == 2);
        CHECK(refused.out.empty());
    }
    const Said none = bench.roof({"health", "--reference", "/nonexistent", "--prolog", "slurm"});
    CHECK(none.status == 2);
    CHECK(none.out.empty());
    CHECK(bench.roof({"health", "--reference", "x", "--prolog", "pbs"}).status == 2);
    CHECK(bench.roof({"health", "--reference", "x", "--seconds", "0"}).status == 2);
    CHECK(bench.roof({"health"}).status == 2);
}

TEST_CASE("health is judged by name, whatever plan and revision measured it")
{
    Fleet fleet = reference_of(31);
    Digest now = taken_from(fleet);
    CHECK(status_of(judge_health({now}, fleet)) == 0);
    CHECK(judge_health({now}, fleet).nodes == 30);
    fleet.digests.push_back(now);
    for (std::size_t c = 0; c < 8; ++c) slow_down(fleet, 30, c, 0.06);
    now = fleet.digests.back();
    const HealthFinding found = judge_health({now}, fleet);  // the node's own digest of before does not count
    CHECK(found.finding == Finding::slow);
    CHECK_THAT(health_line(found), Catch::StartsWith("n00030 is slow: cpu ") && Contains("to 30 nodes"));
}

TEST_CASE("a rate that was disturbed counts as it is, so that a loaded node is found")
{
    Fleet fleet = reference_of(31);
    for (std::size_t c = 0; c < 24; ++c) slow_down(fleet, 30, c, 0.3);
    Digest now = taken_from(fleet);
    for (DigestRate& rate : now.ceilings) rate.high = std::numeric_limits<double>::infinity();
    CHECK(status_of(judge_health({now}, fleet)) == 1);
}

TEST_CASE("a lost GPU is a finding, another kind is not judged, and nothing measured is not judged")
{
    Fleet fleet = reference_of(20);
    for (Digest& digest : fleet.digests) digest.kind = "epyc-26cpu, 8 x H100";
    Digest now = taken_from(fleet);
    now.kind = "epyc-26cpu, 7 x H100";
    const HealthFinding lost = judge_health({now}, fleet);
    CHECK(lost.finding == Finding::changed_kind);
    CHECK_THAT(health_line(lost), Contains("7 x H100") && Contains("8 x H100"));
    now.kind = "xeon-4cpu";
    CHECK(judge_health({now}, fleet).finding == Finding::not_judged);
    CHECK(health_line(judge_health({}, fleet)) == " is not judged: nothing could be measured");
    CHECK(judge_health({now}, {}).finding == Finding::not_judged);
    CHECK(status_of(judge_health({now}, {})) == 2);
}

TEST_CASE("a reference without another node of the kind is told before anything is measured")
{
    Fleet fleet = reference_of(3);
    const std::string kind = fleet.digests.front().kind, node = fleet.digests.front().node;
    CHECK_FALSE(judge_reference("other", {kind}, fleet));
    CHECK_FALSE(judge_reference("other", {"xeon-4cpu", kind}, fleet));  // of its CPU, or of its GPUs
    const auto finding = [&](const std::vector<std::string>& kinds) {
        return judge_reference("other", kinds, fleet).value();
    };
    CHECK(health_line(finding({"xeon-4cpu"})) == "other is not judged: it is xeon-4cpu, and the reference is " + kind);
    for (Digest& digest : fleet.digests) digest.kind = "epyc-26cpu, 8 x H100";
    CHECK(finding({"epyc-26cpu, 7 x H100"}).finding == Finding::changed_kind);
    fleet.digests.resize(1);
    CHECK(health_line(judge_reference(node, {kind}, fleet).value()) ==
          node + " is not judged: the reference has no other node");
    CHECK(judge_reference(node, {}, fleet));
    CHECK_FALSE(judge_reference("other", {"epyc-26cpu, 8 x H100"}, fleet));
    fleet.digests.front().ceilings.clear();
    CHECK(judge_reference("other", {"epyc-26cpu, 8 x H100"}, fleet));
}

TEST_CASE("CPU and GPUs are compared each with their own digests, and the worse counts")
{
    Fleet fleet = reference_of(20);
    Digest cpu = taken_from(fleet);
    Fleet gpus = reference_of(20);
    for (Digest& digest : gpus.digests) {
        digest.kind = "made-26cpu, 8 x H100";
        digest.plan = "gpu";
        for (DigestRate& rate : digest.ceilings) rate.name = "gpu:3" + rate.name.substr(3);
    }
    for (std::size_t c = 0; c < 8; ++c) slow_down(gpus, 19, c, 0.2);
    const Digest gpu = taken_from(gpus);
    fleet.digests.insert(fleet.digests.end(), gpus.digests.begin(), gpus.digests.end());
    CHECK(judge_health({cpu}, fleet).finding == Finding::fine);
    const HealthFinding both = judge_health({cpu, gpu}, fleet);
    CHECK(both.finding == Finding::slow);
    CHECK_THAT(both.low.front().ceiling, Catch::StartsWith("gpu:3 "));
}

namespace {

/// Rates by name; what is below 0 is a lower bound.
Digest rated(const std::string& node, const std::vector<std::pair<std::string, double>>& rates)
{
    Digest digest{.node = node, .kind = "made"};
    for (const auto& [name, x] : rates)
        digest.ceilings.push_back({name, "B/s", "steady", std::abs(x), std::abs(x), x < 0 ? HUGE_VAL : x});
    return digest;
}

std::string line_of(const std::vector<std::pair<std::string, double>>& rates, const std::vector<Digest>& others)
{
    return health_line(judge_health({rated("n", rates)}, {others}));
}

}  // namespace

TEST_CASE("lower bounds of others, also where they had rates before, count only where fewer than five have a rate")
{
    std::vector<Digest> others;
    for (int i = 0; i < 5; ++i) others.push_back(rated("a" + std::to_string(i), {{"x", 100}}));
    for (int i = 0; i < 7; ++i)
        for (const double rate : {10, -10}) others.push_back(rated("b" + std::to_string(i), {{"x", rate}}));
    others.push_back(rated("c", {}));
    CHECK(line_of({{"x", 80}}, others) == "n is slow: x at 0.800; to 12 nodes");
    others.erase(others.begin());
    CHECK(line_of({{"x", 80}}, others) == "n is fine: 1 rate; to 11 nodes");
    CHECK(line_of({{"y", 80}}, others) ==
          "n is not judged: the reference has no other node with any of what was measured; to 11 nodes");
    CHECK(line_of({{"x", 80}}, {}) == "n is not judged: the reference has no other node with any of what was measured");
}

TEST_CASE("from five other nodes on a rate, and the mean of a kind's, must lie beyond their scatter")
{
    const std::string load = "cpu bandwidth DRAM load", copy = "cpu bandwidth DRAM copy";
    std::vector<Digest> others;
    for (const double x : {100., 92., 108., 90., 110.})
        others.push_back(rated("a" + std::to_string(x), {{load, x}, {copy, x}, {"x", x}, {"y", x}}));
    // 5 * 1.4826 * |ln 0.92| = 0.618: below 53.9.
    CHECK(line_of({{"x", 55}}, others) == "n is fine: 1 rate; to 5 nodes");
    CHECK(line_of({{load, 51}, {"x", 53}, {"y", 52}}, others) ==
          "n is slow: cpu bandwidth DRAM load at 0.510, y at 0.520, x at 0.530; to 5 nodes");
    CHECK(line_of({{load, 92}, {copy, 92}}, others) == "n is fine: 2 rates; to 5 nodes");
    others.pop_back();
    // The median of four is sqrt(92 * 100).
    CHECK(line_of({{"x", 80}}, others) == "n is slow: x at 0.834; to 4 nodes");
    for (std::size_t i = 0; i < 4; ++i)
        others[i] = rated(std::to_string(i), {{load, 100}, {copy, 100}, {"x", 100}, {"y", 100}});
    CHECK(line_of({{load, 94}, {copy, 94}}, others) == "n is slow: cpu memory, mean of 2 at 0.940; to 4 nodes");
    CHECK(line_of({{load, 94}, {"x", 94}, {"y", 94}}, others) == "n is fine: 3 rates; to 4 nodes");
    CHECK(line_of({{load, 60}, {copy, 50}, {"x", 40}, {"y", 30}}, others) ==
          "n is slow: y at 0.300, x at 0.400, cpu bandwidth DRAM copy at 0.500, and 2 more; to 4 nodes");
}

TEST_CASE("a kind has lost something if it has the same parts, but fewer")
{
    const auto has_lost = [](const std::string& less, const std::string& more) {
        Digest other = rated("other", {{"x", 1}});
        other.kind = more;
        return judge_reference("n", {less}, {{other}}).value().finding == Finding::changed_kind;
    };
    for (const auto& [less, more] : {std::pair{"epyc-26cpu, 7 x H100", "epyc-26cpu, 8 x H100"},
                                     {"epyc-19cpu", "epyc-28cpu"},
                                     {"epyc-26cpu", "epyc-26cpu, 1 x H100"},
                                     {"mycpu", "my2cpu"},
                                     {"9700x-4cpu", "9700x-8cpu"}}) {
        INFO(less);
        CHECK(has_lost(less, more));
        CHECK_FALSE(has_lost(more, less));
    }
    for (const auto& [one, other] : {std::pair{"epyc-26cpu, 8 x A100", "epyc-26cpu, 8 x H100"},
                                     {"4cpu, 2 x A", "2 x A, 4cpu"},
                                     {"epyc-28cpu, 7 x H100", "epyc-19cpu, 8 x H100"},
                                     {"12", "13"},
                                     {"4epyc", "5epyc"},
                                     {"e4", "e5"}}) {
        INFO(one);
        CHECK_FALSE((has_lost(one, other) || has_lost(other, one)));
    }
}

TEST_CASE("a fleet is read down to six levels, without links, foreign files and more entries than it may have")
{
    const Workbench bench;
    const auto write = [&](const std::string& place, const std::string& node, const std::string& time) {
        Digest digest{.node = node, .kind = "k", .plan = "p", .revision = "r", .time = time};
        make_folder(bench.path(place));
        write_file(bench.path(place + "/digest.csv"), to_csv(digest));
    };
    const std::string first = "2026-11-22T18:02:16Z", second = "2026-11-23T18:02:16Z";
    write("fleet/1/2/3/4/5/6", "b", second);
    write("fleet/1/2/3/4/5/6/7", "c", first);
    write("fleet/b", "b", first);
    write("fleet/a", "a", second);
    write("elsewhere", "d", first);
    std::filesystem::create_symlink(bench.path("elsewhere"), bench.path("fleet/link"));
    make_folder(bench.path("fleet/linked"));
    std::filesystem::create_symlink(bench.path("elsewhere/digest.csv"), bench.path("fleet/linked/digest.csv"));
    make_folder(bench.path("fleet/foreign"));
    write_file(bench.path("fleet/foreign/digest.csv"), "no digest");
    std::string found;
    for (const Digest& digest : read_fleet(bench.path("fleet"), 17).digests)
        found += digest.node + digest.time[9] + " ";
    CHECK(found == "a3 b2 b3 ");
    CHECK_THROWS_WITH(read_fleet(bench.path("fleet"), 16), "a fleet has at most 1,000,000 files and folders");
}

TEST_CASE("a ceiling's kind is its device and what it measures")
{
    for (const auto& [name, kind] : {std::pair{"cpu compute core best", "cpu compute"},
                                     {"cpu latency DRAM read", "cpu latency"},
                                     {"cpu bandwidth L1 load", "cpu cache"},
                                     {"gpu:0 bandwidth DRAM load", "gpu:0 memory"},
                                     {"cpu bandwidth 1x2 ring", "cpu link"},
                                     {"cpu other DRAM load", ""},
                                     {"cpu bandwidth L1", ""},
                                     {"cpu compute core", ""}})
        CHECK(kind_of_ceiling(name) == kind);
}

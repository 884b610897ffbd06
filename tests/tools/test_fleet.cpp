// `roof fleet` from the calibrations of made-up nodes to the list of those to measure again.
#include "ert/base/files.hpp"
#include "tests/analysis/fleet/made_fleet.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <limits>

using namespace roof;
using Catch::Contains;
using tests::Said;
using tests::Workbench;

namespace {

Said measure(const Workbench& bench, const std::string& folder, const std::string& node)
{
    write_file(bench.path("plan.yaml"), "name: small\nrounds: 3\nrun:\n  - {bench: flops, operation: fma}\n");
    return bench.roof({"sweep", bench.path("plan.yaml"), "--out", bench.path(folder), "--node", node});
}

void write_digests(const analysis::Fleet& fleet, const std::filesystem::path& place)
{
    for (std::size_t i = 0; i < fleet.digests.size(); ++i) {
        const std::filesystem::path folder = place / std::to_string(i);
        make_folder(folder);
        write_file(folder / "digest.csv", analysis::to_csv(fleet.digests[i]));
    }
}

}  // namespace

TEST_CASE("a sweep of ceilings leaves a digest that fleet reads, and its node is that of the option")
{
    const Workbench bench;
    REQUIRE(measure(bench, "fleet/a", "n17").status == 0);
    CHECK(read_file(bench.path("fleet/a/digest.csv")).size() <= 10'000);
    CHECK_THAT(read_file(bench.path("fleet/a/digest.csv")), Contains("fact,node,n17,"));
    CHECK(bench.roof({"check", bench.path("fleet/a")}).status == 0);
    const Said said = bench.roof({"fleet", bench.path("fleet"), "--json"});
    CHECK(said.status == 2);
    const auto document = nlohmann::json::parse(said.out);
    REQUIRE(document["groups"].size() == 1);
    CHECK(document["groups"][0]["nodes"][0]["node"] == "n17");
    CHECK(document["groups"][0]["nodes"][0]["finding"] == "not judged");
    CHECK(document["status"] == 2);
}

TEST_CASE("a folder without a digest is digested once")
{
    const Workbench bench;
    REQUIRE(measure(bench, "fleet/a", "n17").status == 0);
    const std::string file = bench.path("fleet/a/digest.csv");
    const std::string digest = read_file(file);
    std::filesystem::remove(file);
    CHECK_THAT(bench.roof({"fleet", bench.path("fleet")}).out,
               Contains("1 node of its kind, plan and revision is too few to tell"));
    CHECK(read_file(file) == digest);
}

TEST_CASE("the digest, or the whole folder, of another node in place of a node's own is named")
{
    const Workbench bench;
    for (const std::string node : {"n1", "n2", "n3"}) REQUIRE(measure(bench, "fleet/" + node, node).status == 0);
    CHECK_THAT(bench.roof({"fleet", bench.path("fleet"), bench.path("fleet/n2")}).out, !Contains("counts once"));
    std::filesystem::copy_file(bench.path("fleet/n2/digest.csv"), bench.path("fleet/n1/digest.csv"),
                               std::filesystem::copy_options::overwrite_existing);
    const Said digest = bench.roof({"fleet", bench.path("fleet")});
    CHECK(digest.status == 2);
    CHECK_THAT(digest.out, Contains("fleet/n1") && Contains("of another run than machine.yaml"));
    CHECK(bench.roof({"check", bench.path("fleet/n1")}).status == 1);
    std::filesystem::remove_all(bench.path("fleet/n1"));
    std::filesystem::copy(bench.path("fleet/n2"), bench.path("fleet/n1"));
    const Said folder = bench.roof({"fleet", bench.path("fleet"), "--json"});
    CHECK(folder.status == 2);
    const auto refused = nlohmann::json::parse(folder.out)["refused"];
    REQUIRE(refused.size() == 1);
    CHECK_THAT(refused.dump(), Contains("fleet/n2") && Contains("fleet/n1 and counts once"));
}

TEST_CASE("a run is not continued by another node")
{
    const Workbench bench;
    REQUIRE(measure(bench, "run", "n1").status == 0);
    const Said said = measure(bench, "run", "n2");
    CHECK(said.status == 2);
    CHECK_THAT(said.err, Contains("another node, n1"));
    CHECK(bench.roof({"calibrate", "--node", "../n1"}).status == 2);
}

TEST_CASE("retest prints missing nodes, one on each line, and a page is written")
{
    const Workbench bench;
    REQUIRE(measure(bench, "fleet/a", "n17").status == 0);
    write_file(bench.path("nodes.txt"), "n17 rack=r1\nn18 rack=r1\n");
    CHECK(bench.roof({"fleet", "retest", bench.path("fleet"), "--expect", bench.path("nodes.txt")}).out ==
          "n17\nn18\n");
    CHECK(
        nlohmann::json::parse(
            bench.roof({"fleet", "retest", bench.path("fleet"), "--expect", bench.path("nodes.txt"), "--json"}).out) ==
        nlohmann::json::array({"n17", "n18"}));
    const Said said = bench.roof(
        {"fleet", bench.path("fleet"), "--expect", bench.path("nodes.txt"), "--out", bench.path("fleet.html")});
    CHECK_THAT(said.out, Contains("n18") && Contains("expected, and there is no digest"));
    CHECK(said.status == 2);
    CHECK_THAT(read_file(bench.path("fleet.html")), Contains("<h1>Fleet</h1>") && Contains("n18"));
}

TEST_CASE("a digest that is older than --max-age is too old, and an age of another form is refused")
{
    const Workbench bench;
    write_digests(tests::make_fleet({.nodes = 8, .day = "2025-11-22"}), bench.path("fleet"));
    CHECK(bench.roof({"fleet", bench.path("fleet")}).status == 0);
    const Said said = bench.roof({"fleet", bench.path("fleet"), "--max-age", "36h"});
    CHECK(said.status == 2);
    CHECK_THAT(said.out, Contains("8 too old") && Contains("n00007"));
    CHECK(bench.roof({"fleet", bench.path("fleet"), "--max-age", "100000d"}).status == 0);
    for (const char* age : {"0", "-1d", "soon", "d"})
        CHECK(bench.roof({"fleet", bench.path("fleet"), "--max-age", age}).status == 2);
}

TEST_CASE("fleet script prints a script and starts nothing")
{
    const Workbench bench;
    const Said said =
        bench.roof({"fleet", "script", "slurm", "--nodes", "n[1-2]", "--at-once", "3", "--out", "/shared/f"});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Contains("for node in n1 n2; do") && Contains("results=/shared/f") && Contains("%3"));
    write_file(bench.path("nodes.txt"), "n5 rack=r1\n");
    CHECK_THAT(bench.roof({"fleet", "script", "parallel", "--nodes", bench.path("nodes.txt")}).out,
               Contains("::: n5\n"));
    CHECK_THAT(bench.roof({"fleet", "script", "pbs", "--device", "gpu", "--plan", "calibrate/gpu-quick"}).out,
               Contains("roof calibrate --device gpu --side-by-side --plan calibrate/gpu-quick --node $node"));
    CHECK_THAT(bench.roof({"fleet", "script", "slurm", "--plan", "calibrate/gpu"}).out,
               Contains("roof calibrate --device gpu --side-by-side --plan calibrate/gpu --node"));
    for (const char* option : {"--at-once", "--minutes", "--gpus"})
        CHECK(bench.roof({"fleet", "script", "slurm", option, "0"}).status == 2);
    CHECK(bench.roof({"fleet", "script"}).status == 2);
    CHECK(bench.roof({"fleet", "retest"}).status == 2);
}

TEST_CASE("fleet history of digests whose rates are all lower bounds tells nothing, and says so")
{
    const Workbench bench;
    analysis::Fleet fleet = tests::make_fleet({.nodes = 2}, {"2026-09-01"});
    for (analysis::Digest& digest : fleet.digests)
        for (analysis::DigestRate& rate : digest.ceilings) rate.high = std::numeric_limits<double>::infinity();
    write_digests(fleet, bench.path("fleet"));
    for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--json"}}) {
        std::vector<std::string> words{"fleet", "history", bench.path("fleet")};
        words.insert(words.end(), options.begin(), options.end());
        const Said said = bench.roof(words);
        CHECK(said.status == 2);
        if (options.empty()) CHECK_THAT(said.out, Contains("Each rate is a lower bound"));
    }
}

TEST_CASE("fleet history names the node that drifted, in the terminal, in JSON and on a page")
{
    const Workbench bench;
    analysis::Fleet fleet =
        tests::make_fleet({.nodes = 12, .ceilings = 2, .daily = 0.003},
                          {"2026-09-01", "2026-09-08", "2026-09-15", "2026-09-22", "2026-09-29", "2026-10-06"});
    write_digests(fleet, bench.path("fleet"));
    CHECK(bench.roof({"fleet", "history", bench.path("fleet")}).status == 0);
    for (std::size_t week = 3; week < 6; ++week) tests::slow_down(fleet, 4 * 6 + week, 1, 0.08);
    write_digests(fleet, bench.path("fleet"));
    const Said said = bench.roof({"fleet", "history", bench.path("fleet"), "--out", bench.path("page.html")});
    CHECK(said.status == 1);
    CHECK_THAT(said.out, Contains("n00004") && Contains("2026-09-21") && Contains("1 drifted"));
    CHECK_THAT(read_file(bench.path("page.html")), Contains("n00004"));
    const auto document =
        nlohmann::json::parse(bench.roof({"fleet", "history", bench.path("fleet"), "--json", "--anonymise"}).out);
    const auto& row = document["sections"][0]["tables"][0]["rows"][0];
    CHECK(row["since"] == "2026-09-21");
    CHECK(row["node"].get<std::string>().starts_with("node-"));
}

TEST_CASE("fleet compare names the ceiling that all nodes lost, and the node that lost more")
{
    const Workbench bench;
    analysis::Fleet fleet = tests::make_fleet({.nodes = 20, .ceilings = 3});
    write_digests(fleet, bench.path("a"));
    CHECK(bench.roof({"fleet", "compare", bench.path("a"), bench.path("a")}).status == 0);
    for (std::size_t node = 0; node < 20; ++node) tests::slow_down(fleet, node, 1, 0.1);
    tests::slow_down(fleet, 7, 2, 0.2);
    write_digests(fleet, bench.path("b"));
    const Said said = bench.roof({"fleet", "compare", bench.path("a"), bench.path("b")});
    CHECK(said.status == 1);
    CHECK_THAT(said.out, Contains("0.900 [0.900, 0.900]") && Contains("slower") && Contains("n00007"));
    CHECK_THAT(bench.roof({"fleet", "compare", bench.path("a"), bench.path("b"), "--anonymise"}).out,
               !Contains("n0000"));
    CHECK(bench.roof({"fleet", "compare", bench.path("a")}).status == 2);
}

TEST_CASE("fleet names a slow uplink as links")
{
    const Workbench bench;
    const analysis::Fleet fleet = tests::make_links({.nodes = 16, .per_switch = 4, .slow_uplink = 0.3});
    write_digests(fleet, bench.path("fleet"));
    const Said said = bench.roof({"fleet", bench.path("fleet")});
    CHECK(said.status == 1);
    CHECK_THAT(said.out, Contains("120 links of 16 nodes") && Contains("links between nodes and others") &&
                             Contains("n00004 n00005 n00006 n00007"));
    const auto document = nlohmann::json::parse(bench.roof({"fleet", bench.path("fleet"), "--json"}).out);
    REQUIRE(document["links"].size() == 1);
    CHECK(document["links"][0]["fault"] == "links between nodes and others");
    CHECK(document["networks"][0]["links"] == 120);
}

TEST_CASE("atlas shows the machines that come with roof and one of one's own, and adds it without its node")
{
    const Workbench bench;
    const std::string own = std::string(ROOF_TEST_DATA) + "/../method/data/epyc-zen4-1";
    const auto names = [](const Said& said) {
        std::vector<std::string> all;
        for (const auto& row : nlohmann::json::parse(said.out)) all.push_back(row["machine"]);
        return all;
    };
    const std::vector<std::string> built_in = names(bench.roof({"atlas", "--json"}));
    CHECK(built_in.size() >= 5);
    CHECK(std::ranges::find(built_in, "nvidia-h100-80gb-hbm3") != built_in.end());
    CHECK(names(bench.roof({"atlas", own, "--json"})).size() == built_in.size() + 1);

    CHECK(bench.roof({"atlas", "add", own, "my-machine", "--out", bench.path("atlas")}).status == 0);
    const std::string digest = read_file(bench.path("atlas/my-machine.csv"));
    CHECK_THAT(digest, Contains("fact,node,unknown,"));
    CHECK(names(bench.roof({"atlas", bench.path("atlas"), "--json"})) == std::vector<std::string>{"my-machine"});
    CHECK(bench.roof({"atlas", bench.path("atlas"), "--out", bench.path("atlas.html")}).status == 0);
    CHECK_THAT(read_file(bench.path("atlas.html")), Contains("<h1>Atlas of measured roofs</h1>"));
    CHECK(bench.roof({"atlas", "add", own, "My Machine"}).status == 2);
    CHECK(bench.roof({"atlas", bench.path("none")}).status == 2);
}

// Folders that anybody may have written, and scripts.
#include "analysis/fleet/fleet_scripts.hpp"
#include "analysis/fleet/fleet_tables.hpp"
#include "analysis/fleet/node_list.hpp"
#include "ert/base/error.hpp"
#include "tests/analysis/fleet/made_fleet.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <yaml-cpp/yaml.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

void write_digests(const Fleet& fleet, const fs::path& root, bool reversed = false)
{
    for (std::size_t k = 0; k < fleet.digests.size(); ++k) {
        const std::size_t i = reversed ? fleet.digests.size() - 1 - k : k;
        const fs::path folder = root / ((reversed ? "z" : "a") + std::to_string(k));
        make_folder(folder);
        write_file(folder / "digest.csv", to_csv(fleet.digests[i]));
    }
}

}  // namespace

TEST_CASE("the findings do not depend on the order of the files")
{
    const fakes::TemporaryFolder folder;
    Fleet fleet = tests::make_fleet({.nodes = 20});
    tests::slow_down(fleet, 7, 3, 0.2);
    write_digests(fleet, folder / "a");
    write_digests(fleet, folder / "b", true);
    const std::string one = fleet_text(report_of(judge(read_fleet({folder / "a"}))));
    CHECK(one == fleet_text(report_of(judge(read_fleet({folder / "b"})))));
    Fleet half = fleet, other = fleet;
    half.digests.resize(9);
    other.digests.erase(other.digests.begin(), other.digests.begin() + 9);
    write_digests(half, folder / "c");
    write_digests(other, folder / "d");
    CHECK(one == fleet_text(report_of(judge(read_fleet({folder / "c", folder / "d"})))));
    CHECK(one == fleet_text(report_of(judge(read_fleet({folder / "d", folder / "c"})))));
    CHECK_THAT(one, Contains("20 nodes: 1 slow") && Contains("n00007"));
}

TEST_CASE("a bad folder is one row with its reason, and the others stay usable")
{
    const fakes::TemporaryFolder folder;
    const fs::path root = folder / "fleet";
    write_digests(tests::make_fleet({.nodes = 12}), root);
    const auto make = [&](const std::string& name) {
        make_folder(root / name);
        return root / name / "digest.csv";
    };
    fs::create_symlink(root / "a0" / "digest.csv", make("link"));
    fs::create_directory_symlink(root / "a0", root / "linked-folder");
    write_file(make("long"), std::string(2 << 20, 'x'));
    write_file(make("empty"), "");
    write_file(make("<script>"), "what\n");
    make_folder(root / "huge");
    write_file(root / "huge" / "measurements.csv", "id\n");
    fs::resize_file(root / "huge" / "measurements.csv", 65 << 20);
    const Fleet fleet = read_fleet({root});
    CHECK(fleet.digests.size() == 12);
    REQUIRE(fleet.refused.size() == 5);
    const FleetFindings findings = judge(fleet);
    CHECK_THAT(fleet_text(report_of(findings)),
               Contains("is no regular file") && Contains("larger than") && Contains("more than 64 MiB"));
    CHECK_THAT(fleet_page(report_of(findings)), Contains("&lt;script&gt;") && !Contains("<script>"));
    CHECK(fleet_json(findings)["refused"].size() == 5);
}

TEST_CASE("an anonymised fleet names no node, rack or folder")
{
    Fleet fleet = tests::make_fleet({.nodes = 12});
    fleet.expected = {{"n00003", {{"rack", "secret"}}}, {"gone", {}}};
    fleet.refused = {{"/home/somebody", "somebody"}};
    anonymise({&fleet});
    const FleetFindings findings = judge(fleet);
    const std::string all = fleet_json(findings).dump() + fleet_page(report_of(findings));
    for (const char* word : {"n0000", "secret", "somebody", "gone"}) CHECK_THAT(all, !Contains(word));
    CHECK(findings.groups.at(0).nodes.size() == 12);
}

TEST_CASE("the nodes to measure again are the undecided, the missing, and the slow of one day")
{
    Fleet fleet = tests::make_fleet({.nodes = 20, .scatter = 0.003, .noise = 0.002});
    tests::slow_down(fleet, 7, 3, 0.2);
    fleet.expected = {{"gone", {}}};
    CHECK(nodes_to_retest(judge(fleet)) == std::vector<std::string>{"gone", "n00007"});
}

TEST_CASE("expected nodes are read with their facts, and wrong lines are refused")
{
    const fakes::TemporaryFolder folder;
    const fs::path file = folder / "nodes.txt";
    write_file(file, "# nodes\nn1 rack=r3  switch=s1\n\nn2\n");
    const auto nodes = read_expected(file);
    REQUIRE(nodes.size() == 2);
    CHECK(nodes[0].facts.at("switch") == "s1");
    for (const char* text : {"../n1\n", "n1\nn1\n", "n1 rack\n"}) {
        write_file(file, text);
        CHECK_THROWS_AS(read_expected(file), InputError);
    }
}

TEST_CASE("a digest that lacks rates is said to")
{
    const fakes::TemporaryFolder folder;
    Fleet fleet = tests::make_fleet({.nodes = 8, .ceilings = 2});
    write_digests(fleet, folder.path());
    CHECK(read_fleet({folder.path()}).notes.empty());
    for (const std::size_t node : {2, 5})
        fleet.digests[node].facts["left out"] = "413";  // as 10 kB left out of eight GPUs
    write_digests(fleet, folder.path());
    CHECK_THAT(fleet_text(report_of(judge(read_fleet({folder.path()})))), Contains("2 of 8 digests lack rates"));
}

TEST_CASE("a list of nodes has ranges as Slurm writes them")
{
    CHECK(node_list("n[08-10,12],login1") == std::vector<std::string>{"n08", "n09", "n10", "n12", "login1"});
    CHECK(node_list("n1 n2\nn3").size() == 3);
    CHECK(node_list("r[1-2]n[01,03]-ib") == std::vector<std::string>{"r1n01-ib", "r1n03-ib", "r2n01-ib", "r2n03-ib"});
    CHECK(node_list("a[1-2]b[3]c[5-6]") == std::vector<std::string>{"a1b3c5", "a1b3c6", "a2b3c5", "a2b3c6"});
    for (const char* text : {"n[1-", "n[3-1]", "n[1-x]", "n;rm", "$(id)", "-n1", "n[0-999999999]", "n[1-2]]",
                             "r[1-2]n[1-", "n[[1-2]]", "n[1-400]m[1-400]"})
        CHECK_THROWS_AS(node_list(text), InputError);
}

// tests/tools/test_fleet_scripts.py runs them.
TEST_CASE("a script is for known engines and devices, and holds nothing that a shell could misread")
{
    const FleetScript usual{
        .engine = "slurm", .plan = "calibrate/cpu", .nodes = {"n1", "n2"}, .results = "/shared/fleet"};
    for (const char* engine : {"slurm", "pbs", "parallel"}) {
        FleetScript script = usual;
        script.engine = engine;
        CHECK_THAT(fleet_script(script), Contains("n1 n2") && Contains("roof sweep calibrate/cpu --node "));
        script.plan = "x; rm -rf";
        CHECK_THROWS_AS(fleet_script(script), InputError);
    }
    const auto refused = [&](auto change) {
        FleetScript script = usual;
        change(script);
        CHECK_THROWS_AS(fleet_script(script), InputError);
    };
    refused([](FleetScript& s) { s.engine = "lsf"; });
    refused([](FleetScript& s) { s.plan.clear(); });
    refused([](FleetScript& s) { s.devices = {"gpu:0"}; });
    refused([](FleetScript& s) { s.devices = {"cpu", "gpu"}; });
    refused([](FleetScript& s) { s.results = "-x"; });
    refused([](FleetScript& s) {
        s.engine = "parallel";
        s.nodes.clear();
    });
}

// The required fields and limits of the Job, Pod and ResourceQuota of Kubernetes' published API (batch/v1, v1).
TEST_CASE("the manifest has the fields that Kubernetes requires")
{
    FleetScript script{
        .engine = "kubernetes", .plan = "calibrate/cpu", .nodes = {"Node_1.site", "n2"}, .results = "/results"};
    CHECK_THROWS_WITH(fleet_script(script), Contains("--image"));
    script.image = "registry/roof:1";
    script.claim = "shared";
    script.plan.clear();
    script.devices = {"cpu", "gpu"};
    script.gpus = 4;
    std::size_t jobs = 0;
    for (const YAML::Node& document : YAML::LoadAll(fleet_script(script))) {
        REQUIRE(document["apiVersion"]);
        const auto name = document["metadata"]["name"].as<std::string>();
        CHECK(name.size() <= 63);
        CHECK(std::ranges::all_of(name,
                                  [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }));
        if (document["kind"].as<std::string>() != "Job") continue;
        ++jobs;
        CHECK(document["apiVersion"].as<std::string>() == "batch/v1");
        const YAML::Node pod = document["spec"]["template"]["spec"];
        CHECK(pod["restartPolicy"].as<std::string>() == "Never");
        // A node that was cordoned, and one whose GPUs are kept from other Pods, have taints of this effect.
        CHECK(pod["tolerations"][0]["operator"].as<std::string>() == "Exists");
        CHECK(pod["tolerations"][0]["effect"].as<std::string>() == "NoSchedule");
        const YAML::Node container = pod["containers"][0];
        CHECK(container["resources"]["limits"]["nvidia.com/gpu"].as<int>() == 4);
        for (const char* field : {"name", "image", "command"}) CHECK(container[field]);
        CHECK(container["volumeMounts"][0]["name"].as<std::string>() == pod["volumes"][0]["name"].as<std::string>());
        CHECK(container["volumeMounts"][0]["mountPath"].as<std::string>() == "/results");
        CHECK(pod["volumes"][0]["persistentVolumeClaim"]["claimName"].as<std::string>() == "shared");
        const YAML::Node rule = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
        CHECK(rule["topologyKey"].as<std::string>() == "kubernetes.io/hostname");
        CHECK(document["spec"]["template"]["metadata"]["labels"]["app"].as<std::string>() ==
              rule["labelSelector"]["matchLabels"]["app"].as<std::string>());
    }
    CHECK(jobs == 2);
}

// `roof place` under the calibration of this machine and of a folder.
#include "ert/base/files.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;
using Catch::Contains;
using tests::Workbench;

namespace {

/// Measures the roofs of the fake machine: 100 GFLOP/s with two threads.
void measure_roofs(const Workbench& bench, const std::vector<std::string>& options = {})
{
    write_file(bench.path("roofs.yaml"), "run:\n  - bench: flops\n  - bench: bandwidth\n");
    std::vector<std::string> words{"sweep", bench.path("roofs.yaml")};
    words.insert(words.end(), options.begin(), options.end());
    REQUIRE(bench.roof(words).status == 0);
}

}  // namespace

TEST_CASE("a point is placed under this machine's calibration, as text, document and page")
{
    const Workbench bench;
    measure_roofs(bench);
    const auto said = bench.roof({"place", "--flops", "2e12", "--bytes", "3e10", "--seconds", "1.4", "--name", "mine",
                                  "--out", bench.path("page.html")});
    INFO(said.err);
    REQUIRE(said.status == 0);
    CHECK_THAT(said.out, Contains("mine") && Contains("Roofs: the calibration"));
    CHECK_THAT(read_file(bench.path("page.html")), Contains("<svg") && Contains(">mine<"));
    const auto document =
        nlohmann::json::parse(bench.roof({"place", "--flops", "2e12", "--seconds", "1.4", "--json"}).out);
    CHECK(document["points"][0]["rate_flop_per_s"] == Approx(2e12 / 1.4));
    CHECK_THAT(document["points"][0]["note"].get<std::string>(), Contains("bytes are unknown"));
}

TEST_CASE("a file of points is placed under the calibration of a folder")
{
    const Workbench bench;
    measure_roofs(bench, {"--out", bench.path("there")});
    write_file(bench.path("points.csv"), "name,flops,bytes,seconds\nfirst,1e9,1e9,1\nsecond,1e9,,2\n");
    const auto said = bench.roof({"place", bench.path("points.csv"), "--on", bench.path("there")});
    INFO(said.err);
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Contains("first") && Contains("second"));
}

TEST_CASE("a point is refused without numbers, without a calibration, and on a device that was not calibrated")
{
    const Workbench bench;
    const std::vector<std::string> point{"place", "--flops", "1", "--seconds", "1"};
    CHECK_THAT(bench.roof({"place", "--flops", "1"}).err, Contains("--flops and --seconds"));
    CHECK_THAT(bench.roof({"place", "--flops", "no", "--seconds", "1"}).err, Contains("--flops: 'no'"));
    CHECK_THAT(bench.roof({"place", "points.csv", "--flops", "1"}).err, Contains("leave out --flops"));
    CHECK_THAT(bench.roof(point).err, Contains("no calibration yet"));
    measure_roofs(bench);
    auto elsewhere = point;
    elsewhere.insert(elsewhere.end(), {"--device", "gpu:7"});
    CHECK_THAT(bench.roof(elsewhere).err, Contains("unknown device 'gpu:7'"));
}

TEST_CASE("amounts may have a prefix and their unit, and a rate far above the roof is told as a multiple of it")
{
    const Workbench bench;
    measure_roofs(bench);
    const auto points = [&](const std::vector<std::string>& amounts) {
        std::vector<std::string> words{"place"};
        words.insert(words.end(), amounts.begin(), amounts.end());
        return bench.roof(words);
    };
    const auto document =
        nlohmann::json::parse(points({"--flops", "2TFLOP", "--bytes", "30GB", "--seconds", "1.4", "--json"}).out);
    CHECK(document["points"][0]["flops"] == 2e12);
    CHECK(document["points"][0]["bytes"] == 3e10);
    CHECK_THAT(points({"--flops", "1", "--bytes", "3XB", "--seconds", "1"}).err, Contains("--bytes: '3XB'"));
    // 1e15 FLOP in 1 s at 100 GFLOP/s are 10,000 times the roof.
    CHECK_THAT(points({"--flops", "1e15", "--seconds", "1"}).out, Contains("10,000 times") && !Contains("100%"));
}

TEST_CASE("a point is placed under a data sheet, whose roofs are spec")
{
    const Workbench bench;
    const std::vector<std::string> words{"place",     "--flops", "2e12", "--bytes", "30e9",
                                         "--seconds", "1",       "--on", "a100"};
    const auto with = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = words;
        all.insert(all.end(), more.begin(), more.end());
        return bench.roof(all);
    };
    const auto said = with({"--out", bench.path("page.html")});
    INFO(said.err);
    REQUIRE(said.status == 0);
    CHECK_THAT(said.out, Contains("Roofs: the data sheet of a100-sxm4-40gb (spec).") && !Contains("measured"));
    CHECK_THAT(read_file(bench.path("page.html")), Contains("class=\"roof mix\"") && !Contains("class=\"roof\""));
    const auto document = nlohmann::json::parse(with({"--json", "--device", "cuda:0"}).out);
    CHECK(document["roofs_known"] == "spec");
    CHECK(document["points"][0]["attainable_s"] == Approx(2e12 / 19.5e12));  // 30e9 / 1555e9 is less
    CHECK(document["points"][0]["binds"] == "fp32");
    CHECK_THAT(with({"--device", "cpu"}).err, Contains("unknown device 'cpu'"));
}

TEST_CASE("a chip is a file: a step is placed under one that nobody knew, by its name")
{
    const Workbench bench;
    write_file(bench.path("made-chip.yaml"),
               "name: made-chip\ntitle: Made Chip of 32 GB\nkind: gpu\npeaks: {fp16: 200e12}\n"
               "levels:\n  - {name: DRAM, bandwidth: 1e12, capacity: 32e9}\nsources: [made by this test]\n");
    const auto said = bench.roof({"place", "--flops", "5e12", "--bytes", "1e10", "--seconds", "0.05", "--precision",
                                  "fp16", "--on", bench.path("made-chip.yaml")});
    INFO(said.err);
    REQUIRE(said.status == 0);
    // 500 FLOPs a byte are above the ridge point of 200; 100 TFLOP/s are half of the peak.
    CHECK_THAT(said.out, Contains("Roofs: the data sheet of made-chip (spec).") && Contains("50% reached"));
    write_file(bench.path("wrong.yaml"), "name: wrong\npeaks: {fp16: -1}\n");
    const auto refused = bench.roof({"place", "--flops", "1", "--seconds", "1", "--on", bench.path("wrong.yaml")});
    CHECK(refused.status == 2);
    CHECK_THAT(refused.err, Contains("wrong.yaml"));
}

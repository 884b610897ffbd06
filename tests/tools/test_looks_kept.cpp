// The looks that commands keep, on synthetic probes.
#include "ert/method/results/look_file.hpp"
#include "tests/tools/probing.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace roof;
using nlohmann::json;
using tests::calibrate;
using tests::probing_registry;
using tests::roof_on;
using tests::Workbench;

namespace {

std::filesystem::path looks_of(const Workbench& bench)
{
    return looks_file_of(bench.folder / "results" / "fake-2cpu", fakes::fake_machine());
}

/// As if its looks had been taken eleven minutes earlier, by a run that is gone.
void age_looks(const Workbench& bench)
{
    const Looks looks = looks_in({looks_of(bench)}, fakes::fake_machine());
    REQUIRE_FALSE(looks.seen.empty());
    std::vector<Ceiling> ceilings;
    for (const Look& one : looks.seen) ceilings.push_back(one.ceiling);
    std::filesystem::remove(looks_of(bench));
    std::filesystem::create_directories(bench.folder / "elsewhere" / "gone");
    add_look(bench.folder / "elsewhere" / "gone", bench.folder / "results" / "fake-2cpu", true, fakes::fake_machine(),
             ceilings, looks.newest() - 660);
}

}  // namespace

TEST_CASE("a calibration eleven minutes later shows what is steady, with the number of looks and their time")
{
    const Workbench bench;
    const json first = json::parse(calibrate({"--quick", "--json"}, bench).out);
    for (const json& ceiling : first.at("ceilings")) {
        CHECK(ceiling.at("steadiness") == "seen once");
        CHECK(ceiling.at("looks") == 1);
    }
    age_looks(bench);
    const json second = json::parse(calibrate({"--quick", "--json"}, bench).out);
    for (const json& ceiling : second.at("ceilings")) {
        CHECK(ceiling.at("steadiness") == "steady");
        CHECK(ceiling.at("looks") == 2);
        CHECK(ceiling.at("looks_over_seconds").get<double>() >= 660);
    }
    CHECK_THAT(calibrate({"--quick"}, bench).out, Catch::Contains("steady (2 looks over 11 min"));
    // A calibration that is slower by a half changes no roof, and is compared by its own rounds.
    const json slower = json::parse(calibrate({"--quick", "--json"}, bench, 1.5).out);
    CHECK(slower.at("ceilings").at(0).at("median") == second.at("ceilings").at(0).at("median"));
    CHECK(slower.at("drift").at("moved").size() == slower.at("drift").at("compared"));
}

TEST_CASE(
    "a sweep adds a round of a roof that is not steady, ten minutes after the last look and in a hundredth of its time")
{
    const Workbench bench;
    REQUIRE(calibrate({"--quick"}, bench).status == 0);
    const std::filesystem::path plan = bench.folder / "one.yaml";
    std::ofstream(plan) << "name: one\nrun:\n  - {bench: flops, operation: fma, precision: fp32}\n";
    const auto sweep = [&](const std::string& out, double slowdown) {
        const auto said = roof_on(bench, {"sweep", plan.string(), "--out", bench.path(out)},
                                  [&] { return probing_registry(bench.clock, slowdown); });
        CAPTURE(said.err);
        CHECK(said.status == 0);
        return looks_in({looks_of(bench)}, fakes::fake_machine()).seen.size();
    };
    const std::size_t calibrated = looks_in({looks_of(bench)}, fakes::fake_machine()).seen.size();
    const double takes_seconds = 5000;  // for each launch of 1 ms
    CHECK(sweep("too early", takes_seconds) == calibrated);
    age_looks(bench);
    CHECK(sweep("too short", 1) == calibrated);
    // The first round takes longer than 0.3 s, so that there is no second.
    CHECK(sweep("long", takes_seconds) == calibrated + 1);
    CHECK(sweep("again", takes_seconds) == calibrated + 1);
    CHECK(looks_at(bench.folder / "again", fakes::fake_machine()).seen.size() == calibrated + 1);
}

TEST_CASE("what stands in the place of the machine's file of looks ends no command")
{
    const Workbench bench;
    REQUIRE(calibrate({"--quick"}, bench).status == 0);
    std::filesystem::remove(looks_of(bench));
    std::filesystem::create_directory(looks_of(bench));
    const auto said = calibrate({"--quick", "--json"}, bench);
    CHECK(said.status == 0);
    CHECK_THAT(said.err, Catch::Contains("the look at the ceilings is not kept: cannot read ") &&
                             Catch::Contains("it is a folder"));
    CHECK(json::parse(said.out).contains("ceilings"));
    CHECK(bench.roof({"run", "tinynet", "--batch", "4"}).status == 0);
    const auto newest = bench.roof({"report", "--brief", "--out", bench.path("page.html")});
    CHECK(newest.status == 0);
    CHECK(newest.err.empty());
}

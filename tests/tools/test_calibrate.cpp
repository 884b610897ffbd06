// Calibrating by the plans in the binary, on made-up probes that take whatever axes those plans name.
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;
using nlohmann::json;
using tests::Workbench;

namespace {

constexpr double launch_seconds = 1e-3;

fakes::FakeSubject::Script compute_script(const Point& point)
{
    fakes::FakeSubject::Script script;
    script.work.flops = Flops{50e9 * static_cast<double>(point.integer("threads")) * launch_seconds};
    script.rest_seconds = launch_seconds;
    return script;
}

fakes::FakeSubject::Script bandwidth_script(const Point& point)
{
    fakes::FakeSubject::Script script;
    const double rate = point.integer("working_set") <= 1 << 20 ? 400e9 : 50e9;
    script.work.compulsory = script.work.no_reuse = Bytes{rate * launch_seconds};
    script.rest_seconds = launch_seconds;
    return script;
}

Lab probing_lab(const fakes::ManualClock& clock)
{
    const Axis operation{"operation", "anything", {"load"}, {}};
    const Axis isa{"isa", "anything", {"avx2"}, {}};
    const Axis precision{"precision", "number format", {"fp32"}, {"fp32", "fp64"}};
    const Axis threads{"threads", "threads", {"1", "2"}, {}, true, 1, 2};
    Axis working_set{"working_set", "bytes", {}, {}, true, 1024, 1LL << 40};
    for (long long size = 8192; size <= 1 << 28; size *= 2) working_set.usual.push_back(std::to_string(size));
    Lab lab;
    lab.machine() = fakes::fake_machine();
    lab.add(std::make_unique<fakes::FakeBench>("flops", Role::compute, std::vector{operation, isa, precision, threads},
                                               compute_script, clock));
    lab.add(std::make_unique<fakes::FakeBench>(
        "bandwidth", Role::bandwidth, std::vector{operation, isa, threads, working_set}, bandwidth_script, clock));
    return lab;
}

tests::Said calibrate(const std::vector<std::string>& options)
{
    const Workbench bench;
    std::vector<std::string> words{"calibrate"};
    words.insert(words.end(), options.begin(), options.end());
    std::ostringstream out;
    std::ostringstream err;
    const auto lab = [&] { return probing_lab(bench.clock); };
    const auto never = [] { return false; };
    const int status =
        run_command_line(words, {out, err, lab, bench.clock.clock(), Terminal{}, never, bench.folder / "results"});
    return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("calibrate --json is a document of ceilings with their units, and nothing else is on standard output")
{
    const auto said = calibrate({"--quick", "--json"});
    INFO(said.err);
    REQUIRE(said.status == 0);
    const json ceilings = json::parse(said.out).at("ceilings");
    const auto is_roof = [](const json& c) {
        return c.at("kind") == "compute" && c.at("threads") == 2 && c.at("precision") == "fp32" &&
               c.at("unit") == "FLOP/s" && c.at("median").get<double>() == Approx(100e9);
    };
    CHECK(std::any_of(ceilings.begin(), ceilings.end(), is_roof));
    CHECK(std::any_of(ceilings.begin(), ceilings.end(), [](const json& c) { return c.at("kind") == "bandwidth"; }));
}

TEST_CASE("calibrate --threads measures with that many threads only")
{
    const auto said = calibrate({"--quick", "--json", "--threads", "1"});
    REQUIRE(said.status == 0);
    for (const json& ceiling : json::parse(said.out).at("ceilings")) CHECK(ceiling.at("threads") == 1);
}

TEST_CASE("calibrate ends with the folder that holds its rows")
{
    const auto said = calibrate({});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Catch::Contains("results/fake-2cpu/"));
    CHECK_THAT(said.err, Catch::Contains("] ok flops cpu operation="));
}

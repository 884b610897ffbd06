// Repeated calibration: which earlier calibration is used, and the drift report.
#include "tests/tools/workbench.hpp"
#include "tools/roof/reading/study.hpp"

#include <catch2/catch.hpp>

#include <fstream>

using namespace roof;

namespace {

constexpr const char* plan =
    "rounds: 2\nrun:\n  - bench: flops\n    isa: avx2\n  - bench: bandwidth\n    operation: load\n";

/// Runs a sweep of the plan into results/fake-2cpu/<name>.
std::filesystem::path sweep(const tests::Workbench& bench, const std::string& name, const std::string& only = "")
{
    std::ofstream(bench.folder / "plan.yaml") << plan;
    const std::filesystem::path folder = bench.path("results/fake-2cpu/" + name);
    std::vector<std::string> words{"sweep", bench.path("plan.yaml"), "--out", folder.string()};
    if (!only.empty()) words.insert(words.end(), {"--only", only});
    REQUIRE(bench.roof(words).status == 0);
    return folder;
}

std::optional<analysis::Comparison> drift_of(const tests::Workbench& bench, const std::filesystem::path& now)
{
    const BenchRegistry registry = fakes::fake_registry(bench.clock);
    std::ostringstream out;
    std::ostringstream err;
    Context context{{.out = out, .err = err, .assemble = {}, .clock = bench.clock.clock(), .terminal = {}}, registry};
    context.results = bench.path("results");
    return drift_since_last(read_results(now), Scheduler(load_plan(bench.path("plan.yaml")), registry), context);
}

}  // namespace

TEST_CASE("drift compares with the newest complete calibration by the same plan")
{
    const tests::Workbench bench;
    sweep(bench, "2026-01-01");
    sweep(bench, "2026-01-02");
    sweep(bench, "2026-01-03", "*bandwidth*");
    const auto now = sweep(bench, "2026-01-04");
    std::filesystem::create_directories(bench.folder / "results/fake-2cpu/2026-01-05-damaged");
    const auto drift = drift_of(bench, now);
    REQUIRE(drift);
    CHECK(drift->a == bench.path("results/fake-2cpu/2026-01-02"));
    CHECK(drift->ceilings.size() > 4);
    CHECK(analysis::moved(*drift).empty());
}

TEST_CASE("a first calibration has no drift")
{
    const tests::Workbench bench;
    CHECK_FALSE(drift_of(bench, sweep(bench, "2026-01-01")));
}

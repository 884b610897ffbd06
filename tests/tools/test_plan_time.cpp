// How long a plan will take, said by a dry run.
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace roof;
using tests::Workbench;

namespace {

/// Steps of the fake machine take 10 ms an image; two warm-ups and a budget of a second.
std::string plan_of(const Workbench& bench, const std::string& name, const std::string& batch)
{
    std::ofstream(bench.folder / name) << "measure: {warmup: 2, min_samples: 5, max_samples: 20, budget_seconds: 1}\n"
                                          "run:\n  - bench: train\n    model: tinynet\n    batch: " +
                                              batch + "\n";
    return bench.path(name);
}

nlohmann::json dry_run(const Workbench& bench, const std::string& plan)
{
    const tests::Said said = bench.roof({"sweep", plan, "--dry-run", "--json"});
    INFO(said.err);
    REQUIRE(said.status == 0);
    return nlohmann::json::parse(said.out);
}

}  // namespace

TEST_CASE("items without earlier rows and without ceilings take their time budgets")
{
    const Workbench bench;
    const auto time = dry_run(bench, plan_of(bench, "plan.yaml", "[4, 8]"));
    CHECK(time.at("budgeted") == 2);
    CHECK(time.at("estimated_seconds").get<double>() == Approx(2 * (1 + 0.5)));
}

TEST_CASE("items that were measured before take their launches, as many as the plan's budget allows")
{
    const Workbench bench;
    REQUIRE(bench.roof({"sweep", plan_of(bench, "earlier.yaml", "[4, 32]")}).status == 0);
    const auto time = dry_run(bench, plan_of(bench, "plan.yaml", "[4, 32, 64]"));
    CHECK(time.at("remembered") == 2);
    CHECK(time.at("budgeted") == 1);
    // The earlier run took 20 samples, or what a second allows but five at least: an interval of a step ends nothing.
    const double launches = (2 + 20) * 0.04 + (2 + 5) * 0.32;
    const double seconds = time.at("estimated_seconds").get<double>();
    CHECK(seconds >= launches + 1);
    CHECK(seconds <=
          launches + 1 + 3 * 1.5);  // making a subject, half a second where it is not known; starts are whole seconds
}

TEST_CASE("steps that were not measured before are predicted from the ceilings")
{
    const Workbench bench;
    std::ofstream(bench.folder / "ceilings.yaml") << "run:\n  - bench: flops\n  - bench: bandwidth\n";
    REQUIRE(bench.roof({"sweep", bench.path("ceilings.yaml")}).status == 0);
    std::ofstream(bench.folder / "plan.yaml") << "measure: {warmup: 0, min_samples: 1, max_samples: 1}\n"
                                                 "run:\n  - {bench: train, model: resnet18, batch: [8, 16]}\n";
    const auto time = dry_run(bench, bench.path("plan.yaml"));
    CHECK(time.at("predicted") == 2);
    CHECK(time.at("estimated_seconds").get<double>() > 2 * 0.5);
}

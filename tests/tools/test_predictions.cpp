// Predictions made before rows are measured.
#include "ert/base/files.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

using namespace roof;
using Catch::Contains;
using tests::Said;
using tests::Workbench;

namespace {

std::string plan_in(const Workbench& bench)
{
    std::ofstream(bench.folder / "plan.yaml") << "measure: {warmup: 1, min_samples: 5, max_samples: 5}\n"
                                                 "run:\n  - bench: train\n    model: resnet18\n    batch: [4, 8]\n";
    return bench.path("plan.yaml");
}

/// Writes the ceilings of the fake machine where sweeps search for them.
void measure_ceilings(const Workbench& bench)
{
    std::ofstream(bench.folder / "ceilings.yaml") << "run:\n  - bench: flops\n  - bench: bandwidth\n";
    REQUIRE(bench.roof({"sweep", bench.path("ceilings.yaml")}).status == 0);
}

}  // namespace

TEST_CASE("predictions are written with a fingerprint before the first row, and compared with the rows")
{
    Workbench bench;
    measure_ceilings(bench);
    const std::string plan = plan_in(bench);
    bench.interrupted = tests::interrupt_at(1);
    const std::vector<std::string> words{"sweep", plan, "--predict", "--out", bench.path("run")};
    const Said stopped = bench.roof(words);
    CHECK(stopped.status == 130);
    CHECK_THAT(stopped.err, Contains("predicted 2 rows before the first is measured"));
    const std::string predicted = read_file(bench.folder / "run" / "predictions.csv");

    bench.interrupted = [] { return false; };
    const Said said = bench.roof(words);
    REQUIRE(said.status == 0);
    CHECK_THAT(said.err, Contains("predicted before"));
    CHECK(read_file(bench.folder / "run" / "predictions.csv") == predicted);
    CHECK_THAT(said.out, Contains("and measured\nrow") && Contains("median") && Contains("worst"));
    REQUIRE(bench.roof({"report", bench.path("run")}).status == 0);
    CHECK_THAT(read_file(bench.folder / "run" / "report.html"), Contains("a trial (measured)"));
}

TEST_CASE("rows that are measured already, or without ceilings, are not predicted")
{
    const Workbench bench;
    const std::string plan = plan_in(bench);
    CHECK_THAT(bench.roof({"sweep", plan, "--predict"}).err, Contains("roof calibrate"));
    measure_ceilings(bench);
    REQUIRE(bench.roof({"sweep", plan, "--out", bench.path("run")}).status == 0);
    const Said late = bench.roof({"sweep", plan, "--predict", "--out", bench.path("run")});
    CHECK(late.status == 2);
    CHECK_THAT(late.err, Contains("measured already"));
    CHECK_FALSE(std::filesystem::exists(bench.folder / "run" / "predictions.csv"));
}

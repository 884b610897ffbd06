// Hypotheses of the plan, and predictions made before rows are measured.
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

std::string plan_in(const Workbench& bench, const std::string& expect = "")
{
    std::ofstream(bench.folder / "plan.yaml") << "measure: {warmup: 1, min_samples: 5, max_samples: 5}\n"
                                                 "run:\n  - bench: train\n    model: resnet18\n    batch: [4, 8]\n"
                                              << expect;
    return bench.path("plan.yaml");
}

/// Writes the ceilings of the fake machine where sweeps search for them.
void calibrate(const Workbench& bench)
{
    std::ofstream(bench.folder / "ceilings.yaml") << "run:\n  - bench: flops\n  - bench: bandwidth\n";
    REQUIRE(bench.roof({"sweep", bench.path("ceilings.yaml")}).status == 0);
}

const std::string hypotheses =
    "expect:\n"
    "  - measured_time(resnet18, batch=8) / measured_time(resnet18, batch=4) ~ 2\n"
    "  - measured_time(resnet18, batch=8) < 0.01  # seconds\n"
    "  - bound(resnet18, v100, batch=4) == compute\n"
    "  - measured_time(resnet18, batch=64) < 1\n";

}  // namespace

TEST_CASE("a sweep answers the hypotheses of its plan, and so does the report of its folder")
{
    const Workbench bench;
    const Said said = bench.roof({"sweep", plan_in(bench, hypotheses), "--out", bench.path("run")});
    INFO(said.err);
    REQUIRE(said.status == 0);
    CHECK_THAT(said.out,
               Contains("holds      measured_time(resnet18, batch=8) / measured_time(resnet18, batch=4) ~ 2"));
    CHECK_THAT(said.out, Contains("fails      measured_time(resnet18, batch=8) < 0.01"));
    CHECK_THAT(said.out, Contains("undecided  measured_time(resnet18, batch=64) < 1"));
    CHECK_THAT(said.out, Contains("bound(resnet18, v100, batch=4) == compute"));

    CHECK_THAT(bench.roof({"report", bench.path("run")}).out, Contains("What the plan expected"));
    const std::string page = read_file(bench.folder / "run" / "report.html");
    CHECK_THAT(page, Contains("measured_time(resnet18, batch=8) &lt; 0.01") && Contains("undecided"));
}

TEST_CASE("predictions are written with a fingerprint before the first row, and compared with the rows")
{
    Workbench bench;
    calibrate(bench);
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
    CHECK_THAT(read_file(bench.folder / "run" / "report.html"), Contains("predicted (analytic)"));
}

TEST_CASE("rows that are measured already, or without ceilings, are not predicted")
{
    const Workbench bench;
    const std::string plan = plan_in(bench);
    CHECK_THAT(bench.roof({"sweep", plan, "--predict"}).err, Contains("roof calibrate"));
    calibrate(bench);
    REQUIRE(bench.roof({"sweep", plan, "--out", bench.path("run")}).status == 0);
    const Said late = bench.roof({"sweep", plan, "--predict", "--out", bench.path("run")});
    CHECK(late.status == 2);
    CHECK_THAT(late.err, Contains("measured already"));
    CHECK_FALSE(std::filesystem::exists(bench.folder / "run" / "predictions.csv"));
}

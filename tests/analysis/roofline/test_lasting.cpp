// Roofs over seconds beside those of bursts; every number by hand.
#include "analysis/report/figure.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/exports/export.hpp"
#include "analysis/study/steps/answer.hpp"
#include "tests/analysis/made.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

/// made::ceilings() with their points, and a slower loop of fp32.
Ceilings bursts()
{
    Ceilings all = made::ceilings();
    Ceiling slower = made::compute("fp32", 2, 95e9);
    slower.operation = "mul+add";
    all.all.push_back(slower);
    for (Ceiling& c : all.all) {
        const std::string set = c.level == "DRAM" ? "67108864" : c.level == "L2" ? "262144" : "16384";
        c.point =
            c.kind == Role::compute
                ? fmt::format("flops cpu operation={} precision={} threads={}", c.operation, c.precision, c.threads)
                : fmt::format("bandwidth cpu operation=load threads={} working_set={}", c.threads, set);
        if (c.level == "DRAM") c.working_set_low = Bytes{4194304};
    }
    return all;
}

/// A probe with 2 threads that does so much each second.
Measurement repeated(Role role, double rate, const std::string& axis, const std::string& value)
{
    Measurement row;
    row.bench = role == Role::compute ? "flops" : "bandwidth";
    row.role = role;
    row.device = "cpu";
    row.point.set("operation", role == Role::compute ? "fma" : "load");
    if (role == Role::compute) row.point.set(axis, value);
    row.point.set("threads", "2");
    if (role == Role::bandwidth) row.point.set(axis, value);
    (role == Role::compute ? row.work.flops.value : row.work.compulsory.value) = rate / 10;
    row.seconds = made::about<Seconds>(0.08);
    row.sustained.seconds = {{0.100}, {0.098}, {0.102}, 10, 0};
    return row;
}

/// fp32 lasts at 80 of 100 GFLOP/s, memory at 8 of 10 GB/s, shown by another set than that of the calibration.
std::vector<Measurement> probes()
{
    return {repeated(Role::compute, 80e9, "precision", "fp32"),
            repeated(Role::bandwidth, 8e9, "working_set", "134217728")};
}

/// A step of 40 ms that was launched 60 times, and one that was launched 9 times.
Study two_steps()
{
    Measurement many = made::row("many");
    many.seconds.n = 60;
    Study study = made::study({many, made::row("few")}, bursts());
    study.sustained = probes();
    study.lasting = with_lasting(study.ceilings, study.sustained);
    study.placements.clear();
    for (const Measurement& row : study.results.rows)
        for (Placement& p : place(row, ceilings_over(study, row), study.calibration.machine))
            study.placements.push_back(std::move(p));
    return study;
}

}  // namespace

TEST_CASE("a lasting roof has the rate over seconds, and no loop that was not repeated stands in for it")
{
    const Ceilings lasting = with_lasting(bursts(), probes());
    const auto rate = [&](Role kind, const char* name, int threads) {
        return lasting.roof(kind, "cpu", name, threads).value().rate.median.value;
    };
    CHECK(rate(Role::compute, "fp32", 2) == Approx(80e9));
    CHECK(rate(Role::bandwidth, "DRAM", 2) == Approx(8e9));
    CHECK(lasting.roof(Role::compute, "cpu", "fp32", 2)->rate.high.value == Approx(8e9 / 0.098));
    // What was not repeated is that of bursts.
    CHECK(rate(Role::compute, "fp64", 2) == Approx(50e9));
    CHECK(rate(Role::compute, "fp32", 1) == Approx(50e9));
    CHECK(rate(Role::bandwidth, "L2", 2) == Approx(100e9));
    CHECK(with_lasting(bursts(), {}).all.empty());
    // A set that a cache serves is no memory.
    const std::vector<Measurement> small{repeated(Role::bandwidth, 90e9, "working_set", "1048576")};
    CHECK(with_lasting(bursts(), small).all.empty());
}

TEST_CASE(
    "a step that ran for seconds is placed under lasting roofs, a short one under bursts, and the answer says which")
{
    const Study study = two_steps();
    const auto& rows = study.results.rows;
    CHECK(lasts(rows[0]));
    CHECK_FALSE(lasts(rows[1]));
    // Convolutions of 1.5 GFLOP, then 18 MB: 15 + 1.8 ms, and 18.75 + 2.25 ms.
    const Placement& many = study.placements.front();
    const Placement& few = study.placements.at(study.placements.size() / 2);
    CHECK(many.lasting);
    CHECK_FALSE(few.lasting);
    CHECK(many.attainable.value == Approx(0.021));
    CHECK(few.attainable.value == Approx(0.0168));
    CHECK_THAT(answer_sentence(study, rows[0]), Catch::Contains("at its lasting roofs it would take"));
    CHECK_THAT(answer_sentence(study, rows[1]), Catch::Contains("at its burst roofs it would take"));
    CHECK_THAT(explain(many), Catch::Contains("its lasting roofs allow 21.0 ms"));
    const nlohmann::json json = study_json(study);
    CHECK(json["rows"][0]["answer"]["roofs"] == "lasting");
    CHECK(json["rows"][1]["answer"]["roofs"] == "burst");
    CHECK(study_json(made::study({rows[0]}))["rows"][0]["answer"]["roofs"].is_null());
}

TEST_CASE("a figure has the lines of both kinds of roofs where they differ by 3%")
{
    Study study = two_steps();
    const auto labels = [&](const Ceilings& main) {
        const Roofs roofs = roofs_of(main, "cpu", 2);
        Figure figure = roofs_figure("both", roofs, frame_of(study.ceilings).value());
        const std::size_t before = figure.roofs.size();
        add_other_roofs(figure, study, roofs);
        std::vector<std::string> added;
        for (std::size_t i = before; i < figure.roofs.size(); ++i) added.push_back(figure.roofs[i].label);
        return added;
    };
    CHECK(labels(study.lasting) ==
          std::vector<std::string>{"DRAM, load: 10.0 GB/s, burst", "fp32, fma: 100 GFLOP/s, burst"});
    CHECK(labels(study.ceilings) ==
          std::vector<std::string>{"DRAM, load: 8.00 GB/s, lasting", "fp32, fma: 80.0 GFLOP/s, lasting"});
    study.lasting = with_lasting(study.ceilings, std::vector{repeated(Role::compute, 98e9, "precision", "fp32")});
    CHECK(labels(study.ceilings).empty());
}

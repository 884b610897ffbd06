// What else used the machine beside a step, and what it cost.
#include "analysis/table/rows.hpp"

#include "ert/method/plan/measure.hpp"
#include "tests/analysis/made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

/// Launches of a second each, during which a thread waited for these shares of the time.
Measurement waiting(const std::vector<double>& waits)
{
    Measurement row = made::row();
    row.samples.clear();
    for (const double wait : waits) {
        Sample& sample = row.samples.emplace_back();
        sample.seconds = Seconds{1 + wait};
        sample.host.waited = wait;
        sample.host.others = wait > 0 ? 1.9 : 0.0;
    }
    row.host = mean_host_use(row.samples);
    return row;
}

}  // namespace

TEST_CASE("a quiet machine is not mentioned, nor one of which nothing is known")
{
    CHECK(busy_text(waiting({0, 0, 0, 0})).empty());
    CHECK(busy_text(made::row()).empty());
    CHECK_THAT(disturbances(made::row()), Catch::Contains("no disturbance was recorded"));
    CHECK_FALSE(busy_cost(made::row()));
}

TEST_CASE("the cost is measured beside the quiet launches of the same row")
{
    // Median 1.5 s; of the quiet ones 1 s.
    const Measurement row = waiting({0, 0, 0, 0.5, 0.5, 0.5, 0.5});
    REQUIRE(busy_cost(row));
    CHECK(busy_cost(row)->known == Known::measured);
    CHECK(busy_cost(row)->share == Approx(1 - 1 / 1.5));
    CHECK_THAT(busy_text(row), Catch::Contains("a thread waited") &&
                                   Catch::Contains("this took about 33% of the step's time (measured)"));
    CHECK(disturbances(row) == "the machine was busy");
}

TEST_CASE("without quiet launches the cost is what the kernel counted")
{
    Measurement row = waiting({0.4, 0.4, 0.4, 0.4});
    CHECK(
        busy_text(row) ==
        "other processes used 1.9 processors, a thread waited 40% of the time for a processor; this took about 40% of "
        "the step's time (counter)");
    row.host.stolen = 0.2;  // of two processors
    CHECK(busy_cost(row)->share == Approx(0.5));
}

TEST_CASE("what a shared core cost is not known without quiet launches")
{
    Measurement row = made::row();
    row.host.shared = 0.75;
    for (Sample& sample : row.samples) sample.host.shared = 0.75;
    CHECK_FALSE(busy_cost(row));
    CHECK(busy_text(row) == "the core was shared in 75% of the readings; what it cost is not known");
    row.host.waited = 0.0;  // counted, and what a neighbour on the core takes is in no counter
    row.host.stolen = 0.0;
    CHECK_FALSE(busy_cost(row));
    row.host.shared = 0.05;
    row.host.waited = 0.3;
    CHECK(busy_cost(row)->share == Approx(0.3));
}

TEST_CASE("a quota of the own container is named as what made the machine busy")
{
    Measurement row = made::row();
    row.remarks = "pinned to cores 0-1; the control group's limit throttled this process in 93% of its periods";
    CHECK(busy_text(row) ==
          "the control group's limit throttled this process in 93% of its periods; what it cost is not known");
    row.host.waited = 0.8;
    CHECK_THAT(busy_text(row),
               Catch::Contains("a thread waited 80%") && Catch::Contains("in 93% of its periods; this took"));
}

TEST_CASE("the mean over launches weighs their times and leaves out what is not known")
{
    std::vector<Sample> samples(3);
    samples[0].seconds = Seconds{1}, samples[0].host.waited = 0.5;
    samples[1].seconds = Seconds{3}, samples[1].host.waited = 0.1;
    samples[2].seconds = Seconds{9}, samples[2].used = false, samples[2].host.waited = 1.0;
    CHECK(*mean_host_use(samples).waited == Approx((0.5 + 0.3) / 4));
    CHECK_FALSE(mean_host_use(samples).others);
}

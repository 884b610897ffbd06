// The sustained clock, and the ceilings that scale with it.
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/ceilings/core_clock.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

constexpr double per_clock = 32;  ///< FLOPs per clock of every sample

/// Nine samples at the given clock, each with `per_clock`.
Measurement round_at(double clock, const std::string& operation, int round, const std::string& isa = "avx2")
{
    Measurement row;
    row.bench = "flops";
    row.device = "cpu";
    row.role = Role::compute;
    row.status = Status::ok;
    row.point.set("operation", operation);
    row.point.set("isa", isa);
    row.point.set("threads", "1");
    row.point.set("round", std::to_string(round));
    row.work.flops = Flops{1e9};
    const double seconds = 1e9 / (per_clock * clock);
    row.seconds = {Seconds{seconds}, Seconds{seconds}, Seconds{seconds}, 9, 0};
    row.clock = {Hertz{clock}, Hertz{clock}, Hertz{clock}, 9, 0};
    for (int i = 0; i < 9; ++i) {
        Sample sample;
        sample.seconds = Seconds{seconds};
        sample.clock = Hertz{clock};
        row.samples.push_back(sample);
    }
    return row;
}

/// Twenty rounds between 3.8 and 4.0 GHz for each of two operations, with opposite orders of clocks.
std::vector<Measurement> wandering()
{
    std::vector<Measurement> rows;
    for (int i = 0; i < 20; ++i) {
        rows.push_back(round_at(3.8e9 + 0.01e9 * i, "fma", i + 1));
        rows.push_back(round_at(3.99e9 - 0.01e9 * i, "add", i + 1));
    }
    return rows;
}

void disturb(Measurement& row)
{
    for (Sample& sample : row.samples) sample.disturbance = "a core was shared";
}

}  // namespace

TEST_CASE("the sustained clock is the upper quartile of the rounds' clocks, and within them")
{
    const std::vector<Measurement> rows = wandering();
    const Estimate<Hertz> clock = CoreClock(rows).sustained_under(rows.front());
    CHECK(clock.median.value == Approx(3.94e9).epsilon(0.003));
    CHECK(clock.low < clock.median);
    CHECK(clock.high > clock.median);
    CHECK(clock.high.value <= 3.99e9);
    CHECK(clock.n == 40);
}

TEST_CASE("another kind of work has its own clock once it has enough rounds")
{
    std::vector<Measurement> rows = wandering();
    rows.push_back(round_at(3.0e9, "fma", 1, "avx512"));
    CHECK(CoreClock(rows).sustained_under(rows.back()).median.value > 3.8e9);
    for (int i = 2; i <= 20; ++i) rows.push_back(round_at(3.0e9, "fma", i, "avx512"));
    CHECK(CoreClock(rows).sustained_under(rows.back()).median.value == Approx(3.0e9));
    CHECK(CoreClock(rows).sustained_under(rows.front()).median.value > 3.8e9);
}

TEST_CASE("disturbed samples do not count for the clock, and without readings there is no clock")
{
    std::vector<Measurement> rows = wandering();
    for (Measurement& row : rows) disturb(row);
    CHECK(CoreClock(rows).sustained_under(rows.front()).n == 0);
}

TEST_CASE("ceilings that scale with the clock use one clock")
{
    std::vector<Measurement> rows;
    for (int i = 0; i < 3; ++i) rows.push_back(round_at(3.8e9, "fma", i + 1));
    for (int i = 0; i < 20; ++i) rows.push_back(round_at(4.0e9, "add", i + 1));
    const Ceilings ceilings = fit_ceilings(rows, Machine{});
    REQUIRE(ceilings.all.size() == 2);
    CHECK(ceilings.all[0].rate.median.value == Approx(per_clock * 4.0e9));
    CHECK(ceilings.all[0].rate.median.value == ceilings.all[1].rate.median.value);
    CHECK(ceilings.all[0].steadiness == Steadiness::steady);
}

TEST_CASE("the interval of a ceiling without undisturbed samples reaches up to the possible rate")
{
    std::vector<Measurement> rows;
    for (int i = 0; i < 20; ++i) rows.push_back(round_at(4.0e9, "fma", i + 1));
    Measurement both = round_at(5.0e9, "fma", 1);  // two threads, 2.5e9 each
    both.point.set("threads", "2");
    disturb(both);
    rows.push_back(both);
    const Ceiling ceiling = fit_ceilings(rows, Machine{}).all.back();
    REQUIRE(ceiling.threads == 2);
    CHECK(ceiling.disturbed);
    CHECK(ceiling.rate.median.value == Approx(per_clock * 5.0e9));
    CHECK(ceiling.rate.high.value == Approx(2 * per_clock * 4.0e9));
    CHECK(ceiling.steadiness == Steadiness::unsteady);
}

TEST_CASE("the interval of a ceiling with one undisturbed sample reaches down to the typical rate")
{
    std::vector<Measurement> rows{round_at(4.0e9, "fma", 1)};
    disturb(rows.front());
    for (Sample& sample : rows.front().samples) sample.seconds = 2 * sample.seconds;
    for (Sample& sample : rows.front().samples) sample.used = false;
    rows.front().samples.push_back(round_at(4.0e9, "fma", 1).samples.front());
    rows.front().seconds.n = 1;
    const Ceiling ceiling = fit_ceilings(rows, Machine{}).all.front();
    REQUIRE(ceiling.disturbed);
    CHECK(ceiling.rate.median.value == Approx(per_clock * 4.0e9));
    CHECK(ceiling.rate.low.value == Approx(per_clock * 2.0e9));
    CHECK(ceiling.per_clock.n == 0);  // one sample is not enough for a rate per clock
}

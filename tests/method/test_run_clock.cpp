// The clock of a run: whether it varied, and its range.
#include "ert/method/ceilings/run_clock.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

/// Arithmetic in rounds at these clocks in GHz; `reading`: the reading over the true clock, by sample; `places`: of the
/// rounds among the rows.
PointSummary point_at(const std::vector<double>& gigahertz, const std::vector<double>& reading,
                      std::vector<std::size_t> places = {})
{
    for (std::size_t i = places.size(); i < gigahertz.size(); ++i) places.push_back(i);
    PointSummary point;
    point.best.device = "cpu";
    point.best.role = Role::compute;
    point.best.point.set("operation", "fma");
    point.places = std::move(places);
    point.rounds = static_cast<int>(gigahertz.size());
    for (const double clock : gigahertz) {
        Round& round = point.samples.emplace_back();
        for (const double factor : reading) round.push_back({32 * clock * 1e9, factor * clock * 1e9, false});
    }
    return point;
}

const std::vector<double> exact(5, 1.0);

}  // namespace

TEST_CASE("a clock varies where the rates of rounds differ as it does")
{
    const RunClock clock({point_at({3.9, 4.0, 4.1}, exact)});
    CHECK(clock.varies("cpu"));
    CHECK_FALSE(clock.varies("gpu:0"));
}

TEST_CASE("a clock is constant where only its readings vary")
{
    CHECK_FALSE(RunClock({point_at({3, 3, 3}, {1, 1, 0.967, 1, 0.967})}).varies("cpu"));
}

TEST_CASE("the run's clock is the median of the rounds, with their range")
{
    const PointSummary point = point_at({3.9, 4.2, 4.0, 4.1, 4.0}, exact);
    const Estimate<Hertz> clock = RunClock({point}).under(point);
    CHECK(clock.median.value == Approx(4.0e9));
    CHECK(clock.low.value == Approx(3.9e9));
    CHECK(clock.high.value == Approx(4.2e9));
}

TEST_CASE("one round of fifty at another clock belongs to the range")
{
    std::vector<double> clocks(50, 4.0);
    clocks.front() = 3.0;
    const PointSummary point = point_at(clocks, exact);
    const Estimate<Hertz> clock = RunClock({point}).under(point);
    CHECK(clock.median.value == Approx(4.0e9));
    CHECK(clock.low.value == Approx(3.0e9));
    CHECK(clock.high.value == Approx(4.0e9));
}

TEST_CASE("of two hundred rounds two odd readings at each end do not belong to the range")
{
    std::vector<double> clocks(200, 4.0);
    clocks[0] = clocks[7] = 3.0;
    clocks[1] = clocks[50] = 5.0;
    clocks[2] = 3.98;
    const PointSummary point = point_at(clocks, exact);
    const Estimate<Hertz> clock = RunClock({point}).under(point);
    CHECK(clock.low.value == Approx(3.98e9));
    CHECK(clock.high.value == Approx(4.0e9));
}

TEST_CASE("similar work has its own clock, with the range that all work of the device saw")
{
    PointSummary wide = point_at({3.0, 3.0, 3.0, 3.0, 3.0}, exact);
    wide.best.point.set("isa", "avx512");
    const PointSummary narrow = point_at({3.8, 4.0, 4.2}, exact);
    const RunClock clock({wide, narrow});
    CHECK(clock.under(narrow).median.value == Approx(4e9));
    CHECK(clock.under(wide).median.value == Approx(3e9));
    CHECK(clock.under(wide).low.value == Approx(3e9 * 0.95));
    CHECK(clock.under(wide).high.value == Approx(3e9 * 1.05));
}

TEST_CASE("work that met only one clock has the clock of the whole run, by the ratio to work near in time")
{
    const PointSummary narrow = point_at({4.0, 3.9, 3.8, 3.7, 3.6}, exact, {0, 10, 20, 30, 40});
    PointSummary wide = point_at({0.75 * 3.6, 0.75 * 3.6, 0.75 * 3.6}, exact, {37, 39, 41});
    wide.best.point.set("isa", "avx512");
    const RunClock clock({wide, narrow});  // over the ratio: 4.0, 3.9, 3.8, 3.7, and four times 3.6
    CHECK(clock.under(narrow).median.value == Approx(3.7e9));
    CHECK(clock.under(wide).median.value == Approx(0.75 * 3.7e9));
    CHECK(clock.under(wide).low.value == Approx(0.75 * 3.6e9));
    CHECK(clock.under(wide).high.value == Approx(0.75 * 4.0e9));
}

TEST_CASE("a clock whose readings differ varies, unless rounds at different clocks had the same rate")
{
    const PointSummary arithmetic = point_at({4, 4, 4}, exact);
    PointSummary smallest = point_at({4, 4, 4}, exact);
    smallest.best.role = Role::bandwidth;
    smallest.best.point.set("working_set", "8192");
    PointSummary larger = point_at({4, 3.8, 3.8}, exact);
    larger.best.role = Role::bandwidth;
    larger.best.point.set("working_set", "16384");
    CHECK(RunClock({arithmetic, smallest, larger}).varies("cpu"));
    CHECK_FALSE(RunClock({arithmetic, smallest}).varies("cpu"));
    PointSummary misread = point_at({4, 4, 4}, exact);
    for (RateSample& sample : misread.samples[0]) sample.clock *= 0.95;
    CHECK_FALSE(RunClock({arithmetic, smallest, larger, misread}).varies("cpu"));
}

TEST_CASE("rounds whose rates neither follow the clock nor stay the same show interference, not the clock")
{
    PointSummary point = point_at({3.8, 4.0}, exact);
    for (RateSample& sample : point.samples[1]) sample.rate *= 0.89;  // 6% lower than in the first round
    CHECK(RunClock({point}).varies("cpu"));
    PointSummary misread = point_at({4, 4}, exact);
    for (RateSample& sample : misread.samples[0]) sample.clock *= 0.95;
    CHECK_FALSE(RunClock({misread, point, point}).varies("cpu"));
}

TEST_CASE("a clock varies where the loads of the smallest set show it, though all arithmetic met one clock")
{
    const PointSummary arithmetic = point_at({4, 4, 4}, exact);
    PointSummary near = point_at({3.8, 4.0, 4.2}, exact);
    near.best.role = Role::bandwidth;
    near.best.point.set("working_set", "8192");
    PointSummary far = point_at({3.8, 4.0, 4.2}, exact);  // the same rate at each clock
    far.best.role = Role::bandwidth;
    far.best.point.set("working_set", "67108864");
    for (Round& round : far.samples)
        for (RateSample& sample : round) sample.rate = 32e9;
    CHECK(RunClock({arithmetic, near, far, far}).varies("cpu"));
    CHECK_FALSE(RunClock({arithmetic, far}).varies("cpu"));
}

TEST_CASE("disturbed samples do not count for the clock")
{
    PointSummary point = point_at({4, 4, 4, 4, 4}, exact);
    for (Round& round : point.samples)
        for (std::size_t i = 0; i < 2; ++i) round[i] = {1, 1e9, true};
    CHECK(RunClock({point}).under(point).low.value == Approx(4e9));
    for (Round& round : point.samples)
        for (RateSample& sample : round) sample.disturbed = true;
    CHECK(RunClock({point}).under(point).n == 0);
}

TEST_CASE("a disturbed reading of the clock gives no more per clock than the core does")
{
    // 32 per clock. In the second round a neighbour delays what reads the clock by 3%, but not the work.
    PointSummary point = point_at({3.9, 4.0, 4.1, 4.0, 4.0}, exact);
    const RunClock clock({point});
    point.samples[1].assign(5, {32 * 4e9, 0.97 * 4e9, true});
    point.samples[2].assign(5, {32 * 4.1e9, 4.05e9, true});
    const std::vector<Round> credible = clock.credible_samples(point, point.samples);
    CHECK(credible[0][0].clock == Approx(3.9e9));
    CHECK(credible[1][0].clock == Approx(4.0e9));
    CHECK(credible[2][0].clock == Approx(4.05e9));
    CHECK(sustained_rate(credible, 0.01, clock.under(point)).per_clock.high.value < 32 * 1.02);
}

TEST_CASE("a clock that is read wrong in one round does not vary, whatever interference does to the rate in others")
{
    PointSummary point = point_at({4, 4, 4, 4}, exact);
    for (RateSample& sample : point.samples[0]) sample.clock *= 0.96;
    for (RateSample& sample : point.samples[1]) sample.rate *= 0.6;
    CHECK_FALSE(RunClock({point}).varies("cpu"));
}

#include "ert/method/ceilings/point_summary.hpp"
#include "ert/method/plan/plan.hpp"
#include "tests/fakes/fake_registry.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::fakes;

namespace {

Measurement measured_row(int round, double seconds, Status status = Status::ok)
{
    Measurement row;
    row.bench = "flops";
    row.device = "cpu";
    row.role = Role::compute;
    row.status = status;
    row.point.set("operation", "fma");
    row.point.set("round", std::to_string(round));
    row.seconds = {Seconds{seconds}, Seconds{seconds}, Seconds{seconds}, 7, 0};
    row.work.flops = Flops{1e9};
    return row;
}

/// A round at each rate, in FLOP/s: nine samples within 1% of it.
std::vector<Measurement> rounds_at(const std::vector<double>& rates)
{
    std::vector<Measurement> rows;
    for (const double rate : rates) {
        Measurement row = measured_row(static_cast<int>(rows.size()) + 1, 1e9 / rate);
        for (int i = -4; i <= 4; ++i) {
            Sample sample;
            sample.seconds = Seconds{1e9 / rate * (1 + i * 0.002)};
            row.samples.push_back(sample);
        }
        rows.push_back(row);
    }
    return rows;
}

}  // namespace

TEST_CASE("a plan with rounds measures the whole list once in each")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const auto items = expand(parse_plan("rounds: 2\nrun:\n  - {bench: train, batch: [4, 8]}\n", "p"), registry);
    REQUIRE(items.size() == 4);
    REQUIRE(items[1].point.text("batch") == "8");
    REQUIRE(items[1].point.text("round") == "1");
    REQUIRE(items[2].point.text("batch") == "4");
    REQUIRE(items[2].point.text("round") == "2");
    REQUIRE_THROWS_WITH(parse_plan("rounds: 0\nrun:\n  - {bench: train}\n", "p"), Catch::Contains("rounds"));
}

TEST_CASE("the fastest round of a point counts, with its own samples")
{
    const std::vector<PointSummary> points =
        summarize_points(std::vector{measured_row(1, 0.3), measured_row(2, 0.2), measured_row(3, 0.25)});
    REQUIRE(points.size() == 1);
    CHECK(points[0].best.seconds.median.value == 0.2);
    CHECK(points[0].rate.median.value == Approx(5e9));
    CHECK(points[0].rounds == 3);
    CHECK_FALSE(points[0].best.point.has("round"));
}

TEST_CASE("a round with more work in more time is not slower")
{
    Measurement more = measured_row(2, 0.35);
    more.work.flops = Flops{2e9};
    CHECK(summarize_points(std::vector{measured_row(1, 0.2), more})[0].best.seconds.median.value == 0.35);
}

TEST_CASE("a failed round is kept only if no round was ok")
{
    const Measurement failed = measured_row(1, 0.1, Status::failed);
    CHECK(summarize_points(std::vector{failed, measured_row(2, 0.2)})[0].best.status == Status::ok);
    CHECK(summarize_points(std::vector{failed, measured_row(2, 0.2)})[0].rounds == 1);
    const PointSummary nothing = summarize_points(std::vector{failed, failed})[0];
    CHECK(nothing.best.status == Status::failed);
    CHECK(nothing.rounds == 0);
    CHECK(nothing.rate.n == 0);
}

TEST_CASE("rows without rounds are unchanged and keep their order")
{
    Measurement other = measured_row(1, 0.1);
    other.point.set("operation", "add");
    const auto points = summarize_points(std::vector{other, measured_row(1, 0.2)});
    REQUIRE(points.size() == 2);
    CHECK(points[0].best.point.text("operation") == "add");
}

TEST_CASE("one round has the interval of its median")
{
    Measurement row = measured_row(1, 0.2);
    row.seconds = {Seconds{0.2}, Seconds{0.19}, Seconds{0.22}, 9, 2};
    const Rate rate = summarize_points(std::vector{row})[0].rate;
    CHECK(rate.low.value == Approx(1e9 / 0.22));
    CHECK(rate.high.value == Approx(1e9 / 0.19));
    CHECK(rate.n == 9);
    CHECK(rate.discarded == 2);
}

TEST_CASE("rounds that agree have a narrow interval, and are steady")
{
    const PointSummary point = summarize_points(rounds_at({100, 100.2, 99.8, 100.1, 99.9}))[0];
    CHECK(point.rate.relative_half_width() < 0.01);
    CHECK(point.steadiness(point.rate.relative_half_width(), 0.01) == Steadiness::steady);
    CHECK(point.modes.size() == 1);
}

TEST_CASE("the interval reaches down to other rounds' rates, but not below the slowest")
{
    const PointSummary point = summarize_points(rounds_at({70, 100, 90, 80, 95}))[0];
    CHECK(point.rate.median.value == Approx(100).epsilon(0.02));
    CHECK(point.rate.low.value < 96);
    CHECK(point.rate.low.value > 70);
    CHECK(point.rate.high.value < 104);
}

TEST_CASE("two rates that repeat are two modes, not one wide mode")
{
    const PointSummary point = summarize_points(rounds_at({50, 100, 50, 50, 50}))[0];
    REQUIRE(point.modes.size() == 2);
    CHECK(point.modes[0].rate == Approx(50).epsilon(0.02));
    CHECK(point.modes[0].share == Approx(0.8));
    CHECK(point.modes[1].rate == Approx(100).epsilon(0.02));
    CHECK(point.steadiness(point.rate.relative_half_width(), 0.01) == Steadiness::bimodal);
}

TEST_CASE("widely scattered rates are unsteady, not bimodal")
{
    const PointSummary point = summarize_points(rounds_at({50, 60, 71, 83, 97}))[0];
    CHECK(point.modes.size() == 1);
    CHECK(point.steadiness(point.rate.relative_half_width(), 0.03) == Steadiness::unsteady);
}

TEST_CASE("the same rows give the same interval")
{
    const auto rows = rounds_at({70, 100, 90, 80, 95});
    CHECK(summarize_points(rows)[0].rate.low == summarize_points(rows)[0].rate.low);
}

TEST_CASE("a round without an undisturbed sample counts only if every round is like that")
{
    std::vector<Measurement> rows = rounds_at({120, 100, 100.1});
    for (Sample& sample : rows[0].samples) sample.disturbance = "a core was shared";
    const PointSummary some = summarize_points(rows)[0];
    CHECK(some.rate.median.value == Approx(100.1));
    CHECK(some.rounds == 2);
    CHECK_FALSE(some.disturbed);
    for (Measurement& row : rows) {
        for (Sample& sample : row.samples) {
            sample.disturbance = "a core was shared";
            sample.clock = Hertz{1};
        }
    }
    const PointSummary all = summarize_points(rows)[0];
    CHECK(all.rate.median.value == Approx(120));
    CHECK(all.disturbed);
    CHECK(all.per_clock.n == 0);  // the clock of a shared core is not used
}

TEST_CASE("work per clock is computed per sample, and has an interval")
{
    std::vector<Measurement> rows = rounds_at({100, 100});
    for (Measurement& row : rows) {
        for (Sample& sample : row.samples) sample.clock = Hertz{4e9 / sample.seconds.value};
    }
    const auto per_clock = summarize_points(rows)[0].per_clock;
    CHECK(per_clock.median.value == Approx(0.25));
    CHECK(per_clock.high.value == Approx(0.25));
    CHECK(per_clock.n == 18);
}

TEST_CASE("one round with too low a clock reading does not set the work per clock")
{
    std::vector<Measurement> rows = rounds_at({100, 100, 100, 100});
    for (Measurement& row : rows) {
        const double misread = &row == &rows[2] ? 0.9 : 1.0;
        for (Sample& sample : row.samples) sample.clock = Hertz{misread * 4e9 / sample.seconds.value};
    }
    CHECK(summarize_points(rows)[0].per_clock.median.value < 0.27);
    CHECK(summarize_points(std::vector{rows[0], rows[1], rows[3]})[0].per_clock.high.value == Approx(0.25));
}

TEST_CASE("disturbed samples and warm-ups do not count")
{
    std::vector<Measurement> rows = rounds_at({100, 100, 100});
    rows[1].samples[3].seconds = Seconds{1};
    rows[1].samples[3].used = false;
    CHECK(summarize_points(rows)[0].rate.low.value > 98);
}

TEST_CASE("an unsupported item gets one row, not one per round")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const std::string plan = "rounds: 3\nrun:\n  - {bench: flops, device: 'gpu:0', precision: fp32}\n";
    REQUIRE(expand(parse_plan(plan, "p"), registry).size() == 1);
}

TEST_CASE("the typical rate counts disturbed samples and no warm-ups")
{
    std::vector<Measurement> rows = rounds_at({100, 100});
    for (std::size_t i = 0; i < rows[1].samples.size(); ++i) {
        rows[1].samples[i].seconds = Seconds{1e9 / 50};
        rows[1].samples[i].used = false;
        if (i < 8) rows[1].samples[i].disturbance = "a core was shared";
    }
    for (int i = 0; i < 3; ++i) rows[0].samples[i].disturbance = "a core was shared";
    for (int i = 0; i < 3; ++i) rows[0].samples[i].used = false;
    for (int i = 0; i < 3; ++i) rows[0].samples[i].seconds = Seconds{1e9 / 50};
    const PointSummary point = summarize_points(rows)[0];  // six of 100, eleven of 50, and a warm-up
    CHECK(point.typical == Approx(50));
    CHECK(point.rate.median.value > 99);
}

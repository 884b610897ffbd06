#include "ert/method/ceilings/ceiling.hpp"
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
    CHECK(points[0].best.seconds.median.value == 0.2);
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
    CHECK(nothing.sustained().rate.n == 0);
}

TEST_CASE("rows without rounds are unchanged and keep their order")
{
    Measurement other = measured_row(1, 0.1);
    other.point.set("operation", "add");
    const auto points = summarize_points(std::vector{other, measured_row(1, 0.2)});
    REQUIRE(points.size() == 2);
    CHECK(points[0].best.point.text("operation") == "add");
}

TEST_CASE("a row without samples has its own interval, as a lower bound")
{
    Measurement row = measured_row(1, 0.2);
    row.seconds = {Seconds{0.2}, Seconds{0.198}, Seconds{0.203}, 9, 2};
    const PointSummary point = summarize_points(std::vector{row})[0];
    CHECK(point.sustained().rate.median.value == Approx(5e9));
    CHECK(point.sustained().rate.low.value == Approx(1e9 / 0.203));
    CHECK(point.sustained().rate.high.value == Approx(1e9 / 0.198));
    CHECK(point.sustained().steadiness == Steadiness::at_least);
}

TEST_CASE("disturbed samples count, and warm-ups do not")
{
    std::vector<Measurement> rows = rounds_at({100, 100, 100});
    rows[1].samples[3].seconds = Seconds{1};
    rows[1].samples[3].used = false;
    rows[2].samples[3].used = false;
    rows[2].samples[3].disturbance = "a core was shared";
    const PointSummary point = summarize_points(rows)[0];
    REQUIRE(point.samples.size() == 3);
    CHECK(point.samples[1].size() == 8);
    REQUIRE(point.samples[2].size() == 9);
    CHECK(point.samples[2][3].disturbed);
    CHECK(point.sustained().rate.low.value > 98);
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
    CHECK(point.sustained().rate.median.value > 99);
}

TEST_CASE(
    "a rate that one round alone reached is a lower bound on a CPU; on a GPU, whose clock differs by rounds, all count")
{
    std::vector<Measurement> rows = rounds_at({902, 941, 925});
    const Ceiling of_cpu = fit_ceilings(rows, {}).all.front();
    CHECK(of_cpu.steadiness == Steadiness::at_least);
    for (Measurement& row : rows) row.device = "gpu:0";
    const Ceiling of_gpu = fit_ceilings(rows, {}).all.front();
    CHECK(of_gpu.steadiness == Steadiness::rounds_disagree);
    CHECK(of_gpu.rate.median.value == Approx((902 + 941 + 925) / 3.0));
    CHECK(of_gpu.rate.low.value < 902);
    CHECK(of_gpu.rate.high.value > 941);
    CHECK(of_gpu.rounds == 3);
}

#include "ert/method/plan.hpp"
#include "ert/method/rounds.hpp"
#include "tests/fakes/fake_lab.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::fakes;

namespace {

Measurement visit(int round, double seconds, Status status = Status::ok)
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

}  // namespace

TEST_CASE("a plan with rounds visits the whole list once in each")
{
    const ManualClock time;
    const Lab lab = fake_lab(time);
    const auto items = expand(parse_plan("rounds: 2\nrun:\n  - {bench: train, batch: [4, 8]}\n", "p"), lab);
    REQUIRE(items.size() == 4);
    REQUIRE(items[1].point.text("batch") == "8");
    REQUIRE(items[1].point.text("round") == "1");
    REQUIRE(items[2].point.text("batch") == "4");
    REQUIRE(items[2].point.text("round") == "2");
    REQUIRE_THROWS_WITH(parse_plan("rounds: 0\nrun:\n  - {bench: train}\n", "p"), Catch::Contains("rounds"));
}

TEST_CASE("of the visits to a point the fastest counts, with its own samples")
{
    const std::vector<Measurement> best = best_of_rounds(std::vector{visit(1, 0.3), visit(2, 0.2), visit(3, 0.25)});
    REQUIRE(best.size() == 1);
    REQUIRE(best[0].seconds.median.value == 0.2);
    REQUIRE_FALSE(best[0].point.has("round"));
}

TEST_CASE("a visit that did more work in more time is not slower for that")
{
    Measurement more = visit(2, 0.35);
    more.work.flops = Flops{2e9};
    REQUIRE(best_of_rounds(std::vector{visit(1, 0.2), more})[0].seconds.median.value == 0.35);
}

TEST_CASE("a failed visit stands only where no visit was ok")
{
    const Measurement failed = visit(1, 0.1, Status::failed);
    REQUIRE(best_of_rounds(std::vector{failed, visit(2, 0.2)})[0].status == Status::ok);
    REQUIRE(best_of_rounds(std::vector{failed, failed})[0].status == Status::failed);
}

TEST_CASE("rows without rounds pass as they are, in their order")
{
    Measurement other = visit(1, 0.1);
    other.point.set("operation", "add");
    const auto best = best_of_rounds(std::vector{other, visit(1, 0.2)});
    REQUIRE(best.size() == 2);
    REQUIRE(best[0].point.text("operation") == "add");
}

TEST_CASE("what cannot be had here is answered once, not in every round")
{
    const ManualClock time;
    const Lab lab = fake_lab(time);
    const std::string plan = "rounds: 3\nrun:\n  - {bench: flops, device: 'gpu:0', precision: fp32}\n";
    REQUIRE(expand(parse_plan(plan, "p"), lab).size() == 1);
}

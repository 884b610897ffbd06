// What more rounds would bring.
#include "ert/method/ceilings/ceiling.hpp"
#include "tests/method/sweeps.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

/// A round of arithmetic at 50 GFLOP/s, of six launches.
Measurement round_of(const std::string& operation, int round, bool disturbed)
{
    Measurement row;
    row.bench = "flops";
    row.role = Role::compute;
    row.device = "cpu";
    row.point.set("operation", operation);
    row.point.set("precision", "fp32");
    row.point.set("round", std::to_string(round));
    row.work.flops = Flops{50e6};
    row.seconds = {Seconds{1e-3}, Seconds{1e-3}, Seconds{1e-3}, 6, 0};
    row.samples.assign(6, {.seconds = Seconds{1e-3}, .disturbance = disturbed ? "a core was shared" : ""});
    return row;
}

}  // namespace

TEST_CASE("more rounds settle a lower bound that lacks rounds, but not one without undisturbed samples")
{
    const std::vector<Measurement> rows{round_of("fma", 1, false), round_of("fma", 2, false), round_of("add", 1, true),
                                        round_of("add", 2, true),  round_of("add", 3, true),  round_of("mul", 1, false),
                                        round_of("mul", 2, false), round_of("mul", 3, false)};
    const LowerBounds bounds = lower_bounds(rows, tests::machine());
    CHECK(bounds.ceilings == 2);
    CHECK(bounds.rounds == 5);
    CHECK(settled_by_more(rows, tests::machine(), 1) == 1);
    CHECK(settled_by_more(rows, tests::machine(), 8) == 1);
    CHECK(settled_by_more(rows, tests::machine(), 0) == 0);
}

TEST_CASE("a row that was skipped is no round")
{
    std::vector<Measurement> rows{round_of("fma", 1, false), round_of("fma", 2, false)};
    rows[1].status = Status::skipped;
    rows[1].samples.clear();
    CHECK(lower_bounds(rows, tests::machine()).rounds == 1);
}

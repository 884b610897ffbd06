// The sentence on the quality of a calibration.
#include "analysis/roofline/roofs.hpp"

#include "tests/analysis/made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

/// Three launches of a second each, of which one was shared, one throttled for twice as long.
Measurement disturbed_row()
{
    Measurement row = made::row();
    row.samples.assign(3, {.seconds = Seconds{1}});
    row.samples[1].disturbance = "a core was shared";
    row.samples[2] = {.seconds = Seconds{2}, .disturbance = "processor time was stolen by the host"};
    return row;
}

}  // namespace

TEST_CASE("a calibration's quality counts what is not steady and names the most frequent disturbance")
{
    Ceilings made = made::ceilings();
    std::vector<Ceiling>& ceilings = made.all;
    const std::vector<Measurement> rows{disturbed_row()};
    CHECK(calibration_quality({}, rows).empty());
    CHECK(calibration_quality(made, rows) == "All 10 ceilings are steady.");
    ceilings[0].steadiness = Steadiness::rounds_disagree;
    CHECK(calibration_quality(made, {}) == "1 of 10 ceilings is unsteady.");
    for (std::size_t i = 3; i < 7; ++i) ceilings[i].steadiness = Steadiness::at_least;
    ceilings[1].steadiness = Steadiness::clock_varied;
    CHECK(calibration_quality(made, rows) ==
          "4 of 10 ceilings are lower bounds, 2 are unsteady: processor time was stolen by the host 50% of the time.");
    ceilings[3].samples.resize(2);
    CHECK(calibration_quality(made, rows) ==
          "4 of 10 ceilings are lower bounds, 2 are unsteady: a ceiling needs three "
          "rounds (`rounds: 3` in the plan).");
    ceilings[4].samples.resize(3);
    CHECK(calibration_quality(made, rows)
              .ends_with("2 are unsteady: processor time was stolen by the host 50% of the time."));
    ceilings[2].steadiness = Steadiness::seen_once;
    CHECK(calibration_quality(made, {}) ==
          "4 of 10 ceilings are lower bounds, 2 are unsteady, 1 was seen once. Seen once: a calibration ten minutes "
          "later, or a run, shows what is steady.");
    ceilings[2].steadiness = Steadiness::steady;
    Measurement hardly = made::row();
    hardly.samples = {{.seconds = Seconds{4}}, {.seconds = Seconds{0.001}, .disturbance = "a core was shared"}};
    CHECK(calibration_quality(made, std::vector{hardly}) == "4 of 10 ceilings are lower bounds, 2 are unsteady.");
    Measurement skipped = made::row();
    skipped.status = Status::skipped;
    CHECK(calibration_quality(made::ceilings(), std::vector{skipped, made::row()}) ==
          "All 10 ceilings are steady. 1 of 2 rows was not measured.");
}

TEST_CASE("a calibration that was cut short names the roofs that it lacks")
{
    Ceilings made = made::ceilings();
    CHECK(missing_roofs(made, {}).empty());
    std::erase_if(made.all, [](const Ceiling& c) {
        return c.threads == 2 && (c.precision == "fp64" || c.level == "L2") && c.level != "DRAM";
    });
    made.unmeasured = {{"cpu", "bf16", 1, "widened", "avx2"}};
    Measurement load = made::row();
    load.bench = "bandwidth";
    load.role = Role::bandwidth;
    load.status = Status::skipped;
    CHECK(missing_roofs(made, std::vector{load}) == std::vector<std::string>{"L2 with 2 threads", "bf16 with 1 thread",
                                                                             "bf16 with 2 threads",
                                                                             "fp64 with 2 threads"});
    std::erase_if(made.all, [](const Ceiling& c) { return c.level == "DRAM" || c.precision != "fp32"; });
    made.unmeasured.clear();
    CHECK(missing_roofs(made, std::vector{load}) ==
          std::vector<std::string>{"DRAM with 1 thread", "DRAM with 2 threads"});
    CHECK(calibration_quality(made, std::vector{load}) ==
          "All 2 ceilings are steady. Not measured: the roof of DRAM with 1 thread, DRAM with 2 threads. 1 of 1 rows "
          "was not measured.");
}

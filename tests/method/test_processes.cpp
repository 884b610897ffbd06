// Steps that several processes measured: where each begins, and the interval over them.
#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/measure.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace roof;

namespace {

/// A warm-up and three steps.
Measurement process_with(double seconds, int steps = 3)
{
    Measurement row;
    row.bench = "train";
    row.samples.push_back({.seconds = Seconds{9}, .loss = 7, .used = false});
    for (int i = 0; i < steps; ++i) row.samples.push_back({.seconds = Seconds{seconds + 0.1 * i}});
    row.seconds = time_of_step(row.samples);
    row.forward = {{seconds / 2}, {}, {}, steps, 0};
    row.parts.push_back({{"fc", "linear", Phase::forward, {}, ""}, {{seconds / 4}, {}, {}, steps, 0}});
    return row;
}

}  // namespace

TEST_CASE("a process begins with its warm-ups, and a disturbed launch begins none")
{
    const Measurement row = over_processes({process_with(1), process_with(2)});
    CHECK(processes_of(row.samples) == std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
    CHECK(processes_of(row) == 2);
    CHECK(processes_of(Measurement{}) == 1);
    Measurement recorded = row;
    recorded.bench = "pytorch";
    CHECK(processes_of(recorded) == 1);
    std::vector<Sample> one{{.used = false}, {.used = false}, {}, {.disturbance = "steal", .used = false}, {}};
    CHECK(processes_of(one).back() == 0);
    one.push_back({.used = false, .window = "whole"});  // repeated without pause
    CHECK(processes_of(one).back() == 0);
}

TEST_CASE("the time over processes is the mean of their medians, with Student's interval")
{
    // 8, 10 and 12.5: logarithms about that of 10, with a deviation of ln 1.25; t(97.5%, 2) is 4.303.
    const Measurement row = over_processes({process_with(7.9), process_with(9.9), process_with(12.4)});
    const double half = 4.303 * std::log(1.25) / std::sqrt(3);
    CHECK(row.seconds.median.value == Approx(10));
    CHECK(row.seconds.low.value == Approx(10 * std::exp(-half)));
    CHECK(row.seconds.high.value == Approx(10 * std::exp(half)));
    CHECK(row.data.median.value == 0);  // nothing was waited for
    CHECK(row.seconds.n == 9);
    CHECK(row.remarks == "measured by 3 processes, one after another");
    CHECK(row.forward.median.value == Approx(5).epsilon(0.02));
    CHECK(row.parts[0].seconds.median.value == Approx(2.5).epsilon(0.02));
    CHECK(row.parts[0].seconds.n == 9);
    CHECK(over_processes({process_with(1), process_with(3)}).seconds.low.value > 0);  // t is 12.706
    const Measurement alone = process_with(9);
    CHECK(over_processes({alone}).seconds.high.value == alone.seconds.high.value);
}

TEST_CASE("processes share samples and budget, where the share of each holds six steps")
{
    const StoppingOptions all{.min_samples = 6, .max_samples = 200, .budget = Seconds{12}, .processes = 6};
    const StoppingOptions own = of_one_process(all);
    CHECK(own.max_samples == 33);
    CHECK(own.budget.value == 2);
    CHECK(own.processes == 1);
    CHECK(has_several_processes(all, Seconds{0.33}));
    CHECK_FALSE(has_several_processes(all, Seconds{0.34}));
    CHECK_FALSE(has_several_processes(own, Seconds{0.01}));
    CHECK(of_one_process({.min_samples = 20, .max_samples = 20, .processes = 6}).max_samples == 20);  // of --steps 21
}

TEST_CASE("a target for the noise is looked at with 6, 12 and 24 processes alone")
{
    StoppingOptions rule{.budget = Seconds{24}, .processes = 6, .max_noise = 0.01};
    CHECK(most_processes(rule) == 24);
    CHECK(of_one_process({.budget = Seconds{24}, .min_time = Seconds{12}, .processes = 24}).min_time.value == 0.5);
    std::vector<Measurement> rows;
    for (int i = 1; i <= 24; ++i) {
        rows.push_back(process_with(10, 1));  // no spread at all
        CHECK(has_enough_processes(rows, rule) == (i == 6 || i == 12 || i == 24));
    }
    // 8, 10 and 12.5 twice: t(99.17%, 5) is 3.534 in place of 2.571.
    rows.clear();
    for (const double seconds : {8.0, 10.0, 12.5, 8.0, 10.0, 12.5}) rows.push_back(process_with(seconds, 1));
    const double error = std::log(1.25) * std::sqrt(4.0 / 5 / 6);
    CHECK(std::log(over_processes(rows).seconds.high.value / 10) == Approx(2.571 * error));
    CHECK(std::log(over_processes(rows, true).seconds.high.value / 10) == Approx(3.534 * error));
    CHECK_FALSE(has_enough_processes(rows, rule));
    rule.max_noise = 0;
    CHECK(most_processes(rule) == 6);
    CHECK(has_enough_processes(rows, rule));
    rule = {.processes = 1, .max_noise = 0.01};
    CHECK(most_processes(rule) == 1);
}

TEST_CASE("an interval that ended the sampling holds the truth in 95%")
{
    std::mt19937 random(7);
    std::normal_distribution<double> spread(0, 0.02);
    for (const double target : {0.01, 0.02, 0.03}) {
        constexpr int runs = 2000;
        const StoppingOptions rule{.processes = 6, .max_noise = target};
        int held = 0;
        for (int run = 0; run < runs; ++run) {
            std::vector<Measurement> rows;
            while (!has_enough_processes(rows, rule)) {
                Measurement& row = rows.emplace_back();
                const Seconds median{std::exp(spread(random))};
                row.seconds = {median, median, median, 1, 0};
            }
            const Estimate<Seconds> step = over_processes(rows, true).seconds;
            held += step.low.value <= 1 && 1 <= step.high.value ? 1 : 0;
        }
        CAPTURE(target, held);
        CHECK(held >= 0.945 * runs);
    }
}

// Every interval too wide for its level has a reason. A narrow one has none unless it has few samples. Tested on
// synthetic rounds under several kinds of interference, and on recorded calibrations.
#include "ert/method/ceilings/steadiness.hpp"
#include "ert/method/results/results.hpp"
#include "tests/method/sweeps.hpp"

#include <filesystem>
#include <set>

using namespace roof;
using namespace roof::tests;

namespace {

/// The differences between a point's rounds, each a standard deviation as a share.
struct Interference {
    double round_spread = 0;
    double within = 0.001;
    double of_clock = 0;
    double second_mode = 1;  ///< rate of every other round, relative to the rest
    int samples = 9;
};

constexpr double clock_rate = 4e9;

Measurement measured_row(const Measurement& point, int round, const Interference& interference, std::mt19937& random)
{
    std::normal_distribution<double> step(0, 1);
    Measurement made = point;
    made.point.set("round", std::to_string(round));
    const double clock = clock_rate * (1 + interference.of_clock * step(random));
    const double mode = round % 2 == 0 ? interference.second_mode : 1;
    const double slowed = (1 + interference.round_spread * std::abs(step(random))) / mode * clock_rate / clock;
    std::vector<double> seconds;
    for (int i = 0; i < interference.samples; ++i) {
        Sample sample;
        sample.seconds = point.seconds.median * (slowed * (1 + interference.within * step(random)));
        sample.clock = Hertz{clock};
        seconds.push_back(sample.seconds.value);
        made.samples.push_back(sample);
    }
    made.seconds = Estimate<Seconds>::of(seconds);
    return made;
}

/// A sweep and an arithmetic point, with five rounds each.
Ceilings ceilings_in(const Interference& interference, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<Measurement> points = sweep(staircase(three_caches, 30e9));
    Measurement arithmetic = row("fma", "avx512", 1, 1, 100e9);
    arithmetic.bench = "flops";
    arithmetic.role = Role::compute;
    arithmetic.point = arithmetic.point.without("working_set");
    arithmetic.work.flops = Flops{1e9};
    points.push_back(arithmetic);
    std::vector<Measurement> rows;
    const int rounds = interference.samples < least_samples ? 1 : 5;
    for (int round = 1; round <= rounds; ++round)
        for (const Measurement& point : points) rows.push_back(measured_row(point, round, interference, random));
    return fit_ceilings(rows, machine());
}

/// The limits of docs/method.md, repeated here so that the test does not depend on the code it checks.
double widest_steady(const Ceiling& ceiling)
{
    const bool is_near_core = ceiling.level == "core" || ceiling.level == "L1" || ceiling.level == "L2";
    return is_near_core ? 0.01 : 0.03;
}

bool is_right(const Ceiling& ceiling)
{
    const bool is_wide = ceiling.rate.relative_half_width() > widest_steady(ceiling);
    if (is_wide) return ceiling.steadiness > Steadiness::few_samples;
    return ceiling.steadiness == (ceiling.rate.n < least_samples ? Steadiness::few_samples : Steadiness::steady);
}

/// Returns the number of wrong results. Adds the kinds of steadiness that occurred.
int wrong_in(const Ceilings& ceilings, std::set<Steadiness>& met)
{
    for (const Ceiling& ceiling : ceilings.all) met.insert(ceiling.steadiness);
    return static_cast<int>(std::ranges::count_if(ceilings.all, [](const Ceiling& c) { return !is_right(c); }));
}

const Ceiling& of_core(const Ceilings& ceilings)
{
    const Ceiling* const found = ceilings.compute("cpu", "", 1);
    REQUIRE(found != nullptr);
    return *found;
}

}  // namespace

/// A ceiling of this level whose interval extends by `half_width` to both sides.
Steadiness steadiness_at(const std::string& level, double half_width)
{
    Ceiling ceiling;
    ceiling.level = level;
    ceiling.rate = {{100}, {100 * (1 - half_width)}, {100 * (1 + half_width)}, 9, 0};
    return steadiness_of(ceiling);
}

TEST_CASE("one percent is steady for the core, L1 and L2, three percent for all other levels")
{
    for (const char* level : {"core", "L1", "L2"}) {
        CAPTURE(level);
        CHECK(steadiness_at(level, 0.0099) == Steadiness::steady);
        CHECK(steadiness_at(level, 0.0101) == Steadiness::unsteady);
    }
    for (const char* level : {"L3", "DRAM", "host"}) {
        CAPTURE(level);
        CHECK(steadiness_at(level, 0.0299) == Steadiness::steady);
        CHECK(steadiness_at(level, 0.0301) == Steadiness::unsteady);
    }
}

TEST_CASE("a wide interval has a reason and a narrow one has none, under every kind of interference")
{
    const std::vector<Interference> kinds{{},
                                          {.of_clock = 0.02},
                                          {.round_spread = 0.03},
                                          {.round_spread = 0.3},
                                          {.round_spread = 0.01, .within = 0.02},
                                          {.second_mode = 0.7},
                                          {.samples = 3},
                                          {.within = 0.1, .samples = 3}};
    std::set<Steadiness> met;
    int wrong = 0;
    for (unsigned seed = 0; seed < 5; ++seed)
        for (const Interference& interference : kinds) wrong += wrong_in(ceilings_in(interference, seed), met);
    CHECK(wrong == 0);
    CHECK(met.size() == 5);  // otherwise the cases above test nothing
}

TEST_CASE("a wide interval has a reason and a narrow one has none, in recorded calibrations")
{
    std::set<Steadiness> met;
    int found = 0;
    for (const char* folder : {ROOF_TEST_DATA "/../../results/examples", ROOF_TEST_DATA "/data"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (entry.path().filename() != "measurements.csv") continue;
            const Results results = read_results(entry.path().parent_path());
            CAPTURE(entry.path().string());
            CHECK(wrong_in(fit_ceilings(results.rows, results.machine), met) == 0);
            ++found;
        }
    }
    CHECK(found > 3);
    CHECK(met.size() > 1);
}

TEST_CASE("a varying clock is the reason if the rate per clock is narrow")
{
    const Ceiling& wandering = of_core(ceilings_in({.of_clock = 0.02}, 1));
    CHECK(wandering.steadiness == Steadiness::unsteady_clock);
    CHECK(wandering.per_clock.relative_half_width() < 0.01);
    CHECK(of_core(ceilings_in({.round_spread = 0.3, .within = 0.1, .of_clock = 0.02}, 1)).steadiness ==
          Steadiness::unsteady);
}

TEST_CASE("two rates that alternate are bimodal, and too few samples are reported as few")
{
    CHECK(of_core(ceilings_in({.second_mode = 0.7}, 1)).steadiness == Steadiness::bimodal);
    CHECK(of_core(ceilings_in({.samples = 3}, 1)).steadiness == Steadiness::few_samples);
}

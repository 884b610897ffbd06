// No interval too wide for its level goes without a verdict, and no narrow one has one but where samples are few: of made-up
// rounds in all interferences, and of recorded ones.
#include "ert/method/ceilings/steadiness.hpp"
#include "ert/method/results/results.hpp"
#include "tests/method/sweeps.hpp"

#include <filesystem>
#include <set>

using namespace roof;
using namespace roof::tests;

namespace {

/// How a point's rounds differ, each a standard deviation as a share.
struct Interference {
    double round_spread = 0;
    double within = 0.001;
    double of_clock = 0;
    double second_mode = 1;  ///< every other round's rate, over that of the rest
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

/// A sweep and an arithmetic point, five rounds to each.
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

bool is_right(const Ceiling& ceiling)
{
    const bool is_wide = ceiling.rate.relative_half_width() > tolerance_of(ceiling.level);
    if (is_wide) return ceiling.steadiness > Steadiness::few_samples;
    return ceiling.steadiness == (ceiling.rate.n < least_samples ? Steadiness::few_samples : Steadiness::steady);
}

/// How many are not right; adds the verdicts met.
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

TEST_CASE("in every interference a wide interval has a verdict and a narrow one has none")
{
    const std::vector<Interference> interferences{{},
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
        for (const Interference& interference : interferences) wrong += wrong_in(ceilings_in(interference, seed), met);
    CHECK(wrong == 0);
    CHECK(met.size() == 5);  // or nothing was tried
}

TEST_CASE("recorded calibrations: the same")
{
    std::set<Steadiness> met;
    int found = 0;
    const std::filesystem::path examples = ROOF_TEST_DATA "/../../results/examples";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(examples)) {
        if (entry.path().filename() != "measurements.csv") continue;
        const Results results = read_results(entry.path().parent_path());
        CHECK(wrong_in(fit_ceilings(results.rows, results.machine), met) == 0);
        ++found;
    }
    CHECK(found > 0);
    CHECK(met.size() > 1);
}

TEST_CASE("a clock that wanders is named as what makes the interval wide, where the rate per clock is one")
{
    const Ceiling& wandering = of_core(ceilings_in({.of_clock = 0.02}, 1));
    CHECK(wandering.steadiness == Steadiness::unsteady_clock);
    CHECK(wandering.per_clock.relative_half_width() < 0.01);
    CHECK(of_core(ceilings_in({.round_spread = 0.3, .within = 0.1, .of_clock = 0.02}, 1)).steadiness ==
          Steadiness::unsteady);
}

TEST_CASE("two rates on end are bimodal, and samples too few to tell are said to be few")
{
    CHECK(of_core(ceilings_in({.second_mode = 0.7}, 1)).steadiness == Steadiness::bimodal);
    CHECK(of_core(ceilings_in({.samples = 3}, 1)).steadiness == Steadiness::few_samples);
}

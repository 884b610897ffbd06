// The statistics of fleets.
#include "analysis/fleet/robust.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace roof::analysis;

TEST_CASE("median and scatter leave the machine itself out")
{
    const RateGroup group({{1, 0}, {2, 0}, {4, 0}, {8, 0}, {100, 0}});
    CHECK(group.median_without(4) == 3);
    CHECK(group.median_without(0) == 6);
    CHECK(group.median() == 4);
    CHECK(group.scatter() == Approx(1.4826 * 3));
}

TEST_CASE("the scatter is the deviation of the wanted rank, whatever the order")
{
    std::mt19937 generator(3);
    for (const std::size_t n : {6, 7, 30, 31}) {
        std::vector<LogRate> rates(n);
        for (LogRate& rate : rates) rate.x = std::normal_distribution<double>()(generator);
        const RateGroup group(rates);
        std::vector<double> distances;
        for (const LogRate& rate : rates) distances.push_back(std::fabs(rate.x - group.median()));
        std::ranges::sort(distances);
        CHECK(group.scatter() == Approx(1.4826 * distances[n / 2]).epsilon(1e-6));
    }
}

TEST_CASE("the chance that a healthy machine lies as low is that of simulated ones")
{
    std::mt19937 generator(5);
    std::normal_distribution<double> normal;
    for (const std::size_t n : {8, 30}) {
        int below = 0;
        constexpr int groups = 400;
        for (int g = 0; g < groups; ++g) {
            std::vector<LogRate> rates(n);
            for (LogRate& rate : rates) rate = {0.01 * normal(generator), 1e-6};
            below += RateGroup(rates).chance_as_low(rates[0], 0) < 0.01;
        }
        CHECK(below <= 14);  // 4 expected; more with a chance of 1e-4
    }
}

TEST_CASE("few machines make the same distance less certain")
{
    const auto chance = [](std::size_t n) {
        std::vector<LogRate> rates(n);
        for (std::size_t i = 0; i < n; ++i) rates[i].x = std::sin(static_cast<double>(i) * 2.4) * 0.015;
        rates[0].x = -0.08;
        return RateGroup(rates).chance_as_low(rates[0], 0);
    };
    CHECK(chance(8) > 10 * chance(200));
}

TEST_CASE(
    "Holm stops at the first chance that is too large, and Benjamini and Hochberg at the last that is small enough")
{
    const std::vector<double> chances{0.002, 0.0005, 0.006, 0.5};
    CHECK(holm(chances, 4) == std::vector<bool>{true, true, false, false});
    CHECK(benjamini_hochberg(chances, 4) == std::vector<bool>{true, true, true, false});
    CHECK(holm(chances, 100) == std::vector<bool>{false, false, false, false});
}

TEST_CASE("Mann and Whitney's test sees a shift, not a constant")
{
    std::vector<double> values;
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < 40; ++i) {
        values.push_back(i < 15 ? 1.0 + 0.001 * static_cast<double>(i) : 2.0);
        if (i < 15) some.push_back(i);
    }
    CHECK(chance_of_difference(ranks_of(values), some) < 1e-6);
    CHECK(chance_of_difference(ranks_of(std::vector<double>(40, 1.0)), some) == 1);
    CHECK(chance_of_difference(ranks_of(values), std::vector<std::size_t>{0, 1}) == 1);
    CHECK(ranks_of(std::vector<double>{5, 1, 5}) == std::vector<double>{2.5, 1, 2.5});
}

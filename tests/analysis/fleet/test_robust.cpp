// The statistics of fleets.
#include "analysis/fleet/robust.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace roof::analysis;

namespace {

constexpr double square_of_normal = 0.863273406170;  // of a standard normal number, cut at 1.75

/// The definition, by bisection.
double variance_of(const std::vector<double>& values, double median)
{
    double low = 0;
    double high = 1e6;
    for (int step = 0; step < 200; ++step) {
        const double v = 0.5 * (low + high);
        double sum = 0;
        for (const double x : values) sum += std::min((x - median) * (x - median), 1.75 * 1.75 * v);
        (sum / static_cast<double>(values.size()) > square_of_normal * v ? low : high) = v;
    }
    return low;
}

/// The definition: the mean of the deviations from the median, each cut at 1.75 standard deviations, over the share of a normal scatter within.
double middle_of(const std::vector<double>& values, double median)
{
    constexpr double within = 0.919881686272;
    const double reach = 1.75 * std::sqrt(variance_of(values, median));
    double sum = 0;
    for (const double x : values) sum += std::clamp(x - median, -reach, reach);
    return median + sum / (within * static_cast<double>(values.size()));
}

}  // namespace

TEST_CASE("median and scatter leave the machine itself out, and a far value counts as 1.75 deviations")
{
    const RateGroup group({{1, 0}, {2, 0}, {4, 0}, {8, 0}, {100, 0}});
    CHECK(group.median_without(4) == 3);
    CHECK(group.median_without(0) == 6);
    CHECK(group.median() == 4);
    CHECK(group.scatter() == Approx(std::sqrt(29 / (5 * square_of_normal - 1.75 * 1.75))));
}

TEST_CASE("variance and middle without one value are those of the definition")
{
    std::mt19937 generator(3);
    for (const std::size_t n : {3, 6, 7, 30, 31}) {
        std::vector<double> values(n);
        for (double& x : values) x = 5 + std::student_t_distribution<double>(2)(generator);
        std::ranges::sort(values);
        const SortedRates sorted(values);
        for (std::size_t left_out = 0; left_out < n; ++left_out) {
            std::vector<double> others = values;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
            const auto [median, variance] = sorted.median_and_variance(left_out);
            CHECK(median == Approx(median_of(others)));
            CHECK(variance == Approx(variance_of(others, median)).epsilon(1e-6).margin(1e-9));
            CHECK(sorted.scale(left_out).middle == Approx(middle_of(others, median)));
        }
        const auto [median, variance] = sorted.median_and_variance(no_place);
        CHECK(variance == Approx(variance_of(values, median)).epsilon(1e-6).margin(1e-9));
    }
}

TEST_CASE("equal values have no variance")
{
    CHECK(SortedRates({2, 2, 2, 2}).median_and_variance(no_place) == std::pair(2.0, 0.0));
    CHECK(SortedRates({}).median_and_variance(no_place) == std::pair(0.0, 0.0));
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

TEST_CASE("derivatives of ln Gamma are those of the tables")
{
    constexpr double euler = 0.577215664901533;
    constexpr double pi2 = 9.869604401089358;
    CHECK(digamma(1) == Approx(-euler).epsilon(2e-4));
    CHECK(digamma(0.5) == Approx(-euler - 2 * std::log(2)).epsilon(2e-4));
    CHECK(trigamma(1) == Approx(pi2 / 6).epsilon(2e-4));
    CHECK(trigamma(0.5) == Approx(pi2 / 2).epsilon(2e-4));
    CHECK(trigamma(1e5) == Approx(1e-5).epsilon(2e-4));
    CHECK(inverse_trigamma(pi2 / 6) == Approx(1).epsilon(2e-4));
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
    const std::vector<double> chances{0.005, 0.00125, 0.015, 0.5};
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

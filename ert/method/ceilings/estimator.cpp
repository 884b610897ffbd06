#include "ert/method/ceilings/estimator.hpp"

#include "ert/base/names.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace roof {
namespace {

constexpr std::array<Named<Steadiness>, 4> names{{
    {Steadiness::steady, "steady"},
    {Steadiness::clock_varied, "unsteady: clock"},
    {Steadiness::rounds_disagree, "unsteady: rounds"},
    {Steadiness::at_least, "at least"},
}};

// Set by the simulation in tests/method/test_estimator.cpp and held against recorded calibrations of two machines (docs/ceilings.md).
constexpr double window_in_tolerances = 1.5;
constexpr double min_share = 0.45;  ///< of all samples, in the window
constexpr std::size_t min_samples_of_round = 2;
constexpr std::size_t min_rounds = 3;

/// Student's t, 97.5%, for 1 to 30 degrees of freedom.
constexpr std::array<double, 30> student{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                         2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                         2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

struct Window {
    double low = 0;
    double high = 0;

    bool holds(double value) const { return low <= value && value <= high; }
};

Window around(double centre, double reach)
{
    return {centre * (1 - reach), centre * (1 + reach)};
}

std::vector<double> within(const Window& window, const std::vector<double>& values)
{
    std::vector<double> inside;
    std::ranges::copy_if(values, std::back_inserter(inside), [&](double value) { return window.holds(value); });
    return inside;
}

/// The window described in the header. The limit only ends a cycle between two windows.
Window fastest_agreement(const std::vector<double>& values, double reach)
{
    std::vector<double> sorted = values;
    std::ranges::sort(sorted, std::greater{});
    double centre = sorted[std::min(min_samples, (sorted.size() + 1) / 2) - 1];
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double median = spread_of(within(around(centre, reach), values)).median;
        if (median == centre) break;
        centre = median;
    }
    return around(centre, reach);
}

/// The samples as they are compared: per clock if `per_clock`, and then without those whose clock is not known.
std::vector<Round> compared(const std::vector<Round>& rounds, bool per_clock)
{
    if (!per_clock) return rounds;
    std::vector<Round> result = rounds;
    for (Round& round : result) {
        std::erase_if(round, [](const RateSample& sample) { return sample.clock <= 0; });
        for (RateSample& sample : round) sample.rate /= sample.clock;
    }
    return result;
}

/// Mean and Student's interval of the rounds' medians.
Spread over_rounds(const std::vector<double>& medians)
{
    const auto n = static_cast<double>(medians.size());
    const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / n;
    double squares = 0;
    for (const double median : medians) squares += (median - mean) * (median - mean);
    const double half = student[std::min(medians.size() - 2, student.size() - 1)] * std::sqrt(squares / (n - 1) / n);
    return {mean, mean - half, mean + half};
}

template <class Unit>
Estimate<Unit> scaled(const Spread& spread, const Spread& factor, int n)
{
    return {{spread.median * factor.median}, {spread.low * factor.low}, {spread.high * factor.high}, n, 0};
}

}  // namespace

std::string_view name(Steadiness steadiness)
{
    return name_in(names, steadiness);
}

SustainedRate sustained_rate(const std::vector<Round>& rounds, double tolerance, const Estimate<Hertz>& clock)
{
    const bool per_clock = clock.median.value > 0;
    std::vector<std::vector<double>> values;
    std::vector<double> all;
    std::vector<double> undisturbed;
    for (const Round& round : compared(rounds, per_clock)) {
        values.emplace_back();
        for (const RateSample& sample : round) {
            values.back().push_back(sample.rate);
            all.push_back(sample.rate);
            if (!sample.disturbed) undisturbed.push_back(sample.rate);
        }
    }
    if (all.empty()) return {};

    const Window window = fastest_agreement(all, tolerance * window_in_tolerances);
    const std::vector<double> agreeing = within(window, all);
    std::vector<double> medians;
    for (const std::vector<double>& round : values)
        if (const std::vector<double> inside = within(window, round); inside.size() >= min_samples_of_round)
            medians.push_back(spread_of(inside).median);
    const bool is_shown = medians.size() >= min_rounds && agreeing.size() >= min_samples &&
                          static_cast<double>(agreeing.size()) >= min_share * static_cast<double>(all.size()) &&
                          2 * within(window, undisturbed).size() >= agreeing.size();
    const Spread spread = medians.size() >= min_rounds ? over_rounds(medians) : spread_of(agreeing);

    SustainedRate result;
    const int n = static_cast<int>(agreeing.size());
    const Spread hertz = per_clock ? Spread{clock.median.value, clock.low.value, clock.high.value} : Spread{1, 1, 1};
    result.rate = scaled<Quantity<0, 0, -1>>(spread, hertz, n);
    if (per_clock) result.per_clock = scaled<Quantity<0, 0, 0>>(spread, {1, 1, 1}, n);
    result.rounds = static_cast<int>(medians.size());
    const bool agrees = spread.high - spread.low <= 2 * tolerance * spread.median;
    result.steadiness = !is_shown                                       ? Steadiness::at_least
                        : !agrees                                       ? Steadiness::rounds_disagree
                        : result.rate.relative_half_width() > tolerance ? Steadiness::clock_varied
                                                                        : Steadiness::steady;
    return result;
}

}  // namespace roof

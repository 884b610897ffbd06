#include "ert/method/ceilings/estimator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

namespace roof {
namespace {

// Set by the simulation in tests/method/test_estimator.cpp and held against recorded calibrations of two machines (docs/ceilings.md).
constexpr double window_in_tolerances = 1.5;
constexpr double min_share = 0.45;   ///< of all samples, in the window
constexpr double max_faster = 0.04;  ///< of all samples, faster than the window
constexpr std::size_t min_samples_of_round = 2;
constexpr std::size_t by_chance = 2;  ///< samples that may be faster than the hardware

/// Student's t, 98.75%, for 1 to 30 degrees of freedom: rounds are looked at twice, after the planned ones and after all.
constexpr std::array<double, 30> student{25.452, 6.205, 4.177, 3.495, 3.163, 2.969, 2.841, 2.752, 2.685, 2.634,
                                         2.593,  2.560, 2.533, 2.510, 2.490, 2.473, 2.458, 2.445, 2.433, 2.423,
                                         2.414,  2.405, 2.398, 2.391, 2.385, 2.379, 2.373, 2.368, 2.364, 2.360};

/// Of ascending values those in the window around `centre` that reaches this share of it to both sides.
std::span<const double> within(double reach, double centre, std::span<const double> sorted)
{
    const auto low = std::ranges::lower_bound(sorted, centre * (1 - reach));
    return {low, std::upper_bound(low, sorted.end(), centre * (1 + reach))};
}

double median_of(std::span<const double> sorted)
{
    return (sorted[sorted.size() / 2] + sorted[(sorted.size() - 1) / 2]) / 2;
}

/// The centre of the window described in the header. The limit only ends a cycle between two windows.
double fastest_agreement(std::span<const double> sorted, double reach)
{
    double centre = sorted[sorted.size() - std::min(by_chance + 1, (sorted.size() + 1) / 2)];
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto inside = within(reach, centre, sorted);
        if (inside.empty() || median_of(inside) == centre) break;
        centre = median_of(inside);
    }
    return centre;
}

/// Mean and Student's interval of the rounds' medians.
Spread over_rounds(const std::vector<double>& medians)
{
    const auto n = static_cast<double>(medians.size());
    const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / n;
    double squares = 0;
    for (const double median : medians) squares += (median - mean) * (median - mean);
    const double half = half_width_in_errors(static_cast<int>(medians.size())) * std::sqrt(squares / (n - 1) / n);
    return {mean, mean - half, mean + half};
}

}  // namespace

double half_width_in_errors(int rounds)
{
    constexpr double normal = 1.96;
    if (rounds < min_rounds) return normal;
    return student[std::min(static_cast<std::size_t>(rounds) - 2, student.size() - 1)];
}

SustainedRate sustained_rate(const std::vector<Round>& rounds, double tolerance, const Estimate<Hertz>& clock)
{
    const bool per_clock = clock.median.value > 0;
    std::vector<std::vector<double>> values;
    std::vector<double> all;
    std::vector<double> undisturbed;
    std::vector<double> left_out;
    for (const Round& round : rounds) {
        values.emplace_back();
        for (const RateSample& sample : round) {
            if (per_clock && sample.clock <= 0) continue;
            const double value = per_clock ? sample.rate / sample.clock : sample.rate;
            if (sample.left_out) {
                left_out.push_back(value);
                continue;
            }
            values.back().push_back(value);
            all.push_back(value);
            if (!sample.disturbed) undisturbed.push_back(value);
        }
    }
    if (all.empty()) return {};
    for (std::vector<double>& round : values) std::ranges::sort(round);
    for (auto* const seen : {&all, &undisturbed, &left_out}) std::ranges::sort(*seen);

    const double reach = tolerance * window_in_tolerances;
    const double centre = fastest_agreement(all, reach);
    const std::span<const double> agreeing = within(reach, centre, all);
    std::vector<double> medians;
    for (const std::vector<double>& round : values)
        if (const auto inside = within(reach, centre, round); inside.size() >= min_samples_of_round)
            medians.push_back(median_of(inside));
    std::ptrdiff_t faster = 0;
    for (const std::vector<double>* const seen : {&all, &left_out})
        faster += seen->end() - std::ranges::upper_bound(*seen, centre * (1 + reach));
    const bool is_shown =
        std::ssize(medians) >= min_rounds && agreeing.size() >= min_samples &&
        static_cast<double>(agreeing.size()) >= min_share * static_cast<double>(all.size()) &&
        static_cast<double>(faster) <= max_faster * static_cast<double>(all.size() + left_out.size()) &&
        2 * within(reach, centre, undisturbed).size() >= agreeing.size();
    Spread spread = is_shown ? over_rounds(medians) : spread_of(agreeing);
    if (!is_shown) spread.median = spread.low;

    SustainedRate result;
    const bool agrees = spread.high - spread.low <= 2 * tolerance * spread.median;
    const int n = static_cast<int>(agreeing.size());
    Spread hertz{1, 1, 1};
    if (per_clock) hertz = {clock.median.value, is_shown ? clock.low.value : clock.median.value, clock.high.value};
    result.rate = {{spread.median * hertz.median}, {spread.low * hertz.low}, {spread.high * hertz.high}, n, 0};
    if (per_clock) result.per_clock = {{spread.median}, {spread.low}, {spread.high}, n, 0};
    result.centre = centre * hertz.median;
    result.rounds = static_cast<int>(medians.size());
    result.steadiness = !is_shown                                       ? Steadiness::at_least
                        : !agrees                                       ? Steadiness::rounds_disagree
                        : result.rate.relative_half_width() > tolerance ? Steadiness::clock_varied
                                                                        : Steadiness::steady;
    return result;
}

SustainedRate rate_over_rounds(const std::vector<Round>& rounds, double tolerance)
{
    std::vector<double> medians;
    std::vector<double> clocks;
    std::vector<double> per_clock;
    int samples = 0;
    for (const Round& round : rounds) {
        std::vector<double> rates;
        std::vector<double> hertz;
        std::vector<double> ratios;
        for (const RateSample& sample : round) {
            if (sample.disturbed || sample.left_out) continue;
            rates.push_back(sample.rate);
            if (sample.clock <= 0) continue;
            hertz.push_back(sample.clock);
            ratios.push_back(sample.rate / sample.clock);
        }
        if (rates.size() < min_samples_of_round) continue;
        medians.push_back(spread_of(rates).median);
        samples += static_cast<int>(rates.size());
        if (hertz.size() < min_samples_of_round) continue;
        clocks.push_back(spread_of(hertz).median);
        per_clock.push_back(spread_of(ratios).median);
    }
    if (std::ssize(medians) < min_rounds) return {};
    SustainedRate result;
    const auto set = [samples](auto& estimate, const std::vector<double>& of_rounds) {
        const Spread spread = over_rounds(of_rounds);
        estimate = {{spread.median}, {std::max(0.0, spread.low)}, {spread.high}, samples, 0};
    };
    set(result.rate, medians);
    if (clocks.size() == medians.size()) {
        set(result.per_clock, per_clock);
        set(result.clock, clocks);
    }
    result.centre = result.rate.median.value;
    result.rounds = static_cast<int>(medians.size());
    result.steadiness =
        result.rate.relative_half_width() > tolerance ? Steadiness::rounds_disagree : Steadiness::steady;
    return result;
}

}  // namespace roof

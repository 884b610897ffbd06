#include "ert/method/ceilings/estimator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

namespace roof {
namespace {

// Set by the simulation in tests/method/test_estimator.cpp and held against recorded calibrations of two machines
// (docs/ceilings.md).
constexpr double window_in_tolerances = 1.5;
constexpr double luck_in_tolerances = 4;  ///< how far rounds of one rate lie apart by their pages and loops
constexpr double min_share = 0.45;        ///< of the samples, in the window
constexpr double max_faster = 0.04;       ///< of all samples, faster than the window
constexpr std::size_t min_samples_of_round = 2;
constexpr int min_rounds_before = 2;  ///< a change
constexpr std::size_t by_chance = 2;  ///< samples that may be faster than the hardware

/// Student's t, 98.75%, for 1 to 30 degrees of freedom: rounds are looked at twice, after the planned ones and after
/// all.
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

double count_above(double value, std::span<const double> sorted)
{
    return static_cast<double>(sorted.end() - std::ranges::upper_bound(sorted, value));
}

/// The samples of one round, ascending.
struct SortedRound {
    std::vector<double> all;
    std::vector<double> undisturbed;

    /// The median of the undisturbed ones; 0 if they are too few.
    double rate() const { return undisturbed.size() < min_samples_of_round ? 0 : median_of(undisturbed); }
};

/// The third fastest rate of a round; `otherwise` if there are fewer.
double third_of(const std::vector<SortedRound>& rounds, double otherwise)
{
    std::vector<double> rates;
    for (const SortedRound& round : rounds)
        if (round.rate() > 0) rates.push_back(round.rate());
    if (std::ssize(rates) < min_rounds) return otherwise;
    std::ranges::sort(rates);
    return rates[rates.size() - min_rounds];
}

/// Where a round lies: `near` where it counts; `unknown` without undisturbed samples.
enum class RoundPlace { unknown, near, faster, slower };

/// The first round that is slower, if all after it are slower too; -1 if there is none.
int change_in(const std::vector<RoundPlace>& places)
{
    const auto is_slower = [](RoundPlace place) { return place == RoundPlace::slower || place == RoundPlace::unknown; };
    const auto first = std::ranges::find(places, RoundPlace::slower);
    if (first == places.end() || !std::all_of(first, places.end(), is_slower)) return -1;
    const bool is_seen = std::count(places.begin(), first, RoundPlace::near) >= min_rounds_before;
    return is_seen ? static_cast<int>(first - places.begin()) : -1;
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
    std::vector<SortedRound> sorted(rounds.size());
    std::vector<double> all;
    std::vector<double> undisturbed;
    std::vector<double> late;
    std::vector<double> left_out;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        for (const RateSample& sample : rounds[i]) {
            if (per_clock && sample.clock <= 0) continue;
            const double value = per_clock ? sample.rate / sample.clock : sample.rate;
            if (sample.left_out) {
                left_out.push_back(value);
                continue;
            }
            sorted[i].all.push_back(value);
            all.push_back(value);
            if (sample.is_late) late.push_back(value);
            if (sample.disturbed) continue;
            sorted[i].undisturbed.push_back(value);
            undisturbed.push_back(value);
        }
        for (auto* const list : {&sorted[i].all, &sorted[i].undisturbed}) std::ranges::sort(*list);
    }
    if (all.empty()) return {};
    for (auto* const list : {&all, &undisturbed, &late, &left_out}) std::ranges::sort(*list);

    const double reach = tolerance * window_in_tolerances;
    const double centre = fastest_agreement(all, reach);
    const std::span<const double> agreeing = within(reach, centre, all);
    const auto is_inside = [&](const SortedRound& round) {
        return within(reach, centre, round.all).size() >= min_samples_of_round;
    };
    const auto rounds_inside = std::ranges::count_if(sorted, is_inside);
    // Where fewer rounds than that agree, the third fastest stands for those that differ by themselves.
    const double anchor = rounds_inside >= min_rounds ? centre : third_of(sorted, centre);
    const double luck = tolerance * luck_in_tolerances;
    std::vector<double> medians;     // of the rounds that count
    std::vector<double> inside;      // of the rounds that agree
    std::vector<RoundPlace> places;  // of all rounds
    double faster = count_above(centre * (1 + reach), left_out);
    for (const SortedRound& round : sorted) {
        const double own = round.rate();
        const bool is_near = own > 0 && std::abs(own / anchor - 1) <= luck;
        const bool counts = is_inside(round) && anchor == centre;
        places.push_back(counts || is_near ? RoundPlace::near
                         : own <= 0        ? RoundPlace::unknown
                         : own < anchor    ? RoundPlace::slower
                                           : RoundPlace::faster);
        if (counts) inside.push_back(median_of(within(reach, centre, round.all)));
        if (counts || is_near) medians.push_back(counts ? inside.back() : own);
        if (counts || !is_near) faster += count_above(centre * (1 + reach), round.all);
    }
    while (!places.empty() && places.back() == RoundPlace::unknown) places.pop_back();
    const bool has_rounds = std::ssize(medians) >= min_rounds && !places.empty() && places.back() == RoundPlace::near &&
                            2 * within(reach, centre, undisturbed).size() >= agreeing.size();
    // A rate that rows begin with and do not keep is a burst: their later halves have to show it a third as often.
    const auto is_kept = [&](double width, double middle) {
        const auto share_of = [&](const std::vector<double>& list) {
            return static_cast<double>(within(width, middle, list).size()) / static_cast<double>(list.size());
        };
        return share_of(all) >= min_share && (late.empty() || 3 * share_of(late) >= share_of(all));
    };
    const auto is_chance = [&](double faster_ones) {
        return faster_ones <= max_faster * static_cast<double>(all.size() + left_out.size());
    };
    const bool is_shown = has_rounds && rounds_inside >= min_rounds && 2 * rounds_inside > std::ssize(medians) &&
                          agreeing.size() >= min_samples && is_chance(faster) && is_kept(reach, centre);
    const double beyond = count_above(anchor * (1 + luck), all) + count_above(anchor * (1 + luck), left_out);
    const bool differ = !is_shown && has_rounds && is_chance(beyond) && beyond <= by_chance && is_kept(luck, anchor);
    const int change = is_shown || differ ? -1 : change_in(places);
    Spread spread = is_shown || differ ? over_rounds(medians) : spread_of(agreeing);
    if (is_shown) {
        // A rate that fell by less than the window's reach is what the last round has.
        const Spread agree = over_rounds(inside);
        spread = {agree.median, std::min({spread.low, agree.low, medians.back()}),
                  std::max({spread.high, agree.high, medians.back()})};
    }
    if (differ) spread = {anchor, std::min(spread.low, anchor), std::max(spread.high, centre)};
    if (!is_shown && !differ) spread.median = spread.low;

    SustainedRate result;
    const bool agrees = is_shown && spread.high - spread.low <= 2 * tolerance * spread.median;
    const int n = static_cast<int>(agreeing.size());
    Spread hertz{1, 1, 1};
    if (per_clock) hertz = {clock.median.value, is_shown ? clock.low.value : clock.median.value, clock.high.value};
    result.rate = {{spread.median * hertz.median}, {spread.low * hertz.low}, {spread.high * hertz.high}, n, 0};
    if (per_clock) result.per_clock = {{spread.median}, {spread.low}, {spread.high}, n, 0};
    result.centre = centre * hertz.median;
    result.rounds = static_cast<int>(is_shown || differ ? std::ssize(medians) : rounds_inside);
    result.differ = differ;
    if (change >= 0) {
        std::vector<double> after;
        for (auto round = sorted.begin() + change; round != sorted.end(); ++round)
            if (!round->undisturbed.empty()) after.push_back(median_of(round->undisturbed));
        result.changed_at = change;
        result.after = spread_of(after).median * hertz.median;
    }
    result.steadiness = differ                                          ? Steadiness::rounds_disagree
                        : change >= 0                                   ? Steadiness::changed
                        : !is_shown                                     ? Steadiness::at_least
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

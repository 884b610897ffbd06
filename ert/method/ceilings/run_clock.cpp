#include "ert/method/ceilings/run_clock.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>
#include <tuple>
#include <utility>

namespace roof {
namespace {

std::string similar_work(const Measurement& row)
{
    std::string key = row.device + " " + std::string(name(row.role));
    for (const char* const axis : {"isa", "threads"})
        if (row.point.has(axis)) key += " " + row.point.text(axis);
    return key;
}

/// One round of a point: the medians of its undisturbed samples with a clock.
struct RoundMedians {
    std::size_t place = 0;  ///< among the rows
    double rate = 0;
    double clock = 0;
};

std::vector<RoundMedians> rounds_of(const PointSummary& point)
{
    std::vector<RoundMedians> rounds;
    for (std::size_t i = 0; i < point.samples.size(); ++i) {
        std::vector<double> clocks;
        std::vector<double> rates;
        for (const RateSample& sample : point.samples[i]) {
            if (sample.disturbed || sample.clock <= 0) continue;
            clocks.push_back(sample.clock);
            rates.push_back(sample.rate);
        }
        if (!clocks.empty()) rounds.push_back({point.places[i], spread_of(rates).median, spread_of(clocks).median});
    }
    return rounds;
}

/// Of rounds, by their place among the rows.
using Clocks = std::map<std::size_t, double>;

double median_of(const Clocks& clocks)
{
    const auto values = std::views::values(clocks);
    return spread_of(std::vector<double>(values.begin(), values.end())).median;
}

/// The median of each clock over that of the round of `others` that was nearest in time.
double over_nearest(const Clocks& clocks, const Clocks& others)
{
    std::vector<double> ratios;
    for (const auto& [place, clock] : clocks) {
        auto nearest = others.lower_bound(place);
        if (nearest == others.end() ||
            (nearest != others.begin() && place - std::prev(nearest)->first < nearest->first - place))
            --nearest;
        ratios.push_back(clock / nearest->second);
    }
    return spread_of(ratios).median;
}

constexpr std::size_t one_odd_reading_in = 100;
constexpr double least_difference = 0.004;  ///< of clocks or rates: readings and samples scatter by less

/// Of all pairs of rounds whose clocks differ: those whose rates differ likewise, less those whose rates agree.
/// Interference makes others.
int votes_for_clock(const std::vector<RoundMedians>& rounds)
{
    int votes = 0;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        for (std::size_t k = i + 1; k < rounds.size(); ++k) {
            const double clock = std::log(rounds[i].clock / rounds[k].clock);
            const double rate = std::log(rounds[i].rate / rounds[k].rate);
            if (std::abs(clock) < least_difference) continue;
            if (std::abs(rate - clock) < least_difference) ++votes;
            if (std::abs(rate) < least_difference) --votes;
        }
    }
    return votes;
}

}  // namespace

RunClock::RunClock(const std::vector<PointSummary>& points)
{
    struct Measured {
        const Measurement* row;
        std::string key;  ///< of similar work
        std::vector<RoundMedians> rounds;
    };
    std::vector<Measured> measured;
    for (const PointSummary& point : points)
        if (auto rounds = rounds_of(point); !rounds.empty())
            measured.push_back({&point.best, similar_work(point.best), std::move(rounds)});

    std::map<std::string, std::map<std::string, Clocks>> by_device;  // and key
    std::map<std::string, double> smallest;                          // working set, by key
    for (const auto& [row, key, rounds] : measured) {
        for (const RoundMedians& round : rounds) by_device[row->device][key][round.place] = round.clock;
        if (!row->point.has("working_set")) continue;
        const double bytes = row->point.number("working_set");
        double& least = smallest.try_emplace(key, bytes).first->second;
        least = std::min(least, bytes);
    }
    std::map<std::string, int> votes;
    for (const auto& [row, key, rounds] : measured) {
        const bool is_in_core = row->role == Role::compute ||
                                (row->point.has("working_set") && row->point.number("working_set") <= smallest.at(key));
        if (is_in_core) votes[row->device] += votes_for_clock(rounds);
    }
    for (const auto& [device, works] : by_device) {
        const Clocks& commonest =
            std::ranges::max_element(works, {}, [](const auto& work) { return work.second.size(); })->second;
        const auto differ = [](const auto& work) {
            const auto [lowest, highest] = std::ranges::minmax(std::views::values(work.second));
            return std::log(highest / lowest) > least_difference;
        };
        if (votes[device] >= 0 && std::ranges::any_of(works, differ)) varying_.insert(device);
        for (const auto& [key, clocks] : works) {
            const double share = shares_[key] =
                varies(device) ? over_nearest(clocks, commonest) : median_of(clocks) / median_of(commonest);
            for (const auto& [place, clock] : clocks) clocks_[device].push_back(clock / share);
        }
        std::ranges::sort(clocks_[device]);
    }
}

Estimate<Hertz> RunClock::under(const PointSummary& point) const
{
    const auto share = shares_.find(similar_work(point.best));
    if (share == shares_.end()) return {};
    const std::vector<double>& clocks = clocks_.find(point.best.device)->second;
    const auto of_work = [&](double clock) { return Hertz{share->second * clock}; };
    const std::size_t odd = clocks.size() / one_odd_reading_in;
    return {of_work(clocks[clocks.size() / 2]), of_work(clocks[odd]), of_work(clocks[clocks.size() - 1 - odd]),
            static_cast<int>(clocks.size()), 0};
}

std::vector<Round> RunClock::credible_samples(const PointSummary& point, std::vector<Round> rounds) const
{
    const Estimate<Hertz> known = under(point);
    for (Round& round : rounds)
        for (RateSample& sample : round)
            if (sample.disturbed && (sample.clock < known.low.value || sample.clock > known.high.value))
                sample.clock = known.median.value;
    return rounds;
}

Estimate<Hertz> clock_of(const Look& look)
{
    if (look.ceiling.per_clock_compared) return look.ceiling.clock;
    std::vector<double> clocks;
    for (const Round& round : look.ceiling.samples)
        for (const RateSample& sample : round)
            if (sample.clock > 0 && !sample.disturbed) clocks.push_back(sample.clock);
    if (clocks.empty()) return {};
    const Hertz median{spread_of(clocks).median};
    return {median, median, median, static_cast<int>(clocks.size()), 0};
}

Estimate<Hertz> clock_over(std::span<const Look> looks)
{
    if (std::ranges::none_of(looks, [](const Look& look) { return look.ceiling.per_clock_compared; })) return {};
    std::vector<double> lows, highs;
    Estimate<Hertz> newest{};
    long long last = 0;
    for (const Look& look : looks) {
        const Estimate<Hertz> clock = clock_of(look);
        if (clock.median.value <= 0) continue;
        lows.push_back(clock.low.value);
        highs.push_back(clock.high.value);
        if (look.time >= last) std::tie(newest, last) = std::pair(clock, look.time);
    }
    return {newest.median,
            {std::min(spread_of(lows).median, newest.low.value)},
            {std::max(spread_of(highs).median, newest.high.value)},
            static_cast<int>(lows.size()),
            0};
}

}  // namespace roof

#include "ert/method/ceilings/run_clock.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace roof {
namespace {

double quantile(const std::vector<double>& sorted, double share)
{
    return sorted[static_cast<std::size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

std::string similar_work(const Measurement& row)
{
    std::string key = row.device + " " + std::string(name(row.role));
    for (const char* const axis : {"isa", "threads"})
        if (row.point.has(axis)) key += " " + row.point.text(axis);
    return key;
}

/// One round of a point: the medians of its undisturbed samples with a clock.
struct RoundMedians {
    double rate = 0;
    double clock = 0;
};

std::vector<RoundMedians> rounds_of(const PointSummary& point)
{
    std::vector<RoundMedians> rounds;
    for (const Round& round : point.samples) {
        std::vector<double> clocks;
        std::vector<double> rates;
        for (const RateSample& sample : round) {
            if (sample.disturbed || sample.clock <= 0) continue;
            clocks.push_back(sample.clock);
            rates.push_back(sample.rate);
        }
        if (!clocks.empty()) rounds.push_back({spread_of(rates).median, spread_of(clocks).median});
    }
    return rounds;
}

/// Of all pairs of rounds whose clocks differ: those whose rates differ likewise, less the others.
int votes_for_clock(const std::vector<RoundMedians>& rounds)
{
    constexpr double least_difference = 0.004;  ///< readings scatter by less
    constexpr double most_difference = 0.15;    ///< more than a clock changes by: interference
    int votes = 0;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        for (std::size_t k = i + 1; k < rounds.size(); ++k) {
            const double clock = std::log(rounds[i].clock / rounds[k].clock);
            const double rate = std::log(rounds[i].rate / rounds[k].rate);
            if (std::abs(clock) < least_difference || std::abs(rate) > most_difference) continue;
            votes += std::abs(rate - clock) < std::abs(rate) ? 1 : -1;
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

    std::map<std::string, double> smallest;  // working set, by key
    for (const auto& [row, key, rounds] : measured) {
        for (const RoundMedians& round : rounds) clocks_[key].push_back(round.clock);
        if (!row->point.has("working_set")) continue;
        const double bytes = row->point.number("working_set");
        double& least = smallest.try_emplace(key, bytes).first->second;
        least = std::min(least, bytes);
    }
    for (auto& [key, clocks] : clocks_) std::ranges::sort(clocks);
    std::map<std::string, int> votes;
    for (const auto& [row, key, rounds] : measured) {
        const bool is_in_core = row->role == Role::compute ||
                                (row->point.has("working_set") && row->point.number("working_set") <= smallest.at(key));
        if (is_in_core) votes[row->device] += votes_for_clock(rounds);
        const double usual = quantile(clocks_[key], 0.5);
        for (const RoundMedians& round : rounds) shares_[row->device].push_back(round.clock / usual);
    }
    for (auto& [device, shares] : shares_) std::ranges::sort(shares);
    for (const auto& [device, sum] : votes)
        if (sum > 0) varying_.insert(device);
}

Estimate<Hertz> RunClock::under(const PointSummary& point) const
{
    const auto found = clocks_.find(similar_work(point.best));
    if (found == clocks_.end()) return {};
    const std::vector<double>& shares = shares_.find(point.best.device)->second;
    const double usual = quantile(found->second, 0.5);
    return {Hertz{usual}, Hertz{usual * quantile(shares, 0.025)}, Hertz{usual * quantile(shares, 0.975)},
            static_cast<int>(found->second.size()), 0};
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

}  // namespace roof

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

/// The distance between the quartiles over the median.
double relative_spread(std::vector<double> values)
{
    std::ranges::sort(values);
    return (quantile(values, 0.75) - quantile(values, 0.25)) / quantile(values, 0.5);
}

}  // namespace

RunClock::RunClock(const std::vector<PointSummary>& points)
{
    std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> spreads;  // of rates, and per clock
    for (const PointSummary& point : points) {
        const Measurement& row = point.best;
        std::vector<double> rates;
        std::vector<double> per_clock;
        for (const Round& round : point.samples) {
            std::vector<double> clocks;
            for (const RateSample& sample : round) {
                if (sample.disturbed || sample.clock <= 0) continue;
                clocks.push_back(sample.clock);
                rates.push_back(sample.rate);
                per_clock.push_back(sample.rate / sample.clock);
            }
            if (clocks.empty()) continue;
            const double median = spread_of(clocks).median;
            clocks_[similar_work(row)].push_back(median);
            clocks_[row.device].push_back(median);
        }
        if (row.role != Role::compute || rates.size() < min_samples || relative_spread(rates) <= 0) continue;
        spreads[row.device].first.push_back(relative_spread(rates));
        spreads[row.device].second.push_back(relative_spread(per_clock));
    }
    for (auto& [key, clocks] : clocks_) std::ranges::sort(clocks);
    for (const auto& [device, both] : spreads)
        if (spread_of(both.second).median < spread_of(both.first).median) varying_.insert(device);
}

Estimate<Hertz> RunClock::under(const PointSummary& point) const
{
    auto found = clocks_.find(similar_work(point.best));
    if (found == clocks_.end() || found->second.size() < min_samples) found = clocks_.find(point.best.device);
    if (found == clocks_.end()) return {};
    const auto at = [&](double share) { return Hertz{quantile(found->second, share)}; };
    return {at(0.5), at(0.025), at(0.975), static_cast<int>(found->second.size()), 0};
}

std::vector<Round> RunClock::credible_samples(const PointSummary& point) const
{
    const Estimate<Hertz> known = under(point);
    std::vector<Round> rounds = point.samples;
    for (Round& round : rounds)
        for (RateSample& sample : round)
            if (sample.disturbed && (sample.clock < known.low.value || sample.clock > known.high.value))
                sample.clock = known.median.value;
    return rounds;
}

}  // namespace roof

#include "ert/method/ceilings/core_clock.hpp"

#include <algorithm>

namespace roof {
namespace {

constexpr std::size_t min_rounds = 12;

std::string device_of(const Measurement& row)
{
    return row.device;
}

std::string similar_work(const Measurement& row)
{
    std::string key = row.device + " " + std::string(name(row.role));
    for (const char* const axis : {"isa", "threads"})
        if (row.point.has(axis)) key += " " + row.point.text(axis);
    return key;
}

/// Returns 0 if no sample was undisturbed, or no clock was read.
double clock_of(const Measurement& row)
{
    std::vector<double> clocks;
    for (const Sample& sample : row.samples) {
        if (sample.is_undisturbed() && sample.clock.value > 0) clocks.push_back(sample.clock.value);
    }
    return clocks.empty() ? 0 : spread_of(clocks).median;
}

double percentile(const std::vector<double>& sorted, double share)
{
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

}  // namespace

CoreClock::CoreClock(std::span<const Measurement> rows)
{
    for (const Measurement& row : rows) {
        const double clock = row.status == Status::ok ? clock_of(row) : 0;
        if (clock <= 0) continue;
        clocks_[similar_work(row)].push_back(clock);
        clocks_[device_of(row)].push_back(clock);
    }
    for (auto& [kind, clocks] : clocks_) std::ranges::sort(clocks);
}

Estimate<Hertz> CoreClock::sustained_under(const Measurement& row) const
{
    auto found = clocks_.find(similar_work(row));
    if (found == clocks_.end() || found->second.size() < min_rounds) found = clocks_.find(device_of(row));
    if (found == clocks_.end()) return {};
    const std::vector<double>& clocks = found->second;
    const auto at = [&](double share) { return Hertz{percentile(clocks, share)}; };
    return {at(0.75), at(0.46), at(0.99), static_cast<int>(clocks.size()), 0};
}

}  // namespace roof

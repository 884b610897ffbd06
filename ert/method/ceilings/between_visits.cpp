#include "ert/method/ceilings/between_visits.hpp"

#include <algorithm>
#include <cmath>

namespace roof {
namespace {

constexpr std::size_t least_visits = 2;
constexpr int most_to_widen = 2;
constexpr std::size_t least_ratios = 12;
constexpr double left_out = 0.05;

double quantile(const std::vector<double>& sorted, double share)
{
    return sorted[static_cast<std::size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

}  // namespace

void BetweenVisits::add(const std::string& group, double rate, const std::vector<double>& visits)
{
    if (visits.size() < least_visits) return;
    for (const double visit : visits)
        if (visit > 0) ratios_[group].push_back(rate / visit);
}

BetweenVisits::Bounds BetweenVisits::bounds(const std::string& group, int visits) const
{
    const auto found = ratios_.find(group);
    if (visits < 1 || visits > most_to_widen || found == ratios_.end() || found->second.size() < least_ratios)
        return {};
    std::vector<double> sorted = found->second;
    std::ranges::sort(sorted);
    const double tail = std::pow(left_out, 1.0 / visits) / 2;
    return {std::min(1.0, quantile(sorted, tail)), std::max(1.0, quantile(sorted, 1 - tail))};
}

}  // namespace roof

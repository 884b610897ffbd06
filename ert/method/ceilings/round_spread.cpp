#include "ert/method/ceilings/round_spread.hpp"

#include <algorithm>
#include <cmath>

namespace roof {
namespace {

constexpr std::size_t min_rounds = 2;
constexpr int most_to_widen = 2;
constexpr std::size_t least_ratios = 12;
constexpr double left_out = 0.05;

double quantile(const std::vector<double>& sorted, double share)
{
    return sorted[static_cast<std::size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

}  // namespace

void RoundSpread::add(const std::string& group, double rate, const std::vector<double>& rounds)
{
    if (rounds.size() < min_rounds) return;
    for (const double round : rounds)
        if (round > 0) ratios_[group].push_back(rate / round);
}

RoundSpread::Bounds RoundSpread::bounds(const std::string& group, int rounds) const
{
    const auto found = ratios_.find(group);
    if (rounds < 1 || rounds > most_to_widen || found == ratios_.end() || found->second.size() < least_ratios)
        return {};
    std::vector<double> sorted = found->second;
    std::ranges::sort(sorted);
    const double tail = std::pow(left_out, 1.0 / rounds) / 2;
    return {std::min(1.0, quantile(sorted, tail)), std::max(1.0, quantile(sorted, 1 - tail))};
}

}  // namespace roof

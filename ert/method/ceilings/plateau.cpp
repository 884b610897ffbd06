#include "ert/method/ceilings/levels.hpp"

#include <algorithm>
#include <cmath>

namespace roof {
namespace {

constexpr double steepest = 0.35;       ///< log2 of rate per octave; recorded shared caches fall by up to 0.15
constexpr double least_drop = 0.25;     ///< log2 of rate: 16%
constexpr double steepest_mean = 0.22;  ///< of a whole plateau; chance agreement on a way down is steeper
constexpr double least_span = 1;        ///< octaves
constexpr std::size_t least_points = 3;

/// Log2 of rate: the median of each point and its neighbours, then the largest of each point and those after it.
std::vector<double> staircase_of(std::span<const RatePoint> sweep)
{
    std::vector<double> logs;
    for (const RatePoint& point : sweep) logs.push_back(std::log2(point.rate));
    std::vector<double> stairs = logs;
    for (std::size_t i = 1; i + 1 < logs.size(); ++i)
        stairs[i] = std::max(std::min(logs[i - 1], logs[i]), std::min(std::max(logs[i - 1], logs[i]), logs[i + 1]));
    stairs.back() = std::max(logs.back(), logs[logs.size() - 2]);
    for (std::size_t i = stairs.size() - 1; i-- > 0;) stairs[i] = std::max(stairs[i], stairs[i + 1]);
    return stairs;
}

}  // namespace

std::vector<Plateau> find_plateaus(std::span<const RatePoint> sweep)
{
    if (sweep.size() < least_points) return {};
    const std::vector<double> stairs = staircase_of(sweep);
    const auto octaves = [&](std::size_t from, std::size_t to) {
        return std::log2(sweep[to].working_set / sweep[from].working_set);
    };
    std::vector<Plateau> runs{{0, 0}};
    for (std::size_t i = 1; i < sweep.size(); ++i) {
        if (stairs[i - 1] - stairs[i] > steepest * octaves(i - 1, i)) runs.push_back({i, i});
        runs.back().last = i;
    }
    std::vector<Plateau> plateaus;
    for (const Plateau& run : runs) {
        if (!plateaus.empty() && stairs[plateaus.back().last] - stairs[run.first] < least_drop)
            plateaus.back().last = run.last;
        else
            plateaus.push_back(run);
    }
    std::erase_if(plateaus, [&](const Plateau& run) {
        const double length = octaves(run.first, run.last);
        const bool is_steep = stairs[run.first] - stairs[run.last] > steepest_mean * length;
        const bool is_short = run.last - run.first + 1 < least_points || length < least_span;
        return (is_short || is_steep) && run.last + 1 < sweep.size();
    });
    return plateaus;
}

std::size_t fastest_pair(std::span<const RatePoint> sweep)
{
    const auto slower = [&](std::size_t i) { return std::min(sweep[i].rate, sweep[i + 1].rate); };
    std::size_t fastest = 0;
    for (std::size_t i = 1; i + 1 < sweep.size(); ++i)
        if (slower(i) > slower(fastest)) fastest = i;
    return fastest;
}

}  // namespace roof

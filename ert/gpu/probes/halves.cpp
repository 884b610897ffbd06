#include "ert/gpu/probes/halves.hpp"

#include <algorithm>
#include <numeric>

namespace roof::gpu {

namespace {

constexpr double most_unexplained = 0.1;
constexpr std::size_t least_share = 4;  ///< each part has at least one in so many

double mean(std::span<const double> values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares(std::span<const double> values)
{
    const double middle = mean(values);
    double sum = 0;
    for (const double value : values) sum += (value - middle) * (value - middle);
    return sum;
}

/// How many of the sorted values are the lower part; each part has at least `least`.
std::size_t best_split(std::span<const double> sorted, std::size_t least)
{
    std::size_t best = least;
    double least_left = squares(sorted);
    for (std::size_t lower = least; lower + least <= sorted.size(); ++lower) {
        const double left = squares(sorted.first(lower)) + squares(sorted.subspan(lower));
        if (left >= least_left) continue;
        least_left = left;
        best = lower;
    }
    return best;
}

}  // namespace

std::optional<Halves> halves_of(std::span<const std::uint32_t> cycles)
{
    std::vector<double> sorted(cycles.begin(), cycles.end());
    std::ranges::sort(sorted);
    const std::size_t least = std::max<std::size_t>(1, sorted.size() / least_share);
    if (sorted.size() < 2 * least) return std::nullopt;
    const std::size_t lower = best_split(sorted, least);
    const std::span<const double> all(sorted);
    const double left = squares(all.first(lower)) + squares(all.subspan(lower));
    if (left >= most_unexplained * squares(all)) return std::nullopt;
    Halves halves;
    halves.near_cycles = mean(all.first(lower));
    halves.far_cycles = mean(all.subspan(lower));
    const double border = (sorted[lower - 1] + sorted[lower]) / 2;
    for (std::size_t i = 0; i < cycles.size(); ++i)
        (cycles[i] < border ? halves.near : halves.far).push_back(static_cast<int>(i));
    return halves;
}

}  // namespace roof::gpu

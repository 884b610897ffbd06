#include "ert/gpu/probes/halves.hpp"

#include <algorithm>

namespace roof::gpu {

namespace {

constexpr double max_unexplained = 0.1;
constexpr std::size_t least_share = 4;  ///< each part has at least a quarter of the values

/// Prefix sums of the sorted values.
class Sums {
  public:
    explicit Sums(std::span<const double> values) : sums_(values.size() + 1), squares_(values.size() + 1)
    {
        for (std::size_t i = 0; i < values.size(); ++i) {
            sums_[i + 1] = sums_[i] + values[i];
            squares_[i + 1] = squares_[i] + values[i] * values[i];
        }
    }

    std::size_t size() const { return sums_.size() - 1; }
    double mean(std::size_t from, std::size_t to) const
    {
        return (sums_[to] - sums_[from]) / static_cast<double>(to - from);
    }
    /// Sum of squared distances from the mean.
    double squares(std::size_t from, std::size_t to) const
    {
        return squares_[to] - squares_[from] - (sums_[to] - sums_[from]) * mean(from, to);
    }
    double unexplained(std::size_t lower) const { return squares(0, lower) + squares(lower, size()); }

  private:
    std::vector<double> sums_;
    std::vector<double> squares_;
};

/// The size of the lower part; each part has at least `least` values.
std::size_t best_split(const Sums& sums, std::size_t least)
{
    std::size_t best = least;
    for (std::size_t lower = least; lower + least <= sums.size(); ++lower) {
        if (sums.unexplained(lower) < sums.unexplained(best)) best = lower;
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
    const Sums sums(sorted);
    const std::size_t lower = best_split(sums, least);
    if (sums.unexplained(lower) >= max_unexplained * sums.squares(0, sums.size())) return std::nullopt;
    Halves halves;
    halves.near_cycles = sums.mean(0, lower);
    halves.far_cycles = sums.mean(lower, sums.size());
    const double border = (sorted[lower - 1] + sorted[lower]) / 2;
    for (std::size_t i = 0; i < cycles.size(); ++i)
        (cycles[i] < border ? halves.near : halves.far).push_back(static_cast<int>(i));
    return halves;
}

}  // namespace roof::gpu

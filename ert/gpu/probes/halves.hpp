// Whether the lines of an L2 lie at two distances from a multiprocessor, as those of a chip with two partitions do, and
// which line at which: from the cycles that loads of each take.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace roof::gpu {

/// Indices of lines, ascending.
struct Halves {
    std::vector<int> near;
    std::vector<int> far;
    double near_cycles = 0;  ///< mean
    double far_cycles = 0;
};

/// Splits where the variance within both parts is least (Otsu's threshold). Nothing where the split leaves more than a
/// tenth of the variance unexplained, or one part less than a quarter of the lines: then the distances differ, but are
/// not two. Evenly spread ones would leave a quarter of it, normally distributed ones more.
std::optional<Halves> halves_of(std::span<const std::uint32_t> cycles);

}  // namespace roof::gpu

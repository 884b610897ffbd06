// Tells from the cycles of loads whether the lines of an L2 lie at two distances from a multiprocessor, as on a chip
// with two partitions, and which line lies at which.
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

/// Splits where the variance within both parts is least (Otsu's threshold). Nothing if the split leaves more than a
/// tenth of the variance unexplained, or if one part has less than a quarter of the lines: then there are not two
/// distances. An even distribution leaves a quarter unexplained, a normal one more.
std::optional<Halves> halves_of(std::span<const std::uint32_t> cycles);

}  // namespace roof::gpu

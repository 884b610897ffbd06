// Tells from the cycles of loads whether the lines of an L2 lie at two distances from a multiprocessor, as on a chip with
// two partitions, and which line lies at which; and from those of all multiprocessors which of them and which lines lie on
// the same side.
#pragma once

#include <array>
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

struct Sides {
    std::vector<int> of_multiprocessors;    ///< 0 or 1; -1 if not measured
    std::array<std::vector<int>, 2> lines;  ///< of each side, ascending; a line on which too few agree is on none
    double near_cycles = 0;                 ///< mean, of loads from a multiprocessor's own side
    double far_cycles = 0;
};

/// `cycles[multiprocessor * lines + line]`, 0 if not measured. Side 0 is near the first multiprocessor. Throws
/// Unsupported with the reason unless nine tenths of the multiprocessors see two distances (halves_of()) and agree on
/// 95% of the lines, and both sides have multiprocessors.
Sides sides_of(std::span<const std::uint32_t> cycles, std::size_t lines);

/// `count` of `lines`, evenly spread. Throws Unsupported if there are fewer.
std::vector<std::uint32_t> list_of(std::span<const int> lines, std::size_t count);

}  // namespace roof::gpu

// A pointer chase: each load's address is what the load before it found, so a load takes as long as its line takes to come.
// The lines are linked in a random order, which no prefetcher foresees.
#pragma once

#include <cstddef>

#include <xbyak/xbyak.h>

namespace roof::cpu {

inline constexpr std::size_t chase_line = 64;  ///< bytes

class ChaseKernel : Xbyak::CodeGenerator {
  public:
    ChaseKernel();

    /// Loads of one iteration of the loop.
    static constexpr std::size_t unroll = 16;

    /// Follows the pointers from `start`, `steps` of them: a positive multiple of `unroll`. Returns where it arrives.
    const std::byte* run(std::size_t steps, const std::byte* start) const
    {
        return getCode<const std::byte* (*)(std::size_t, const std::byte*)>()(steps, start);
    }
};

/// Makes the first 8 bytes of each of `lines` lines point to another, all of them in one cycle of random order; the order
/// is the same for the same number of lines, which is at least 1. Returns the line that is `mark` steps from the first.
const std::byte* link_lines(std::byte* memory, std::size_t lines, std::size_t mark);

}  // namespace roof::cpu

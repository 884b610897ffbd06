// A pointer chase: each load's address is the result of the load before, so the loop measures load latency. The lines
// are linked in a random order, which prefetchers cannot predict.
#pragma once

#include <cstddef>

#include <xbyak/xbyak.h>

namespace roof::cpu {

inline constexpr std::size_t chase_line = 64;  ///< bytes

class ChaseKernel : Xbyak::CodeGenerator {
  public:
    /// Throws Unsupported where generated code is forbidden.
    ChaseKernel();

    /// Loads in one iteration of the loop.
    static constexpr std::size_t unroll = 16;

    /// Follows `steps` pointers from `start` and returns the final address. `steps` is a positive multiple of `unroll`.
    const std::byte* run(std::size_t steps, const std::byte* start) const
    {
        return getCode<const std::byte* (*)(std::size_t, const std::byte*)>()(steps, start);
    }
};

/// Links `lines` (at least 1) lines into one cycle through their first 8 bytes. The order is random, and the same for
/// the same number of lines. Returns the line that is `mark` steps from the first.
const std::byte* link_lines(std::byte* memory, std::size_t lines, std::size_t mark);

}  // namespace roof::cpu

// What a bandwidth loop must have left in memory, from the contents that the slice was filled with.
#pragma once

#include "cpu/kernels/registers.hpp"
#include "cpu/kernels/stream_kernel.hpp"

#include <cstddef>

namespace roof::cpu {

/// What store stores, and the s of the triad: no value of content(), and a product with it is exact.
inline constexpr double stream_constant = 0.5;

/// The arrays of a slice of memory, one behind the other: the sources, then the destination.
struct StreamArrays {
    const Stream& stream;
    std::size_t bytes;  ///< of one array
    std::byte* slice;

    std::byte* source(int index) const { return slice + static_cast<std::size_t>(index) * bytes; }
    std::byte* destination() const { return slice + static_cast<std::size_t>(stream.loads) * bytes; }
};

/// `sums`: load only; the accumulators after `passes` passes, `lanes` words of each in use. Throws Error naming the first
/// word that is wrong.
void check_stream(const StreamArrays& arrays, std::size_t passes, const RegisterFile& sums, int accumulators,
                  int lanes);

}  // namespace roof::cpu

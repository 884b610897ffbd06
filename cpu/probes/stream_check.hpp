// Checks what a bandwidth loop left in memory against the slice's initial contents.
#pragma once

#include "cpu/kernels/stream_kernel.hpp"
#include "cpu/probes/pass_driver.hpp"
#include "cpu/workspace.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace roof::cpu {

/// What store stores, and the s of the triad: no value of content(), and a product with it is exact.
inline constexpr double stream_constant = 0.5;
/// What update adds to each word. A small number: the words stay numbers for any other stream that comes upon them.
inline constexpr std::uint64_t update_constant = 1;

/// The arrays of one thread, in a slice of memory, one behind the other: the sources, then the destination.
struct StreamArrays {
    const Stream& stream;
    std::size_t bytes;     ///< of one array
    std::byte* slice;      ///< begin of the slice
    std::size_t from = 0;  ///< where in the slice they begin

    /// From the begin of one array to that of the next: all begin alike within a page, so that none of a store's addresses
    /// resembles that of a load just behind it.
    std::size_t pitch() const { return (bytes + page - 1) / page * page; }
    /// Of all arrays, from the begin of the first to the end of the last.
    std::size_t extent() const { return pitch() * static_cast<std::size_t>(stream.arrays() - 1) + bytes; }
    /// Of the arrays that are only read.
    std::size_t source_extent() const { return pitch() * static_cast<std::size_t>(stream.sources()); }
    std::byte* array(int index) const { return slice + from + pitch() * static_cast<std::size_t>(index); }
    std::byte* destination() const { return array(stream.sources()); }

  private:
    static constexpr std::size_t page = 4096;
};

/// For arrays whose `segment` held content() before `passes` passes over it. `result`: load only; the words it left, and
/// zeros. Throws Error naming the first word that is wrong.
void check_stream(const StreamArrays& arrays, const Segment& segment, std::size_t passes,
                  std::span<const std::uint64_t> result);

}  // namespace roof::cpu

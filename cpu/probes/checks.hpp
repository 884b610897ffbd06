// The inputs of the loops of the probes "ert" and "bandwidth", and the checks of their results.
#pragma once

#include "cpu/kernels/intensity_kernel.hpp"
#include "cpu/kernels/registers.hpp"
#include "cpu/kernels/stream_kernel.hpp"
#include "cpu/probes/pass_driver.hpp"
#include "cpu/workspace.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace roof::cpu {

/// Element `index` of a slice: a pseudo-random multiple of 1/2 from -7.5 to 7.5. Sums of millions of them are small and
/// exact, also in fp32.
constexpr double ert_value(std::size_t index)
{
    return static_cast<double>(content(index) >> 40 & 15) - 7.5;
}

/// Writes ert_value() in the precision's format: fp64 or fp32.
Writer ert_writer(Precision precision);

/// `result`: the accumulators after `passes` passes of the kernel over `bytes` of ert_value() from element `first`.
/// Only a few passes, so that sums stay exact. Throws Error with the first wrong sum.
void check_ert(const IntensityKernel& kernel, std::size_t first, std::size_t bytes, std::size_t passes,
               const RegisterFile& result);

// Checks the results of a bandwidth loop against the slice's initial contents.

/// The value of the scalars. Of fp64 numbers it is no value of content(), a product with it is exact, and an operation
/// in place never makes denormal numbers with it. Of words it is small, so they remain numbers for any other operation.
RegisterFile constant_of(const ArrayOperation& operation);

/// The arrays of one thread, consecutive in a slice of memory: the sources, then the destination.
struct StreamArrays {
    const ArrayOperation& operation;
    std::size_t bytes;     ///< of one array
    std::byte* slice;      ///< start of the slice
    std::size_t from = 0;  ///< offset of the arrays in the slice

    /// The distance between the starts of two arrays. All start at the same offset in a page, so that the address of a
    /// store does not share its low bits with that of a load just after it.
    std::size_t pitch() const { return (bytes + page - 1) / page * page; }
    /// Bytes from the start of the first array to the end of the last.
    std::size_t extent() const { return pitch() * static_cast<std::size_t>(operation.arrays() - 1) + bytes; }
    std::size_t source_extent() const { return pitch() * static_cast<std::size_t>(operation.sources); }
    std::byte* array(int index) const { return slice + from + pitch() * static_cast<std::size_t>(index); }
    std::byte* destination() const { return array(operation.sources); }

  private:
    static constexpr std::size_t page = 4096;
};

/// Checks arrays whose `segment` held content() before `passes` passes over it by the kernel. `result`: of an
/// operation that only reads; the registers at the end (Join). Plain loads leave the last vectors there. Throws Error
/// with the first wrong word.
void check_stream(const StreamArrays& arrays, const Segment& segment, std::size_t passes, const StreamKernel& kernel,
                  std::span<const std::uint64_t> result);

}  // namespace roof::cpu

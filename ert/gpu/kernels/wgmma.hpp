// Host interface of the kernels of wgmma (compute capability 9.0): warpgroups multiply matrices in shared memory, again
// and again.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"
#include "ert/gpu/kernels/fragments.hpp"
#include "ert/gpu/kernels/launch.hpp"

namespace roof::gpu {

inline constexpr int wgmma_threads = 128;  ///< one warpgroup, which is a block
inline constexpr int wgmma_m = 64;
inline constexpr int wgmma_n = 128;
inline constexpr int wgmma_sums = wgmma_m * wgmma_n / wgmma_threads;  ///< of a thread
/// A and B have rows of wgmma_row_bytes along k; an instruction takes this many bytes of them.
inline constexpr int wgmma_k_bytes = 32;
inline constexpr int wgmma_k_steps = wgmma_row_bytes / wgmma_k_bytes;
inline constexpr int wgmma_a_bytes = wgmma_m * wgmma_row_bytes;
inline constexpr int wgmma_b_bytes = wgmma_n * wgmma_row_bytes;
/// In one step of the loop a block does sums += A[0] * B, over all of k, then sums -= A[1] * B, or += where is_added().
inline constexpr int wgmma_factors = 2;
/// Whether the second operand is added: these formats cannot be negated by the instruction.
constexpr bool is_added(TensorFormat format)
{
    return format == TensorFormat::int8 || format == TensorFormat::mxfp4 || format == TensorFormat::nvfp4;
}
inline constexpr int wgmma_instructions = wgmma_factors * wgmma_k_steps;
inline constexpr int wgmma_operand_bytes = wgmma_factors * wgmma_a_bytes + wgmma_b_bytes;

struct WgmmaLaunch {
    const void* operands;  ///< A[0], A[1], B, [row][byte] at wgmma_offset() of each
    void* sums;            ///< [block][thread][register]
    ClockReading* reading;
    int blocks;
    int steps;
};

Kernel<WgmmaLaunch> wgmma_kernel_of(TensorFormat instruction);

/// The descriptor of an operand at this address in shared memory, without swizzle, laid out by wgmma_offset().
constexpr unsigned long long wgmma_descriptor(unsigned address)
{
    // All three in units of 16 bytes; the upper bits, base offset and swizzle, are 0.
    constexpr unsigned long long along_k = core_bytes / 16;
    constexpr unsigned long long along_rows = bytes_of_core_rows / 16;
    return (address & 0x3FFFF) / 16 | along_k << 16 | along_rows << 32;
}

}  // namespace roof::gpu

// Host interface of the kernels of tcgen05 (compute capability 10.0 and 10.3). One thread of a block makes the tensor
// core multiply matrices in shared memory, again and again, and add to sums in tensor memory. Formats, layout of
// operands and launch are those of wgmma.
#pragma once

#include "ert/gpu/kernels/wgmma.hpp"

namespace roof::gpu {

inline constexpr int tcgen05_threads = 128;  ///< four warps; each can read only its own 32 rows of sums
inline constexpr int tcgen05_m = 128;
/// With half as many columns, shared memory would be the limit.
inline constexpr int tcgen05_n = 256;
inline constexpr int tcgen05_a_bytes = tcgen05_m * wgmma_row_bytes;
inline constexpr int tcgen05_operand_bytes = (wgmma_factors * tcgen05_m + tcgen05_n) * wgmma_row_bytes;

/// Scales of formats from mxfp8 on, the same for both A, are bytes in tensor memory. In a group of columns the 32 lanes
/// of each column hold 32 rows of the operand, with four scales along k in each word; the groups of A come first.
/// Behind the operands in memory they are [column][lane].
inline constexpr int scales_of_word = 4;
/// Scales of a row of wgmma_row_bytes; 0: the format has none.
constexpr int scales_of_row(TensorFormat format)
{
    return format == TensorFormat::mxfp8   ? 4
           : format == TensorFormat::mxfp4 ? 8
           : format == TensorFormat::nvfp4 ? 16
                                           : 0;
}
inline constexpr int scale_columns_of_a = tcgen05_m / 32;  ///< of a group
inline constexpr int scale_columns_of_b = tcgen05_n / 32;
constexpr int scale_columns(TensorFormat format)
{
    return scales_of_row(format) / scales_of_word * (scale_columns_of_a + scale_columns_of_b);
}
/// Of tensor memory: a power of two, of 512.
constexpr int tcgen05_columns(TensorFormat format)
{
    return scale_columns(format) == 0 ? tcgen05_n : 2 * tcgen05_n;
}

/// The descriptor of the instruction: sums in fp32 (int8: int32), k along the rows of both operands, dense. `is_less`:
/// A is subtracted. `k_step`: of wgmma_k_steps along a row; it chooses the scales.
constexpr unsigned tcgen05_instruction(TensorFormat format, bool is_less, int k_step = 0)
{
    if (scales_of_row(format) != 0) {
        const unsigned of_operands = format == TensorFormat::mxfp8 ? 0 : 1;  // e4m3 and e2m1, by each kind's own count
        const unsigned exponents_only = format == TensorFormat::nvfp4 ? 0 : 1;
        const auto place = static_cast<unsigned>(scales_of_row(format) / wgmma_k_steps * k_step % scales_of_word);
        return place << 4 | of_operands << 7 | of_operands << 10 | (is_less ? 1U : 0U) << 13 | (tcgen05_n / 8U) << 17 |
               exponents_only << 23 | (tcgen05_m / 16U) << 24 | place << 29;
    }
    // tf32, fp16, bf16; signed of integers; e4m3, e5m2: each kind's own count
    const bool is_second = format == TensorFormat::bf16 || format == TensorFormat::int8 || format == TensorFormat::e5m2;
    const unsigned of_operands = format == TensorFormat::tf32 ? 2 : is_second ? 1 : 0;
    const unsigned of_sums = format == TensorFormat::int8 ? 2 : 1;
    const unsigned negated = is_less ? 1 : 0;
    return of_sums << 4 | of_operands << 7 | of_operands << 10 | negated << 13 | (tcgen05_n / 8U) << 17 |
           (tcgen05_m / 16U) << 24;
}

/// The descriptor of wgmma, with the version number of this generation.
constexpr unsigned long long tcgen05_descriptor(unsigned address)
{
    return wgmma_descriptor(address) | 1ULL << 46;
}

/// Of a pair of blocks, each of which has half of A's rows and of B's: both A and B have 256.
inline constexpr int tcgen05_pair_m = 2 * tcgen05_m;
inline constexpr int tcgen05_pair_operand_bytes = (wgmma_factors + 1) * tcgen05_a_bytes;
constexpr unsigned tcgen05_pair_instruction(TensorFormat format, bool is_less)
{
    return tcgen05_instruction(format, is_less) + (tcgen05_m / 16U << 24);
}

using Tcgen05Kernel = void (*)(WgmmaLaunch);

/// Sums are [block][row][column]. A multiprocessor has room for the columns of tcgen05_columns() in 512. Throws Error;
/// Unsupported where this build has no such code for the GPU.
Kernel<WgmmaLaunch> tcgen05_kernel_of(TensorFormat format);
/// Of pairs of blocks, which are clusters, in tf32, fp16, bf16 or e4m3. Sums are [pair][row][column]. Throws likewise.
Kernel<WgmmaLaunch> tcgen05_pair_kernel_of(TensorFormat format);

}  // namespace roof::gpu

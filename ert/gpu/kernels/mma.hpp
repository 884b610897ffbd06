// Host interface of the kernels of mma.sync: warps multiply matrices in registers, again and again.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"
#include "ert/gpu/kernels/fragments.hpp"
#include "ert/gpu/kernels/launch.hpp"

#include <array>

namespace roof::gpu {

struct MmaShape {
    int m, n, k;
    int packed;           ///< elements in a register
    int a_registers;      ///< of a lane
    int b_registers;      ///< of a lane
    int sum_registers;    ///< of a lane
    int register_bytes;   ///< of operands; sums have as many, or 4
    int scale_words = 0;  ///< behind the registers of A, and behind those of B, of a lane
    int products = 1;     ///< of a warp, m / products by n / products each, along the diagonal

    constexpr double flops() const { return 2.0 * m * n * k / products; }
};

/// Of a row of A, or a column of B, of a block-scaled instruction; 0: it has none.
constexpr int scales_of_mma(TensorFormat instruction)
{
    return instruction == TensorFormat::mxfp8   ? 1
           : instruction == TensorFormat::mxfp4 ? 2
           : instruction == TensorFormat::nvfp4 ? 4
                                                : 0;
}

constexpr MmaShape shape_of(TensorFormat instruction)
{
    switch (instruction) {
        case TensorFormat::fp64_small:
            return {8, 8, 4, 1, 1, 1, 2, 8};
        case TensorFormat::fp64:
            return {16, 8, 16, 1, 8, 4, 4, 8};
        case TensorFormat::tf32:
            return {16, 8, 8, 1, 4, 2, 4, 4};
        case TensorFormat::fp16:
        case TensorFormat::bf16:
            return {16, 8, 16, 2, 4, 2, 4, 4};
        case TensorFormat::mxfp8:
            return {16, 8, 32, 4, 4, 2, 4, 4, 1};
        case TensorFormat::mxfp4:
        case TensorFormat::nvfp4:
            return {16, 8, 64, 8, 4, 2, 4, 4, 1};
        case TensorFormat::turing_fp16:
            return {16, 8, 8, 2, 2, 1, 4, 4};
        case TensorFormat::turing_int8:
            return {8, 8, 16, 4, 1, 1, 2, 4};
        case TensorFormat::volta_fp16:
            return {32, 32, 4, 2, 2, 2, 8, 4, 0, 4};
        default:
            return {16, 8, 32, 4, 4, 2, 4, 4};
    }
}

inline constexpr int mma_threads = 128;  ///< of a block
inline constexpr std::array<int, 2> mma_chain_counts{4, 8};
inline constexpr int max_mma_chains = 8;
inline constexpr int mma_factors = 2;        ///< matrices A that chains use in turns
inline constexpr int mma_instructions = 64;  ///< of each warp in one step of the loop

/// Each chain has a B and sums of its own, and adds A[0] * B, A[1] * B, A[0] * B, … to the sums, which begin at 0.
struct MmaLaunch {
    const void* a;  ///< [mma_factors][lane][register], registers and scale words of shape_of()
    const void* b;  ///< [max_mma_chains][lane][register]
    void* sums;     ///< [warp of the grid][chain][lane][register]
    ClockReading* reading;
    int blocks;
    int steps;
};

using MmaKernel = void (*)(MmaLaunch);

/// Kernels that not every GPU has. They are compiled into separate objects, each for its architectures.
MmaKernel large_fp64_kernel(int chains);
MmaKernel fp8_kernel(TensorFormat format, int chains);
MmaKernel turing_kernel(TensorFormat instruction, int chains);
MmaKernel volta_kernel(int chains);
/// Throws Unsupported where this build's CUDA toolkit is too old for them.
MmaKernel scaled_kernel(TensorFormat instruction, int chains);

/// Throws as scaled_kernel().
Kernel<MmaLaunch> mma_kernel_of(TensorFormat instruction, int chains);

}  // namespace roof::gpu

// Host interface of the kernels of mma.sync: warps multiply matrices in registers, again and again.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"
#include "ert/gpu/kernels/fragments.hpp"

#include <cuda_runtime_api.h>

#include <array>

namespace roof::gpu {

struct MmaShape {
    int m, n, k;
    int packed;           ///< elements in a register
    int a_registers;      ///< of a lane
    int b_registers;      ///< of a lane
    int sum_registers;    ///< of a lane
    int register_bytes;   ///< of operands; sums have as many, or 4
    int packed_sums = 1;  ///< in a register
};

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
        case TensorFormat::fp16_sums:
            return {16, 8, 16, 2, 4, 2, 2, 4, 2};
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
    const void* a;  ///< [mma_factors][lane][register], registers of shape_of()
    const void* b;  ///< [max_mma_chains][lane][register]
    void* sums;     ///< [warp of the grid][chain][lane][register]
    ClockReading* reading;
    int blocks;
    int steps;
};

/// Puts one launch into the stream. Throws Error; Unsupported where this build has no such code for the GPU.
void enqueue_mma(TensorFormat instruction, int chains, const MmaLaunch& launch, cudaStream_t stream);

/// Blocks that a multiprocessor of the current device holds at once. Throws as above.
int resident_mma_blocks(TensorFormat instruction, int chains);

}  // namespace roof::gpu

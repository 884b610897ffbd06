// Host interface of the kernels of mma.sync: warps multiply matrices in registers, again and again.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"

#include <cuda_runtime_api.h>

#include <array>

namespace roof::gpu {

/// Formats of the operands, with m x n x k.
enum class Mma {
    fp64_small,  ///< 8 x 8 x 4
    fp64,        ///< 16 x 8 x 16, since compute capability 9.0
    tf32,        ///< 16 x 8 x 8, sums in fp32
    fp16,        ///< 16 x 8 x 16, sums in fp32
    bf16,        ///< 16 x 8 x 16, sums in fp32
    int8,        ///< 16 x 8 x 32, sums in int32
    e4m3,        ///< 16 x 8 x 32, sums in fp32, of compute capability 8.9, and 12.0 on
    e5m2,        ///< as e4m3
    fp16_sums,   ///< as fp16, sums in fp16, two in a register
};

struct MmaShape {
    int m, n, k;
    int packed;           ///< elements in a register
    int a_registers;      ///< of a lane
    int b_registers;      ///< of a lane
    int sum_registers;    ///< of a lane
    int register_bytes;   ///< of operands; sums have as many, or 4
    int packed_sums = 1;  ///< in a register
};

constexpr MmaShape shape_of(Mma instruction)
{
    switch (instruction) {
        case Mma::fp64_small:
            return {8, 8, 4, 1, 1, 1, 2, 8};
        case Mma::fp64:
            return {16, 8, 16, 1, 8, 4, 4, 8};
        case Mma::tf32:
            return {16, 8, 8, 1, 4, 2, 4, 4};
        case Mma::fp16:
        case Mma::bf16:
            return {16, 8, 16, 2, 4, 2, 4, 4};
        case Mma::fp16_sums:
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
void enqueue_mma(Mma instruction, int chains, const MmaLaunch& launch, cudaStream_t stream);

/// Blocks that a multiprocessor of the current device holds at once. Throws as above.
int resident_mma_blocks(Mma instruction, int chains);

}  // namespace roof::gpu

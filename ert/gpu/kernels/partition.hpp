// Host interface of the kernel of the "partition" bench. Every multiprocessor loads the lines of its own side of the
// L2, or of the other side, 16 bytes by each instruction and past the L1. The list of lines is in shared memory.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace roof::gpu {

inline constexpr int partition_threads = 512;  ///< of a block
inline constexpr int partition_unroll = 4;     ///< loads of a thread in flight at once
inline constexpr int partition_line = 128;     ///< bytes
inline constexpr int partition_lines = 2048;   ///< of each side in one pass; a power of two
inline constexpr int threads_of_line = partition_line / 16;
inline constexpr int lines_at_once = partition_threads / threads_of_line;
static_assert(partition_lines % (lines_at_once * partition_unroll) == 0);

/// Index into the list for load `load` of a block's thread `thread`. Every block begins at another index, so that the
/// blocks do not load the same line at the same time. In partition_lines / lines_at_once loads the threads of a block
/// load each line once.
constexpr unsigned place_in_list(unsigned block, unsigned load, unsigned thread)
{
    constexpr unsigned golden = 1265;  ///< odd, near the golden section of partition_lines
    return (block * golden + load * lines_at_once + thread / threads_of_line) % partition_lines;
}

/// Likewise where a block loads only its own lines_at_once lines, again and again: blocks this far apart have the same ones.
inline constexpr unsigned partition_groups = partition_lines / lines_at_once;
constexpr unsigned own_place_in_list(unsigned block, unsigned thread)
{
    return block % partition_groups * lines_at_once + thread / threads_of_line;
}

struct PartitionLaunch {
    const std::byte* lines = nullptr;      ///< the pool
    const std::uint32_t* lists = nullptr;  ///< [2][partition_lines]: line numbers of each side
    const int* sides = nullptr;            ///< [multiprocessors]: 0, 1, or -1 if unknown
    unsigned multiprocessors = 0;
    bool is_far = false;            ///< loads the other side's lines
    bool is_apart = false;          ///< each block loads its own lines alone
    std::uint32_t* sums = nullptr;  ///< [block][thread], of the words read, modulo 2^32
    int* block_sides = nullptr;     ///< [block]: the side it ran on, or -1
    ClockReading* reading = nullptr;
    int blocks = 0;
    int passes = 1;
};

/// Puts one launch into the stream. Throws Error.
void enqueue_partition(const PartitionLaunch& launch, cudaStream_t stream);

/// Blocks that a multiprocessor of the current device holds at once. Throws Error.
int resident_partition_blocks();

}  // namespace roof::gpu

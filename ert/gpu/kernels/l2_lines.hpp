// Host interface of the kernels that measure the distance of lines in the L2, for the benches "distance" and
// "partition". One thread on a chosen multiprocessor, or on each, accesses the lines: one by one to time each, or in a
// chain.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace roof::gpu {

/// Enough lines to use every slice of the L2 many times, and few enough to fit half of any L2 with two partitions.
inline constexpr int l2_lines = 1024;
/// Bytes from one line to the next: each is on another page of 4 KiB, at another offset.
inline constexpr std::size_t l2_stride = 8192 + 128;
inline constexpr int l2_loads = 16;  ///< timed together; of an iteration of a chain
inline constexpr int l2_rounds = 4;  ///< of each line's timing, the least of which counts

/// The first block to arrive on a multiprocessor does the work, and sets `last_number` to the number of the launch,
/// which is higher than any before. So the host learns that a block ran there.
struct LeaderElection {
    unsigned multiprocessor = 0;
    unsigned* last_number = nullptr;
    unsigned number = 0;
};

struct DistanceLaunch {
    LeaderElection election;
    const std::byte* lines = nullptr;  ///< each begins with its own address
    std::uint32_t* cycles = nullptr;   ///< [l2_lines], of l2_loads accesses; 0: the line did not hold its address
    int blocks = 0;                    ///< enough that every multiprocessor has one
    unsigned zero = 0;                 ///< always 0: only the assembler must not know it
};

/// Neighbouring lines of the "partition" bench: enough that a quarter of them uses all slices of a partition many
/// times, and few enough to stay in the L2.
inline constexpr int pool_lines = 8192;
inline constexpr std::size_t pool_line = 128;  ///< bytes

/// One thread on each multiprocessor times all lines of the pool.
struct PoolLaunch {
    unsigned* last_number = nullptr;  ///< [multiprocessors], as in LeaderElection
    unsigned number = 0;
    const std::byte* lines = nullptr;  ///< each begins with its own address
    std::uint32_t* cycles = nullptr;   ///< [multiprocessor][pool_lines], as of DistanceLaunch
    unsigned multiprocessors = 0;
    int blocks = 0;
    unsigned zero = 0;  ///< always 0: only the assembler must not know it
};

struct L2ChaseLaunch {
    LeaderElection election;
    const std::byte** place = nullptr;  ///< the line to begin at, and then the one arrived at
    ClockReading* reading = nullptr;
    int blocks = 0;
    int iterations = 1;
};

/// Throws Error.
void enqueue_distances(const DistanceLaunch& launch, cudaStream_t stream);
/// Throws Error.
void enqueue_pool_distances(const PoolLaunch& launch, cudaStream_t stream);
/// Throws Error.
void enqueue_l2_chase(const L2ChaseLaunch& launch, cudaStream_t stream);

}  // namespace roof::gpu

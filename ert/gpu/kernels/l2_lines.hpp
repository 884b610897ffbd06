// The kernels of the "distance" and "partition" benches that find out how far lines are, as host code sees them: one thread on a
// chosen multiprocessor, or on each, accesses lines that lie in the L2: one by one to tell how far each is, and in a chain through
// those that are alike.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace roof::gpu {

/// Enough to meet every slice of the L2 many times, and few enough for a half of any L2 of two partitions.
inline constexpr int l2_lines = 1024;
/// Bytes from one line to the next: on another page of 4 KiB each, at another place in it.
inline constexpr std::size_t l2_stride = 8192 + 128;
inline constexpr int l2_loads = 16;  ///< timed together; of an iteration of a chain
inline constexpr int l2_rounds = 4;  ///< of each line's timing, the least of which counts

/// Which multiprocessor works, and how the host learns that one of its blocks did: `taken` becomes the ticket, which is
/// higher than any before it.
struct Seat {
    unsigned multiprocessor = 0;
    unsigned* taken = nullptr;
    unsigned ticket = 0;
};

struct DistanceLaunch {
    Seat seat;
    const std::byte* lines = nullptr;  ///< each begins with its own address
    std::uint32_t* cycles = nullptr;   ///< [l2_lines], of l2_loads accesses; 0: the line did not hold its address
    int blocks = 0;                    ///< enough that every multiprocessor has one
    unsigned zero = 0;                 ///< always 0: only the assembler must not know it
};

/// Lines of the "partition" bench, one after the other: enough that a quarter of them meets all slices of a partition
/// many times, few enough that all of them stay in the L2.
inline constexpr int pool_lines = 8192;
inline constexpr std::size_t pool_line = 128;  ///< bytes

/// One thread on each multiprocessor times all lines of the pool.
struct PoolLaunch {
    unsigned* taken = nullptr;  ///< [multiprocessors], as of Seat
    unsigned ticket = 0;
    const std::byte* lines = nullptr;  ///< each begins with its own address
    std::uint32_t* cycles = nullptr;   ///< [multiprocessor][pool_lines], as of DistanceLaunch
    unsigned multiprocessors = 0;
    int blocks = 0;
    unsigned zero = 0;  ///< always 0: only the assembler must not know it
};

struct L2ChaseLaunch {
    Seat seat;
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

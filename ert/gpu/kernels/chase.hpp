// Host interface of the kernels of the "latency" bench: one thread on each multiprocessor follows a chain of addresses.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <numeric>

namespace roof::gpu {

inline constexpr std::size_t chase_line = 64;  ///< bytes from one address of a slice to the next
inline constexpr int chase_unroll = 16;        ///< steps of an iteration

/// The distance from one line of the chain to the next. It is near the golden section of the slice, so that neighbours
/// are far apart in time, and has no divisor in common with `lines`, so that the chain visits all of them.
constexpr std::size_t chase_stride(std::size_t lines)
{
    auto stride = static_cast<std::size_t>(static_cast<double>(lines) * 0.6180339887498949);
    while (stride > 1 && std::gcd(stride, lines) != 1) --stride;
    return stride < 1 ? 1 : stride;
}

/// The line of a chain that began at line 0 after `steps` steps.
constexpr std::size_t chase_position(std::size_t lines, unsigned long long steps)
{
    return static_cast<std::size_t>(steps % lines * chase_stride(lines) % lines);
}

struct ChaseLaunch {
    void* slices = nullptr;                   ///< [slice][line][chase_line]
    unsigned long long* positions = nullptr;  ///< [slice]: the line to begin at, and then the one arrived at
    std::size_t lines = 0;                    ///< of a slice
    ClockReading* reading = nullptr;
    int slices_count = 1;  ///< a block each
    int iterations = 1;
    bool past_l1 = false;
};

/// Writes the chains. Throws Error.
void enqueue_links(const ChaseLaunch& launch, cudaStream_t stream);
/// Follows them. Throws Error.
void enqueue_chase(const ChaseLaunch& launch, cudaStream_t stream);

}  // namespace roof::gpu

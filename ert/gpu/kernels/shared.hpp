// Host interface of the kernels of the "shared" bench: passes over a block's shared memory by accesses of 16 bytes.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"
#include "ert/gpu/kernels/launch.hpp"

#include <cstdint>

namespace roof::gpu {

enum class SharedOperation { load, store };

inline constexpr int shared_threads = 512;  ///< of a block
inline constexpr int shared_vectors = 4;    ///< of each thread: 32 KiB per block
inline constexpr int shared_unroll = 8;     ///< passes of one iteration
inline constexpr int shared_bytes = shared_threads * shared_vectors * 16;

inline constexpr int shared_words = shared_bytes / 4;

struct SharedLaunch {
    std::uint32_t* results = nullptr;  ///< [block][thread]: shared_result()
    ClockReading* reading = nullptr;
    int blocks = 1;
    int iterations = 1;
};

/// Word `word` of shared memory before a load.
constexpr std::uint32_t shared_word(std::uint32_t word)
{
    return word * 2654435761u + 12345u;
}

/// load: the sum of the words that a thread read. store: the sum of the words that it wrote last.
constexpr std::uint32_t shared_result(SharedOperation operation, std::uint32_t thread, std::uint32_t iterations)
{
    std::uint32_t sum = 0;
    for (std::uint32_t vector = 0; vector < shared_vectors; ++vector) {
        for (std::uint32_t i = 0; i < 4; ++i) sum += shared_word(4 * (vector * shared_threads + thread) + i);
    }
    return operation == SharedOperation::load ? sum * iterations * shared_unroll : 4 * shared_vectors * iterations;
}

Kernel<SharedLaunch> shared_kernel_of(SharedOperation operation);

}  // namespace roof::gpu

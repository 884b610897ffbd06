// Host interface of the kernels of the benches "cluster" and "cluster_latency" (compute capability 9.0 and later): the
// blocks of a cluster access one another's shared memory.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"
#include "ert/gpu/kernels/launch.hpp"

#include <cstdint>

namespace roof::gpu {

inline constexpr int cluster_threads = 1024;  ///< of a block
inline constexpr int cluster_vectors = 8;     ///< of 16 bytes, of each thread
inline constexpr int cluster_unroll = 4;      ///< passes of one iteration
/// Of a block. More than half of what a multiprocessor has, so that no two blocks of a cluster share one.
inline constexpr int cluster_bytes = cluster_threads * cluster_vectors * 16;
inline constexpr int cluster_words = cluster_bytes / 4;
inline constexpr int cluster_chase_unroll = 16;  ///< steps of an iteration

struct ClusterLaunch {
    std::uint32_t* results = nullptr;  ///< [block][thread]; of a chase [block]
    ClockReading* reading = nullptr;
    int blocks = 2;  ///< a multiple of `size`
    int size = 2;    ///< blocks of a cluster
    int iterations = 1;
};

enum class ClusterOperation { load, chase };

/// The block whose memory block `rank` reads in an iteration: each of the others in turn.
constexpr unsigned cluster_partner(unsigned rank, unsigned size, unsigned iteration)
{
    return (rank + 1 + iteration % (size - 1)) % size;
}

/// Word `word` of the shared memory of block `rank` before loads.
constexpr std::uint32_t cluster_word(unsigned rank, std::uint32_t word)
{
    return (rank * cluster_words + word) * 2654435761u + 12345u;
}

/// The sum of the words that a thread of block `rank` loads.
constexpr std::uint32_t cluster_sum(unsigned rank, unsigned size, std::uint32_t thread, unsigned iterations)
{
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < iterations; ++i) {
        for (std::uint32_t vector = 0; vector < cluster_vectors; ++vector) {
            for (std::uint32_t w = 0; w < 4; ++w)
                sum += cluster_word(cluster_partner(rank, size, i), 4 * (vector * cluster_threads + thread) + w);
        }
    }
    return sum * cluster_unroll;
}

/// In clusters of so many blocks. load: each thread of a block sums up its vectors in the memory of the other blocks.
/// chase: one thread of each block follows the chain of chase_stride() through the words of the next block, and leaves
/// the word that it arrives at. Throws Error; Unsupported where this build has no such code for the GPU.
Kernel<ClusterLaunch> cluster_kernel_of(ClusterOperation operation, int size);

}  // namespace roof::gpu

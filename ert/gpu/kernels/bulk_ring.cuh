// A ring of chunks in shared memory, which the copy engine fills. Each load completes on a barrier.
#pragma once

#include "ert/gpu/kernels/bulk.hpp"
#include "ert/gpu/kernels/own_numbers.cuh"

namespace roof::gpu {

/// Chunks that a copy loads before it stores them.
inline constexpr int ahead = bulk_stages / 2;

inline __device__ unsigned shared_address(const void* pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

struct Ring {
    alignas(128) char chunks[bulk_stages][bulk_chunk_bytes];
    alignas(8) unsigned long long arrived[bulk_stages];
};

inline __device__ void prepare(Ring& ring)
{
    if (threadIdx.x == 0) {
        for (auto& barrier : ring.arrived)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    auto* words = reinterpret_cast<float*>(ring.chunks);
    for_own_numbers<bulk_threads, sizeof(ring.chunks) / sizeof(float)>([=](unsigned i) { words[i] = stream_value; });
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
}

/// Returns the address of the stage's barrier.
inline __device__ unsigned expect_chunk(Ring& ring, int stage)
{
    const unsigned barrier = shared_address(&ring.arrived[stage]);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "n"(bulk_chunk_bytes)
                 : "memory");
    return barrier;
}

/// Waits for the `turn`-th load into the stage.
inline __device__ void wait_for(const Ring& ring, int stage, long long turn)
{
    unsigned is_there = 0;
    while (is_there == 0) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(is_there)
                     : "r"(shared_address(&ring.arrived[stage])), "r"(static_cast<unsigned>(turn & 1))
                     : "memory");
    }
}

inline __device__ std::uint32_t sum_of_chunk(const Ring& ring, int stage)
{
    const auto* words = reinterpret_cast<const std::uint32_t*>(ring.chunks[stage]);
    std::uint32_t sum = 0;
    for_own_numbers<bulk_threads, bulk_chunk_bytes / sizeof(std::uint32_t)>([&](unsigned i) { sum += words[i]; });
    return sum;
}

/// The chunks of a block, one pass after the other.
struct Chunks {
    unsigned block, blocks;
    long long all;    ///< of an array
    long long mine;   ///< of a pass
    long long count;  ///< of all passes

    __device__ explicit Chunks(const StreamLaunch& launch)
        : block(blockIdx.x),
          blocks(gridDim.x),
          all(static_cast<long long>(launch.vectors) * vector_bytes / bulk_chunk_bytes),
          mine((all - block + blocks - 1) / blocks),
          count(mine * launch.passes)
    {
    }
    __device__ long long offset(long long n) const { return (n % mine * blocks + block) * bulk_chunk_bytes; }
};

}  // namespace roof::gpu

// Neighbouring threads access neighbouring vectors, so that no two threads of a warp use the same bank of the block
// whose memory they read.
#include "ert/gpu/kernels/cluster.hpp"

#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/cluster.cuh"
#include "ert/gpu/kernels/own_numbers.cuh"

namespace roof::gpu {

namespace {

constexpr int largest_portable_cluster = 8;

/// Where an address of this block's shared memory is in block `rank`.
__device__ unsigned address_in(unsigned rank, unsigned address)
{
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

/// Volatile: else the assembler merges the reads of two passes.
__device__ std::uint32_t read_sum(unsigned address)
{
    uint4 v;
    asm volatile("ld.volatile.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(address));
    return v.x + v.y + v.z + v.w;
}

__global__ void __launch_bounds__(cluster_threads) cluster_load_kernel(ClusterLaunch launch)
{
    extern __shared__ __align__(16) std::uint32_t words[];
    const ClockSpan span;
    const unsigned rank = rank_in_cluster();
    const auto size = static_cast<unsigned>(launch.size);
    for_own_numbers<cluster_threads, cluster_words>([=](unsigned i) { words[i] = cluster_word(rank, i); });
    const auto mine = static_cast<unsigned>(__cvta_generic_to_shared(words)) + 16 * threadIdx.x;
    meet_cluster();
    std::uint32_t sum = 0;
    unsigned partner = rank;
#pragma unroll 1
    for (int i = 0; i < launch.iterations; ++i) {
        partner = partner + 1 == size ? 0 : partner + 1;
        if (partner == rank) partner = partner + 1 == size ? 0 : partner + 1;
        const unsigned there = address_in(partner, mine);
#pragma unroll
        for (int access = 0; access < cluster_unroll * cluster_vectors; ++access)
            sum += read_sum(there + access % cluster_vectors * 16 * cluster_threads);
    }
    meet_cluster();  // a block that ended would take its memory with it
    launch.results[std::size_t(blockIdx.x) * cluster_threads + threadIdx.x] = sum;
    span.end(launch.reading);
}

__global__ void __launch_bounds__(cluster_threads) cluster_chase_kernel(ClusterLaunch launch)
{
    extern __shared__ __align__(16) std::uint32_t words[];
    const ClockSpan span;
    const unsigned rank = rank_in_cluster();
    const unsigned mine = address_in(rank, static_cast<unsigned>(__cvta_generic_to_shared(words)));
    constexpr unsigned stride = chase_stride(cluster_words);
    for_own_numbers<cluster_threads, cluster_words>(
        [=](unsigned i) { words[i] = mine + (i + stride) % cluster_words * 4; });
    meet_cluster();
    if (threadIdx.x == 0) {
        const unsigned next = rank + 1 == static_cast<unsigned>(launch.size) ? 0 : rank + 1;
        const unsigned first = address_in(next, static_cast<unsigned>(__cvta_generic_to_shared(words)));
        unsigned at = first;
#pragma unroll 1
        for (int i = 0; i < launch.iterations; ++i) {
#pragma unroll
            for (int step = 0; step < cluster_chase_unroll; ++step)
                asm volatile("ld.volatile.shared::cluster.u32 %0, [%0];" : "+r"(at));
        }
        launch.results[blockIdx.x] = (at - first) / 4;
    }
    meet_cluster();
    span.end(launch.reading);
}

}  // namespace

/// Its limits of shared memory and of blocks of a cluster are raised on the current device.
Kernel<ClusterLaunch> cluster_kernel_of(ClusterOperation operation, int size)
{
    const auto kernel = operation == ClusterOperation::load ? cluster_load_kernel : cluster_chase_kernel;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, cluster_bytes));
    if (size > largest_portable_cluster)
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    return {kernel, cluster_threads, cluster_bytes, size};
}

}  // namespace roof::gpu

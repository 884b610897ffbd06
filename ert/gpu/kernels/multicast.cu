// Blocks of a cluster that fill their rings together. In a file of its own, because of the code for later architectures
// only that for the exact one is fast.
#include "ert/gpu/kernels/bulk_ring.cuh"
#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/cluster.cuh"

namespace roof::gpu {

namespace {

/// To the same place in each block of the cluster, and on its barrier there.
__device__ void load_chunk_for_all(Ring& ring, int stage, const char* from, unsigned readers)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
        "%4;" ::"r"(shared_address(ring.chunks[stage])),
        "l"(from), "n"(bulk_chunk_bytes), "r"(shared_address(&ring.arrived[stage])),
        "h"(static_cast<unsigned short>((1U << readers) - 1))
        : "memory");
}

__global__ void __launch_bounds__(bulk_threads) multicast_kernel(StreamLaunch launch)
{
    extern __shared__ __align__(128) char memory[];
    Ring& ring = *reinterpret_cast<Ring*>(memory);
    const ClockSpan span;
    prepare(ring);
    const auto readers = static_cast<unsigned>(launch.readers);
    const Chunks chunks(launch, readers);
    const unsigned rank = rank_in_cluster();
    // The blocks take turns to load a chunk for all.
    const auto begin = [&](long long n) {
        if (threadIdx.x != 0 || n >= chunks.count) return;
        const int stage = static_cast<int>(n % bulk_stages);
        expect_chunk(ring, stage);
        if (n % readers == rank)
            load_chunk_for_all(ring, stage, static_cast<const char*>(launch.a) + chunks.offset(n), readers);
    };
    std::uint32_t sum = 0;
    meet_cluster();  // the barriers of all are there
#pragma unroll 1
    for (long long n = 0; n < bulk_stages; ++n) begin(n);
#pragma unroll 1
    for (long long n = 0; n < chunks.count; ++n) {
        const int stage = static_cast<int>(n % bulk_stages);
        wait_for(ring, stage, n / bulk_stages);
        if (launch.sums != nullptr) sum += sum_of_chunk(ring, stage);
        __syncwarp();
        if ((n + 1) % ahead != 0) continue;
        meet_cluster();  // all have read half of their rings
#pragma unroll 1
        for (long long next = n + 1 + ahead; next < n + 1 + bulk_stages; ++next) begin(next);
        __syncwarp();
    }
    meet_cluster();  // a block that ended would take its memory with it
    if (launch.sums != nullptr) launch.sums[blockIdx.x * bulk_threads + threadIdx.x] = sum;
    span.end(launch.reading);
}

}  // namespace

/// The limit of shared memory is raised on the current device.
Kernel<StreamLaunch> multicast_kernel_of(int readers)
{
    check(cudaFuncSetAttribute(multicast_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Ring)));
    return {multicast_kernel, bulk_threads, sizeof(Ring), readers};
}

}  // namespace roof::gpu

// A store of the ring has read its chunk when few enough groups of stores are in flight.
#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/bulk_ring.cuh"
#include "ert/gpu/kernels/clock_span.cuh"

namespace roof::gpu {

namespace {

__device__ void load_chunk(Ring& ring, int stage, const char* from)
{
    const unsigned barrier = expect_chunk(ring, stage);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(ring.chunks[stage])),
                 "l"(from), "n"(bulk_chunk_bytes), "r"(barrier)
                 : "memory");
}

__device__ void store_chunk(const Ring& ring, int stage, char* to)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(ring.chunks[stage])), "n"(bulk_chunk_bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ std::uint32_t load_all(Ring& ring, const Chunks& chunks, const char* from, bool adds)
{
    const auto load = [&](int stage, long long n) { load_chunk(ring, stage, from + chunks.offset(n)); };
    const bool leads = threadIdx.x == 0;
    std::uint32_t sum = 0;
    for (long long n = 0; n < bulk_stages && n < chunks.count; ++n) {
        if (leads) load(static_cast<int>(n), n);
    }
    for (long long n = 0; n < chunks.count; ++n) {
        const int stage = static_cast<int>(n % bulk_stages);
        wait_for(ring, stage, n / bulk_stages);
        if (adds) sum += sum_of_chunk(ring, stage);
        __syncwarp();
        if (leads && n + bulk_stages < chunks.count) load(stage, n + bulk_stages);
    }
    return sum;
}

__device__ void store_all(const Ring& ring, const Chunks& chunks, char* to)
{
    if (threadIdx.x != 0) return;
    for (long long n = 0; n < chunks.count; ++n) {
        store_chunk(ring, static_cast<int>(n % bulk_stages), to + chunks.offset(n));
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(bulk_stages) : "memory");
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ void copy_all(Ring& ring, const Chunks& chunks, const char* from, char* to)
{
    if (threadIdx.x != 0) return;
    for (long long n = 0; n < ahead && n < chunks.count; ++n)
        load_chunk(ring, static_cast<int>(n), from + chunks.offset(n));
    for (long long n = 0; n < chunks.count; ++n) {
        const int stage = static_cast<int>(n % bulk_stages);
        wait_for(ring, stage, n / bulk_stages);
        store_chunk(ring, stage, to + chunks.offset(n));
        // The stage that is loaded next was stored `ahead` chunks ago.
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(ahead) : "memory");
        const long long next = n + ahead;
        if (next < chunks.count) load_chunk(ring, static_cast<int>(next % bulk_stages), from + chunks.offset(next));
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

template <StreamOperation operation>
__global__ void __launch_bounds__(bulk_threads) bulk_kernel(StreamLaunch launch)
{
    extern __shared__ __align__(128) char memory[];
    Ring& ring = *reinterpret_cast<Ring*>(memory);
    const ClockSpan span;
    prepare(ring);
    const Chunks chunks(launch);
    const auto* from = static_cast<const char*>(launch.a);
    auto* to = static_cast<char*>(launch.out);
    if constexpr (operation == StreamOperation::load) {
        const std::uint32_t sum = load_all(ring, chunks, from, launch.sums != nullptr);
        if (launch.sums != nullptr) launch.sums[blockIdx.x * bulk_threads + threadIdx.x] = sum;
    } else if constexpr (operation == StreamOperation::store) {
        store_all(ring, chunks, to);
    } else {
        copy_all(ring, chunks, from, to);
    }
    span.end(launch.reading);
}

}  // namespace

/// The limit of shared memory is raised on the current device.
Kernel<StreamLaunch> bulk_kernel_of(StreamOperation operation)
{
    if (operation == StreamOperation::triad) throw Unsupported("the copy engine does not compute");
    constexpr void (*kernels[])(StreamLaunch){bulk_kernel<StreamOperation::load>, bulk_kernel<StreamOperation::store>,
                                              bulk_kernel<StreamOperation::copy>};
    const auto kernel = kernels[static_cast<unsigned>(operation)];
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Ring)));
    return {kernel, bulk_threads, sizeof(Ring)};
}

}  // namespace roof::gpu

// A ring of chunks in shared memory. Each load completes on a barrier. A store has read its chunk when few enough
// groups of stores are in flight.
#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/bulk.hpp"
#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/launch.cuh"

namespace roof::gpu {

namespace {

constexpr int ahead = bulk_stages / 2;  ///< chunks that a copy loads before it stores them

__device__ unsigned shared_address(const void* pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

struct Ring {
    alignas(128) char chunks[bulk_stages][bulk_chunk_bytes];
    alignas(8) unsigned long long arrived[bulk_stages];
};

__device__ void prepare(Ring& ring)
{
    if (threadIdx.x == 0) {
        for (auto& barrier : ring.arrived)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    auto* words = reinterpret_cast<float*>(ring.chunks);
    for (unsigned i = threadIdx.x; i < sizeof(ring.chunks) / sizeof(float); i += bulk_threads) words[i] = stream_value;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
}

__device__ void load_chunk(Ring& ring, int stage, const char* from)
{
    const unsigned barrier = shared_address(&ring.arrived[stage]);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "n"(bulk_chunk_bytes)
                 : "memory");
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

/// Waits for the `turn`-th load into the stage.
__device__ void wait_for(const Ring& ring, int stage, long long turn)
{
    unsigned is_there = 0;
    while (is_there == 0) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(is_there)
                     : "r"(shared_address(&ring.arrived[stage])), "r"(static_cast<unsigned>(turn & 1))
                     : "memory");
    }
}

__device__ std::uint32_t sum_of_chunk(const Ring& ring, int stage)
{
    const auto* words = reinterpret_cast<const std::uint32_t*>(ring.chunks[stage]);
    std::uint32_t sum = 0;
    for (unsigned i = threadIdx.x; i < bulk_chunk_bytes / sizeof(std::uint32_t); i += bulk_threads) sum += words[i];
    return sum;
}

/// The chunks of a block, one pass after the other.
struct Chunks {
    long long all;    ///< of an array
    long long mine;   ///< of a pass
    long long count;  ///< of all passes

    __device__ explicit Chunks(const StreamLaunch& launch)
        : all(static_cast<long long>(launch.vectors) * vector_bytes / bulk_chunk_bytes),
          mine((all - blockIdx.x + gridDim.x - 1) / gridDim.x),
          count(mine * launch.passes)
    {
    }
    __device__ long long offset(long long n) const { return (n % mine * gridDim.x + blockIdx.x) * bulk_chunk_bytes; }
};

__device__ std::uint32_t load_all(Ring& ring, const Chunks& chunks, const char* from, bool adds)
{
    const bool leads = threadIdx.x == 0;
    std::uint32_t sum = 0;
    for (long long n = 0; n < bulk_stages && n < chunks.count; ++n) {
        if (leads) load_chunk(ring, static_cast<int>(n), from + chunks.offset(n));
    }
    for (long long n = 0; n < chunks.count; ++n) {
        const int stage = static_cast<int>(n % bulk_stages);
        wait_for(ring, stage, n / bulk_stages);
        if (adds) sum += sum_of_chunk(ring, stage);
        __syncwarp();
        if (leads && n + bulk_stages < chunks.count) load_chunk(ring, stage, from + chunks.offset(n + bulk_stages));
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

using Kernel = void (*)(StreamLaunch);

/// Its limit of shared memory is raised on the current device.
Kernel function_of(StreamOperation operation)
{
    if (operation == StreamOperation::triad) throw Unsupported("the copy engine does not compute");
    constexpr Kernel kernels[]{bulk_kernel<StreamOperation::load>, bulk_kernel<StreamOperation::store>,
                               bulk_kernel<StreamOperation::copy>};
    const Kernel kernel = kernels[static_cast<unsigned>(operation)];
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Ring)));
    return kernel;
}

}  // namespace

void enqueue_bulk(StreamOperation operation, const StreamLaunch& launch, cudaStream_t stream)
{
    enqueue_kernel(function_of(operation), launch, bulk_threads, stream, sizeof(Ring));
}

int resident_bulk_blocks(StreamOperation operation)
{
    return resident_blocks(function_of(operation), bulk_threads, sizeof(Ring));
}

}  // namespace roof::gpu

// One loop for loads and atomics, for any number of blocks and threads.
#include "ert/gpu/kernels/access.hpp"

#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/clock_span.cuh"

namespace roof::gpu {

namespace {

__device__ std::uint32_t read(const std::uint32_t* from)
{
    std::uint32_t value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(from));
    return value;
}

template <AccessKind kind, int count>
__device__ void access(std::uint32_t* words, std::size_t first, std::size_t step, std::uint32_t& sum)
{
    std::uint32_t values[count];
#pragma unroll
    for (int i = 0; i < count; ++i) {
        std::uint32_t* const at = words + (shares(kind) ? 0 : first + i * step);
        if constexpr (kind == AccessKind::load)
            values[i] = read(at);
        else if constexpr (returns(kind))
            values[i] = atomicAdd(at, 1U);
        else
            atomicAdd(at, 1U);
    }
    if constexpr (returns(kind)) {
#pragma unroll
        for (int i = 0; i < count; ++i) sum += values[i];
    }
}

template <AccessKind kind>
__global__ void __launch_bounds__(most_access_threads) access_kernel(AccessLaunch launch)
{
    const ClockSpan span;
    const std::size_t step = std::size_t(gridDim.x) * blockDim.x * launch.stride;
    const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    std::uint32_t sum = 0;
#pragma unroll 1
    for (int pass = 0; pass < launch.passes; ++pass) {
#pragma unroll 1
        for (unsigned offset = 0; offset < launch.stride; ++offset) {
            std::size_t i = thread * launch.stride + offset;
#pragma unroll 1
            for (; i + (access_unroll - 1) * step < launch.count; i += access_unroll * step)
                access<kind, access_unroll>(launch.words, i, step, sum);
#pragma unroll 1
            for (; i < launch.count; i += step) access<kind, 1>(launch.words, i, step, sum);
        }
    }
    if constexpr (returns(kind)) launch.sums[thread] = sum;
    span.end(launch.reading);
}

__global__ void access_fill_kernel(std::uint32_t* words, std::size_t count, bool zeros)
{
    const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
    for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        words[i] = zeros ? 0 : access_word(static_cast<std::uint32_t>(i));
}

}  // namespace

void enqueue_access_fill(AccessKind kind, std::uint32_t* words, std::size_t count, cudaStream_t stream)
{
    constexpr int blocks = 1024;
    constexpr int threads = 256;
    access_fill_kernel<<<blocks, threads, 0, stream>>>(words, count, kind != AccessKind::load);
    check(cudaGetLastError());
}

Kernel<AccessLaunch> access_kernel_of(AccessKind kind, int threads)
{
    constexpr void (*kernels[])(AccessLaunch){
        access_kernel<AccessKind::load>, access_kernel<AccessKind::atomic_add>, access_kernel<AccessKind::atomic_share>,
        access_kernel<AccessKind::fetch_add>, access_kernel<AccessKind::fetch_share>};
    return {kernels[static_cast<unsigned>(kind)], threads};
}

}  // namespace roof::gpu

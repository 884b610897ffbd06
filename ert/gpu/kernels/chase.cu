// A chase: each load's address is what the load before found; nothing else is in the loop.
#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/kernels/clock_span.cuh"

namespace roof::gpu {

namespace {

__global__ void links_kernel(ChaseLaunch launch, std::size_t stride)
{
    char* const slice = static_cast<char*>(launch.slices) + blockIdx.y * launch.lines * chase_line;
    const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
    for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < launch.lines; i += step)
        *reinterpret_cast<void**>(slice + i * chase_line) = slice + (i + stride) % launch.lines * chase_line;
    if (blockIdx.x == 0 && threadIdx.x == 0) launch.positions[blockIdx.y] = 0;
}

template <bool past_l1>
__global__ void chase_kernel(ChaseLaunch launch)
{
    const ClockSpan span;
    const char* const slice = static_cast<const char*>(launch.slices) + blockIdx.x * launch.lines * chase_line;
    const char* at = slice + launch.positions[blockIdx.x] * chase_line;
#pragma unroll 1
    for (int i = 0; i < launch.iterations; ++i) {
#pragma unroll
        for (int step = 0; step < chase_unroll; ++step) {
            if constexpr (past_l1)
                asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
            else
                asm volatile("ld.global.u64 %0, [%0];" : "+l"(at));
        }
    }
    launch.positions[blockIdx.x] = (at - slice) / chase_line;
    span.end(launch.reading);
}

}  // namespace

void enqueue_links(const ChaseLaunch& launch, cudaStream_t stream)
{
    constexpr int threads = 256;
    const dim3 blocks(16, static_cast<unsigned>(launch.slices_count));
    links_kernel<<<blocks, threads, 0, stream>>>(launch, chase_stride(launch.lines));
    check(cudaGetLastError());
}

void enqueue_chase(const ChaseLaunch& launch, cudaStream_t stream)
{
    const auto kernel = launch.past_l1 ? chase_kernel<true> : chase_kernel<false>;
    kernel<<<launch.slices_count, 1, 0, stream>>>(launch);
    check(cudaGetLastError());
}

}  // namespace roof::gpu

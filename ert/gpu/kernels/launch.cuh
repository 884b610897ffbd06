// How all kernels are launched: one struct of arguments, which has the number of blocks. And how the threads of a block share numbers.
#pragma once

#include "ert/gpu/check.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

namespace roof::gpu {

/// Puts one launch into the stream. Throws Error; Unsupported where this build has no code of the kernel for the GPU.
template <class Launch>
void enqueue_kernel(void (*kernel)(Launch), const Launch& launch, int threads, cudaStream_t stream,
                    std::size_t shared_bytes = 0, std::source_location at = std::source_location::current())
{
    kernel<<<launch.blocks, threads, shared_bytes, stream>>>(launch);
    check(cudaGetLastError(), at);
}

/// Blocks that a multiprocessor of the current device holds at once. Throws as above.
template <class Launch>
int resident_blocks(void (*kernel)(Launch), int threads, std::size_t shared_bytes = 0,
                    std::source_location at = std::source_location::current())
{
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes), at);
    return blocks;
}

/// Calls body(i) for each number below `count` that is the thread's. A block has `threads`, which the compiler does not know by itself.
template <unsigned threads, unsigned count, class Body>
__device__ void for_own_numbers(const Body& body)
{
    __builtin_assume(threadIdx.x < threads);
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < count; i += threads) body(i);
}

}  // namespace roof::gpu

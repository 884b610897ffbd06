// How the threads of a block share numbers.
#pragma once

namespace roof::gpu {

/// Calls body(i) for each number below `count` that is the thread's. A block has `threads`, which the compiler does not
/// know by itself.
template <unsigned threads, unsigned count, class Body>
__device__ void for_own_numbers(const Body& body)
{
    __builtin_assume(threadIdx.x < threads);
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < count; i += threads) body(i);
}

}  // namespace roof::gpu

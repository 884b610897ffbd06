// Neighbouring threads access neighbouring vectors, so that no two threads of a warp use the same bank.
#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/own_numbers.cuh"
#include "ert/gpu/kernels/shared.hpp"

namespace roof::gpu {

namespace {

/// Volatile: else the assembler merges the reads of two passes.
__device__ std::uint32_t read_sum(unsigned address)
{
    uint4 v;
    asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(address));
    return v.x + v.y + v.z + v.w;
}

__device__ void write(unsigned address, std::uint32_t value)
{
    asm volatile("st.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(address), "r"(value) : "memory");
}

template <SharedOperation operation>
__global__ void __launch_bounds__(shared_threads) shared_kernel(SharedLaunch launch)
{
    __shared__ __align__(16) std::uint32_t words[shared_words];
    const ClockSpan span;
    for_own_numbers<shared_threads, shared_words>([&](unsigned i) { words[i] = shared_word(i); });
    __syncthreads();
    const auto mine = static_cast<unsigned>(__cvta_generic_to_shared(words)) + 16 * threadIdx.x;
    std::uint32_t sum = 0;
#pragma unroll 1
    for (int i = 0; i < launch.iterations; ++i) {
#pragma unroll
        for (int access = 0; access < shared_unroll * shared_vectors; ++access) {
            const unsigned address = mine + access % shared_vectors * 16 * shared_threads;
            if constexpr (operation == SharedOperation::load)
                sum += read_sum(address);
            else
                write(address, i + 1);
        }
    }
    if constexpr (operation == SharedOperation::store) {
        for (int vector = 0; vector < shared_vectors; ++vector) sum += read_sum(mine + vector * 16 * shared_threads);
    }
    launch.results[blockIdx.x * shared_threads + threadIdx.x] = sum;
    span.end(launch.reading);
}

}  // namespace

Kernel<SharedLaunch> shared_kernel_of(SharedOperation operation)
{
    constexpr void (*kernels[])(SharedLaunch){shared_kernel<SharedOperation::load>,
                                              shared_kernel<SharedOperation::store>};
    return {kernels[static_cast<unsigned>(operation)], shared_threads};
}

}  // namespace roof::gpu

// The kernel of the "flops" bench as host code sees it. Defined for float and double.
#pragma once

#include <cuda_runtime_api.h>

namespace roof::gpu {

/// Independent chains per thread: with full occupancy far more than the pipe's depth of 4, and few enough to stay in
/// registers.
inline constexpr int fma_chains = 8;
inline constexpr int fma_threads_per_block = 256;

template <class Real>
struct FmaLaunch {
    const Real* starts;  ///< [fma_chains][fma_threads_per_block]: the same for every block
    Real* sums;          ///< [blocks][fma_threads_per_block]
    Real factor;
    Real addend;
    int blocks;
    int steps;
};

/// Puts one launch into the stream. Throws Error.
template <class Real>
void enqueue_fma(const FmaLaunch<Real>& launch, cudaStream_t stream);

/// Blocks a multiprocessor of the current device holds at once. Throws Error.
template <class Real>
int resident_fma_blocks();

}  // namespace roof::gpu

#include "ert/gpu/check.hpp"
#include "ert/gpu/probes/fma_kernel.hpp"

namespace roof::gpu {

namespace {

template <class Real>
__global__ void __launch_bounds__(fma_threads_per_block) fma_kernel(FmaLaunch<Real> launch)
{
    Real x[fma_chains];
#pragma unroll
    for (int chain = 0; chain < fma_chains; ++chain) {
        x[chain] = launch.starts[chain * fma_threads_per_block + threadIdx.x];
    }
#pragma unroll 16
    for (int step = 0; step < launch.steps; ++step) {
#pragma unroll
        for (int chain = 0; chain < fma_chains; ++chain) x[chain] = fma(x[chain], launch.factor, launch.addend);
    }
    Real sum = 0;
#pragma unroll
    for (int chain = 0; chain < fma_chains; ++chain) sum += x[chain];
    launch.sums[blockIdx.x * fma_threads_per_block + threadIdx.x] = sum;
}

}  // namespace

template <class Real>
void enqueue_fma(const FmaLaunch<Real>& launch, cudaStream_t stream)
{
    fma_kernel<Real><<<launch.blocks, fma_threads_per_block, 0, stream>>>(launch);
    check(cudaGetLastError());
}

template <class Real>
int resident_fma_blocks()
{
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fma_kernel<Real>, fma_threads_per_block, 0));
    return blocks;
}

template void enqueue_fma(const FmaLaunch<float>&, cudaStream_t);
template void enqueue_fma(const FmaLaunch<double>&, cudaStream_t);
template int resident_fma_blocks<float>();
template int resident_fma_blocks<double>();

}  // namespace roof::gpu

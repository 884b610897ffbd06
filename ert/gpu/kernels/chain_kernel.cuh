// The kernel of the chains, for any format. The loop has only the instructions counted, unrolled over chains and steps.
#pragma once

#include "ert/gpu/kernels/chains.hpp"
#include "ert/gpu/kernels/clock_span.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

namespace roof::gpu {

/// As assembly: the compiler takes half a minute to optimise a long chain of x * factor + addend for compute capability
/// 10.0.
inline __device__ unsigned multiply_add(unsigned x, unsigned factor, unsigned addend)
{
    asm("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(factor), "r"(addend));
    return x;
}

template <ChainOperation operation, class Real>
__device__ Real apply(Real x, Real factor, Real addend)
{
    constexpr bool is_pair = std::is_same_v<Real, __half2> || std::is_same_v<Real, __nv_bfloat162>;
    if constexpr (operation == ChainOperation::fma) {
        if constexpr (is_pair)
            return __hfma2(x, factor, x);
        else if constexpr (std::is_same_v<Real, unsigned>)
            return multiply_add(x, factor, addend);
        else
            return fma(x, factor, x);
    } else if constexpr (operation == ChainOperation::add) {
        if constexpr (is_pair)
            return __hadd2_rn(x, addend);
        else
            return x + addend;
    } else {
        if constexpr (is_pair)
            return __hmul2_rn(x, factor);
        else
            return x * factor;
    }
}

template <class Real, ChainOperation operation, int chains>
__global__ void __launch_bounds__(chain_threads) chain_kernel(ChainLaunch launch)
{
    const ClockSpan span;
    const auto* starts = static_cast<const Real*>(launch.starts);
    const auto* constants = static_cast<const Real*>(launch.constants);
    auto* ends = static_cast<Real*>(launch.ends);
    const Real f = constants[0], c = constants[1], g = constants[2], d = constants[3];
    Real x[chains];
#pragma unroll
    for (int chain = 0; chain < chains; ++chain) x[chain] = starts[chain * chain_threads + threadIdx.x];
#pragma unroll 1
    for (int step = 0; step < launch.steps; ++step) {
#pragma unroll
        for (int pair = 0; pair < chain_instructions / chains / 2; ++pair) {
#pragma unroll
            for (int chain = 0; chain < chains; ++chain) x[chain] = apply<operation>(x[chain], f, c);
#pragma unroll
            for (int chain = 0; chain < chains; ++chain) x[chain] = apply<operation>(x[chain], g, d);
        }
    }
    const std::size_t block = std::size_t(blockIdx.x) * chains * chain_threads;
#pragma unroll
    for (int chain = 0; chain < chains; ++chain) ends[block + chain * chain_threads + threadIdx.x] = x[chain];
    span.end(launch.reading);
}

using ChainFunction = void (*)(ChainLaunch);

template <class Real, ChainOperation operation>
ChainFunction with_chains(int chains)
{
    return chains == chain_counts[0] ? chain_kernel<Real, operation, chain_counts[0]>
                                     : chain_kernel<Real, operation, chain_counts[1]>;
}

template <class Real>
ChainFunction with_operation(const ChainKernel& kernel)
{
    constexpr ChainFunction (*kernels[])(int){with_chains<Real, ChainOperation::fma>,
                                              with_chains<Real, ChainOperation::add>,
                                              with_chains<Real, ChainOperation::mul>};
    return kernels[static_cast<unsigned>(kernel.operation)](kernel.chains);
}

/// Compiled into a separate object, for fewer architectures: bf16 has arithmetic since compute capability 8.0.
ChainFunction bf16_chains(const ChainKernel& kernel);

}  // namespace roof::gpu

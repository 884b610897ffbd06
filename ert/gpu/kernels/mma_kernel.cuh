// The loop around mma.sync, for any instruction: `Instruction` has the types Operand and Sum and a static multiply_add.
#pragma once

#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/mma.hpp"

#include <cstdint>

namespace roof::gpu {

template <class Instruction, TensorFormat name, int chains>
__global__ void __launch_bounds__(mma_threads) mma_kernel(MmaLaunch launch)
{
    using Operand = typename Instruction::Operand;
    using Sum = typename Instruction::Sum;
    constexpr MmaShape shape = shape_of(name);
    const ClockSpan span;
    const int lane = threadIdx.x % 32;
    const auto* from_a = static_cast<const Operand*>(launch.a);
    const auto* from_b = static_cast<const Operand*>(launch.b);
    constexpr int a_words = shape.a_registers + shape.scale_words;
    constexpr int b_words = shape.b_registers + shape.scale_words;
    Operand a[mma_factors][a_words];
    Operand b[chains][b_words];
    Sum sums[chains][shape.sum_registers] = {};
#pragma unroll
    for (int factor = 0; factor < mma_factors; ++factor) {
#pragma unroll
        for (int i = 0; i < a_words; ++i) a[factor][i] = from_a[(factor * 32 + lane) * a_words + i];
    }
#pragma unroll
    for (int chain = 0; chain < chains; ++chain) {
#pragma unroll
        for (int i = 0; i < b_words; ++i) b[chain][i] = from_b[(chain * 32 + lane) * b_words + i];
    }
#pragma unroll 1
    for (int step = 0; step < launch.steps; ++step) {
#pragma unroll
        for (int turn = 0; turn < mma_instructions / chains; ++turn) {
#pragma unroll
            for (int chain = 0; chain < chains; ++chain)
                Instruction::multiply_add(sums[chain], a[turn % mma_factors], b[chain]);
        }
    }
    const std::size_t warp = (std::size_t(blockIdx.x) * mma_threads + threadIdx.x) / 32;
    auto* to = static_cast<Sum*>(launch.sums) + warp * chains * 32 * shape.sum_registers;
#pragma unroll
    for (int chain = 0; chain < chains; ++chain) {
#pragma unroll
        for (int i = 0; i < shape.sum_registers; ++i)
            to[(chain * 32 + lane) * shape.sum_registers + i] = sums[chain][i];
    }
    span.end(launch.reading);
}

template <class Instruction, TensorFormat name>
MmaKernel mma_with_chains(int chains)
{
    return chains == mma_chain_counts[0] ? mma_kernel<Instruction, name, mma_chain_counts[0]>
                                         : mma_kernel<Instruction, name, mma_chain_counts[1]>;
}

}  // namespace roof::gpu

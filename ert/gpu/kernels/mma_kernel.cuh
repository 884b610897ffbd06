// The loop around mma.sync, for any instruction: `Instruction` has the types Operand and Sum and a static multiply_add.
// The instruction of all formats whose sums are fp32 stands here once; a format adds its shape and types to it.
#pragma once

#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/mma.hpp"

#include <cstdint>

namespace roof::gpu {

/// Sums in fp32. `Format::types`: shape, layouts, and the types of sums, A and B.
template <class Format>
struct FloatSums {
    using Operand = std::uint32_t;
    using Sum = float;
    static __device__ void multiply_add(Sum (&d)[4], const Operand (&a)[4], const Operand (&b)[2])
    {
        asm volatile("mma.sync.aligned.%10.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(Format::types));
    }
};

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
    Operand a[mma_factors][shape.a_registers];
    Operand b[chains][shape.b_registers];
    Sum sums[chains][shape.sum_registers] = {};
#pragma unroll
    for (int factor = 0; factor < mma_factors; ++factor) {
#pragma unroll
        for (int i = 0; i < shape.a_registers; ++i) a[factor][i] = from_a[(factor * 32 + lane) * shape.a_registers + i];
    }
#pragma unroll
    for (int chain = 0; chain < chains; ++chain) {
#pragma unroll
        for (int i = 0; i < shape.b_registers; ++i) b[chain][i] = from_b[(chain * 32 + lane) * shape.b_registers + i];
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

using MmaKernel = void (*)(MmaLaunch);

template <class Instruction, TensorFormat name>
MmaKernel mma_with_chains(int chains)
{
    return chains == mma_chain_counts[0] ? mma_kernel<Instruction, name, mma_chain_counts[0]>
                                         : mma_kernel<Instruction, name, mma_chain_counts[1]>;
}

/// Kernels that not every GPU has. They are compiled into separate objects, for fewer architectures.
MmaKernel large_fp64_kernel(int chains);
MmaKernel fp8_kernel(TensorFormat format, int chains);

}  // namespace roof::gpu

// Host interface of the chains of the "flops" bench: independent chains of one kind of instruction, in registers.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/gpu/kernels/clock_reading.hpp"
#include "ert/gpu/kernels/launch.hpp"

#include <array>

namespace roof::gpu {

enum class ChainOperation { fma, add, mul };

inline constexpr int chain_threads = 256;  ///< of a block
inline constexpr std::array<int, 2> chain_counts{4, 8};
/// Instructions of each thread in one step of the loop. With so many, the loop's counter and branch are under 1%.
inline constexpr int chain_instructions = 512;

/// fp64, fp32, fp16, bf16 or int32. int32 has only fma: two integer additions in a row become one instruction.
struct ChainKernel {
    Precision precision = Precision::fp32;
    ChainOperation operation = ChainOperation::fma;
    int chains = 8;  ///< of chain_counts
};

/// Values in a register: two of 16 bits.
constexpr int lanes_of(Precision precision)
{
    return precision == Precision::fp16 || precision == Precision::bf16 ? 2 : 1;
}

/// Every chain alternates between x = first(x) and x = second(x), which cancel each other. fma: x * f + x, of int32 x *
/// f + c; add: x + c; mul: x * f. A multiply-add of three different registers has conflicts in the banks of the
/// register file, and how many is up to the compiler: on an H100 they cost 4 to 12% of the rate. Elements are registers
/// of the precision.
struct ChainLaunch {
    const void* starts;     ///< [chains][chain_threads]: the same for every block
    const void* constants;  ///< [4]: f and c of the first, f and c of the second
    void* ends;             ///< [blocks][chains][chain_threads]
    ClockReading* reading;
    int blocks;
    int steps;
};

/// Throws Unsupported for a combination without a kernel.
Kernel<ChainLaunch> chain_kernel_of(const ChainKernel& kernel);

}  // namespace roof::gpu

// Bench "matmul" of a GPU: what NVIDIA's own library reaches on a large product of square matrices.
//
// Launched    cuBLASLt's D = A' * B, the fastest of the algorithms that the library suggests. fp32 on the CUDA cores, tf32 with
//             fp32 numbers; fp8 (e4m3) with fast sums and a result in bf16; int8 with a result in int32.
// Saturates   what a program of products can have of the arithmetic units: below the raw rate of bench "flops" by what
//             moving operands costs, and by what the power cap leaves.
// FLOPs       2 n^3. Dense alone. Operands are random numbers with busy significands.
// Time        device events; the clock is the driver's word, for the kernels are not ours.
// Falsified   if elements of the product are farther from the host's than rounding allows.
#pragma once

#include "ert/gpu/cublaslt.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// Both may be null; without the library every point is unsupported.
std::unique_ptr<Bench> matmul_bench(std::shared_ptr<const CublasLt> library, std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu

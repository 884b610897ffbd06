// Bench "flops" of a GPU: what its arithmetic units do on registers (CUDA cores, tensor cores by `mma`) or on shared memory
// (tensor cores by `wgmma`). What is launched and counted stands in chains.hpp, mma.hpp and wgmma.hpp.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// `nvml` may be null.
std::unique_ptr<Bench> flops_bench(std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu

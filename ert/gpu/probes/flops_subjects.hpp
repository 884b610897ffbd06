// The subjects of the "flops" bench, one for each kind of instruction. Each source file begins with its contract. All
// throw OutOfMemory, Unsupported or Error.
#pragma once

#include "ert/gpu/kernels/fragments.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"

#include <memory>

namespace roof::gpu {

/// CUDA cores: operations "fma", "add" and "mul". Throws InputError for others.
std::unique_ptr<Subject> make_chains(const GpuPoint& at);
/// Tensor cores, by each of their instructions. Operation "tile_e5m2" takes the other format of fp8.
std::unique_ptr<Subject> make_mma(const GpuPoint& at);
std::unique_ptr<Subject> make_wgmma(const GpuPoint& at);
std::unique_ptr<Subject> make_tcgen05(const GpuPoint& at);

/// The format that the tensor cores multiply. Throws InputError for a precision without one.
TensorFormat tensor_format_of(const Point& point);

}  // namespace roof::gpu

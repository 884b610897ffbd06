// Whether a test of the GPU can run here.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/method/bench/chip.hpp"

#include <cuda_runtime_api.h>

namespace roof::tests {

inline bool is_without_gpu()
{
    int count = 0;
    const bool none = cudaGetDeviceCount(&count) != cudaSuccess || count == 0;
    cudaGetLastError();
    return none;
}

/// Whether the first GPU multiplies in this precision: before 8.0 none does in bf16 and tf32.
inline bool multiplies_here(Precision precision)
{
    int major = 0;
    int minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    return multiplies(10 * major + minor, traits(precision).name);
}

/// The narrow format that the first GPU multiplies.
inline Precision narrow_here()
{
    return multiplies_here(Precision::bf16) ? Precision::bf16 : Precision::fp16;
}

}  // namespace roof::tests

using roof::tests::is_without_gpu;
using roof::tests::multiplies_here;
using roof::tests::narrow_here;

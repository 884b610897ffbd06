// Whether a test of the GPU can run here.
#pragma once

#include <cuda_runtime_api.h>

namespace roof::tests {

inline bool is_without_gpu()
{
    int count = 0;
    const bool none = cudaGetDeviceCount(&count) != cudaSuccess || count == 0;
    cudaGetLastError();
    return none;
}

}  // namespace roof::tests

using roof::tests::is_without_gpu;

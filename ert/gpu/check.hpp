// Every call of the CUDA runtime goes through check(). A failed launch would else look infinitely fast.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <string>

namespace roof::gpu {

/// Throws Error with the runtime's name and text of the error and the place of the call; DeviceFault if all later calls
/// will fail, too; Unsupported if this build has no code for the GPU.
void check(cudaError_t status, std::source_location at = std::source_location::current());

/// For destructors: writes to standard error what check() would throw.
void log_failure(cudaError_t status, std::source_location at = std::source_location::current()) noexcept;

/// "cudaErrorNoDevice: no CUDA-capable device is detected".
std::string describe(cudaError_t status);

}  // namespace roof::gpu

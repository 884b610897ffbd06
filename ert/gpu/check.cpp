#include "ert/gpu/check.hpp"

#include "ert/base/error.hpp"

#include <cstdio>

namespace roof::gpu {

void check(cudaError_t status, std::source_location at)
{
    if (status == cudaSuccess) return;
    cudaGetLastError();  // else the next call would report it
    if (status == cudaErrorNoKernelImageForDevice) {
        throw Unsupported("this build holds no code for this GPU (" + describe(status) +
                          "); add its architecture to CMAKE_CUDA_ARCHITECTURES and build again");
    }
    throw Error(describe(status) + " (" + at.file_name() + ":" + std::to_string(at.line()) + ")");
}

void log_failure(cudaError_t status, std::source_location at) noexcept
{
    if (status == cudaSuccess || status == cudaErrorCudartUnloading) return;
    std::fprintf(stderr, "roof: %s (%s:%u)\n", cudaGetErrorName(status), at.file_name(),
                 static_cast<unsigned>(at.line()));
}

std::string describe(cudaError_t status)
{
    return std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
}

}  // namespace roof::gpu

#include "ert/gpu/check.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace roof::gpu {
namespace {

/// After these, all calls of the process fail, as the runtime's documentation says of each.
constexpr std::array lasting{cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,       cudaErrorAssert,
                             cudaErrorHardwareStackError,  cudaErrorIllegalInstruction,  cudaErrorMisalignedAddress,
                             cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,           cudaErrorLaunchFailure,
                             cudaErrorECCUncorrectable,    cudaErrorNvlinkUncorrectable, cudaErrorExternalDevice};

}  // namespace

void check(cudaError_t status, std::source_location at)
{
    if (status == cudaSuccess) return;
    cudaGetLastError();  // else the next call would report it
    if (status == cudaErrorNoKernelImageForDevice) {
        throw Unsupported("this build holds no code for this GPU (" + describe(status) +
                          "); add its architecture to CMAKE_CUDA_ARCHITECTURES and build again");
    }
    const std::string what = describe(status) + " (" + at.file_name() + ":" + std::to_string(at.line()) + ")";
    if (std::ranges::find(lasting, status) != lasting.end()) throw DeviceFault(what);
    throw Error(what);
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

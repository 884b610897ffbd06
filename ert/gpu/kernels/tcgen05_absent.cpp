// In place of tcgen05.cu, tcgen05_int8.cu and mma_scaled.cu where the CUDA toolkit is too old to know these
// instructions (before 12.8).
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/mma.hpp"
#include "ert/gpu/kernels/tcgen05.hpp"

namespace roof::gpu {

namespace {

constexpr const char* reason = "this build's CUDA toolkit knows no tcgen05: build with CUDA 12.8 or later";

}  // namespace

Kernel<WgmmaLaunch> tcgen05_kernel_of(TensorFormat)
{
    throw Unsupported(reason);
}

Kernel<WgmmaLaunch> tcgen05_pair_kernel_of(TensorFormat)
{
    throw Unsupported(reason);
}

MmaKernel scaled_kernel(TensorFormat, int)
{
    throw Unsupported("this build's CUDA toolkit knows no block-scaled mma: build with CUDA 12.8 or later");
}

}  // namespace roof::gpu

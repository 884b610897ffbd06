// In place of tcgen05.cu, tcgen05_int8.cu and mma_scaled.cu where the CUDA toolkit is too old to know these
// instructions (before 12.8).
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/mma.hpp"
#include "ert/gpu/kernels/tcgen05.hpp"

namespace roof::gpu {

namespace {

constexpr const char* reason = "this build's CUDA toolkit knows no tcgen05: build with CUDA 12.8 or later";

}  // namespace

void enqueue_tcgen05(TensorFormat, const WgmmaLaunch&, cudaStream_t)
{
    throw Unsupported(reason);
}

int resident_tcgen05_blocks(TensorFormat)
{
    throw Unsupported(reason);
}

void enqueue_tcgen05_pairs(TensorFormat, const WgmmaLaunch&, cudaStream_t)
{
    throw Unsupported(reason);
}

int resident_tcgen05_pairs(TensorFormat)
{
    throw Unsupported(reason);
}

MmaKernel scaled_kernel(TensorFormat, int)
{
    throw Unsupported("this build's CUDA toolkit knows no block-scaled mma: build with CUDA 12.8 or later");
}

}  // namespace roof::gpu

// In place of tcgen05.cu where the CUDA toolkit is too old to know these instructions (before 12.8).
#include "ert/base/error.hpp"
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

}  // namespace roof::gpu

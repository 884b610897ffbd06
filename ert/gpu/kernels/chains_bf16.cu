// Chains of bf16.
#include "ert/gpu/kernels/chain_kernel.cuh"

namespace roof::gpu {

ChainFunction bf16_chains(const ChainKernel& kernel)
{
    return with_operation<__nv_bfloat162>(kernel);
}

}  // namespace roof::gpu

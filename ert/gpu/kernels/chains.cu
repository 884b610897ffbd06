// Chains of the formats that every GPU computes with.
#include "ert/gpu/kernels/chain_kernel.cuh"

#include "ert/base/error.hpp"

namespace roof::gpu {

namespace {

ChainFunction function_of(const ChainKernel& kernel)
{
    switch (kernel.precision) {
        case Precision::fp64:
            return with_operation<double>(kernel);
        case Precision::fp32:
            return with_operation<float>(kernel);
        case Precision::fp16:
            return with_operation<__half2>(kernel);
        case Precision::bf16:
            return bf16_chains(kernel);
        case Precision::int32:
            if (kernel.operation == ChainOperation::fma)
                return with_chains<unsigned, ChainOperation::fma>(kernel.chains);
            break;
        default:
            break;
    }
    throw Unsupported("there is no chain of this operation in " + std::string(traits(kernel.precision).name));
}

}  // namespace

Kernel<ChainLaunch> chain_kernel_of(const ChainKernel& kernel)
{
    return {function_of(kernel), chain_threads};
}

}  // namespace roof::gpu

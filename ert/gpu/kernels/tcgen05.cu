// tcgen05 for compute capability 10.0 and 10.3.
#include "ert/gpu/kernels/tcgen05.hpp"

#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/tcgen05_kernel.cuh"

namespace roof::gpu {

/// Its limit of shared memory is raised on the current device.
Kernel<WgmmaLaunch> tcgen05_kernel_of(TensorFormat format)
{
    const Tcgen05Kernel kernels[]{tcgen05_kernel<TensorFormat::tf32>,  tcgen05_kernel<TensorFormat::fp16>,
                                  tcgen05_kernel<TensorFormat::bf16>,  tcgen05_int8_kernel(),
                                  tcgen05_kernel<TensorFormat::e4m3>,  tcgen05_kernel<TensorFormat::e5m2>,
                                  tcgen05_kernel<TensorFormat::mxfp8>, tcgen05_kernel<TensorFormat::mxfp4>,
                                  tcgen05_kernel<TensorFormat::nvfp4>};
    const Tcgen05Kernel kernel = kernels[static_cast<unsigned>(format) - static_cast<unsigned>(TensorFormat::tf32)];
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, tcgen05_operand_bytes));
    return {kernel, tcgen05_threads, tcgen05_operand_bytes};
}

}  // namespace roof::gpu

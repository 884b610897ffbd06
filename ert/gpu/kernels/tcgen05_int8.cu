// tcgen05 of int8, for compute capability 10.0 alone.
#include "ert/gpu/kernels/tcgen05_kernel.cuh"

namespace roof::gpu {

Tcgen05Kernel tcgen05_int8_kernel()
{
    return tcgen05_kernel<TensorFormat::int8>;
}

}  // namespace roof::gpu

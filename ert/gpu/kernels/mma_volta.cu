// mma.sync of compute capability 7.0: 8 lanes multiply 8 x 4 by 4 x 8, four times in a warp. Later GPUs emulate it
// slowly.
#include "ert/gpu/kernels/mma_kernel.cuh"

#include <cstdint>

namespace roof::gpu {

namespace {

struct VoltaFp16 {
    using Operand = std::uint32_t;
    using Sum = float;
    static __device__ void multiply_add(Sum (&d)[8], const Operand (&a)[2], const Operand (&b)[2])
    {
        asm volatile(
            "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "
            "{%0,%1,%2,%3,%4,%5,%6,%7};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
            : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
    }
};

}  // namespace

MmaKernel volta_kernel(int chains)
{
    return mma_with_chains<VoltaFp16, TensorFormat::volta_fp16>(chains);
}

}  // namespace roof::gpu

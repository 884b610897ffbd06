// mma.sync in fp8, for GPUs whose tensor cores have it: 8.9, and 12.0 on. On 9.0 and 10.0 the assembler makes products in fp16
// and additions of it, which would be no ceiling of fp8; those have wgmma and tcgen05.
#include "ert/gpu/kernels/mma_kernel.cuh"

#include <cstdint>

namespace roof::gpu {

namespace {

struct E4m3 {
    using Operand = std::uint32_t;
    using Sum = float;
    static __device__ void multiply_add(Sum (&d)[4], const Operand (&a)[4], const Operand (&b)[2])
    {
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

struct E5m2 {
    using Operand = std::uint32_t;
    using Sum = float;
    static __device__ void multiply_add(Sum (&d)[4], const Operand (&a)[4], const Operand (&b)[2])
    {
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

}  // namespace

MmaKernel fp8_kernel(Mma format, int chains)
{
    return format == Mma::e4m3 ? mma_with_chains<E4m3, Mma::e4m3>(chains) : mma_with_chains<E5m2, Mma::e5m2>(chains);
}

}  // namespace roof::gpu

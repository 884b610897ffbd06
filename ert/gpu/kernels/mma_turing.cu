// mma.sync of compute capability 7.5. Later ones have larger shapes.
#include "ert/gpu/kernels/mma_kernel.cuh"

#include <cstdint>

namespace roof::gpu {

namespace {

struct Fp16 {
    using Operand = std::uint32_t;
    using Sum = float;
    static __device__ void multiply_add(Sum (&d)[4], const Operand (&a)[2], const Operand (&b)[1])
    {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    }
};

struct Int8 {
    using Operand = std::uint32_t;
    using Sum = std::int32_t;
    static __device__ void multiply_add(Sum (&d)[2], const Operand (&a)[1], const Operand (&b)[1])
    {
        asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+r"(d[0]), "+r"(d[1])
                     : "r"(a[0]), "r"(b[0]));
    }
};

}  // namespace

MmaKernel turing_kernel(TensorFormat instruction, int chains)
{
    return instruction == TensorFormat::turing_int8 ? mma_with_chains<Int8, TensorFormat::turing_int8>(chains)
                                                    : mma_with_chains<Fp16, TensorFormat::turing_fp16>(chains);
}

}  // namespace roof::gpu

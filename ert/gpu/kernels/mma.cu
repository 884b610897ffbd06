// mma.sync of compute capability 8.0 and later.
#include "ert/gpu/kernels/mma.hpp"

#include "ert/gpu/kernels/mma_float_sums.cuh"

#include <cstdint>

namespace roof::gpu {

namespace {

struct Fp64Small {
    using Operand = double;
    using Sum = double;
    static __device__ void multiply_add(Sum (&d)[2], const Operand (&a)[1], const Operand (&b)[1])
    {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(d[0]), "+d"(d[1])
                     : "d"(a[0]), "d"(b[0]));
    }
};

struct Tf32 : FloatSums<Tf32> {
    static constexpr char types[] = "m16n8k8.row.col.f32.tf32.tf32";
};
struct Fp16 : FloatSums<Fp16> {
    static constexpr char types[] = "m16n8k16.row.col.f32.f16.f16";
};
struct Bf16 : FloatSums<Bf16> {
    static constexpr char types[] = "m16n8k16.row.col.f32.bf16.bf16";
};

struct Int8 {
    using Operand = std::uint32_t;
    using Sum = std::int32_t;
    static __device__ void multiply_add(Sum (&d)[4], const Operand (&a)[4], const Operand (&b)[2])
    {
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

MmaKernel kernel_of(TensorFormat instruction, int chains)
{
    if (instruction == TensorFormat::e4m3 || instruction == TensorFormat::e5m2) return fp8_kernel(instruction, chains);
    if (scales_of_mma(instruction) != 0) return scaled_kernel(instruction, chains);
    if (instruction == TensorFormat::volta_fp16) return volta_kernel(chains);
    if (instruction > TensorFormat::nvfp4) return turing_kernel(instruction, chains);
    constexpr MmaKernel (*kernels[])(int){mma_with_chains<Fp64Small, TensorFormat::fp64_small>,
                                          large_fp64_kernel,
                                          mma_with_chains<Tf32, TensorFormat::tf32>,
                                          mma_with_chains<Fp16, TensorFormat::fp16>,
                                          mma_with_chains<Bf16, TensorFormat::bf16>,
                                          mma_with_chains<Int8, TensorFormat::int8>};
    return kernels[static_cast<unsigned>(instruction)](chains);
}

}  // namespace

Kernel<MmaLaunch> mma_kernel_of(TensorFormat instruction, int chains)
{
    return {kernel_of(instruction, chains), mma_threads};
}

}  // namespace roof::gpu

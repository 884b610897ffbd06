// mma.sync with a scale for each 16 or 32 numbers along k, of compute capability 12.0 and 12.1. Each lane's scales are
// in one word, of which the instruction takes the first bytes, from the first lanes that have them.
#include "ert/gpu/kernels/mma_kernel.cuh"

#include <cstdint>

namespace roof::gpu {

namespace {

/// `Format::types`: kind, scales, shape, layouts, and the types of sums, A and B; `Format::scales`: theirs.
template <class Format>
struct ScaledSums {
    using Operand = std::uint32_t;
    using Sum = float;
    static __device__ void multiply_add(Sum (&d)[4], const Operand (&a)[5], const Operand (&b)[3])
    {
        asm volatile(
            "{ .reg .b16 first; mov.b16 first, 0; mma.sync.aligned.kind::%12.f32.%13 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3}, {%10}, {first,first}, {%11}, {first,first}; }"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(a[4]), "r"(b[2]),
              "C"(Format::types), "C"(Format::scales));
    }
};

struct Mxfp8 : ScaledSums<Mxfp8> {
    static constexpr char types[] = "mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3";
    static constexpr char scales[] = "ue8m0";
};
struct Mxfp4 : ScaledSums<Mxfp4> {
    static constexpr char types[] = "mxf4nvf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1";
    static constexpr char scales[] = "ue8m0";
};
struct Nvfp4 : ScaledSums<Nvfp4> {
    static constexpr char types[] = "mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1";
    static constexpr char scales[] = "ue4m3";
};

}  // namespace

MmaKernel scaled_kernel(TensorFormat instruction, int chains)
{
    if (instruction == TensorFormat::mxfp8) return mma_with_chains<Mxfp8, TensorFormat::mxfp8>(chains);
    return instruction == TensorFormat::mxfp4 ? mma_with_chains<Mxfp4, TensorFormat::mxfp4>(chains)
                                              : mma_with_chains<Nvfp4, TensorFormat::nvfp4>(chains);
}

}  // namespace roof::gpu

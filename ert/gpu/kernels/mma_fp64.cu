// mma.sync in fp64 of 16 x 8 x 16, compiled only for compute capability 9.0 and later.
#include "ert/gpu/kernels/mma_kernel.cuh"

namespace roof::gpu {

namespace {

struct Fp64 {
    using Operand = double;
    using Sum = double;
    static __device__ void multiply_add(Sum (&d)[4], const Operand (&a)[8], const Operand (&b)[4])
    {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
            "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
            : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
              "d"(b[1]), "d"(b[2]), "d"(b[3]));
    }
};

}  // namespace

MmaKernel large_fp64_kernel(int chains)
{
    return mma_with_chains<Fp64, TensorFormat::fp64>(chains);
}

}  // namespace roof::gpu

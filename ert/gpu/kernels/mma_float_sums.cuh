// mma.sync of all formats whose sums are fp32, from 8.0 on; a format adds its shape and types to it.
#pragma once

#include "ert/gpu/kernels/mma_kernel.cuh"

#include <cstdint>

namespace roof::gpu {

/// Sums in fp32. `Format::types`: shape, layouts, and the types of sums, A and B.
template <class Format>
struct FloatSums {
    using Operand = std::uint32_t;
    using Sum = float;
    static __device__ void multiply_add(Sum (&d)[4], const Operand (&a)[4], const Operand (&b)[2])
    {
        asm volatile("mma.sync.aligned.%10.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(Format::types));
    }
};

}  // namespace roof::gpu

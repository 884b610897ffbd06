// Batch norm loops for AVX2 with fused multiply-add.
#include "workloads/kernels/norm/isa.hpp"

#include <cstddef>

#pragma GCC target("arch=x86-64-v3")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/norm/loops.hpp"

namespace roof::kernels {

const NormLoops norm_avx2{"avx2",
                          8,
                          NormLoopsFor<8>::sums,
                          NormLoopsFor<8>::normalise,
                          NormLoopsFor<8>::gradient_sums,
                          NormLoopsFor<8>::spread};

}  // namespace roof::kernels

// Batch norm loops for AVX-512.
#include "workloads/kernels/norm/isa.hpp"

#include <cstddef>

#pragma GCC target("arch=x86-64-v4")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/norm/loops.hpp"

namespace roof::kernels {

const NormLoops norm_avx512{
    "roof:avx512",           16, NormLoopsFor<16>::sums, NormLoopsFor<16>::normalise, NormLoopsFor<16>::gradient_sums,
    NormLoopsFor<16>::spread};

}  // namespace roof::kernels

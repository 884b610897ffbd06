// Linear layer loops for AVX2 with fused multiply-add.
#include "workloads/engine/recipe.hpp"
#include "workloads/kernels/linear/isa.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

#pragma GCC target("arch=x86-64-v3")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/linear/loops.hpp"

namespace roof::kernels {

const LinearLoops linear_avx2{
    "roof:avx2", LinearLoopsFor<8, Dot::widened>::forward, LinearLoopsFor<8, Dot::widened>::backward_data,
    LinearLoopsFor<8, Dot::widened>::backward_weights, LinearLoopsFor<8, Dot::widened>::update};

}  // namespace roof::kernels

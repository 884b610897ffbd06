// Linear layer loops for AVX-512.
#include "workloads/engine/recipe.hpp"
#include "workloads/kernels/linear/isa.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

#pragma GCC target("arch=x86-64-v4")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/linear/loops.hpp"

namespace roof::kernels {

const LinearLoops linear_avx512{
    "roof:avx512", LinearLoopsFor<16, Dot::widened>::forward, LinearLoopsFor<16, Dot::widened>::backward_data,
    LinearLoopsFor<16, Dot::widened>::backward_weights, LinearLoopsFor<16, Dot::widened>::update};

}  // namespace roof::kernels

// Linear layer loops for AVX-512 with bf16 dot products.
#include "workloads/engine/recipe.hpp"
#include "workloads/kernels/linear/isa.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

#pragma GCC target("arch=x86-64-v4,avx512bf16")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/linear/loops.hpp"

namespace roof::kernels {

const LinearLoops linear_avx512_bf16{
    "roof:avx512_bf16", LinearLoopsFor<16, Dot::native>::forward, LinearLoopsFor<16, Dot::native>::backward_data,
    LinearLoopsFor<16, Dot::native>::backward_weights, LinearLoopsFor<16, Dot::native>::update};

}  // namespace roof::kernels

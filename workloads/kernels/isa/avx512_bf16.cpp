// All loops for AVX-512 that use the bf16 dot product.
#include "workloads/engine/recipe.hpp"
#include "workloads/kernels/attention/isa.hpp"
#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/linear/isa.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

#pragma GCC target("arch=x86-64-v4,avx512bf16")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/attention/loops.hpp"
#include "workloads/kernels/direct/gradient_loops.hpp"
#include "workloads/kernels/linear/loops.hpp"
#include "workloads/kernels/pairs.hpp"

namespace roof::kernels {

constinit const DirectLoops direct_avx512_bf16 = direct_loops<16, 14, 4, MultiplyPairs>("roof:direct:avx512_bf16");
constinit const LinearLoops linear_avx512_bf16 = linear_loops<16, BFloat16, Dot::native>("roof:avx512_bf16");
constinit const AttentionLoops attention_avx512_bf16 =
    attention_loops<16, VectorProducts<16, MultiplyPairs>>("roof:attention:avx512_bf16");

}  // namespace roof::kernels

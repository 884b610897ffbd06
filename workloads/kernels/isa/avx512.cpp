// All loops for AVX-512.
#include "workloads/engine/recipe.hpp"
#include "workloads/kernels/attention/isa.hpp"
#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/linear/isa.hpp"
#include "workloads/kernels/norm/isa.hpp"
#include "workloads/kernels/winograd/isa.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

#pragma GCC target("arch=x86-64-v4")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/attention/loops.hpp"
#include "workloads/kernels/direct/gradient_loops.hpp"
#include "workloads/kernels/linear/loops.hpp"
#include "workloads/kernels/norm/loops.hpp"
#include "workloads/kernels/winograd/loops.hpp"

namespace roof::kernels {

constinit const DirectLoops direct_avx512 = direct_loops<16, 14, 4>("roof:direct:avx512");
constinit const WinogradLoops winograd_avx512 = winograd_loops<16, 14, 8>("roof:wino_4x3:avx512");
constinit const LinearLoops linear_avx512 = linear_loops<16, float>("roof:avx512");
constinit const LinearLoops linear_avx512_widened = linear_loops<16, BFloat16>("roof:avx512");
constinit const NormLoops norm_avx512 = norm_loops<16>("roof:avx512");
constinit const AttentionLoops attention_avx512 = attention_loops<16>("roof:attention:avx512");

}  // namespace roof::kernels

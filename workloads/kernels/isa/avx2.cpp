// All loops for AVX2 with fused multiply-add.
#include "workloads/engine/recipe.hpp"
#include "workloads/kernels/attention/isa.hpp"
#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/linear/isa.hpp"
#include "workloads/kernels/norm/isa.hpp"
#include "workloads/kernels/winograd/isa.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

#pragma GCC target("arch=x86-64-v3")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/attention/loops.hpp"
#include "workloads/kernels/direct/gradient_loops.hpp"
#include "workloads/kernels/linear/loops.hpp"
#include "workloads/kernels/norm/loops.hpp"
#include "workloads/kernels/winograd/loops.hpp"

namespace roof::kernels {

constinit const DirectLoops direct_avx2 = direct_loops<8, 6, 3>("roof:direct:avx2");
constinit const WinogradLoops winograd_avx2 = winograd_loops<8, 6, 4>("roof:wino_4x3:avx2");
constinit const LinearLoops linear_avx2 = linear_loops<8, float>("roof:avx2");
constinit const LinearLoops linear_avx2_widened = linear_loops<8, BFloat16, Dot::paired>("roof:avx2");
constinit const NormLoops norm_avx2 = norm_loops<8>("roof:avx2");
constinit const AttentionLoops attention_avx2 = attention_loops<8>("roof:attention:avx2");

}  // namespace roof::kernels

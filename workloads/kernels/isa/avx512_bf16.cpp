// All loops for AVX-512 that use the bf16 dot product.
#include "workloads/engine/recipe.hpp"
#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/linear/isa.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

#pragma GCC target("arch=x86-64-v4,avx512bf16")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/direct/gradient_loops.hpp"
#include "workloads/kernels/linear/loops.hpp"

namespace roof::kernels {

/// Products of two pairs of bf16 numbers by one instruction.
struct MultiplyPairs {
    static constexpr int numbers = 2;                                ///< per word
    static constexpr float one = std::bit_cast<float>(0x3f803f80U);  ///< two bf16 ones

    [[gnu::always_inline]] static void add(float x, const Lanes<16>::Floats& y, Lanes<16>::Floats& sum)
    {
        sum = _mm512_dpbf16_ps(sum, (__m512bh)y, (__m512bh)_mm512_set1_ps(x));  // NOLINT: the casts of vectors
    }
};

constinit const DirectLoops direct_avx512_bf16 = direct_loops<16, 14, 4, MultiplyPairs>("roof:direct:avx512_bf16");
constinit const LinearLoops linear_avx512_bf16 = linear_loops<16, BFloat16, Dot::native>("roof:avx512_bf16");

}  // namespace roof::kernels

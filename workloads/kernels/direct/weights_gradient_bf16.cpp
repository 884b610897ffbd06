// Weights' gradient loops for AVX512_BF16, which multiplies pairs. A pair is one position in two images, so window,
// stride and padding never split it.
#include "workloads/kernels/direct/weights_gradient_isa.hpp"

#include <immintrin.h>

#include <bit>
#include <cstddef>
#include <utility>

#pragma GCC target("arch=x86-64-v4,avx512bf16")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/direct/weights_gradient_loops.hpp"

namespace roof::kernels {
namespace {

struct MultiplyPairs {
    static constexpr float one = std::bit_cast<float>(0x3f803f80U);  // two bf16 ones

    [[gnu::always_inline]] static void add(float x, const Lanes<16>::Floats& dy, Lanes<16>::Floats& sum)
    {
        sum = _mm512_dpbf16_ps(sum, (__m512bh)dy, (__m512bh)_mm512_set1_ps(x));  // NOLINT: the casts of vectors
    }
};

}  // namespace

void weights_gradient_pairs(const BFloat16* first, const BFloat16* second, int pixels, float* to)
{
    constexpr int lanes = 16;
    using Lane = Lanes<lanes>;
    for (int pixel = 0; pixel < pixels; ++pixel, first += lanes, to += lanes) {
        Lane::HalfWords low, high{};
        __builtin_memcpy(&low, first, sizeof low);
        if (second != nullptr) __builtin_memcpy(&high, second + std::ptrdiff_t{pixel} * lanes, sizeof high);
        const Lane::Words pair =
            __builtin_convertvector(low, Lane::Words) | (__builtin_convertvector(high, Lane::Words) << 16);
        __builtin_memcpy(to, &pair, sizeof pair);
    }
}

using Loops = WeightsGradientFor<16, 4, MultiplyPairs>;

const WeightsGradientLoops weights_gradient_bf16{"roof:direct:avx512_bf16", 16, 4, 2, Loops::products, Loops::bias};

}  // namespace roof::kernels

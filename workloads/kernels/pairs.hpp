// Arithmetic on pairs of bf16 numbers by the instructions of AVX512_BF16. A source file selects its instruction set
// before it includes this.
#pragma once

#include "workloads/kernels/lanes.hpp"

namespace roof::kernels {

/// Products of two pairs of bf16 numbers by one instruction.
struct MultiplyPairs {
    using Floats = Lanes<16>::Floats;
    using Number = BFloat16;

    static constexpr int numbers = 2;                                ///< per word
    static constexpr float one = std::bit_cast<float>(0x3f803f80U);  ///< two bf16 ones

    [[gnu::always_inline]] static void add(float x, const Floats& y, Floats& sum)
    {
        sum = _mm512_dpbf16_ps(sum, (__m512bh)y, (__m512bh)_mm512_set1_ps(x));  // NOLINT: the casts of vectors
    }
    [[gnu::always_inline]] static void dot(const Floats& x, const Floats& y, Floats& sum)
    {
        sum = _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)y);  // NOLINT
    }
    /// Words of a number of `even` and one of `odd`, rounded as narrow() does.
    [[gnu::always_inline]] static void pair(const Floats& even, const Floats& odd, Floats& words)
    {
        typedef short Halves __attribute__((vector_size(64)));    // NOLINT
        const auto all = (Halves)_mm512_cvtne2ps_pbh(odd, even);  // NOLINT
        const Halves mixed = __builtin_shufflevector(all, all, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23,
                                                     8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        __builtin_memcpy(&words, &mixed, sizeof words);
    }
    [[gnu::always_inline]] static void store(const Floats& from, BFloat16* to)
    {
        const auto halves = _mm512_cvtneps_pbh(from);
        __builtin_memcpy(to, &halves, sizeof halves);
    }
};

}  // namespace roof::kernels

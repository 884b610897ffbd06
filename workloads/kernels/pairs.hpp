// Products of two pairs of bf16 numbers by one instruction. Only isa/avx512_bf16.cpp includes this.
#pragma once

#include "workloads/kernels/lanes.hpp"

#include <immintrin.h>

namespace roof::kernels {

struct MultiplyPairs {
    static constexpr int numbers = 2;                                ///< per word
    static constexpr float one = std::bit_cast<float>(0x3f803f80U);  ///< two bf16 ones

    [[gnu::always_inline]] static void add(float x, const Lanes<16>::Floats& y, Lanes<16>::Floats& sum)
    {
        sum = _mm512_dpbf16_ps(sum, (__m512bh)y, (__m512bh)_mm512_set1_ps(x));  // NOLINT: the casts of vectors
    }
};

}  // namespace roof::kernels

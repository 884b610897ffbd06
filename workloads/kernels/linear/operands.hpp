// Operands of a linear layer's products as 32-bit words: fp32 numbers, widened where they are bf16, or for the dot
// product two bf16 numbers that are adjacent in the sum. The loops are written once; a sum over K numbers has K words,
// or K / 2. Included after a source file has selected its instruction set.
#pragma once

#include "workloads/kernels/lanes.hpp"

#include <immintrin.h>

#include <cstddef>

namespace roof::kernels {

/// How bf16 is multiplied: pairs by a native instruction, pairs widened to fp32, or single numbers widened to fp32.
enum class Dot { native, paired, widened };

template <int lanes, class Element, Dot dot>
struct Words {
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;
    using Vector = Floats;
    static constexpr int each = 1;  ///< numbers per word

    /// Loads packed words.
    [[gnu::always_inline]] static void load(const std::uint32_t* from, Vector& to)
    {
        __builtin_memcpy(&to, from, sizeof to);
    }
    /// Loads adjacent numbers as words.
    [[gnu::always_inline]] static void load_numbers(const Element* from, Vector& to) { Lane::load(from, to); }
    [[gnu::always_inline]] static void broadcast(const std::uint32_t* word, Vector& to)
    {
        float value;
        __builtin_memcpy(&value, word, sizeof value);
        to = value - Floats{};
    }
    [[gnu::always_inline]] static void add_product(const Vector& a, const Vector& b, Floats& sum) { sum += a * b; }
    [[gnu::always_inline]] static std::uint32_t word(Element value, Element)
    {
        const float wide = widen(value);
        std::uint32_t bits;
        __builtin_memcpy(&bits, &wide, sizeof bits);
        return bits;
    }

    /// Loads adjacent vectors 2k and 2k + 1, `wide` in all, from the row at `from`.
    template <int wide>
    [[gnu::always_inline]] static void load_rows(const Element* from, std::ptrdiff_t, Vector (&to)[wide])
    {
#pragma GCC unroll 8
        for (int v = 0; v < wide; ++v) Lane::load(from + v * lanes, to[v]);
    }
    /// Restores the order of 2 * lanes columns that load_rows() changed.
    [[gnu::always_inline]] static void straighten(const float* from, float* to)
    {
        __builtin_memcpy(to, from, 2 * sizeof(Floats));
    }
};

template <int lanes, Dot dot>
requires(dot != Dot::widened) struct Words<lanes, BFloat16, dot> {
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;
    using Vector = typename Lane::Words;
    typedef std::uint16_t Numbers __attribute__((vector_size(4 * lanes)));  // NOLINT: `using` cannot say this
    static constexpr int each = 2;

    [[gnu::always_inline]] static void load(const std::uint32_t* from, Vector& to)
    {
        __builtin_memcpy(&to, from, sizeof to);
    }
    [[gnu::always_inline]] static void load_numbers(const BFloat16* from, Vector& to)
    {
        __builtin_memcpy(&to, from, sizeof to);
    }
    [[gnu::always_inline]] static void broadcast(const std::uint32_t* word, Vector& to) { to = *word - Vector{}; }
    [[gnu::always_inline]] static void add_product(const Vector& a, const Vector& b, Floats& sum)
    {
        if constexpr (dot == Dot::native)
            sum = _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);  // NOLINT: bits, not values
        else {
            sum += (Floats)(a << 16) * (Floats)(b << 16);                // NOLINT
            sum += (Floats)(a & upper_half) * (Floats)(b & upper_half);  // NOLINT
        }
    }
    [[gnu::always_inline]] static std::uint32_t word(BFloat16 first, BFloat16 second)
    {
        return first.bits | std::uint32_t{second.bits} << 16U;
    }

    /// Interleaves the row at `from` with the next row, `apart` numbers further, within each 128 bits as x86 does.
    template <int wide>
    [[gnu::always_inline]] static void load_rows(const BFloat16* from, std::ptrdiff_t apart, Vector (&to)[wide])
    {
        static_assert(wide % 2 == 0);
#pragma GCC unroll 8
        for (int v = 0; v < wide; v += 2) {
            Numbers upper, lower;
            __builtin_memcpy(&upper, from + v * lanes, sizeof upper);
            __builtin_memcpy(&lower, from + apart + v * lanes, sizeof lower);
            interleave(upper, lower, to[v], to[v + 1], std::make_integer_sequence<int, 2 * lanes>());
        }
    }
    [[gnu::always_inline]] static void straighten(const float* from, float* to)
    {
        for (int quarter = 0; quarter < lanes; quarter += 4) {
            __builtin_memcpy(to + 2 * quarter, from + quarter, 4 * sizeof(float));
            __builtin_memcpy(to + 2 * quarter + 4, from + lanes + quarter, 4 * sizeof(float));
        }
    }

  private:
    static constexpr std::uint32_t upper_half = 0xffff0000;

    template <int... k>
    [[gnu::always_inline]] static void interleave(const Numbers& upper, const Numbers& lower, Vector& first,
                                                  Vector& second, std::integer_sequence<int, k...>)
    {
        constexpr int all = 2 * lanes;
        const Numbers lows = __builtin_shufflevector(upper, lower, (k / 8 * 8 + k % 8 / 2 + k % 2 * all)...);
        const Numbers highs = __builtin_shufflevector(upper, lower, (k / 8 * 8 + k % 8 / 2 + 4 + k % 2 * all)...);
        __builtin_memcpy(&first, &lows, sizeof first);
        __builtin_memcpy(&second, &highs, sizeof second);
    }
};

}  // namespace roof::kernels

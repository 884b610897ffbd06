// Vectors of fp32 numbers by the compiler's vector extension, for loops that keep a tile of sums in registers. A
// function that uses them is compiled for one instruction set; everything here is inlined into it.
#pragma once

#include "workloads/kernels/elements.hpp"

#include <immintrin.h>

#include <utility>

namespace roof::kernels {

template <int lanes>
struct VectorTypes;
template <>
struct VectorTypes<4> {
    typedef float Floats __attribute__((vector_size(16)));            // NOLINT: `using` cannot say this
    typedef std::uint32_t Words __attribute__((vector_size(16)));     // NOLINT
    typedef std::uint16_t HalfWords __attribute__((vector_size(8)));  // NOLINT
};
template <>
struct VectorTypes<8> {
    typedef float Floats __attribute__((vector_size(32)));             // NOLINT
    typedef std::uint32_t Words __attribute__((vector_size(32)));      // NOLINT
    typedef std::uint16_t HalfWords __attribute__((vector_size(16)));  // NOLINT
};
template <>
struct VectorTypes<16> {
    typedef float Floats __attribute__((vector_size(64)));             // NOLINT
    typedef std::uint32_t Words __attribute__((vector_size(64)));      // NOLINT
    typedef std::uint16_t HalfWords __attribute__((vector_size(32)));  // NOLINT
};

/// How loops multiply 32-bit words of two operands: fp32 numbers here, pairs of bf16 numbers in isa/avx512_bf16.cpp.
struct MultiplyFloats {
    using Number = float;

    static constexpr int numbers = 1;  ///< per word
    static constexpr float one = 1;

    template <class Floats>
    [[gnu::always_inline]] static void add(float x, const Floats& y, Floats& sum)
    {
        sum += x * y;
    }
    template <class Floats>
    [[gnu::always_inline]] static void dot(const Floats& x, const Floats& y, Floats& sum)
    {
        sum += x * y;
    }
    template <class Floats>
    [[gnu::always_inline]] static void store(const Floats& from, float* to)
    {
        __builtin_memcpy(to, &from, sizeof from);
    }
};

template <int lanes>
struct Lanes {
    using Floats = typename VectorTypes<lanes>::Floats;
    using Words = typename VectorTypes<lanes>::Words;
    using HalfWords = typename VectorTypes<lanes>::HalfWords;
    using Four = VectorTypes<4>::Floats;

    [[gnu::always_inline]] static void load(const float* from, Floats& to) { __builtin_memcpy(&to, from, sizeof to); }
    [[gnu::always_inline]] static void load(const BFloat16* from, Floats& to)
    {
        HalfWords halves;
        __builtin_memcpy(&halves, from, sizeof halves);
        const Words words = __builtin_convertvector(halves, Words) << 16;
        __builtin_memcpy(&to, &words, sizeof to);
    }
    [[gnu::always_inline]] static void store(const Floats& from, float* to)
    {
        __builtin_memcpy(to, &from, sizeof from);
    }
    /// Rounds as narrow() does.
    [[gnu::always_inline]] static void narrowed(const Floats& from, HalfWords& to)
    {
        Words words;
        __builtin_memcpy(&words, &from, sizeof words);
        to = __builtin_convertvector((words + 0x7fffU + ((words >> 16) & 1U)) >> 16, HalfWords);
    }
    [[gnu::always_inline]] static void store(const Floats& from, BFloat16* to)
    {
        HalfWords halves;
        narrowed(from, halves);
        __builtin_memcpy(to, &halves, sizeof halves);
    }
    /// Non-temporal stores neither read the line nor keep it in a cache. `to` is aligned to the stored size.
    [[gnu::always_inline]] static void stream(const Floats& from, float* to) { stream_bytes<sizeof from>(&from, to); }
    [[gnu::always_inline]] static void stream(const Floats& from, BFloat16* to)
    {
        HalfWords halves;
        narrowed(from, halves);
        stream_bytes<sizeof halves>(&halves, to);
    }
    /// Keeps the vector in a register. Compilers otherwise reload it at each use, which saturates the load ports.
    template <class Vector>
    [[gnu::always_inline]] static void hold(Vector& vector)
    {
        asm("" : "+v"(vector));
    }
    /// to = x where that is larger.
    [[gnu::always_inline]] static void raise(const Floats& x, Floats& to) { to = x > to ? x : to; }
    [[gnu::always_inline]] static void raise(float x, Floats& to)
    {
        Floats all = x - Floats{};
        hold(all);  // compilers otherwise compare and blend
        raise(all, to);
    }
    /// to[j][i] = from[i][j], `lanes` rows and columns. Rows are so many numbers apart.
    [[gnu::always_inline]] static void transpose(const float* from, float* to, int from_apart = lanes,
                                                 int to_apart = lanes)
    {
        Floats rows[lanes];
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) load(from + i * from_apart, rows[i]);
        swap_quarters<lanes / 2>(rows, std::make_integer_sequence<int, lanes>());
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) store(rows[i], to + i * to_apart);
    }
    [[gnu::always_inline]] static float sum(const Floats& of)
    {
        Four four;
        add_quarters(of, four);
        return (four[0] + four[2]) + (four[1] + four[3]);
    }
    /// to[k] = the sum of of[k].
    [[gnu::always_inline]] static void sums(const Floats (&of)[4], Four& to)
    {
        Four four[4];
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) add_quarters(of[k], four[k]);
        const Four left = __builtin_shufflevector(four[0], four[1], 0, 4, 1, 5) +
                          __builtin_shufflevector(four[0], four[1], 2, 6, 3, 7);
        const Four right = __builtin_shufflevector(four[2], four[3], 0, 4, 1, 5) +
                           __builtin_shufflevector(four[2], four[3], 2, 6, 3, 7);
        to = __builtin_shufflevector(left, right, 0, 1, 4, 5) + __builtin_shufflevector(left, right, 2, 3, 6, 7);
    }

  private:
    template <int bytes>
    [[gnu::always_inline]] static void stream_bytes(const void* from, void* to)
    {
        if constexpr (bytes < 16) {
            __builtin_memcpy(to, from, bytes);
        } else {
            typename VectorTypes<bytes / 4>::Floats value;
            __builtin_memcpy(&value, from, bytes);
            if constexpr (bytes == 64)
                _mm512_stream_ps(static_cast<float*>(to), value);
            else if constexpr (bytes == 32)
                _mm256_stream_ps(static_cast<float*>(to), value);
            else
                _mm_stream_ps(static_cast<float*>(to), value);
        }
    }
    [[gnu::always_inline]] static void add_quarters(const Floats& of, Four& to)
    {
        Four parts[lanes / 4];
        __builtin_memcpy(parts, &of, sizeof of);
        to = parts[0];
#pragma GCC unroll 4
        for (int part = 1; part < lanes / 4; ++part) to += parts[part];
    }
    /// Swaps the upper right and lower left quarters of each square of 2 * size numbers, then does so in the quarters.
    template <int size, int... column>
    [[gnu::always_inline]] static void swap_quarters(Floats (&rows)[lanes], std::integer_sequence<int, column...> all)
    {
        if constexpr (size > 0) {
#pragma GCC unroll 16
            for (int i = 0; i < lanes; ++i) {
                if ((i & size) != 0) continue;
                const Floats upper = rows[i], lower = rows[i + size];
                rows[i] = __builtin_shufflevector(upper, lower, (column & size ? lanes + column - size : column)...);
                rows[i + size] =
                    __builtin_shufflevector(upper, lower, (column & size ? lanes + column : column + size)...);
            }
            swap_quarters<size / 2>(rows, all);
        }
    }
};

}  // namespace roof::kernels

// Vectors of fp32 numbers by the compiler's own extension, for loops that must keep a tile of sums in registers. A function
// that uses them is compiled for one instruction set; all here is inlined into it.
#pragma once

#include "workloads/onednn/loops/elements.hpp"

namespace roof::onednn {

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
    /// As narrow() does.
    [[gnu::always_inline]] static void store(const Floats& from, BFloat16* to)
    {
        Words words;
        __builtin_memcpy(&words, &from, sizeof words);
        const HalfWords halves = __builtin_convertvector((words + 0x7fffU + ((words >> 16) & 1U)) >> 16, HalfWords);
        __builtin_memcpy(to, &halves, sizeof halves);
    }
    [[gnu::always_inline]] static float sum(const Floats& of)
    {
        Four parts[lanes / 4];
        __builtin_memcpy(parts, &of, sizeof of);
        Four four = parts[0];
        for (int part = 1; part < lanes / 4; ++part) four += parts[part];
        return (four[0] + four[2]) + (four[1] + four[3]);
    }
};

}  // namespace roof::onednn

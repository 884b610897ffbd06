// Vectors of adjacent channels, loaded and stored as a whole, and their arithmetic in fp32.
#pragma once

#include "workloads/engine/ir/formulas.hpp"
#include "workloads/engine/ir/operations.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace roof::cudnn {

using namespace ir;  // a step's operations and program

/// Channels per vector. One instruction moves 16 bytes.
inline constexpr int vector_width = 8;
static_assert(vector_width == signs_per_byte);

/// A vector as it lies in memory. Words of 32 bits, so that the compiler takes no narrow value apart before its use.
template <class Element, int width>
struct alignas(width == 1 ? sizeof(Element) : 16) Stored {
    using Word = std::conditional_t<width == 1, Element, std::uint32_t>;
    Word word[width * sizeof(Element) / sizeof(Word)];
};

/// The largest value that is stored as 0: half of the smallest denormal, which rounding to even loses.
template <class Element>
inline constexpr float stored_as_zero = 0;
template <>
inline constexpr float stored_as_zero<__nv_bfloat16> = 0x1p-134F;
template <>
inline constexpr float stored_as_zero<__half> = 0x1p-25F;

/// The channels of a vector in fp32.
template <int width>
struct Lanes {
    float lane[width];

    __device__ void add(const Lanes& other)
    {
#pragma unroll
        for (int i = 0; i < width; ++i) lane[i] += other.lane[i];
    }
    __device__ void scale(const Lanes& by, const Lanes& to)
    {
#pragma unroll
        for (int i = 0; i < width; ++i) lane[i] = scaled(lane[i], by.lane[i], to.lane[i]);
    }
    __device__ void rectify()
    {
#pragma unroll
        for (int i = 0; i < width; ++i) lane[i] = relu_of(lane[i]);
    }
    /// Converts the gradient after a ReLU to the gradient before it.
    __device__ void mask(const Lanes& output)
    {
#pragma unroll
        for (int i = 0; i < width; ++i) lane[i] = masked(lane[i], output.lane[i]);
    }
    /// As mask(), with a bit per value.
    __device__ void mask_by_signs(unsigned signs)
    {
#pragma unroll
        for (int i = 0; i < width; ++i) lane[i] = (signs >> i & 1U) != 0 ? lane[i] : 0;
    }
    /// The bits of the positive values, as they are stored.
    template <class Element>
    __device__ unsigned signs() const
    {
        unsigned bits = 0;
#pragma unroll
        for (int i = 0; i < width; ++i) bits |= (lane[i] > stored_as_zero<Element> ? 1U : 0U) << i;
        return bits;
    }
};

/// Starts a load. What is fetched costs half the registers of what is loaded, so that more may be on the way.
template <int width, class Element>
__device__ Stored<Element, width> fetch(const Element* from, std::uint32_t vector)
{
    return reinterpret_cast<const Stored<Element, width>*>(from)[vector];
}

/// The value `place` of those in a word.
template <class Element>
__device__ float value_in(std::uint32_t word, int place)
{
    if constexpr (std::is_same_v<Element, float>)
        return __uint_as_float(word);
    else if constexpr (std::is_same_v<Element, __nv_bfloat16>)
        return __uint_as_float(place == 0 ? word << 16 : word & 0xFFFF0000U);
    else
        return widen(reinterpret_cast<const Element*>(&word)[place]);
}

/// Of narrow values.
template <class Element>
__device__ std::uint32_t word_of(float first, float second)
{
    if constexpr (std::is_same_v<Element, __nv_bfloat16>) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
        return reinterpret_cast<const std::uint32_t&>(pair);
    } else {
        const __half2 pair = __floats2half2_rn(first, second);
        return reinterpret_cast<const std::uint32_t&>(pair);
    }
}

template <class Element, int width>
__device__ Lanes<width> widened(const Stored<Element, width>& stored)
{
    constexpr int each = static_cast<int>(sizeof(std::uint32_t) / sizeof(Element));
    Lanes<width> lanes;
#pragma unroll
    for (int i = 0; i < width; ++i)
        if constexpr (width == 1)
            lanes.lane[i] = widen(stored.word[i]);
        else
            lanes.lane[i] = value_in<Element>(stored.word[i / each], i % each);
    return lanes;
}

template <int width, class Element>
__device__ Lanes<width> load(const Element* from, std::uint32_t vector)
{
    return widened(fetch<width>(from, vector));
}

template <class Element, int width>
__device__ Stored<Element, width> narrowed(const Lanes<width>& lanes)
{
    Stored<Element, width> stored;
#pragma unroll
    for (int i = 0; i < width; ++i)
        if constexpr (width == 1)
            stored.word[i] = narrow<Element>(lanes.lane[i]);
        else if constexpr (std::is_same_v<Element, float>)
            stored.word[i] = __float_as_uint(lanes.lane[i]);
        else if (i % 2 == 1)
            stored.word[i / 2] = word_of<Element>(lanes.lane[i - 1], lanes.lane[i]);
    return stored;
}

/// The values that a store and a load would return.
template <class Element, int width>
__device__ void round(Lanes<width>& lanes)
{
    lanes = widened(narrowed<Element>(lanes));
}

/// Returns what it stores.
template <int width, class Element>
__device__ Stored<Element, width> store(Element* to, std::uint32_t vector, const Lanes<width>& lanes)
{
    return reinterpret_cast<Stored<Element, width>*>(to)[vector] = narrowed<Element>(lanes);
}

}  // namespace roof::cudnn

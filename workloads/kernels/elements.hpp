// Tensor elements as the kernels read and write them. All arithmetic is fp32.
#pragma once

#include "ert/base/precision.hpp"

#include <bit>
#include <cstdint>

namespace roof::kernels {

/// The upper half of an fp32 number.
struct BFloat16 {
    std::uint16_t bits;
};

[[gnu::always_inline]] inline float widen(float value)
{
    return value;
}

[[gnu::always_inline]] inline float widen(BFloat16 value)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16U);
}

[[gnu::always_inline]] inline void narrow(float value, float& to)
{
    to = value;
}

/// Rounds to nearest, ties to even. A NaN that arithmetic made stays a NaN.
[[gnu::always_inline]] inline void narrow(float value, BFloat16& to)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    to.bits = static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

/// A tensor's elements, fp32 or bf16, known only at run time. A function that is compiled per instruction set selects
/// the type with an if and calls an inlined template. A lambda would be compiled for the oldest processor.
struct Elements {
    void* at = nullptr;
    Precision precision = Precision::fp32;

    template <class Element>
    Element* as() const
    {
        return static_cast<Element*>(at);
    }
};

}  // namespace roof::kernels

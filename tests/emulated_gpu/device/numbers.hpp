// The number types of PTX, and the short formats of tensor cores as doubles.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace roof::emulated {

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

struct f16 {
    u16 bits;
};
struct bf16 {
    u16 bits;
};
/// Two halves of a register, the lower one first.
struct f16x2 {
    u32 bits;
};
struct bf16x2 {
    u32 bits;
};

inline f32 f32_of(u32 bits)
{
    return std::bit_cast<f32>(bits);
}
inline f64 f64_of(u64 bits)
{
    return std::bit_cast<f64>(bits);
}

inline f64 widen(f16 value)
{
    return static_cast<f64>(std::bit_cast<_Float16>(value.bits));
}
inline f64 widen(bf16 value)
{
    return f32_of(u32{value.bits} << 16);
}

/// To the nearest, ties to even.
template <class Half>
Half narrow(f64 value);
template <>
inline f16 narrow<f16>(f64 value)
{
    return {std::bit_cast<u16>(static_cast<_Float16>(value))};
}
template <>
inline bf16 narrow<bf16>(f64 value)
{
    if (std::isnan(value)) return {0x7FFF};
    // By a float whose last bit keeps whether anything was cut off, so that the second rounding is the only one.
    auto single = static_cast<f32>(value);
    u32 bits = std::bit_cast<u32>(single);
    if (static_cast<f64>(single) != value && std::isfinite(single)) {
        if (std::abs(static_cast<f64>(single)) > std::abs(value)) --bits;
        bits |= 1;
    }
    return {static_cast<u16>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}

/// Formats of the operands of tensor cores.
enum class Format { fp64, tf32, fp16, bf16, int8, e4m3, e5m2, e2m1 };

/// Of e2m1, which has two numbers in a byte, 1.
constexpr int bytes_of(Format format)
{
    switch (format) {
        case Format::fp64:
            return 8;
        case Format::tf32:
            return 4;
        case Format::fp16:
        case Format::bf16:
            return 2;
        default:
            return 1;
    }
}

constexpr int bits_of(Format format)
{
    return format == Format::e2m1 ? 4 : 8 * bytes_of(format);
}

/// The number in `bits` of sign, exponent and fraction. With `has_infinity` false only all ones is not a number.
inline f64 small_float(u32 bits, int exponent_bits, int fraction_bits, bool has_infinity)
{
    const u32 largest = (1U << exponent_bits) - 1;
    const u32 exponent = bits >> fraction_bits & largest;
    const u32 fraction = bits & ((1U << fraction_bits) - 1);
    const f64 sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent == largest && has_infinity) return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == largest && fraction == (1U << fraction_bits) - 1) return NAN;
    if (exponent == 0) return sign * std::ldexp(static_cast<f64>(fraction), 1 - bias - fraction_bits);
    return sign *
           std::ldexp(1 + std::ldexp(static_cast<f64>(fraction), -fraction_bits), static_cast<int>(exponent) - bias);
}

/// Without infinities, and all of its 16 patterns are numbers.
inline f64 e2m1_of(u32 bits)
{
    constexpr f64 sizes[]{0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return (bits & 8) != 0 ? -sizes[bits & 7] : sizes[bits & 7];
}

/// The element that begins at `at`; of e2m1 the one in the lower half of the byte.
inline f64 element(Format format, const void* at)
{
    const auto read = [at]<class T>(T value) {
        std::memcpy(&value, at, sizeof(value));
        return value;
    };
    switch (format) {
        case Format::fp64:
            return read(f64{});
        case Format::tf32:
            return f32_of(read(u32{}) & 0xFFFFE000U);  // a tensor core does not read the lower bits
        case Format::fp16:
            return widen(read(f16{}));
        case Format::bf16:
            return widen(read(bf16{}));
        case Format::int8:
            return read(s8{});
        case Format::e4m3:
            return small_float(read(u8{}), 4, 3, false);
        case Format::e5m2:
            return small_float(read(u8{}), 5, 2, true);
        case Format::e2m1:
            return e2m1_of(read(u8{}));
    }
    return NAN;
}

}  // namespace roof::emulated

// What the arithmetic instructions of PTX do to one thread's registers. Whole numbers wrap around.
#pragma once

#include "tests/emulated_gpu/device/numbers.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

namespace roof::emulated {

/// The same bits as another type; of whole numbers, the lower bits or the extended value.
template <class To, class From>
constexpr To as(From value)
{
    if constexpr (std::is_same_v<To, From>)
        return value;
    else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>)
        return static_cast<To>(value);
    else
        return std::bit_cast<To>(value);
}
template <class To, class From>
constexpr void assign(To& to, From value)
{
    to = as<To>(value);
}

/// The unsigned type in which whole numbers wrap around; floats stay what they are.
template <class T>
struct Wrapping {
    using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct Wrapping<T> {
    using type = std::conditional_t<sizeof(T) < 4, u32, std::make_unsigned_t<T>>;
};

template <class T>
constexpr T add(T a, T b)
{
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
}
template <class T>
constexpr T subtract(T a, T b)
{
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
}
template <class T>
constexpr T multiply(T a, T b)
{
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
}
/// The upper 32 bits of a product.
inline u32 multiply_high(u32 a, u32 b)
{
    return static_cast<u32>(u64{a} * b >> 32);
}
inline s32 multiply_high(s32 a, s32 b)
{
    return static_cast<s32>(s64{a} * b >> 32);
}
template <class T>
T fused(T a, T b, T c)
{
    return std::fma(a, b, c);
}
/// Rounds down. Exact for the exponents of expf(), which alone asks for it.
[[gnu::noinline]] inline f32 fused_down(f32 a, f32 b, f32 c)
{
    const f64 exact = static_cast<f64>(a) * b + c;
    const auto nearest = static_cast<f32>(exact);
    return nearest > exact ? std::nextafter(nearest, -INFINITY) : nearest;
}

/// Pairs of halves are calculated in double, where products are exact and sums nearly so, and rounded once.
template <class Pair>
struct HalfOf;
template <>
struct HalfOf<f16x2> {
    using type = f16;
};
template <>
struct HalfOf<bf16x2> {
    using type = bf16;
};
template <class Pair>
concept IsPair = requires
{
    typename HalfOf<Pair>::type;
};

template <IsPair Pair, class Operation>
Pair each_half(Operation operation, Pair a, Pair b, Pair c = {})
{
    using Half = typename HalfOf<Pair>::type;
    const auto half = [&](int shift) {
        const auto at = [shift](Pair pair) { return widen(Half{static_cast<u16>(pair.bits >> shift)}); };
        return u32{narrow<Half>(operation(at(a), at(b), at(c))).bits} << shift;
    };
    return {half(0) | half(16)};
}
template <IsPair Pair>
Pair add(Pair a, Pair b)
{
    return each_half([](f64 x, f64 y, f64) { return x + y; }, a, b);
}
template <IsPair Pair>
Pair subtract(Pair a, Pair b)
{
    return each_half([](f64 x, f64 y, f64) { return x - y; }, a, b);
}
template <IsPair Pair>
Pair multiply(Pair a, Pair b)
{
    return each_half([](f64 x, f64 y, f64) { return x * y; }, a, b);
}
template <IsPair Pair>
Pair fused(Pair a, Pair b, Pair c)
{
    return each_half([](f64 x, f64 y, f64 z) { return std::fma(x, y, z); }, a, b, c);
}

template <class T>
T least(T a, T b)
{
    if constexpr (std::is_floating_point_v<T>)
        return std::fmin(a, b);
    else
        return std::min(a, b);
}
template <class T>
T most(T a, T b)
{
    if constexpr (std::is_floating_point_v<T>)
        return std::fmax(a, b);
    else
        return std::max(a, b);
}
template <class T>
T negative(T a)
{
    return std::is_floating_point_v<T> ? -a : subtract(T{}, a);
}
template <class T>
T absolute(T a)
{
    return a < 0 ? negative(a) : std::is_floating_point_v<T> ? std::abs(a) : a;
}
inline u32 leading_zeros(u32 a)
{
    return static_cast<u32>(std::countl_zero(a));
}
template <class T>
T complement(T a)
{
    if constexpr (std::is_same_v<T, bool>)
        return !a;
    else
        return static_cast<T>(~a);
}
template <class T>
T shift_left(T a, u32 bits)
{
    return bits < 8 * sizeof(T) ? static_cast<T>(a << bits) : T{};
}
template <class T>
T shift_right(T a, u32 bits)
{
    return bits < 8 * sizeof(T) ? static_cast<T>(a >> bits) : static_cast<T>(a < 0 ? -1 : 0);
}
/// The lowest `count` bits of `a` in the place of those of `b` from `position` on.
template <class T>
T insert_bits(T a, T b, u32 position, u32 count)
{
    const T mask = shift_left(complement(shift_left(complement(T{}), count & 0xFF)), position & 0xFF);
    return static_cast<T>((shift_left(a, position & 0xFF) & mask) | (b & complement(mask)));
}
/// Each nibble of the selector chooses a byte of the two words, or, with its highest bit, that byte's sign eight times.
[[gnu::noinline]] inline u32 permute(u32 a, u32 b, u32 selector)
{
    const u64 all = u64{b} << 32 | a;
    u32 result = 0;
    for (u32 i = 0; i < 4; ++i) {
        const u32 nibble = selector >> (4 * i) & 0xF;
        const u32 byte = static_cast<u32>(all >> (8 * (nibble & 7))) & 0xFF;
        result |= (nibble < 8 ? byte : byte >= 0x80 ? 0xFFU : 0U) << (8 * i);
    }
    return result;
}
inline u32 join(u16 low, u16 high)
{
    return low | u32{high} << 16;
}
inline u64 join(u32 low, u32 high)
{
    return low | u64{high} << 32;
}
/// Subnormal operands and results are zero.
inline f32 flushed(f32 a)
{
    return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0F, a) : a;
}
[[gnu::noinline]] inline f32 exponential_of_two(f32 a)
{
    return flushed(std::exp2(flushed(a)));
}
[[gnu::noinline]] inline f32 logarithm_of_two(f32 a)
{
    return flushed(std::log2(flushed(a)));
}
/// Within 0 and 1; 0 of what is not a number.
inline f32 saturated(f32 a)
{
    return a > 0 ? std::min(a, 1.0F) : 0;
}

enum class Rounding { none, nearest, zero, down, up };

template <class To, class From>
To convert(From value, Rounding rounding)
{
    if constexpr (std::is_same_v<From, f16> || std::is_same_v<From, bf16>) {
        return static_cast<To>(widen(value));
    } else if constexpr (std::is_same_v<To, f16> || std::is_same_v<To, bf16>) {
        return narrow<To>(static_cast<f64>(value));
    } else if constexpr (std::is_floating_point_v<From>) {
        const From whole = rounding == Rounding::zero   ? std::trunc(value)
                           : rounding == Rounding::down ? std::floor(value)
                           : rounding == Rounding::up   ? std::ceil(value)
                                                        : std::nearbyint(value);
        if constexpr (std::is_floating_point_v<To>) {
            return static_cast<To>(rounding == Rounding::none ? value : whole);
        } else {
            using Limits = std::numeric_limits<To>;
            if (value != value) return 0;
            if (whole <= static_cast<From>(Limits::min())) return Limits::min();
            return whole >= static_cast<From>(Limits::max()) ? Limits::max() : static_cast<To>(whole);
        }
    } else {
        return static_cast<To>(value);
    }
}

}  // namespace roof::emulated

// Quantities with units, checked at compile time: FLOPs over seconds is a rate, FLOPs over bytes an intensity, and a
// rate of bytes cannot be passed for a rate of FLOPs. Units are SI; GiB never appears in a rate.
#pragma once

#include <compare>

namespace roof {

inline constexpr double nanosecond = 1e-9;  ///< in seconds
inline constexpr double mega = 1e6, giga = 1e9, tera = 1e12;

/// A value in the unit FLOP^F * byte^B * second^T.
template <int F, int B, int T>
struct Quantity {
    double value = 0;

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity& operator+=(Quantity other)
    {
        value += other.value;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other)
    {
        value -= other.value;
        return *this;
    }
};

using Flops = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Seconds = Quantity<0, 0, 1>;
using Hertz = Quantity<0, 0, -1>;
using FlopRate = Quantity<1, 0, -1>;
using ByteRate = Quantity<0, 1, -1>;
using Intensity = Quantity<1, -1, 0>;

template <int F, int B, int T>
constexpr Quantity<F, B, T> operator+(Quantity<F, B, T> a, Quantity<F, B, T> b)
{
    return {a.value + b.value};
}
template <int F, int B, int T>
constexpr Quantity<F, B, T> operator-(Quantity<F, B, T> a, Quantity<F, B, T> b)
{
    return {a.value - b.value};
}
template <int F, int B, int T>
constexpr Quantity<F, B, T> operator*(Quantity<F, B, T> a, double s)
{
    return {a.value * s};
}
template <int F, int B, int T>
constexpr Quantity<F, B, T> operator*(double s, Quantity<F, B, T> a)
{
    return {a.value * s};
}
template <int F, int B, int T>
constexpr Quantity<F, B, T> operator/(Quantity<F, B, T> a, double s)
{
    return {a.value / s};
}

/// A ratio of two quantities of the same unit is a plain number.
template <int F, int B, int T>
constexpr double operator/(Quantity<F, B, T> a, Quantity<F, B, T> b)
{
    return a.value / b.value;
}

template <int F, int B, int T, int F2, int B2, int T2>
requires(F != F2 || B != B2 || T != T2) constexpr Quantity<F - F2, B - B2, T - T2> operator/(Quantity<F, B, T> a,
                                                                                             Quantity<F2, B2, T2> b)
{
    return {a.value / b.value};
}

template <int F, int B, int T, int F2, int B2, int T2>
constexpr Quantity<F + F2, B + B2, T + T2> operator*(Quantity<F, B, T> a, Quantity<F2, B2, T2> b)
{
    return {a.value * b.value};
}

/// The roofline model: the attainable rate of a kernel of intensity `intensity` under these two ceilings.
constexpr FlopRate attainable(FlopRate peak, ByteRate bandwidth, Intensity intensity)
{
    const FlopRate by_memory{(bandwidth * intensity).value};
    return by_memory < peak ? by_memory : peak;
}

/// The intensity at which the two ceilings meet.
constexpr Intensity ridge_point(FlopRate peak, ByteRate bandwidth)
{
    return {peak.value / bandwidth.value};
}

}  // namespace roof

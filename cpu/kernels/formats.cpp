// Elements are copied byte by byte, so that the same memory may hold any format. Half precision is decoded by hand
// because not every compiler has a type for it.
#include "cpu/kernels/formats.hpp"

#include "ert/base/error.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace roof::cpu {

namespace {

constexpr int half_digits = 11;  // of the significand, including the hidden one
constexpr int half_bias = 15;
constexpr int brain_digits = 8;
constexpr double least_normal_half = 0x1p-14;

template <class Stored>
Stored load(const std::byte* from)
{
    Stored value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class Stored>
void store(std::byte* to, Stored value)
{
    std::memcpy(to, &value, sizeof value);
}

double keep_digits(double value, int digits)
{
    int exponent = 0;
    const double significand = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(significand, digits)), exponent - digits);
}

double from_half(std::uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 0x3ff;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
    if (exponent == 0) return sign * std::ldexp(fraction, 2 - half_bias - half_digits);
    return sign * std::ldexp(fraction + 0x400, exponent + 1 - half_bias - half_digits);
}

std::uint16_t to_half(double value)
{
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (value == 0) return sign;
    int exponent = 0;
    const double significand = std::frexp(std::abs(keep_digits(value, half_digits)), &exponent);
    const auto fraction = static_cast<int>(std::ldexp(significand, half_digits)) - 0x400;
    return static_cast<std::uint16_t>(sign | (exponent - 1 + half_bias) << 10 | fraction);
}

double from_brain(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t to_brain(double value)
{
    const auto exact = static_cast<float>(keep_digits(value, brain_digits));
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(exact) >> 16);
}

}  // namespace

int bytes_of(Format format)
{
    switch (format) {
        case Format::fp64:
            return 8;
        case Format::fp32:
        case Format::int32:
            return 4;
        case Format::fp16:
        case Format::bf16:
            return 2;
        case Format::int8:
            return 1;
    }
    throw Error("a format without a size");
}

Format format_of(Precision precision)
{
    switch (precision) {
        case Precision::fp64:
            return Format::fp64;
        case Precision::fp32:
            return Format::fp32;
        case Precision::fp16:
            return Format::fp16;
        case Precision::bf16:
            return Format::bf16;
        case Precision::int8:
            return Format::int8;
        default:
            throw Unsupported("CPU kernels have no " + std::string(traits(precision).name));
    }
}

double read_element(Format format, const std::byte* from)
{
    switch (format) {
        case Format::fp64:
            return load<double>(from);
        case Format::fp32:
            return load<float>(from);
        case Format::fp16:
            return from_half(load<std::uint16_t>(from));
        case Format::bf16:
            return from_brain(load<std::uint16_t>(from));
        case Format::int32:
            return load<std::int32_t>(from);
        case Format::int8:
            return load<std::int8_t>(from);
    }
    throw Error("a format that cannot be read");
}

void write_element(Format format, std::byte* to, double value)
{
    switch (format) {
        case Format::fp64:
            return store(to, value);
        case Format::fp32:
            return store(to, static_cast<float>(value));
        case Format::fp16:
            return store(to, to_half(value));
        case Format::bf16:
            return store(to, to_brain(value));
        case Format::int32:
            return store(to, static_cast<std::uint32_t>(std::llrint(value)));
        case Format::int8:
            return store(to, static_cast<std::uint8_t>(std::llrint(value)));
    }
}

double rounded(Format format, double value)
{
    if (format == Format::fp32) return static_cast<float>(value);
    if (format == Format::fp16) return keep_digits(value, half_digits);
    if (format == Format::bf16) return keep_digits(value, brain_digits);
    return value;
}

bool is_normal(Format format, double value)
{
    switch (format) {
        case Format::fp64:
            return std::isnormal(value);
        case Format::fp16:
            return std::isfinite(value) && std::abs(value) >= least_normal_half;
        case Format::fp32:
        case Format::bf16:
            return std::isnormal(static_cast<float>(value));
        default:
            return true;
    }
}

}  // namespace roof::cpu

#include "ert/base/formats.hpp"

#include "ert/base/error.hpp"
#include "ert/base/names.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace roof {

namespace {

/// The integer in the lowest bits of `bits`.
double integer_in(const Format& format, std::uint64_t bits)
{
    const int unused = 64 - format.storage_bits;
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

std::uint64_t integer_bits(double value)
{
    return static_cast<std::uint64_t>(std::llrint(value));
}

std::uint64_t encode_integer(const Format& format, double value)
{
    const double limit = std::ldexp(1.0, format.storage_bits - 1);
    if (value != std::trunc(value) || value < -limit || value >= limit)
        throw Error(std::to_string(value) + " is no integer of " + std::to_string(format.storage_bits) + " bits");
    const std::uint64_t mask = (std::uint64_t{1} << format.storage_bits) - 1;
    return integer_bits(value) & mask;
}

}  // namespace

Format format_of(Precision precision)
{
    constexpr std::array<Format, precision_table.size()> formats{fp64_format, fp32_format, tf32_format,
                                                                 fp16_format, bf16_format, e4m3_format,
                                                                 e2m1_format, int8_format, int32_format};
    return formats[static_cast<std::size_t>(precision)];
}

double round_to(const Format& format, double value)
{
    if (format.is_integer) return integer_in(format, integer_bits(value));
    if (format == fp32_format) return static_cast<float>(value);
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, format.significand_bits)),
                      exponent - format.significand_bits);
}

double multiply_add(const Format& format, double x, double y, double z)
{
    if (format.is_integer) return integer_in(format, integer_bits(x) * integer_bits(y) + integer_bits(z));
    if (format.significand_bits == 53) return std::fma(x, y, z);
    if (format.significand_bits == 24)
        return std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
    return round_to(format, x * y + z);  // in narrower formats, products and sums of similar size are exact in fp64
}

bool is_normal(const Format& format, double value)
{
    return format.is_integer || (std::isfinite(value) && std::abs(value) >= std::ldexp(1.0, 1 - format.bias));
}

std::uint64_t encode(const Format& format, double value)
{
    if (format.is_integer) return encode_integer(format, value);
    if (format.storage_bits == 64) return std::bit_cast<std::uint64_t>(value);
    if (round_to(format, value) != value) throw Error(std::to_string(value) + " does not fit the format");
    if (format.storage_bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (format.storage_bits - 1) : 0;
    if (value == 0) return sign;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);
    const int fraction_bits = format.significand_bits - 1;
    const int biased = exponent - 1 + format.bias;
    if (biased < 1 || biased >= 1 << (format.storage_bits - 1 - fraction_bits))
        throw Error(std::to_string(value) + " is beyond the format's normal numbers");
    const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, format.significand_bits));
    const std::uint64_t hidden = std::uint64_t{1} << fraction_bits;
    return sign | (static_cast<std::uint64_t>(biased) << fraction_bits) | (significand - hidden);
}

std::vector<std::byte> encode(const Format& format, std::span<const double> values)
{
    const auto bytes = static_cast<std::size_t>(format.storage_bits / 8);
    std::vector<std::byte> encoded(values.size() * bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint64_t bits = encode(format, values[i]);
        std::memcpy(encoded.data() + i * bytes, &bits, bytes);
    }
    return encoded;
}

double decode(const Format& format, std::uint64_t bits)
{
    if (format.is_integer) return integer_in(format, bits);
    if (format.storage_bits == 64) return std::bit_cast<double>(bits);
    if (format.storage_bits == 32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const int fraction_bits = format.significand_bits - 1;
    const int largest = (1 << (format.storage_bits - 1 - fraction_bits)) - 1;
    const auto exponent = static_cast<int>(bits >> fraction_bits) & largest;
    const auto fraction = static_cast<double>(bits & ((std::uint64_t{1} << fraction_bits) - 1));
    const double sign = (bits >> (format.storage_bits - 1) & 1) != 0 ? -1 : 1;
    if (exponent == largest) return fraction == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
    const double hidden = exponent == 0 ? 0 : std::ldexp(1.0, fraction_bits);
    return sign * std::ldexp(hidden + fraction, std::max(1, exponent) - format.bias - fraction_bits);
}

double decode(const Format& format, const std::byte* from)
{
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, static_cast<std::size_t>(format.storage_bits / 8));
    return decode(format, bits);
}

Precision parse_precision(std::string_view name)
{
    return row_in(precision_table, "precision", name).precision;
}

}  // namespace roof

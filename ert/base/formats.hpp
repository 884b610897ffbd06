// Number formats as bits, on the host: encodes and decodes the operands of kernels, and computes in a format, so that
// results of kernels can be recomputed to the last bit. An fp64 number holds every value of every format here exactly.
#pragma once

#include "ert/base/precision.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace roof {

/// A format of at most 32 bits, or fp64.
struct Format {
    int storage_bits = 32;
    int significand_bits = 24;  ///< with the hidden bit
    int bias = 127;
    bool is_integer = false;

    bool operator==(const Format&) const = default;
};

inline constexpr Format fp64_format{64, 53, 1023};
inline constexpr Format fp32_format{32, 24, 127};
inline constexpr Format tf32_format{32, 11, 127};  ///< stored as fp32
inline constexpr Format fp16_format{16, 11, 15};
inline constexpr Format bf16_format{16, 8, 127};
inline constexpr Format e4m3_format{8, 4, 7};
inline constexpr Format e5m2_format{8, 3, 15};
inline constexpr Format e2m1_format{4, 2, 1};
inline constexpr Format int8_format{8, 8, 0, true};
inline constexpr Format int32_format{32, 32, 0, true};

/// fp8 is e4m3 here, fp4 e2m1.
Format format_of(Precision precision);

/// To nearest, ties to even; integers wrap. The exponent is bounded in fp32 alone.
double round_to(const Format& format, double value);

/// x * y + z, rounded once.
double multiply_add(const Format& format, double x, double y, double z);

/// True unless the value is zero, denormal, infinite or NaN in the format. Always true for integers.
bool is_normal(const Format& format, double value);

/// The bits of a value that is exactly a normal number of the format or 0. Throws Error for other values.
std::uint64_t encode(const Format& format, double value);

/// The bits of all values, little-endian, without gaps. Not of e2m1.
std::vector<std::byte> encode(const Format& format, std::span<const double> values);

/// The value of these bits. Not of formats of less than 8 bits, nor of e4m3, which has no infinity.
double decode(const Format& format, std::uint64_t bits);

/// The same for the number at `from`, which may have any alignment.
double decode(const Format& format, const std::byte* from);

}  // namespace roof

// The number formats of ceilings and workloads: one table, one row each.
#pragma once

#include <array>
#include <string_view>

namespace roof {

enum class Precision { fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8, int32 };

struct PrecisionTraits {
    Precision precision;
    std::string_view name;         ///< in plans, CSV and on the command line
    int storage_bytes;             ///< per element in memory; fp4 has two in a byte
    std::string_view accumulator;  ///< the format in which products are summed
};

inline constexpr std::array<PrecisionTraits, 9> precision_table{{
    {Precision::fp64, "fp64", 8, "fp64"},
    {Precision::fp32, "fp32", 4, "fp32"},
    {Precision::tf32, "tf32", 4, "fp32"},
    {Precision::fp16, "fp16", 2, "fp32"},
    {Precision::bf16, "bf16", 2, "fp32"},
    {Precision::fp8, "fp8", 1, "fp32"},
    {Precision::fp4, "fp4", 1, "fp32"},
    {Precision::int8, "int8", 1, "int32"},
    {Precision::int32, "int32", 4, "int32"},
}};

constexpr const PrecisionTraits& traits(Precision precision)
{
    return precision_table[static_cast<std::size_t>(precision)];
}

/// Throws InputError with the legal values if `name` is unknown.
Precision parse_precision(std::string_view name);

}  // namespace roof

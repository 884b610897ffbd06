// The operands of the "matmul" bench and the expected elements of the product. Host code.
#pragma once

#include "ert/base/precision.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roof::gpu {

/// Both operands repeat after this many numbers. It is a prime, so no two rows are the same.
inline constexpr std::size_t product_period = 1048573;

/// Random numbers of the precision, never 0.
std::vector<double> product_numbers(Precision precision, std::uint32_t seed);

struct ExpectedElement {
    double value = 0;
    double tolerance = 0;  ///< the most that rounding changes
};

/// The product of row `row` of A' and column `column` of B, each n numbers without gaps in memory.
ExpectedElement expected_element(Precision precision, const std::vector<double>& a, const std::vector<double>& b,
                                 std::size_t n, std::size_t row, std::size_t column);

}  // namespace roof::gpu

// The operands of the "matmul" bench and what an element of the product is due to be, on the host alone.
#pragma once

#include "ert/base/precision.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roof::gpu {

/// Both operands repeat after so many numbers: a prime, so that no two rows are alike.
inline constexpr std::size_t product_period = 1048573;

/// Random numbers of the precision, never 0.
std::vector<double> product_numbers(Precision precision, std::uint32_t seed);

struct DueElement {
    double value = 0;
    double tolerance = 0;  ///< what rounding may change
};

/// Of row `row` of A' and column `column` of B, n numbers each, one after the other in memory.
DueElement due_element(Precision precision, const std::vector<double>& a, const std::vector<double>& b, std::size_t n,
                       std::size_t row, std::size_t column);

}  // namespace roof::gpu

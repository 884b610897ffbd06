// The matrices that the probes of tensor cores and of products multiply, never with zeros, and their products on the
// host.
#pragma once

#include "ert/base/formats.hpp"
#include "ert/base/precision.hpp"
#include "ert/gpu/kernels/fragments.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roof::gpu {

struct Matrix {
    int rows = 0;
    int columns = 0;
    std::vector<double> values;  ///< row after row

    double at(int row, int column) const { return values[static_cast<std::size_t>(row) * columns + column]; }
};

/// `random`, for timing: in [1/4, 1), of e2m1 in [1, 4), with either sign and all bits of the significand random;
/// integers are any but 0. `whole`, for checking: 1, 2 or 3 with either sign, whose products and sums are exact in
/// every format.
enum class Numbers { random, whole };

Matrix random_matrix(int rows, int columns, const Format& format, Numbers numbers, std::uint32_t seed);

/// Of the numbers, and of their sums, in registers or memory.
Format operand_format(TensorFormat format);
Format sum_format(TensorFormat format);

Matrix negated(Matrix matrix);

/// sums += scale * a * b, all in fp64.
void add_product(Matrix& sums, const Matrix& a, const Matrix& b, double scale);

/// The sums of a chain of products with the matrices `a` in turns, `times_each` times each.
Matrix sums_of_products(const std::vector<Matrix>& a, const Matrix& b, double times_each);

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

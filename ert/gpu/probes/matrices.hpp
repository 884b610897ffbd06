// The matrices that the probes of tensor cores multiply, never with zeros, and their products on the host.
#pragma once

#include "ert/base/formats.hpp"

#include <cstdint>
#include <vector>

namespace roof::gpu {

struct Matrix {
    int rows = 0;
    int columns = 0;
    std::vector<double> values;  ///< row after row

    double at(int row, int column) const { return values[static_cast<std::size_t>(row) * columns + column]; }
};

/// `random`, for timing: in [1/4, 1), of e2m1 in [1, 4), with either sign and all bits of the significand random; integers are any but 0.
/// `whole`, for checking: 1, 2 or 3 with either sign, whose products and sums are exact in every format.
enum class Numbers { random, whole };

Matrix random_matrix(int rows, int columns, const Format& format, Numbers numbers, std::uint32_t seed);

Matrix negated(Matrix matrix);

/// sums += scale * a * b, all in fp64.
void add_product(Matrix& sums, const Matrix& a, const Matrix& b, double scale);

/// The sums of a chain of products with the matrices `a` in turns, `times_each` times each.
Matrix sums_of_products(const std::vector<Matrix>& a, const Matrix& b, double times_each);

}  // namespace roof::gpu

// The matrices that the tensor cores' probes multiply: random numbers, never zeros, and their products on the host.
#pragma once

#include "ert/gpu/formats.hpp"

#include <cstdint>
#include <vector>

namespace roof::gpu {

struct Matrix {
    int rows = 0;
    int columns = 0;
    std::vector<double> values;  ///< row after row

    double at(int row, int column) const { return values[static_cast<std::size_t>(row) * columns + column]; }
};

/// `busy`: of [1/4, 1) with either sign and significands filled to the last bit (integers: all but 0), which is what is
/// timed. `telling`: 1, 2 or 3 with either sign, whose products and sums are exact in every format, which is what is checked.
enum class Numbers { busy, telling };

Matrix random_matrix(int rows, int columns, const Format& format, Numbers numbers, std::uint32_t seed);

Matrix negated(Matrix matrix);

/// sums += scale * a * b, all in fp64.
void add_product(Matrix& sums, const Matrix& a, const Matrix& b, double scale);

/// What a chain of products ends at that is given the matrices `a` in turns, so often each.
Matrix sums_of_products(const std::vector<Matrix>& a, const Matrix& b, double times_each);

}  // namespace roof::gpu

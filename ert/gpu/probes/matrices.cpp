#include "ert/gpu/probes/matrices.hpp"

#include <cmath>
#include <random>

namespace roof::gpu {

namespace {

double random_number(std::uint32_t random, const Format& format)
{
    if (format.is_integer) return 1 + random % 127;
    // A uniform significand, and an exponent of -1 or -2; of e2m1, which has none of them, 0 or 1.
    const int largest = format.bias > 1 ? -1 : 1;
    const double significand =
        1 + std::ldexp(std::floor(std::ldexp(random, format.significand_bits - 33)), 1 - format.significand_bits);
    return std::ldexp(significand, random % 2 == 0 ? largest : largest - 1);
}

}  // namespace

Matrix random_matrix(int rows, int columns, const Format& format, Numbers numbers, std::uint32_t seed)
{
    std::mt19937 generator(seed);
    Matrix matrix{rows, columns, std::vector<double>(static_cast<std::size_t>(rows) * columns)};
    for (double& value : matrix.values) {
        const auto random = static_cast<std::uint32_t>(generator());
        const bool is_negative = generator() % 2 == 0;
        value = numbers == Numbers::whole ? 1 + random % 3 : random_number(random, format);
        if (is_negative) value = -value;
    }
    return matrix;
}

Matrix negated(Matrix matrix)
{
    for (double& value : matrix.values) value = -value;
    return matrix;
}

void add_product(Matrix& sums, const Matrix& a, const Matrix& b, double scale)
{
    for (int row = 0; row < a.rows; ++row) {
        for (int k = 0; k < a.columns; ++k) {
            const double left = scale * a.at(row, k);
            for (int column = 0; column < b.columns; ++column)
                sums.values[static_cast<std::size_t>(row) * sums.columns + column] += left * b.at(k, column);
        }
    }
}

Matrix sums_of_products(const std::vector<Matrix>& a, const Matrix& b, double times_each)
{
    Matrix sums{a.front().rows, b.columns, std::vector<double>(static_cast<std::size_t>(a.front().rows) * b.columns)};
    for (const Matrix& factor : a) add_product(sums, factor, b, times_each);
    return sums;
}

}  // namespace roof::gpu

#include "ert/gpu/probes/matrices.hpp"

#include <array>
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

/// Half a unit in the last place of the result's format; the product of fp8 is stored in bf16.
double rounding_of_result(Precision precision)
{
    if (precision == Precision::fp16) return 0x1p-11;
    return precision == Precision::bf16 || precision == Precision::fp8 ? 0x1p-8 : 0;
}

/// The rounding error of a sum, per unit of the products added.
double rounding_of_sums(Precision precision)
{
    if (precision == Precision::fp64) return 1e-14;
    if (precision == Precision::int8) return 0;
    return precision == Precision::fp8 ? 0x1p-12 : 1e-5;  // fast sums keep some 14 bits
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

Format operand_format(TensorFormat format)
{
    constexpr std::array<Format, 14> formats{fp64_format, fp64_format, tf32_format, fp16_format, bf16_format,
                                             int8_format, e4m3_format, e5m2_format, e4m3_format, e2m1_format,
                                             e2m1_format, fp16_format, int8_format, fp16_format};
    return formats.at(static_cast<std::size_t>(format));
}

Format sum_format(TensorFormat format)
{
    if (operand_format(format) == int8_format) return int32_format;
    return operand_format(format) == fp64_format ? fp64_format : fp32_format;
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

std::vector<double> product_numbers(Precision precision, std::uint32_t seed)
{
    return random_matrix(1, static_cast<int>(product_period), format_of(precision), Numbers::random, seed).values;
}

ExpectedElement expected_element(Precision precision, const std::vector<double>& a, const std::vector<double>& b,
                                 std::size_t n, std::size_t row, std::size_t column)
{
    double sum = 0;
    double sizes = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const double product = a[(row * n + k) % product_period] * b[(column * n + k) % product_period];
        sum += product;
        sizes += std::abs(product);
    }
    return {sum, std::abs(sum) * rounding_of_result(precision) + sizes * rounding_of_sums(precision)};
}

}  // namespace roof::gpu

#include "ert/gpu/probes/product_check.hpp"

#include "ert/base/formats.hpp"
#include "ert/gpu/probes/matrices.hpp"

#include <cmath>

namespace roof::gpu {

namespace {

/// Half a unit in the last place of the result's format.
double rounding_of_result(Precision precision)
{
    switch (precision) {
        case Precision::fp16:
            return std::ldexp(1.0, -11);
        case Precision::bf16:
        case Precision::fp8:  // whose product is stored in bf16
            return std::ldexp(1.0, -8);
        default:
            return 0;
    }
}

/// The rounding error of a sum, per unit of the products added.
double rounding_of_sums(Precision precision)
{
    switch (precision) {
        case Precision::fp64:
            return 1e-14;
        case Precision::fp8:
            return std::ldexp(1.0, -12);  // fast sums keep some 14 bits
        case Precision::int8:
            return 0;
        default:
            return 1e-5;
    }
}

}  // namespace

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

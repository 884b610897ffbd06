// Host code of the "matmul" bench: its operands, and the tolerance for an element of the product.
#include "ert/base/formats.hpp"
#include "ert/gpu/probes/matrices.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <tuple>

using namespace roof;
using namespace roof::gpu;

TEST_CASE("operands of a product are exact in their precision, and none is zero")
{
    for (const Precision precision : {Precision::fp16, Precision::bf16, Precision::fp8, Precision::int8}) {
        INFO(traits(precision).name);
        const std::vector<double> numbers = product_numbers(precision, 1);
        CHECK(numbers.size() == product_period);
        for (std::size_t i = 0; i < 1000; ++i) {
            CHECK(numbers[i] != 0);
            CHECK_NOTHROW(encode(format_of(precision), numbers[i]));
        }
        CHECK(numbers != product_numbers(precision, 2));
    }
}

TEST_CASE("random numbers have both signs and all sizes of their range")
{
    for (const auto& [format, least, most] :
         {std::tuple{bf16_format, 0.25, 1.0}, {int8_format, 1.0, 127.0}, {e2m1_format, 1.0, 3.0}}) {
        std::vector<double> sizes;
        int negative = 0;
        for (const double value : random_matrix(64, 64, format, Numbers::random, 7).values) {
            sizes.push_back(std::abs(value));
            negative += value < 0 ? 1 : 0;
        }
        CHECK(*std::ranges::min_element(sizes) == Approx(least).epsilon(0.01));
        CHECK(*std::ranges::max_element(sizes) == Approx(most).epsilon(0.02));
        CHECK(negative / 4096.0 == Approx(0.5).epsilon(0.1));
    }
}

TEST_CASE("an element is the product of a row and a column, with the period of the operands")
{
    std::vector<double> a(product_period, 1);
    std::vector<double> b(product_period, 2);
    a[8] = 5;  // row 2, k 0 of 4 x 4
    b[4] = 7;  // column 1, k 0
    CHECK(expected_element(Precision::fp64, a, b, 4, 2, 1).value == 5 * 7 + 3 * 2);
    CHECK(expected_element(Precision::fp64, a, b, 4, 0, 0).value == 8);
    // A row that begins three numbers beyond the period.
    a[3] = 11;
    CHECK(expected_element(Precision::fp64, a, b, 4, (product_period + 3) / 4, 0).value == 2 * (11 + 1 + 1 + 1));
}

TEST_CASE("the tolerance covers the rounding of the format, but no wrong element")
{
    const std::size_t n = 1024;
    for (const Precision precision :
         {Precision::fp64, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8}) {
        INFO(traits(precision).name);
        const std::vector<double> a = product_numbers(precision, 1);
        const std::vector<double> b = product_numbers(precision, 2);
        const ExpectedElement due = expected_element(precision, a, b, n, 3, 5);
        const ExpectedElement other = expected_element(precision, a, b, n, 3, 6);
        CHECK(due.tolerance > 0);
        CHECK(std::abs(due.value - other.value) > 2 * due.tolerance);
    }
    CHECK(expected_element(Precision::int8, product_numbers(Precision::int8, 1), product_numbers(Precision::int8, 2), n,
                           3, 5)
              .tolerance == 0);
}

// The bytes that a product moves at least.
#include "analysis/estimate/footprint.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("a product moves at least its FLOPs over the root of the nearer memory, in values")
{
    // 2 * 1000^3 FLOPs, 100 values nearer: 2e9 / 10 - 200 values of 4 bytes.
    CHECK(least_bytes_of_product(Flops{2e9}, 1, Bytes{400}, 1, Bytes{4}, 1) == Bytes{4 * (2e8 - 200)});
    CHECK(least_bytes_of_product(Flops{2e9}, 9, Bytes{400}, 1, Bytes{4}, 1).value == Approx(4 * (2e9 / 30 - 200)));
    CHECK(least_bytes_of_product(Flops{2e9}, 1, Bytes{400}, 2, Bytes{4}, 2) == Bytes{4 * (2e8 - 800)});
}

TEST_CASE("the bound of a product is never below zero and is zero without nearer memory")
{
    CHECK(least_bytes_of_product(Flops{100}, 1, Bytes{1 << 20}, 1, Bytes{4}, 1) == Bytes{});
    CHECK(least_bytes_of_product(Flops{2e9}, 1, Bytes{}, 1, Bytes{4}, 1) == Bytes{});
}

TEST_CASE("a blocked product of matrices moves more than the bound and less than three times it")
{
    // Blocks of b x b in a memory of 3 b^2 values: 2 n^3 / b loads and 2 n^2 for the result.
    const double n = 4096, b = 64;
    const double moved = 8 * (2 * n * n * n / b) / 2 + 8 * n * n;
    const Bytes least = least_bytes_of_product(Flops{2 * n * n * n}, 1, Bytes{4 * 3 * b * b}, 1, Bytes{4}, 1);
    CHECK(least.value < moved);
    CHECK(least.value > moved / 3);
}

TEST_CASE("windows read an input value as often as they overlap")
{
    const std::map<std::string, double> uses = input_uses("alexnet");
    CHECK(uses.at("features.0") == 9);  // 11 wide, stride 4
    CHECK(uses.at("features.6") == 9);
    CHECK(uses.at("classifier.6") == 1);
    CHECK(uses.count("features.1") == 0);
    CHECK(input_uses("no such network").empty());
}

#include "ert/base/error.hpp"
#include "ert/base/precision.hpp"
#include "ert/base/units.hpp"

#include <catch2/catch.hpp>

using namespace roof;

TEST_CASE("a rate is an amount over a time, and an intensity is FLOPs over bytes")
{
    STATIC_REQUIRE(std::is_same_v<decltype(Flops{} / Seconds{}), FlopRate>);
    STATIC_REQUIRE(std::is_same_v<decltype(Bytes{} / Seconds{}), ByteRate>);
    STATIC_REQUIRE(std::is_same_v<decltype(Flops{} / Bytes{}), Intensity>);
    STATIC_REQUIRE(std::is_same_v<decltype(FlopRate{} * Seconds{}), Flops>);
    STATIC_REQUIRE(std::is_same_v<decltype(Seconds{} / Seconds{}), double>);
    REQUIRE((Flops{6} / Seconds{2}).value == 3);
}

TEST_CASE("memory is the bound below the ridge point, and compute above it")
{
    const FlopRate peak{100};
    const ByteRate bandwidth{20};
    REQUIRE(ridge_point(peak, bandwidth).value == 5);
    REQUIRE(attainable(peak, bandwidth, Intensity{2}).value == 40);
    REQUIRE(attainable(peak, bandwidth, Intensity{5}).value == 100);
    REQUIRE(attainable(peak, bandwidth, Intensity{50}).value == 100);
}

TEST_CASE("every precision is found by its name and has its own size")
{
    for (const PrecisionTraits& row : precision_table) {
        REQUIRE(parse_precision(row.name) == row.precision);
        REQUIRE(&traits(row.precision) == &row);
    }
    REQUIRE_THROWS_WITH(parse_precision("fp31"), Catch::Contains("fp31") && Catch::Contains("fp32"));
}

TEST_CASE("the out-of-memory message has the needed and the available bytes")
{
    const OutOfMemory error(Bytes{3e12}, Bytes{24e9}, "vgg16 at batch 4096");
    REQUIRE(std::string(error.what()) == "vgg16 at batch 4096 needs 3.00 TB, available are 24.0 GB");
}

// Register contents in memory.
#include "cpu/kernels/registers.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cpu;

TEST_CASE("integers wrap")
{
    RegisterFile words(1, 16, int32_format);
    words.set(0, 1, 0x1p31 + 5);
    CHECK(words.at(0, 1) == -0x1p31 + 5);
    CHECK(words.elements_per_register() == 4);
    RegisterFile bytes(1, 16, Precision::int8);
    bytes.set(0, 15, 255);
    CHECK(bytes.at(0, 15) == -1);
    CHECK(bytes.at(0, 14) == 0);
}

TEST_CASE("a precision without registers has no format")
{
    CHECK_THROWS_AS(RegisterFile(1, 16, Precision::tf32), Unsupported);
    CHECK_THROWS_AS(RegisterFile(1, 16, Precision::fp8), Unsupported);
}

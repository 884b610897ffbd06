// Formats of elements: their bits in memory, and their rounding.
#include "cpu/kernels/formats.hpp"
#include "cpu/kernels/registers.hpp"
#include "ert/base/error.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>

using namespace roof;
using namespace roof::cpu;

namespace {

std::uint16_t bits_of(Format format, double value)
{
    std::array<std::byte, 2> memory{};
    write_element(format, memory.data(), value);
    std::uint16_t bits = 0;
    std::memcpy(&bits, memory.data(), sizeof bits);
    return bits;
}

double value_of(Format format, std::uint16_t bits)
{
    std::array<std::byte, 2> memory{};
    std::memcpy(memory.data(), &bits, sizeof bits);
    return read_element(format, memory.data());
}

}  // namespace

TEST_CASE("fp16 has the bits of IEEE 754 in memory")
{
    CHECK(bits_of(Format::fp16, 1) == 0x3c00);
    CHECK(bits_of(Format::fp16, -2) == 0xc000);
    CHECK(bits_of(Format::fp16, 1 + 0x1p-10) == 0x3c01);
    CHECK(bits_of(Format::fp16, 65504) == 0x7bff);
    CHECK(bits_of(Format::fp16, 0x1p-14) == 0x0400);
    CHECK(bits_of(Format::fp16, 0) == 0);
    CHECK(value_of(Format::fp16, 0x0001) == 0x1p-24);
    CHECK(value_of(Format::fp16, 0xfc00) == -HUGE_VAL);
    CHECK(std::isnan(value_of(Format::fp16, 0x7c01)));
}

TEST_CASE("every normal fp16 and bf16 number is unchanged after writing and reading")
{
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        for (const Format format : {Format::fp16, Format::bf16}) {
            const double value = value_of(format, static_cast<std::uint16_t>(bits));
            if (is_normal(format, value)) REQUIRE(bits_of(format, value) == bits);
        }
    }
}

TEST_CASE("short formats round to nearest, ties to even")
{
    CHECK(rounded(Format::fp16, 1 + 0x1p-11) == 1);
    CHECK(rounded(Format::fp16, 1 + 3 * 0x1p-11) == 1 + 0x1p-9);
    CHECK(rounded(Format::fp16, 1 + 0x1p-11 + 0x1p-30) == 1 + 0x1p-10);
    CHECK(rounded(Format::fp16, 2 - 0x1p-12) == 2);
    CHECK(rounded(Format::bf16, -(1 + 0x1p-8)) == -1);
    CHECK(rounded(Format::bf16, 1 + 3 * 0x1p-8) == 1 + 0x1p-6);
    CHECK(rounded(Format::fp32, 1 + 0x1p-30) == 1);
    CHECK(rounded(Format::fp64, 1 + 0x1p-30) == 1 + 0x1p-30);
}

TEST_CASE("bf16 is the upper half of fp32")
{
    CHECK(bits_of(Format::bf16, 1) == 0x3f80);
    CHECK(bits_of(Format::bf16, -3) == 0xc040);
    CHECK(value_of(Format::bf16, 0x4049) == 3.140625);
}

TEST_CASE("integers wrap")
{
    RegisterFile words(1, 16, Format::int32);
    words.set(0, 1, 0x1p31 + 5);
    CHECK(words.at(0, 1) == -0x1p31 + 5);
    CHECK(words.elements_per_register() == 4);
    RegisterFile bytes(1, 16, Precision::int8);
    bytes.set(0, 15, 255);
    CHECK(bytes.at(0, 15) == -1);
    CHECK(bytes.at(0, 14) == 0);
}

TEST_CASE("a number is normal if its format calls it normal")
{
    CHECK(is_normal(Format::fp16, 0x1p-14));
    CHECK_FALSE(is_normal(Format::fp16, 0x1p-15));
    CHECK_FALSE(is_normal(Format::fp16, HUGE_VAL));
    CHECK(is_normal(Format::fp32, 0x1p-126));
    CHECK_FALSE(is_normal(Format::fp32, 0x1p-127));
    CHECK_FALSE(is_normal(Format::fp64, 0));
    CHECK(is_normal(Format::int32, 0));
}

TEST_CASE("a precision without registers has no format")
{
    CHECK_THROWS_AS(format_of(Precision::tf32), Unsupported);
    CHECK_THROWS_AS(format_of(Precision::fp8), Unsupported);
}

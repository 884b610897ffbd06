// Number formats as bits, and the host's own arithmetic in them.
#include "ert/base/error.hpp"
#include "ert/base/formats.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>

using namespace roof;

TEST_CASE("numbers have the bits that their format's standard gives them")
{
    CHECK(encode(fp16_format, 1) == 0x3C00);
    CHECK(encode(fp16_format, -1.5) == 0xBE00);
    CHECK(encode(fp16_format, 65504) == 0x7BFF);
    CHECK(encode(bf16_format, 3.140625) == 0x4049);
    CHECK(encode(e4m3_format, 1) == 0x38);
    CHECK(encode(e4m3_format, -0.4375) == 0xAE);
    CHECK(encode(e5m2_format, 1) == 0x3C);
    CHECK(encode(e5m2_format, 3) == 0x42);
    CHECK(encode(e2m1_format, 1) == 2);
    CHECK(encode(e2m1_format, 6) == 7);
    CHECK(encode(e2m1_format, -3) == 0xD);
    CHECK(encode(fp32_format, 0.5) == 0x3F000000);
    CHECK(encode(tf32_format, 1 + std::ldexp(1.0, -10)) == 0x3F802000);
    CHECK(encode(fp64_format, 1) == 0x3FF0000000000000);
    CHECK(encode(int8_format, -1) == 0xFF);
    CHECK(encode(int32_format, -2) == 0xFFFFFFFE);
    CHECK(encode(fp16_format, 0) == 0);
}

TEST_CASE("a number that its format cannot hold is an error")
{
    CHECK_THROWS_AS(encode(bf16_format, 1 + std::ldexp(1.0, -8)), Error);
    CHECK_THROWS_AS(encode(fp16_format, 1e5), Error);
    CHECK_THROWS_AS(encode(e4m3_format, std::ldexp(1.0, -20)), Error);
    CHECK_THROWS_AS(encode(e2m1_format, 8), Error);
    CHECK_THROWS_AS(encode(int8_format, 128), Error);
    CHECK_THROWS_AS(encode(int8_format, 0.5), Error);
}

TEST_CASE("values are stored without gaps, least significant byte first")
{
    const std::vector<double> values{1, -1.5};
    const std::vector<std::byte> bytes = encode(fp16_format, values);
    CHECK(bytes == std::vector<std::byte>{std::byte{0x00}, std::byte{0x3C}, std::byte{0x00}, std::byte{0xBE}});
}

TEST_CASE("a multiply-add is rounded once, to even")
{
    // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20: the last term decides the tie that rounding twice would lose.
    const double x = 1 + std::ldexp(1.0, -10);
    CHECK(multiply_add(fp16_format, x, x, std::ldexp(1.0, -11)) == 1 + std::ldexp(3.0, -10));
    CHECK(round_to(fp16_format, 1 + std::ldexp(1.0, -11)) == 1);
    CHECK(round_to(fp16_format, 1 + std::ldexp(3.0, -11)) == 1 + std::ldexp(2.0, -10));
    CHECK(multiply_add(fp32_format, 3, 5, 7) == 22);
    CHECK(multiply_add(int32_format, 65536, 65536, -1) == -1);
    CHECK(multiply_add(int32_format, 1664525, -18851643, 0) == 1);
}

TEST_CASE("fp16 has the bits of IEEE 754 in memory")
{
    CHECK(encode(fp16_format, 1) == 0x3c00);
    CHECK(encode(fp16_format, -2) == 0xc000);
    CHECK(encode(fp16_format, 1 + 0x1p-10) == 0x3c01);
    CHECK(encode(fp16_format, 65504) == 0x7bff);
    CHECK(encode(fp16_format, 0x1p-14) == 0x0400);
    CHECK(encode(fp16_format, 0) == 0);
    CHECK(decode(fp16_format, std::uint64_t{0x0001}) == 0x1p-24);
    CHECK(decode(fp16_format, std::uint64_t{0xfc00}) == -HUGE_VAL);
    CHECK(std::isnan(decode(fp16_format, std::uint64_t{0x7c01})));
}

TEST_CASE("every normal fp16 and bf16 number is unchanged after writing and reading")
{
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        for (const Format format : {fp16_format, bf16_format}) {
            const double value = decode(format, std::uint64_t{bits});
            if (is_normal(format, value)) REQUIRE(encode(format, value) == bits);
        }
    }
}

TEST_CASE("short formats round to nearest, ties to even")
{
    CHECK(round_to(fp16_format, 1 + 0x1p-11) == 1);
    CHECK(round_to(fp16_format, 1 + 3 * 0x1p-11) == 1 + 0x1p-9);
    CHECK(round_to(fp16_format, 1 + 0x1p-11 + 0x1p-30) == 1 + 0x1p-10);
    CHECK(round_to(fp16_format, 2 - 0x1p-12) == 2);
    CHECK(round_to(bf16_format, -(1 + 0x1p-8)) == -1);
    CHECK(round_to(bf16_format, 1 + 3 * 0x1p-8) == 1 + 0x1p-6);
    CHECK(round_to(fp32_format, 1 + 0x1p-30) == 1);
    CHECK(round_to(fp64_format, 1 + 0x1p-30) == 1 + 0x1p-30);
}

TEST_CASE("bf16 is the upper half of fp32")
{
    CHECK(encode(bf16_format, 1) == 0x3f80);
    CHECK(encode(bf16_format, -3) == 0xc040);
    CHECK(decode(bf16_format, std::uint64_t{0x4049}) == 3.140625);
}

TEST_CASE("a number is normal if its format calls it normal")
{
    CHECK(is_normal(fp16_format, 0x1p-14));
    CHECK_FALSE(is_normal(fp16_format, 0x1p-15));
    CHECK_FALSE(is_normal(fp16_format, HUGE_VAL));
    CHECK(is_normal(fp32_format, 0x1p-126));
    CHECK_FALSE(is_normal(fp32_format, 0x1p-127));
    CHECK_FALSE(is_normal(fp64_format, 0));
    CHECK(is_normal(int32_format, 0));
}

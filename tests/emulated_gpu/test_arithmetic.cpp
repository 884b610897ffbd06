#include "tests/emulated_gpu/device/arithmetic.hpp"

#include <catch2/catch.hpp>

using namespace roof::emulated;

TEST_CASE("halves are rounded once, to the nearest, ties to even")
{
    CHECK(narrow<f16>(1.0).bits == 0x3C00);
    CHECK(narrow<f16>(65520.0).bits == 0x7C00);                   // half way to the next is infinite
    CHECK(narrow<f16>(1.0 + 1.0 / 2048).bits == 0x3C00);          // a tie
    CHECK(narrow<f16>(1.0 + 1.0 / 2048 + 1e-12).bits == 0x3C01);  // beyond the tie by less than a float shows
    CHECK(narrow<f16>(5.9604644775390625e-8).bits == 0x0001);     // the least subnormal
    CHECK(narrow<bf16>(1.0 + 1.0 / 256).bits == 0x3F80);
    CHECK(narrow<bf16>(1.0 + 1.0 / 256 + 1e-12).bits == 0x3F81);
    CHECK(narrow<bf16>(-3.0).bits == 0xC040);
    CHECK(std::isinf(widen(narrow<bf16>(3.4e38))));
    for (u32 bits = 0; bits < 0x7C00; ++bits) {
        const f16 value{static_cast<u16>(bits)};
        REQUIRE(narrow<f16>(widen(value)).bits == value.bits);
    }
}

TEST_CASE("the small floats have the values of their tables")
{
    CHECK(small_float(0x7E, 4, 3, false) == 448);
    CHECK(small_float(0x01, 4, 3, false) == 1.0 / 512);
    CHECK(std::isnan(small_float(0x7F, 4, 3, false)));
    CHECK(small_float(0x7B, 5, 2, true) == 57344);
    CHECK(std::isinf(small_float(0x7C, 5, 2, true)));
}

TEST_CASE("whole numbers wrap around and shifts end at the width")
{
    CHECK(add(s32{0x7FFFFFFF}, s32{1}) == std::numeric_limits<s32>::min());
    CHECK(multiply(u16{0xFFFF}, u16{0xFFFF}) == 1);
    CHECK(multiply_high(0xFFFFFFFFU, 0xFFFFFFFFU) == 0xFFFFFFFEU);
    CHECK(multiply_high(s32{-1}, s32{1}) == -1);
    CHECK(shift_left(1U, 32) == 0);
    CHECK(shift_right(s32{-8}, 40) == -1);
}

TEST_CASE("bits and bytes are put where the instruction says")
{
    CHECK(insert_bits(0xFFFFU, 0U, 4, 8) == 0xFF0);
    CHECK(insert_bits(0U, 0xFFFFFFFFU, 1, 1) == 0xFFFFFFFD);
    CHECK(insert_bits(5U, 0U, 0, 32) == 5);
    CHECK(insert_bits(1U, 7U, 32, 1) == 7);
    CHECK(permute(0x03020100, 0x07060504, 0x7604) == 0x07060004);
    CHECK(permute(0x00000080, 0, 0x8888) == 0xFFFFFFFF);
}

TEST_CASE("conversions round as they say and stay within their type")
{
    CHECK(convert<s32>(-1.5F, Rounding::zero) == -1);
    CHECK(convert<s32>(-1.5F, Rounding::down) == -2);
    CHECK(convert<s32>(2.5F, Rounding::nearest) == 2);
    CHECK(convert<u32>(-7.0F, Rounding::zero) == 0);
    CHECK(convert<s32>(1e20F, Rounding::zero) == std::numeric_limits<s32>::max());
    CHECK(convert<s32>(NAN, Rounding::zero) == 0);
    CHECK(convert<f32>(2.5F, Rounding::down) == 2);
    CHECK(convert<f32>(2.5, Rounding::none) == 2.5F);
    CHECK(convert<s64>(s32{-1}, Rounding::none) == -1);
    CHECK(fused_down(1.0F, 1.0F, 1e-10F) == 1.0F);
    CHECK(fused_down(1.0F, 1.0F, -1e-10F) < 1.0F);
}

// The work of single instructions. Bytes are those of the GNU assembler, FLOPs those of docs/profile.md.
#include "analysis/instructions/executed_work.hpp"
#include "tests/skip.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <vector>

using namespace roof::analysis;

namespace {

struct Case {
    const char* assembler;
    std::vector<std::uint8_t> code;
    const char* precision;
    const char* set;
    int width;
    double flops;
    double bytes;
};

const std::vector<Case> cases{
    {"addsd xmm0, xmm1", {0xf2, 0x0f, 0x58, 0xc1}, "fp64", "SSE", 0, 1, 0},
    {"mulss xmm0, [rax]", {0xf3, 0x0f, 0x59, 0x00}, "fp32", "SSE", 0, 1, 4},
    {"divps xmm0, xmm1", {0x0f, 0x5e, 0xc1}, "fp32", "SSE", 128, 4, 0},
    {"sqrtpd xmm0, [rax]", {0x66, 0x0f, 0x51, 0x00}, "fp64", "SSE", 128, 2, 16},
    {"maxps xmm0, xmm1", {0x0f, 0x5f, 0xc1}, "fp32", "SSE", 128, 4, 0},
    {"rcpps xmm0, xmm1", {0x0f, 0x53, 0xc1}, "fp32", "SSE", 128, 4, 0},
    {"haddps xmm0, xmm1", {0xf2, 0x0f, 0x7c, 0xc1}, "fp32", "SSE", 128, 4, 0},
    {"dpps xmm0, xmm1, 0xff", {0x66, 0x0f, 0x3a, 0x40, 0xc1, 0xff}, "fp32", "SSE", 128, 8, 0},
    {"vsubpd ymm0, ymm1, [rax]", {0xc5, 0xf5, 0x5c, 0x00}, "fp64", "AVX", 256, 4, 32},
    {"vaddss xmm0, xmm1, xmm2", {0xc5, 0xf2, 0x58, 0xc2}, "fp32", "AVX", 0, 1, 0},
    {"vfmadd213pd ymm1, ymm2, [rsi+rax]", {0xc4, 0xe2, 0xed, 0xa8, 0x0c, 0x06}, "fp64", "FMA", 256, 8, 32},
    {"vfnmadd231ss xmm0, xmm1, xmm2", {0xc4, 0xe2, 0x71, 0xbd, 0xc2}, "fp32", "FMA", 0, 2, 0},
    {"vfmaddsub132ps xmm0, xmm1, xmm2", {0xc4, 0xe2, 0x71, 0x96, 0xc2}, "fp32", "FMA", 128, 8, 0},
    {"faddp st(1), st", {0xde, 0xc1}, "fp80", "x87", 0, 1, 0},
    {"fmul qword [rax]", {0xdc, 0x08}, "fp80", "x87", 0, 1, 8},
    // no FLOPs: comparisons, conversions, moves, signs by bits, integers
    {"ucomisd xmm0, xmm1", {0x66, 0x0f, 0x2e, 0xc1}, "", "", 0, 0, 0},
    {"cmpltps xmm0, xmm1", {0x0f, 0xc2, 0xc1, 0x01}, "", "", 0, 0, 0},
    {"cvtss2sd xmm0, xmm1", {0xf3, 0x0f, 0x5a, 0xc1}, "", "", 0, 0, 0},
    {"xorps xmm0, xmm1", {0x0f, 0x57, 0xc1}, "", "", 0, 0, 0},
    {"roundsd xmm0, xmm1, 1", {0x66, 0x0f, 0x3a, 0x0b, 0xc1, 0x01}, "", "", 0, 0, 0},
    {"paddd xmm0, xmm1", {0x66, 0x0f, 0xfe, 0xc1}, "", "", 0, 0, 0},
    {"fld qword [rax]", {0xdd, 0x00}, "", "", 0, 0, 8},
    {"movups [rax], xmm0", {0x0f, 0x11, 0x00}, "", "", 0, 0, 16},
    {"vmovupd ymm1, [rdx+rax]", {0xc5, 0xfd, 0x10, 0x0c, 0x02}, "", "", 0, 0, 32},
    {"add qword [rax], 1", {0x48, 0x83, 0x00, 0x01}, "", "", 0, 0, 16},
    {"lea rax, [rbx+8]", {0x48, 0x8d, 0x43, 0x08}, "", "", 0, 0, 0},
    {"nop dword [rax]", {0x0f, 0x1f, 0x00}, "", "", 0, 0, 0},
    {"prefetcht0 [rax]", {0x0f, 0x18, 0x08}, "", "", 0, 0, 0},
    {"push rbp", {0x55}, "", "", 0, 0, 8},
    {"ret", {0xc3}, "", "", 0, 0, 8},
};

}  // namespace

TEST_CASE("an instruction has the FLOPs and bytes of its definition")
{
    if (!missing_decoder().empty()) return skip(missing_decoder());
    for (const Case& one : cases) {
        INFO(one.assembler);
        const auto work = work_of(one.code);
        REQUIRE(work);
        CHECK(work->precision == one.precision);
        CHECK(work->instruction_set == one.set);
        CHECK(work->width == one.width);
        CHECK(work->flops == one.flops);
        CHECK(work->bytes == one.bytes);
    }
}

TEST_CASE("what a mask decides is unknown, and so is what is no instruction")
{
    if (!missing_decoder().empty()) return skip(missing_decoder());
    const std::array<std::uint8_t, 6> plain{0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2};   // vaddps zmm0, zmm1, zmm2
    const std::array<std::uint8_t, 6> masked{0x62, 0xf1, 0x74, 0x49, 0x58, 0xc2};  // the same with {k1}
    REQUIRE(work_of(plain));
    CHECK(work_of(plain)->flops == 16);
    CHECK(work_of(plain)->instruction_set == "AVX-512");
    CHECK_FALSE(work_of(masked));
    CHECK_FALSE(work_of(std::vector<std::uint8_t>{0x0f}));
    CHECK_FALSE(work_of({}));
    CHECK(instruction_name(plain) == "VADDPS (AVX512F)");
}

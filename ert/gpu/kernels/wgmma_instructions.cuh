// wgmma.mma_async of 64 x 128 sums: d += a * b or d -= a * b. `a` and `b` are descriptors of operands in shared memory.
// The instruction stands here once for each type of sum, because the assembler wants each of the 64 sums by name and
// the compiler wants their type; a format adds its own text to it.
#pragma once

#include "ert/gpu/kernels/wgmma.hpp"

#include <cstdint>

namespace roof::gpu {

/// `types`: k, and the types of the sums, a and b. `add`, `subtract`: keep the sums (1), then the factors of a and b.
struct WgmmaTf32 {
    using Sum = float;
    static constexpr char types[] = "k8.f32.tf32.tf32";
    static constexpr char add[] = "1, 1, 1";
    static constexpr char subtract[] = "1, -1, 1";
};
struct WgmmaE4m3 : WgmmaTf32 {
    static constexpr char types[] = "k32.f32.e4m3.e4m3";
};
struct WgmmaE5m2 : WgmmaTf32 {
    static constexpr char types[] = "k32.f32.e5m2.e5m2";
};
/// 16 bits: two zeros more, for operands that are not transposed.
struct WgmmaFp16 {
    using Sum = float;
    static constexpr char types[] = "k16.f32.f16.f16";
    static constexpr char add[] = "1, 1, 1, 0, 0";
    static constexpr char subtract[] = "1, -1, 1, 0, 0";
};
struct WgmmaBf16 : WgmmaFp16 {
    static constexpr char types[] = "k16.f32.bf16.bf16";
};
/// Has no factors, so both only add.
struct WgmmaInt8 {
    using Sum = std::int32_t;
    static constexpr char types[] = "k32.s32.s8.s8";
    static constexpr char add[] = "1";
    static constexpr char subtract[] = "1";
};

template <class Format, const auto& factors>
__device__ void wgmma(float (&d)[wgmma_sums], std::uint64_t a, std::uint64_t b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128%66 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
        "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63 "
        "}, %64, %65, %67;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
          "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
          "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
          "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "C"(Format::types), "C"(factors));
}

template <class Format, const auto& factors>
__device__ void wgmma(std::int32_t (&d)[wgmma_sums], std::uint64_t a, std::uint64_t b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128%66 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
        "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63 "
        "}, %64, %65, %67;"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
          "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
          "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
          "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]),
          "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]),
          "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
          "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]),
          "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
        : "l"(a), "l"(b), "C"(Format::types), "C"(factors));
}

}  // namespace roof::gpu

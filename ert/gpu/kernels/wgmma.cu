// wgmma: a block reads its operands once into shared memory. The loop has only the instructions counted. No two in a
// step are the same, because the assembler merges identical ones in a row.
#include "ert/gpu/kernels/wgmma.hpp"

#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/own_numbers.cuh"

#include <cstdint>

namespace roof::gpu {

/// `types`: k, and the types of the sums, a and b. `add`, `subtract`: keep the
/// sums (1), then the factors of a and b.
struct WgmmaTf32 {
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
    static constexpr char types[] = "k16.f32.f16.f16";
    static constexpr char add[] = "1, 1, 1, 0, 0";
    static constexpr char subtract[] = "1, -1, 1, 0, 0";
};
struct WgmmaBf16 : WgmmaFp16 {
    static constexpr char types[] = "k16.f32.bf16.bf16";
};
/// Has no factors, so both only add.
struct WgmmaInt8 {
    static constexpr char types[] = "k32.s32.s8.s8";
    static constexpr char add[] = "1";
    static constexpr char subtract[] = "1";
};

namespace {

// wgmma.mma_async of 64 x 128 sums: d += a * b or d -= a * b. `a` and `b` are descriptors of operands in shared memory.
// The assembler wants each of the 64 sums by name. They are registers of 32 bits here, whatever their type, so that the
// instruction stands here once; a format adds its own text to it.
template <class Format, const auto& factors>
__device__ void wgmma(std::uint32_t (&d)[wgmma_sums], std::uint64_t a, std::uint64_t b)
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

/// Keeps the compiler from moving work on the sums past this place.
__device__ void hold(std::uint32_t (&sums)[wgmma_sums])
{
#pragma unroll
    for (int i = 0; i < wgmma_sums; ++i) asm volatile("" : "+r"(sums[i])::"memory");
}

template <class Format, const auto& factors>
__device__ void along_k(std::uint32_t (&sums)[wgmma_sums], unsigned a, unsigned b)
{
#pragma unroll
    for (int k = 0; k < wgmma_k_steps; ++k) {
        constexpr int step = wgmma_k_bytes / core_row_bytes * core_bytes;
        wgmma<Format, factors>(sums, wgmma_descriptor(a + k * step), wgmma_descriptor(b + k * step));
    }
}

template <class Format>
__global__ void __launch_bounds__(wgmma_threads) wgmma_kernel(WgmmaLaunch launch)
{
    __shared__ alignas(1024) uint4 operands[wgmma_operand_bytes / sizeof(uint4)];
    const ClockSpan span;
    const auto* from = static_cast<const uint4*>(launch.operands);
    for_own_numbers<wgmma_threads, sizeof(operands) / sizeof(uint4)>([&](unsigned i) { operands[i] = from[i]; });
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    const auto a = static_cast<unsigned>(__cvta_generic_to_shared(operands));
    const unsigned b = a + wgmma_factors * wgmma_a_bytes;
    std::uint32_t sums[wgmma_sums] = {};
    hold(sums);
#pragma unroll 1
    for (int step = 0; step < launch.steps; ++step) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        along_k<Format, Format::add>(sums, a, b);
        along_k<Format, Format::subtract>(sums, a + wgmma_a_bytes, b);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    hold(sums);

    auto* to =
        static_cast<std::uint32_t*>(launch.sums) + (std::size_t(blockIdx.x) * wgmma_threads + threadIdx.x) * wgmma_sums;
#pragma unroll
    for (int i = 0; i < wgmma_sums; ++i) to[i] = sums[i];
    span.end(launch.reading);
}

}  // namespace

Kernel<WgmmaLaunch> wgmma_kernel_of(TensorFormat instruction)
{
    constexpr void (*kernels[])(WgmmaLaunch){wgmma_kernel<WgmmaTf32>, wgmma_kernel<WgmmaFp16>, wgmma_kernel<WgmmaBf16>,
                                             wgmma_kernel<WgmmaInt8>, wgmma_kernel<WgmmaE4m3>, wgmma_kernel<WgmmaE5m2>};
    return {kernels[static_cast<unsigned>(instruction) - static_cast<unsigned>(TensorFormat::tf32)], wgmma_threads};
}

}  // namespace roof::gpu

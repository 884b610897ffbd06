// wgmma: a block reads its operands once into shared memory. The loop has only the instructions counted. No two in a
// step are the same, because the assembler merges identical ones in a row.
#include "ert/gpu/kernels/wgmma.hpp"

#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/launch.cuh"
#include "ert/gpu/kernels/wgmma_instructions.cuh"

namespace roof::gpu {

namespace {

/// Keeps the compiler from moving work on the sums past this place.
template <int registers>
__device__ void hold(std::uint32_t (&sums)[registers])
{
#pragma unroll
    for (int i = 0; i < registers; ++i) asm volatile("" : "+r"(sums[i])::"memory");
}

template <class Format, const auto& factors>
__device__ void along_k(std::uint32_t (&sums)[Format::registers], unsigned a, unsigned b)
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
    for (unsigned i = threadIdx.x; i < sizeof(operands) / sizeof(uint4); i += wgmma_threads) operands[i] = from[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    const auto a = static_cast<unsigned>(__cvta_generic_to_shared(operands));
    const unsigned b = a + wgmma_factors * wgmma_a_bytes;
    std::uint32_t sums[Format::registers] = {};
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

    auto* to = static_cast<std::uint32_t*>(launch.sums) +
               (std::size_t(blockIdx.x) * wgmma_threads + threadIdx.x) * Format::registers;
#pragma unroll
    for (int i = 0; i < Format::registers; ++i) to[i] = sums[i];
    span.end(launch.reading);
}

using Kernel = void (*)(WgmmaLaunch);

Kernel kernel_of(Wgmma instruction)
{
    switch (instruction) {
        case Wgmma::tf32:
            return wgmma_kernel<WgmmaTf32>;
        case Wgmma::fp16:
            return wgmma_kernel<WgmmaFp16>;
        case Wgmma::bf16:
            return wgmma_kernel<WgmmaBf16>;
        case Wgmma::int8:
            return wgmma_kernel<WgmmaInt8>;
        case Wgmma::e4m3:
            return wgmma_kernel<WgmmaE4m3>;
        case Wgmma::e5m2:
            return wgmma_kernel<WgmmaE5m2>;
        case Wgmma::fp16_sums:
            return wgmma_kernel<WgmmaFp16Sums>;
    }
    return nullptr;
}

}  // namespace

void enqueue_wgmma(Wgmma instruction, const WgmmaLaunch& launch, cudaStream_t stream)
{
    enqueue_kernel(kernel_of(instruction), launch, wgmma_threads, stream);
}

int resident_wgmma_blocks(Wgmma instruction)
{
    return resident_blocks(kernel_of(instruction), wgmma_threads);
}

}  // namespace roof::gpu

// tcgen05 of two blocks: a pair of multiprocessors multiplies 256 x k by k x 256. Each block has half of the rows of A,
// half of the columns of B and the sums of its rows; one thread of the first block begins the products of both.
#include "ert/gpu/kernels/tcgen05_kernel.cuh"

namespace roof::gpu {

namespace {

template <TensorFormat format>
__global__ void __launch_bounds__(tcgen05_threads, 1) tcgen05_pair_kernel(WgmmaLaunch launch)
{
    extern __shared__ __align__(1024) uint4 operands[];
    __shared__ unsigned long long barriers[3];
    __shared__ unsigned place;
    const ClockSpan span;
    const unsigned rank = rank_in_cluster();
    constexpr unsigned vectors = tcgen05_a_bytes / sizeof(uint4);  // of the half of an operand that a block has
    const auto* from = static_cast<const uint4*>(launch.operands) + rank * vectors;
    for_own_numbers<tcgen05_threads, vectors>([&](unsigned i) {
#pragma unroll
        for (unsigned operand = 0; operand < wgmma_factors + 1; ++operand)
            operands[operand * vectors + i] = from[operand * 2 * vectors + i];
    });
    const unsigned barrier = address_of(barriers);
    set_up<2, tcgen05_n>(&place, barrier, 3);
    meet<2>();
    const unsigned sums = place;
    if (threadIdx.x == 0) {
        if (rank == 0) {
            constexpr unsigned short both = 3;
            all_steps<format, 2>(sums, address_of(operands), barrier, launch.steps);
            // The last barrier, in both blocks, completes when all is done.
            asm volatile(
                "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::
                    "r"(barrier + 16),
                "h"(both)
                : "memory");
        }
        wait(barrier + 16, 0);
    }
    meet<1>();
    write_sums(sums, static_cast<unsigned*>(launch.sums) + std::size_t(blockIdx.x) * tcgen05_m * tcgen05_n);
    meet<2>();
    free_columns<2, tcgen05_n>(sums);
    span.end(launch.reading);
}

}  // namespace

Kernel<WgmmaLaunch> tcgen05_pair_kernel_of(TensorFormat format)
{
    const auto kernel = format == TensorFormat::tf32   ? tcgen05_pair_kernel<TensorFormat::tf32>
                        : format == TensorFormat::fp16 ? tcgen05_pair_kernel<TensorFormat::fp16>
                        : format == TensorFormat::bf16 ? tcgen05_pair_kernel<TensorFormat::bf16>
                                                       : tcgen05_pair_kernel<TensorFormat::e4m3>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, tcgen05_pair_operand_bytes));
    return {kernel, tcgen05_threads, tcgen05_pair_operand_bytes, 2};
}

}  // namespace roof::gpu

// tcgen05 of two blocks: a pair of multiprocessors multiplies 256 x k by k x 256. Each block has half of the rows of A,
// half of the columns of B and the sums of its rows; one thread of the first block begins the products of both.
#include "ert/gpu/kernels/cluster.cuh"
#include "ert/gpu/kernels/tcgen05_kernel.cuh"

namespace roof::gpu {

namespace {

template <TensorFormat format>
__device__ void multiply_add_of_pair(unsigned sums, unsigned long long a, unsigned long long b, unsigned instruction,
                                     int keeps)
{
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::2.kind::%5 [%0], %1, %2, %3, p; }" ::"r"(sums),
        "l"(a), "l"(b), "r"(instruction), "r"(keeps), "C"(Kind<format>::name)
        : "memory");
}

template <TensorFormat format>
__device__ void one_step_of_pair(unsigned sums, unsigned a, bool is_first)
{
    const unsigned b = a + wgmma_factors * tcgen05_a_bytes;
#pragma unroll
    for (int i = 0; i < wgmma_instructions; ++i) {
        constexpr unsigned step = wgmma_k_bytes / core_row_bytes * core_bytes;
        const bool is_second = i >= wgmma_k_steps;
        const unsigned along = static_cast<unsigned>(i % wgmma_k_steps) * step;
        multiply_add_of_pair<format>(
            sums, tcgen05_descriptor(a + (is_second ? tcgen05_a_bytes : 0) + along), tcgen05_descriptor(b + along),
            tcgen05_pair_instruction(format, is_second && !is_added(format)), !is_first || i > 0);
    }
}

__device__ void commit_of_pair(unsigned barrier)
{
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
                 : "memory");
}

/// Steps alternate between two barriers of the first block; the last one, in both blocks, completes when all is done.
template <TensorFormat format>
__device__ void all_steps_of_pair(unsigned sums, unsigned a, unsigned barriers, int steps)
{
    constexpr unsigned short both = 3;
    const auto barrier_of = [barriers](int step) { return barriers + static_cast<unsigned>(step & 1) * 8; };
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        one_step_of_pair<format>(sums, a, step == 0);
        commit_of_pair(barrier_of(step));
        if (step > 0) wait(barrier_of(step - 1), step - 1);
    }
    asm volatile(
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
            barriers + 16),
        "h"(both)
        : "memory");
}

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
    const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(barriers));
    if (threadIdx.x < 32) {
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                         static_cast<unsigned>(__cvta_generic_to_shared(&place))),
                     "n"(tcgen05_n)
                     : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
    }
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < 3; ++i)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier + i * 8) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    meet_cluster();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    const unsigned sums = place;
    if (threadIdx.x == 0) {
        if (rank == 0)
            all_steps_of_pair<format>(sums, static_cast<unsigned>(__cvta_generic_to_shared(operands)), barrier,
                                      launch.steps);
        wait(barrier + 16, 0);
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    write_sums(sums, static_cast<unsigned*>(launch.sums) + std::size_t(blockIdx.x) * tcgen05_m * tcgen05_n);
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    meet_cluster();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(sums), "n"(tcgen05_n) : "memory");
    span.end(launch.reading);
}

Tcgen05Kernel kernel_of_pair(TensorFormat format)
{
    const auto kernel = format == TensorFormat::tf32   ? tcgen05_pair_kernel<TensorFormat::tf32>
                        : format == TensorFormat::fp16 ? tcgen05_pair_kernel<TensorFormat::fp16>
                        : format == TensorFormat::bf16 ? tcgen05_pair_kernel<TensorFormat::bf16>
                                                       : tcgen05_pair_kernel<TensorFormat::e4m3>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, tcgen05_pair_operand_bytes));
    return kernel;
}

}  // namespace

void enqueue_tcgen05_pairs(TensorFormat format, const WgmmaLaunch& launch, cudaStream_t stream)
{
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t configuration =
        in_clusters(2 * launch.blocks, 2, tcgen05_threads, tcgen05_pair_operand_bytes, stream, attribute);
    check(cudaLaunchKernelEx(&configuration, kernel_of_pair(format), launch));
}

int resident_tcgen05_pairs(TensorFormat format)
{
    return resident_clusters_of(kernel_of_pair(format), 2, tcgen05_threads, tcgen05_pair_operand_bytes);
}

}  // namespace roof::gpu

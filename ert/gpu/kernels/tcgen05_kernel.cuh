// tcgen05: a block, or a pair of blocks (`blocks` is 2), reads its operands once into shared memory. The loop has only
// the instructions counted, and a wait for those of the previous step, so that some are always in flight.
#pragma once

#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/cluster.cuh"
#include "ert/gpu/kernels/own_numbers.cuh"
#include "ert/gpu/kernels/tcgen05.hpp"

namespace roof::gpu {

namespace {

/// The kind of the instruction for a format.
template <TensorFormat format>
struct InstructionKind {
    static constexpr char name[] = "f8f6f4";
};
template <>
struct InstructionKind<TensorFormat::tf32> {
    static constexpr char name[] = "tf32";
};
template <>
struct InstructionKind<TensorFormat::fp16> {
    static constexpr char name[] = "f16";
};
template <>
struct InstructionKind<TensorFormat::bf16> : InstructionKind<TensorFormat::fp16> {
};
template <>
struct InstructionKind<TensorFormat::int8> {
    static constexpr char name[] = "i8";
};

/// `keeps`: adds to the sums; else replaces them.
template <TensorFormat format, int blocks>
__device__ void multiply_add(unsigned sums, unsigned long long a, unsigned long long b, unsigned instruction, int keeps)
{
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::%6.kind::%5 [%0], %1, %2, %3, p; }" ::"r"(sums),
        "l"(a), "l"(b), "r"(instruction), "r"(keeps), "C"(InstructionKind<format>::name), "n"(blocks)
        : "memory");
}

template <>
struct InstructionKind<TensorFormat::mxfp8> {
    static constexpr char name[] = "mxf8f6f4.block_scale.scale_vec::1X";
};
template <>
struct InstructionKind<TensorFormat::mxfp4> {
    static constexpr char name[] = "mxf4.block_scale.scale_vec::2X";
};
template <>
struct InstructionKind<TensorFormat::nvfp4> {
    static constexpr char name[] = "mxf4nvf4.block_scale.scale_vec::4X";
};

/// The same with the scales of both operands.
template <TensorFormat format>
__device__ void multiply_add(unsigned sums, unsigned long long a, unsigned long long b, unsigned instruction,
                             unsigned scales_of_a, unsigned scales_of_b, int keeps)
{
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %6, 0; tcgen05.mma.cta_group::1.kind::%7 [%0], %1, %2, %3, [%4], [%5], p; }" ::
            "r"(sums),
        "l"(a), "l"(b), "r"(instruction), "r"(scales_of_a), "r"(scales_of_b), "r"(keeps),
        "C"(InstructionKind<format>::name)
        : "memory");
}

template <TensorFormat format, int blocks>
__device__ void one_step(unsigned sums, unsigned a, bool is_first)
{
    const unsigned b = a + wgmma_factors * tcgen05_a_bytes;
#pragma unroll
    for (int i = 0; i < wgmma_instructions; ++i) {
        constexpr unsigned step = wgmma_k_bytes / core_row_bytes * core_bytes;
        const bool is_second = i >= wgmma_k_steps;
        const bool is_less = is_second && !is_added(format);
        const unsigned along = static_cast<unsigned>(i % wgmma_k_steps) * step;
        const unsigned long long of_a = tcgen05_descriptor(a + (is_second ? tcgen05_a_bytes : 0) + along);
        const unsigned long long of_b = tcgen05_descriptor(b + along);
        const unsigned what = blocks == 2 ? tcgen05_pair_instruction(format, is_less)
                                          : tcgen05_instruction(format, is_less, i % wgmma_k_steps);
        const bool keeps = !is_first || i > 0;
        if constexpr (scales_of_row(format) == 0) {
            multiply_add<format, blocks>(sums, of_a, of_b, what, keeps);
        } else {
            constexpr int groups = scales_of_row(format) / scales_of_word;
            const auto group = static_cast<unsigned>(i % wgmma_k_steps * groups / wgmma_k_steps);
            const unsigned scales = sums + tcgen05_n;
            multiply_add<format>(sums, of_a, of_b, what, scales + group * scale_columns_of_a,
                                 scales + groups * scale_columns_of_a + group * scale_columns_of_b, keeps);
        }
    }
}

/// The barrier completes when all instructions issued so far are done.
template <int blocks>
__device__ void commit(unsigned barrier)
{
    asm volatile("tcgen05.commit.cta_group::%1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier),
                 "n"(blocks)
                 : "memory");
}

__device__ bool is_done(unsigned barrier, unsigned parity)
{
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return done != 0;
}

/// Fails after five seconds: a kernel that never ends would block the whole card.
__device__ void wait(unsigned barrier, int step)
{
    constexpr unsigned long long max_nanoseconds = 5'000'000'000;
    const unsigned parity = static_cast<unsigned>(step / 2) & 1;
    if (is_done(barrier, parity)) return;
    const unsigned long long begin = nanosecond();
    while (!is_done(barrier, parity)) {
        if (nanosecond() - begin > max_nanoseconds) asm volatile("trap;");
    }
}

/// Steps alternate between two barriers.
template <TensorFormat format, int blocks>
__device__ void all_steps(unsigned sums, unsigned a, unsigned barriers, int steps)
{
    const auto barrier_of = [barriers](int step) { return barriers + static_cast<unsigned>(step & 1) * 8; };
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        one_step<format, blocks>(sums, a, step == 0);
        commit<blocks>(barrier_of(step));
        if (step > 0) wait(barrier_of(step - 1), step - 1);
    }
    if constexpr (blocks == 1) wait(barrier_of(steps - 1), steps - 1);
}

__device__ unsigned address_of(const void* shared)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// `columns` of tensor memory, whose address goes to `place`, and barriers; both are there once the threads have met.
template <int blocks, int columns>
__device__ void set_up(unsigned* place, unsigned barriers, unsigned count)
{
    if (threadIdx.x < 32) {
        asm volatile("tcgen05.alloc.cta_group::%2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address_of(place)),
                     "n"(columns), "n"(blocks)
                     : "memory");
        // Lets the other block of the multiprocessor allocate while this one runs.
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::%0.sync.aligned;" ::"n"(blocks) : "memory");
    }
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < count; ++i)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers + i * 8) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// All threads meet, and see what the others did to tensor memory before.
template <int blocks>
__device__ void meet()
{
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if constexpr (blocks == 2) meet_cluster();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

template <int blocks, int columns>
__device__ void free_columns(unsigned sums)
{
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::%2.sync.aligned.b32 %0, %1;" ::"r"(sums), "n"(columns), "n"(blocks)
                     : "memory");
}

/// Each warp stores them in its own lanes.
template <TensorFormat format>
__device__ void store_scales(unsigned sums, const unsigned* from)
{
    const unsigned lanes = sums + tcgen05_n + (threadIdx.x / 32 * 32 << 16);
#pragma unroll 1
    for (unsigned column = 0; column < scale_columns(format); ++column)
        asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(lanes + column),
                     "r"(from[column * 32 + threadIdx.x % 32])
                     : "memory");
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

/// Each warp writes its 32 rows, each thread one of them.
__device__ void write_sums(unsigned sums, unsigned* to)
{
    const unsigned warp = threadIdx.x / 32;
    unsigned* const row = to + std::size_t(threadIdx.x) * tcgen05_n;
#pragma unroll 1
    for (unsigned column = 0; column < tcgen05_n; column += 4) {
        unsigned found[4];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(found[0]), "=r"(found[1]), "=r"(found[2]), "=r"(found[3])
                     : "r"(sums + (warp * 32 << 16) + column)
                     : "memory");
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 4; ++i) row[column + i] = found[i];
    }
}

/// Two blocks to a multiprocessor: without the second bound, ptxas 13.0 keeps to 32 registers and spills.
template <TensorFormat format>
__global__ void __launch_bounds__(tcgen05_threads, 2) tcgen05_kernel(WgmmaLaunch launch)
{
    extern __shared__ __align__(1024) uint4 operands[];
    __shared__ unsigned long long barriers[2];
    __shared__ unsigned place;
    const ClockSpan span;
    const auto* from = static_cast<const uint4*>(launch.operands);
    for_own_numbers<tcgen05_threads, tcgen05_operand_bytes / sizeof(uint4)>([&](unsigned i) { operands[i] = from[i]; });
    const unsigned barrier = address_of(barriers);
    set_up<1, tcgen05_columns(format)>(&place, barrier, 2);
    meet<1>();
    const unsigned sums = place;
    if constexpr (scales_of_row(format) != 0) {
        store_scales<format>(sums,
                             static_cast<const unsigned*>(launch.operands) + tcgen05_operand_bytes / sizeof(unsigned));
        meet<1>();
    }

    if (threadIdx.x == 0) all_steps<format, 1>(sums, address_of(operands), barrier, launch.steps);
    meet<1>();
    write_sums(sums, static_cast<unsigned*>(launch.sums) + std::size_t(blockIdx.x) * tcgen05_m * tcgen05_n);
    meet<1>();
    free_columns<1, tcgen05_columns(format)>(sums);
    span.end(launch.reading);
}

}  // namespace

/// Compute capability 10.3 has none, so it stands in an object of its own.
Tcgen05Kernel tcgen05_int8_kernel();

}  // namespace roof::gpu

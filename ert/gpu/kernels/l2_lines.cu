// Loads past the L1, each from where the load before says, by one thread of one multiprocessor, or of each; the other
// blocks end at once.
#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/l2_lines.hpp"
#include "ert/gpu/kernels/multiprocessor.cuh"

namespace roof::gpu {

namespace {

/// Of all blocks, whether this is the first to come on the multiprocessor wanted.
__device__ bool takes(const Seat& seat)
{
    return multiprocessor_here() == seat.multiprocessor && atomicMax(seat.taken, seat.ticket) < seat.ticket;
}

__device__ void go_on(const std::byte*& at)
{
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
}

__device__ unsigned cycles_now()
{
    unsigned cycles;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
    return cycles;
}

/// 0 where the line does not hold its own address: what is loaded must be used, or the assembler leaves the loads out.
/// Of the last load the clock may be read before it ends; it is so for all lines, and only their differences matter.
__device__ unsigned cycles_of(const std::byte* line)
{
    const std::byte* at = line;
    go_on(at);
    const unsigned begin = cycles_now();
#pragma unroll
    for (int i = 0; i < l2_loads; ++i) go_on(at);
    const unsigned cycles = cycles_now() - begin;
    return at == line ? cycles : 0;
}

/// `cycles[line]` of lines `stride` bytes apart: the least of all rounds.
__device__ void time_lines(const std::byte* lines, int count, std::size_t stride, std::uint32_t* cycles)
{
#pragma unroll 1
    for (int line = 0; line < count; ++line) {
        unsigned least = ~0U;
#pragma unroll 1
        for (int round = 0; round < l2_rounds; ++round) least = min(least, cycles_of(lines + line * stride));
        cycles[line] = least;
    }
}

__global__ void distance_kernel(DistanceLaunch launch)
{
    if (takes(launch.seat)) time_lines(launch.lines, l2_lines, l2_stride, launch.cycles);
}

__global__ void pool_kernel(PoolLaunch launch)
{
    const unsigned here = multiprocessor_here();
    if (here >= launch.multiprocessors || atomicMax(launch.taken + here, launch.ticket) >= launch.ticket) return;
    time_lines(launch.lines, pool_lines, pool_line, launch.cycles + here * pool_lines);
}

__global__ void l2_chase_kernel(L2ChaseLaunch launch)
{
    if (!takes(launch.seat)) return;
    const ClockSpan span;
    const std::byte* at = *launch.place;
#pragma unroll 1
    for (int i = 0; i < launch.iterations; ++i) {
#pragma unroll
        for (int load = 0; load < l2_loads; ++load) go_on(at);
    }
    *launch.place = at;
    span.tell(launch.reading);
}

}  // namespace

void enqueue_distances(const DistanceLaunch& launch, cudaStream_t stream)
{
    distance_kernel<<<launch.blocks, 1, 0, stream>>>(launch);
    check(cudaGetLastError());
}

void enqueue_pool_distances(const PoolLaunch& launch, cudaStream_t stream)
{
    pool_kernel<<<launch.blocks, 1, 0, stream>>>(launch);
    check(cudaGetLastError());
}

void enqueue_l2_chase(const L2ChaseLaunch& launch, cudaStream_t stream)
{
    l2_chase_kernel<<<launch.blocks, 1, 0, stream>>>(launch);
    check(cudaGetLastError());
}

}  // namespace roof::gpu

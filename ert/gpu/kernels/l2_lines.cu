// Accesses to lines of the L2, each at the address that the access before found, by one thread of one multiprocessor, or of each; the other
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

/// By an atomic that changes nothing: only a line's home answers it. A load would find the copy of a far line that the near partition
/// keeps: on an H100 all lines are then near.
__device__ void go_on(const std::byte*& at)
{
    asm volatile("atom.global.or.b64 %0, [%0], 0;" : "+l"(at)::"memory");
}

__device__ unsigned cycles_now()
{
    unsigned cycles;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
    return cycles;
}

/// Cycles of l2_loads accesses, each where the one before says; 0 where the line does not hold its own address. The assembler moves a
/// reading of the clock across accesses that do not depend on it. So the first timed address depends on the first reading (`zero` is 0,
/// which the assembler cannot know), and each reading is taken only if the access before it found what it should.
__device__ unsigned cycles_of(const std::byte* line, unsigned zero)
{
    const std::byte* at = line;
    go_on(at);
    if (at != line) return 0;
    const unsigned begin = cycles_now();
    at += begin & zero;
#pragma unroll
    for (int i = 0; i < l2_loads; ++i) go_on(at);
    if (at != line) return 0;
    return cycles_now() - begin;
}

/// `cycles[line]` of lines `stride` bytes apart: the least of all rounds.
__device__ void time_lines(const std::byte* lines, int count, std::size_t stride, std::uint32_t* cycles, unsigned zero)
{
#pragma unroll 1
    for (int line = 0; line < count; ++line) {
        unsigned least = ~0U;
#pragma unroll 1
        for (int round = 0; round < l2_rounds; ++round) least = min(least, cycles_of(lines + line * stride, zero));
        cycles[line] = least;
    }
}

__global__ void distance_kernel(DistanceLaunch launch)
{
    if (takes(launch.seat)) time_lines(launch.lines, l2_lines, l2_stride, launch.cycles, launch.zero);
}

__global__ void pool_kernel(PoolLaunch launch)
{
    const unsigned here = multiprocessor_here();
    if (here >= launch.multiprocessors || atomicMax(launch.taken + here, launch.ticket) >= launch.ticket) return;
    time_lines(launch.lines, pool_lines, pool_line, launch.cycles + here * pool_lines, launch.zero);
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
    span.end(launch.reading);
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

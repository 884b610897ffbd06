// One thread of one multiprocessor, or of each, accesses lines of the L2, each at the address that the previous access
// returned. The other blocks end at once.
#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/l2_lines.hpp"
#include "ert/gpu/kernels/launch.cuh"

namespace roof::gpu {

namespace {

/// Whether this block is the first to arrive on the chosen multiprocessor.
__device__ bool is_leader(const LeaderElection& election)
{
    return multiprocessor_here() == election.multiprocessor &&
           atomicMax(election.last_number, election.number) < election.number;
}

/// Uses an atomic that changes nothing, because only the home of a line answers it. A load could read the copy that the
/// near partition keeps of a far line; on an H100 all lines are then near.
__device__ void follow(const std::byte*& at)
{
    asm volatile("atom.global.or.b64 %0, [%0], 0;" : "+l"(at)::"memory");
}

__device__ unsigned cycles_now()
{
    unsigned cycles;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
    return cycles;
}

/// Cycles of l2_loads accesses, each at the address that the previous one returned; 0 if the line does not contain its
/// own address. The assembler moves a reading of the clock across accesses that do not depend on it. So the first timed
/// address depends on the first reading (`zero` is 0, which the assembler does not know), and each reading depends on
/// the access before it.
__device__ unsigned cycles_of(const std::byte* line, unsigned zero)
{
    const std::byte* at = line;
    follow(at);
    if (at != line) return 0;
    const unsigned begin = cycles_now();
    at += begin & zero;
#pragma unroll
    for (int i = 0; i < l2_loads; ++i) follow(at);
    if (at != line) return 0;
    return cycles_now() - begin;
}

/// `cycles[line]` for lines `stride` bytes apart: the minimum over all rounds.
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
    if (is_leader(launch.election)) time_lines(launch.lines, l2_lines, l2_stride, launch.cycles, launch.zero);
}

__global__ void pool_kernel(PoolLaunch launch)
{
    const unsigned here = multiprocessor_here();
    if (here >= launch.multiprocessors || atomicMax(launch.last_number + here, launch.number) >= launch.number) return;
    time_lines(launch.lines, pool_lines, pool_line, launch.cycles + here * pool_lines, launch.zero);
}

__global__ void l2_chase_kernel(L2ChaseLaunch launch)
{
    if (!is_leader(launch.election)) return;
    const ClockSpan span;
    const std::byte* at = *launch.place;
#pragma unroll 1
    for (int i = 0; i < launch.iterations; ++i) {
#pragma unroll
        for (int load = 0; load < l2_loads; ++load) follow(at);
    }
    *launch.place = at;
    span.end(launch.reading);
}

}  // namespace

void enqueue_distances(const DistanceLaunch& launch, cudaStream_t stream)
{
    enqueue_kernel(distance_kernel, launch, 1, stream);
}

void enqueue_pool_distances(const PoolLaunch& launch, cudaStream_t stream)
{
    enqueue_kernel(pool_kernel, launch, 1, stream);
}

void enqueue_l2_chase(const L2ChaseLaunch& launch, cudaStream_t stream)
{
    enqueue_kernel(l2_chase_kernel, launch, 1, stream);
}

}  // namespace roof::gpu

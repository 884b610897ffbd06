// Loads of whole lines by a list. Eight threads share a line, and each thread has four loads in flight.
#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/launch.cuh"
#include "ert/gpu/kernels/partition.hpp"

namespace roof::gpu {

namespace {

constexpr int loads_of_pass = partition_lines / lines_at_once;

/// Past the L1. Volatile, so that every pass reads again.
__device__ uint4 read(const std::byte* from)
{
    uint4 value;
    asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(from));
    return value;
}

/// The side that this block runs on, or -1 if it is unknown.
__device__ int side_here(const PartitionLaunch& launch)
{
    const unsigned here = multiprocessor_here();
    return here < launch.multiprocessors ? launch.sides[here] : -1;
}

/// Reads the list of the wanted side: offsets of its lines in the pool, in bytes.
__device__ void read_list(const PartitionLaunch& launch, int side, std::uint32_t* offsets)
{
    const int wanted = launch.is_far ? 1 - side : side;
    const std::uint32_t* const list = launch.lists + (side < 0 ? 0 : wanted) * partition_lines;
#pragma unroll 1
    for (int i = threadIdx.x; i < partition_lines; i += partition_threads) offsets[i] = list[i] * partition_line;
    __syncthreads();
}

__global__ void __launch_bounds__(partition_threads, 1024 / partition_threads) partition_kernel(PartitionLaunch launch)
{
    __shared__ std::uint32_t offsets[partition_lines];
    const ClockSpan span;
    const int side = side_here(launch);
    read_list(launch, side, offsets);
    const std::byte* const part = launch.lines + threadIdx.x % threads_of_line * 16;
    std::uint32_t sum = 0;
#pragma unroll 1
    for (int pass = 0; pass < launch.passes; ++pass) {
#pragma unroll 1
        for (int load = 0; load < loads_of_pass; load += partition_unroll) {
            uint4 x[partition_unroll];
#pragma unroll
            for (int k = 0; k < partition_unroll; ++k)
                x[k] = read(part + offsets[launch.is_apart ? own_place_in_list(blockIdx.x, threadIdx.x)
                                                           : place_in_list(blockIdx.x, load + k, threadIdx.x)]);
#pragma unroll
            for (int k = 0; k < partition_unroll; ++k) sum += x[k].x + x[k].y + x[k].z + x[k].w;
        }
    }
    launch.sums[blockIdx.x * partition_threads + threadIdx.x] = sum;
    if (threadIdx.x == 0) launch.block_sides[blockIdx.x] = side;
    span.end(launch.reading);
}

}  // namespace

void enqueue_partition(const PartitionLaunch& launch, cudaStream_t stream)
{
    enqueue_kernel(partition_kernel, launch, partition_threads, stream);
}

int resident_partition_blocks()
{
    return resident_blocks(partition_kernel, partition_threads);
}

}  // namespace roof::gpu

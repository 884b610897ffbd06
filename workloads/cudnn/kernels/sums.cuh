// Sums over threads: of a block, and per channel over all positions of a map. There a block sums a slab of rows for
// some channels, and the last block sums the slabs in order, so that results are bitwise reproducible in one launch.
#pragma once

#include "workloads/cudnn/kernels/vectors.cuh"
#include "workloads/engine/ir/memory.hpp"

namespace roof::cudnn {

/// What another block wrote, past the L1. clang's headers have no __ldcg of a float.
inline __device__ float load_past_l1(const float* from)
{
    float value;
    asm("ld.global.cg.f32 %0, [%1];" : "=f"(value) : "l"(from));
    return value;
}

/// Combines the values of `count` threads, a power of two, whose places in `shared` are neighbours; returns the result
/// to all of them. All threads of the block call it.
template <class Number, class Join>
__device__ Number join(Number value, Number* shared, unsigned place, unsigned count, Join both)
{
    __syncthreads();
    shared[place] = value;
    const unsigned within = place % count;
    for (unsigned half = count / 2; half > 0; half /= 2) {
        __syncthreads();
        if (within < half) shared[place] = both(shared[place], shared[place + half]);
    }
    __syncthreads();
    return shared[place - within];
}

/// Sums of a vector's channels, `parts` for each.
template <int width, int parts>
struct Totals {
    float of[parts][width] = {};
};

/// Sums over the lines of a block. The first line gets the result.
template <unsigned threads, int width, int parts>
__device__ void sum_lines(Totals<width, parts>& sums, float* shared)
{
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
#pragma unroll
        for (int i = 0; i < width * parts; ++i)
            shared[static_cast<unsigned>(i) * threads + thread] = sums.of[i / width][i % width];
        __syncthreads();
        if (threadIdx.y < half) {
#pragma unroll
            for (int i = 0; i < width * parts; ++i)
                sums.of[i / width][i % width] +=
                    shared[static_cast<unsigned>(i) * threads + thread + half * blockDim.x];
        }
        __syncthreads();
    }
}

/// On each of some 130 multiprocessors: slabs_of() makes about 256 blocks.
constexpr int blocks_each = 2;

/// Returns true in the last block of its column that calls it. That block sees the writes of the others.
inline __device__ bool is_last(unsigned* counters)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        last = atomicAdd(counters + blockIdx.x, 1U) == gridDim.y - 1;
        if (last) counters[blockIdx.x] = 0;
    }
    __syncthreads();
    if (last) __threadfence();
    return last;
}

/// Calls body.add(numbers, place, fetched, sums) for all rows, with numbers = body.of_channels(column) and fetched =
/// body.fetch_at(place), and body.finish(channel, sums) once per channel.
template <int width, class Body>
__global__ void __launch_bounds__(Body::threads, blocks_each)
    sum_rows(Body body, std::uint32_t rows, std::uint32_t vectors_per_row, float* partial, unsigned* counters)
{
    constexpr int numbers_each = width * Body::parts;
    __shared__ float shared[numbers_each * Body::threads];
    const std::uint32_t column = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_there = column < vectors_per_row;
    Totals<width, Body::parts> sums;
    if (is_there) {
        const auto numbers = body.of_channels(column);
        walk_rows<true>(body, rows, column, vectors_per_row,
                        [&](const Place& place, const auto& fetched) { body.add(numbers, place, fetched, sums); });
    }
    sum_lines<Body::threads>(sums, shared);
    // Threads side by side write and read numbers side by side.
    const auto place_of = [=](unsigned slab, int i) {
        return (std::size_t{slab} * numbers_each + static_cast<unsigned>(i)) * vectors_per_row + column;
    };
    if (is_there && threadIdx.y == 0) {
#pragma unroll
        for (int i = 0; i < numbers_each; ++i) partial[place_of(blockIdx.y, i)] = sums.of[i / width][i % width];
    }
    if (!is_last(counters)) return;

    Totals<width, Body::parts> totals;
#pragma unroll 1
    for (unsigned slab = threadIdx.y; is_there && slab < gridDim.y; slab += blockDim.y) {
#pragma unroll
        for (int i = 0; i < numbers_each; ++i)
            totals.of[i / width][i % width] += load_past_l1(partial + place_of(slab, i));
    }
    sum_lines<Body::threads>(totals, shared);
    if (is_there && threadIdx.y == 0) {
#pragma unroll
        for (int i = 0; i < width; ++i) body.finish(column * width + static_cast<std::uint32_t>(i), totals, i);
    }
}

template <int width, class Body>
void launch_sums(const Tensor& summed, const Body& body, const Tensor& partial, const Memory& memory,
                 cudaStream_t stream)
{
    // Few columns: many last blocks, each with few slabs.
    constexpr unsigned most_columns = 8;
    const Columns cut = columns_for(summed, width, Body::threads, most_columns);
    if (cut.column_blocks > Memory::counters_there)
        throw Unsupported("a layer has too many channels for the sums of this engine");
    const auto slabs = static_cast<unsigned>(slabs_of(summed.rows(), static_cast<std::size_t>(summed.channels)));
    const std::uint32_t vectors = vectors_in(summed.elements(), width);
    const auto rows = static_cast<std::uint32_t>(summed.rows());
    sum_rows<width><<<dim3(cut.column_blocks, slabs), dim3(cut.columns, cut.lines), 0, stream>>>(
        body, rows, vectors / rows, memory.at<float>(partial), memory.counters());
    gpu::check(cudaGetLastError());
}

}  // namespace roof::cudnn

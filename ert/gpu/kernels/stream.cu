// Every thread has several vectors in flight before it uses the first. The loop has nothing else.
#include "ert/gpu/kernels/stream.hpp"

#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/numbers.hpp"

namespace roof::gpu {

namespace {

__device__ float triad(float a, float b)
{
    return a + stream_scale * b;
}

/// Reads are volatile: a pass that repeats the last one is to read again.
template <bool past_l1>
__device__ float4 read(const float4* from)
{
    float4 value;
    if constexpr (past_l1)
        asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];"
                     : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                     : "l"(from));
    else
        asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];"
                     : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                     : "l"(from));
    return value;
}

__device__ void write(float4* to, float4 value)
{
    asm volatile("st.global.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to), "f"(value.x), "f"(value.y), "f"(value.z),
                 "f"(value.w)
                 : "memory");
}

__device__ std::uint32_t sum_of(float4 value)
{
    return __float_as_uint(value.x) + __float_as_uint(value.y) + __float_as_uint(value.z) + __float_as_uint(value.w);
}

/// `count` vectors, `step` apart, from vector i.
template <StreamOperation operation, bool past_l1, int count>
__device__ void move(const StreamLaunch& launch, std::size_t i, std::size_t step, std::uint32_t& sum)
{
    const auto* a = static_cast<const float4*>(launch.a);
    const auto* b = static_cast<const float4*>(launch.b);
    auto* out = static_cast<float4*>(launch.out);
    float4 x[count];
    float4 y[count];
#pragma unroll
    for (int k = 0; k < count; ++k) {
        x[k] = make_float4(stream_value, stream_value, stream_value, stream_value);
        if constexpr (operation != StreamOperation::store) x[k] = read<past_l1>(a + i + k * step);
        if constexpr (operation == StreamOperation::triad) y[k] = read<past_l1>(b + i + k * step);
    }
#pragma unroll
    for (int k = 0; k < count; ++k) {
        if constexpr (operation == StreamOperation::triad) {
            x[k] =
                make_float4(triad(x[k].x, y[k].x), triad(x[k].y, y[k].y), triad(x[k].z, y[k].z), triad(x[k].w, y[k].w));
        }
        if constexpr (operation == StreamOperation::load)
            sum += sum_of(x[k]);
        else
            write(out + i + k * step, x[k]);
    }
}

template <StreamOperation operation, StreamLayout layout, int threads, bool past_l1>
__global__ void __launch_bounds__(threads, 1024 / threads) stream_kernel(StreamLaunch launch)
{
    const ClockSpan span;
    const int readers = layout == StreamLayout::stretches ? launch.readers : 1;
    const Stretch mine =
        stretch_of(layout, launch.vectors, gridDim.x / readers, blockIdx.x / readers, threads, threadIdx.x);
    std::uint32_t sum = 0;
#pragma unroll 1
    for (int pass = 0; pass < launch.passes; ++pass) {
        std::size_t i = mine.first;
#pragma unroll 1
        for (; i + (stream_unroll - 1) * mine.step < mine.end; i += stream_unroll * mine.step)
            move<operation, past_l1, stream_unroll>(launch, i, mine.step, sum);
        if (i + mine.step < mine.end) {
            move<operation, past_l1, 2>(launch, i, mine.step, sum);
            i += 2 * mine.step;
        }
#pragma unroll 1
        for (; i < mine.end; i += mine.step) move<operation, past_l1, 1>(launch, i, mine.step, sum);
        if (launch.in_step) __syncthreads();
    }
    if constexpr (operation == StreamOperation::load) launch.sums[blockIdx.x * threads + threadIdx.x] = sum;
    span.end(launch.reading);
}

/// Blocks of a launch that read the clock: one of so many.
constexpr int tiles_of_clock = 16;

template <StreamOperation operation, int unroll, int threads>
__global__ void __launch_bounds__(threads) tile_kernel(StreamLaunch launch)
{
    const ClockSpan span;
    const std::size_t tile = blockIdx.x % tiles_of(launch.vectors, unroll, threads);
    const Stretch mine = stretch_in_tile(launch.vectors, unroll, tile, threads, threadIdx.x);
    std::uint32_t sum = 0;
    if (mine.first + (unroll - 1) * mine.step < mine.end) {
        move<operation, false, unroll>(launch, mine.first, mine.step, sum);
    } else {
#pragma unroll 1
        for (std::size_t i = mine.first; i < mine.end; i += mine.step)
            move<operation, false, 1>(launch, i, mine.step, sum);
    }
    if constexpr (operation == StreamOperation::load) {
        constexpr std::uint32_t unlikely = 0x9E3779B9;  // timed: keeps the loads' results in use
        if (!launch.timed || sum == unlikely) atomicAdd(launch.sums + blockIdx.x % tile_sums, sum);
    }
    if (blockIdx.x % tiles_of_clock == 0) span.end(launch.reading);
}

__global__ void fill_kernel(float4* array, std::size_t vectors, int shift, float value)
{
    const std::size_t stride = std::size_t(gridDim.x) * blockDim.x;
    const auto word = [=](std::size_t i) {
        return shift < 0 ? value : static_cast<float>(number_at((i + shift) % number_period));
    };
    for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors; i += stride)
        array[i] = make_float4(word(4 * i), word(4 * i + 1), word(4 * i + 2), word(4 * i + 3));
}

using Function = void (*)(StreamLaunch);

template <StreamOperation operation, bool past_l1, StreamLayout layout>
Function with_threads(int threads)
{
    return threads == stream_block_sizes[0] ? stream_kernel<operation, layout, stream_block_sizes[0], past_l1>
                                            : stream_kernel<operation, layout, stream_block_sizes[1], past_l1>;
}

template <StreamOperation operation, bool past_l1 = false>
Function with_layout(const StreamKernel& kernel)
{
    return kernel.layout == StreamLayout::stretches
               ? with_threads<operation, past_l1, StreamLayout::stretches>(kernel.threads)
               : with_threads<operation, past_l1, StreamLayout::together>(kernel.threads);
}

template <StreamOperation operation, int unroll>
Function with_tile_threads(int threads)
{
    return threads == stream_block_sizes[0] ? tile_kernel<operation, unroll, stream_block_sizes[0]>
                                            : tile_kernel<operation, unroll, stream_block_sizes[1]>;
}

template <StreamOperation operation>
Function with_tile(const StreamKernel& kernel)
{
    if (kernel.tile_unroll == tile_unrolls[0]) return with_tile_threads<operation, tile_unrolls[0]>(kernel.threads);
    if (kernel.tile_unroll == tile_unrolls[1]) return with_tile_threads<operation, tile_unrolls[1]>(kernel.threads);
    return with_tile_threads<operation, tile_unrolls[2]>(kernel.threads);
}

Function function_of(const StreamKernel& kernel)
{
    using Choice = Function (*)(const StreamKernel&);
    using Operation = StreamOperation;
    constexpr Choice by_tiles[]{with_tile<Operation::load>, with_tile<Operation::store>, with_tile<Operation::copy>,
                                with_tile<Operation::triad>};
    constexpr Choice by_layout[]{with_layout<Operation::load>, with_layout<Operation::store>,
                                 with_layout<Operation::copy>, with_layout<Operation::triad>};
    const auto operation = static_cast<unsigned>(kernel.operation);
    if (kernel.tile_unroll != 0) return by_tiles[operation](kernel);
    if (kernel.operation == Operation::load && kernel.past_l1) return with_layout<Operation::load, true>(kernel);
    return by_layout[operation](kernel);
}

}  // namespace

Kernel<StreamLaunch> stream_kernel_of(const StreamKernel& kernel)
{
    return {function_of(kernel), kernel.threads};
}

void enqueue_fill(void* array, std::size_t vectors, int shift, float value, cudaStream_t stream)
{
    constexpr int blocks = 1024;
    constexpr int threads = 256;
    fill_kernel<<<blocks, threads, 0, stream>>>(static_cast<float4*>(array), vectors, shift, value);
    check(cudaGetLastError());
}

}  // namespace roof::gpu

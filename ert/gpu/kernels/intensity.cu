// One loop for every intensity; a template parameter is the number of multiply-adds per load.
#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/clock_span.cuh"
#include "ert/gpu/kernels/intensity.hpp"

#include <utility>

namespace roof::gpu {

namespace {

template <class Real>
struct Vector {
    static constexpr int elements = vector_bytes / sizeof(Real);
    Real values[elements];
};

__device__ Vector<double> read(const Vector<double>* from)
{
    Vector<double> v;
    asm volatile("ld.global.v2.f64 {%0,%1}, [%2];" : "=d"(v.values[0]), "=d"(v.values[1]) : "l"(from));
    return v;
}

__device__ Vector<float> read(const Vector<float>* from)
{
    Vector<float> v;
    asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.values[0]), "=f"(v.values[1]), "=f"(v.values[2]), "=f"(v.values[3])
                 : "l"(from));
    return v;
}

__device__ unsigned bits_of(double value)
{
    return static_cast<unsigned>(__double2hiint(value) ^ __double2loint(value));
}

__device__ unsigned bits_of(float value)
{
    return __float_as_uint(value);
}

/// Uses the elements that no instruction takes; else the assembler would not load them.
template <int instructions, class Real>
__device__ void use_rest(const Vector<Real>& vector, unsigned& rest)
{
#pragma unroll
    for (int i = instructions; i < Vector<Real>::elements; ++i) rest ^= bits_of(vector.values[i]);
}

/// sum = sum * factor + element. Only the sum is a dependence; 8 sums hide its latency.
template <int instructions, class Real>
__device__ void work_on(const Vector<Real>& vector, Real factor, Real (&sums)[intensity_accumulators])
{
#pragma unroll
    for (int i = 0; i < instructions; ++i) {
        Real& sum = sums[i % intensity_accumulators];
        sum = fma(sum, factor, vector.values[element_of(i, Vector<Real>::elements)]);
    }
}

template <int instructions, int count, class Real>
__device__ void take(const Vector<Real>* from, std::size_t step, Real factor, Real (&sums)[intensity_accumulators],
                     unsigned& rest)
{
    Vector<Real> vectors[count];
#pragma unroll
    for (int k = 0; k < count; ++k) vectors[k] = read(from + k * step);
#pragma unroll
    for (int k = 0; k < count; ++k) {
        work_on<instructions>(vectors[k], factor, sums);
        use_rest<instructions>(vectors[k], rest);
    }
}

template <class Real, int multiply_adds, StreamLayout layout>
__global__ void __launch_bounds__(intensity_threads, 2) intensity_kernel(IntensityLaunch launch)
{
    // Above some hundred instructions, unrolling over vectors brings nothing.
    constexpr int unroll = multiply_adds > 64 ? 1 : stream_unroll;
    const ClockSpan span;
    const auto* array = static_cast<const Vector<Real>*>(launch.array);
    const Real factor = *static_cast<const Real*>(launch.factor);
    const Stretch mine = stretch_of(layout, launch.vectors, gridDim.x, blockIdx.x, intensity_threads, threadIdx.x);
    Real sums[intensity_accumulators] = {};
    unsigned rest = 0;
#pragma unroll 1
    for (int pass = 0; pass < launch.passes; ++pass) {
        std::size_t i = mine.first;
#pragma unroll 1
        for (; i + (unroll - 1) * mine.step < mine.end; i += unroll * mine.step)
            take<multiply_adds, unroll>(array + i, mine.step, factor, sums, rest);
#pragma unroll 1
        for (; unroll > 1 && i < mine.end; i += mine.step)
            take<multiply_adds, 1>(array + i, mine.step, factor, sums, rest);
    }
    double all = 0;
#pragma unroll
    for (int i = 0; i < intensity_accumulators; ++i) all += sums[i];
    // Never true, but the assembler does not know.
    if (multiply_adds < Vector<Real>::elements && launch.blocks < 0) all += rest;
    launch.sums[blockIdx.x * intensity_threads + threadIdx.x] = all;
    span.end(launch.reading);
}

template <class Real>
__global__ void fill_kernel(Real* array, std::size_t count)
{
    const std::size_t stride = std::size_t(gridDim.x) * blockDim.x;
    for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
        array[i] = static_cast<Real>(intensity_number(i));
}

using Function = void (*)(IntensityLaunch);

template <class Real, StreamLayout layout, std::size_t... index>
Function with_multiply_adds(int multiply_adds, std::index_sequence<index...>)
{
    Function found = nullptr;
    const auto find = [&]<int each>(std::integral_constant<int, each>) {
        if (each == multiply_adds) found = intensity_kernel<Real, each, layout>;
    };
    (find(std::integral_constant<int, multiply_adds_of_vector[index]>()), ...);
    return found;
}

template <class Real>
Function with_layout(const IntensityKernel& kernel)
{
    constexpr auto all = std::make_index_sequence<multiply_adds_of_vector.size()>();
    return kernel.layout == StreamLayout::stretches
               ? with_multiply_adds<Real, StreamLayout::stretches>(kernel.multiply_adds, all)
               : with_multiply_adds<Real, StreamLayout::together>(kernel.multiply_adds, all);
}

Function function_of(const IntensityKernel& kernel)
{
    return kernel.precision == Precision::fp64 ? with_layout<double>(kernel) : with_layout<float>(kernel);
}

}  // namespace

Kernel<IntensityLaunch> intensity_kernel_of(const IntensityKernel& kernel)
{
    return {function_of(kernel), intensity_threads};
}

void enqueue_intensity_fill(Precision precision, void* array, std::size_t vectors, cudaStream_t stream)
{
    constexpr int blocks = 1024;
    constexpr int threads = 256;
    if (precision == Precision::fp64)
        fill_kernel<<<blocks, threads, 0, stream>>>(static_cast<double*>(array), vectors * 2);
    else
        fill_kernel<<<blocks, threads, 0, stream>>>(static_cast<float*>(array), vectors * 4);
    check(cudaGetLastError());
}

}  // namespace roof::gpu

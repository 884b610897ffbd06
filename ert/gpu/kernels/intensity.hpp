// Host interface of the kernels of the "ert" bench: each vector is loaded once and used in a number of multiply-adds.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/gpu/kernels/stream.hpp"

#include <array>

namespace roof::gpu {

/// Multiply-adds per vector of 16 bytes; the FLOPs per byte are an eighth of it.
inline constexpr std::array<int, 10> multiply_adds_of_vector{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
inline constexpr int intensity_threads = 512;     ///< of a block
inline constexpr int intensity_accumulators = 8;  ///< of a thread: multiply-add i uses number i % 8

/// fp64 or fp32.
struct IntensityKernel {
    Precision precision = Precision::fp64;
    int multiply_adds = 1;
    StreamLayout layout = StreamLayout::stretches;
};

struct IntensityLaunch {
    const void* array = nullptr;
    const void* factor = nullptr;  ///< 1 in the precision, so that sums of whole numbers are exact
    double* sums = nullptr;        ///< [block][thread], of all accumulators
    std::size_t vectors = 0;
    ClockReading* reading = nullptr;
    int blocks = 1;
    int passes = 1;
};

/// The element of a vector that a multiply-add adds to the sum.
constexpr int element_of(int multiply_add, int elements)
{
    return multiply_add % elements;
}

/// The array repeats after this many elements, so that the host need not add up gigabytes.
inline constexpr std::size_t intensity_period = std::size_t{1} << 16;

/// Element i of the array: a whole number from -2 to 2, not 0.
constexpr double intensity_number(std::size_t index)
{
    const std::size_t mixed = index % intensity_period * 0x9E3779B97F4A7C15u;
    const double size = mixed >> 62 & 1 ? 2 : 1;
    return mixed >> 63 ? -size : size;
}

Kernel<IntensityLaunch> intensity_kernel_of(const IntensityKernel& kernel);
/// Writes intensity_number() into the array. Throws Error.
void enqueue_intensity_fill(Precision precision, void* array, std::size_t vectors, cudaStream_t stream);

}  // namespace roof::gpu

// Shared by the kernels: gradients and scaling of vectors of channels, and the loops over a map's vectors.
#pragma once

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/cudnn/kernels/lanes.cuh"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace roof::cudnn {

inline constexpr unsigned threads_per_block = 256;
inline constexpr unsigned lanes = 32;  ///< threads of a warp
inline constexpr unsigned warps = threads_per_block / lanes;

/// A vector of a map.
struct Place {
    std::uint32_t row, column;  ///< position of all images, vector of its channels
    std::uint32_t vector;       ///< its index in the map
};

/// What a gradient before a ReLU is found from, beside the first share.
enum class Masking {
    none,       ///< nothing: the first share is all, or what it is 0 by is known otherwise
    by_output,  ///< the second share and the ReLU's output, if they are there
    by_signs    ///< the second share, if it is there, and a bit per value of the ReLU's output
};

/// How the gradient of a vector before a ReLU is found.
template <class Element, int width, Masking masking>
struct GivenGradient {
    const Element* share;
    const Element* other = nullptr;
    const Element* output = nullptr;
    const std::uint8_t* signs = nullptr;

    static constexpr bool is_gathered = false;
    struct Parts {
        Stored<Element, width> share, other, output;
        unsigned signs;
    };

    __device__ Parts fetch_at(const Place& place) const
    {
        Parts parts;
        parts.share = fetch<width>(share, place.vector);
        if (masking != Masking::none && other != nullptr) parts.other = fetch<width>(other, place.vector);
        if (masking == Masking::by_output && output != nullptr) parts.output = fetch<width>(output, place.vector);
        if (masking == Masking::by_signs) parts.signs = signs[place.vector];
        return parts;
    }
    __device__ Lanes<width> gradient_of(const Parts& parts) const
    {
        Lanes<width> gradient = widened(parts.share);
        if (masking != Masking::none && other != nullptr) gradient.add(widened(parts.other));
        if (masking == Masking::by_output && output != nullptr) gradient.mask(widened(parts.output));
        if (masking == Masking::by_signs) gradient.mask_by_signs(parts.signs);
        return gradient;
    }
};

/// Scale and shift of a vector's channels.
template <int width>
struct Scaling {
    Lanes<width> scale, shift;

    /// Null pointers: the scaling that changes nothing.
    __device__ Scaling(const float* scales, const float* shifts, std::uint32_t column)
    {
#pragma unroll
        for (int i = 0; i < width; ++i) scale.lane[i] = 1;
#pragma unroll
        for (int i = 0; i < width; ++i) shift.lane[i] = 0;
        if (scales == nullptr) return;
        scale = load<width>(scales, column);
        shift = load<width>(shifts, column);
    }
    /// Computes what a kernel that stores the scaled values and their ReLU would store.
    template <class Element>
    __device__ void normalise(Lanes<width>& values) const
    {
        values.scale(scale, shift);
        values.rectify();
        round<Element>(values);
    }
    /// Converts the gradient after the ReLU of the scaled values to the gradient before it.
    template <class Element>
    __device__ void mask(Lanes<width>& gradient, const Lanes<width>& values) const
    {
#pragma unroll
        for (int i = 0; i < width; ++i)
            if (!(scaled(values.lane[i], scale.lane[i], shift.lane[i]) > stored_as_zero<Element>)) gradient.lane[i] = 0;
    }
};

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
    template <class Number>
    __device__ Number operator()(Number a, Number b) const
    {
        return a + b;
    }
};

/// Calls body(vector) for each vector, in any order.
template <class Body>
__global__ void for_each_vector(std::uint32_t vectors, Body body)
{
    const std::uint32_t step = gridDim.x * blockDim.x;
    for (std::uint64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < vectors; k += step)
        body(static_cast<std::uint32_t>(k));
}

inline std::uint32_t vectors_in(std::size_t elements, int width)
{
    const std::size_t vectors = elements / static_cast<std::size_t>(width);
    if (vectors > 0xFF000000U) throw Unsupported("a tensor is too large for the kernels of this engine");
    return static_cast<std::uint32_t>(vectors);
}

template <class Body>
void launch_vectors(std::uint32_t vectors, cudaStream_t stream, const Body& body)
{
    constexpr unsigned most_blocks = 1U << 16;
    if (vectors == 0) return;
    const unsigned blocks = std::min(most_blocks, (vectors - 1) / threads_per_block + 1);
    for_each_vector<<<blocks, threads_per_block, 0, stream>>>(vectors, body);
    gpu::check(cudaGetLastError());
}

/// Threads of a block: `columns` along the channels, one per vector, and `lines` along the rows.
struct Columns {
    unsigned columns, lines, column_blocks;
};

/// `most`: of columns, a power of two.
inline Columns columns_for(const Tensor& tensor, int width, unsigned threads, unsigned most)
{
    const auto vectors = static_cast<unsigned>(tensor.channels / width);
    unsigned columns = 1;
    while (columns < most && columns < vectors) columns *= 2;
    return {columns, threads / columns, (vectors - 1) / columns + 1};
}

/// Calls use(place, body.fetch_at(place)) for all rows of the thread's column; the loads of Body::rows_at_once rows are
/// on the way together. All blocks go through the map side by side, from its end if `backwards`: what a kernel read or
/// wrote last is still in the L2 when the next one begins there.
template <bool backwards, class Body, class Use>
__device__ void walk_rows(const Body& body, std::uint32_t rows, std::uint32_t column, std::uint32_t vectors_per_row,
                          const Use& use)
{
    constexpr std::uint32_t at_once = Body::rows_at_once;
    const auto place_of = [=](std::uint32_t step) {
        const std::uint32_t row = backwards ? rows - 1 - step : step;
        return Place{row, column, row * vectors_per_row + column};
    };
    const std::uint32_t stride = gridDim.y * blockDim.y;
    std::uint32_t step = blockIdx.y * blockDim.y + threadIdx.y;
    typename Body::Fetched fetched[at_once];
#pragma unroll 1
    for (; step + (at_once - 1) * stride < rows; step += at_once * stride) {
#pragma unroll
        for (std::uint32_t i = 0; i < at_once; ++i) fetched[i] = body.fetch_at(place_of(step + i * stride));
#pragma unroll
        for (std::uint32_t i = 0; i < at_once; ++i) use(place_of(step + i * stride), fetched[i]);
    }
#pragma unroll
    for (std::uint32_t i = 0; i + 1 < at_once; ++i)
        if (step + i * stride < rows) fetched[i] = body.fetch_at(place_of(step + i * stride));
#pragma unroll
    for (std::uint32_t i = 0; i + 1 < at_once; ++i)
        if (step + i * stride < rows) use(place_of(step + i * stride), fetched[i]);
}

/// Calls body.at(numbers, place, body.fetch_at(place)) for all vectors. A thread's vectors have the same channels, and
/// it reads what belongs to them once: numbers = body.of_channels(column).
template <class Body>
__global__ void __launch_bounds__(threads_per_block, Body::blocks_each)
    for_each_row(std::uint32_t rows, std::uint32_t vectors_per_row, Body body)
{
    const std::uint32_t column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= vectors_per_row) return;
    const auto numbers = body.of_channels(column);
    walk_rows<false>(body, rows, column, vectors_per_row,
                     [&](const Place& place, const auto& fetched) { body.at(numbers, place, fetched); });
}

/// Calls call<Element>() with the C++ type of the precision.
template <class Call>
void with_element(Precision precision, const Call& call)
{
    if (precision == Precision::bf16) return call.template operator()<__nv_bfloat16>();
    if (precision == Precision::fp16) return call.template operator()<__half>();
    call.template operator()<float>();
}

/// Calls call<Element, width>() with the tensor's type; `width` is vector_width if it divides the channels, else 1.
template <class Call>
void with_vectors(const Tensor& tensor, const Call& call)
{
    with_element(tensor.precision, [&]<class Element>() {
        if (tensor.channels % vector_width == 0) return call.template operator()<Element, vector_width>();
        call.template operator()<Element, 1>();
    });
}

/// Launches the body that `make<Element, width>()` returns over all vectors of the tensor.
template <class Make>
void launch_over(const Tensor& tensor, cudaStream_t stream, const Make& make)
{
    with_vectors(tensor, [&]<class Element, int width>() {
        launch_vectors(vectors_in(tensor.elements(), width), stream, make.template operator()<Element, width>());
    });
}

/// Blocks of the kernel that the current device holds at once.
template <class Kernel>
unsigned resident_blocks(Kernel kernel, unsigned threads)
{
    int device = 0;
    int multiprocessors = 0;
    int each = 0;
    gpu::check(cudaGetDevice(&device));
    gpu::check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    gpu::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, static_cast<int>(threads), 0));
    return static_cast<unsigned>(multiprocessors * std::max(1, each));
}

/// Launches the body over all vectors of the tensor, by channels.
template <int width, class Body>
void launch_rows(const Tensor& tensor, cudaStream_t stream, const Body& body)
{
    // What a thread reads of its channels should serve some rows. Whole waves of blocks end together.
    constexpr unsigned rows_each = 8;
    constexpr unsigned most_waves = 4;
    constexpr unsigned most_columns = 32;
    const Columns cut = columns_for(tensor, width, threads_per_block, most_columns);
    const std::uint32_t vectors = vectors_in(tensor.elements(), width);
    const auto rows = static_cast<std::uint32_t>(tensor.rows());
    if (rows == 0) return;
    const unsigned wave = resident_blocks(for_each_row<Body>, threads_per_block);
    const unsigned wanted = (rows / (rows_each * cut.lines) + 1) * cut.column_blocks;
    const unsigned blocks = wave * std::clamp(wanted / wave, 1U, most_waves);
    const unsigned lines = std::min((rows - 1) / cut.lines + 1, std::max(1U, blocks / cut.column_blocks));
    for_each_row<<<dim3(cut.column_blocks, lines), dim3(cut.columns, cut.lines), 0, stream>>>(rows, vectors / rows,
                                                                                              body);
    gpu::check(cudaGetLastError());
}

/// As launch_rows(), with the body that `make<Element, width>()` returns.
template <class Make>
void launch_by_channels(const Tensor& tensor, cudaStream_t stream, const Make& make)
{
    with_vectors(tensor, [&]<class Element, int width>() {
        launch_rows<width>(tensor, stream, make.template operator()<Element, width>());
    });
}

}  // namespace roof::cudnn

// Shared by the kernels: vectors of adjacent channels, loaded and stored as a whole, and the loop over them.
#pragma once

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/cudnn/program/formulas.hpp"
#include "workloads/cudnn/program/operations.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

namespace roof::cudnn {

/// Channels per vector. One instruction moves 16 bytes.
inline constexpr int vector_width = 8;
inline constexpr unsigned threads_per_block = 256;

template <class Element, int width>
struct alignas(width == 1 ? sizeof(Element) : 16) Stored {
    Element lane[width];
};

/// The channels of a vector in fp32.
template <int width>
struct Lanes {
    float lane[width];

    __device__ void add(const Lanes& other)
    {
#pragma unroll
        for (int i = 0; i < width; ++i) lane[i] += other.lane[i];
    }
    __device__ void scale(const Lanes& by, const Lanes& to)
    {
#pragma unroll
        for (int i = 0; i < width; ++i) lane[i] = scaled(lane[i], by.lane[i], to.lane[i]);
    }
    __device__ void rectify()
    {
#pragma unroll
        for (int i = 0; i < width; ++i) lane[i] = relu_of(lane[i]);
    }
    /// Converts the gradient after a ReLU to the gradient before it.
    __device__ void mask(const Lanes& output)
    {
#pragma unroll
        for (int i = 0; i < width; ++i) lane[i] = masked(lane[i], output.lane[i]);
    }
    /// Rounds to the values that a store and a load would return.
    template <class Element>
    __device__ void round()
    {
#pragma unroll
        for (int i = 0; i < width; ++i) lane[i] = widen(narrow<Element>(lane[i]));
    }
};

template <int width, class Element>
__device__ Lanes<width> load(const Element* from, std::uint32_t vector)
{
    const auto stored = reinterpret_cast<const Stored<Element, width>*>(from)[vector];
    Lanes<width> lanes;
#pragma unroll
    for (int i = 0; i < width; ++i) lanes.lane[i] = widen(stored.lane[i]);
    return lanes;
}

template <int width, class Element>
__device__ void store(Element* to, std::uint32_t vector, const Lanes<width>& lanes)
{
    Stored<Element, width> stored;
#pragma unroll
    for (int i = 0; i < width; ++i) stored.lane[i] = narrow<Element>(lanes.lane[i]);
    reinterpret_cast<Stored<Element, width>*>(to)[vector] = stored;
}

/// Returns the gradient before a ReLU from `share` plus `other` (may be null). `output` null: no ReLU.
template <int width, class Element>
__device__ Lanes<width> load_gradient(const Element* share, const Element* other, const Element* output,
                                      std::uint32_t vector)
{
    Lanes<width> gradient = load<width>(share, vector);
    if (other != nullptr) gradient.add(load<width>(other, vector));
    if (output != nullptr) gradient.mask(load<width>(output, vector));
    return gradient;
}

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
    if (vectors > 0xFFFF0000U) throw Unsupported("a tensor is too large for the kernels of this engine");
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
template <int most_width = vector_width, class Make>
void launch_over(const Tensor& tensor, cudaStream_t stream, const Make& make)
{
    with_vectors(tensor, [&]<class Element, int widest>() {
        constexpr int width = std::min(widest, most_width);
        launch_vectors(vectors_in(tensor.elements(), width), stream, make.template operator()<Element, width>());
    });
}

}  // namespace roof::cudnn

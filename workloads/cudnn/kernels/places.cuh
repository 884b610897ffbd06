// The loop over the places of a map, and the gradient of what a pool reads, for max and average pools.
#pragma once

#include "workloads/cudnn/kernels/pooling.cuh"
#include "workloads/cudnn/kernels/vectors.cuh"

#include <algorithm>
#include <cstdint>

namespace roof::cudnn {

template <class Element, int width, class Window, bool averages = false>
struct MaxGradientBody {
    PooledGradient<Element, width, Window, averages> given;
    Element* source;

    /// Computes the gradient of the source at (row, x) for one vector of channels.
    __device__ void operator()(const Row& row, int x, std::uint32_t channel, std::uint32_t vectors) const
    {
        const PoolShape& pool = given.window.pool;
        store(source,
              row.begin(pool.height, static_cast<std::uint32_t>(pool.width) * vectors) +
                  static_cast<std::uint32_t>(x) * vectors + channel,
              given.gradient_at(row, x, channel, vectors));
    }
};

constexpr unsigned threads_per_row_block = 128;  // rows of maps are a few hundred vectors long

/// Calls the body for all vectors of a map. The grid is along the row, the rows of an image, the images.
template <class Body>
__global__ void __launch_bounds__(threads_per_row_block, 1)
    for_each_place(Body body, std::uint32_t images, std::uint32_t vectors, std::uint32_t vectors_in_row)
{
    const std::uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= vectors_in_row) return;
    for (std::uint32_t image = blockIdx.z; image < images; image += gridDim.z)
        body({image, static_cast<int>(blockIdx.y)}, static_cast<int>(k / vectors), k % vectors, vectors);
}

/// Launches the body that `make<Element, width>(window)` returns over all vectors of the map.
template <class Make>
void launch_over_places(const Tensor& map, const PoolShape& pool, cudaStream_t stream, const Make& make)
{
    constexpr unsigned most_images = 65535;  // of a grid's third dimension
    with_vectors(map, [&]<class Element, int width>() {
        vectors_in(map.elements(), width);
        const auto vectors = static_cast<unsigned>(map.channels / width);
        const unsigned in_row = static_cast<unsigned>(map.width) * vectors;
        const auto images = static_cast<unsigned>(map.batch);
        const dim3 grid((in_row - 1) / threads_per_row_block + 1, static_cast<unsigned>(map.height),
                        std::min(images, most_images));
        with_window<width>(pool, [&](const auto& window) {
            for_each_place<<<grid, threads_per_row_block, 0, stream>>>(make.template operator()<Element, width>(window),
                                                                       images, vectors, in_row);
            gpu::check(cudaGetLastError());
        });
    });
}

}  // namespace roof::cudnn

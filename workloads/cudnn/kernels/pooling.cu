// Pooling: a thread computes some channels of one output position from its window.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

PoolShape shape_of(const Tensor& source, const Tensor& result, const model::Window& window)
{
    return {source.channels, source.height, source.width,  result.height,
            result.width,    window.size,   window.stride, window.padding};
}

/// Image, position and first channel of a vector.
struct Place {
    std::uint32_t image;
    int y, x, channel;
};

template <int width>
__device__ Place place_of(std::uint32_t k, int channels, int map_width, int map_height)
{
    const auto vectors = static_cast<std::uint32_t>(channels / width);
    const std::uint32_t place = k / vectors;
    const std::uint32_t row = place / static_cast<std::uint32_t>(map_width);
    return {row / static_cast<std::uint32_t>(map_height),
            static_cast<int>(row % static_cast<std::uint32_t>(map_height)),
            static_cast<int>(place % static_cast<std::uint32_t>(map_width)), static_cast<int>(k % vectors) * width};
}

template <class Element, int width>
struct MaxBody {
    PoolShape pool;
    const Element* source;
    Element* result;
    std::uint8_t* winners;

    __device__ void operator()(std::uint32_t k) const
    {
        const Place at = place_of<width>(k, pool.channels, pool.result_width, pool.result_height);
#pragma unroll
        for (int i = 0; i < width; ++i) {
            const Winner best = max_of(pool, source, at.image, at.y, at.x, at.channel + i);
            const std::size_t place = std::size_t{k} * width + static_cast<std::size_t>(i);
            result[place] = narrow<Element>(best.value);
            winners[place] = best.place;
        }
    }
};

template <class Element, int width>
struct MaxGradientBody {
    PoolShape pool;
    Element* source;
    const Element* result;
    const std::uint8_t* winners;

    __device__ void operator()(std::uint32_t k) const
    {
        const Place at = place_of<width>(k, pool.channels, pool.width, pool.height);
        Lanes<width> gradient;
#pragma unroll
        for (int i = 0; i < width; ++i)
            gradient.lane[i] = max_gradient(pool, result, winners, at.image, at.y, at.x, at.channel + i);
        store(source, k, gradient);
    }
};

/// A thread computes a vector of channels of one image.
template <class Element, int width>
struct AverageBody {
    const Element* source;
    Element* result;
    std::uint32_t vectors_per_row, map;

    __device__ void operator()(std::uint32_t k) const
    {
        const std::uint32_t first = k / vectors_per_row * map * vectors_per_row + k % vectors_per_row;
        Lanes<width> sum{};
        for (std::uint32_t place = 0; place < map; ++place) {
            const Lanes<width> one = load<width>(source, first + place * vectors_per_row);
#pragma unroll
            for (int i = 0; i < width; ++i) sum.lane[i] += one.lane[i];
        }
#pragma unroll
        for (int i = 0; i < width; ++i) sum.lane[i] /= static_cast<float>(map);
        store(result, k, sum);
    }
};

template <class Element, int width>
struct AverageGradientBody {
    Element* source;
    const Element* result;
    std::uint32_t vectors_per_row, map;

    __device__ void operator()(std::uint32_t k) const
    {
        const std::uint32_t image = k / vectors_per_row / map;
        Lanes<width> all = load<width>(result, image * vectors_per_row + k % vectors_per_row);
#pragma unroll
        for (int i = 0; i < width; ++i) all.lane[i] /= static_cast<float>(map);
        store(source, k, all);
    }
};

std::uint32_t map_of(const Tensor& tensor)
{
    return static_cast<std::uint32_t>(tensor.height * tensor.width);
}

}  // namespace

void enqueue(const MaxPool& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over<2>(operation.result, stream, [&]<class Element, int width>() {
        return MaxBody<Element, width>{shape_of(operation.source, operation.result, operation.window),
                                       memory.at<Element>(operation.source), memory.at<Element>(operation.result),
                                       memory.at<std::uint8_t>(operation.winners)};
    });
}

void enqueue(const MaxPoolGradient& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.source, stream, [&]<class Element, int width>() {
        return MaxGradientBody<Element, width>{
            shape_of(operation.source, operation.result, operation.window), memory.at<Element>(operation.source),
            memory.at<Element>(operation.result), memory.at<std::uint8_t>(operation.winners)};
    });
}

void enqueue(const AveragePool& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.result, stream, [&]<class Element, int width>() {
        return AverageBody<Element, width>{memory.at<Element>(operation.source), memory.at<Element>(operation.result),
                                           static_cast<std::uint32_t>(operation.source.channels / width),
                                           map_of(operation.source)};
    });
}

void enqueue(const AveragePoolGradient& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.source, stream, [&]<class Element, int width>() {
        return AverageGradientBody<Element, width>{
            memory.at<Element>(operation.source), memory.at<Element>(operation.result),
            static_cast<std::uint32_t>(operation.source.channels / width), map_of(operation.source)};
    });
}

}  // namespace roof::cudnn

// Pooling: a thread computes a vector of channels of one position from its window or windows.
#include "workloads/cudnn/kernels/pooling.cuh"

#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

/// `scales`: the source is the one of a batch norm with a ReLU.
template <class Element, int width, class Window, bool scales>
struct MaxBody {
    Window window;
    const Element* source;
    const float* scale;
    const float* shift;
    Element* result;
    std::uint8_t* winners;

    /// Computes the result at (row, x) for one vector of channels.
    __device__ void operator()(const Row& row, int x, std::uint32_t channel, std::uint32_t vectors) const
    {
        const PoolShape& pool = window.pool;
        const Scaling<width> scaling(scales ? scale : nullptr, shift, channel);
        Lanes<width> best{};
        Places<width> places{};
        bool found = false;
#pragma unroll
        for (int i = 0; i < window.size(); ++i) {
            const int from_y = row.y * window.stride() - pool.padding + i;
            if (from_y < 0 || from_y >= pool.height) continue;
            const std::uint32_t begin =
                Row{row.image, from_y}.begin(pool.height, static_cast<std::uint32_t>(pool.width) * vectors) + channel;
#pragma unroll
            for (int j = 0; j < window.size(); ++j) {
                const int from_x = x * window.stride() - pool.padding + j;
                if (from_x < 0 || from_x >= pool.width) continue;
                Lanes<width> one = load<width>(source, begin + static_cast<std::uint32_t>(from_x) * vectors);
                if constexpr (scales) scaling.template normalise<Element>(one);
#pragma unroll
                for (int k = 0; k < width; ++k) {
                    if (found && !is_larger(one.lane[k], best.lane[k])) continue;
                    best.lane[k] = one.lane[k];
                    places.lane[k] = static_cast<std::uint8_t>(i * window.size() + j);
                }
                found = true;
            }
        }
        const std::uint32_t to =
            row.begin(pool.result_height, static_cast<std::uint32_t>(pool.result_width) * vectors) +
            static_cast<std::uint32_t>(x) * vectors + channel;
        store(result, to, best);
        reinterpret_cast<Places<width>*>(winners)[to] = places;
    }
};

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

template <class Element, int width, class Window>
struct AverageBody {
    Window window;
    const Element* source;
    Element* result;

    /// Computes the result at (row, x) for one vector of channels.
    __device__ void operator()(const Row& row, int x, std::uint32_t channel, std::uint32_t vectors) const
    {
        const PoolShape& pool = window.pool;
        Lanes<width> sum{};
#pragma unroll 1  // unrolled, the loads of a window need more registers than there are
        for (int i = 0; i < window.size(); ++i) {
            const std::uint32_t begin = Row{row.image, row.y * window.stride() + i}.begin(
                                            pool.height, static_cast<std::uint32_t>(pool.width) * vectors) +
                                        channel;
            for (int j = 0; j < window.size(); ++j)
                sum.add(load<width>(source, begin + static_cast<std::uint32_t>(x * window.stride() + j) * vectors));
        }
#pragma unroll
        for (int i = 0; i < width; ++i) sum.lane[i] /= static_cast<float>(window.size() * window.size());
        store(result,
              row.begin(pool.result_height, static_cast<std::uint32_t>(pool.result_width) * vectors) +
                  static_cast<std::uint32_t>(x) * vectors + channel,
              sum);
    }
};

template <class Element, int width, class Window>
struct AverageGradientBody : MaxGradientBody<Element, width, Window, true> {
};

constexpr unsigned threads_per_row_block = 128;  // rows of maps are a few hundred vectors long

/// Calls the body for all vectors of a map. The grid is along the row, the rows of an image, the images.
template <class Body>
__global__ void __launch_bounds__(threads_per_row_block)
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

}  // namespace

void enqueue(const MaxPool& operation, const Memory& memory, cudaStream_t stream)
{
    const PoolShape pool = shape_of(operation.source, operation.result, operation.window);
    const auto launch = [&]<bool scales>() {
        launch_over_places(operation.result, pool, stream, [&]<class Element, int width>(const auto& window) {
            return MaxBody<Element, width, std::decay_t<decltype(window)>, scales>{
                window,
                memory.at<Element>(operation.source),
                memory.at<float>(operation.scale),
                memory.at<float>(operation.shift),
                memory.at<Element>(operation.result),
                memory.at<std::uint8_t>(operation.winners)};
        });
    };
    operation.scale ? launch.template operator()<true>() : launch.template operator()<false>();
}

void enqueue(const MaxPoolGradient& operation, const Memory& memory, cudaStream_t stream)
{
    const PoolShape pool = shape_of(operation.source, operation.result, operation.window);
    launch_over_places(operation.source, pool, stream, [&]<class Element, int width>(const auto& window) {
        return MaxGradientBody<Element, width, std::decay_t<decltype(window)>>{
            {window, memory.at<Element>(operation.result), memory.at<std::uint8_t>(operation.winners)},
            memory.at<Element>(operation.source)};
    });
}

void enqueue(const AveragePool& operation, const Memory& memory, cudaStream_t stream)
{
    const PoolShape pool = shape_of(operation.source, operation.result, operation.window);
    launch_over_places(operation.result, pool, stream, [&]<class Element, int width>(const auto& window) {
        return AverageBody<Element, width, std::decay_t<decltype(window)>>{window, memory.at<Element>(operation.source),
                                                                           memory.at<Element>(operation.result)};
    });
}

void enqueue(const AveragePoolGradient& operation, const Memory& memory, cudaStream_t stream)
{
    const PoolShape pool = shape_of(operation.source, operation.result, operation.window);
    launch_over_places(operation.source, pool, stream, [&]<class Element, int width>(const auto& window) {
        return AverageGradientBody<Element, width, std::decay_t<decltype(window)>>{
            {{window, memory.at<Element>(operation.result)}, memory.at<Element>(operation.source)}};
    });
}

}  // namespace roof::cudnn

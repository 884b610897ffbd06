// Max pooling: a thread computes a vector of channels of one position from its window or windows.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/places.cuh"

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

}  // namespace roof::cudnn

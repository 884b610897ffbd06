// Average pooling: a thread computes a vector of channels of one position from its window or windows.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/places.cuh"

namespace roof::cudnn {
namespace {

template <class Element, int width, class Window>
struct AverageBody {
    Window window;
    const Element* source;
    Element* result;

    /// Computes the result at (row, x) for one vector of channels.
    __device__ void operator()(const Row& row, int x, std::uint32_t channel, std::uint32_t vectors) const
    {
        constexpr int at_once = std::is_same_v<Window, Windows<0, 0>> ? 1 : 3;
        const PoolShape& pool = window.pool;
        Lanes<width> sum{};
#pragma unroll 1  // unrolled, the loads of a window need more registers than there are
        for (int i = 0; i < window.size(); ++i) {
            const int from_y = row.y * window.stride() - pool.padding + i;
            if (from_y < 0 || from_y >= pool.height) continue;  // zeros
            const std::uint32_t begin =
                Row{row.image, from_y}.begin(pool.height, static_cast<std::uint32_t>(pool.width) * vectors) + channel;
#pragma unroll at_once
            for (int j = 0; j < window.size(); ++j) {
                const int from_x = x * window.stride() - pool.padding + j;
                if (from_x < 0 || from_x >= pool.width) continue;
                sum.add(load<width>(source, begin + static_cast<std::uint32_t>(from_x) * vectors));
            }
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

}  // namespace

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

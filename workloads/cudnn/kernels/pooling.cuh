// Windows of pooling, and the gradient of what a max pool reads, for its own kernel and those of the batch norm before
// it.
#pragma once

#include "workloads/cudnn/kernels/vectors.cuh"

#include <cstdint>
#include <type_traits>

namespace roof::cudnn {

inline PoolShape shape_of(const Tensor& source, const Tensor& result, const model::Window& window)
{
    return {source.channels, source.height, source.width,  result.height,
            result.width,    window.size,   window.stride, window.padding};
}

/// A window whose sizes the compiler knows, or, with 0, the pool's.
template <int fixed_size, int fixed_stride>
struct Windows {
    PoolShape pool;

    __device__ int size() const { return fixed_size > 0 ? fixed_size : pool.size; }
    __device__ int stride() const { return fixed_stride > 0 ? fixed_stride : pool.stride; }
};

/// A row of a map: image and y.
struct Row {
    std::uint32_t image;
    int y;

    /// Returns the index of the row's first vector in a map of this height.
    __device__ std::uint32_t begin(int height, std::uint32_t vectors_in_row) const
    {
        return (image * static_cast<std::uint32_t>(height) + static_cast<std::uint32_t>(y)) * vectors_in_row;
    }
};

template <int width>
struct alignas(width) Places {
    std::uint8_t lane[width];
};

/// Calls call(window). The usual windows are known to the compiler.
template <int width, class Call>
void with_window(const PoolShape& pool, const Call& call)
{
    if constexpr (width > 1) {
        if (pool.size == 3 && pool.stride == 2) return call(Windows<3, 2>{pool});
        if (pool.size == 2 && pool.stride == 2) return call(Windows<2, 2>{pool});
    }
    call(Windows<0, 0>{pool});
}

/// The gradient of a max pool's source: at each place the sum over the windows whose largest value is there. Or of an
/// average pool's, without winners: the share of each window that reads the place.
template <class Element, int width, class Window, bool averages = false>
struct PooledGradient {
    Window window;
    const Element* result;
    const std::uint8_t* winners;

    static constexpr bool is_gathered = true;  ///< from several places, with loads enough on the way
    using Parts = Lanes<width>;

    /// `channel`: a vector of channels, of `vectors`.
    __device__ Lanes<width> gradient_at(const Row& row, int x, std::uint32_t channel, std::uint32_t vectors) const
    {
        const PoolShape& pool = window.pool;
        const int size = window.size();
        const int stride = window.stride();
        const auto y_padded = static_cast<unsigned>(row.y + pool.padding);
        const auto x_padded = static_cast<unsigned>(x + pool.padding);
        const auto step = static_cast<unsigned>(stride);  // so that no place within a window is negative
        Lanes<width> gradient{};
        // Of the windows that read the place the last one, where it has place i, and those before it.
        int from_y = static_cast<int>(y_padded / step);
#pragma unroll
        for (int i = static_cast<int>(y_padded % step); i < size; i += stride, --from_y) {
            if (from_y < 0 || from_y >= pool.result_height) continue;
            const std::uint32_t begin =
                Row{row.image, from_y}.begin(pool.result_height,
                                             static_cast<std::uint32_t>(pool.result_width) * vectors) +
                channel;
            int from_x = static_cast<int>(x_padded / step);
#pragma unroll
            for (int j = static_cast<int>(x_padded % step); j < size; j += stride, --from_x) {
                if (from_x < 0 || from_x >= pool.result_width) continue;
                const std::uint32_t from = begin + static_cast<std::uint32_t>(from_x) * vectors;
                if constexpr (averages) {
                    gradient.add(load<width>(result, from));
                    continue;
                }
                const auto places = reinterpret_cast<const Places<width>*>(winners)[from];
                const Lanes<width> one = load<width>(result, from);
#pragma unroll
                for (int k = 0; k < width; ++k) gradient.lane[k] += places.lane[k] == i * size + j ? one.lane[k] : 0;
            }
        }
#pragma unroll
        for (int k = 0; averages && k < width; ++k) gradient.lane[k] /= static_cast<float>(size * size);
        return gradient;
    }
    __device__ Lanes<width> fetch_at(const Place& place) const
    {
        const auto map_width = static_cast<std::uint32_t>(window.pool.width);
        const auto height = static_cast<std::uint32_t>(window.pool.height);
        const std::uint32_t line = place.row / map_width;
        return gradient_at({line / height, static_cast<int>(line % height)}, static_cast<int>(place.row % map_width),
                           place.column, static_cast<std::uint32_t>(window.pool.channels / width));
    }
    __device__ const Lanes<width>& gradient_of(const Lanes<width>& fetched) const
    {
        return fetched;
    }
};

}  // namespace roof::cudnn

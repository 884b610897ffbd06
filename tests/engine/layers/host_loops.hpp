// What several of the host's loops need: places of a map, and gradients before a ReLU or a max pool.
#pragma once

#include "tests/engine/layers/host_values.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roof::ir {

/// Returns the index of a value in a channels-last map.
constexpr std::size_t place_at(const PoolShape& pool, int height, int width, std::size_t image, int y, int x,
                               int channel)
{
    const std::size_t row =
        (image * static_cast<std::size_t>(height) + static_cast<std::size_t>(y)) * static_cast<std::size_t>(width);
    return (row + static_cast<std::size_t>(x)) * static_cast<std::size_t>(pool.channels) +
           static_cast<std::size_t>(channel);
}

struct Winner {
    float value = 0;
    std::uint8_t place = 0;  ///< y * size + x within the window
};

/// Returns the largest value in the window of result (y, x).
template <class Element>
constexpr Winner max_of(const PoolShape& pool, const Element* source, std::size_t image, int y, int x, int channel)
{
    Winner best{};
    bool found = false;
    for (int i = 0; i < pool.size; ++i) {
        const int row = y * pool.stride - pool.padding + i;
        if (row < 0 || row >= pool.height) continue;
        for (int j = 0; j < pool.size; ++j) {
            const int column = x * pool.stride - pool.padding + j;
            if (column < 0 || column >= pool.width) continue;
            const float value = widen(source[place_at(pool, pool.height, pool.width, image, row, column, channel)]);
            if (found && !is_larger(value, best.value)) continue;
            best = {value, static_cast<std::uint8_t>(i * pool.size + j)};
            found = true;
        }
    }
    return best;
}

/// Returns the gradient of source (y, x): the sum over the windows whose largest value it is.
template <class Element>
constexpr float max_gradient(const PoolShape& pool, const Element* result, const std::uint8_t* winners,
                             std::size_t image, int y, int x, int channel)
{
    float sum = 0;
    for (int i = (y + pool.padding) % pool.stride; i < pool.size; i += pool.stride) {
        const int row = (y + pool.padding - i) / pool.stride;
        if (y + pool.padding < i || row >= pool.result_height) continue;
        for (int j = (x + pool.padding) % pool.stride; j < pool.size; j += pool.stride) {
            const int column = (x + pool.padding - j) / pool.stride;
            if (x + pool.padding < j || column >= pool.result_width) continue;
            const std::size_t at = place_at(pool, pool.result_height, pool.result_width, image, row, column, channel);
            if (winners[at] == i * pool.size + j) sum += widen(result[at]);
        }
    }
    return sum;
}

class HostLoops {
  public:
    explicit HostLoops(const Memory& memory) : memory_(memory) {}

  protected:
    template <class Round>
    static void dispatch(Precision precision, const Round& round)
    {
        if (precision == Precision::bf16) return round(__nv_bfloat16{});
        if (precision == Precision::fp16) return round(__half{});
        round(float{});
    }

    static PoolShape shape_of(const Tensor& source, const Tensor& result, const model::Window& window)
    {
        return {source.channels, source.height, source.width,  result.height,
                result.width,    window.size,   window.stride, window.padding};
    }

    template <class Round>
    static void for_places(const Tensor& tensor, const Round& round)
    {
        std::size_t k = 0;
        for (std::size_t n = 0; n < static_cast<std::size_t>(tensor.batch); ++n) {
            for (int y = 0; y < tensor.height; ++y) {
                for (int x = 0; x < tensor.width; ++x) {
                    for (int c = 0; c < tensor.channels; ++c) round(k++, n, y, x, c);
                }
            }
        }
    }

    /// The gradient of the source of a max pool, whose result has `share`; nothing where there is no pool.
    template <class Norm>
    std::vector<float> pooled_gradient(const Norm& op, const Tensor& share)
    {
        if (!op.winners) return {};
        std::vector<float> all(op.source.elements());
        dispatch(op.source.precision, [&](auto element) {
            const PoolShape pool = shape_of(op.source, share, op.window);
            for_places(op.source, [&](std::size_t k, std::size_t n, int y, int x, int c) {
                all[k] = max_gradient(pool, memory_.at<decltype(element)>(share), memory_.at<std::uint8_t>(op.winners),
                                      n, y, x, c);
            });
        });
        return all;
    }

    float gradient(const Tensor& share, const Tensor& other, const Tensor& output, std::size_t k) const
    {
        float g = Values(memory_, share)[k];
        if (other) g += Values(memory_, other)[k];
        return output ? masked(g, Values(memory_, output)[k]) : g;
    }

    bool has_sign(const Tensor& signs, std::size_t k) const
    {
        return (memory_.at<std::uint8_t>(signs)[k / signs_per_byte] >> k % signs_per_byte & 1) != 0;
    }

    /// Returns the value after scale and shift, as it is stored.
    float normalised(const Tensor& source, const ChannelNumbers& channels, std::size_t k) const
    {
        const std::size_t c = k % static_cast<std::size_t>(source.channels);
        return stored(
            scaled(Values(memory_, source)[k], Values(memory_, channels.scale)[c], Values(memory_, channels.shift)[c]),
            source.precision);
    }

    const Memory& memory_;
};

}  // namespace roof::ir

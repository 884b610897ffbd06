// What several of the host's loops need: places of a map, and gradients before a ReLU or a max pool.
#pragma once

#include "tests/cudnn/host_values.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roof::cudnn {

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

}  // namespace roof::cudnn

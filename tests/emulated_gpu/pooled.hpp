// What a max pool passes back to its source: made up winners of each window, and the gradient that follows.
#pragma once

#include "tests/emulated_gpu/one_operation.hpp"

#include <cstddef>
#include <vector>

namespace roof::cudnn {

/// Result and winners of a max pool over `source`, and the gradient of the source: each window adds to the place of its
/// winner.
struct Pooled {
    Tensor result, winners;
    std::vector<double> gradient;

    Pooled(OneOperation& one, const Tensor& source, const model::Window& window) : gradient(source.elements())
    {
        result = source;
        result.height = (source.height + 2 * window.padding - window.size) / window.stride + 1;
        result.width = (source.width + 2 * window.padding - window.size) / window.stride + 1;
        const int places = window.size * window.size;
        const auto winner = [places](std::size_t k) { return static_cast<int>(k * 7 / 3 % 1009) % places; };
        Tensor bytes = result;
        bytes.precision = Precision::int8;
        winners = one.filled(bytes, [winner](std::size_t k) { return static_cast<double>(winner(k)); });
        result = one.filled(result, 31);
        for (std::size_t k = 0; k < result.elements(); ++k) {
            const int channel = static_cast<int>(k) % result.channels;
            const int place = static_cast<int>(k) / result.channels;
            const int image = place / (result.height * result.width);
            const int y =
                place / result.width % result.height * window.stride - window.padding + winner(k) / window.size;
            const int x = place % result.width * window.stride - window.padding + winner(k) % window.size;
            if (y < 0 || y >= source.height || x < 0 || x >= source.width) continue;
            const int at = ((image * source.height + y) * source.width + x) * source.channels + channel;
            gradient[static_cast<std::size_t>(at)] += quarters(k, 31);
        }
    }
};

}  // namespace roof::cudnn

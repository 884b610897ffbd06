// Pools, alone: windows that the kernels are compiled for and others, rows of more vectors than a block has threads,
// one block for all images, and values that are not numbers.
#include "tests/emulated_gpu/one_operation.hpp"
#include "tests/emulated_gpu/pooled.hpp"

#include <algorithm>
#include <limits>
#include <map>

using namespace roof;
using namespace roof::cudnn;

namespace {

const std::vector<model::Window> windows{
    {.size = 3, .stride = 2, .padding = 1}, {.size = 3, .stride = 2, .padding = 0},
    {.size = 2, .stride = 2, .padding = 0}, {.size = 3, .stride = 1, .padding = 1},
    {.size = 4, .stride = 3, .padding = 1}, {.size = 9, .stride = 4, .padding = 3}};

std::vector<Tensor> maps(Precision precision)
{
    std::vector<Tensor> all;
    for (const auto& [channels, height, width] : {std::tuple{40, 9, 33}, {7, 11, 23}, {8, 5, 4}})
        all.push_back({.batch = 3, .channels = channels, .height = height, .width = width, .precision = precision});
    return all;
}

/// Whether the first value wins over the second one, which comes before it.
bool wins(double value, double before)
{
    return value > before || std::isnan(value);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("a max pool takes the first of the largest values of each window, or what is no number",
                       "[kernels][operations]", ((Precision precision), precision), Precision::fp32, Precision::bf16,
                       Precision::fp16)
{
    for (const Tensor& map : maps(precision)) {
        for (const model::Window& window : windows) {
            for (const bool is_scaled : {false, true}) {
                for (const Dim& grid : {Dim{all_blocks, all_blocks, all_blocks}, {all_blocks, all_blocks, 1}}) {
                    const FewBlocks few(grid);
                    OneOperation one;
                    Tensor shape = map;
                    shape.height = (map.height + 2 * window.padding - window.size) / window.stride + 1;
                    shape.width = (map.width + 2 * window.padding - window.size) / window.stride + 1;
                    Tensor bytes = shape;
                    bytes.precision = Precision::int8;
                    const auto value = [is_scaled](std::size_t k) {
                        return !is_scaled && k % 61 == 7 ? std::numeric_limits<double>::quiet_NaN() : quarters(k, 1);
                    };
                    MaxPool op{.source = one.filled(map, value),
                               .result = one.empty(shape),
                               .winners = one.empty(bytes),
                               .window = window};
                    const Tensor numbers{.batch = 1, .channels = map.channels};
                    if (is_scaled) {
                        op.scale = one.filled(numbers, 2);
                        op.shift = one.filled(numbers, 3);
                    }
                    one.run(op, {op.result, op.winners});
                    std::vector<std::pair<double, int>> due;
                    for (int k = 0; k < static_cast<int>(shape.elements()); ++k) {
                        const int channel = k % shape.channels;
                        const int place = k / shape.channels;
                        std::pair<double, int> best{0, -1};
                        for (int i = 0; i < window.size * window.size; ++i) {
                            const int y =
                                place / shape.width % shape.height * window.stride - window.padding + i / window.size;
                            const int x = place % shape.width * window.stride - window.padding + i % window.size;
                            if (y < 0 || y >= map.height || x < 0 || x >= map.width) continue;
                            const int image = place / (shape.height * shape.width);
                            const auto c = static_cast<std::size_t>(channel);
                            double here = value(static_cast<std::size_t>(
                                ((image * map.height + y) * map.width + x) * map.channels + channel));
                            if (is_scaled) here = std::max(here * quarters(c, 2) + quarters(c, 3), 0.0);
                            if (best.second < 0 || wins(here, best.first)) best = {here, i};
                        }
                        due.push_back(best);
                    }
                    one.check(op.result, [&](std::size_t k) { return due[k].first; });
                    one.check(op.winners, [&](std::size_t k) { return static_cast<double>(due[k].second); });
                }
            }
        }
    }
}

TEST_CASE("each window of a max pool passes its gradient to the place of its winner", "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        for (const Tensor& map : maps(precision)) {
            for (const model::Window& window : windows) {
                for (const Dim& grid : {Dim{all_blocks, all_blocks, all_blocks}, {all_blocks, all_blocks, 1}}) {
                    const FewBlocks few(grid);
                    OneOperation one;
                    const Pooled pooled(one, map, window);
                    const MaxPoolGradient op{
                        .source = one.empty(map), .result = pooled.result, .winners = pooled.winners, .window = window};
                    one.run(op, {op.source});
                    one.check(op.source, [&](std::size_t k) { return pooled.gradient[k]; });
                }
            }
        }
    }
}

TEMPLATE_TEST_CASE_SIG("an average pool takes the mean of a window, and passes back its share to each place",
                       "[kernels][operations]", ((Precision precision), precision), Precision::fp32, Precision::bf16,
                       Precision::fp16)
{
    for (const auto& [channels, images, height, width, size, stride, padding] : {std::tuple{280, 9, 5, 5, 5, 5, 0},
                                                                                 {7, 50, 3, 3, 3, 3, 0},
                                                                                 {8, 2, 1, 1, 1, 1, 0},
                                                                                 {24, 3, 9, 8, 3, 2, 0},
                                                                                 {8, 3, 6, 9, 2, 2, 0},
                                                                                 {7, 2, 7, 6, 2, 2, 0},
                                                                                 {16, 2, 6, 7, 3, 1, 1},
                                                                                 {8, 1, 9, 7, 2, 3, 0},
                                                                                 {7, 2, 9, 7, 5, 2, 2},
                                                                                 {7, 2, 11, 9, 9, 2, 0}}) {
        for (const Dim& grid : {Dim{all_blocks, all_blocks, all_blocks}, {all_blocks, all_blocks, 1}}) {
            const FewBlocks few(grid);
            const model::Window window{.size = size, .stride = stride, .padding = padding};
            const Tensor map{
                .batch = images, .channels = channels, .height = height, .width = width, .precision = precision};
            Tensor mean = map;
            mean.height = window.results(height);
            mean.width = window.results(width);
            OneOperation forward;
            const AveragePool pool{.source = forward.filled(map, 1), .result = forward.empty(mean), .window = window};
            OneOperation backward;
            const AveragePoolGradient gradient{
                .source = backward.empty(map), .result = backward.filled(mean, 2), .window = window};
            std::vector<double> means(mean.elements());
            std::vector<double> shares(map.elements());
            for (int k = 0; k < static_cast<int>(means.size()); ++k) {
                const int place = k / channels;
                const int image = place / (mean.height * mean.width);
                for (int tap = 0; tap < size * size; ++tap) {
                    const int y = place / mean.width % mean.height * stride + tap / size - padding;
                    const int x = place % mean.width * stride + tap % size - padding;
                    if (y < 0 || y >= height || x < 0 || x >= width) continue;
                    const auto at =
                        static_cast<std::size_t>(((image * height + y) * width + x) * channels + k % channels);
                    means[static_cast<std::size_t>(k)] += quarters(at, 1) / (size * size);
                    shares[at] += quarters(static_cast<std::size_t>(k), 2) / (size * size);
                }
            }
            forward.run(pool, {pool.result});
            forward.check(pool.result, [&](std::size_t k) { return means[k]; });
            backward.run(gradient, {gradient.source});
            backward.check(gradient.source, [&](std::size_t k) { return shares[k]; });
        }
    }
}

TEMPLATE_TEST_CASE_SIG("a resized map has the means of four neighbours, and passes back their shares",
                       "[kernels][operations]", ((Precision precision), precision), Precision::fp32, Precision::bf16,
                       Precision::fp16)
{
    for (const auto& [channels, height, width, to_height, to_width] :
         {std::tuple{24, 3, 4, 12, 8}, {7, 5, 3, 7, 10}, {8, 9, 8, 4, 3}, {40, 1, 2, 3, 2}, {16, 6, 6, 6, 6}}) {
        const Tensor map{.batch = 2, .channels = channels, .height = height, .width = width, .precision = precision};
        Tensor resized = map;
        resized.height = to_height;
        resized.width = to_width;
        OneOperation forward;
        const Resize resize{forward.filled(map, 1), forward.empty(resized)};
        OneOperation backward;
        const ResizeGradient gradient{backward.empty(map), backward.filled(resized, 2)};
        std::vector<double> means(resized.elements()), shares(map.elements());
        for (std::size_t k = 0; k < means.size(); ++k) {
            const int place = static_cast<int>(k) / channels;
            const int image = place / (to_height * to_width);
            const double y =
                std::clamp((place / to_width % to_height + 0.5) * height / to_height - 0.5, 0.0, height - 1.0);
            const double x = std::clamp((place % to_width + 0.5) * width / to_width - 0.5, 0.0, width - 1.0);
            for (int from = 0; from < height * width; ++from) {
                const double share =
                    std::max(0.0, 1 - std::abs(y - from / width)) * std::max(0.0, 1 - std::abs(x - from % width));
                const auto at = static_cast<std::size_t>((image * height * width + from) * channels) +
                                k % static_cast<std::size_t>(channels);
                means[k] += share * quarters(at, 1);
                shares[at] += share * quarters(k, 2);
            }
        }
        forward.run(resize, {resize.result});
        forward.check(resize.result, [&](std::size_t k) { return means[k]; });
        backward.run(gradient, {gradient.source});
        backward.check(gradient.source, [&](std::size_t k) { return shares[k]; });
    }
}

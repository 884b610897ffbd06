// Operations that read and write each value once, alone: odd channels, more rows than threads, ends of ranges, and
// grids of so few blocks that a thread takes several turns.
#include "tests/emulated_gpu/one_operation.hpp"

#include <algorithm>
#include <tuple>

using namespace roof;
using namespace roof::cudnn;

namespace {

/// As above, where blocks along x have channels of their own.
const std::vector<Dim> row_grids{{all_blocks, all_blocks, all_blocks}, {all_blocks, 1, 1}, {all_blocks, 2, 1}};

/// Maps whose vectors are one channel or eight: one and several columns of blocks, with columns that no thread has.
std::vector<Tensor> maps(Precision precision)
{
    std::vector<Tensor> all;
    for (const auto& [channels, rows] : {std::pair{7, 197}, {24, 197}, {280, 53}, {8, 1}, {13, 3}})
        all.push_back({.batch = 1, .channels = channels, .width = rows, .precision = precision});
    return all;
}

Tensor of_channels(const Tensor& map, Precision precision)
{
    return {.batch = 1, .channels = map.channels, .precision = precision};
}

double relu(double value)
{
    return std::max(value, 0.0);
}

}  // namespace

TEST_CASE("images are imported position by position, each channel and label", "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        for (const auto& [channels, height, width] :
             {std::tuple{1, 19, 23}, {3, 19, 23}, {6, 9, 13}, {7, 19, 23}, {3, 1, 1}}) {
            for (const Dim& grid : grids) {
                const FewBlocks few(grid);
                OneOperation one;
                const Tensor from = one.filled({.batch = 3, .channels = channels, .height = height, .width = width}, 1);
                const Tensor labels{.batch = 3, .precision = Precision::int32};
                const Tensor labels_from =
                    one.filled(labels, [](std::size_t k) { return 70.0 - 3.0 * static_cast<double>(k); });
                Tensor shape = from;
                shape.precision = precision;
                const Tensor to = one.empty(shape);
                const Tensor labels_to = one.empty(labels);
                one.run(ImportImages{.from = from, .to = to, .labels_from = labels_from, .labels = labels_to},
                        {to, labels_to});
                const auto map = static_cast<std::size_t>(height * width);
                const auto each = static_cast<std::size_t>(channels);
                one.check(to, [&](std::size_t k) {
                    return quarters((k / each / map * each + k % each) * map + k / each % map, 1);
                });
                one.check(labels_to, [](std::size_t k) { return 70.0 - 3.0 * static_cast<double>(k); });
            }
        }
    }
}

TEST_CASE("images by depth have the padding's zeros around them, and zeros behind their channels",
          "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        for (const auto& [block, padding, height, width] : {std::tuple{1, 1, 15, 21},
                                                            {2, 3, 30, 43},
                                                            {4, 2, 61, 82},
                                                            {2, 0, 36, 37},
                                                            {1, 0, 1, 1},
                                                            {2, 0, 1, 2},
                                                            {4, 0, 3, 4},
                                                            {16, 0, 32, 48},
                                                            {32, 0, 64, 32}}) {
            for (const Dim& grid : grids) {
                const FewBlocks few(grid);
                OneOperation one;
                const Tensor from = one.filled({.batch = 3, .channels = 3, .height = height, .width = width}, 2);
                const Tensor labels{.batch = 3, .precision = Precision::int32};
                const Tensor labels_from =
                    one.filled(labels, [](std::size_t k) { return 5.0 + static_cast<double>(k); });
                const Tensor to = one.empty({.batch = 3,
                                             .channels = (3 * block * block + 7) / 8 * 8,
                                             .height = (height + 2 * padding + block - 1) / block,
                                             .width = (width + 2 * padding + block - 1) / block,
                                             .precision = precision});
                const Tensor labels_to = one.empty(labels);
                one.run(ImportImages{.from = from,
                                     .to = to,
                                     .labels_from = labels_from,
                                     .labels = labels_to,
                                     .block = block,
                                     .padding = padding},
                        {to, labels_to});
                one.check(to, [&, block = block, padding = padding, height = height, width = width](std::size_t k) {
                    const int channel = static_cast<int>(k) % to.channels;
                    const int place = static_cast<int>(k) / to.channels;
                    const int image = place / (to.height * to.width);
                    const int y = place / to.width % to.height * block + channel / 3 / block - padding;
                    const int x = place % to.width * block + channel / 3 % block - padding;
                    if (channel >= 3 * block * block || y < 0 || y >= height || x < 0 || x >= width) return 0.0;
                    return quarters(static_cast<std::size_t>(((image * 3 + channel % 3) * height + y) * width + x), 2);
                });
                one.check(labels_to, [](std::size_t k) { return 5.0 + static_cast<double>(k); });
            }
        }
    }
}

TEST_CASE("gradients of weights by depth are cleared where there is no weight, and nowhere else",
          "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        for (const auto& [block, size, stored] : {std::tuple{1, 3, 8}, {2, 7, 16}, {4, 11, 48}, {2, 3, 16}}) {
            for (const Dim& grid : grids) {
                const FewBlocks few(grid);
                OneOperation one;
                const int taps = (size + block - 1) / block;
                const auto ones = [](std::size_t k) { return 1 + static_cast<double>(k % 5) / 4; };
                const Tensor gradient = one.filled(
                    {.batch = 5, .channels = stored, .height = taps, .width = taps, .precision = precision}, ones);
                const DepthWeights weights{.block = static_cast<std::size_t>(block),
                                           .size = static_cast<std::size_t>(size),
                                           .channels = 3,
                                           .stored = static_cast<std::size_t>(stored)};
                one.run(ClearUnused{.gradient = gradient, .weights = weights}, {gradient});
                one.check(gradient, [&, block = block, size = size, stored = stored](std::size_t k) {
                    const int channel = static_cast<int>(k) % stored;
                    const int tap = static_cast<int>(k) / stored;
                    const int y = tap / taps % taps * block + channel / 3 / block;
                    const int x = tap % taps * block + channel / 3 % block;
                    return channel < 3 * block * block && y < size && x < size ? ones(k) : 0;
                });
            }
        }
    }
}

TEST_CASE("a bias is added to each channel of each row, with and without a ReLU", "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        for (const Tensor& map : maps(precision)) {
            for (const Dim& grid : row_grids) {
                for (const auto& [has_bias, has_relu] : {std::pair{true, false}, {true, true}, {false, true}}) {
                    const FewBlocks few(grid);
                    OneOperation one;
                    const Tensor values = one.filled(map, 1);
                    const Tensor bias = has_bias ? one.filled(of_channels(map, precision), 2) : Tensor{};
                    one.run(AddBias{.values = values, .bias = bias, .relu = has_relu}, {values});
                    one.check(values, [&, has_bias = has_bias, has_relu = has_relu](std::size_t k) {
                        const double sum =
                            quarters(k, 1) + (has_bias ? quarters(k % static_cast<std::size_t>(map.channels), 2) : 0);
                        return has_relu ? relu(sum) : sum;
                    });
                }
            }
        }
    }
}

TEST_CASE("a map and another one are scaled by channels and added, and the signs of the result are kept",
          "[kernels][operations]")
{
    struct Kind {
        bool scales, has_other, scales_other;
    };
    for (const Precision precision : precisions) {
        for (const Tensor& map : maps(precision)) {
            const auto channels = static_cast<std::size_t>(map.channels);
            for (const Dim& grid : row_grids) {
                for (const auto& [kind, has_relu, has_signs] : {std::tuple{Kind{true, false, false}, true, true},
                                                                {Kind{true, true, true}, true, true},
                                                                {Kind{true, true, false}, false, false},
                                                                {Kind{false, true, true}, true, false},
                                                                {Kind{true, false, false}, false, true},
                                                                {Kind{true, true, true}, false, true},
                                                                {Kind{true, false, false}, true, false},
                                                                {Kind{false, false, false}, false, false}}) {
                    const FewBlocks few(grid);
                    OneOperation one;
                    const Tensor numbers = of_channels(map, Precision::fp32);
                    Normalise normalise{.source = one.filled(map, 1), .result = one.empty(map), .relu = has_relu};
                    if (kind.scales) {
                        normalise.scale = one.filled(numbers, 2);
                        normalise.shift = one.filled(numbers, 3);
                    }
                    if (kind.has_other) normalise.other = one.filled(map, 4);
                    if (kind.scales_other) {
                        normalise.other_scale = one.filled(numbers, 5);
                        normalise.other_shift = one.filled(numbers, 6);
                    }
                    if (channels % 8 == 0 && has_signs)
                        normalise.signs = one.empty({.batch = 1,
                                                     .channels = static_cast<int>(map.elements() / 8),
                                                     .precision = Precision::int8});
                    std::vector<Tensor> results{normalise.result};
                    if (normalise.signs) results.push_back(normalise.signs);
                    one.run(normalise, results);
                    const auto due = [&, kind = kind, has_relu = has_relu](std::size_t k) {
                        const std::size_t c = k % channels;
                        double sum = quarters(k, 1);
                        if (kind.scales) sum = sum * quarters(c, 2) + quarters(c, 3);
                        if (kind.has_other) {
                            const double other = quarters(k, 4);
                            sum += kind.scales_other ? other * quarters(c, 5) + quarters(c, 6) : other;
                        }
                        return has_relu ? relu(sum) : sum;
                    };
                    one.check(normalise.result, due);
                    if (!normalise.signs) continue;
                    one.check(normalise.signs, [&](std::size_t byte) {
                        double bits = 0;
                        for (std::size_t i = 0; i < 8; ++i) bits += due(8 * byte + i) > 0 ? 1 << i : 0;
                        return bits;
                    });
                }
            }
        }
    }
}

TEST_CASE("signs and masks are those of the stored values: what is rounded to 0 is not positive",
          "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        // Half of the smallest denormal: IEEE 754 rounds it to the even neighbour, which is 0.
        const float lost = precision == Precision::bf16 ? 0x1p-134F : precision == Precision::fp16 ? 0x1p-25F : 0.0F;
        const std::vector<float> scales{lost,     std::nextafter(lost, 1.0F),  std::nextafter(lost, -1.0F),
                                        2 * lost, -std::nextafter(lost, 1.0F), 1,
                                        -1};
        for (const int channels : {16, 7}) {
            OneOperation one;
            const Tensor map{.batch = 2, .channels = channels, .height = 3, .width = 5, .precision = precision};
            const auto scale_of = [&](std::size_t k) { return scales[k % static_cast<std::size_t>(channels) % 7]; };
            const auto is_positive = [&](std::size_t k) { return scale_of(k) > lost; };
            const auto ones = [](std::size_t) { return 1.0; };
            const Tensor source = one.filled(map, ones);
            const Tensor numbers = of_channels(map, Precision::fp32);
            const ChannelNumbers given{one.filled(numbers, [](std::size_t) { return 0.0; }), one.filled(numbers, ones),
                                       one.filled(numbers, scale_of),
                                       one.filled(numbers, [](std::size_t) { return 0.0; })};
            ReduceGradient sum{.share = one.filled(map, ones), .relu = true};
            sum.source = source;
            sum.channels = given;
            sum.sum = one.empty(numbers);
            sum.sum_of_products = one.empty(numbers);
            sum.partial = one.empty(partial_sums_of(map, 3));
            one.run(sum, {sum.sum, sum.sum_of_products, sum.partial});
            one.check(sum.sum, [&](std::size_t c) { return is_positive(c) ? 30.0 : 0.0; });
            if (channels % 8 != 0) continue;
            OneOperation other;
            Normalise normalise{.source = other.filled(map, ones), .result = other.empty(map), .relu = true};
            normalise.scale = other.filled(numbers, scale_of);
            normalise.shift = other.filled(numbers, [](std::size_t) { return 0.0; });
            normalise.signs = other.empty(
                {.batch = 1, .channels = static_cast<int>(map.elements() / 8), .precision = Precision::int8});
            other.run(normalise, {normalise.result, normalise.signs});
            other.check(normalise.signs, [&](std::size_t byte) {
                double bits = 0;
                for (std::size_t i = 0; i < 8; ++i) bits += is_positive(8 * byte + i) ? 1 << i : 0;
                return bits;
            });
        }
    }
}

TEST_CASE("a gradient is the sum of its shares where the output is positive", "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        for (const Tensor& map : maps(precision)) {
            for (const Dim& grid : grids) {
                for (const auto& [has_other, has_output] : {std::pair{true, true}, {true, false}, {false, true}}) {
                    const FewBlocks few(grid);
                    OneOperation one;
                    const MaskGradient mask{.share = one.filled(map, 1),
                                            .other_share = has_other ? one.filled(map, 2) : Tensor{},
                                            .output = has_output ? one.filled(map, 3) : Tensor{},
                                            .result = one.empty(map)};
                    one.run(mask, {mask.result});
                    one.check(mask.result, [has_other = has_other, has_output = has_output](std::size_t k) {
                        if (has_output && quarters(k, 3) <= 0) return 0.0;
                        return quarters(k, 1) + (has_other ? quarters(k, 2) : 0);
                    });
                }
            }
        }
    }
}

namespace {

/// The hash of workloads/model/hashed.hpp, by its comment.
std::uint32_t mix(std::uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352dU;
    x = (x ^ x >> 15) * 0x846ca68bU;
    return x ^ x >> 16;
}

}  // namespace

TEST_CASE("dropout drops the values whose hash is below its share, and scales the others", "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        for (const Tensor& map : maps(precision)) {
            for (const Dim& grid : grids) {
                const FewBlocks few(grid);
                OneOperation one;
                one.state.step = 3;
                const auto value = [](std::size_t k) { return 1 + static_cast<double>(k % 3) / 2; };
                const Dropout dropout{.source = one.filled(map, value),
                                      .result = one.empty(map),
                                      .layer = 7,
                                      .probability = 0.25F,
                                      .first = 1001};
                one.run(dropout, {dropout.result});
                const std::uint32_t stream = mix(mix(0x5eed + 3) + 7);
                one.check(dropout.result, [&](std::size_t k) {
                    const bool is_kept = mix(mix(1001 + static_cast<std::uint32_t>(k)) + stream) >= 1U << 30;
                    return is_kept ? value(k) / 0.75 : 0;
                });
            }
        }
    }
}

TEST_CASE("tensors of any length are widened in one launch, also what is less than a vector", "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        for (const Dim& grid : {Dim{all_blocks, all_blocks, 1}, {1, all_blocks, 1}, {2, all_blocks, 1}}) {
            const FewBlocks few(grid);
            OneOperation one;
            Widen widen;
            for (const int length : {8 * 700 + 5, 3, 8 * 256, 8 * 31 + 7}) {
                const Tensor shape{.batch = 1, .channels = length};
                Tensor narrow = shape;
                narrow.precision = precision;
                widen.from.push_back(one.filled(narrow, static_cast<unsigned>(length)));
                widen.to.push_back(one.empty(shape));
            }
            one.run(widen, widen.to);
            for (const Tensor& to : widen.to)
                one.check(to, [&](std::size_t k) { return quarters(k, static_cast<unsigned>(to.channels)); });
        }
    }
}

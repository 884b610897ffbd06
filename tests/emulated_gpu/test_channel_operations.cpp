// Sums over the channels of a map, and what is computed from them, alone: more slabs and rows than a thread takes in a
// turn, columns that no thread has, and rows that end within an unrolled turn.
#include "tests/emulated_gpu/one_operation.hpp"
#include "tests/emulated_gpu/pooled.hpp"

#include <algorithm>
#include <optional>

using namespace roof;
using namespace roof::cudnn;

namespace {

struct Size {
    int channels, height, width, images;
    Dim grid;
};
/// A grid of one line of blocks: threads take several turns. The last two have more slabs than a block of gradients has
/// lines.
const std::vector<Size> sizes{{24, 7, 9, 3, {all_blocks, all_blocks, 1}},  {40, 11, 14, 3, {all_blocks, 1, 1}},
                              {7, 11, 14, 3, {all_blocks, 1, 1}},          {88, 5, 6, 7, {all_blocks, 2, 1}},
                              {13, 1, 3, 1, {all_blocks, all_blocks, 1}},  {40, 33, 34, 2, {all_blocks, all_blocks, 1}},
                              {7, 33, 34, 2, {all_blocks, all_blocks, 1}}, {7, 19, 37, 1, {all_blocks, 1, 1}}};

Tensor map_of(const Size& size, Precision precision)
{
    return {.batch = size.images,
            .channels = size.channels,
            .height = size.height,
            .width = size.width,
            .precision = precision};
}
Tensor numbers_of(const Tensor& map)
{
    return {.batch = 1, .channels = map.channels};
}
double positive(std::size_t channel)
{
    return 0.5 + static_cast<double>(channel * channel % 7) / 4;
}

/// What channel c of a map has in all.
template <class Value>
double sum_of(const Tensor& map, std::size_t c, const Value& value)
{
    double sum = 0;
    for (std::size_t k = c; k < map.elements(); k += static_cast<std::size_t>(map.channels)) sum += value(k);
    return sum;
}

/// Mean, deviation and scaling of a batch norm, by salts.
ChannelNumbers given_numbers(OneOperation& one, const Tensor& map)
{
    return {one.filled(numbers_of(map), 21), one.filled(numbers_of(map), positive), one.filled(numbers_of(map), 22),
            one.filled(numbers_of(map), 23)};
}
double normalised(const Tensor& map, unsigned salt, std::size_t k)
{
    const std::size_t c = k % static_cast<std::size_t>(map.channels);
    return (quarters(k, salt) - quarters(c, 21)) * positive(c);
}
bool is_masked(const Tensor& map, unsigned salt, std::size_t k)
{
    const std::size_t c = k % static_cast<std::size_t>(map.channels);
    return quarters(k, salt) * quarters(c, 22) + quarters(c, 23) <= 0;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("statistics of channels are those of all rows", "[kernels][operations]",
                       ((Precision precision), precision), Precision::fp32, Precision::bf16, Precision::fp16)
{
    std::vector<Size> all = sizes;
    all.push_back({7, 66, 34, 2, {all_blocks, all_blocks, 1}});  // more slabs than a block of statistics has lines
    for (const Size& size : all) {
        const FewBlocks few(size.grid);
        OneOperation one;
        const Tensor map = map_of(size, precision);
        const auto n = static_cast<double>(map.rows());
        const auto value = [&](std::size_t k) {
            return quarters(k, 1) + static_cast<double>(k % static_cast<std::size_t>(map.channels) % 3);
        };
        const Tensor numbers = numbers_of(map);
        const Statistics op{
            .source = one.filled(map, value),
            .weight = one.filled(numbers, 2),
            .bias = one.filled(numbers, 3),
            .channels = {one.empty(numbers), one.empty(numbers), one.empty(numbers), one.empty(numbers)},
            .running_mean = one.filled(numbers, 4),
            .running_variance = one.filled(numbers, 5),
            .partial = one.empty(partial_sums_of(map))};
        one.run(op, {op.channels.mean, op.channels.inverse_deviation, op.channels.scale, op.channels.shift,
                     op.running_mean, op.running_variance, op.partial});
        const auto mean = [&](std::size_t c) { return sum_of(map, c, value) / n; };
        const auto variance = [&](std::size_t c) {
            const double middle = mean(c);
            return sum_of(map, c, [&](std::size_t k) { return (value(k) - middle) * (value(k) - middle); }) / n;
        };
        const auto inverse = [&](std::size_t c) { return 1 / std::sqrt(variance(c) + 1e-5); };
        constexpr double tolerance = 1e-5;
        one.check(op.channels.mean, mean, tolerance);
        one.check(op.channels.inverse_deviation, inverse, tolerance);
        one.check(
            op.channels.scale, [&](std::size_t c) { return quarters(c, 2) * inverse(c); }, tolerance);
        one.check(
            op.channels.shift, [&](std::size_t c) { return quarters(c, 3) - mean(c) * quarters(c, 2) * inverse(c); },
            tolerance);
        one.check(
            op.running_mean, [&](std::size_t c) { return 0.9 * quarters(c, 4) + 0.1 * mean(c); }, tolerance);
        one.check(
            op.running_variance, [&](std::size_t c) { return 0.9 * quarters(c, 5) + 0.1 * variance(c) * n / (n - 1); },
            tolerance);
    }
}

TEST_CASE("statistics from the sums of a convolution need no source", "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        OneOperation one;
        const Tensor map{.batch = 2, .channels = 300, .height = 5, .width = 5, .precision = precision};
        const Tensor numbers = numbers_of(map);
        const auto sum = [](std::size_t c) { return 40 * quarters(c, 6); };
        const auto squares = [](std::size_t c) { return 400 + 40 * quarters(c, 7); };
        const Statistics op{
            .source = one.filled(map, 1),
            .weight = one.filled(numbers, 2),
            .bias = one.filled(numbers, 3),
            .sum = one.filled(numbers, sum),
            .squares = one.filled(numbers, squares),
            .channels = {one.empty(numbers), one.empty(numbers), one.empty(numbers), one.empty(numbers)},
            .running_mean = one.filled(numbers, 4),
            .running_variance = one.filled(numbers, 5)};
        one.run(op, {op.channels.mean, op.channels.inverse_deviation, op.channels.scale, op.channels.shift,
                     op.running_mean, op.running_variance});
        const auto variance = [&](std::size_t c) { return squares(c) / 50 - sum(c) / 50 * (sum(c) / 50); };
        const auto inverse = [&](std::size_t c) { return 1 / std::sqrt(variance(c) + 1e-5); };
        one.check(op.channels.mean, [&](std::size_t c) { return sum(c) / 50; });
        one.check(op.channels.inverse_deviation, inverse);
        one.check(op.channels.scale, [&](std::size_t c) { return quarters(c, 2) * inverse(c); });
        one.check(op.channels.shift,
                  [&](std::size_t c) { return quarters(c, 3) - sum(c) / 50 * quarters(c, 2) * inverse(c); });
        one.check(op.running_mean, [&](std::size_t c) { return 0.9 * quarters(c, 4) + 0.1 * sum(c) / 50; });
        one.check(op.running_variance,
                  [&](std::size_t c) { return 0.9 * quarters(c, 5) + 0.1 * variance(c) * 50 / 49; });
    }
}

namespace {

/// How a gradient before a ReLU is given, and what else of it is summed or kept.
struct Given {
    const char* name;
    bool has_other = false, has_output = false, has_signs = false, masks = false;
    int norms = 0;
    bool keeps = false;
    std::optional<model::Window> window{};
};
const std::vector<Given> all_given{
    {.name = "a bias"},
    {.name = "a bias behind a ReLU", .has_other = true, .has_output = true},
    {.name = "an output, and nothing kept", .has_output = true, .norms = 1},
    {.name = "output", .has_output = true, .norms = 1, .keeps = true},
    {.name = "two shares", .has_other = true, .has_output = true, .norms = 1, .keeps = true},
    {.name = "one share", .norms = 1, .keeps = true},
    {.name = "signs", .has_other = true, .has_signs = true, .norms = 1, .keeps = true},
    {.name = "signs for two norms", .has_signs = true, .norms = 2, .keeps = true},
    {.name = "signs, and another sum", .has_other = true, .has_signs = true, .norms = 1, .keeps = true},
    {.name = "a ReLU's source", .masks = true, .norms = 1},
    {.name = "a pool", .masks = true, .norms = 1, .window = model::Window{.size = 3, .stride = 2, .padding = 1}},
    {.name = "a pool of halves",
     .masks = true,
     .norms = 1,
     .window = model::Window{.size = 2, .stride = 2, .padding = 0}},
    {.name = "an unusual pool",
     .masks = true,
     .norms = 1,
     .window = model::Window{.size = 3, .stride = 1, .padding = 1}}};

}  // namespace

TEMPLATE_TEST_CASE_SIG("gradients are summed over all rows, with the normalised sources of one batch norm or two",
                       "[kernels][operations]", ((Precision precision), precision), Precision::fp32, Precision::bf16,
                       Precision::fp16)
{
    for (const Size& size : sizes) {
        for (const Given& given : all_given) {
            if (given.has_signs && size.channels % 8 != 0) continue;
            INFO(given.name << ", " << size.channels << " channels");
            const FewBlocks few(size.grid);
            OneOperation one;
            const Tensor map = map_of(size, precision);
            const Tensor numbers = numbers_of(map);
            const bool has_other_sum = std::string_view(given.name) == "signs, and another sum";
            std::optional<Pooled> pooled;
            ReduceGradient op;
            if (given.window) {
                pooled.emplace(one, map, *given.window);
                op.share = pooled->result;
                op.winners = pooled->winners;
                op.window = *given.window;
            } else {
                op.share = one.filled(map, 1);
            }
            if (given.has_other) op.other_share = one.filled(map, 2);
            if (given.has_output) op.output = one.filled(map, 3);
            if (given.has_signs)
                op.signs = one.filled(
                    {.batch = 1, .channels = static_cast<int>(map.elements() / 8), .precision = Precision::int8},
                    [](std::size_t k) { return static_cast<double>(k * 37 % 256); });
            op.relu = given.masks;
            if (given.norms > 0) {
                op.source = one.filled(map, 4);
                op.channels = given_numbers(one, map);
                op.sum_of_products = one.empty(numbers);
            }
            if (given.norms > 1) {
                op.other_norm.source = one.filled(map, 5);
                op.other_norm.channels = op.channels;
                op.other_norm.sum_of_products = one.empty(numbers);
            }
            if (given.norms > 1 || has_other_sum) op.other_norm.sum = one.empty(numbers);
            if (given.keeps) op.result = one.empty(map);
            op.sum = one.empty(numbers);
            op.partial = one.empty(partial_sums_of(map, 3));
            one.run(op, {op.result, op.sum, op.sum_of_products, op.other_norm.sum, op.other_norm.sum_of_products,
                         op.partial});
            const auto gradient = [&](std::size_t k) {
                if (given.has_output && quarters(k, 3) <= 0) return 0.0;
                if (given.has_signs && (k / 8 * 37 % 256 >> k % 8 & 1) == 0) return 0.0;
                if (given.masks && is_masked(map, 4, k)) return 0.0;
                if (pooled) return pooled->gradient[k];
                return quarters(k, 1) + (given.has_other ? quarters(k, 2) : 0);
            };
            const auto sum = [&](std::size_t c) { return sum_of(map, c, gradient); };
            const auto product = [&](unsigned salt) {
                return [&, salt](std::size_t c) {
                    return sum_of(map, c, [&](std::size_t k) { return gradient(k) * normalised(map, salt, k); });
                };
            };
            one.check(op.sum, sum);
            if (given.keeps) one.check(op.result, gradient);
            if (given.norms > 0) one.check(op.sum_of_products, product(4));
            if (op.other_norm.sum) one.check(op.other_norm.sum, sum);
            if (given.norms > 1) one.check(op.other_norm.sum_of_products, product(5));
        }
    }
}

TEMPLATE_TEST_CASE_SIG("the gradient of a batch norm's source follows from the sums, for one batch norm or two",
                       "[kernels][operations]", ((Precision precision), precision), Precision::fp32, Precision::bf16,
                       Precision::fp16)
{
    for (const Size& size : sizes) {
        for (const Given& given : all_given) {
            const bool has_two = given.has_signs && given.norms == 2;
            if (given.has_other || given.norms == 0 || (given.has_signs && !has_two)) continue;
            if (has_two && size.channels % 8 != 0) continue;
            if (size.height > 30) continue;
            INFO(given.name << ", " << size.channels << " channels");
            const FewBlocks few(size.grid);
            OneOperation one;
            const Tensor map = map_of(size, precision);
            const Tensor numbers = numbers_of(map);
            const auto n = static_cast<double>(map.rows());
            std::optional<Pooled> pooled;
            NormGradient op;
            if (given.window) {
                pooled.emplace(one, map, *given.window);
                op.gradient = pooled->result;
                op.winners = pooled->winners;
                op.window = *given.window;
            } else {
                op.gradient = one.filled(map, 1);
            }
            if (given.has_output) op.output = one.filled(map, 3);
            op.relu = given.masks;
            op.source = one.filled(map, 4);
            op.weight = one.filled(numbers, 8);
            op.channels = given_numbers(one, map);
            const auto sums = [n](unsigned salt) {
                return [n, salt](std::size_t c) { return n * quarters(c, salt) / 4; };
            };
            op.sum = one.filled(numbers, sums(9));
            op.sum_of_products = one.filled(numbers, sums(10));
            op.result = one.empty(map);
            if (has_two)
                op.other_norm = {.source = one.filled(map, 5),
                                 .weight = one.filled(numbers, 11),
                                 .channels = op.channels,
                                 .sum = one.filled(numbers, sums(12)),
                                 .sum_of_products = one.filled(numbers, sums(13)),
                                 .result = one.empty(map)};
            one.run(op, {op.result, op.other_norm.result});
            const auto due = [&](unsigned source, unsigned weight, unsigned sum, unsigned products) {
                return [&, source, weight, sum, products](std::size_t k) {
                    const std::size_t c = k % static_cast<std::size_t>(map.channels);
                    double gradient = pooled ? pooled->gradient[k] : quarters(k, 1);
                    if (given.has_output && quarters(k, 3) <= 0) gradient = 0;
                    if (given.masks && is_masked(map, source, k)) gradient = 0;
                    return quarters(c, weight) * positive(c) *
                           (gradient - quarters(c, sum) / 4 - normalised(map, source, k) * quarters(c, products) / 4);
                };
            };
            one.check(op.result, due(4, 8, 9, 10), 1e-5);
            if (has_two) one.check(op.other_norm.result, due(5, 11, 12, 13), 1e-5);
        }
    }
}

TEMPLATE_TEST_CASE_SIG("the loss of a row is right wherever its largest value stands", "[kernels][operations]",
                       ((Precision precision), precision), Precision::fp32, Precision::bf16, Precision::fp16)
{
    constexpr double scale = 64;
    struct Size {
        int classes, images, stored;
    };
    for (const auto& [classes, images, stored] : {Size{2300, 2, 2300},
                                                  {2300, 2, 2304},
                                                  {9001, 1, 9008},
                                                  {1000, 5, 1000},
                                                  {257, 2, 264},
                                                  {257, 2, 257},
                                                  {7, 70, 7},
                                                  {7, 300, 8},
                                                  {10, 1, 10},
                                                  {10, 3, 16},
                                                  {5, 6, 5}}) {
        for (int place = 0; place < classes; place = 12 * place + 1 + place % 3) {
            OneOperation one;
            one.state.loss_scale = scale;
            one.state.loss = -1;
            const auto each = static_cast<std::size_t>(stored);
            const auto logit = [&, place = place](std::size_t k) {
                const std::size_t n = k / each;
                const bool is_largest = static_cast<int>((k % each + n) % static_cast<std::size_t>(classes)) == place;
                const double of_row = images < 5 ? 0 : static_cast<double>(n % 2) * 128;
                return 4 * quarters(k, 1) + of_row + (is_largest && images < 5 ? 200 : 0);
            };
            const auto is_class = [&, classes = classes](std::size_t k) {
                return k % each < static_cast<std::size_t>(classes);
            };
            const auto label_of = [&, classes = classes](std::size_t n) {
                return (static_cast<std::size_t>(place) + 3 * n) % static_cast<std::size_t>(classes);
            };
            const bool is_wide = images % 3 == 0;  // as where a product has a bias
            const Tensor shape{.batch = images, .channels = stored, .precision = precision};
            Tensor given = shape;
            if (is_wide) given.precision = Precision::fp32;
            const Tensor logits = one.filled(given, [&](std::size_t k) { return is_class(k) ? logit(k) : 1000; });
            const bool is_over = images % 2 == 1 && !is_wide;
            const Loss op{.logits = logits,
                          .labels = one.filled({.batch = images, .precision = Precision::int32},
                                               [&](std::size_t n) { return static_cast<double>(label_of(n)); }),
                          .gradient = is_over ? logits : one.empty(shape),
                          .classes = classes,
                          .row_losses = one.empty({.batch = images})};
            one.run(op, {op.gradient, op.row_losses});
            std::vector<double> sums, largest, losses;
            double loss = 0;
            for (std::size_t n = 0; n < static_cast<std::size_t>(images); ++n) {
                const auto end = n * each + static_cast<std::size_t>(classes);
                largest.push_back(logit(n * each));
                for (std::size_t k = n * each; k < end; ++k) largest.back() = std::max(largest.back(), logit(k));
                sums.push_back(0);
                for (std::size_t k = n * each; k < end; ++k) sums.back() += std::exp(logit(k) - largest.back());
                losses.push_back(std::log(sums.back()) + largest.back() - logit(n * each + label_of(n)));
                loss += losses.back() / images;
            }
            one.check(
                op.row_losses, [&](std::size_t n) { return losses[n]; }, 1e-5);
            CHECK(static_cast<double>(one.state.loss) == Approx(loss).epsilon(1e-5).margin(1e-5));
            one.check(
                op.gradient,
                [&, images = images](std::size_t k) {
                    const std::size_t n = k / each;
                    if (!is_class(k)) return 0.0;
                    const double due = std::exp(logit(k) - largest[n]) / sums[n];
                    return (due - (k % each == label_of(n) ? 1 : 0)) * scale / images;
                },
                1e-5);
        }
    }
}

// What stands between the products of a batch norm by moments, alone: more inputs than a block has threads, outputs
// that end within a block, the largest variance at any place, and sums to which each thread adds a value that counts.
#include "tests/emulated_gpu/one_operation.hpp"

#include <algorithm>

using namespace roof;
using namespace roof::cudnn;

namespace {

constexpr Precision narrow_precisions[]{Precision::bf16, Precision::fp16};
struct Size {
    int outputs, inputs;
};
constexpr Size sizes[]{{13, 40}, {8, 7}, {37, 70}, {1, 1}, {70, 33}};

/// What several of the operations read, by salts.
struct Given {
    Tensor spread, weights, mean, factor;
    std::size_t inputs;

    Given(OneOperation& one, const Size& size, Precision precision)
        : spread(one.filled({.batch = size.outputs, .channels = 2 * size.inputs}, 1)),
          weights(one.filled({.batch = size.outputs, .channels = size.inputs, .precision = precision}, 2)),
          mean(one.filled({.batch = 1, .channels = size.inputs}, 3)),
          factor(one.filled({.batch = 1}, [](std::size_t) { return 0.25; })),
          inputs(static_cast<std::size_t>(size.inputs))
    {
    }
    double spread_at(std::size_t c, std::size_t k) const
    {
        return (quarters(c * 2 * inputs + k, 1) + quarters(c * 2 * inputs + inputs + k, 1)) / 0.25;
    }
    double weight(std::size_t c, std::size_t k) const { return quarters(c * inputs + k, 2); }
};

double positive(std::size_t channel)
{
    return 0.5 + static_cast<double>(channel % 4) / 4;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("a covariance is two narrow numbers, scaled by its largest variance wherever that stands",
                       "[kernels][operations]", ((Precision precision), precision), Precision::bf16, Precision::fp16)
{
    for (const auto& [inputs, largest] : {std::pair{1, 0},
                                          {7, 4},
                                          {140, 0},
                                          {140, 1},
                                          {140, 2},
                                          {140, 4},
                                          {140, 8},
                                          {140, 16},
                                          {140, 32},
                                          {140, 64},
                                          {140, 128},
                                          {260, 255},
                                          {260, 256},
                                          {260, 259}}) {
        OneOperation one;
        constexpr int rows = 50;
        const auto each = static_cast<std::size_t>(inputs);
        const auto product = [&, largest = largest](std::size_t k) {
            const bool is_variance = k / each == k % each;
            if (is_variance && k % each == static_cast<std::size_t>(largest)) return 50.0 * (37 + 64);
            return is_variance ? 50.0 : quarters(std::min(k / each, k % each) * each + std::max(k / each, k % each), 1);
        };
        // The mean of that one is 8, whose square is 64.
        const auto sum = [&, largest = largest](std::size_t k) {
            return k == static_cast<std::size_t>(largest) ? 8.0 * rows : quarters(k, 2);
        };
        const Covariance op{.products = one.filled({.batch = inputs, .channels = inputs}, product),
                            .sums = one.filled({.batch = 1, .channels = inputs}, sum),
                            .rows = rows,
                            .halves = one.empty({.batch = 2 * inputs, .channels = inputs, .precision = precision}),
                            .mean = one.empty({.batch = 1, .channels = inputs}),
                            .factor = one.empty({.batch = 1})};
        one.run(op, {op.halves, op.mean, op.factor});
        const double factor = 1.0 / 32;  // of a variance from 32 to 64
        one.check(op.factor, [&](std::size_t) { return factor; });
        one.check(op.mean, [&](std::size_t k) { return sum(k) / rows; });
        const double unit = precision == Precision::bf16 ? 1.0 / 256 : 1.0 / 2048;
        for (std::size_t k = 0; k < each * each; ++k) {
            const double due = (product(k) / rows - sum(k / each) / rows * (sum(k % each) / rows)) * factor;
            const double half = one.after(op.halves, k), both = half + one.after(op.halves, each * each + k);
            if (!(std::abs(half - due) <= unit * std::abs(due) + 1e-7) ||
                !(std::abs(both - due) <= unit * unit * std::abs(due) + 1e-7))
                FAIL("value " << k << " of " << each << " inputs: " << half << " and " << both << ", not " << due);
        }
    }
}

TEST_CASE("a covariance of zeros has the factor 1", "[kernels][operations]")
{
    for (const Precision precision : narrow_precisions) {
        OneOperation one;
        const auto zero = [](std::size_t) { return 0.0; };
        const Covariance op{.products = one.filled({.batch = 9, .channels = 9}, zero),
                            .sums = one.filled({.batch = 1, .channels = 9}, zero),
                            .rows = 4,
                            .halves = one.empty({.batch = 18, .channels = 9, .precision = precision}),
                            .mean = one.empty({.batch = 1, .channels = 9}),
                            .factor = one.empty({.batch = 1})};
        one.run(op, {op.halves, op.mean, op.factor});
        one.check(op.factor, [](std::size_t) { return 1.0; });
        one.check(op.halves, zero);
    }
}

TEST_CASE("statistics of a product follow from the moments of its source", "[kernels][operations]")
{
    for (const Precision precision : narrow_precisions) {
        for (const Size& size : sizes) {
            OneOperation one;
            const Given given(one, size, precision);
            const Tensor numbers{.batch = 1, .channels = size.outputs};
            constexpr double rows = 50;
            const MomentStatistics op{
                .spread = given.spread,
                .weights = given.weights,
                .mean = given.mean,
                .factor = given.factor,
                .rows = static_cast<int>(rows),
                .weight = one.filled(numbers, 4),
                .bias = one.filled(numbers, 5),
                .channels = {one.empty(numbers), one.empty(numbers), one.empty(numbers), one.empty(numbers)},
                .running_mean = one.filled(numbers, 6),
                .running_variance = one.filled(numbers, 7)};
            one.run(op, {op.channels.mean, op.channels.inverse_deviation, op.channels.scale, op.channels.shift,
                         op.running_mean, op.running_variance});
            const auto mean = [&](std::size_t c) {
                double sum = 0;
                for (std::size_t k = 0; k < given.inputs; ++k) sum += given.weight(c, k) * quarters(k, 3);
                return sum;
            };
            const auto variance = [&](std::size_t c) {
                double sum = 0;
                for (std::size_t k = 0; k < given.inputs; ++k) sum += given.weight(c, k) * given.spread_at(c, k);
                return std::max(sum, 0.0);
            };
            const auto inverse = [&](std::size_t c) { return 1 / std::sqrt(variance(c) + 1e-5); };
            one.check(op.channels.mean, mean);
            one.check(op.channels.inverse_deviation, inverse);
            one.check(op.channels.scale, [&](std::size_t c) { return quarters(c, 4) * inverse(c); });
            one.check(op.channels.shift,
                      [&](std::size_t c) { return quarters(c, 5) - mean(c) * quarters(c, 4) * inverse(c); });
            one.check(op.running_mean, [&](std::size_t c) { return 0.9 * quarters(c, 6) + 0.1 * mean(c); });
            one.check(op.running_variance,
                      [&](std::size_t c) { return 0.9 * quarters(c, 7) + 0.1 * variance(c) * rows / (rows - 1); });
        }
    }
}

TEST_CASE("gradients of a product and its batch norm follow from the moments", "[kernels][operations]")
{
    for (const Precision precision : narrow_precisions) {
        for (const Size& size : sizes) {
            OneOperation one;
            const Given given(one, size, precision);
            const Tensor numbers{.batch = 1, .channels = size.outputs};
            const Tensor matrix{.batch = size.outputs, .channels = size.inputs};
            constexpr double rows = 64;
            MomentGradient op{.products = one.filled(matrix, 4),
                              .spread = given.spread,
                              .weights = given.weights,
                              .mean = given.mean,
                              .factor = given.factor,
                              .rows = static_cast<int>(rows),
                              .sum = one.filled(numbers, 5),
                              .weight = one.filled(numbers, 6),
                              .channels = {{}, one.filled(numbers, positive), {}, {}},
                              .sum_of_products = one.empty(numbers),
                              .gradient = one.empty(matrix),
                              .scaled = one.empty(given.weights),
                              .slopes = one.empty(given.weights),
                              .shares = one.empty(numbers)};
            one.run(op, {op.sum_of_products, op.gradient, op.scaled, op.slopes, op.shares});
            const std::size_t inputs = given.inputs;
            const auto product = [&](std::size_t c, std::size_t k) {
                return quarters(c * inputs + k, 4) - quarters(c, 5) * quarters(k, 3);
            };
            const auto all = [&](std::size_t c) {
                double sum = 0;
                for (std::size_t k = 0; k < inputs; ++k) sum += product(c, k) * given.weight(c, k);
                return sum;
            };
            const auto slope = [](std::size_t c) { return quarters(c, 6) * positive(c); };
            one.check(op.sum_of_products, [&](std::size_t c) { return all(c) * positive(c); });
            one.check(op.shares, [&](std::size_t c) { return slope(c) * quarters(c, 5) / rows; });
            one.check(op.gradient, [&](std::size_t place) {
                const std::size_t c = place / inputs;
                const double spread = positive(c) * positive(c) * all(c) * given.spread_at(c, place % inputs);
                return slope(c) * (product(c, place % inputs) - spread);
            });
            one.check(op.scaled, [&](std::size_t place) { return slope(place / inputs) * quarters(place, 2); });
            one.check(op.slopes, [&](std::size_t place) {
                const std::size_t c = place / inputs;
                return -slope(c) * positive(c) * positive(c) * all(c) / rows * quarters(place, 2);
            });
        }
    }
}

TEST_CASE("the offset of a gradient from moments sums over all outputs and inputs", "[kernels][operations]")
{
    for (const Precision precision : narrow_precisions) {
        for (const Size& size : sizes) {
            OneOperation one;
            const Tensor of_inputs{.batch = 1, .channels = size.inputs};
            Tensor result = of_inputs;
            result.precision = precision;
            const MomentOffset op{
                .weights = one.filled({.batch = size.outputs, .channels = size.inputs, .precision = precision}, 1),
                .shares = one.filled({.batch = 1, .channels = size.outputs}, 2),
                .curvature = one.filled({.batch = size.inputs, .channels = size.inputs, .precision = precision}, 3),
                .mean = one.filled(of_inputs, 4),
                .result = one.empty(result)};
            one.run(op, {op.result});
            const auto inputs = static_cast<std::size_t>(size.inputs);
            one.check(op.result, [&](std::size_t k) {
                double sum = 0;
                for (std::size_t c = 0; c < static_cast<std::size_t>(size.outputs); ++c)
                    sum += quarters(c, 2) * quarters(c * inputs + k, 1);
                for (std::size_t i = 0; i < inputs; ++i) sum += quarters(i, 4) * quarters(i * inputs + k, 3);
                return -sum;
            });
        }
    }
}

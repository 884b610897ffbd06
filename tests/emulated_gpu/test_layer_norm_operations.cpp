// Layer norms, alone: vectors and single channels, lines of a block without a position, one block for all positions, a
// gradient that overwrites what it reads.
#include "tests/emulated_gpu/one_operation.hpp"

#include <cmath>
#include <tuple>
#include <vector>

using namespace roof;
using namespace roof::cudnn;

TEMPLATE_TEST_CASE_SIG("a layer or RMS norm and its gradients follow from each position's values",
                       "[kernels][operations]", ((Precision precision), precision), Precision::fp32, Precision::bf16,
                       Precision::fp16)
{
    const bool is_rms = GENERATE(false, true);
    constexpr double epsilon = 1e-3;
    constexpr double tolerance = 2e-5;
    // One block for all positions only where it has all channels of a sum.
    for (const auto& [images, channels, height, width, blocks] : {std::tuple{2, 24, 5, 3, all_blocks},
                                                                  {2, 24, 5, 3, 1U},
                                                                  {1, 7, 3, 4, all_blocks},
                                                                  {1, 7, 3, 4, 1U},
                                                                  {9, 280, 1, 1, all_blocks},
                                                                  {2, 2080, 1, 3, all_blocks},
                                                                  {1, 9000, 1, 1, all_blocks},
                                                                  {3, 1003, 1, 2, all_blocks},
                                                                  {2, 1031, 1, 2, all_blocks},
                                                                  {2, 67, 3, 3, all_blocks},
                                                                  {9, 5, 8, 8, all_blocks},
                                                                  {9, 8, 8, 8, all_blocks},
                                                                  {5, 1, 1, 2, all_blocks}}) {
        const FewBlocks few({blocks, all_blocks, 1});
        const Tensor map{
            .batch = images, .channels = channels, .height = height, .width = width, .precision = precision};
        const Tensor positions{.batch = images, .height = height, .width = width};
        const Tensor numbers{.batch = 1, .channels = channels};
        const auto each = static_cast<std::size_t>(channels);
        const auto value = [](std::size_t k) { return quarters(k, 1) + static_cast<double>(k / 50 % 3); };
        std::vector<double> mean(map.rows()), inverse(map.rows());
        for (std::size_t row = 0; row < map.rows(); ++row) {
            double variance = 0;
            for (std::size_t c = 0; c < each && !is_rms; ++c) mean[row] += value(row * each + c) / channels;
            for (std::size_t c = 0; c < each; ++c)
                variance += std::pow(value(row * each + c) - mean[row], 2) / channels;
            inverse[row] = 1 / std::sqrt(variance + epsilon);
        }
        const auto normal = [&](std::size_t k) { return (value(k) - mean[k / each]) * inverse[k / each]; };
        for (const bool sums : {false, true}) {
            OneOperation forward;
            const auto part = [&](std::size_t k) { return value(k) - quarters(k, 5); };
            const LayerNorm op{.source = sums ? forward.filled(map, part) : forward.filled(map, value),
                               .weight = forward.filled(numbers, 2),
                               .bias = is_rms ? Tensor{} : forward.filled(numbers, 3),
                               .other = sums ? forward.filled(map, 5) : Tensor{},
                               .sum = sums ? forward.empty(map) : Tensor{},
                               .mean = is_rms ? Tensor{} : forward.empty(positions),
                               .inverse_deviation = forward.empty(positions),
                               .result = forward.empty(map),
                               .epsilon = static_cast<float>(epsilon)};
            forward.run(op, {op.sum, op.mean, op.inverse_deviation, op.result});
            if (sums) forward.check(op.sum, value, 0);
            forward.check(
                op.mean, [&](std::size_t row) { return mean[row]; }, tolerance);
            forward.check(
                op.inverse_deviation, [&](std::size_t row) { return inverse[row]; }, tolerance);
            forward.check(
                op.result,
                [&](std::size_t k) { return normal(k) * quarters(k % each, 2) + (is_rms ? 0 : quarters(k % each, 3)); },
                tolerance);
        }

        const auto weighted = [&](std::size_t k) { return quarters(k, 4) * quarters(k % each, 2); };
        std::vector<double> sums(each), products(each), first(map.rows()), second(map.rows());
        for (std::size_t k = 0; k < map.elements(); ++k) {
            sums[k % each] += quarters(k, 4);
            products[k % each] += quarters(k, 4) * normal(k);
            if (!is_rms) first[k / each] += weighted(k) / channels;
            second[k / each] += weighted(k) * normal(k) / channels;
        }
        for (const auto& [is_over, slabs] : {std::pair{false, 1}, {true, 1}, {false, 3}, {true, 70}}) {
            OneOperation backward;
            const bool is_too_wide =
                channels > 4 * 256 * (channels % 8 == 0 ? 8 : 1);  // to keep a position in registers
            const Tensor given = backward.filled(map, 4);
            const LayerNormGradient gradient{
                .gradient = given,
                .source = backward.filled(map, value),
                .weight = backward.filled(numbers, 2),
                .mean = is_rms ? Tensor{} : backward.filled(positions, [&](std::size_t row) { return mean[row]; }),
                .inverse_deviation = backward.filled(positions, [&](std::size_t row) { return inverse[row]; }),
                .result = is_over ? given : backward.empty(map),
                .sum = is_rms ? Tensor{} : backward.empty(numbers),
                .sum_of_products = backward.empty(numbers),
                .partial = backward.empty({.batch = slabs, .channels = 2 * channels})};
            if (is_too_wide) {
                CHECK_THROWS_AS(backward.run(gradient, {}), Unsupported);
                continue;
            }
            backward.run(gradient, {gradient.result, gradient.sum, gradient.sum_of_products, gradient.partial});
            backward.check(
                gradient.sum, [&](std::size_t c) { return sums[c]; }, tolerance);
            backward.check(
                gradient.sum_of_products, [&](std::size_t c) { return products[c]; }, 4 * tolerance);
            backward.check(
                gradient.result,
                [&](std::size_t k) {
                    return inverse[k / each] * (weighted(k) - first[k / each] - normal(k) * second[k / each]);
                },
                4 * tolerance);
        }
    }
}

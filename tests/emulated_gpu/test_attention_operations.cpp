// Attention, alone: more positions than a warp has lanes, one position, heads of few and of many channels, one block
// for all; by our kernels, and by products of whole matrices.
#include "tests/emulated_gpu/one_operation.hpp"
#include "workloads/cudnn/library/products.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

using namespace roof;
using namespace roof::cudnn;

TEMPLATE_TEST_CASE_SIG("attention and its gradients are those of whole matrices", "[kernels][operations]",
                       ((Precision precision), precision), Precision::fp32, Precision::bf16, Precision::fp16)
{
    constexpr double tolerance = 1e-4;
    // Images, or windows with a table of added scores where `windows` is not 0.
    for (const auto& [images, positions, heads, channels, causal, windows, blocks] :
         {std::tuple{2, 70, 2, 5, false, 0, all_blocks},
          {2, 70, 2, 5, true, 0, 3U},
          {1, 33, 1, 40, true, 0, all_blocks},
          {1, 32, 3, 72, false, 0, 1U},
          {3, 1, 2, 4, true, 0, all_blocks},
          {1, 9, 4, 3, false, 0, all_blocks},
          {1, 5, 1, 250, true, 0, all_blocks},
          {6, 9, 3, 7, false, 3, all_blocks},
          {70, 4, 1, 5, false, 2, 1U}}) {
        const FewBlocks few({blocks, all_blocks, 1});
        const auto t = static_cast<std::size_t>(positions);
        const auto h = static_cast<std::size_t>(heads);
        const auto d = static_cast<std::size_t>(channels);
        const auto n = static_cast<std::size_t>(images);
        const Tensor map{.batch = images / std::max(1, windows),
                         .channels = heads * channels,
                         .height = 1,
                         .width = positions * std::max(1, windows),
                         .precision = precision};
        const int kv_heads = heads % 2 == 0 ? heads / 2 : heads;
        const auto kv = static_cast<std::size_t>(kv_heads);
        Tensor three = map;
        three.channels += 2 * kv_heads * channels;
        const Tensor numbers{.batch = images, .channels = heads, .height = 1, .width = positions};
        const auto in_map = [&](std::size_t image, std::size_t head, std::size_t position, std::size_t c,
                                std::size_t part, std::size_t parts) {
            const std::size_t place = part == 0 ? head : h + (part - 1) * kv + head / (h / kv);
            return ((image * t + position) * (parts == 1 ? h : h + 2 * kv) + place) * d + c;
        };
        constexpr std::size_t rows = 3;
        const auto place = [&, parts = static_cast<std::size_t>(windows)](std::size_t image, std::size_t q,
                                                                          std::size_t k) {
            const auto found = static_cast<int>((q * 7 + k * 3 + image % parts) % (rows + 1)) - 1;
            return q == k ? std::max(0, found) : found;
        };
        const auto row = [](std::size_t k) { return quarters(k, 4); };
        const auto given = [](std::size_t k) { return quarters(k, 2); };
        const auto value = [](std::size_t k) { return quarters(k, 1); };
        std::vector<double> result(map.elements()), logarithms(numbers.elements()), products(numbers.elements()),
            gradient(three.elements()), row_gradient(rows * h);
        for (std::size_t image = 0; image < n; ++image) {
            for (std::size_t head = 0; head < h; ++head) {
                const auto source = [&](std::size_t position, std::size_t c, std::size_t part) {
                    return value(in_map(image, head, position, c, part, 3));
                };
                std::vector<std::vector<double>> weights(t, std::vector<double>(t));
                for (std::size_t q = 0; q < t; ++q) {
                    double sum = 0;
                    for (std::size_t k = 0; k < (causal ? q + 1 : t); ++k) {
                        double score = 0;
                        for (std::size_t c = 0; c < d; ++c) score += source(q, c, 0) * source(k, c, 1);
                        score /= std::sqrt(static_cast<double>(d));
                        const int added = windows == 0 ? 0 : place(image, q, k);
                        if (windows > 0 && added >= 0) score += row(static_cast<std::size_t>(added) * h + head);
                        sum += weights[q][k] = added < 0 ? 0 : std::exp(score);
                    }
                    for (double& weight : weights[q]) weight /= sum;
                    const std::size_t number = (image * h + head) * t + q;
                    logarithms[number] = std::log(sum);
                    for (std::size_t c = 0; c < d; ++c) {
                        double& y = result[in_map(image, head, q, c, 0, 1)];
                        for (std::size_t k = 0; k < t; ++k) y += weights[q][k] * source(k, c, 2);
                        products[number] += y * given(in_map(image, head, q, c, 0, 1));
                    }
                    for (std::size_t k = 0; k < t; ++k) {
                        double slope = -products[number];
                        for (std::size_t c = 0; c < d; ++c)
                            slope += given(in_map(image, head, q, c, 0, 1)) * source(k, c, 2);
                        slope *= weights[q][k];
                        if (windows > 0 && place(image, q, k) >= 0)
                            row_gradient[static_cast<std::size_t>(place(image, q, k)) * h + head] += slope;
                        slope /= std::sqrt(static_cast<double>(d));
                        for (std::size_t c = 0; c < d; ++c) {
                            gradient[in_map(image, head, q, c, 0, 3)] += slope * source(k, c, 1);
                            gradient[in_map(image, head, k, c, 1, 3)] += slope * source(q, c, 0);
                            gradient[in_map(image, head, k, c, 2, 3)] +=
                                weights[q][k] * given(in_map(image, head, q, c, 0, 1));
                        }
                    }
                }
            }
        }
        for (const bool by_products : {false, true}) {
            if (by_products && windows > 0) continue;
            const auto added = [&](OneOperation& one) {
                if (windows == 0) return AddedScores{};
                const Tensor places{.batch = windows, .channels = positions * positions, .precision = Precision::int32};
                const auto place_at = [&](std::size_t k) {
                    return static_cast<double>(place(k / (t * t), k / t % t, k % t));
                };
                return AddedScores{.rows = one.filled({.batch = rows, .channels = heads, .precision = precision}, row),
                                   .places = one.filled(places, place_at),
                                   .windows = windows};
            };
            const gpu::Stream stream;
            Products products_of(stream, false);
            AttentionPass pass{.batch = images,
                               .positions = positions,
                               .heads = heads,
                               .kv_heads = kv_heads,
                               .channels = channels,
                               .causal = causal,
                               .precision = precision};
            const auto run = [&](OneOperation& one, auto& op, const std::vector<Tensor>& results) {
                if (!by_products) return one.run(op, results);
                const Choice choice = products_of.by_products(pass, false);
                op.plan = choice.plan;
                op.by_products = true;
                op.workspace = one.empty(
                    {.batch = 1, .channels = static_cast<int>(choice.workspace), .precision = Precision::int8});
                std::vector<Tensor> all = results;
                all.push_back(op.workspace);
                one.run(op, all, [&](const Memory& memory) { products_of.bound(op, memory)(); });
            };
            OneOperation forward;
            Attention op{.source = forward.filled(three, value),
                         .result = forward.empty(map),
                         .sums = forward.empty(numbers),
                         .heads = heads,
                         .kv_heads = kv_heads,
                         .causal = causal,
                         .added = added(forward)};
            run(forward, op, {op.result, op.sums});
            // Weights by products are rounded, too.
            const double weighed = !by_products || precision == Precision::fp32 ? tolerance
                                   : precision == Precision::bf16               ? 0.02
                                                                                : 0.003;
            forward.check(
                op.result, [&](std::size_t k) { return result[k]; }, weighed);
            forward.check(
                op.sums, [&](std::size_t k) { return logarithms[k]; }, tolerance);
            OneOperation backward;
            pass.backward = true;
            AttentionGradient back{.gradient = backward.filled(map, given),
                                   .source = backward.filled(three, value),
                                   .result = backward.filled(map, [&](std::size_t k) { return result[k]; }),
                                   .sums = backward.filled(numbers, [&](std::size_t k) { return logarithms[k]; }),
                                   .to_source = backward.empty(three),
                                   .products = backward.empty(numbers),
                                   .heads = heads,
                                   .kv_heads = kv_heads,
                                   .causal = causal,
                                   .added = added(backward)};
            if (windows > 0) back.to_rows = backward.empty({.batch = rows, .channels = heads});
            std::vector<Tensor> written{back.to_source, back.to_rows};
            if (!by_products) written.push_back(back.products);
            run(backward, back, written);
            // The result that the gradient reads is rounded.
            const double rounded = precision == Precision::fp32   ? tolerance
                                   : precision == Precision::bf16 ? 0.05
                                                                  : 0.01;
            if (!by_products)
                backward.check(
                    back.products, [&](std::size_t k) { return products[k]; }, rounded);
            backward.check(
                back.to_source, [&](std::size_t k) { return gradient[k]; }, rounded);
            if (windows > 0)
                backward.check(
                    back.to_rows, [&](std::size_t k) { return row_gradient[k]; }, 5 * rounded);  // sums of many
        }
    }
}

TEMPLATE_TEST_CASE_SIG("attention over a cache is that of all its positions", "[kernels][operations]",
                       ((Precision precision), precision), Precision::fp32, Precision::bf16, Precision::fp16)
{
    for (const auto& [images, heads, kv_heads, channels, positions, blocks, pieces, turned] :
         {std::tuple{2, 4, 2, 12, 1, 1, 1, false},
          {2, 4, 2, 12, 300, 1, 2, false},
          {1, 2, 2, 24, 2300, 1, 9, false},
          {1, 2, 1, 8, 2100, 1, 9, false},
          {1, 6, 1, 64, 257, 1, 2, true},
          {3, 3, 3, 16, 300, 1, 2, true},
          {1, 4, 1, 256, 40, 1, 1, false},
          {1, 2, 1, 5, 600, 1, 3, false},
          {1, 16, 2, 8, 1100, 1, 5, false},
          {2, 4, 2, 48, 140, 16, 3, true},
          {1, 3, 1, 128, 90, 2, 2, true},
          {1, 2, 2, 24, 700, 0, 1, false}}) {
        const auto h = static_cast<std::size_t>(heads), kv = static_cast<std::size_t>(kv_heads);
        const auto d = static_cast<std::size_t>(channels), all = static_cast<std::size_t>(positions);
        const Tensor given{.batch = images, .channels = (heads + 2 * kv_heads) * channels, .precision = precision};
        const Tensor map{.batch = images, .channels = heads * channels, .precision = precision};
        const Tensor kept{
            .batch = images, .channels = 2 * kv_heads * channels, .width = positions, .precision = precision};
        OneOperation one;
        AttendCached op{.source = one.filled(given, 1),
                        .cache = one.filled(kept, 2),
                        .result = one.empty(map),
                        .heads = heads,
                        .kv_heads = kv_heads};
        const std::size_t half = d / 2;
        if (turned) op.angles = one.filled({.batch = 2, .channels = channels / 2}, 3);
        const auto partial = partial_attention_of(op, blocks);
        CHECK((partial ? partial->height : 1) == pieces);
        std::vector<Tensor> results{op.cache, op.result};
        if (partial) results.push_back(op.partial = one.empty(*partial));
        one.run(op, results);
        const auto source = [&](std::size_t image, std::size_t head, std::size_t c) {
            const std::size_t first = (image * (h + 2 * kv) + head) * d;
            if (!turned || head >= h + kv) return quarters(first + c, 1);
            const double across = quarters(first + (c + half) % d, 1) * quarters(half + c % half, 3);
            return quarters(first + c, 1) * quarters(c % half, 3) + (c < half ? -across : across);
        };
        const auto cached = [&](std::size_t k) {  // [images][kv_heads][keys, values][positions][channels]
            const std::size_t part = k / (all * d) % 2, head = k / (2 * all * d) % kv, image = k / (2 * all * d) / kv;
            return k / d % all == all - 1 ? source(image, h + part * kv + head, k % d) : quarters(k, 2);
        };
        one.check(op.cache, cached, 0);
        std::vector<double> due;
        for (std::size_t image = 0; image < static_cast<std::size_t>(images); ++image) {
            for (std::size_t head = 0; head < h; ++head) {
                const std::size_t keys = (image * kv + head / (h / kv)) * 2 * all * d;
                double total = 0;
                std::vector<double> sum(d);
                for (std::size_t position = 0; position < all; ++position) {
                    double score = 0;
                    for (std::size_t c = 0; c < d; ++c)
                        score += source(image, head, c) * cached(keys + position * d + c);
                    const double weight = std::exp(score / std::sqrt(static_cast<double>(d)));
                    total += weight;
                    for (std::size_t c = 0; c < d; ++c) sum[c] += weight * cached(keys + (all + position) * d + c);
                }
                for (std::size_t c = 0; c < d; ++c) due.push_back(sum[c] / total);
            }
        }
        one.check(
            op.result, [&](std::size_t k) { return due[k]; }, 1e-4);
    }
}

TEST_CASE("a long cache has pieces for all blocks that run at once, of 64 to 256 positions", "[kernels][operations]")
{
    const auto pieces_of = [](int images, int heads, int kv_heads, int positions, int blocks) {
        const AttendCached op{.source = {},
                              .cache = {.batch = images, .channels = 2 * kv_heads * 64, .width = positions},
                              .result = {.batch = images, .channels = heads * 64},
                              .heads = heads,
                              .kv_heads = kv_heads};
        const auto partial = partial_attention_of(op, blocks);
        return partial ? partial->height : 1;
    };
    CHECK(pieces_of(1, 32, 8, 4096, 264) == 33);   // 8 blocks each: 264
    CHECK(pieces_of(1, 64, 8, 4096, 264) == 16);   // two blocks for the 8 heads of a cache
    CHECK(pieces_of(16, 32, 8, 4096, 264) == 16);  // 128 blocks each, of 256 positions
    CHECK(pieces_of(1, 12, 12, 512, 264) == 8);    // of 64 positions
    CHECK(pieces_of(1, 12, 12, 64, 264) == 1);
    CHECK(pieces_of(1, 1, 1, 100'000, 264) == 64);
    CHECK(pieces_of(64, 32, 8, 4096, 264) == 1);  // more heads than counters
    CHECK(pieces_of(1, 32, 8, 4096, 0) == 1);
}

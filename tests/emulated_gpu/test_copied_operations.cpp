// Activations, copies of channels and products of maps, alone: odd channels, more positions than a block has lines,
// grids of few blocks.
#include "tests/emulated_gpu/one_operation.hpp"
#include "tests/engine/layers/defined_activations.hpp"

#include <tuple>

using namespace roof;
using namespace roof::cudnn;
using model::LayerKind;

namespace {

const std::vector<Dim> copy_grids{{all_blocks, all_blocks, all_blocks}, {1, all_blocks, 1}, {3, all_blocks, 1}};

Tensor map_of(int images, int channels, int side, Precision precision)
{
    return {.batch = images, .channels = channels, .height = side, .width = side, .precision = precision};
}

/// From -8 to 8, which every precision holds: beyond each activation's limits, but at none of them.
double input(std::size_t k)
{
    return 4 * quarters(k, 1) + 0.25;
}

}  // namespace

TEST_CASE("activations give their values, and a gradient times their slopes, also in its place",
          "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        for (const model::Activation& activation : model::activations) {
            const LayerKind kind = activation.kind;
            for (const Tensor& map : {map_of(3, 7, 13, precision), map_of(2, 24, 11, precision)}) {
                for (const Dim& grid : copy_grids) {
                    const FewBlocks few(grid);
                    OneOperation forward;
                    const Activate op{.kind = kind, .source = forward.filled(map, input), .result = forward.empty(map)};
                    forward.run(op, {op.result});
                    forward.check(op.result, [&](std::size_t k) { return defined_activation(kind, input(k)).value; });
                    OneOperation backward;
                    const Tensor gradient = backward.filled(map, 2);
                    const Activate back{
                        .kind = kind, .source = backward.filled(map, input), .gradient = gradient, .result = gradient};
                    backward.run(back, {gradient});
                    backward.check(gradient, [&](std::size_t k) {
                        return quarters(k, 2) * defined_activation(kind, input(k)).slope;
                    });
                }
            }
        }
    }
}

TEST_CASE("channels are copied to their places, and the others stay as they are", "[kernels][operations]")
{
    struct Copy {
        int source, result, from, to, count;
    };
    for (const Precision precision : precisions) {
        for (const auto& [given, taken, from, to, count] :
             {Copy{24, 40, 8, 16, 16}, {24, 8, 16, 0, 8}, {8, 32, -16, 0, 32}, {7, 12, 2, 5, 4}, {6, 16, -3, 0, 16}}) {
            for (const Dim& grid : copy_grids) {
                const FewBlocks few(grid);
                OneOperation one;
                const CopyChannels op{.source = one.filled(map_of(3, given, 9, precision), 1),
                                      .result = one.filled(map_of(3, taken, 9, precision), 2),
                                      .from = from,
                                      .to = to,
                                      .count = count};
                one.run(op, {op.result});
                one.check(op.result, [&](std::size_t k) {
                    const int channel = static_cast<int>(k) % taken;
                    const int read = channel - to + from;
                    if (channel < to || channel >= to + count) return quarters(k, 2);
                    const auto row = static_cast<int>(k) / taken;
                    return read < 0 || read >= given ? 0 : quarters(static_cast<std::size_t>(row * given + read), 1);
                });
            }
        }
        OneOperation one;
        const std::vector<int> order{3, 0, 7, 1, 6, 2, 5, 4};
        const CopyChannels op{.source = one.filled(map_of(3, 8, 9, precision), 1),
                              .result = one.empty(map_of(3, 8, 9, precision)),
                              .count = 8,
                              .order = one.filled({.batch = 1, .channels = 8, .precision = Precision::int32},
                                                  [&](std::size_t k) { return order[k]; })};
        one.run(op, {op.result});
        one.check(op.result,
                  [&](std::size_t k) { return quarters(k / 8 * 8 + static_cast<std::size_t>(order[k % 8]), 1); });
    }
}

TEST_CASE("maps are multiplied value by value, or by a factor of each channel, whose gradient is a sum",
          "[kernels][operations]")
{
    for (const Precision precision : precisions) {
        for (const auto& [images, channels, side, has_map] :
             {std::tuple{3, 7, 5, true}, {2, 24, 5, true}, {3, 7, 13, false}, {2, 24, 13, false}, {5, 72, 3, false}}) {
            for (const Dim& grid : {copy_grids[0], Dim{all_blocks, 1, 1}}) {
                const FewBlocks few(grid);
                const Tensor map = map_of(images, channels, side, precision);
                const Tensor factors = has_map ? map : map_of(images, channels, 1, precision);
                const auto each = static_cast<std::size_t>(channels);
                const std::size_t of_image = map.elements() / static_cast<std::size_t>(images);
                const auto place = [&, wide = has_map](std::size_t k) {
                    return wide ? k : k / of_image * each + k % each;
                };
                OneOperation forward;
                const Scale op{forward.filled(map, 1), forward.filled(factors, 2), forward.empty(map)};
                forward.run(op, {op.result});
                forward.check(op.result, [&](std::size_t k) { return quarters(k, 1) * quarters(place(k), 2); });
                OneOperation activated;
                const Scale gated{activated.filled(map, 1), activated.filled(factors, 2), activated.empty(map),
                                  model::LayerKind::silu};
                activated.run(gated, {gated.result});
                activated.check(
                    gated.result,
                    [&](std::size_t k) {
                        return quarters(k, 1) / (1 + std::exp(-quarters(k, 1))) * quarters(place(k), 2);
                    },
                    precision == Precision::fp32 ? 1e-6 : 4e-3);  // the activation is rounded, too
                OneOperation backward;
                const Tensor gradient = backward.filled(map, 3);
                const ScaleGradient back{gradient, backward.filled(map, 1), backward.filled(factors, 2), gradient,
                                         backward.empty(factors)};
                std::vector<double> sums(factors.elements());
                for (std::size_t k = 0; k < map.elements(); ++k) sums[place(k)] += quarters(k, 3) * quarters(k, 1);
                backward.run(back, {gradient, back.to_factor});
                backward.check(gradient, [&](std::size_t k) { return quarters(k, 3) * quarters(place(k), 2); });
                backward.check(back.to_factor, [&](std::size_t k) { return sums[k]; });
            }
        }
    }
}

TEMPLATE_TEST_CASE_SIG("channels of queries and keys are turned by their position's angle, and turned back",
                       "[kernels][operations]", ((Precision precision), precision), Precision::fp32, Precision::bf16,
                       Precision::fp16)
{
    // Heads in all and turned, channels of a head: vectors, single channels, all heads turned.
    for (const auto& [all, heads, channels] : {std::tuple{6, 4, 16}, {6, 4, 6}, {3, 3, 32}, {1, 1, 2}}) {
        for (const unsigned blocks : {all_blocks, 1U}) {
            for (const auto& [back, is_over] : {std::pair{false, false}, {true, false}, {true, true}}) {
                const FewBlocks few({blocks, 1, 1});
                const Tensor map{
                    .batch = 2, .channels = all * channels, .height = 3, .width = 5, .precision = precision};
                const auto apart = static_cast<std::size_t>(channels / 2),
                           each = static_cast<std::size_t>(map.channels);
                const auto angle = [](std::size_t k) { return 0.37 * static_cast<double>(k % 91); };
                const std::size_t angles = 15 * apart;
                OneOperation one;
                const Tensor source = one.filled(map, 1);
                const Turn turn{
                    .source = source,
                    .result = is_over ? source : one.empty(map),
                    .angles = one.filled(
                        {.batch = 2, .channels = channels / 2, .height = 15},
                        [&](std::size_t k) { return k < angles ? std::cos(angle(k)) : std::sin(angle(k - angles)); }),
                    .heads = heads,
                    .back = back};
                one.run(turn, {turn.result});
                one.check(turn.result, [&, heads = heads, back = back](std::size_t k) {
                    const std::size_t c = k % each, within = c % (2 * apart);
                    if (c >= static_cast<std::size_t>(heads) * 2 * apart) return quarters(k, 1);
                    const double by = (back ? -1 : 1) * angle(k / each % 15 * apart + within % apart);
                    const bool is_left = within < apart;
                    const double other = quarters(is_left ? k + apart : k - apart, 1);
                    return quarters(k, 1) * std::cos(by) + (is_left ? -1 : 1) * other * std::sin(by);
                });
            }
        }
    }
}

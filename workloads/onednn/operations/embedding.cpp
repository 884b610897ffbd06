// The embedding of tokens, in the layout that the map has. Weights that a linear layer reads too have its layout.
// Threads share the channels of a gradient, so that sums have one order.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace roof::onednn {
namespace {

constexpr Dim line = 16;  ///< numbers of a cache line

/// Where each index of this dimension is: element (i, k, ...) is at the sum of what the indices of all dimensions have.
std::vector<Dim> places_of(const Desc& desc, Dim dim)
{
    const Blocking blocking = blocking_of(desc);
    std::vector<Dim> places(static_cast<std::size_t>(dims_of(desc)[static_cast<std::size_t>(dim)]));
    for (std::size_t index = 0; index < places.size(); ++index) {
        Dim rest = static_cast<Dim>(index);
        Dim apart = 1;  // elements between neighbours of the block
        for (std::size_t b = blocking.blocks.size(); b-- > 0; apart *= blocking.blocks[b]) {
            if (blocking.block_dims[b] != dim) continue;
            places[index] += rest % blocking.blocks[b] * apart;
            rest /= blocking.blocks[b];
        }
        places[index] += rest * blocking.strides[static_cast<std::size_t>(dim)];
    }
    return places;
}

/// Weights [token][channel] in any layout.
struct Rows {
    explicit Rows(const Desc& desc) : tokens(places_of(desc, 0)), channels(places_of(desc, 1)) {}
    std::vector<Dim> tokens, channels;
    bool are_together = channels.back() + 1 == std::ssize(channels);
};

/// The layout of the linear layer that reads these weights, too, or else rows.
Desc layout_of(const Binding& to, const ir::Tensor& weights, const Dims& dims)
{
    for (const ir::Program::Stage& stage : to.list.stages()) {
        for (const ir::Operation& operation : stage.operations) {
            const auto reads = [&](const auto* reader) {
                return reader != nullptr && reader->weights.block == weights.block &&
                       reader->weights.begin == weights.begin;
            };
            const auto* const convolution = std::get_if<ir::Convolve>(&operation);
            if (reads(convolution)) return to.convolutions[convolution->plan].edges.weights;
            const auto* const product = std::get_if<ir::Multiply>(&operation);
            if (reads(product)) return layout_of_weights(*product);
        }
    }
    return plain(dims);
}

/// The embedding's weights for so many positions.
template <class Element>
void embed(const Positions& at, const float* tokens, const Rows& rows, const float* weights, Element* result)
{
    for_parts(at.rows(), [&](Dim, Dim begin, Dim end) {
        for_pieces(at, {begin, end}, {0, at.stored}, at.stored, [&](Dim place, Dim in_rows, Dim count) {
            const Dim token = static_cast<Dim>(tokens[begin + in_rows / at.stored]);
            const float* const row = weights + rows.tokens[static_cast<std::size_t>(token)];
            const Dim first = in_rows % at.stored;
            for (Dim c = first; c < first + count; ++c) {
                const bool is_there = c < at.channels;  // zeros behind
                narrow(is_there ? row[rows.channels[static_cast<std::size_t>(c)]] : 0, result[place + c - first]);
            }
        });
    });
}

struct Gradients {
    Positions at;
    Elements given;
    const float* tokens;
    float* weights;
};

/// Adds those of these channels to the weights of the positions' tokens.
template <class Element, bool are_together>
[[gnu::always_inline]] inline void add_in(const Gradients& of, const Rows& rows, const DimRange& channels)
{
    const Element* const given = of.given.as<Element>();
    const auto add = [&](Dim place, Dim in_rows, Dim count) __attribute__((always_inline))
    {
        const auto token = static_cast<std::size_t>(of.tokens[in_rows / of.at.channels]);
        float* const row = of.weights + rows.tokens[token];
        const Dim* const to = rows.channels.data() + channels.begin + in_rows % of.at.channels;
        if constexpr (are_together) {
            float* const sums = row + *to;
#pragma omp simd
            for (Dim lane = 0; lane < count; ++lane) sums[lane] += widen(given[place + lane]);
        } else {
            for (Dim lane = 0; lane < count; ++lane) row[to[lane]] += widen(given[place + lane]);
        }
    };
    for_pieces(of.at, {0, of.at.rows()}, channels, of.at.channels, add);
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void add_to_rows(const Gradients& of,
                                                                                       const Rows& rows,
                                                                                       const DimRange& channels)
{
    if (of.given.precision == Precision::bf16)
        rows.are_together ? add_in<BFloat16, true>(of, rows, channels) : add_in<BFloat16, false>(of, rows, channels);
    else
        rows.are_together ? add_in<float, true>(of, rows, channels) : add_in<float, false>(of, rows, channels);
}

}  // namespace

void bind(Binding& to, const ir::Embed& operation)
{
    const Desc layout = layout_of(to, operation.weights, dims_of_rows(operation.weights, operation.result.channels));
    const Tensor weights = to.train(operation.weights, layout, dims_of(layout)).value;
    const Tensor tokens = to.read(operation.tokens, plain(operation.tokens));
    const Tensor y = to.write(operation.result, with_channels_together(plain(operation.result)));
    to.program.append(
        [=, rows = Rows(layout), at = positions_of(y.desc())] {
            with_type(y.elements(), [&](auto* result) { embed(at, tokens.data(), rows, weights.data(), result); });
        },
        {tokens, weights, y}, "roof:embedding");
}

void bind(Binding& to, const ir::EmbedGradient& operation)
{
    const Tensor given = read_by_position(to, operation.gradient);
    const Tensor tokens = to.read(operation.tokens, plain(operation.tokens));
    const Tensor weights = to.trained_of(operation.weights).gradient;
    to.program.append(
        [=, rows = Rows(weights.desc()), at = positions_of(given.desc()), adds = operation.adds] {
            if (!adds)
                for_ranges(weights.stored(), [&](std::size_t begin, std::size_t end) {
                    std::fill(weights.data() + begin, weights.data() + end, 0.0F);
                });
            const Gradients of{at, given.elements(), tokens.data(), weights.data()};
            for_parts((at.channels + line - 1) / line, [&](Dim, Dim begin, Dim end) {
                add_to_rows(of, rows, {begin * line, std::min(at.channels, end * line)});
            });
        },
        {tokens, given, weights}, "roof:embedding");
}

}  // namespace roof::onednn

// The embedding of tokens and the values of positions, in the layouts that the maps have. Weights that a linear layer reads too have its
// layout. Threads share the channels of a gradient of the embedding, so that sums have one order.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace roof::onednn {
namespace {

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

/// Writes the value that row(position) gives for a channel and its place; zeros behind the last channel.
template <class Element, class Row>
void write_rows(const Positions& at, Element* result, const Row& row)
{
    for_parts(at.rows(), [&](Dim, Dim begin, Dim end) {
        for_pieces(at, {begin, end}, {0, at.stored}, at.stored, [&](Dim place, Dim in_rows, Dim count) {
            const auto value = row(begin + in_rows / at.stored);
            const Dim first = in_rows % at.stored;
            for (Dim c = first; c < first + count; ++c)
                narrow(c < at.channels ? value(c, place + c - first) : 0, result[place + c - first]);
        });
    });
}

template <class Element>
void add_to_rows(const Positions& at, const float* tokens, const Rows& rows, const Element* gradient, float* weights,
                 const DimRange& channels)
{
    for_pieces(at, {0, at.rows()}, channels, at.channels, [&](Dim place, Dim in_rows, Dim count) {
        float* const row = weights + rows.tokens[static_cast<std::size_t>(tokens[in_rows / at.channels])];
        const Dim* const to = rows.channels.data() + channels.begin + in_rows % at.channels;
        for (Dim lane = 0; lane < count; ++lane) row[to[lane]] += widen(gradient[place + lane]);
    });
}

Dim positions_each(const ir::Tensor& map)
{
    return Dim{map.height} * map.width;
}

/// `positions`: of the weights; those that an image, of `each` positions, lacks get zeros.
template <class Element>
void sum_images(const Positions& at, Dim each, const Element* gradient, float* weights, DimRange positions)
{
    std::fill(weights + positions.begin * at.channels, weights + positions.end * at.channels, 0.0F);
    positions = {std::min(positions.begin, each), std::min(positions.end, each)};
    for (Dim first = 0; first < at.rows(); first += each) {
        const DimRange of_image{first + positions.begin, first + positions.end};
        for_pieces(at, of_image, {0, at.channels}, at.channels, [&](Dim place, Dim in_rows, Dim count) {
            float* const sums = weights + positions.begin * at.channels + in_rows;
            for (Dim lane = 0; lane < count; ++lane) sums[lane] += widen(gradient[place + lane]);
        });
    }
}

/// Calls call(elements of the tensor's type).
template <class Call>
void with_type(const Elements& elements, const Call& call)
{
    if (elements.precision == Precision::bf16)
        call(elements.as<BFloat16>());
    else
        call(elements.as<float>());
}

Dims dims_of_rows(const ir::Tensor& weights, int channels)
{
    return {static_cast<Dim>(weights.elements()) / channels, channels};
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
            with_type(y.elements(), [&, numbers = tokens.data(), values = weights.data()](auto* result) {
                write_rows(at, result, [&](Dim position) {
                    const float* const read = values + rows.tokens[static_cast<std::size_t>(numbers[position])];
                    return [&, read](Dim c, Dim) { return read[rows.channels[static_cast<std::size_t>(c)]]; };
                });
            });
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
            with_type(given.elements(), [&](const auto* gradient) {
                for_parts(at.stored / at.lanes, [&](Dim, Dim begin, Dim end) {
                    add_to_rows(at, tokens.data(), rows, gradient, weights.data(),
                                {begin * at.lanes, std::min(at.channels, end * at.lanes)});
                });
            });
        },
        {tokens, given, weights}, "roof:embedding");
}

void bind(Binding& to, const ir::AddPositions& operation)
{
    const Tensor x = read_by_position(to, operation.source);
    const Dims dims = dims_of_rows(operation.weights, operation.source.channels);
    const Tensor weights = to.train(operation.weights, plain(dims), dims).value;
    const Tensor y = to.write(operation.result, x.desc());
    to.program.append(
        [=, at = positions_of(x.desc()), of_image = positions_each(operation.source), first = Dim{operation.first}] {
            with_type(y.elements(), [&, values = weights.data()]<class Element>(Element* result) {
                write_rows(at, result, [&, source = x.elements().as<Element>()](Dim row) {
                    const Dim position = row % of_image + first;
                    const float* const added = position < dims[0] ? values + position * at.channels : nullptr;
                    return [=](Dim c, Dim place) { return widen(source[place]) + (added != nullptr ? added[c] : 0); };
                });
            });
        },
        {x, weights, y}, "roof:positions");
}

void bind(Binding& to, const ir::AddPositionsGradient& operation)
{
    const Tensor given = read_by_position(to, operation.gradient);
    const Tensor weights = to.trained_of(operation.weights).gradient;
    to.program.append(
        [=, at = positions_of(given.desc()), each = positions_each(operation.gradient),
         dims = dims_of_rows(operation.weights, operation.gradient.channels)] {
            with_type(given.elements(), [&](const auto* gradient) {
                for_parts(dims[0], [&](Dim, Dim begin, Dim end) {
                    sum_images(at, each, gradient, weights.data(), {begin, end});
                });
            });
        },
        {given, weights}, "roof:positions");
}

void bind(Binding& to, const ir::TakePositions& operation)
{
    const Tensor x = read_by_position(to, operation.source);
    const ir::Tensor& result = operation.result;
    const Desc own = result.height * result.width > 1 ? with_channels_together(plain(result)) : plain(result);
    const Tensor y = to.write(result, result.like >= 0 ? to.layout_of(result.like) : own);
    if (operation.order) {
        const auto& all = to.list.constants();
        const auto order =
            std::ranges::find(all, operation.order.block, [](const auto& one) { return one.first.block; });
        return to.program.append(
            [=, from = positions_of(x.desc()), at = positions_of(y.desc()), piece = Dim{operation.piece()},
             places = order->second] {
                const Dim pieces = at.channels / piece, others = from.channels / piece;  // of a position
                with_type(y.elements(), [&]<class Element>(Element* taken) {
                    write_rows(at, taken, [&, source = x.elements().as<Element>()](Dim row) {
                        const Dim image = row / at.of_image, first = row % at.of_image * pieces;
                        return [&, image, first](Dim c, Dim) {
                            const Dim place = places[static_cast<std::size_t>(first + c / piece)];
                            const Dim channel = place % others * piece + c % piece;
                            return widen(source[from.at(image * from.of_image + place / others) +
                                                channel / from.lanes * from.group + channel % from.lanes]);
                        };
                    });
                });
            },
            {x, y}, "roof:positions");
    }
    to.program.append(
        [=, from = positions_of(x.desc()), at = positions_of(y.desc()), first = operation.first] {
            with_type(y.elements(), [&]<class Element>(Element* taken) {
                write_rows(at, taken, [&, source = x.elements().as<Element>()](Dim row) {
                    const Dim position = row % at.of_image + first;
                    const bool is_there = position >= 0 && position < from.of_image;
                    const Element* const read =
                        is_there ? source + from.at(row / at.of_image * from.of_image + position) : nullptr;
                    return [&, read](Dim c, Dim) {
                        return read != nullptr ? widen(read[c / from.lanes * from.group + c % from.lanes]) : 0;
                    };
                });
            });
        },
        {x, y}, "roof:positions");
}

}  // namespace roof::onednn

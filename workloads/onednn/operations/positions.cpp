// The values of positions, and positions taken from others, in the layouts that the maps have.
#include "workloads/onednn/operations/positions.hpp"

#include <vector>

namespace roof::onednn {
namespace {

Dim positions_each(const ir::Tensor& map)
{
    return Dim{map.height} * map.width;
}

struct Summed {
    Positions at;
    Elements given;
    float* weights;
    Dim each;  ///< positions of an image
};

/// `positions`: of the weights; those that an image lacks get zeros.
template <class Element>
[[gnu::always_inline]] inline void sum_in(const Summed& of, DimRange positions)
{
    const Positions& at = of.at;
    const Element* const given = of.given.as<Element>();
    std::fill(of.weights + positions.begin * at.channels, of.weights + positions.end * at.channels, 0.0F);
    positions = {std::min(positions.begin, of.each), std::min(positions.end, of.each)};
    float* const weights = of.weights + positions.begin * at.channels;
    for (Dim first = 0; first < at.rows(); first += of.each) {
        const DimRange of_image{first + positions.begin, first + positions.end};
        const auto add = [&](Dim place, Dim in_rows, Dim count) __attribute__((always_inline))
        {
#pragma omp simd
            for (Dim lane = 0; lane < count; ++lane) weights[in_rows + lane] += widen(given[place + lane]);
        };
        for_pieces(at, of_image, {0, at.channels}, at.channels, add);
    }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void sum_images(const Summed& of,
                                                                                      const DimRange& positions)
{
    of.given.precision == Precision::bf16 ? sum_in<BFloat16>(of, positions) : sum_in<float>(of, positions);
}

/// Position `first` of the weights, of `count`, is added to the first of an image; to those behind the last nothing.
struct Added {
    Positions at;
    Elements source, result;
    const float* weights;
    Dim of_image, first, count;
};

template <class Element>
[[gnu::always_inline]] inline void add_positions_in(const Added& of, Dim begin, Dim end)
{
    const Element* const x = of.source.as<Element>();
    Element* const y = of.result.as<Element>();
    for (Dim row = begin; row < end; ++row) {
        const Dim position = row % of.of_image + of.first;
        const Dim channels = position < of.count ? of.at.channels : 0;
        const float* const weights = of.weights + position * of.at.channels;
        const auto add = [&](Dim place, Dim c, Dim count) __attribute__((always_inline))
        {
#pragma omp simd
            for (Dim lane = 0; lane < count; ++lane)
                narrow(widen(x[place + lane]) + weights[c + lane], y[place + lane]);
        };
        for_pieces(of.at, {row, row + 1}, {0, channels}, 0, add);
        for_pieces(of.at, {row, row + 1}, {channels, of.at.stored}, 0,
                   [&](Dim place, Dim, Dim count) { std::copy_n(x + place, count, y + place); });
    }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void add_positions(const Added& of, Dim begin,
                                                                                         Dim end)
{
    of.source.precision == Precision::bf16 ? add_positions_in<BFloat16>(of, begin, end)
                                           : add_positions_in<float>(of, begin, end);
}

/// Copies channels from `first` on to those from `to` on, at once what is together in both; without a source zeros.
template <class Element>
void copy_run(const Element* source, const Positions& from, Dim first, Element* result, const Positions& at, Dim to,
              Dim count)
{
    for (Dim done = 0, run = 0; done < count; done += run) {
        const Dim c = first + done, k = to + done;
        run = std::min({count - done, from.lanes - c % from.lanes, at.lanes - k % at.lanes});
        if (source == nullptr)
            std::fill_n(result + at.channel(k), run, Element{});
        else
            std::copy_n(source + from.channel(c), run, result + at.channel(k));
    }
}

}  // namespace

void bind(Binding& to, const ir::AddPositions& operation)
{
    const Tensor x = read_by_position(to, operation.source);
    const Dims dims = dims_of_rows(operation.weights, operation.source.channels);
    const Tensor weights = to.train(operation.weights, plain(dims), dims).value;
    const Tensor y = to.write(operation.result, x.desc());
    to.program.append(
        [=, at = positions_of(x.desc()), of_image = positions_each(operation.source), first = Dim{operation.first}] {
            const Added of{at, x.elements(), y.elements(), weights.data(), of_image, first, dims[0]};
            for_parts(at.rows(), [&](Dim, Dim begin, Dim end) { add_positions(of, begin, end); });
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
            for_parts(dims[0], [&](Dim, Dim begin, Dim end) {
                sum_images({at, given.elements(), weights.data(), each}, {begin, end});
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
    const auto order = operation.order ? to.list.numbers_of(operation.order) : std::vector<std::int32_t>{};
    to.program.append(
        [=, from = positions_of(x.desc()), at = positions_of(y.desc()), piece = Dim{operation.piece()},
         first = Dim{operation.first}] {
            const Dim pieces = at.channels / piece, others = from.channels / piece;  // of a position
            with_type(y.elements(), [&, source = x.elements()]<class Element>(Element* taken) {
                for_parts(at.rows(), [&](Dim, Dim begin, Dim end) {
                    for (Dim row = begin; row < end; ++row) {
                        for (Dim k = 0; k < pieces; ++k) {
                            const Dim wanted = row % at.of_image * pieces + k;
                            const Dim place = order.empty() ? wanted + first : order[static_cast<std::size_t>(wanted)];
                            const bool is_there = place >= 0 && place < from.of_image * others;
                            const Dim position = row / at.of_image * from.of_image + place / others;
                            copy_run(is_there ? source.as<Element>() + from.at(position) : nullptr, from,
                                     place % others * piece, taken + at.at(row), at, k * piece, piece);
                        }
                        const Element* const nothing = nullptr;
                        copy_run(nothing, from, 0, taken + at.at(row), at, at.channels, at.stored - at.channels);
                    }
                });
            });
        },
        {x, y}, "roof:positions");
}

}  // namespace roof::onednn

// Layers that only move channels: a slice takes some of them, a shuffle puts all in another order. Maps are nchw, where a
// channel is contiguous. The slices of one map write their gradients into one tensor.
#include "workloads/onednn/layers/layers.hpp"

#include <cstring>

namespace roof::onednn {
namespace {

/// Channel `to` of the result is channel `from` of the source.
struct Move {
    int from, to;
};

void append_moves(Builder& build, const Tensor& from, const Tensor& to, const std::vector<Move>& moves)
{
    const Dims source = dims_of(from.desc());
    const auto row = static_cast<std::size_t>(source[2] * source[3]) *
                     static_cast<std::size_t>(traits(build.settings.precision).storage_bytes);
    const auto in = static_cast<std::size_t>(source[1]);
    const auto out = static_cast<std::size_t>(dims_of(to.desc())[1]);
    build.program.append(
        [=, images = static_cast<std::size_t>(source[0])] {
            const auto* const read = static_cast<const std::byte*>(from.elements().at);
            auto* const written = static_cast<std::byte*>(to.elements().at);
#pragma omp parallel for collapse(2) schedule(static)
            for (std::size_t n = 0; n < images; ++n) {
                for (std::size_t k = 0; k < moves.size(); ++k)
                    std::memcpy(written + (n * out + static_cast<std::size_t>(moves[k].to)) * row,
                                read + (n * in + static_cast<std::size_t>(moves[k].from)) * row, row);
            }
        },
        {from, to}, "roof:channels");
}

Desc plain_map(const Builder& build, int layer)
{
    return plain(build.map(layer), build.settings.precision);
}

std::vector<Move> backwards(std::vector<Move> moves)
{
    for (Move& move : moves) std::swap(move.from, move.to);
    return moves;
}

/// Writes both passes; `moves` from the source to the result.
void move_channels(Builder& build, const Unit& unit, const std::vector<Move>& moves)
{
    begin_with_work(build, unit, Phase::forward);
    const Tensor x = build.program.in_layout(build.input(unit), plain_map(build, build.source(unit)));
    const Tensor y = build.program.tensor(plain_map(build, unit.layer));
    append_moves(build, x, y, moves);
    build.put(unit, y);
    build.tape.emplace_back([=, &build] {
        begin_with_work(build, unit, Phase::backward);
        const int source = build.source(unit);
        const bool is_slice = build.layer(unit).kind == model::LayerKind::slice;
        const std::vector<int> parts = is_slice ? engine::whole_cut(build.graph, source) : std::vector{unit.layer};
        const Tensor given = build.gradient(unit.layer).tensor;
        Tensor& to_source = build.gradients_of_slices[source];
        if (parts.empty() || unit.layer == parts.back()) to_source = build.program.tensor(plain_map(build, source));
        if (parts.empty())
            build.program.append([zeros = to_source] { std::memset(zeros.elements().at, 0, zeros.desc().get_size()); },
                                 {to_source}, "roof:zero");
        append_moves(build, given, to_source, backwards(moves));
        if (parts.empty() || unit.layer == parts.front()) build.give(source, {to_source});
    });
}

}  // namespace

void slice(Builder& build, const Unit& unit)
{
    std::vector<Move> moves;
    for (int channel = 0; channel < build.layer(unit).output.channels; ++channel)
        moves.push_back({build.layer(unit).first + channel, channel});
    move_channels(build, unit, moves);
}

void shuffle(Builder& build, const Unit& unit)
{
    std::vector<Move> moves;
    for (const int channel : build.layer(unit).order) moves.push_back({channel, static_cast<int>(moves.size())});
    move_channels(build, unit, moves);
}

}  // namespace roof::onednn

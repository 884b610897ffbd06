// Channels moved from map to map. In nchw a channel is contiguous, in nChw16c a block of channels: a part that is whole
// blocks stays in blocks. Between the two oneDNN reorders the part.
#include "workloads/onednn/operations/binding.hpp"

#include <algorithm>
#include <cstring>
#include <variant>

namespace roof::onednn {
namespace {

constexpr int block = 16;

/// Channels of the source, and where they are in the result.
struct Part {
    int from, to, count;
};

Part part_of(const ir::CopyChannels& operation)
{
    const int from = std::max(0, operation.from);
    const int end = std::min(operation.source.channels, operation.from + operation.count);
    return {from, operation.to + from - operation.from, end - from};
}

/// Whether so many channels are whole blocks of the map.
bool is_whole(int begin, int count, int channels)
{
    return begin % block == 0 && (count % block == 0 || begin + count == channels);
}

Desc in_blocks(const ir::Tensor& tensor)
{
    return in_format(dims_of(tensor), dnnl::memory::format_tag::nChw16c, tensor.precision);
}

/// Row `to` of the result is row `from` of the source.
struct Move {
    int from, to;
};

/// Copies rows of so many channels. Both maps are in nchw, or both in blocks.
void append_moves(Program& program, const Tensor& from, const Tensor& to, int channels, const std::vector<Move>& moves)
{
    const Dims source = dims_of(from.desc());
    const auto rows_of = [channels](Dim all) { return static_cast<std::size_t>((all + channels - 1) / channels); };
    const std::size_t in = rows_of(source[1]), out = rows_of(dims_of(to.desc())[1]);
    const std::size_t bytes = static_cast<std::size_t>(source[2] * source[3] * channels) *
                              static_cast<std::size_t>(traits(from.precision()).storage_bytes);
    program.append(
        [=, images = static_cast<std::size_t>(source[0])] {
            const auto* const read = static_cast<const std::byte*>(from.elements().at);
            auto* const written = static_cast<std::byte*>(to.elements().at);
#pragma omp parallel for collapse(2) schedule(static)
            for (std::size_t n = 0; n < images; ++n) {
                for (std::size_t k = 0; k < moves.size(); ++k)
                    std::memcpy(written + (n * out + static_cast<std::size_t>(moves[k].to)) * bytes,
                                read + (n * in + static_cast<std::size_t>(moves[k].from)) * bytes, bytes);
            }
        },
        {from, to}, "roof:channels");
}

void copy_part(Binding& to, const ir::CopyChannels& operation)
{
    const Part part = part_of(operation);
    Tensor source = to.read(operation.source);
    const bool is_all = part.count == operation.source.channels;
    const bool fits =
        source.desc() == in_blocks(operation.source) && is_whole(part.from, part.count, operation.source.channels);
    if (!is_all && !fits) source = to.read(operation.source, plain(operation.source));

    const bool is_cut = to.cut.contains(operation.result.block);
    Desc layout = is_cut || !(is_all || fits) ? plain(operation.result) : in_blocks(operation.result);
    if (operation.result.like >= 0) layout = to.layout_of(operation.result.like);
    if (to.has(operation.result)) layout = to.layout_of(operation.result.block);
    const Tensor result = to.write(operation.result, layout);
    if (part.count < operation.count)
        to.program.append([result] { std::memset(result.elements().at, 0, result.desc().get_size()); }, {result},
                          "roof:zero");
    const bool are_plain = source.desc() == plain(operation.source) && layout == plain(operation.result);
    if (are_plain || (fits && layout == in_blocks(operation.result))) {
        const int channels = are_plain ? 1 : block;
        std::vector<Move> moves;
        for (int channel = 0; channel < part.count; channel += channels)
            moves.push_back({(part.from + channel) / channels, (part.to + channel) / channels});
        return append_moves(to.program, source, result, channels, moves);
    }
    const auto cut = [&](const Tensor& of, int begin, int channels) {
        Dims dims = dims_of(of.desc());
        dims[1] = part.count;
        return part.count == channels ? of : to.program.part(of, dims, {0, begin, 0, 0});
    };
    to.program.reorder(cut(source, part.from, operation.source.channels),
                       cut(result, part.to, operation.result.channels));
}

}  // namespace

void find_cuts(const ir::Program& program, std::set<int>& cut)
{
    for (const ir::Program::Stage& stage : program.stages()) {
        for (const ir::Operation& operation : stage.operations) {
            const auto* const copy = std::get_if<ir::CopyChannels>(&operation);
            if (copy == nullptr) continue;
            const Part part = part_of(*copy);
            if (!is_whole(part.to, part.count, copy->result.channels)) cut.insert(copy->result.block);
        }
    }
}

/// With an order, a shuffle, or a flattened map, which has PyTorch's order where it is plain.
void bind(Binding& to, const ir::CopyChannels& operation)
{
    if (!operation.order) return copy_part(to, operation);
    const int like = operation.result.like;
    const Dims given = dims_of(to.layout_of(operation.source.block));
    const Dims made = like < 0 ? dims_of(operation.result) : dims_of(to.layout_of(like));
    const Tensor from = to.read(operation.source, plain(given, operation.source.precision));
    const Tensor result = to.write(operation.result, plain(made, operation.result.precision));
    if (given[1] != made[1])
        return to.program.append(
            [from, result] { std::memcpy(result.elements().at, from.elements().at, from.desc().get_size()); },
            {from, result}, "roof:flatten");
    std::vector<Move> moves;
    for (const std::int32_t channel : to.list.numbers_of(operation.order))
        moves.push_back({channel, static_cast<int>(moves.size())});
    append_moves(to.program, from, result, 1, moves);
}

}  // namespace roof::onednn

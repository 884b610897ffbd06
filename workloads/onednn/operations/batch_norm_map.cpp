#include "workloads/onednn/operations/positions.hpp"

#include <array>

namespace roof::onednn {
namespace {

/// Selects the widest supported loops that divide the channels into whole groups, and the group size.
void choose_loops(ChannelMap& map, Dim side_by_side)
{
    constexpr std::array<int, 3> vectors{4, 2, 1};
    for (const NormLoops* loops : norm_loops_here()) {
        for (const int wide : vectors) {
            const int together = wide * loops->lanes;
            if (map.loops != nullptr || side_by_side % together != 0) continue;
            map.loops = loops;
            map.together = together;
        }
    }
}

}  // namespace

Elements ChannelMap::at(const Elements& tensor, Dim of_group, Dim of_image) const
{
    const auto size = static_cast<Dim>(traits(tensor.precision).storage_bytes);
    return {static_cast<std::byte*>(tensor.at) + (of_image * image + of_group * group) * size, tensor.precision};
}

std::optional<Positions> positions_in(const Desc& desc)
{
    const Dims dims = dims_of(desc);
    const auto [strides, blocks, block_dims] = blocking_of(desc);
    const bool is_blocked = !blocks.empty();
    if (strides.size() != 4 || strides[2] != dims[3] * strides[3] ||
        (is_blocked && (blocks.size() != 1 || block_dims.front() != 1)))
        return std::nullopt;
    const Dim lanes = is_blocked ? blocks.front() : strides[1] == 1 ? dims[1] : 1;
    const Dim stored = is_blocked ? ir::up_to_multiple(dims[1], lanes) : dims[1];
    return Positions{dims[0], dims[2] * dims[3], dims[1], strides[0], strides[3], strides[1], lanes, stored};
}

std::optional<ChannelMap> channel_map(const Desc& desc)
{
    const std::optional<Positions> at = positions_in(desc);
    if (!at) return std::nullopt;
    ChannelMap map{.images = at->images,
                   .channels = at->channels,
                   .positions = at->of_image,
                   .image = at->image,
                   .place = at->place};
    choose_loops(map, at->lanes);
    const bool is_blocked = at->group != 1;
    if (map.loops == nullptr || (is_blocked && map.together != at->lanes)) return std::nullopt;
    map.group = is_blocked ? at->group : map.together;
    return map;
}

Desc with_channels_together(const Desc& desc)
{
    return {dims_of(desc), data_type_of(desc), dnnl::memory::format_tag::nChw16c};
}

}  // namespace roof::onednn

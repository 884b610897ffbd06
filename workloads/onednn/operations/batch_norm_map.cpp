#include "workloads/onednn/operations/batch_norm_passes.hpp"

#include <array>

namespace roof::onednn {
namespace {

/// Number of channels that are adjacent at every position; 1 if none are.
Dim channels_side_by_side(const Blocking& blocking, Dim channels)
{
    if (blocking.blocks.size() == 1 && blocking.block_dims.front() == 1) return blocking.blocks.front();
    return blocking.blocks.empty() && blocking.strides[1] == 1 ? channels : 1;
}

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

std::optional<ChannelMap> channel_map(const Desc& desc)
{
    const Dims dims = dims_of(desc);
    const Blocking blocking = blocking_of(desc);
    if (blocking.strides.size() != 4 || blocking.strides[2] != dims[3] * blocking.strides[3]) return std::nullopt;
    ChannelMap map{.images = dims[0],
                   .channels = dims[1],
                   .positions = dims[2] * dims[3],
                   .image = blocking.strides[0],
                   .place = blocking.strides[3]};
    choose_loops(map, channels_side_by_side(blocking, map.channels));
    if (map.loops == nullptr) return std::nullopt;
    const bool blocked = !blocking.blocks.empty();
    if (blocked && map.together != blocking.blocks.front()) return std::nullopt;
    map.group = blocked ? blocking.strides[1] : map.together;
    return map;
}

Desc with_channels_together(const Desc& desc)
{
    return {dims_of(desc), data_type_of(desc), dnnl::memory::format_tag::nChw16c};
}

}  // namespace roof::onednn

// The channel layout of a map for batch norm: groups of channels that are adjacent at each position.
#pragma once

#include "workloads/kernels/norm/isa.hpp"
#include "workloads/onednn/program/dnnl.hpp"

#include <optional>

namespace roof::onednn {

struct ChannelMap {
    Dim images = 0, channels = 0, positions = 0;
    int together = 1;                     ///< channels per group
    Dim image = 0, group = 0, place = 0;  ///< strides in elements
    const NormLoops* loops = nullptr;     ///< the widest loops for groups of this size

    /// The last group may be padded beyond the channels.
    Dim groups() const { return (channels + together - 1) / together; }
    Strip strip() const { return {.positions = positions, .apart = place, .channels = together}; }
    /// The group's strip in one image, for a tensor of this layout.
    Elements at(const Elements& tensor, Dim of_group, Dim of_image) const;
};

inline constexpr int most_together = 64;

/// Empty if the layout's channels are not adjacent.
std::optional<ChannelMap> channel_map(const Desc& desc);
/// The same map in nChw16c, a layout that has a channel map.
Desc with_channels_together(const Desc& desc);

}  // namespace roof::onednn

// Where the channels of a map lie, as a batch norm walks over them: in groups, side by side at each position.
#pragma once

#include "workloads/kernels/norm/isa.hpp"
#include "workloads/onednn/program/dnnl.hpp"

#include <optional>

namespace roof::onednn {

struct ChannelMap {
    Dim images = 0, channels = 0, positions = 0;
    int together = 1;                     ///< channels of a group
    Dim image = 0, group = 0, place = 0;  ///< elements from one to the next
    const NormLoops* loops = nullptr;     ///< the widest for groups of this size

    /// The last one may hold places beyond the channels.
    Dim groups() const { return (channels + together - 1) / together; }
    Strip strip() const { return {.positions = positions, .apart = place, .channels = together}; }
    /// Of a tensor of this layout, the group's strip in an image.
    Elements at(const Elements& tensor, Dim of_group, Dim of_image) const;
};

inline constexpr int most_together = 64;

/// Nothing for a layout in which channels do not lie side by side.
std::optional<ChannelMap> channel_map(const Desc& desc);
/// The same map in a layout that has one: nChw16c.
Desc with_channels_together(const Desc& desc);

}  // namespace roof::onednn

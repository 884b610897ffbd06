// The two passes of a batch norm over its map: the first sums, the second applies the sums. A thread with whole groups
// does both passes on a group while it is in a cache, so memory is read once. At the end of a residual block the sum
// and its ReLU are included, and a second batch norm if the shortcut has one.
#pragma once

#include "workloads/kernels/norm/isa.hpp"
#include "workloads/onednn/operations/trained.hpp"
#include "workloads/parallel/communicator.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace roof::onednn {

/// The channel layout of a map: groups of channels that are adjacent at each position.
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

/// Per-channel factors kept from the forward to the backward pass; each is a row of a tensor.
enum class FactorRow { mean, inverse, slope, shift, of_shift, of_scale };
inline constexpr Dim factor_rows = 6;

struct Norm {
    ChannelMap map;
    float epsilon = 0;                              ///< added to the variance
    double values = 0;                              ///< per channel, over all ranks
    std::shared_ptr<parallel::Communicator> ranks;  ///< null: statistics of this rank only
    Tensor source;
    Tensor factors;  ///< [factor_rows][channels, padded to whole groups]
    Trained scale, shift;
    Tensor running_mean, running_variance;
};

/// result = norms + addend; max(result, 0) if `relu`. One norm, or two with `relu` and no addend, all in one layout.
struct NormSum {
    std::vector<Norm> norms;
    Tensor addend{};  ///< or none
    bool relu = false;
    Tensor result;
};

/// The gradient of the result, and the targets of the source gradients. `sum` receives the gradient before the ReLU and
/// may share the memory of the input. Without `sum` there is one norm, and that gradient is not stored.
struct NormSumGradient {
    Tensor first;
    Tensor second{};  ///< added to the first; or none
    Tensor sum{};
    std::vector<Tensor> to_sources{};
};

void run_forward(const NormSum& sum);
/// Also writes the gradients of scale and shift.
void run_backward(const NormSum& sum, const NormSumGradient& gradient);

}  // namespace roof::onednn

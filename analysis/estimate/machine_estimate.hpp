// What the roofs of a machine allow a training step, before it is run: the estimate of a model put under measured ceilings or
// a sheet's peaks. The formulas are those a measured step is placed by (analysis/roofline/place.hpp), so estimate and placement can be
// held against each other.
//   layer by layer   the sum over layers and passes of max(FLOPs / peak, compulsory bytes / bandwidth of each level)
//   all at once      the same maximum taken once over the network's sums, as if all layers ran side by side
//   without overlap  the sum over layers and passes of FLOPs / peak + bytes / bandwidth: what a program needs that moves first and
//                    computes then, at the rates that are usual on the target rather than those of its quiet moments: on a shared
//                    machine a step cannot choose its own. No bound, but the better prediction: real kernels overlap the two in part.
#pragma once

#include "analysis/estimate/footprint.hpp"
#include "analysis/estimate/target.hpp"
#include "analysis/roofline/place.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

inline constexpr long long imagenet_images = 1281167;  ///< of its training set

/// What an estimate is asked for.
struct EstimateRequest {
    std::string model;
    int batch = 1;  ///< on each device
    Precision precision = Precision::fp32;
    Passes passes = Passes::step;
    long long images = imagenet_images;  ///< of an epoch
    int devices = 1;
    std::string link{};  ///< between devices; needed where there are several
};

/// Traffic of the whole network at one level, and where the level's roof meets that of compute.
struct LevelEstimate {
    std::string name;
    ByteRate bandwidth;
    Bytes low;   ///< compulsory
    Bytes high;  ///< without reuse, where the footprint of a layer does not fit into the caches nearer to the core
    Intensity intensity_low;
    Intensity intensity_high;
    Intensity ridge;
};

/// Several devices, each with a batch of its own, that add up their gradients.
struct ScalingEstimate {
    int devices = 1;
    std::string link;
    Bytes gradients;
    Seconds all_reduce;
    Seconds exposed;  ///< a step whose all-reduce waits for the backward pass
    Seconds hidden;   ///< a step whose all-reduce runs beside the backward pass
};

struct MachineEstimate {
    EstimateRequest request;
    std::string machine;
    std::string title;
    Known known = Known::spec;  ///< of peak and bandwidths
    std::string reason;         ///< why there is no estimate; then all below is empty but for the footprint
    FlopRate peak;
    std::vector<LevelEstimate> levels;  ///< nearest to the core first
    Flops flops;                        ///< of all layers, elementwise ones and update included
    std::string binds;                  ///< under which most of the time lies, layer by layer
    bool binds_compute = false;
    double compute_share = 0;  ///< of the time layer by layer
    Seconds layer_by_layer;
    Seconds at_once;
    std::string at_once_binds;
    Seconds without_overlap;
    Seconds forward, backward, update;  ///< add up to layer_by_layer
    std::optional<ScalingEstimate> scaling;
    Footprint footprint;
    Bytes memory;           ///< 0 if not known
    int largest_batch = 0;  ///< that fits; 0 if not known, or if nothing does
    std::vector<Placement> layers;

    /// Of one step on all devices, with an exposed all-reduce.
    Seconds step() const { return scaling ? scaling->exposed : layer_by_layer; }
    double images_per_second() const;
    Seconds epoch() const;
    bool fits() const { return memory.value <= 0 || footprint.total() <= memory; }
    /// FLOPs over compulsory bytes at the farthest level.
    Intensity intensity() const { return levels.empty() ? Intensity{} : levels.back().intensity_high; }
    Intensity ridge() const { return levels.empty() ? Intensity{} : levels.back().ridge; }
};

/// Throws InputError for an unknown model, a batch below 1, several devices without a link, or a forward pass on several.
MachineEstimate estimate_on(const Target& target, const EstimateRequest& request);

}  // namespace roof::analysis

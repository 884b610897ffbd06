// The time that the roofs of a machine allow a training step: the estimate of a model under measured ceilings or the
// peaks of a sheet. The formulas are those for measured steps (analysis/roofline/place.hpp), so estimate and
// placement are comparable.
//   layer by layer   the sum over layers and passes of max(FLOPs / peak, compulsory bytes / bandwidth of each level)
//   all at once      the same maximum over the network's sums, as if all layers ran at the same time
//                    Both count what each layer reads and writes. A step that fuses layers, or finds a map in a cache,
//                    moves less and may be faster.
//   without overlap  the sum over layers and passes of FLOPs / peak + bytes / bandwidth, at the usual rates of the
//                    target, which on a shared machine are below its ceilings, and on a GPU the measured time of a
//                    launch in a CUDA graph for each. Not a bound, but the better prediction.
// The first has an interval: the same with every roof at the upper and at the lower end of its own. It says how well
// the roofs are known, not how far a step stays from them. A roof that is a lower bound has no upper end, and a sheet's
// figure has neither. The last has one on a CPU's measured roofs: as far as measured steps were from their predictions
// (fastest_of_predicted, slowest_of_predicted). Nobody compared enough steps on GPUs.
#pragma once

#include "analysis/estimate/estimate.hpp"
#include "analysis/estimate/target.hpp"
#include "analysis/roofline/place.hpp"
#include "analysis/table/table.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

/// Measured times over predicted ones: 90% of a further step, by those of results/examples/predictions.csv, whose page
/// judges each machine by the others. By the roofs alone, and by a trial (trial_of).
inline constexpr double fastest_of_predicted = 0.86, slowest_of_predicted = 1.31;
inline constexpr double fastest_of_tried = 0.82, slowest_of_tried = 1.19;

/// A time between its ends; nothing where an end is not known.
struct TimeRange {
    std::optional<Seconds> low, high;
};

/// From `least` times such a share to `most` times the other, wider by what the machine's times differ by, in squares.
TimeRange range_of(Seconds least, double fastest, Seconds most, double slowest, const std::optional<double>& between);

/// Several devices, each with its own batch, that sum their gradients.
struct ScalingEstimate {
    Seconds all_reduce;
    Seconds exposed;  ///< a step with the all-reduce after the backward pass
    Seconds hidden;   ///< a step with the all-reduce during the backward pass
};

struct MachineEstimate {
    EstimateRequest request;
    std::string machine;
    std::string title;
    std::string quality;          ///< of measured ceilings, as a sentence; else empty
    Known known = Known::spec;    ///< how peak and bandwidths are known
    std::string reason;           ///< why there is no estimate; then only the footprint is set
    Placement placed;             ///< the step, layer by layer: `binds` has most of its attainable time
    Placement at_once;            ///< the network as one piece of work
    bool is_lower_bound = false;  ///< of FLOPs: some are unknown, and the times are lower bounds, too
    double compute_share = 0;     ///< share of the compute roof in the time layer by layer
    Seconds without_overlap;
    TimeRange layer_by_layer_range, without_overlap_range;
    std::optional<double> between{};            ///< between_times()
    std::map<std::string, Seconds> by_loops{};  ///< `without_overlap` by LayerEstimate::loops; "update" of all layers
    Seconds forward, backward, update;          ///< add up to the time layer by layer
    std::optional<ScalingEstimate> scaling;
    Footprint footprint;
    Bytes memory;           ///< 0 if unknown
    int largest_batch = 0;  ///< largest batch that fits; 0 if unknown or none fits
    std::vector<Placement> layers;

    /// One step on all devices, with an exposed all-reduce.
    Seconds step() const { return scaling ? scaling->exposed : placed.attainable; }
    double images() const { return static_cast<double>(request.batch) * request.devices; }
    double images_per_second() const { return step().value > 0 ? images() / step().value : 0; }
    Seconds epoch() const { return std::ceil(static_cast<double>(request.images) / images()) * step(); }
    bool fits() const { return memory.value <= 0 || footprint.total() <= memory; }
};

/// The alpha-beta model of a ring all-reduce over N devices: 2(N-1) steps, each sends 1/N of the bytes per device.
///   2(N-1) alpha + 2(N-1)/N * bytes / beta
Seconds ring_all_reduce(Bytes bytes, int devices, const Link& link);

/// Throws InputError for an unknown model, a batch below 1, or several devices without a link or in a forward pass.
MachineEstimate estimate_on(const Target& target, const EstimateRequest& request);
/// Of what was counted by `request`.
MachineEstimate estimate_on(const Target& target, const EstimateRequest& request, const ModelEstimate& counted);

/// A row for each quantity, a column for each machine. All estimates must have the same request. The reason why a
/// machine has no estimate is below the table.
std::string to_text(std::span<const MachineEstimate> estimates);

/// The smallest batch from which compute bounds it, up to `largest`; nothing where that is the same at every batch. The
/// request is of a network that can be counted here.
std::optional<int> compute_bound_from(const Target& target, EstimateRequest request, int largest);

/// "alexnet at batch 4 on a100 is memory-bound: 73% of its 2.18 ms lie under bandwidth roofs (8.3 FLOP/B, ridge point
/// 12.5)."
std::string bound_sentence(const MachineEstimate& estimate);

/// A row for each estimate: what the terminal has in columns, in SI units.
DataTable estimates_table(const std::vector<MachineEstimate>& estimates);

/// The columns of estimates_table() by their keys, and "title", "quality", "reason", "peak_is_lower_bound",
/// "is_lower_bound", "levels", "binds", "layer_by_layer_low_s", …, "forward_s", "backward_s", "update_s",
/// "epoch_images", "memory": {…}, "scaling", "layers": [{"layer", "kind", "phase", "flops", "compulsory_bytes",
/// "attainable_s", "binds"}]; null if unknown.
nlohmann::json to_json(const MachineEstimate& estimate);

}  // namespace roof::analysis

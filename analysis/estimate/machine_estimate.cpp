#include "analysis/estimate/machine_estimate.hpp"

#include "analysis/roofline/roofs.hpp"
#include "ert/base/error.hpp"
#include "workloads/model/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace roof::analysis {
namespace {

using model::LayerWork;
using model::PassWork;

/// The step as a measurement without times.
class PlannedStep {
  public:
    PlannedStep(const model::Graph& graph, const EstimateRequest& request)
    {
        row_.bench = "estimate";
        row_.role = Role::step;
        row_.point.set("model", graph.name());
        row_.point.set("batch", std::to_string(request.batch));
        row_.point.set("precision", std::string(traits(request.precision).name));
        for (int index = 1; index < static_cast<int>(graph.layers().size()); ++index) {
            const LayerWork work = work_of(graph, index, request.batch, request.precision);
            add(graph.layer(index), Phase::forward, work.forward);
            if (request.passes == Passes::forward) continue;
            add(graph.layer(index), Phase::backward, work.backward_data);
            add(graph.layer(index), Phase::backward, work.backward_weights);
            add(graph.layer(index), Phase::update, work.update);
        }
    }

    Measurement row(const std::string& device) const
    {
        Measurement row = row_;
        row.device = device;
        return row;
    }

    /// The network as one piece of work, without parts.
    Measurement whole(const std::string& device) const
    {
        Measurement row = this->row(device);
        row.parts.clear();
        return row;
    }

  private:
    void add(const model::Layer& layer, Phase phase, const PassWork& pass)
    {
        if (pass.compulsory.value <= 0) return;
        const Work work{.flops = pass.flops, .compulsory = pass.compulsory, .no_reuse = pass.no_reuse};
        row_.parts.push_back({{layer.name, std::string(name(layer.kind)), phase, work, {}}, {}});
        row_.work.flops += work.flops;
        row_.work.compulsory += work.compulsory;
        row_.work.no_reuse += work.no_reuse;
    }

    Measurement row_;
};

void check(const EstimateRequest& request)
{
    if (request.batch < 1) throw InputError(fmt::format("a batch holds at least 1 image, not {}", request.batch));
    if (request.devices < 2) return;
    if (request.passes == Passes::forward)
        throw InputError("several devices exchange the gradients of a whole step; a forward pass has no gradients");
    if (request.link.empty())
        throw InputError("several devices need a link for their gradients, such as nvlink or pcie");
}

void add_levels(MachineEstimate& estimate, const Placement& step)
{
    estimate.peak = step.compute_roof;
    for (const LevelPlacement& level : step.levels) {
        estimate.levels.push_back({level.level, level.roof, level.low, level.high, level.intensity_low,
                                   level.intensity_high, ridge_point(estimate.peak, level.roof)});
    }
}

/// The usual share of each roof on the target; below 1 on a shared machine.
class TypicalShares {
  public:
    TypicalShares(const Target& target, Precision precision)
    {
        const Roofs roofs = roofs_of(target.ceilings, target.device);
        compute_ = roofs.precision(std::string(traits(precision).name))->typical_share();
        for (const Ceiling* const level : roofs.levels) levels_[level->level] = level->typical_share();
    }

    /// FLOPs over the peak plus the largest bytes over bandwidth of a level.
    Seconds one_after_the_other(const Placement& layer) const
    {
        Seconds moving;
        for (const LevelPlacement& level : layer.levels)
            moving = std::max(moving, level.low / (level.roof * share_of(level.level)));
        return layer.flops / (layer.compute_roof * compute_) + moving;
    }

  private:
    double share_of(const std::string& level) const
    {
        const auto found = levels_.find(level);
        return found == levels_.end() ? 1 : found->second;
    }

    double compute_ = 1;
    std::map<std::string, double> levels_;
};

void add_times(MachineEstimate& estimate, const TypicalShares& typical)
{
    Seconds under_compute;
    for (const Placement& layer : estimate.layers) {
        estimate.without_overlap += typical.one_after_the_other(layer);
        if (layer.binds_compute) under_compute += layer.attainable;
        Seconds& phase = layer.phase == Phase::forward    ? estimate.forward
                         : layer.phase == Phase::backward ? estimate.backward
                                                          : estimate.update;
        phase += layer.attainable;
    }
    estimate.compute_share = under_compute / estimate.layer_by_layer;
}

void add_scaling(MachineEstimate& estimate, const Target& target)
{
    const EstimateRequest& request = estimate.request;
    if (request.devices < 2) return;
    const Bytes gradients = estimate.footprint.gradients;
    const Seconds all_reduce = ring_all_reduce(gradients, request.devices, target.link(request.link));
    const Seconds behind = all_reduce > estimate.backward ? all_reduce : estimate.backward;
    estimate.scaling = ScalingEstimate{.devices = request.devices,
                                       .link = request.link,
                                       .gradients = gradients,
                                       .all_reduce = all_reduce,
                                       .exposed = estimate.layer_by_layer + all_reduce,
                                       .hidden = estimate.forward + behind + estimate.update};
}

}  // namespace

double MachineEstimate::images_per_second() const
{
    const double images = static_cast<double>(request.batch) * request.devices;
    return step().value > 0 ? images / step().value : 0;
}

Seconds MachineEstimate::epoch() const
{
    const double images = static_cast<double>(request.batch) * request.devices;
    return std::ceil(static_cast<double>(request.images) / images) * step();
}

Seconds ring_all_reduce(Bytes bytes, int devices, const Link& link)
{
    const double steps = 2.0 * (devices - 1);
    return steps * link.latency + (bytes * (steps / devices)) / link.bandwidth;
}

MachineEstimate estimate_on(const Target& target, const EstimateRequest& request)
{
    check(request);
    const model::Graph graph = model::build_model(request.model);
    MachineEstimate estimate;
    estimate.request = request;
    estimate.machine = target.name;
    estimate.title = target.title;
    estimate.known = target.known;
    estimate.footprint = footprint_of(graph, request.batch, request.precision, request.passes);
    estimate.memory = target.memory;
    if (target.memory.value > 0)
        estimate.largest_batch = largest_batch(graph, request.precision, request.passes, target.memory);
    if (roofs_of(target.ceilings, target.device).precision(std::string(traits(request.precision).name)) == nullptr) {
        estimate.reason =
            fmt::format("{} has no {} figure for {}", target.name, name(target.known), traits(request.precision).name);
        return estimate;
    }
    const PlannedStep planned(graph, request);
    estimate.layers = place(planned.row(target.device), target.ceilings, target.machine);
    const Placement step = estimate.layers.front();
    estimate.layers.erase(estimate.layers.begin());
    const Placement whole = place(planned.whole(target.device), target.ceilings, target.machine).front();
    estimate.flops = step.flops;
    estimate.binds = step.binds;
    estimate.binds_compute = step.binds_compute;
    estimate.layer_by_layer = step.attainable;
    estimate.at_once = whole.attainable;
    estimate.at_once_binds = whole.binds;
    add_levels(estimate, step);
    add_times(estimate, TypicalShares(target, request.precision));
    add_scaling(estimate, target);
    return estimate;
}

}  // namespace roof::analysis

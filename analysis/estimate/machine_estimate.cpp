#include "analysis/estimate/machine_estimate.hpp"

#include "analysis/roofline/roofs.hpp"
#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/method/bench/machine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {
namespace {

/// The step as a measurement without times. `by_winograd`: convolutions execute the fewest products that it can do
/// with.
Measurement planned_step(const ModelEstimate& network, const EstimateRequest& request, const std::string& device,
                         bool by_winograd = false)
{
    Measurement row;
    row.bench = "estimate";
    row.role = Role::step;
    row.device = device;
    row.point.set("model", network.model);
    row.point.set("batch", std::to_string(request.batch));
    row.point.set("precision", std::string(traits(request.precision).name));
    if (request.threads > 0 && kind_of_device(device) == "cpu")
        row.point.set("threads", std::to_string(request.threads));
    for (const LayerEstimate& layer : network.layers) {
        const auto add = [&](Phase phase, const model::PassWork& pass) {
            if (pass.compulsory.value <= 0) return;
            const double executed =
                layer.work.executed * (by_winograd && phase != Phase::update ? layer.least_executed : 1);
            const Work work{.flops = pass.flops,
                            .compulsory = pass.compulsory,
                            .no_reuse = pass.no_reuse,
                            .executed = executed < 1 ? pass.flops * executed : Flops{},
                            .read = pass.compulsory - pass.written,
                            .written = pass.written};
            row.parts.push_back({{layer.name, layer.kind, phase, work, {}}, {}});
            row.work.flops += work.flops;
            row.work.compulsory += work.compulsory;
            row.work.no_reuse += work.no_reuse;
            row.work.read += work.read;
            row.work.written += work.written;
        };
        add(Phase::forward, layer.work.forward);
        if (request.passes != Passes::train) continue;
        add(Phase::backward, layer.work.backward_data);
        add(Phase::backward, layer.work.backward_weights);
        add(Phase::update, layer.work.update);
    }
    return row;
}

void check(const EstimateRequest& request)
{
    if (request.batch < 1) throw InputError(fmt::format("a batch holds at least 1 image, not {}", request.batch));
    if (request.devices < 2) return;
    if (request.passes != Passes::train)
        throw InputError("several devices exchange the gradients of a whole step; a forward pass has no gradients");
    if (request.link.empty())
        throw InputError("several devices need a link for their gradients, such as nvlink or pcie");
}

/// FLOPs over the peak plus the largest bytes over bandwidth of a level, at the usual shares of the target's roofs,
/// which are below 1 on a shared machine.
Seconds one_after_the_other(const Placement& layer, const Ceiling& compute, const std::vector<const Ceiling*>& levels)
{
    Seconds moving;
    for (const LevelPlacement& level : layer.levels) {
        const auto* const roof = find_in(levels, level.level, &Ceiling::level);
        const double share = roof ? (*roof)->typical_share() : 1;
        moving = std::max(moving, level.low / (level.roof * share));
    }
    return layer.done() / (layer.compute_roof * compute.typical_share()) + moving;
}

Ceilings at_end(Ceilings ceilings, decltype(Rate::low) Rate::*end)
{
    for (Ceiling& one : ceilings.all) one.rate.median = one.rate.*end;
    return ceilings;
}

/// The ends of the time layer by layer. `roofs`: those that the target's device has.
TimeRange layer_by_layer_range(const Measurement& planned, const Target& target, const Roofs& roofs)
{
    const auto time = [&](decltype(Rate::low) Rate::*end) {
        return place(planned, at_end(target.ceilings, end), target.machine).front().attainable;
    };
    const auto is_bound = [](const Ceiling* roof) { return roof->steadiness == Steadiness::at_least; };
    TimeRange range;
    if (target.known != Known::measured) return range;
    range.high = time(&Rate::low);
    if (std::ranges::any_of(roofs.levels, is_bound) || std::ranges::any_of(roofs.compute, is_bound)) return range;
    range.low = time(&Rate::high);
    return range;
}

/// Of one kernel in a CUDA graph; 0 where nobody measured it.
Seconds launch_of(const Target& target)
{
    const auto* const launch = first_in(target.ceilings.all, [&](const Ceiling& one) {
        return one.device == target.device && one.kind == Role::latency && one.level == "graph";
    });
    return launch ? launch->per_access() : Seconds{};
}

/// By LayerEstimate::loops. Each layer and pass takes one launch, too.
std::map<std::string, Seconds> times_by_loops(std::span<const Placement> layers, const ModelEstimate& counted,
                                              const Target& target, const Ceiling& compute,
                                              const std::vector<const Ceiling*>& levels)
{
    std::map<std::string, Seconds> times;
    for (const Placement& layer : layers) {
        const auto* const found = find_in(counted.layers, layer.name, &LayerEstimate::name);
        const std::string& loops = found ? found->loops : layer.kind;
        // SGD updates linear layers that are not of positions from the factors of their gradient, in their own loop.
        const bool is_own = layer.phase != Phase::update ||
                            (counted.optimizer == model::Optimizer::sgd && loops == name(model::LayerKind::linear));
        times[is_own ? loops : "update"] += launch_of(target) + one_after_the_other(layer, compute, levels);
    }
    return times;
}

Seconds sum_of(const std::map<std::string, Seconds>& times)
{
    Seconds sum;
    for (const auto& [loops, seconds] : times) sum += seconds;
    return sum;
}

void add_times(MachineEstimate& estimate)
{
    Seconds under_compute;
    for (const Placement& layer : estimate.layers) {
        if (layer.binds_compute) under_compute += layer.attainable;
        Seconds& phase = layer.phase == Phase::forward    ? estimate.forward
                         : layer.phase == Phase::backward ? estimate.backward
                                                          : estimate.update;
        phase += layer.attainable;
    }
    estimate.compute_share = under_compute / estimate.placed.attainable;
}

void add_scaling(MachineEstimate& estimate, const Target& target)
{
    const EstimateRequest& request = estimate.request;
    if (request.devices < 2) return;
    const Seconds all_reduce =
        ring_all_reduce(estimate.footprint.gradients, request.devices, target.link(request.link));
    estimate.scaling =
        ScalingEstimate{.all_reduce = all_reduce,
                        .exposed = estimate.placed.attainable + all_reduce,
                        .hidden = estimate.forward + std::max(all_reduce, estimate.backward) + estimate.update};
}

}  // namespace

TimeRange range_of(Seconds least, double fastest, Seconds most, double slowest, const std::optional<double>& between)
{
    if (!between) return {least * fastest, most * slowest};
    const auto wider = [&](double factor) { return std::exp(std::hypot(std::log(factor), *between)); };
    return {least / wider(fastest), most * wider(slowest)};
}

Seconds ring_all_reduce(Bytes bytes, int devices, const Link& link)
{
    const double steps = 2.0 * (devices - 1);
    return steps * link.latency + (bytes * (steps / devices)) / link.bandwidth;
}

std::optional<int> compute_bound_from(const Target& target, EstimateRequest request, int largest)
{
    const auto is_compute_bound = [&](int batch) {
        request.batch = batch;
        return estimate_on(target, request).placed.binds_compute;
    };
    if (is_compute_bound(1) || !is_compute_bound(largest)) return std::nullopt;
    int below = 1;
    for (int from = largest;;) {
        const int middle = below + (from - below) / 2;
        if (middle == below) return from;
        (is_compute_bound(middle) ? from : below) = middle;
    }
}

MachineEstimate estimate_on(const Target& target, const EstimateRequest& request)
{
    check(request);
    return estimate_on(target, request, estimate_model(request));
}

MachineEstimate estimate_on(const Target& target, const EstimateRequest& request, const ModelEstimate& counted)
{
    check(request);
    MachineEstimate estimate;
    estimate.request = request;
    estimate.machine = target.name;
    estimate.title = target.title;
    estimate.quality = target.quality;
    estimate.known = target.known;
    estimate.is_lower_bound = is_lower_bound(counted);
    estimate.footprint = counted.memory;
    estimate.memory = target.memory;
    if (target.memory.value > 0) estimate.largest_batch = largest_batch(counted.memory, request.batch, target.memory);
    const Roofs roofs = roofs_of(target.ceilings, target.device, request.threads);
    const Ceiling* const compute = roofs.precision(std::string(traits(request.precision).name));
    if (compute == nullptr) {
        estimate.reason =
            fmt::format("{} has no {} figure for {}", target.name, name(target.known), traits(request.precision).name);
        return estimate;
    }
    if (request.threads > 0 && target.known == Known::measured && kind_of_device(target.device) == "cpu" &&
        roofs.threads != request.threads) {
        estimate.reason = fmt::format("{} has no ceilings with {} threads", target.name, request.threads);
        return estimate;
    }
    Measurement planned = planned_step(counted, request, target.device);
    estimate.layers = place(planned, target.ceilings, target.machine);
    estimate.placed = estimate.layers.front();
    estimate.layers.erase(estimate.layers.begin());
    estimate.layer_by_layer_range = layer_by_layer_range(planned, target, roofs);
    estimate.by_loops = times_by_loops(estimate.layers, counted, target, *compute, roofs.levels);
    estimate.without_overlap = sum_of(estimate.by_loops);
    if (target.known == Known::measured && kind_of_device(target.device) == "cpu") {
        Seconds fastest = estimate.without_overlap;
        if (request.by_fastest_algorithm) {
            auto placed = place(planned_step(counted, request, target.device, true), target.ceilings, target.machine);
            fastest = sum_of(times_by_loops(std::span(placed).subspan(1), counted, target, *compute, roofs.levels));
        }
        estimate.between = between_times(estimate.layers, roofs);
        estimate.without_overlap_range =
            range_of(fastest, fastest_of_predicted, estimate.without_overlap, slowest_of_predicted, estimate.between);
    }
    planned.parts.clear();  // the network as one piece of work
    estimate.at_once = place(planned, target.ceilings, target.machine).front();
    add_times(estimate);
    add_scaling(estimate, target);
    return estimate;
}

}  // namespace roof::analysis

#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {
namespace {

/// The layer's batch norm as the other of a sum.
OtherNorm other_norm_of(const Builder& build, int layer, const Tensor& result)
{
    const Output& output = build.outputs[static_cast<std::size_t>(layer)];
    return {.source = output.tensor,
            .weight = output.weight,
            .channels = output.channels,
            .sum = build.parameters.of(layer, true).gradient,
            .sum_of_products = build.parameters.of(layer, false).gradient,
            .result = result};
}

}  // namespace

void reduce(Builder& build, int layer, ReduceGradient reduction, int partner)
{
    const Output& output = build.output(layer);
    const auto is_by_source = [&build](int one) { return !build.output(one).moments; };
    if (is_by_source(layer)) {
        reduction.channels = output.channels;
        reduction.sum_of_products = build.parameters.of(layer, false).gradient;
    } else {
        reduction.source = {};
    }
    reduction.sum = build.parameters.of(layer, true).gradient;
    reduction.partial = build.program.tensor(partial_sums_of(build.map(layer), partner < 0 ? 2 : 3));
    if (partner >= 0) {
        OtherNorm other = other_norm_of(build, partner, {});
        if (!is_by_source(partner)) other = {.sum = other.sum};
        reduction.other_norm = other;
    }
    build.program.append(reduction, partner < 0 ? "roof:norm_sums" : "roof:norm_sums of two");
    build.output(layer).reduced = true;
    if (partner >= 0) build.output(partner).reduced = true;
}

void complete(Builder& build, int norm)
{
    build.completed(norm, true);
    build.completed(norm, false);
}

void spread(Builder& build, int layer, NormGradient spreading, int partner)
{
    const Output& output = build.output(layer);
    spreading.weight = output.weight;
    spreading.channels = output.channels;
    spreading.sum = build.parameters.of(layer, true).gradient;
    spreading.sum_of_products = build.parameters.of(layer, false).gradient;
    if (partner >= 0) {
        spreading.other_norm = other_norm_of(build, partner, build.program.tensor(build.map(partner)));
        build.give(build.graph.layer(partner).inputs.front(), {spreading.other_norm.result});
    }
    build.program.append(spreading, partner < 0 ? "roof:norm_gradient" : "roof:norm_gradient of two");
    complete(build, layer);
    if (partner >= 0) complete(build, partner);
    build.give(build.graph.layer(layer).inputs.front(), {spreading.result});
}

}  // namespace roof::ir

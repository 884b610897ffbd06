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
    std::vector<Tensor> used{
        reduction.share,   reduction.other_share, reduction.output,          reduction.signs,
        reduction.winners, reduction.source,      reduction.channels.mean,   reduction.channels.inverse_deviation,
        reduction.result,  reduction.sum,         reduction.sum_of_products, reduction.partial};
    if (reduction.relu) used.insert(used.end(), {output.channels.scale, output.channels.shift});
    if (partner >= 0) {
        OtherNorm other = other_norm_of(build, partner, {});
        if (!is_by_source(partner)) other = {.sum = other.sum};
        reduction.other_norm = other;
        used.insert(used.end(), {other.source, other.channels.mean, other.channels.inverse_deviation, other.sum,
                                 other.sum_of_products});
    }
    build.program.append(reduction, used, partner < 0 ? "roof:norm_sums" : "roof:norm_sums of two");
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
    std::vector<Tensor> used{spreading.gradient,
                             spreading.output,
                             spreading.winners,
                             spreading.source,
                             output.weight,
                             output.channels.mean,
                             output.channels.inverse_deviation,
                             spreading.sum,
                             spreading.sum_of_products,
                             spreading.result};
    if (spreading.relu) used.insert(used.end(), {output.channels.scale, output.channels.shift});
    if (partner >= 0) {
        const OtherNorm other = other_norm_of(build, partner, build.program.tensor(build.map(partner)));
        spreading.other_norm = other;
        used.insert(used.end(), {other.source, other.weight, other.channels.mean, other.channels.inverse_deviation,
                                 other.sum, other.sum_of_products, other.result});
        build.give(build.graph.layer(partner).inputs.front(), {other.result});
    }
    build.program.append(spreading, used, partner < 0 ? "roof:norm_gradient" : "roof:norm_gradient of two");
    complete(build, layer);
    if (partner >= 0) complete(build, partner);
    build.give(build.graph.layer(layer).inputs.front(), {spreading.result});
}

}  // namespace roof::ir

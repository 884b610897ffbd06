// Batch norm in training mode; m and v are a channel's mean and (biased) variance over the batch:
//   y = g * (x - m) / sqrt(v + eps) + b, then the ReLU;  running = 0.9 * running + 0.1 * {m, v * n / (n - 1)}
//   db = sum of dy;  dg = sum of dy * (x - m) / sqrt(v + eps);  dx follows from both
// Two passes over memory in each direction, with the ReLU and its gradient.
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {

void batch_norm(Builder& build, const Unit& unit)
{
    const Tensor source = build.input(unit);
    const Tensor channels = build.channels_of(unit.layer);
    const Trained weight = build.parameters.of(unit.layer, false);
    const Trained bias = build.parameters.of(unit.layer, true);
    build.begin_with_work(unit, Phase::forward);
    build.running.push_back({build.layer(unit).name, build.list.resident(channels), build.list.resident(channels)});
    const ChannelNumbers found{.mean = build.list.tensor(channels),
                               .inverse_deviation = build.list.tensor(channels),
                               .scale = build.list.tensor(channels),
                               .shift = build.list.tensor(channels)};
    build.list.append(Statistics{.source = source,
                                 .weight = weight.value,
                                 .bias = bias.value,
                                 .channels = found,
                                 .running_mean = build.running.back().mean,
                                 .running_variance = build.running.back().variance,
                                 .partial = build.list.tensor(partial_sums_of(source)),
                                 .epsilon = build.layer(unit).epsilon},
                      "roof:statistics");
    const Tensor result = build.list.tensor(build.map(unit.layer));
    build.list.append(
        Normalise{.source = source, .scale = found.scale, .shift = found.shift, .result = result, .relu = unit.fused()},
        "roof:normalise");
    build.put(unit, result);

    build.tape.emplace_back([=, &build] {
        build.begin_with_work(unit, Phase::backward);
        if (unit.fused()) build.add_flops(build.work(unit.relu).backward_data.flops);
        const Tensor given = build.gradient(unit.last());
        const Tensor mask = unit.fused() ? result : Tensor{};
        build.list.append(ReduceGradient{.share = given,
                                         .output = mask,
                                         .source = source,
                                         .channels = found,
                                         .sum = bias.gradient,
                                         .sum_of_products = weight.gradient,
                                         .partial = build.list.tensor(partial_sums_of(result))},
                          "roof:norm_sums");
        const NormGradient gradient{.gradient = given,
                                    .output = mask,
                                    .source = source,
                                    .weight = weight.value,
                                    .channels = found,
                                    .sum = bias.gradient,
                                    .sum_of_products = weight.gradient,
                                    .result = build.list.tensor(given)};
        build.list.append(gradient, "roof:norm_gradient");
        build.completed(unit.layer, true);
        build.completed(unit.layer, false);
        build.give(build.source(unit), gradient.result);
    });
}

}  // namespace roof::ir

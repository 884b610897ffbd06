// Layer norm over the channels of each position:  y = n g + b,  n = (x - m) d,  d = 1 / sqrt(v + eps), with the
// position's mean m and (biased) variance v. With h = dy g:
//   dx = d (h - mean of h - n * mean of (h n));  dg = sum over positions of dy n;  db = sum over positions of dy
// An RMS norm is the same without m, b and the mean of h.
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {

void layer_norm(Builder& build, const Unit& unit)
{
    build.begin_with_work(unit, Phase::forward);
    const bool is_shifted = build.layer(unit).kind == model::LayerKind::layer_norm;
    const Trained weight = build.parameters.of(unit.layer, false);
    const Trained bias = is_shifted ? build.parameters.of(unit.layer, true) : Trained{};
    const Tensor source = build.input(unit);
    const Tensor positions = maps_of(source.batch, {1, source.height, source.width}, Precision::fp32);
    const LayerNorm norm{.source = source,
                         .weight = weight.value,
                         .bias = bias.value,
                         .mean = is_shifted ? build.list.tensor(positions) : Tensor{},
                         .inverse_deviation = build.list.tensor(positions),
                         .result = build.list.tensor(build.map(unit.layer)),
                         .epsilon = build.layer(unit).epsilon};
    build.list.append(norm, "roof:layer_norm");
    build.put(unit, norm.result);
    build.tape.emplace_back([=, &build] {
        build.begin_with_work(unit, Phase::backward);
        const Tensor given = build.gradient(unit.layer);
        // A slab has all channels: as many slabs as for few channels.
        const Tensor slabs{.batch = static_cast<int>(slabs_of(source.rows(), 1)), .channels = 2 * source.channels};
        const LayerNormGradient gradient{.gradient = given,
                                         .source = source,
                                         .weight = weight.value,
                                         .mean = norm.mean,
                                         .inverse_deviation = norm.inverse_deviation,
                                         .result = build.list.tensor(given),
                                         .sum = bias.gradient,
                                         .sum_of_products = weight.gradient,
                                         .partial = build.list.tensor(slabs)};
        build.list.append(gradient, "roof:layer_norm");
        if (is_shifted) build.completed(unit.layer, true);
        build.completed(unit.layer, false);
        build.give(build.source(unit), gradient.result);
    });
}

}  // namespace roof::ir

// The linear layer:  y[n,o] = b[o] + sum over i of w[o,i] * x[n,i]
//   dx[n,i] = sum over o of w[o,i] * dy[n,o];  dw[o,i] = sum over n of x[n,i] * dy[n,o];  db[o] = sum over n of dy[n,o]
// The weight gradient is always written in fp32, or not stored: then the layer's own update finds it. After a map,
// inputs and weights are channels-last (parameters.hpp). The result of the last layer is fp32, for the loss.
#include "workloads/engine/layers/layers.hpp"

#include <algorithm>

namespace roof::ir {
namespace {

/// Of a map, the channels of each position are a row, as those of an image are.
Tensor rows_of(const Builder& build, const Unit& unit, Tensor tensor)
{
    if (!build.graph.is_of_positions(unit.layer)) return tensor;
    tensor.batch = static_cast<int>(tensor.rows());
    tensor.height = tensor.width = 1;
    return tensor;
}

void append(Builder& build, const Multiply& product)
{
    append_product(build.program, build.choosers, build.settings.precision, product);
}

void update(Builder& build, const Unit& unit, const Tensor& source, const Tensor& gradient)
{
    const Trained& trained = build.parameters.of(unit.layer, false);
    const Tensor copies = build.settings.narrow() ? trained.read : Tensor{};
    const DescendProduct descent{source,           gradient, trained.value,
                                 trained.momentum, copies,   build.settings.learning_rate};
    build.begin(Unit{.layer = unit.layer}, Phase::update);
    build.add_work(build.work(unit.layer).backward_weights);
    build.add_flops(model::cost_of(model::Optimizer::sgd).flops * Flops{static_cast<double>(trained.value.elements())});
    build.program.append(descent, "roof:sgd");
}

void backward(Builder& build, const Unit& unit, const Tensor& source)
{
    build.begin(unit, Phase::backward);
    const Tensor gradient = rows_of(build, unit, gradient_of_unit(build, unit));
    const Trained& weights = build.parameters.of(unit.layer, false);
    if (build.choosers.updates_from_factors && build.layer(unit).weights_of < 0) {
        build.updates.emplace_back([=, &build] { update(build, unit, source, gradient); });
    } else {
        build.add_work(build.work(unit.layer).backward_weights);
        append(build, {.pass = Pass::backward_weights,
                       .source = rows_of(build, unit, source),
                       .weights = weights.gradient,
                       .result = gradient});
    }
    build.completed(unit.layer, false);
    if (build.is_image(build.source(unit))) return;

    build.add_work(build.work(unit.layer).backward_data);
    const Tensor to_source = build.program.tensor(source);
    append(build, {.pass = Pass::backward_data,
                   .source = rows_of(build, unit, to_source),
                   .weights = weights.read,
                   .result = gradient});
    build.give(build.source(unit), {to_source});
}

}  // namespace

void linear(Builder& build, const Unit& unit)
{
    build.begin_with_work(unit, Phase::forward);
    const bool last = readers(build.graph, unit.last()).empty();
    const Tensor source = build.input(unit);
    Tensor shape = build.map(unit.layer);
    if (last) shape.precision = Precision::fp32;
    if (last && !unit.fused()) shape.channels = up_to_multiple(shape.channels, build.choosers.outputs_multiple);
    const Tensor result = build.program.tensor(shape);
    Tensor bias;
    if (build.layer(unit).bias) {
        const Trained& trained = build.parameters.of(unit.layer, true);
        bias = last ? trained.value : trained.read;
    }
    append(build, {.source = rows_of(build, unit, source),
                   .weights = build.parameters.of(unit.layer, false).read,
                   .result = rows_of(build, unit, result),
                   .bias = bias,
                   .relu = unit.fused()});
    build.put(unit, result);
    build.tape.emplace_back([=, &build] { backward(build, unit, source); });
}

}  // namespace roof::ir

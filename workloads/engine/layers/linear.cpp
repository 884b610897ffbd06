// The linear layer:  y[n,o] = b[o] + sum over i of w[o,i] * x[n,i]
//   dx[n,i] = sum over o of w[o,i] * dy[n,o];  dw[o,i] = sum over n of x[n,i] * dy[n,o];  db[o] = sum over n of dy[n,o]
// The weight gradient is always written in fp32. After a map, inputs and weights are channels-last (parameters.hpp).
// The result of the last layer is fp32, for the loss.
#include "workloads/engine/layers/layers.hpp"

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

/// Appends the product, with its work if that is given.
void append(Builder& build, Multiply product, const Work& work = {})
{
    product.rounded = build.settings.precision == Precision::tf32;
    build.list.append(product, {}, work);
}

void backward(Builder& build, const Unit& unit, const Tensor& source)
{
    build.begin(unit, Phase::backward);
    const Tensor gradient = rows_of(build, unit, gradient_of_unit(build, unit));
    const Trained& weights = build.parameters.of(unit.layer, false);
    append(build,
           {.pass = Pass::backward_weights,
            .source = rows_of(build, unit, source),
            .weights = weights.gradient,
            .result = gradient},
           to_work(build.work(unit.layer).backward_weights));
    build.completed(unit.layer, false);
    if (build.is_image(build.source(unit))) return;

    const Tensor to_source = build.list.tensor(source);
    append(build,
           {.pass = Pass::backward_data,
            .source = rows_of(build, unit, to_source),
            .weights = weights.read,
            .result = gradient},
           to_work(build.work(unit.layer).backward_data));
    build.give(build.source(unit), to_source);
}

}  // namespace

void linear(Builder& build, const Unit& unit)
{
    build.begin_with_work(unit, Phase::forward);
    const bool last = readers(build.graph, unit.last()).empty();
    const Tensor source = build.input(unit);
    Tensor shape = build.map(unit.layer);
    if (last) shape.precision = Precision::fp32;
    shape.channels = build.parameters.of(unit.layer, false).outputs;
    const Tensor result = build.list.tensor(shape);
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

// The linear layer, by cuBLASLt:  y[n,o] = b[o] + sum over i of w[o,i] * x[n,i]
//   dx[n,i] = sum over o of w[o,i] * dy[n,o];  dw[o,i] = sum over n of x[n,i] * dy[n,o];  db[o] = sum over n of dy[n,o]
// The weight gradient is always written in fp32. After a map, inputs and weights are channels-last (parameters.hpp).
// The result of the last layer is fp32, for the loss.
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {
namespace {

Product product_of(const Builder& build, const Unit& unit, Pass pass, Precision result)
{
    const bool forward = pass == Pass::forward;
    return {.pass = pass,
            .batch = build.settings.batch,
            .inputs = static_cast<int>(build.graph.input_shape(unit.layer).elements()),
            .outputs = build.layer(unit).output.channels,
            .precision = build.settings.precision,
            .result_precision = result,
            .bias = forward,
            .relu = forward && unit.fused()};
}

/// Returns whether the product also computes bias and ReLU.
bool append(Builder& build, const Product& product, Multiply operation)
{
    const Choice choice = build.choosers.product(product);
    operation.pass = product.pass;
    operation.plan = choice.plan;
    operation.rounded = product.precision == Precision::tf32;
    operation.relu = product.relu && choice.fused;
    if (!choice.fused) operation.bias = {};
    operation.workspace = build.program.scratch(choice.workspace);
    build.program.append(operation,
                         {operation.source, operation.weights, operation.result, operation.bias, operation.workspace},
                         choice.implementation);
    return choice.fused;
}

void backward(Builder& build, const Unit& unit, const Tensor& source)
{
    build.begin(unit, Phase::backward);
    const Tensor gradient = gradient_of_unit(build, unit);
    const Trained& weights = build.parameters.of(unit.layer, false);
    build.add_work(build.work(unit.layer).backward_weights);
    append(build, product_of(build, unit, Pass::backward_weights, Precision::fp32),
           {.source = source, .weights = weights.gradient, .result = gradient});
    build.completed(unit.layer, false);
    if (build.is_image(build.source(unit))) return;

    build.add_work(build.work(unit.layer).backward_data);
    const Tensor to_source = build.program.tensor(source);
    append(build, product_of(build, unit, Pass::backward_data, source.precision),
           {.source = to_source, .weights = weights.read, .result = gradient});
    build.give(build.source(unit), {to_source});
}

}  // namespace

void linear(Builder& build, const Unit& unit)
{
    begin_with_work(build, unit, Phase::forward);
    const bool last = readers(build.graph, unit.last()).empty();
    const Tensor source = build.input(unit);
    Tensor shape = build.map(unit.layer);
    if (last) shape.precision = Precision::fp32;
    const Tensor result = build.program.tensor(shape);
    const Trained& trained_bias = build.parameters.of(unit.layer, true);
    const Tensor bias = last ? trained_bias.value : trained_bias.read;
    const bool fused = append(
        build, product_of(build, unit, Pass::forward, shape.precision),
        {.source = source, .weights = build.parameters.of(unit.layer, false).read, .result = result, .bias = bias});
    if (!fused) build.program.append(AddBias{result, bias, unit.fused()}, {result, result, bias}, "roof:bias");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] { backward(build, unit, source); });
}

}  // namespace roof::ir

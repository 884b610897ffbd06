// Convolution by cuDNN, fused with bias and ReLU where an engine supports that:
//   y[n,o] = b[o] + sum over i and the window of w[o,i] * x[n,i];   dx, dw and db as for any convolution
// With narrow activations, cuDNN writes a narrow gradient of the weights; those of several layers are converted
// together to fp32 in the block of gradients.
#include "workloads/cudnn/program/layers.hpp"

namespace roof::cudnn {
namespace {

ConvolutionShape shape_of(const Builder& build, const Unit& unit, Pass pass)
{
    const model::Layer& layer = build.layer(unit);
    const bool forward = pass == Pass::forward;
    return {.pass = pass,
            .batch = build.settings.batch,
            .source = build.graph.input_shape(unit.layer),
            .result = layer.output,
            .window = layer.window,
            .precision = build.settings.precision,
            .bias = forward && layer.bias,
            .relu = forward && unit.fused()};
}

/// Adds the work of one pass, and the multiply-adds that its algorithm executes.
void account(Builder& build, const Unit& unit, const model::PassWork& work, const Choice& choice)
{
    Work done = to_work(work);
    if (choice.winograd_tile > 0) {
        const long long products = model::winograd_multiply_adds(
            model::convolution_of(build.graph, unit.layer, build.settings.batch), choice.winograd_tile);
        done.executed = Flops{2.0 * static_cast<double>(products)};
    }
    build.add_convolution(done, choice.algorithm);
}

void append(Builder& build, const Choice& choice, Convolve operation)
{
    operation.plan = choice.plan;
    operation.workspace = build.program.scratch(choice.workspace);
    build.program.append(operation,
                         {operation.source, operation.weights, operation.result, operation.bias, operation.workspace},
                         choice.implementation);
}

void backward_weights(Builder& build, const Unit& unit, const Tensor& source, const Tensor& gradient)
{
    const ConvolutionShape shape = shape_of(build, unit, Pass::backward_weights);
    const Choice choice = build.choosers.convolution(shape);
    account(build, unit, build.work(unit.layer).backward_weights, choice);
    const Trained& trained = build.parameters.of(unit.layer, false);
    Tensor written = trained.gradient;
    if (build.settings.narrow()) {
        written.precision = build.settings.storage();
        written.begin = 0;
        written = build.program.tensor(written);
    }
    append(build, choice, {.shape = shape, .source = source, .weights = written, .result = gradient});
    if (build.settings.narrow())
        build.widen_later(written, unit.layer);
    else
        build.completed(unit.layer, false);
}

void backward(Builder& build, const Unit& unit, const Tensor& source)
{
    build.begin(unit, Phase::backward);
    const Tensor gradient = gradient_of_unit(build, unit);
    backward_weights(build, unit, source, gradient);
    if (build.is_image(build.source(unit))) return;

    const ConvolutionShape shape = shape_of(build, unit, Pass::backward_data);
    const Choice choice = build.choosers.convolution(shape);
    account(build, unit, build.work(unit.layer).backward_data, choice);
    const Tensor to_source = build.program.tensor(build.map(build.source(unit)));
    append(build, choice,
           {.shape = shape,
            .source = to_source,
            .weights = build.parameters.of(unit.layer, false).read,
            .result = gradient});
    build.give(build.source(unit), {to_source});
}

}  // namespace

void convolution(Builder& build, const Unit& unit)
{
    build.begin(unit, Phase::forward);
    ConvolutionShape shape = shape_of(build, unit, Pass::forward);
    const Choice choice = build.choosers.convolution(shape);
    account(build, unit, build.work(unit.layer).forward, choice);
    if (unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);

    const Tensor source = build.input(unit);
    const Tensor result = build.program.tensor(build.map(unit.layer));
    const Tensor bias = shape.bias ? build.parameters.of(unit.layer, true).read : Tensor{};
    const bool apart = !choice.fused && (shape.bias || shape.relu);
    if (apart) shape.bias = shape.relu = false;
    append(build, choice,
           {.shape = shape,
            .source = source,
            .weights = build.parameters.of(unit.layer, false).read,
            .result = result,
            .bias = apart ? Tensor{} : bias});
    if (apart) build.program.append(AddBias{result, bias, unit.fused()}, {result, result, bias}, "roof:bias");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] { backward(build, unit, source); });
}

}  // namespace roof::cudnn

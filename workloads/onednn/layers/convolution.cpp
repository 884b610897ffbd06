// Convolution:  y[n,o] = b[o] + sum over i and the window of w[o,i] * x[n,i]
//   dx = the correlation of dy with w rotated by 180 degrees
//   dw[o,i] = sum over n and the map of x[n,i] * dy[n,o];  db = sum of dy
// The trained weights have the layout of their gradient. Where a pass needs another layout or bf16, each step reorders
// them.
#include "workloads/onednn/convolution/passes.hpp"
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {
namespace {

/// Appends the pass with the work that its implementation executes.
void append(Builder& build, const Unit& unit, Pass pass, const Candidate& chosen, const ConvolutionTensors& tensors)
{
    Work work = to_work(build.work(unit.layer).of(pass));
    work.executed = chosen.executed;
    build.add_convolution(work, std::string(name(chosen.algorithm)));
    append_pass(build.program, pass, chosen, tensors);
}

}  // namespace

void convolution(Builder& build, const Unit& unit)
{
    const model::Layer& layer = build.layer(unit);
    const ConvolutionPass shape{model::convolution_of(build.graph, unit.layer, build.settings.batch), Pass::forward,
                                build.settings.precision, layer.bias, unit.fused()};
    const Dims biases{layer.output.channels};
    const ChosenConvolution chosen = converting_errors(layer.name, [&] {
        return choose_convolution(build.program.engine(), shape, build.settings, build.is_image(build.source(unit)));
    });
    const Trained& weight = build.train(unit.layer, false, chosen.edges.weights, weights_of(shape));
    const Trained bias = layer.bias ? build.train(unit.layer, true, plain(biases), biases) : Trained{};

    build.begin(unit, Phase::forward);
    if (unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);
    const Tensor given = build.input(unit);
    const Tensor source = build.program.in_layout(given, chosen.edges.source);
    const Tensor result = build.program.tensor(chosen.edges.result);
    append(build, unit, Pass::forward, chosen.forward,
           {.source = source, .weights = weight.value, .result = result, .bias = bias.value});
    build.put(unit, result);

    build.tape.emplace_back([=, &build, value = weight.value, gradient = weight.gradient] {
        build.begin(unit, Phase::backward);
        const Tensor given_gradient = gradient_before_relu(build, unit).tensor;
        append(build, unit, Pass::backward_weights, chosen.backward_weights,
               {.source = source, .weights = gradient, .result = given_gradient, .bias = bias.gradient});
        if (build.is_image(build.source(unit))) return;
        const Tensor to_source = build.program.tensor(chosen.edges.source);
        append(build, unit, Pass::backward_data, chosen.backward_data,
               {.source = to_source, .weights = value, .result = given_gradient});
        build.give(build.source(unit), {to_source});
    });
}

}  // namespace roof::onednn

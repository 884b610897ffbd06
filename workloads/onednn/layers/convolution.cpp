// Convolution, by oneDNN:  y[n,o] = b[o] + sum over i and the window of w[o,i] * x[n,i]
//   dx = the correlation of dy with w turned over;  dw[o,i] = sum over n and the map of x[n,i] * dy[n,o];  db = sum of dy
// The trained weights live in the layout in which their gradient comes; where a pass wants another, or bf16, a reorder makes
// it each step.
#include "workloads/onednn/convolution/choice.hpp"
#include "workloads/onednn/convolution/executed.hpp"
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {
namespace {

/// The work of one pass, with what its implementation really computes.
template <class Pass>
void account(Builder& build, const Unit& unit, const model::PassWork& work, const Pass& pass)
{
    const std::string implementation = pass.name();
    Work done = to_work(work);
    done.executed = executed_flops(implementation, build.graph, unit.layer, build.settings.batch);
    build.program.add_work(done);
    ++build.algorithms[std::string(algorithm_of(implementation))];
}

void backward(Builder& build, const Unit& unit, const ChosenConvolution& chosen, ConvolutionTensors tensors)
{
    const model::LayerWork work = build.work(unit.layer);
    build.begin(unit, Phase::backward);
    account(build, unit, work.backward_weights, chosen.backward_weights);
    tensors.result_gradient = gradient_before_relu(build, unit).tensor;
    append_pass(build.program, chosen.backward_weights, tensors);

    if (build.is_image(build.source(unit))) return;
    account(build, unit, work.backward_data, chosen.backward_data);
    tensors.source_gradient = build.program.tensor(chosen.edges.source);
    append_pass(build.program, chosen.backward_data, tensors);
    build.give(build.source(unit), {tensors.source_gradient});
}

Convolution shapes_of(const Builder& build, const Unit& unit)
{
    const model::Layer& layer = build.layer(unit);
    const Precision precision = build.settings.precision;
    const Dims source = build.map(build.source(unit));
    return {.source = build.is_image(build.source(unit)) ? plain(source, precision) : any(source, precision),
            .weights = {layer.output.channels, source[1], layer.window.size, layer.window.size},
            .bias = layer.bias ? Dims{layer.output.channels} : Dims{},
            .result = build.map(unit.layer),
            .window = layer.window,
            .relu = unit.fused(),
            .precision = precision};
}

}  // namespace

void convolution(Builder& build, const Unit& unit)
{
    const model::Layer& layer = build.layer(unit);
    const Convolution shapes = shapes_of(build, unit);
    const ChosenConvolution chosen = converting_errors(layer.name, [&] {
        return choose_convolution(build.program.engine(), shapes, build.settings, build.is_image(build.source(unit)));
    });
    const Trained& weight = build.train(unit.layer, false, chosen.edges.weights, shapes.weights);
    ConvolutionTensors tensors{.weights = weight.value, .weights_gradient = weight.gradient, .has_bias = layer.bias};
    if (layer.bias) {
        const Trained& bias = build.train(unit.layer, true, plain(shapes.bias), shapes.bias);
        tensors.bias = bias.value;
        tensors.bias_gradient = bias.gradient;
    }

    build.begin(unit, Phase::forward);
    account(build, unit, build.work(unit.layer).forward, chosen.forward);
    if (unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);
    const Tensor given = build.outputs[static_cast<std::size_t>(build.source(unit))];
    tensors.source = build.program.in_layout(given, chosen.edges.source);
    tensors.result = build.program.tensor(chosen.edges.result);
    append_pass(build.program, chosen.forward, tensors);
    build.put(unit, tensors.result);
    build.tape.emplace_back([=, &build] { backward(build, unit, chosen, tensors); });
}

}  // namespace roof::onednn

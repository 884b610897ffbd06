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
    build.add_convolution(work, std::string(engine::name(chosen.algorithm)));
    append_pass(build.program, pass, chosen, tensors);
}

Convolution shapes_of(const Builder& build, const Unit& unit)
{
    const model::Layer& layer = build.layer(unit);
    const Precision precision = build.settings.precision;
    const Dims source = build.map(build.source(unit));
    const Dim groups = layer.groups;
    Dims weights{layer.output.channels / groups, source[1] / groups, layer.window.size, layer.window.size};
    if (groups > 1) weights.insert(weights.begin(), groups);
    return {.source = build.is_image(build.source(unit)) ? plain(source, precision) : any(source, precision),
            .weights = weights,
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
    const Trained bias = layer.bias ? build.train(unit.layer, true, plain(shapes.bias), shapes.bias) : Trained{};

    build.begin(unit, Phase::forward);
    if (unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);
    const Tensor given = build.input(unit);
    const Tensor source = build.program.in_layout(given, chosen.edges.source);
    const Tensor result = build.program.tensor(chosen.edges.result);
    append(build, unit, Pass::forward, chosen.forward,
           {.source = source, .weights = weight.value, .result = result, .bias = bias.value, .has_bias = layer.bias});
    build.put(unit, result);

    build.tape.emplace_back([=, &build, value = weight.value, gradient = weight.gradient] {
        build.begin(unit, Phase::backward);
        const Tensor given_gradient = gradient_before_relu(build, unit).tensor;
        append(build, unit, Pass::backward_weights, chosen.backward_weights,
               {.source = source,
                .weights = gradient,
                .result = given_gradient,
                .bias = bias.gradient,
                .has_bias = !shapes.bias.empty()});
        if (build.is_image(build.source(unit))) return;
        const Tensor to_source = build.program.tensor(chosen.edges.source);
        append(build, unit, Pass::backward_data, chosen.backward_data,
               {.source = to_source, .weights = value, .result = given_gradient});
        build.give(build.source(unit), {to_source});
    });
}

}  // namespace roof::onednn

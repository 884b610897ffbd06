// Convolution, by oneDNN:  y[n,o] = b[o] + sum over i and the window of w[o,i] * x[n,i]
//   dx = the correlation of dy with w turned over;  dw[o,i] = sum over n and the map of x[n,i] * dy[n,o];  db = sum of dy
// The weights live in the layout in which their gradient comes; where a pass wants another, a reorder makes it each step.
#include "workloads/onednn/layers.hpp"

namespace roof::onednn {
namespace {

/// The place where another algorithm could be chosen, per layer.
constexpr auto algorithm = dnnl::algorithm::convolution_direct;

/// Returns the source in the layout it was read in.
Tensor forward(Builder& build, const Unit& unit, const ConvolutionPasses& passes, const Trained& weight,
               const Trained* bias, const Tensor& given)
{
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    if (unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);

    const Tensor source = build.program.in_layout(given, passes.forward.src_desc());
    const Tensor result = build.program.tensor(passes.forward.dst_desc());
    Arguments arguments{{DNNL_ARG_SRC, source},
                        {DNNL_ARG_WEIGHTS, build.program.in_layout(weight.value, passes.forward.weights_desc())},
                        {DNNL_ARG_DST, result}};
    if (bias != nullptr) arguments.emplace_back(DNNL_ARG_BIAS, bias->value);
    build.program.append<dnnl::convolution_forward>(passes.forward, arguments);
    build.put(unit, result);
    return source;
}

void backward(Builder& build, const Unit& unit, const ConvolutionPasses& passes, const Trained& weight,
              const Trained* bias, const Tensor& source)
{
    const model::LayerWork work = build.work(unit.layer);
    build.begin(unit, Phase::backward);
    build.add_work(work.backward_weights);
    const Gradient given = gradient_before_relu(build, unit);

    Arguments arguments{
        {DNNL_ARG_SRC, source},
        {DNNL_ARG_DIFF_DST, build.program.in_layout(given.tensor, passes.backward_weights.diff_dst_desc())},
        {DNNL_ARG_DIFF_WEIGHTS, weight.gradient}};
    if (bias != nullptr) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, bias->gradient);
    build.program.append<dnnl::convolution_backward_weights>(passes.backward_weights, arguments);

    if (build.is_image(build.source(unit))) return;
    build.add_work(work.backward_data);
    const Tensor to_source = build.program.tensor(passes.backward_data.diff_src_desc());
    build.program.append<dnnl::convolution_backward_data>(
        passes.backward_data,
        {{DNNL_ARG_DIFF_DST, build.program.in_layout(given.tensor, passes.backward_data.diff_dst_desc())},
         {DNNL_ARG_WEIGHTS, build.program.in_layout(weight.value, passes.backward_data.weights_desc())},
         {DNNL_ARG_DIFF_SRC, to_source}});
    build.give(build.source(unit), {to_source});
}

}  // namespace

void convolution(Builder& build, const Unit& unit)
{
    const model::Layer& layer = build.layer(unit);
    const int channels = layer.output.channels;
    const Tensor given = build.outputs[static_cast<std::size_t>(build.source(unit))];
    const Contraction shapes{
        .source = build.is_image(build.source(unit)) ? given.desc() : any(given.desc().dims()),
        .weights = {channels, build.graph.input_shape(unit.layer).channels, layer.window.size, layer.window.size},
        .bias = layer.bias ? Dims{channels} : Dims{},
        .result = build.map(unit.layer),
        .window = layer.window,
        .relu = unit.fused()};
    const ConvolutionPasses passes =
        converting_errors(layer.name, [&] { return describe_convolution(build.program.engine(), shapes, algorithm); });

    const Trained& weight = build.train(unit.layer, false, passes.backward_weights.diff_weights_desc(), shapes.weights);
    const Trained* bias = layer.bias ? &build.train(unit.layer, true, plain(shapes.bias), shapes.bias) : nullptr;
    const Tensor source = forward(build, unit, passes, weight, bias, given);
    build.tape.emplace_back([=, &build, &weight] { backward(build, unit, passes, weight, bias, source); });
}

}  // namespace roof::onednn

// The linear layer, by oneDNN:  y[n,o] = b[o] + sum over i of w[o,i] * x[n,i]
//   dx[n,i] = sum over o of w[o,i] * dy[n,o];  dw[o,i] = sum over n of x[n,i] * dy[n,o];  db[o] = sum over n of dy[n,o]
// After a flattened map the source keeps the map's blocked layout, and the weights are seen as [out][channel][row][column].
#include "workloads/onednn/layers.hpp"

namespace roof::onednn {
namespace {

void forward(Builder& build, const Unit& unit, const LinearPasses& passes, const Trained& weight, const Trained& bias,
             const Tensor& source)
{
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    if (unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);

    const Tensor result = build.program.tensor(passes.forward.dst_desc());
    build.program.append<dnnl::inner_product_forward>(
        passes.forward, {{DNNL_ARG_SRC, source},
                         {DNNL_ARG_WEIGHTS, build.program.in_layout(weight.value, passes.forward.weights_desc())},
                         {DNNL_ARG_BIAS, bias.value},
                         {DNNL_ARG_DST, result}});
    build.put(unit, result);
}

void backward(Builder& build, const Unit& unit, const LinearPasses& passes, const Trained& weight, const Trained& bias,
              const Tensor& source)
{
    const model::LayerWork work = build.work(unit.layer);
    build.begin(unit, Phase::backward);
    build.add_work(work.backward_weights);
    const Tensor given = gradient_before_relu(build, unit).tensor;
    build.program.append<dnnl::inner_product_backward_weights>(passes.backward_weights,
                                                               {{DNNL_ARG_SRC, source},
                                                                {DNNL_ARG_DIFF_DST, given},
                                                                {DNNL_ARG_DIFF_WEIGHTS, weight.gradient},
                                                                {DNNL_ARG_DIFF_BIAS, bias.gradient}});

    if (build.is_image(build.source(unit))) return;
    build.add_work(work.backward_data);
    const Tensor to_source = build.program.tensor(passes.backward_data.diff_src_desc());
    build.program.append<dnnl::inner_product_backward_data>(
        passes.backward_data,
        {{DNNL_ARG_DIFF_DST, given},
         {DNNL_ARG_WEIGHTS, build.program.in_layout(weight.value, passes.backward_data.weights_desc())},
         {DNNL_ARG_DIFF_SRC, to_source}});
    build.give(build.source(unit), {to_source});
}

}  // namespace

void linear(Builder& build, const Unit& unit)
{
    const model::Layer& layer = build.layer(unit);
    const Tensor source = build.outputs[static_cast<std::size_t>(build.source(unit))];
    Dims weights = source.desc().dims();
    weights.front() = layer.output.channels;
    const Contraction shapes{.source = source.desc(),
                             .weights = weights,
                             .bias = {layer.output.channels},
                             .result = build.flat(unit.layer),
                             .relu = unit.fused()};
    const LinearPasses passes =
        converting_errors(layer.name, [&] { return describe_linear(build.program.engine(), shapes); });

    const Trained& weight = build.train(unit.layer, false, passes.backward_weights.diff_weights_desc(), shapes.weights);
    const Trained& bias = build.train(unit.layer, true, plain(shapes.bias), shapes.bias);
    forward(build, unit, passes, weight, bias, source);
    build.tape.emplace_back([=, &build, &weight, &bias] { backward(build, unit, passes, weight, bias, source); });
}

}  // namespace roof::onednn

#include "workloads/onednn/convolution_pass.hpp"

namespace roof::onednn {
namespace {

/// Where the pass writes: to the edge itself if it leaves that layout, else beside it.
Tensor beside(Program& program, const Tensor& edge, const Desc& desc)
{
    return edge.desc() == desc ? edge : program.tensor(desc);
}

void deliver(Program& program, const Tensor& from, const Tensor& edge)
{
    if (from.block != edge.block) program.reorder(from, edge);
}

void append_library(Program& program, const ForwardPass& pass, const ConvolutionTensors& tensors)
{
    const Tensor result = beside(program, tensors.result, pass.dst_desc());
    Arguments arguments{{DNNL_ARG_SRC, program.in_layout(tensors.source, pass.src_desc())},
                        {DNNL_ARG_WEIGHTS, program.in_layout(tensors.weights, pass.weights_desc())},
                        {DNNL_ARG_DST, result}};
    if (tensors.has_bias) arguments.emplace_back(DNNL_ARG_BIAS, tensors.bias);
    program.append<dnnl::convolution_forward>(pass, arguments);
    deliver(program, result, tensors.result);
}

void append_library(Program& program, const BackwardDataPass& pass, const ConvolutionTensors& tensors)
{
    const Tensor to_source = beside(program, tensors.source_gradient, pass.diff_src_desc());
    program.append<dnnl::convolution_backward_data>(
        pass, {{DNNL_ARG_DIFF_DST, program.in_layout(tensors.result_gradient, pass.diff_dst_desc())},
               {DNNL_ARG_WEIGHTS, program.in_layout(tensors.weights, pass.weights_desc())},
               {DNNL_ARG_DIFF_SRC, to_source}});
    deliver(program, to_source, tensors.source_gradient);
}

void append_library(Program& program, const BackwardWeightsPass& pass, const ConvolutionTensors& tensors)
{
    const Tensor gradient = beside(program, tensors.weights_gradient, pass.diff_weights_desc());
    Arguments arguments{{DNNL_ARG_SRC, program.in_layout(tensors.source, pass.src_desc())},
                        {DNNL_ARG_DIFF_DST, program.in_layout(tensors.result_gradient, pass.diff_dst_desc())},
                        {DNNL_ARG_DIFF_WEIGHTS, gradient}};
    if (tensors.has_bias) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, tensors.bias_gradient);
    program.append<dnnl::convolution_backward_weights>(pass, arguments);
    deliver(program, gradient, tensors.weights_gradient);
}

void append_own(Program& program, const OwnConvolution& own, const ConvolutionTensors& tensors,
                const ForwardPass& /*forward*/)
{
    const Tensor source = program.in_layout(tensors.source, own_map_layout(tensors.source.desc()));
    const Tensor weights = program.in_layout(tensors.weights, own_weights_layout(dims_of(tensors.weights.desc())));
    const Tensor result = beside(program, tensors.result, own_map_layout(tensors.result.desc()));
    const Tensor* bias = tensors.has_bias ? &tensors.bias : nullptr;
    std::visit([&](const auto& one) { append_forward(program, one, source, weights, bias, result); }, own);
    deliver(program, result, tensors.result);
}

void append_own(Program& program, const OwnConvolution& own, const ConvolutionTensors& tensors,
                const BackwardDataPass& /*backward*/)
{
    const Tensor given = program.in_layout(tensors.result_gradient, own_map_layout(tensors.result_gradient.desc()));
    const Tensor weights = program.in_layout(tensors.weights, own_weights_layout(dims_of(tensors.weights.desc())));
    const Tensor to_source = beside(program, tensors.source_gradient, own_map_layout(tensors.source_gradient.desc()));
    std::visit([&](const auto& one) { append_backward_data(program, one, given, weights, to_source); }, own);
    deliver(program, to_source, tensors.source_gradient);
}

void append_own(Program& program, const OwnConvolution& own, const ConvolutionTensors& tensors,
                const BackwardWeightsPass& /*backward*/)
{
    const Tensor source = program.in_layout(tensors.source, own_map_layout(tensors.source.desc()));
    const Tensor given = program.in_layout(tensors.result_gradient, own_map_layout(tensors.result_gradient.desc()));
    const Tensor gradient =
        beside(program, tensors.weights_gradient, own_weights_layout(dims_of(tensors.weights_gradient.desc())));
    const Tensor* sums = tensors.has_bias ? &tensors.bias_gradient : nullptr;
    std::visit([&](const auto& one) { append_backward_weights(program, one, source, given, gradient, sums); }, own);
    deliver(program, gradient, tensors.weights_gradient);
}

template <class Pass>
void append_either(Program& program, const Implementation<Pass>& pass, const ConvolutionTensors& tensors)
{
    if (pass.own)
        append_own(program, *pass.own, tensors, pass.library);
    else
        append_library(program, pass.library, tensors);
}

}  // namespace

void append_pass(Program& program, const Implementation<ForwardPass>& pass, const ConvolutionTensors& tensors)
{
    append_either(program, pass, tensors);
}

void append_pass(Program& program, const Implementation<BackwardDataPass>& pass, const ConvolutionTensors& tensors)
{
    append_either(program, pass, tensors);
}

void append_pass(Program& program, const Implementation<BackwardWeightsPass>& pass, const ConvolutionTensors& tensors)
{
    append_either(program, pass, tensors);
}

}  // namespace roof::onednn

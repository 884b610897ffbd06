#include "workloads/onednn/convolution/pass.hpp"

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

Tensor in_own_map(Program& program, const Tensor& edge)
{
    return program.in_layout(edge, own_map_layout(edge.desc()));
}

Tensor in_own_weights(Program& program, const Tensor& edge)
{
    return program.in_layout(edge, own_weights_layout(dims_of(edge.desc())));
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

void append_ours(Program& program, const OwnConvolution& own, const ConvolutionTensors& tensors,
                 const ForwardPass& /*forward*/)
{
    const Tensor result = beside(program, tensors.result, own_map_layout(tensors.result.desc()));
    append_own(program, own, OwnPass::forward,
               {.source = in_own_map(program, tensors.source),
                .weights = in_own_weights(program, tensors.weights),
                .result = result,
                .bias = tensors.bias,
                .has_bias = tensors.has_bias});
    deliver(program, result, tensors.result);
}

void append_ours(Program& program, const OwnConvolution& own, const ConvolutionTensors& tensors,
                 const BackwardDataPass& /*backward*/)
{
    const Tensor to_source = beside(program, tensors.source_gradient, own_map_layout(tensors.source_gradient.desc()));
    append_own(program, own, OwnPass::backward_data,
               {.source = to_source,
                .weights = in_own_weights(program, tensors.weights),
                .result = in_own_map(program, tensors.result_gradient)});
    deliver(program, to_source, tensors.source_gradient);
}

void append_ours(Program& program, const OwnConvolution& own, const ConvolutionTensors& tensors,
                 const BackwardWeightsPass& /*backward*/)
{
    const Tensor gradient =
        beside(program, tensors.weights_gradient, own_weights_layout(dims_of(tensors.weights_gradient.desc())));
    append_own(program, own, OwnPass::backward_weights,
               {.source = in_own_map(program, tensors.source),
                .weights = gradient,
                .result = in_own_map(program, tensors.result_gradient),
                .bias = tensors.bias_gradient,
                .has_bias = tensors.has_bias});
    deliver(program, gradient, tensors.weights_gradient);
}

template <class Pass>
void append_either(Program& program, const Implementation<Pass>& pass, const ConvolutionTensors& tensors)
{
    if (pass.own)
        append_ours(program, *pass.own, tensors, pass.library);
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

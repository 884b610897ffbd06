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

}  // namespace

void append_pass(Program& program, const ForwardPass& pass, const ConvolutionTensors& tensors)
{
    const Tensor result = beside(program, tensors.result, pass.dst_desc());
    Arguments arguments{{DNNL_ARG_SRC, program.in_layout(tensors.source, pass.src_desc())},
                        {DNNL_ARG_WEIGHTS, program.in_layout(tensors.weights, pass.weights_desc())},
                        {DNNL_ARG_DST, result}};
    if (tensors.has_bias) arguments.emplace_back(DNNL_ARG_BIAS, tensors.bias);
    program.append<dnnl::convolution_forward>(pass, arguments);
    deliver(program, result, tensors.result);
}

void append_pass(Program& program, const BackwardDataPass& pass, const ConvolutionTensors& tensors)
{
    const Tensor to_source = beside(program, tensors.source_gradient, pass.diff_src_desc());
    program.append<dnnl::convolution_backward_data>(
        pass, {{DNNL_ARG_DIFF_DST, program.in_layout(tensors.result_gradient, pass.diff_dst_desc())},
               {DNNL_ARG_WEIGHTS, program.in_layout(tensors.weights, pass.weights_desc())},
               {DNNL_ARG_DIFF_SRC, to_source}});
    deliver(program, to_source, tensors.source_gradient);
}

void append_pass(Program& program, const BackwardWeightsPass& pass, const ConvolutionTensors& tensors)
{
    const Tensor gradient = beside(program, tensors.weights_gradient, pass.diff_weights_desc());
    Arguments arguments{{DNNL_ARG_SRC, program.in_layout(tensors.source, pass.src_desc())},
                        {DNNL_ARG_DIFF_DST, program.in_layout(tensors.result_gradient, pass.diff_dst_desc())},
                        {DNNL_ARG_DIFF_WEIGHTS, gradient}};
    if (tensors.has_bias) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, tensors.bias_gradient);
    program.append<dnnl::convolution_backward_weights>(pass, arguments);
    deliver(program, gradient, tensors.weights_gradient);
}

}  // namespace roof::onednn

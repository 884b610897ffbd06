// A pass of a convolution with fixed edges: tensors go in and come out in layouts that do not depend on what computes it. An
// implementation that wants others pays for the reorders, in the step and when it is tried.
#pragma once

#include "workloads/onednn/program.hpp"

namespace roof::onednn {

/// The layouts at a convolution's edges. Those of the gradients are the same.
struct Edges {
    Desc source;
    Desc weights;  ///< of the trained values: fp32
    Desc result;
};

/// What the passes read and write, at the edges. A bias without memory is none.
struct ConvolutionTensors {
    Tensor source{}, weights{}, bias{}, result{};
    Tensor source_gradient{}, weights_gradient{}, bias_gradient{}, result_gradient{};
    bool has_bias = false;
};

void append_pass(Program& program, const ForwardPass& pass, const ConvolutionTensors& tensors);
void append_pass(Program& program, const BackwardDataPass& pass, const ConvolutionTensors& tensors);
void append_pass(Program& program, const BackwardWeightsPass& pass, const ConvolutionTensors& tensors);

}  // namespace roof::onednn

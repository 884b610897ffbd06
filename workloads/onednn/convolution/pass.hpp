// A pass of a convolution with fixed edges: tensors go in and come out in layouts that do not depend on what computes it. An
// implementation that wants others pays for the reorders, in the step and when it is tried.
#pragma once

#include "workloads/onednn/convolution/own.hpp"
#include "workloads/onednn/program/program.hpp"

#include <optional>
#include <string>

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

/// What computes a pass: a primitive of the library or, where `own` is set, a convolution of this project.
template <class Pass>
struct Implementation {
    Pass library{};
    std::optional<OwnConvolution> own{};

    std::string name() const { return own ? name_of(*own) : library.impl_info_str(); }
};

void append_pass(Program& program, const Implementation<ForwardPass>& pass, const ConvolutionTensors& tensors);
void append_pass(Program& program, const Implementation<BackwardDataPass>& pass, const ConvolutionTensors& tensors);
void append_pass(Program& program, const Implementation<BackwardWeightsPass>& pass, const ConvolutionTensors& tensors);

}  // namespace roof::onednn

// What a pass of a convolution computes.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/model/graph.hpp"

#include <string>
#include <string_view>

namespace roof::cudnn {

enum class Pass { forward, backward_data, backward_weights };

std::string_view name(Pass pass);

/// What a pass computes. Sums are fp32.
struct ConvolutionShape {
    Pass pass = Pass::forward;
    int batch = 1;
    model::Shape source;
    model::Shape result;
    model::Window window;
    Precision precision = Precision::fp32;  ///< of all tensors; tf32: stored as fp32
    bool bias = false;                      ///< forward: added to each channel
    bool relu = false;                      ///< forward, behind the bias

    /// "16x64x56x56 to 64, 3x3 stride 1 padding 1".
    std::string text() const;
};

}  // namespace roof::cudnn

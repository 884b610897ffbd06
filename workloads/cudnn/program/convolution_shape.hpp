// What a pass of a convolution computes.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/model/pass.hpp"

#include <string>

namespace roof::cudnn {

using model::Pass;

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

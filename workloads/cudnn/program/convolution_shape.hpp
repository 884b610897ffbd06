// The computation of one pass of a convolution.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/model/pass.hpp"

#include <string>

namespace roof::cudnn {

using model::Pass;

/// One pass. Sums are fp32.
struct ConvolutionShape {
    Pass pass = Pass::forward;
    int batch = 1;
    model::Shape source;
    model::Shape result;
    model::Window window;
    Precision precision = Precision::fp32;  ///< of all tensors; tf32 is stored as fp32
    bool bias = false;                      ///< forward: added to each channel
    bool relu = false;                      ///< forward: after the bias

    /// Returns "16x64x56x56 to 64, 3x3 stride 1 padding 1".
    std::string text() const;
};

}  // namespace roof::cudnn

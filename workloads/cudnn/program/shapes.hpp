// One pass of a convolution, and one of a batch norm in training, as libraries compute them in one operation.
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
    /// Not backward_data: the source is read as max(source * scale + shift, 0), rounded to the precision.
    bool prologue = false;
    bool statistics = false;  ///< forward: also sums the result and its squares per channel

    /// Returns "16x64x56x56 to 64, 3x3 stride 1 padding 1".
    std::string text() const;
};

/// Returns the shape of the pass alone, without what is before and behind it.
ConvolutionShape bare(ConvolutionShape shape);
bool is_bare(const ConvolutionShape& shape);

/// Space to depth: returns the same pass where each square of stride x stride positions of the padded source is one position
/// with the channels of all of them, and zeros up to a multiple of 8. Its stride is 1 and it has no padding.
ConvolutionShape space_to_depth(ConvolutionShape shape);

/// A pass of a batch norm. Sums and values per channel are fp32.
struct NormShape {
    bool backward = false;
    int batch = 1;
    model::Shape map;
    Precision precision = Precision::fp32;  ///< of the maps; tf32 is stored as fp32
    bool relu = false;                      ///< fused ReLU; backward: fused gradient of the ReLU

    /// Returns "16x64x56x56, relu".
    std::string text() const;
};

}  // namespace roof::cudnn

// The shape of a convolution. Channels are stored in blocks as wide as a vector:
//   maps     [image][channels / lanes][height][width][lanes]
//   weights  [outputs / lanes][inputs / lanes][window][window][inputs of the block][outputs of the block]
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/model/pass.hpp"

namespace roof::kernels {

using model::Pass;

struct ConvolutionShape {
    int batch = 1;
    int inputs = 1;  ///< channels
    int outputs = 1;
    int height = 1;  ///< of the source
    int width = 1;
    int window = 1;  ///< rows and columns
    int stride = 1;
    int padding = 0;

    constexpr int result_height() const { return (height + 2 * padding - window) / stride + 1; }
    constexpr int result_width() const { return (width + 2 * padding - window) / stride + 1; }
};

struct ConvolutionOptions {
    Precision precision = Precision::fp32;  ///< of the maps, fp32 or bf16; weights are always fp32
    bool relu = false;                      ///< applied to the result; ignored in plans of backward passes
    int threads = 1;
};

inline constexpr int direct_largest_window = 16;
inline constexpr int direct_largest_stride = 2;

}  // namespace roof::kernels

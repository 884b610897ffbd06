// The shape of a convolution. Channels are stored in blocks as wide as a vector:
//   maps     [image][channels / lanes][height][width][lanes]
//   weights  [outputs / lanes][inputs / lanes][window][window][inputs of the block][outputs of the block]
#pragma once

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

inline constexpr int direct_largest_window = 16;  ///< for window and stride

}  // namespace roof::kernels

// A convolution by its definition, with loops of this project in fp32: any window, stride and padding. A tile of sums stays in
// registers over the window and over many channels; products with the padding are left out.
//   maps     [image][channels / lanes][height][width][lanes]
//   weights  [outputs / lanes][inputs / lanes][window][window][inputs of the block][outputs of the block]
// The weights' gradient is in weights_gradient.hpp.
#pragma once

#include <cstddef>

namespace roof::onednn {

struct DirectShape {
    int batch = 1;
    int inputs = 1;  ///< channels
    int outputs = 1;
    int height = 1;  ///< of the source
    int width = 1;
    int window = 1;  ///< rows, and columns
    int stride = 1;
    int padding = 0;

    constexpr int result_height() const { return (height + 2 * padding - window) / stride + 1; }
    constexpr int result_width() const { return (width + 2 * padding - window) / stride + 1; }
};

/// 16 with AVX-512, 8 with AVX2; 0 on a machine with neither, which has no such convolution.
int direct_lanes();
/// "roof:direct:avx512"
const char* direct_implementation();
inline constexpr int direct_largest_window = 16;  ///< and stride
/// Whether there are loops for this machine, both numbers of channels are multiples of 2 * lanes, and window and stride are not
/// too large.
bool direct_suits(const DirectShape& shape);

enum class DirectPass { forward, backward_data };

/// How many numbers of scratch memory, aligned to a cache line, a pass on so many threads needs.
std::size_t direct_scratch(DirectPass pass, const DirectShape& shape, int threads);

/// y = w * x + bias, and no less than 0 if `relu`. `bias`: [outputs] or null.
void direct_forward(const DirectShape& shape, const float* x, const float* w, const float* bias, bool relu, float* y,
                    float* scratch, int threads);
void direct_backward_data(const DirectShape& shape, const float* dy, const float* w, float* dx, float* scratch,
                          int threads);

}  // namespace roof::onednn

// A convolution with a 3x3 window, stride 1 and padding 1 by Winograd's F(4x4, 3x3), in fp32 and by loops of this project: 36
// products of a pair of channels give 4x4 results, where the definition takes 144. Transforms stay in the caches. oneDNN's own
// version left the library with 3.2, and is for AVX-512 alone.
//   maps     [image][channels / lanes][height][width][lanes]
//   weights  [outputs / lanes][inputs / lanes][3][3][inputs of the block][outputs of the block]
#pragma once

#include <cstddef>

namespace roof::onednn {

struct WinogradShape {
    int batch = 1;
    int inputs = 1;  ///< channels
    int outputs = 1;
    int height = 1;  ///< of both maps
    int width = 1;
};

/// 16 with AVX-512, 8 with AVX2; 0 on a machine with neither, which has no such convolution.
int winograd_lanes();
/// "roof:wino_4x3:avx512"
const char* winograd_implementation();
/// Whether there are loops for this machine, and both numbers of channels are multiples of 2 * lanes.
bool winograd_suits(const WinogradShape& shape);

enum class WinogradPass { forward, backward_data, backward_weights };

/// How many numbers of scratch memory, aligned to a cache line, a pass on so many threads needs.
std::size_t winograd_scratch(WinogradPass pass, const WinogradShape& shape, int threads);

/// y = w * x + bias, and no less than 0 if `relu`. `bias`: [outputs] or null.
void winograd_forward(const WinogradShape& shape, const float* x, const float* w, const float* bias, bool relu,
                      float* y, float* scratch, int threads);
void winograd_backward_data(const WinogradShape& shape, const float* dy, const float* w, float* dx, float* scratch,
                            int threads);
/// `db`: [outputs] or null.
void winograd_backward_weights(const WinogradShape& shape, const float* x, const float* dy, float* dw, float* db,
                               float* scratch, int threads);

}  // namespace roof::onednn

// Maps in bf16 as the loops for AVX512_BF16 want them: each pixel's numbers of two images side by side.
#pragma once

#include "workloads/kernels/direct/weights_gradient_isa.hpp"

namespace roof::kernels {

/// What a step of the weights' gradient reads of the maps: pairs of images, some blocks of channels, and pixels.
struct GradientWindow {
    Range images, blocks, rows, columns;

    /// In 32 bits, once they are pairs.
    std::size_t numbers(int lanes) const;
};

/// The source's pixels that the results of a piece need.
GradientWindow source_window(const ConvolutionShape& shape, const GradientPiece& piece, Range blocks);
GradientWindow result_window(const GradientPiece& piece, Range blocks);

/// Where the numbers of the window lie in `to`, once written there. `batch`: images; the last of an odd number is
/// paired with zeros.
GradientStrides pair_images(const BFloat16* from, const GradientStrides& strides, int batch,
                            const GradientWindow& window, float* to);

/// Fetches into an L2 one of so many parts of what pair_images() will read.
void fetch_images(const BFloat16* from, const GradientStrides& strides, int batch, const GradientWindow& window,
                  int part, int parts);

}  // namespace roof::kernels

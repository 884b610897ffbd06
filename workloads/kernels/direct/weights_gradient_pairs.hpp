// bf16 maps in the layout of the AVX512_BF16 loops: the numbers of two images are interleaved at each pixel.
#pragma once

#include "workloads/kernels/direct/weights_gradient_isa.hpp"

namespace roof::kernels {

/// The part of the maps that a step of the weights' gradient reads: pairs of images, channel blocks and pixels.
struct GradientWindow {
    Range images, blocks, rows, columns;

    /// Size in 32-bit numbers, after pairing.
    std::size_t numbers(int lanes) const;
};

/// The pixels that a piece needs: of the source, and of the result.
GradientWindow source_window(const ConvolutionShape& shape, const GradientPiece& piece, Range blocks);
GradientWindow result_window(const GradientPiece& piece, Range blocks);

/// Writes the window to `to` and returns its strides there. `batch`: images; the last of an odd number is paired with
/// zeros.
GradientStrides pair_images(const BFloat16* from, const GradientStrides& strides, int batch,
                            const GradientWindow& window, float* to);

/// Fetches into the L2 part `part` of `parts` of the data that pair_images() will read.
void fetch_images(const BFloat16* from, const GradientStrides& strides, int batch, const GradientWindow& window,
                  int part, int parts);

}  // namespace roof::kernels

// Types of the weights' gradient loops, and weights_gradient_loops.hpp as compiled for each instruction set.
#pragma once

#include "workloads/kernels/convolution_shape.hpp"
#include "workloads/kernels/elements.hpp"
#include "workloads/kernels/pieces.hpp"

#include <cstddef>

namespace roof::kernels {

constexpr int length(const Range& range)
{
    return range.end - range.begin;
}

/// A part of the batch's results. Its gradients and sources fit an L1 for a few channel blocks.
struct GradientPiece {
    Range images, rows, columns;
};

/// A piece, some adjacent output blocks and one input block.
struct GradientStep {
    GradientPiece piece;
    Range outputs;
    int input;
};

/// Distances in a map tensor, in numbers.
struct GradientStrides {
    std::ptrdiff_t image = 0, block = 0, row = 0, column = 0;
    std::ptrdiff_t start = 0;  ///< offset of the map's first number, in a part of a tensor

    std::ptrdiff_t at(int n, int channels, int down, int across) const
    {
        return start + n * image + channels * block + down * row + across * column;
    }
};

/// The convolution parameters that the weights' gradient loops use.
struct GradientShape {
    GradientShape(const ConvolutionShape& shape, int lanes);

    /// The offset of a step in the source and in the result.
    std::ptrdiff_t source_of(const GradientStep& step) const
    {
        const GradientPiece& piece = step.piece;
        return source.at(piece.images.begin, step.input, piece.rows.begin * of.stride, piece.columns.begin * of.stride);
    }
    std::ptrdiff_t result_of(const GradientStep& step) const
    {
        const GradientPiece& piece = step.piece;
        return result.at(piece.images.begin, step.outputs.begin, piece.rows.begin, piece.columns.begin);
    }

    ConvolutionShape of;
    int rows, columns;  ///< of the result
    int input_blocks, output_blocks;
    int cell;  ///< weights per pair of input and output blocks, in numbers
    GradientStrides source, result;
};

/// The address of a step's sums, and the distance between output blocks.
struct GradientSums {
    float* at;
    std::ptrdiff_t block;
    bool add = false;  ///< adds to the stored sums
};

struct WeightsGradientLoops {
    const char* name;
    int lanes;
    int outputs;  ///< maximum number of output blocks for `products`
    int images;   ///< 2: the maps hold pairs of images, as weights_gradient_pairs() makes them
    /// Computes a piece's part of the weights' gradient. Fetches the data of the next step.
    void (*products)(const GradientShape& shape, const GradientStep& now, const GradientStep& next, const float* x,
                     const float* dy, const GradientSums& sums);
    /// Adds the result gradients of a piece to sums[outputs].
    void (*bias)(const GradientShape& shape, const GradientPiece& piece, Range outputs, const float* dy, float* sums);
};

/// Interleaves a row of two bf16 maps: to[pixel][lanes][first, second], 32 bits per pair. `second`: null for zeros.
void weights_gradient_pairs(const BFloat16* first, const BFloat16* second, int pixels, float* to);

extern const WeightsGradientLoops weights_gradient_bf16;  ///< for pairs; needs AVX512_BF16
extern const WeightsGradientLoops weights_gradient_avx2;
extern const WeightsGradientLoops weights_gradient_avx512;

}  // namespace roof::kernels

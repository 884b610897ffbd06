// The loops of weights_gradient_loops.hpp as compiled for each instruction set, a source file each, and what they
// speak of.
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

/// A part of the batch's results, whose gradients and sources a first-level cache holds for a few blocks of channels.
struct GradientPiece {
    Range images, rows, columns;
};

/// A piece, some neighbouring blocks of outputs, and one of inputs.
struct GradientStep {
    GradientPiece piece;
    Range outputs;
    int input;
};

/// How many numbers it is in a tensor of maps from one place to the next.
struct GradientStrides {
    std::ptrdiff_t image = 0, block = 0, row = 0, column = 0;
    std::ptrdiff_t start = 0;  ///< of what would be the first of all, in a part of a tensor

    std::ptrdiff_t at(int n, int channels, int down, int across) const
    {
        return start + n * image + channels * block + down * row + across * column;
    }
};

/// A convolution as the loops of the weights' gradient see it.
struct GradientShape {
    GradientShape(const ConvolutionShape& shape, int lanes);

    /// Where a step begins in the source, and in the result.
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
    int cell;  ///< numbers of the weights by one block of inputs and one of outputs
    GradientStrides source, result;
};

/// Where a step's sums lie, and how far it is from one block of outputs to the next.
struct GradientSums {
    float* at;
    std::ptrdiff_t block;
    bool add = false;  ///< to what is there
};

struct WeightsGradientLoops {
    const char* name;
    int lanes;
    int outputs;  ///< blocks that `products` takes, at most
    int images;   ///< 2: maps are of pairs of them, as of weights_gradient_pairs()
    /// A piece's part of the weights' gradient. Fetches what the next step needs.
    void (*products)(const GradientShape& shape, const GradientStep& now, const GradientStep& next, const float* x,
                     const float* dy, const GradientSums& sums);
    /// Adds the results' gradients of a piece to sums[outputs].
    void (*bias)(const GradientShape& shape, const GradientPiece& piece, Range outputs, const float* dy, float* sums);
};

/// Of a row of two maps in bf16: to[pixel][lanes][first, second], in 32 bits each pair. `second`: null for zeros.
void weights_gradient_pairs(const BFloat16* first, const BFloat16* second, int pixels, float* to);

extern const WeightsGradientLoops weights_gradient_bf16;  ///< of such pairs; AVX512_BF16
extern const WeightsGradientLoops weights_gradient_avx2;
extern const WeightsGradientLoops weights_gradient_avx512;

}  // namespace roof::kernels

// The table of the direct loops, tile_loops.hpp and gradient_loops.hpp, as compiled for each instruction set. Loops
// multiply 32-bit words: fp32 numbers, or pairs of bf16 numbers by the dot product. The words of fp32 maps are the maps
// themselves. bf16 maps are packed: widened to fp32 numbers, or for the weights' gradient by the dot product as pairs
// of two images. Forward and backward_data by the dot product take pairs of adjacent channels, which need no packing.
#pragma once

#include "workloads/kernels/elements.hpp"
#include "workloads/kernels/pieces.hpp"
#include "workloads/model/convolution.hpp"

#include <cstddef>
#include <span>

namespace roof::kernels {

constexpr int length(const Range& range)
{
    return range.end - range.begin;
}

/// The column of a tile that only meets padding under a tap and is skipped.
enum class DirectEdge { none, first, last };

/// A tap of the window, for one tile.
struct DirectTap {
    std::ptrdiff_t source;   ///< from the tile's source to the source of its first column, in words
    std::ptrdiff_t weights;  ///< from a block's weights to the tap's, in words
    DirectEdge edge;
};

/// Source data to prefetch into the L2: the same lines of each block of input channels.
struct DirectAhead {
    const char* from = nullptr;
    std::size_t block = 0, image = 0;  ///< distances in bytes
    int lines = 0;                     ///< cache lines per block and image
};

/// Adjacent results in one row, of one image or of two at the same position, for two blocks of output channels.
/// Distances are in words; those of results are in numbers.
struct DirectTile {
    const float* source;
    std::size_t source_block, source_image;  ///< distances between blocks and between images
    const float* weights;
    std::size_t weights_block, weights_result;  ///< from one block of inputs or of outputs to the next
    const DirectTap* taps;
    int tap_count;
    int blocks;  ///< input channel blocks
    Elements result;
    std::size_t first_result;  ///< the tile's first, in `result`
    std::size_t result_column, result_block, result_image;
    const float* bias;  ///< [outputs]; null: none
    bool relu;
    bool past_caches;  ///< non-temporal stores: the results do not fit a cache
    DirectAhead ahead;
};

/// Weights of these blocks of results and sources, from fp32 weights whose square blocks are [input][output].
struct DirectWeights {
    const float* weights;
    std::size_t result_block, source_block;  ///< distances between blocks in `weights`, in numbers
    int taps;
    Range results, sources;
    bool transposed;  ///< backward_data: the sources are the outputs
};

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

/// Distances in a map tensor, in words.
struct GradientStrides {
    std::ptrdiff_t image = 0, block = 0, row = 0, column = 0;
    std::ptrdiff_t start = 0;  ///< offset of the map's first word, in a part of a tensor

    std::ptrdiff_t at(int n, int channels, int down, int across) const
    {
        return start + n * image + channels * block + down * row + across * column;
    }
};

/// The convolution parameters that the weights' gradient loops use.
struct GradientShape {
    GradientShape(const model::Convolution& shape, int lanes);

    /// The offset of a step in the source and in the result.
    std::ptrdiff_t source_of(const GradientStep& step) const
    {
        const GradientPiece& piece = step.piece;
        return source.at(piece.images.begin, step.input, piece.rows.begin * of.window.stride,
                         piece.columns.begin * of.window.stride);
    }
    std::ptrdiff_t result_of(const GradientStep& step) const
    {
        const GradientPiece& piece = step.piece;
        return result.at(piece.images.begin, step.outputs.begin, piece.rows.begin, piece.columns.begin);
    }

    model::Convolution of;
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

struct DirectLoops {
    const char* name;
    int lanes;
    int numbers;  ///< per word: 1, or 2 by the dot product
    int pixels;   ///< maximum number of results of a tile, over all its images
    int outputs;  ///< maximum number of output blocks for `products`
    /// `step`: 1 or 2, columns between the sources of adjacent results.
    void (*tile)(const DirectTile& tile, int images, int columns, int step);
    /// turned[result][source][tap]: square blocks, transposed or as they are, in words of adjacent sources.
    void (*turn)(const DirectWeights& of, float* turned);
    /// Packs `pixels` pixels of a row of bf16 maps: widened, or the pairs of two images. `second`: null for zeros.
    void (*pack)(const BFloat16* first, const BFloat16* second, int pixels, float* to);
    /// Computes a piece's part of the weights' gradient. Fetches the data of the next step.
    void (*products)(const GradientShape& shape, const GradientStep& now, const GradientStep& next, const float* x,
                     const float* dy, const GradientSums& sums);
    /// Adds the result gradients of a piece to sums[outputs].
    void (*bias)(const GradientShape& shape, const GradientPiece& piece, Range outputs, const float* dy, float* sums);
};

extern const DirectLoops direct_avx2;
extern const DirectLoops direct_avx512;
extern const DirectLoops direct_avx512_bf16;  ///< for bf16 maps only

/// The loops that this processor supports, the widest instruction set first.
std::span<const DirectLoops* const> direct_loops_here();

}  // namespace roof::kernels

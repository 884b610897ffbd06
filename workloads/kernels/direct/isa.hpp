// Types of the direct loops, and tile_loops.hpp as compiled for each instruction set in a source file of its own.
#pragma once

#include "workloads/kernels/pieces.hpp"

#include <cstddef>

namespace roof::kernels {

/// The column of a tile that only meets padding under a tap and is skipped.
enum class DirectEdge { none, first, last };

/// A tap of the window, for one tile.
struct DirectTap {
    std::ptrdiff_t source;   ///< from the tile's source to the source of its first column, in numbers
    std::ptrdiff_t weights;  ///< from a block's weights to the tap's, in numbers
    DirectEdge edge;
};

/// Source data to prefetch into the L2: the same lines of each block of input channels.
struct DirectAhead {
    const float* from = nullptr;
    std::size_t block = 0, image = 0;  ///< distances in numbers
    int lines = 0;                     ///< cache lines per block and image
};

/// Adjacent results in one row, of one image or of two at the same position, for two blocks of output channels.
/// Distances are in numbers.
struct DirectTile {
    const float* source;
    std::size_t source_block, source_image;  ///< distances between blocks and between images
    const float* weights;
    std::size_t weights_block, weights_result;  ///< from one block of inputs or of outputs to the next
    const DirectTap* taps;
    int tap_count;
    int blocks;  ///< input channel blocks
    float* result;
    std::size_t result_column, result_block, result_image;
    const float* bias;  ///< [outputs]; null: none
    bool add;           ///< adds to the stored results, which include the bias
    bool relu;
    bool past_caches;  ///< non-temporal stores: the results do not fit a cache
    DirectAhead ahead;
};

struct DirectLoops {
    const char* name;
    int lanes;
    int pixels;  ///< maximum number of results of a tile, over all its images
    /// `step`: 1 or 2, columns between the sources of adjacent results.
    void (*tile)(const DirectTile& tile, int images, int columns, int step);
    /// turned[input][output][tap] of these blocks of inputs and outputs, from weights[output][input][tap] with `inputs`
    /// blocks per row. Each square block is transposed.
    void (*turn)(const float* weights, int inputs, int taps, Range of_inputs, Range of_outputs, float* turned);
};

extern const DirectLoops direct_avx2;
extern const DirectLoops direct_avx512;

}  // namespace roof::kernels

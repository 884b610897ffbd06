// The loops of tile_loops.hpp as compiled for each instruction set, a source file each, and what they speak of.
#pragma once

#include "workloads/kernels/pieces.hpp"

#include <cstddef>

namespace roof::kernels {

/// Which of a tile's columns meets nothing but padding under a tap, and is left out.
enum class DirectEdge { none, first, last };

/// A tap of the window as a tile meets it.
struct DirectTap {
    std::ptrdiff_t source;   ///< numbers from the tile's source to that of its first column
    std::ptrdiff_t weights;  ///< numbers from a block's weights to the tap's
    DirectEdge edge;
};

/// What will be needed soon, to be fetched into the L2 meanwhile: the same lines of each block of input channels.
struct DirectAhead {
    const float* from = nullptr;
    std::size_t block = 0, image = 0;  ///< numbers from one to the next
    int lines = 0;                     ///< of the cache, in each
};

/// A run of results in one row, of one image or at the same place of two, times two blocks of output channels: what
/// they are made of and where they go. Distances are in numbers.
struct DirectTile {
    const float* source;
    std::size_t source_block, source_image;  ///< from one to the next
    const float* weights;
    std::size_t weights_block, weights_result;  ///< from one block of inputs, or of outputs, to the next
    const DirectTap* taps;
    int tap_count;
    int blocks;  ///< of input channels
    float* result;
    std::size_t result_column, result_block, result_image;
    const float* bias;  ///< of these outputs; null: none
    bool add;           ///< to what is there, in which the bias is
    bool relu;
    bool past_caches;  ///< results are written to memory: they are too many to be found in a cache
    DirectAhead ahead;
};

struct DirectLoops {
    const char* name;
    int lanes;
    int pixels;  ///< results that a tile has at most, in all its images
    /// `step`: 1 or 2, columns from the source of one result to that of the next.
    void (*tile)(const DirectTile& tile, int images, int columns, int step);
    /// turned[input][output][tap] of these blocks of inputs and outputs: squares whose inputs and outputs change
    /// places, from weights[output][input][tap], of which `inputs` blocks stand in a row.
    void (*turn)(const float* weights, int inputs, int taps, Range of_inputs, Range of_outputs, float* turned);
};

extern const DirectLoops direct_avx2;
extern const DirectLoops direct_avx512;

}  // namespace roof::kernels

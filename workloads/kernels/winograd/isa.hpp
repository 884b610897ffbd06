// The loops of loops.hpp as compiled for each instruction set, a source file each; what they speak of; and how their
// work is shared among threads.
#pragma once

#include "workloads/kernels/convolution_shape.hpp"
#include "workloads/kernels/winograd/tiles.hpp"

#include <cstddef>

namespace roof::kernels {

/// Where transformed maps lie: how many numbers it is from one point, block of channels, tile to the next. `paired`:
/// two blocks stand side by side in a tile's place.
struct WinogradSpread {
    std::size_t point = 0;
    std::size_t block = 0;
    std::size_t tile = 0;
    bool paired = false;

    std::size_t at(int channel_block, int t) const
    {
        const auto index = static_cast<std::size_t>(channel_block);
        const std::size_t inside = static_cast<std::size_t>(t) * tile;
        return paired ? index / 2 * block + inside + index % 2 * (tile / 2) : index * block + inside;
    }
};

/// What is done to a result before it is stored. `bias`: [channels] or null.
struct WinogradEnd {
    const float* bias = nullptr;
    bool relu = false;
};

/// What is multiplied for the weights' gradient: v[tile][lanes] of the source, z[tile][wide] of the result's gradient.
struct WinogradPair {
    const float* v;
    const float* z;
};

/// A wide block is one of 2 * lanes channels.
struct WinogradLoops {
    const char* name;
    int lanes;
    /// u[wide block][point][input][wide], the points odd_lines(), of these wide blocks of outputs alone.
    void (*weights)(const ConvolutionShape& shape, const float* w, float* u, Range blocks);
    /// The same for the way back: outputs and inputs change places, and the window is turned over.
    void (*turned_weights)(const ConvolutionShape& shape, const float* w, float* u, Range blocks);
    /// The points that each tile needs. The first of the tiles goes to v, the next to v + spread.tile.
    void (*maps)(const WinogradTiles& order, int channels, const float* x, Range tiles, float* v,
                 const WinogradSpread& spread);
    /// Likewise; and their sum over the map is added to sums[channels].
    void (*gradients)(const WinogradTiles& order, int channels, const float* dy, Range tiles, float* z,
                      const WinogradSpread& spread, float* sums);
    /// m[tile][wide] of a point: the sum over inputs of v[block][tile][lanes] * u[input][wide]. `next_u`: of the next
    /// products.
    void (*products)(const float* v, std::size_t block_apart, Range tiles, int inputs, const float* u,
                     const float* next_u, float* m);
    /// The results of tiles in these wide blocks from their sums at the points; m: of the first tile and block.
    void (*results)(const WinogradTiles& order, int channels, const float* m, const WinogradSpread& spread, Range tiles,
                    Range wide_blocks, const WinogradEnd& end, float* y);
    /// m[input of a block][wide], plus what was there if `add`: the sum over tiles of v[tile][lanes] * z[tile][wide].
    void (*correlate)(const WinogradPair& now, const WinogradPair& next, int tiles, float* m, bool add);
    /// The gradient of a block of weights from its sums at the points, which lie `apart` numbers from each other.
    void (*weights_gradient)(const float* m, std::size_t apart, int inputs, int input_block, int wide_block, float* dw);
};

extern const WinogradLoops winograd_avx2;
extern const WinogradLoops winograd_avx512;

}  // namespace roof::kernels

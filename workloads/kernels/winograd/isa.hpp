// The table of the Winograd loops, loops.hpp, as compiled for each instruction set.
#pragma once

#include "workloads/kernels/elements.hpp"
#include "workloads/kernels/winograd/tiles.hpp"
#include "workloads/model/convolution.hpp"

#include <cstddef>
#include <span>

namespace roof::kernels {

/// Distances in transformed maps, in numbers. `paired`: two blocks of channels are stored at each tile.
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

/// Of tiles of `channels` channels in blocks of `wide`.
inline WinogradSpread spread_of(int tiles, int channels, int wide, bool paired)
{
    const auto count = static_cast<std::size_t>(tiles), tile = static_cast<std::size_t>(wide);
    return {odd_lines(count * static_cast<std::size_t>(channels)), count * tile, tile, paired};
}

/// Applied to a result before it is stored. `bias`: [channels] or null.
struct WinogradEnd {
    const float* bias = nullptr;
    bool relu = false;
};

/// Operands of the weights' gradient: v[tile][lanes] of the source, z[tile][wide] of the result's gradient.
struct WinogradPair {
    const float* v;
    const float* z;
};

/// A wide block has 2 * lanes channels.
struct WinogradLoops {
    const char* name;
    int lanes;
    /// u[wide block][point][input][wide] for these wide blocks of outputs; points are odd_lines() apart. `turned`: for
    /// backward_data outputs and inputs are swapped, and the window is rotated by 180 degrees.
    void (*weights)(const model::Convolution& shape, bool turned, const float* w, float* u, Range blocks);
    /// Transforms the source at the points that each tile needs: the first to v, the next to v + spread.tile.
    void (*maps)(const WinogradTiles& order, int channels, const Elements& x, Range tiles, float* v,
                 const WinogradSpread& spread);
    /// Transforms the gradients likewise, and adds their sums over the map to sums[channels].
    void (*gradients)(const WinogradTiles& order, int channels, const Elements& dy, Range tiles, float* z,
                      const WinogradSpread& spread, float* sums);
    /// m[tile][wide] of a point: the sum over inputs of v[block][tile][lanes] * u[input][wide]. `next_u`: the next u.
    void (*products)(const float* v, std::size_t block_apart, Range tiles, int inputs, const float* u,
                     const float* next_u, float* m);
    /// The results of tiles in these wide blocks, from their sums at the points. m: of the first tile and block.
    void (*results)(const WinogradTiles& order, int channels, const float* m, const WinogradSpread& spread, Range tiles,
                    Range wide_blocks, const WinogradEnd& end, const Elements& y);
    /// m[input of a block][wide] = the sum over tiles of v[tile][lanes] * z[tile][wide], plus the old m if `add`.
    void (*correlate)(const WinogradPair& now, const WinogradPair& next, int tiles, float* m, bool add);
    /// The gradient of a block of weights, from its sums at the points, which are `apart` numbers apart.
    void (*weights_gradient)(const float* m, std::size_t apart, int inputs, int input_block, int wide_block, float* dw);
};

extern const WinogradLoops winograd_avx2;
extern const WinogradLoops winograd_avx512;

/// The loops that this processor supports, the widest instruction set first.
std::span<const WinogradLoops* const> winograd_loops_here();

}  // namespace roof::kernels

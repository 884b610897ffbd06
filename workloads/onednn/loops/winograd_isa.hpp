// The loops of winograd_loops.hpp as compiled for each instruction set, a source file each; what they speak of; and how their
// work is shared among threads.
#pragma once

#include "workloads/onednn/loops/linear_isa.hpp"
#include "workloads/onednn/loops/winograd.hpp"

#include <cstddef>

namespace roof::onednn {

inline constexpr int winograd_tile = 4;
inline constexpr int winograd_points = 36;

/// The map on one side of a convolution, cut into tiles of 4x4, image after image.
struct WinogradMap {
    int channels = 0;
    int height = 0;
    int width = 0;

    std::size_t area() const { return static_cast<std::size_t>(height) * static_cast<std::size_t>(width); }
    int down() const { return (height + winograd_tile - 1) / winograd_tile; }
    int across() const { return (width + winograd_tile - 1) / winograd_tile; }
    int tiles() const { return down() * across(); }
};

/// Where transformed maps lie: how many numbers it is from one point, block of channels, tile to the next. `paired`: two
/// blocks stand side by side in a tile's place.
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

/// A wide block is one of 2 * lanes channels.
struct WinogradLoops {
    const char* name;
    int lanes;
    /// u[wide block][point][input][wide], of these wide blocks of outputs alone.
    void (*weights)(const WinogradShape& shape, const float* w, float* u, Range blocks);
    /// The same for the way back: outputs and inputs change places, and the window is turned over.
    void (*turned_weights)(const WinogradShape& shape, const float* w, float* u, Range blocks);
    /// The first of the tiles goes to v, the next to v + spread.tile.
    void (*maps)(const WinogradMap& map, const float* x, Range tiles, float* v, const WinogradSpread& spread);
    /// Likewise; and their sum over the map is added to sums[channels].
    void (*gradients)(const WinogradMap& map, const float* dy, Range tiles, float* z, const WinogradSpread& spread,
                      float* sums);
    /// The results of these tiles in one wide block. `u`: of that block; `m`: scratch of winograd_sums() numbers.
    void (*results)(const WinogradMap& map, const float* v, const WinogradSpread& spread, int inputs, const float* u,
                    float* m, Range tiles, int wide_block, const WinogradEnd& end, float* y);
    /// m[input of a block][wide], plus what was there if `add`: the sum over tiles of v[tile][lanes] * z[tile][wide].
    void (*correlate)(const float* v, const float* z, int tiles, float* m, bool add);
    /// The gradient of a block of weights from its sums at the points, which lie `apart` numbers from each other.
    void (*weights_gradient)(const float* m, std::size_t apart, int inputs, int input_block, int wide_block, float* dw);
};

extern const WinogradLoops winograd_avx2;
extern const WinogradLoops winograd_avx512;

/// The widest of this machine; there must be some.
const WinogradLoops& winograd_loops();

/// Whole cache lines, an odd number of them: what lies a power of two apart shares few sets of a cache.
constexpr std::size_t winograd_apart(std::size_t numbers)
{
    constexpr std::size_t line = 16;
    return ((numbers + line - 1) / line | 1U) * line;
}

constexpr std::size_t winograd_sums(int tiles, int lanes)
{
    return winograd_points * winograd_apart(static_cast<std::size_t>(tiles) * static_cast<std::size_t>(2 * lanes));
}

/// A thread's part of `count` things.
constexpr Range share_of(int count, int thread, int threads)
{
    return {static_cast<int>(1LL * count * thread / threads), static_cast<int>(1LL * count * (thread + 1) / threads)};
}

/// The size of pieces of nearly equal size, of which none exceeds `most`.
constexpr int even_piece(int count, int most)
{
    const int pieces = (count + most - 1) / most;
    return (count + pieces - 1) / pieces;
}

}  // namespace roof::onednn

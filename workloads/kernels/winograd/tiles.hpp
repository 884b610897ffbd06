// The tiles of 4x4 results that cover a batch of maps, their order in the passes, and the tiles that need each of the
// 36 points. A tile that the lower or the right edge cuts to n results needs only the first n + 2 points on that axis.
// Its source beyond n + 2 numbers is arbitrary and is chosen so that the other points vanish (transforms.hpp).
// Order: tiles cut on the right, whole tiles, tiles cut below, tiles cut on both sides; within each kind by image.
// The tiles that need a point are therefore contiguous.
#pragma once

#include "workloads/kernels/pieces.hpp"

#include <array>

namespace roof::kernels {

inline constexpr int winograd_tile = 4;
inline constexpr int winograd_span = winograd_tile + 2;
inline constexpr int winograd_points = winograd_span * winograd_span;

/// The start of a tile's results and their number on each axis.
struct WinogradPlace {
    int image, row, column;
    int rows, columns;
};

class WinogradTiles {
  public:
    /// One thread's part of each kind of tile.
    WinogradTiles(int batch, int height, int width, int thread = 0, int threads = 1)
        : height_(height),
          width_(width),
          kinds_{Kind{0, width / winograd_tile, height / winograd_tile, width % winograd_tile == 0 ? 0 : 1},
                 Kind{0, 0, height / winograd_tile, width / winograd_tile},
                 Kind{height / winograd_tile, 0, height % winograd_tile == 0 ? 0 : 1, width / winograd_tile},
                 Kind{height / winograd_tile, width / winograd_tile, height % winograd_tile == 0 ? 0 : 1,
                      width % winograd_tile == 0 ? 0 : 1}}
    {
        int end = 0;
        for (Kind& kind : kinds_) {
            const Range mine = share_of(batch * kind.down * kind.across, thread, threads);
            kind.skipped = mine.begin - end;
            kind.end = end += mine.end - mine.begin;
        }
    }

    int height() const { return height_; }
    int width() const { return width_; }
    int count() const { return kinds_.back().end; }

    WinogradPlace place_of(int tile) const
    {
        const Kind* kind = kinds_.data();
        while (tile >= kind->end) ++kind;
        const int index = tile + kind->skipped, of_image = kind->down * kind->across;
        const int row = (kind->row + index % of_image / kind->across) * winograd_tile;
        const int column = (kind->column + index % of_image % kind->across) * winograd_tile;
        return {index / of_image, row, column, rest(height_ - row), rest(width_ - column)};
    }

    /// The tiles that need a point.
    Range needing(int point) const
    {
        const bool of_all_down = point / winograd_span < height_ % winograd_tile + 2;
        const bool of_all_across = point % winograd_span < width_ % winograd_tile + 2;
        const int last = of_all_down ? (of_all_across ? 3 : 2) : 1;
        return {of_all_across ? 0 : kinds_[0].end, kinds_[static_cast<std::size_t>(last)].end};
    }

  private:
    /// In each image `down` times `across` tiles, starting at tile (row, column).
    struct Kind {
        int row, column, down, across;
        int skipped = 0;  ///< tiles before this thread's first one, less its tiles of the previous kinds
        int end = 0;
    };

    static int rest(int length) { return length < winograd_tile ? length : winograd_tile; }

    int height_, width_;
    std::array<Kind, 4> kinds_;
};

}  // namespace roof::kernels

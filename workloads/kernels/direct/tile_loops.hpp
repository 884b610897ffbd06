// Computes a tile of convolution results in registers: columns of a row times two vectors of output channels, over the
// window and the blocks of input channels. Forward and backward_data use the same code. A source file selects its
// instruction set with a pragma and includes this last, as for linear/loops.hpp. The code calls nothing of the standard
// library.
#pragma once

#include "workloads/kernels/direct/isa.hpp"
#include "workloads/kernels/lanes.hpp"

#include <cstddef>

namespace roof::kernels {

/// `pixels`: chosen so that two sum vectors per pixel, two weight vectors and one source vector fit the registers.
template <int lanes, int pixels>
class DirectLoopsFor {
  public:
    static void tile(const DirectTile& tile, int images, int columns, int step)
    {
        if (images == 2)
            step == 2 ? tile_of<2, 2, pixels / 2>(tile, columns) : tile_of<2, 1, pixels / 2>(tile, columns);
        else
            step == 2 ? tile_of<1, 2, pixels>(tile, columns) : tile_of<1, 1, pixels>(tile, columns);
    }

    static void turn(const float* weights, int inputs, int taps, Range of_inputs, Range of_outputs, float* turned)
    {
        constexpr int square = lanes * lanes;
        for (int input = of_inputs.begin; input < of_inputs.end; ++input) {
            for (int output = of_outputs.begin; output < of_outputs.end; ++output) {
                const float* from = weights + (std::size_t(output) * inputs + input) * taps * square;
                for (int tap = 0; tap < taps; ++tap, turned += square) Lane::transpose(from + tap * square, turned);
            }
        }
    }

  private:
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;

    template <int images, int step, int most>
    static void tile_of(const DirectTile& tile, int columns)
    {
        if constexpr (most > 0) {
            if (columns == most)
                sums<images, step, most>(tile);
            else
                tile_of<images, step, most - 1>(tile, columns);
        }
    }

    template <int images, int step, int columns>
    static void sums(const DirectTile& tile)
    {
        Floats sum[images * columns][2];
        begin<images, columns>(tile, sum);
        int fetched = 0;
        // All fetches are issued before the last products.
        const int at_once = images * columns / (tile.blocks * tile.tap_count + 1) + 1;
        for (int block = 0; block < tile.blocks; ++block) {
            const float* source = tile.source + block * tile.source_block;
            const float* weights = tile.weights + block * tile.weights_block;
            fetch_ahead<images>(tile.ahead, block);
            if (tile.tap_count == 1) fetch_block<images, step, columns>(tile, source + tile.source_block);
            for (const DirectTap* tap = tile.taps; tap != tile.taps + tile.tap_count; ++tap) {
                fetched = fetch_results<images, columns>(tile, fetched, at_once);
                const float* from = source + tap->source;
                const float* factors = weights + tap->weights;
                if (columns > 1 && tap->edge == DirectEdge::first)
                    products<images, step, columns, 1, columns>(tile, from, factors, sum);
                else if (columns > 1 && tap->edge == DirectEdge::last)
                    products<images, step, columns, 0, columns - 1>(tile, from, factors, sum);
                else
                    products<images, step, columns, 0, columns>(tile, from, factors, sum);
            }
        }
        end<images, columns>(tile, sum);
    }

    /// The products of a block of input channels under one tap, for columns [first, last).
    template <int images, int step, int columns, int first, int last>
    [[gnu::always_inline]] static void products(const DirectTile& tile, const float* from, const float* weights,
                                                Floats (&sum)[images * columns][2])
    {
        for (int c = 0; c < lanes; ++c) {
            Floats left, right;
            Lane::load(weights + c * lanes, left);
            Lane::load(weights + tile.weights_result + c * lanes, right);
#pragma GCC unroll 2
            for (int image = 0; image < images; ++image) {
#pragma GCC unroll 16
                for (int column = first; column < last; ++column) {
                    const float value = from[image * tile.source_image + column * step * lanes + c];
                    sum[image * columns + column][0] += value * left;
                    sum[image * columns + column][1] += value * right;
                }
            }
        }
    }

    template <int images, int columns>
    [[gnu::always_inline]] static void begin(const DirectTile& tile, Floats (&sum)[images * columns][2])
    {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
            Floats bias{};
            if (tile.bias != nullptr && !tile.add) Lane::load(tile.bias + half * lanes, bias);
#pragma GCC unroll 16
            for (int pixel = 0; pixel < images * columns; ++pixel) {
                sum[pixel][half] = bias;
                if (tile.add) Lane::load(place_of<columns>(tile, pixel, half), sum[pixel][half]);
            }
        }
    }

    template <int images, int columns>
    [[gnu::always_inline]] static void end(const DirectTile& tile, Floats (&sum)[images * columns][2])
    {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 16
            for (int pixel = 0; pixel < images * columns; ++pixel) {
                Floats& value = sum[pixel][half];
                if (tile.relu) value = value > 0 ? value : Floats{};
                if (tile.past_caches)
                    Lane::stream(value, place_of<columns>(tile, pixel, half));
                else
                    Lane::store(value, place_of<columns>(tile, pixel, half));
            }
        }
    }

    template <int images>
    [[gnu::always_inline]] static void fetch_ahead(const DirectAhead& ahead, int block)
    {
        constexpr int line = 16;
        const float* from = ahead.from + block * ahead.block;
        for (int i = 0; i < ahead.lines; ++i) {
#pragma GCC unroll 2
            for (int image = 0; image < images; ++image)
                __builtin_prefetch(from + image * ahead.image + i * line, 0, 2);
        }
    }

    /// Fetches the source of a block of input channels for the only tap. It is used once, so the loads must not wait.
    template <int images, int step, int columns>
    [[gnu::always_inline]] static void fetch_block(const DirectTile& tile, const float* source)
    {
#pragma GCC unroll 2
        for (int image = 0; image < images; ++image) {
#pragma GCC unroll 16
            for (int column = 0; column < columns; ++column)
                __builtin_prefetch(source + tile.taps->source + image * tile.source_image + column * step * lanes);
        }
    }

    /// Prefetches the results of the next `count` pixels. Returns the pixel after them, or 0 with `past_caches`.
    template <int images, int columns>
    [[gnu::always_inline]] static int fetch_results(const DirectTile& tile, int pixel, int count)
    {
        if (tile.past_caches) return 0;
        for (int end = pixel + count; pixel < end && pixel < images * columns; ++pixel) {
            __builtin_prefetch(place_of<columns>(tile, pixel, 0), 1);
            __builtin_prefetch(place_of<columns>(tile, pixel, 1), 1);
        }
        return pixel;
    }

    template <int columns>
    [[gnu::always_inline]] static float* place_of(const DirectTile& tile, int pixel, int half)
    {
        return tile.result + pixel / columns * tile.result_image + pixel % columns * tile.result_column +
               half * tile.result_block;
    }
};

}  // namespace roof::kernels

// Computes a tile of convolution results in registers: columns of a row times two vectors of output channels, over the
// window and the blocks of input channels, for forward and backward_data. A source file selects its instruction set
// with a pragma and includes this last, as linear/loops.hpp. The code calls nothing of the standard library.
#pragma once

#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/lanes.hpp"

#include <cstddef>

namespace roof::kernels {

/// `pixels`: chosen so that two sum vectors per pixel, two weight vectors and one source vector fit the registers.
template <int lanes, int pixels, class Multiply = MultiplyFloats>
class DirectLoopsFor {
  public:
    static void tile(const DirectTile& tile, int images, int columns, int step)
    {
        if (images == 2)
            step == 2 ? tile_of<2, 2, pixels / 2>(tile, columns) : tile_of<2, 1, pixels / 2>(tile, columns);
        else
            step == 2 ? tile_of<1, 2, pixels>(tile, columns) : tile_of<1, 1, pixels>(tile, columns);
    }

    static void turn(const DirectWeights& of, float* turned)
    {
        constexpr int square = lanes * lanes;
        for (int result = of.results.begin; result < of.results.end; ++result) {
            for (int source = of.sources.begin; source < of.sources.end; ++source) {
                const float* from = of.weights + result * of.result_block + source * of.source_block;
                for (int tap = 0; tap < of.taps; ++tap, from += square, turned += depth * lanes)
                    turn_square(from, of.transposed, turned);
            }
        }
    }

    static void pack(const BFloat16* first, const BFloat16* second, int pixels_of_row, float* to)
    {
        for (int i = 0; i < pixels_of_row * lanes; i += lanes) {
            if constexpr (Multiply::numbers == 1) {
                Floats wide;
                Lane::load(first + i, wide);
                Lane::store(wide, to + i);
            } else {
                typename Lane::HalfWords low, high{};
                __builtin_memcpy(&low, first + i, sizeof low);
                if (second != nullptr) __builtin_memcpy(&high, second + i, sizeof high);
                store_pairs(low, high, to + i);
            }
        }
    }

  private:
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;

    static constexpr int depth = lanes / Multiply::numbers;  ///< words of a source pixel

    [[gnu::always_inline]] static void store_pairs(const typename Lane::HalfWords& low,
                                                   const typename Lane::HalfWords& high, float* to)
    {
        using Words = typename Lane::Words;
        const Words pairs = __builtin_convertvector(low, Words) | (__builtin_convertvector(high, Words) << 16);
        __builtin_memcpy(to, &pairs, sizeof pairs);
    }

    static void turn_square(const float* from, bool transposed, float* to)
    {
        if constexpr (Multiply::numbers == 1) {
            Lane::transpose(from, to);
        } else {
            alignas(64) float other[lanes * lanes];
            if (transposed) Lane::transpose(from, other);
            const float* rows = transposed ? other : from;
            for (int row = 0; row < lanes; row += 2, to += lanes) {
                Floats even, odd;
                typename Lane::HalfWords low, high;
                Lane::load(rows + row * lanes, even);
                Lane::load(rows + (row + 1) * lanes, odd);
                Lane::narrowed(even, low);
                Lane::narrowed(odd, high);
                store_pairs(low, high, to);
            }
        }
    }

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
        begin(tile, sum);
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
        if (Multiply::numbers == 2 || tile.result.precision == Precision::bf16)
            end<images, columns, BFloat16>(tile, sum);
        else
            end<images, columns, float>(tile, sum);
    }

    /// The products of a block of input channels under one tap, for columns [first, last).
    template <int images, int step, int columns, int first, int last>
    [[gnu::always_inline]] static void products(const DirectTile& tile, const float* from, const float* weights,
                                                Floats (&sum)[images * columns][2])
    {
        for (int c = 0; c < depth; ++c) {
            Floats left, right;
            Lane::load(weights + c * lanes, left);
            Lane::load(weights + tile.weights_result + c * lanes, right);
#pragma GCC unroll 2
            for (int image = 0; image < images; ++image) {
#pragma GCC unroll 16
                for (int column = first; column < last; ++column) {
                    const float value = from[image * tile.source_image + column * step * depth + c];
                    Multiply::add(value, left, sum[image * columns + column][0]);
                    Multiply::add(value, right, sum[image * columns + column][1]);
                }
            }
        }
    }

    template <int pixels_of_tile>
    [[gnu::always_inline]] static void begin(const DirectTile& tile, Floats (&sum)[pixels_of_tile][2])
    {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
            Floats bias{};
            if (tile.bias != nullptr) Lane::load(tile.bias + half * lanes, bias);
#pragma GCC unroll 16
            for (int pixel = 0; pixel < pixels_of_tile; ++pixel) sum[pixel][half] = bias;
        }
    }

    template <int images, int columns, class Element>
    [[gnu::always_inline]] static void end(const DirectTile& tile, Floats (&sum)[images * columns][2])
    {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 16
            for (int pixel = 0; pixel < images * columns; ++pixel) {
                Floats& value = sum[pixel][half];
                Element* const to = place_of<columns, Element>(tile, pixel, half);
                if (tile.relu) value = value > 0 ? value : Floats{};
                if (tile.past_caches)
                    Lane::stream(value, to);
                else
                    Lane::store(value, to);
            }
        }
    }

    template <int images>
    [[gnu::always_inline]] static void fetch_ahead(const DirectAhead& ahead, int block)
    {
        constexpr int line = 64;
        const char* from = ahead.from + block * ahead.block;
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
                __builtin_prefetch(source + tile.taps->source + image * tile.source_image + column * step * depth);
        }
    }

    /// Prefetches the results of the next `count` pixels. Returns the pixel after them, or 0 with `past_caches`.
    template <int images, int columns>
    [[gnu::always_inline]] static int fetch_results(const DirectTile& tile, int pixel, int count)
    {
        if (tile.past_caches) return 0;
        const bool is_bf16 = Multiply::numbers == 2 || tile.result.precision == Precision::bf16;
        for (int end = pixel + count; pixel < end && pixel < images * columns; ++pixel) {
#pragma GCC unroll 2
            for (int half = 0; half < 2; ++half) {
                if (is_bf16)
                    __builtin_prefetch(place_of<columns, BFloat16>(tile, pixel, half), 1);
                else
                    __builtin_prefetch(place_of<columns, float>(tile, pixel, half), 1);
            }
        }
        return pixel;
    }

    template <int columns, class Element>
    [[gnu::always_inline]] static Element* place_of(const DirectTile& tile, int pixel, int half)
    {
        return static_cast<Element*>(tile.result.at) + tile.first_result + pixel / columns * tile.result_image +
               pixel % columns * tile.result_column + half * tile.result_block;
    }
};

}  // namespace roof::kernels

// The gradient of a convolution's weights, for vectors of `lanes` result channels. Each tap of the window is a matrix
// product of source and result channels, summed over the pixels of a piece of the batch. A tile of it stays in
// registers for the whole piece. Products with padding are skipped. A source file selects its instruction set with a
// pragma and includes this last, as for winograd/loops.hpp. The code calls nothing of the standard library.
#pragma once

#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/direct/tile_loops.hpp"

#include <cstddef>

namespace roof::kernels {

/// A tile has up to `most` output vectors. `Multiply` multiplies 32 bits of either map.
template <int lanes, int most, class Multiply = MultiplyFloats>
class GradientLoopsFor {
  public:
    static void products(const GradientShape& shape, const GradientStep& now, const GradientStep& next, const float* x,
                         const float* dy, const GradientSums& sums)
    {
        products_of<most>(shape, now, next, x, dy, sums);
    }

    static void bias(const GradientShape& shape, const GradientPiece& piece, Range outputs, const float* dy,
                     float* sums)
    {
        int block = outputs.begin;
        for (; block + 4 <= outputs.end; block += 4) sum_up<4>(shape, piece, block, dy, sums);
        for (; block < outputs.end; ++block) sum_up<1>(shape, piece, block, dy, sums);
    }

  private:
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;

    static constexpr int side = 4;      ///< inputs per tile
    static constexpr int together = 4;  ///< pixels

    /// Adds the piece's gradients of `blocks` output blocks to `sums`.
    template <int blocks>
    static void sum_up(const GradientShape& shape, const GradientPiece& piece, int block, const float* dy, float* sums)
    {
        Floats sum[blocks];
#pragma GCC unroll 4
        for (int b = 0; b < blocks; ++b) Lane::load(sums + (block + b) * lanes, sum[b]);
        for (int image = piece.images.begin; image < piece.images.end; ++image) {
            for (int row = piece.rows.begin; row < piece.rows.end; ++row) {
                const float* from = dy + shape.result.at(image, block, row, piece.columns.begin);
                for (int column = piece.columns.begin; column < piece.columns.end; ++column, from += lanes) {
#pragma GCC unroll 4
                    for (int b = 0; b < blocks; ++b) {
                        Floats gradient;
                        Lane::load(from + b * shape.result.block, gradient);
                        Multiply::add(Multiply::one, gradient, sum[b]);
                    }
                }
            }
        }
#pragma GCC unroll 4
        for (int b = 0; b < blocks; ++b) Lane::store(sum[b], sums + (block + b) * lanes);
    }

    /// Distances that all tiles of a step share. `x`: between the source pixels of two adjacent results.
    struct Distances {
        int images;
        GradientStrides x, dy;
        std::ptrdiff_t to_next_x, to_next_dy;
        std::ptrdiff_t sums;  ///< between output blocks
        bool add;
    };

    /// The results whose source lies in the map: at * stride + offset in [0, extent).
    static Range inside(const Range& range, int stride, int offset, int extent)
    {
        if (stride == 1) return common(range, {-offset, extent - offset});
        const int first = offset >= 0 ? 0 : (stride - 1 - offset) / stride;
        const int last = extent - 1 - offset;
        return common(range, {first, last < 0 ? 0 : last / stride + 1});
    }

    template <int outputs>
    static void products_of(const GradientShape& shape, const GradientStep& now, const GradientStep& next,
                            const float* x, const float* dy, const GradientSums& sums)
    {
        if constexpr (outputs > 1) {
            if (now.outputs.end - now.outputs.begin < outputs)
                return products_of<outputs - 1>(shape, now, next, x, dy, sums);
        }
        const model::Convolution& of = shape.of;
        const int image = now.piece.images.begin;
        const Distances distances = distances_of(shape, now, next, sums);
        float* to = sums.at;
        for (int down = -of.window.padding; down < of.window.size - of.window.padding; ++down) {
            const Range rows = inside(now.piece.rows, of.window.stride, down, of.source.height);
            for (int across = -of.window.padding; across < of.window.size - of.window.padding; ++across) {
                const Range columns = inside(now.piece.columns, of.window.stride, across, of.source.width);
                const std::ptrdiff_t source = shape.source.at(image, now.input, rows.begin * of.window.stride + down,
                                                              columns.begin * of.window.stride + across);
                const std::ptrdiff_t result = shape.result.at(image, now.outputs.begin, rows.begin, columns.begin);
                tap<outputs>(distances, rows.end - rows.begin, columns.end - columns.begin, x + source, dy + result,
                             to);
                to += lanes * lanes;
            }
        }
    }

    static Distances distances_of(const GradientShape& shape, const GradientStep& now, const GradientStep& next,
                                  const GradientSums& sums)
    {
        GradientStrides x = shape.source;
        x.row *= shape.of.window.stride;
        x.column *= shape.of.window.stride;
        return {.images = now.piece.images.end - now.piece.images.begin,
                .x = x,
                .dy = shape.result,
                .to_next_x = shape.source_of(next) - shape.source_of(now),
                .to_next_dy = shape.result_of(next) - shape.result_of(now),
                .sums = sums.block,
                .add = sums.add};
    }

    /// Each tile fetches an output block of the next step; the first tile also fetches its inputs.
    template <int outputs>
    [[gnu::noinline]] static void tap(const Distances& apart, int rows, int columns, const float* x, const float* dy,
                                      float* to)
    {
        const float* next_dy = dy + apart.to_next_dy;
        tile<outputs, true>(apart, rows, columns, x, dy, next_dy, to);
#pragma GCC unroll 16
        for (int i = side; i < lanes; i += side) {
            next_dy += apart.dy.block;
            tile<outputs, false>(apart, rows, columns, x + i, dy, next_dy, to + i * lanes);
        }
    }

    /// Sums `outputs` vectors by `side` inputs over the pixels.
    template <int outputs, bool fetch_x>
    [[gnu::always_inline]] static void tile(const Distances& apart, int rows, int columns, const float* x,
                                            const float* dy, const float* next_dy, float* to)
    {
        Floats sum[side][outputs];
#pragma GCC unroll 16
        for (int i = 0; i < side; ++i) {
#pragma GCC unroll 16
            for (int o = 0; o < outputs; ++o) sum[i][o] = Floats{};
        }
        const std::ptrdiff_t ahead = next_dy - dy;
        for (int n = 0; n < apart.images; ++n, x += apart.x.image, dy += apart.dy.image) {
            const float* x_row = x;
            const float* dy_row = dy;
            for (int row = 0; row < rows; ++row, x_row += apart.x.row, dy_row += apart.dy.row)
                add_row<outputs, fetch_x>(apart, columns, x_row, dy_row, ahead, sum);
        }
        if (apart.add)
            store<outputs, true>(sum, to, apart.sums);
        else
            store<outputs, false>(sum, to, apart.sums);
    }

    /// Takes several pixels at a time, to have fewer mispredicted branches.
    template <int outputs, bool fetch_x>
    [[gnu::always_inline]] static void add_row(const Distances& apart, int columns, const float* x, const float* dy,
                                               std::ptrdiff_t ahead, Floats (&sum)[side][outputs])
    {
        for (; columns >= together; columns -= together) {
#pragma GCC unroll 16
            for (int i = 0; i < together; ++i, x += apart.x.column, dy += lanes)
                add_pixel<outputs, fetch_x>(apart, x, dy, ahead, sum);
        }
        for (; columns > 0; --columns, x += apart.x.column, dy += lanes)
            add_pixel<outputs, fetch_x>(apart, x, dy, ahead, sum);
    }

    template <int outputs, bool fetch_x>
    [[gnu::always_inline]] static void add_pixel(const Distances& apart, const float* x, const float* dy,
                                                 std::ptrdiff_t ahead, Floats (&sum)[side][outputs])
    {
        if constexpr (fetch_x) __builtin_prefetch(x + apart.to_next_x);
        __builtin_prefetch(dy + ahead);
        Floats gradient[outputs];
#pragma GCC unroll 16
        for (int o = 0; o < outputs; ++o) Lane::load(dy + o * apart.dy.block, gradient[o]);
#pragma GCC unroll 16
        for (int i = 0; i < side; ++i) {
#pragma GCC unroll 16
            for (int o = 0; o < outputs; ++o) Multiply::add(x[i], gradient[o], sum[i][o]);
        }
    }

    template <int outputs, bool add>
    [[gnu::always_inline]] static void store(const Floats (&sum)[side][outputs], float* to, std::ptrdiff_t block)
    {
#pragma GCC unroll 16
        for (int o = 0; o < outputs; ++o, to += block) {
#pragma GCC unroll 16
            for (int i = 0; i < side; ++i) {
                Floats before{};
                if constexpr (add) Lane::load(to + i * lanes, before);
                Lane::store(before + sum[i][o], to + i * lanes);
            }
        }
    }
};

/// `pixels`, `outputs`: the largest tiles whose sums and operands fit the registers.
template <int lanes, int pixels, int outputs, class Multiply = MultiplyFloats>
consteval DirectLoops direct_loops(const char* name)
{
    using Tiles = DirectLoopsFor<lanes, pixels, Multiply>;
    using Gradient = GradientLoopsFor<lanes, outputs, Multiply>;
    return {name,        lanes,       Multiply::numbers,  pixels,        outputs, Tiles::tile,
            Tiles::turn, Tiles::pack, Gradient::products, Gradient::bias};
}

}  // namespace roof::kernels

// Winograd's F(4x4, 3x3) for vectors of `lanes` channels: 4x4 results from 6x6 inputs by 36 products per pair of channels where
// the definition takes 144.
//   forward          Y  = A'[ U .* V ]A       U = G g G'    V = B' d B      summed over input channels
//   weights' gradient dg = G'[ Z .* V ]G      Z = A dy A'                   summed over tiles
// Included last by a source file that has chosen its instruction set with a pragma, as linear_loops.hpp is: nothing of the
// standard library is called here.
#pragma once

#include "workloads/onednn/loops/winograd_transforms.hpp"

#include <cstddef>

namespace roof::onednn {

/// `rows`: tiles whose sums a product holds in registers, two vectors each. `side`: channels, likewise, of the weights' gradient.
template <int lanes, int rows, int side>
class WinogradLoopsFor {
  public:
    static void weights(const WinogradShape& shape, const float* w, float* u, Range blocks)
    {
        const int inner = shape.inputs / lanes;
        for (int wide_block = blocks.begin; wide_block < blocks.end; ++wide_block) {
            float* slab = u + std::size_t(wide_block - blocks.begin) * points * shape.inputs * wide;
            for (int half = 0; half < 2; ++half) {
                for (int i = 0; i < inner; ++i) {
                    const float* from = w + (std::size_t(2 * wide_block + half) * inner + i) * taps * lanes * lanes;
                    for (int c = 0; c < lanes; ++c)
                        Transforms::weights(from + c * lanes, lanes * lanes,
                                            slab + (i * lanes + c) * wide + half * lanes,
                                            std::size_t(shape.inputs) * wide);
                }
            }
        }
    }

    static void turned_weights(const WinogradShape& shape, const float* w, float* u, Range blocks)
    {
        const int inner = shape.outputs / lanes;
        const int across = shape.inputs / lanes;
        alignas(64) float turned[taps * lanes * lanes];
        for (int wide_block = blocks.begin; wide_block < blocks.end; ++wide_block) {
            float* slab = u + std::size_t(wide_block - blocks.begin) * points * shape.outputs * wide;
            for (int half = 0; half < 2; ++half) {
                for (int o = 0; o < inner; ++o) {
                    Transforms::turn(w + (std::size_t(o) * across + 2 * wide_block + half) * taps * lanes * lanes,
                                     turned);
                    for (int c = 0; c < lanes; ++c)
                        Transforms::weights(turned + c * lanes, lanes * lanes,
                                            slab + (o * lanes + c) * wide + half * lanes,
                                            std::size_t(shape.outputs) * wide);
                }
            }
        }
    }

    static void maps(const WinogradMap& map, const float* x, Range tiles, float* v, const WinogradSpread& spread)
    {
        const std::size_t line = std::size_t(map.width) * lanes;
        for (int block = 0; block < map.channels / lanes; ++block) {
            for (int t = tiles.begin; t < tiles.end; ++t) {
                const typename Transforms::Place at = Transforms::place_of(map, t);
                const float* from = x + Transforms::start_of(map, at, block);
                float* to = v + spread.at(block, t - tiles.begin);
                if (at.row > 0 && at.column > 0 && at.row + tile < map.height && at.column + tile < map.width) {
                    Transforms::fetch_next_source(from - line - lanes, line);
                    Transforms::source(from - line - lanes, line, to, spread.point);
                } else {
                    Transforms::source_at_edge(map, from, at, to, spread.point);
                }
            }
        }
    }

    static void gradients(const WinogradMap& map, const float* dy, Range tiles, float* z, const WinogradSpread& spread,
                          float* sums)
    {
        for (int block = 0; block < map.channels / lanes; ++block) {
            for (int t = tiles.begin; t < tiles.end; ++t) {
                const typename Transforms::Place at = Transforms::place_of(map, t);
                Transforms::gradient(map, dy + Transforms::start_of(map, at, block), at,
                                     z + spread.at(block, t - tiles.begin), spread.point, sums + block * lanes);
            }
        }
    }

    static void results(const WinogradMap& map, const float* v, const WinogradSpread& spread, int inputs,
                        const float* u, float* m, Range tiles, int wide_block, const WinogradEnd& end, float* y)
    {
        const int count = tiles.end - tiles.begin;
        const std::size_t apart = winograd_apart(std::size_t(count) * wide);
        for (int point = 0; point < points; ++point) {
            const float* source = v + point * spread.point;
            const float* factors = u + std::size_t(point) * inputs * wide;
            float* sums = m + point * apart;
            int t = 0;
            for (; t + rows <= count; t += rows)
                product<rows>(source + t * lanes, spread.block, factors, inputs / lanes, sums + t * wide);
            remaining<rows - 1>(count - t, source + t * lanes, spread.block, factors, inputs / lanes, sums + t * wide);
        }
        for (int half = 0; half < 2; ++half) {
            const int block = 2 * wide_block + half;
            for (int t = 0; t < count; ++t) {
                const typename Transforms::Place at = Transforms::place_of(map, tiles.begin + t);
                Transforms::result(map, m + t * wide + half * lanes, apart, at, block, end,
                                   y + Transforms::start_of(map, at, block));
            }
        }
    }

    static void correlate(const float* v, const float* z, int tiles, float* m, bool add)
    {
        for (int c = 0; c < lanes; c += side) correlation(v + c, z, tiles, m + c * wide, add);
    }

    static void weights_gradient(const float* m, std::size_t apart, int inputs, int input_block, int wide_block,
                                 float* dw)
    {
        for (int half = 0; half < 2; ++half) {
            float* to =
                dw + (std::size_t(2 * wide_block + half) * (inputs / lanes) + input_block) * taps * lanes * lanes;
            for (int c = 0; c < lanes; ++c)
                Transforms::weights_gradient(m + c * wide + half * lanes, apart, to + c * lanes, lanes * lanes);
        }
    }

  private:
    using Transforms = WinogradTransforms<lanes>;
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;

    static constexpr int tile = winograd_tile;
    static constexpr int points = winograd_points;
    static constexpr int taps = Transforms::taps;
    static constexpr int wide = 2 * lanes;

    // ---- the products ----

    /// sums[t][k] of `count` tiles and two vectors of k, over all input channels.
    template <int count>
    static void product(const float* v, std::size_t block_apart, const float* u, int blocks, float* sums)
    {
        Floats sum[count][2];
#pragma GCC unroll 16
        for (int t = 0; t < count; ++t) sum[t][0] = sum[t][1] = Floats{};
        for (int block = 0; block < blocks; ++block) {
            for (int c = 0; c < lanes; ++c) {
                Floats left, right;
                Lane::load(u, left);
                Lane::load(u + lanes, right);
                u += wide;
#pragma GCC unroll 16
                for (int t = 0; t < count; ++t) {
                    sum[t][0] += v[t * lanes + c] * left;
                    sum[t][1] += v[t * lanes + c] * right;
                }
            }
            v += block_apart;
        }
#pragma GCC unroll 16
        for (int t = 0; t < count; ++t) {
            Lane::store(sum[t][0], sums + t * wide);
            Lane::store(sum[t][1], sums + t * wide + lanes);
        }
    }

    template <int count>
    static void remaining(int tiles, const float* v, std::size_t block_apart, const float* u, int blocks, float* sums)
    {
        if constexpr (count > 0) {
            if (tiles == count)
                product<count>(v, block_apart, u, blocks, sums);
            else
                remaining<count - 1>(tiles, v, block_apart, u, blocks, sums);
        }
    }

    /// m[c][k] of `side` input channels and two vectors of k, over the tiles.
    static void correlation(const float* v, const float* z, int tiles, float* m, bool add)
    {
        Floats sum[side][2];
#pragma GCC unroll 16
        for (int c = 0; c < side; ++c) {
            sum[c][0] = sum[c][1] = Floats{};
            if (add) {
                Lane::load(m + c * wide, sum[c][0]);
                Lane::load(m + c * wide + lanes, sum[c][1]);
            }
        }
        for (int t = 0; t < tiles; ++t) {
            Floats left, right;
            Lane::load(z, left);
            Lane::load(z + lanes, right);
#pragma GCC unroll 16
            for (int c = 0; c < side; ++c) {
                sum[c][0] += v[c] * left;
                sum[c][1] += v[c] * right;
            }
            v += lanes;
            z += wide;
        }
#pragma GCC unroll 16
        for (int c = 0; c < side; ++c) {
            Lane::store(sum[c][0], m + c * wide);
            Lane::store(sum[c][1], m + c * wide + lanes);
        }
    }
};

}  // namespace roof::onednn

// Winograd's F(4x4, 3x3) for vectors of `lanes` channels: 4x4 results from 6x6 inputs with 36 products per pair of
// channels; the definition takes 144.
//   forward          Y  = A'[ U .* V ]A       U = G g G'    V = B' d B      summed over input channels
//   weights' gradient dg = G'[ Z .* V ]G      Z = A dy A'                   summed over tiles
// A source file selects its instruction set with a pragma and includes this last, as for linear/loops.hpp. The code
// calls nothing of the standard library.
#pragma once

#include "workloads/kernels/winograd/isa.hpp"
#include "workloads/kernels/winograd/transforms.hpp"

#include <cstddef>

namespace roof::kernels {

/// `rows`: tiles whose sums stay in registers, two vectors each. `side`: channels likewise in the weights' gradient.
template <int lanes, int rows, int side>
class WinogradLoopsFor {
  public:
    static void weights(const model::Convolution& shape, bool turned, const float* w, float* u, Range blocks)
    {
        const int channels = turned ? shape.result.channels : shape.source.channels;
        const int inner = channels / lanes, across = shape.source.channels / lanes;
        const std::size_t apart = odd_lines(std::size_t(channels) * wide), block = taps * lanes * lanes;
        alignas(64) float rotated[taps * lanes * lanes];
        for (int result = 2 * blocks.begin; result < 2 * blocks.end; ++result) {
            float* slab = u + std::size_t(result / 2 - blocks.begin) * points * apart + result % 2 * lanes;
            for (int i = 0; i < inner; ++i) {
                const float* from = w + std::size_t(turned ? i * across + result : result * inner + i) * block;
                if (turned) Transforms::turn(from, rotated);
                for (int c = 0; c < lanes; ++c)
                    Transforms::weights((turned ? rotated : from) + c * lanes, lanes * lanes,
                                        slab + (i * lanes + c) * wide, apart);
            }
        }
    }

    static void maps(const WinogradTiles& order, int channels, const Elements& x, Range tiles, float* v,
                     const WinogradSpread& spread)
    {
        for_tiles(order, channels, {0, channels / lanes}, tiles, x,
                  [&](int block, int t, const WinogradPlace& at, const auto* from) {
                      Transforms::source(order, from, at, v + spread.at(block, t), spread.point);
                  });
    }

    static void gradients(const WinogradTiles& order, int channels, const Elements& dy, Range tiles, float* z,
                          const WinogradSpread& spread, float* sums)
    {
        for_tiles(order, channels, {0, channels / lanes}, tiles, dy,
                  [&](int block, int t, const WinogradPlace& at, const auto* from) {
                      Transforms::gradient(order, from, at, z + spread.at(block, t), spread.point,
                                           sums + block * lanes);
                  });
    }

    static void products(const float* v, std::size_t block_apart, Range tiles, int inputs, const float* u,
                         const float* next_u, float* m)
    {
        int left = tiles.end - tiles.begin;
        for (int t = tiles.begin, next = 0; left > 0; t += next, left -= next) {
            next = even_piece(left, rows);
            product_of<rows>(next, v + t * lanes, block_apart, u, next_u, inputs / lanes, m + t * wide);
            next_u = u;  // u is already fetched
        }
    }

    static void results(const WinogradTiles& order, int channels, const float* m, const WinogradSpread& spread,
                        Range tiles, Range wide_blocks, const WinogradEnd& end, const Elements& y)
    {
        const Range blocks{2 * wide_blocks.begin, 2 * wide_blocks.end};
        for_tiles(order, channels, blocks, tiles, y, [&](int block, int t, const WinogradPlace& at, auto* to) {
            const float* bias = end.bias == nullptr ? nullptr : end.bias + block * lanes;
            Transforms::result(order, m + spread.at(block - blocks.begin, t), spread.tile, spread.point, at, bias,
                               end.relu, to);
        });
    }

    static void correlate(const WinogradPair& now, const WinogradPair& next, int tiles, float* m, bool add)
    {
        for (int c = 0; c < lanes; c += side) correlation({now.v + c, now.z}, next, tiles, m + c * wide, add);
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

    static constexpr int points = winograd_points;
    static constexpr int taps = Transforms::taps;
    static constexpr int wide = 2 * lanes;

    /// The offset of a tile in the map, for this channel block.
    static std::size_t start_of(const WinogradTiles& order, int channels, int block, const WinogradPlace& at)
    {
        const std::size_t plane = std::size_t(at.image) * (channels / lanes) + block;
        return ((plane * order.height() + at.row) * order.width() + at.column) * lanes;
    }

    /// Calls use(block, index of the tile in `tiles`, place, its numbers in the map) for each block and tile.
    template <class Use>
    [[gnu::always_inline]] static void for_tiles(const WinogradTiles& order, int channels, Range blocks, Range tiles,
                                                 const Elements& map, const Use& use)
    {
        for (int block = blocks.begin; block < blocks.end; ++block) {
            for (int t = tiles.begin; t < tiles.end; ++t) {
                const WinogradPlace at = order.place_of(t);
                const std::size_t start = start_of(order, channels, block, at);
                if (map.precision == Precision::bf16)
                    use(block, t - tiles.begin, at, map.as<BFloat16>() + start);
                else
                    use(block, t - tiles.begin, at, map.as<float>() + start);
            }
        }
    }

    /// Fetches two vectors.
    [[gnu::always_inline]] static void fetch_to_l2(const float* from)
    {
        constexpr int line = 16;
#pragma GCC unroll 2
        for (int i = 0; i < wide; i += line) __builtin_prefetch(from + i, 0, 2);
    }

    // ---- the products ----

    /// sums[t][k] of `count` tiles and two vectors of k, over all input channels. Prefetches what the hardware cannot
    /// predict: the factors at next_u to the L2, and the tiles' channels two blocks ahead to the L1.
    template <int count>
    static void product(const float* v, std::size_t block_apart, const float* u, const float* next_u, int blocks,
                        float* sums)
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
                fetch_to_l2(next_u);
                next_u += wide;
                __builtin_prefetch(v + 2 * block_apart + c * lanes);
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

    template <int most>
    static void product_of(int tiles, const float* v, std::size_t block_apart, const float* u, const float* next_u,
                           int blocks, float* sums)
    {
        if constexpr (most > 0) {
            if (tiles == most)
                product<most>(v, block_apart, u, next_u, blocks, sums);
            else
                product_of<most - 1>(tiles, v, block_apart, u, next_u, blocks, sums);
        }
    }

    /// m[c][k] of `side` input channels and two vectors of k, over the tiles. Prefetches the next operands.
    static void correlation(WinogradPair now, WinogradPair next, int tiles, float* m, bool add)
    {
#pragma GCC unroll 16
        for (int c = side; c < 2 * side; ++c) fetch_to_l2(m + c * wide);
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
            Lane::load(now.z, left);
            Lane::load(now.z + lanes, right);
            __builtin_prefetch(next.v, 0, 2);
            fetch_to_l2(next.z);
#pragma GCC unroll 16
            for (int c = 0; c < side; ++c) {
                sum[c][0] += now.v[c] * left;
                sum[c][1] += now.v[c] * right;
            }
            now = {now.v + lanes, now.z + wide};
            next = {next.v + lanes, next.z + wide};
        }
#pragma GCC unroll 16
        for (int c = 0; c < side; ++c) {
            Lane::store(sum[c][0], m + c * wide);
            Lane::store(sum[c][1], m + c * wide + lanes);
        }
    }
};

template <int lanes, int rows, int side>
consteval WinogradLoops winograd_loops(const char* name)
{
    using Loops = WinogradLoopsFor<lanes, rows, side>;
    return {name,
            lanes,
            Loops::weights,

            Loops::maps,
            Loops::gradients,
            Loops::products,
            Loops::results,
            Loops::correlate,
            Loops::weights_gradient};
}

}  // namespace roof::kernels

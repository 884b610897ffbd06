// The transforms of Winograd's F(4x4, 3x3), for vectors of `lanes` channels. Included by winograd_loops.hpp alone, for its
// instruction set.
#pragma once

#include "workloads/onednn/loops/lanes.hpp"
#include "workloads/onednn/loops/winograd_isa.hpp"

#include <cstddef>

namespace roof::onednn {

template <int lanes>
class WinogradTransforms {
  public:
    static constexpr int taps = 9;

    /// The upper left corner of a tile's results.
    struct Place {
        int image, row, column;
    };

    static Place place_of(const WinogradMap& map, int t)
    {
        const int across = map.across();
        const int of_image = t % (map.down() * across);
        return {t / (map.down() * across), of_image / across * tile, of_image % across * tile};
    }

    /// Where in its map a tile of this block of channels begins.
    static std::size_t start_of(const WinogradMap& map, const Place& at, int block)
    {
        const std::size_t plane = std::size_t(at.image) * (map.channels / lanes) + block;
        return ((plane * map.height + at.row) * map.width + at.column) * lanes;
    }

    /// `x`: the upper left of 6x6 numbers, lines `line` numbers apart.
    static void source(const float* x, std::size_t line, float* v, std::size_t apart)
    {
        both_ways<span, span>([](const auto& d, auto& t) { source_six(d, t); },
                              [=](int row, int column, Floats& d) { Lane::load(x + row * line + column * lanes, d); },
                              storing(v, apart));
    }

    /// The four columns by which the next tile goes on: no prefetcher sees six short lines coming. Beyond the map it fetches
    /// what is not needed.
    static void fetch_next_source(const float* x, std::size_t line)
    {
#pragma GCC unroll 16
        for (int row = 0; row < span; ++row) {
#pragma GCC unroll 16
            for (int column = span; column < span + tile; ++column) __builtin_prefetch(x + row * line + column * lanes);
        }
    }

    /// `x`: the upper left of the tile's results. Around the map there are zeros.
    static void source_at_edge(const WinogradMap& map, const float* x, const Place& at, float* v, std::size_t apart)
    {
        alignas(64) float padded[points * lanes];
        for (int point = 0; point < points; ++point) {
            const int down = point / span - 1, across = point % span - 1;
            Floats value{};
            if (holds(map, at, down, across))
                Lane::load(x + (std::ptrdiff_t(down) * map.width + across) * lanes, value);
            Lane::store(value, padded + point * lanes);
        }
        source(padded, span * lanes, v, apart);
    }

    /// Also adds the tile's sum to `sums`.
    static void gradient(const WinogradMap& map, const float* dy, const Place& at, float* z, std::size_t apart,
                         float* sums)
    {
        if (is_whole(map, at))
            gradient_of<true>(map, dy, at, z, apart, sums);
        else
            gradient_of<false>(map, dy, at, z, apart, sums);
    }

    /// `block`: of channels, for the bias.
    static void result(const WinogradMap& map, const float* m, std::size_t apart, const Place& at, int block,
                       const WinogradEnd& end, float* y)
    {
        if (is_whole(map, at))
            result_of<true>(map, m, apart, at, block, end, y);
        else
            result_of<false>(map, m, apart, at, block, end, y);
    }

    /// `w`: the nine taps of a vector of outputs, `tap_apart` numbers from one to the next.
    static void weights(const float* w, std::size_t tap_apart, float* u, std::size_t apart)
    {
        both_ways<3, span>([](const auto& g, auto& t) { weights_six(g, t); }, loading(w, 3, tap_apart),
                           storing(u, apart));
    }

    static void weights_gradient(const float* m, std::size_t apart, float* dw, std::size_t tap_apart)
    {
        both_ways<span, 3>(
            [](const auto& t, auto& g) { weights_three(t, g); }, loading(m, span, apart),
            [=](int row, int column, const Floats& g) { Lane::store(g, dw + (row * 3 + column) * tap_apart); });
    }

    /// A block of weights turned over, and outputs and inputs changed: tap [8 - k][o][i] from tap [k][i][o].
    static void turn(const float* w, float* turned)
    {
        for (int tap = 0; tap < taps; ++tap) {
            const float* from = w + (taps - 1 - tap) * lanes * lanes;
            float* to = turned + tap * lanes * lanes;
            for (int o = 0; o < lanes; ++o) {
                for (int i = 0; i < lanes; ++i) to[o * lanes + i] = from[i * lanes + o];
            }
        }
    }

  private:
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;

    static constexpr int tile = winograd_tile;
    static constexpr int span = tile + 2;
    static constexpr int points = winograd_points;

    static bool holds(const WinogradMap& map, const Place& at, int down, int across)
    {
        return at.row + down >= 0 && at.row + down < map.height && at.column + across >= 0 &&
               at.column + across < map.width;
    }

    /// Whether none of the tile's results lies beyond the map.
    static bool is_whole(const WinogradMap& map, const Place& at)
    {
        return at.row + tile <= map.height && at.column + tile <= map.width;
    }

    template <bool whole>
    static void gradient_of(const WinogradMap& map, const float* dy, const Place& at, float* z, std::size_t apart,
                            float* sums)
    {
        Floats sum;
        Lane::load(sums, sum);
        const auto load = [&](int row, int column, Floats& y) {
            y = Floats{};
            if (whole || holds(map, at, row, column))
                Lane::load(dy + (std::size_t(row) * map.width + column) * lanes, y);
            sum += y;
        };
        both_ways<tile, span>([](const auto& y, auto& t) { gradient_six(y, t); }, load, storing(z, apart));
        Lane::store(sum, sums);
    }

    template <bool whole>
    static void result_of(const WinogradMap& map, const float* m, std::size_t apart, const Place& at, int block,
                          const WinogradEnd& end, float* y)
    {
        Floats bias{};
        if (end.bias != nullptr) Lane::load(end.bias + block * lanes, bias);
        const auto store = [&](int row, int column, const Floats& sum) {
            if (!whole && !holds(map, at, row, column)) return;
            Floats value = sum + bias;
            if (end.relu) value = value > 0 ? value : Floats{};
            Lane::store(value, y + (std::size_t(row) * map.width + column) * lanes);
        };
        both_ways<span, tile>([](const auto& t, auto& four) { result_four(t, four); }, loading(m, span, apart), store);
    }

    /// Point (row, column) of a vector whose points lie `apart` numbers from each other.
    static auto storing(float* to, std::size_t apart)
    {
        return
            [=](int row, int column, const Floats& value) { Lane::store(value, to + (row * span + column) * apart); };
    }
    static auto loading(const float* from, int across, std::size_t apart)
    {
        return [=](int row, int column, Floats& value) { Lane::load(from + (row * across + column) * apart, value); };
    }

    /// A tile's transform: of each of the `in` columns, then of each of the `out` rows that result.
    template <int in, int out, class OneWay, class Load, class Store>
    [[gnu::always_inline]] static void both_ways(const OneWay& one_way, const Load& load, const Store& store)
    {
        Floats half[out][in];
#pragma GCC unroll 16
        for (int column = 0; column < in; ++column) {
            Floats given[in], made[out];
#pragma GCC unroll 16
            for (int row = 0; row < in; ++row) load(row, column, given[row]);
            one_way(given, made);
#pragma GCC unroll 16
            for (int row = 0; row < out; ++row) half[row][column] = made[row];
        }
#pragma GCC unroll 16
        for (int row = 0; row < out; ++row) {
            Floats made[out];
            one_way(half[row], made);
#pragma GCC unroll 16
            for (int column = 0; column < out; ++column) store(row, column, made[column]);
        }
    }

    // ---- one way: a column or a row ----
    // The points of evaluation are 0, infinity, +-p and +-q. The textbook's, 1 and 2, err three to four times as much.

    static constexpr float p = 0.625F, q = 1.5F;
    static constexpr float p2 = p * p, q2 = q * q;
    static constexpr float at_0 = 1 / (p2 * q2), at_p = 1 / (2 * p2 * (p2 - q2)), at_q = 1 / (2 * q2 * (q2 - p2));

    [[gnu::always_inline]] static void source_six(const Floats (&d)[span], Floats (&t)[span])
    {
        const Floats even_p = d[4] - q2 * d[2], odd_p = p * (d[3] - q2 * d[1]);
        const Floats even_q = d[4] - p2 * d[2], odd_q = q * (d[3] - p2 * d[1]);
        t[0] = p2 * q2 * d[0] - (p2 + q2) * d[2] + d[4];
        t[1] = even_p + odd_p;
        t[2] = even_p - odd_p;
        t[3] = even_q + odd_q;
        t[4] = even_q - odd_q;
        t[5] = p2 * q2 * d[1] - (p2 + q2) * d[3] + d[5];
    }

    [[gnu::always_inline]] static void result_four(const Floats (&m)[span], Floats (&y)[tile])
    {
        const Floats even_p = m[1] + m[2], odd_p = p * (m[1] - m[2]);
        const Floats even_q = m[3] + m[4], odd_q = q * (m[3] - m[4]);
        y[0] = m[0] + even_p + even_q;
        y[1] = odd_p + odd_q;
        y[2] = p2 * even_p + q2 * even_q;
        y[3] = p2 * odd_p + q2 * odd_q + m[5];
    }

    [[gnu::always_inline]] static void weights_six(const Floats (&g)[3], Floats (&u)[span])
    {
        const Floats even_p = at_p * (g[0] + p2 * g[2]), odd_p = at_p * p * g[1];
        const Floats even_q = at_q * (g[0] + q2 * g[2]), odd_q = at_q * q * g[1];
        u[0] = at_0 * g[0];
        u[1] = even_p + odd_p;
        u[2] = even_p - odd_p;
        u[3] = even_q + odd_q;
        u[4] = even_q - odd_q;
        u[5] = g[2];
    }

    [[gnu::always_inline]] static void gradient_six(const Floats (&y)[tile], Floats (&z)[span])
    {
        const Floats even_p = y[0] + p2 * y[2], odd_p = p * (y[1] + p2 * y[3]);
        const Floats even_q = y[0] + q2 * y[2], odd_q = q * (y[1] + q2 * y[3]);
        z[0] = y[0];
        z[1] = even_p + odd_p;
        z[2] = even_p - odd_p;
        z[3] = even_q + odd_q;
        z[4] = even_q - odd_q;
        z[5] = y[3];
    }

    [[gnu::always_inline]] static void weights_three(const Floats (&u)[span], Floats (&g)[3])
    {
        const Floats even_p = at_p * (u[1] + u[2]), odd_p = at_p * p * (u[1] - u[2]);
        const Floats even_q = at_q * (u[3] + u[4]), odd_q = at_q * q * (u[3] - u[4]);
        g[0] = at_0 * u[0] + even_p + even_q;
        g[1] = odd_p + odd_q;
        g[2] = p2 * even_p + q2 * even_q + u[5];
    }
};

}  // namespace roof::onednn

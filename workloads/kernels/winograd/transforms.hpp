// The transforms of Winograd's F(4x4, 3x3) for vectors of `lanes` channels. Only loops.hpp includes this. Transforms of
// whole tiles are unrolled. Those of tiles that an edge cuts, in the result or the source, take only the rows and
// columns they need.
#pragma once

#include "workloads/kernels/lanes.hpp"
#include "workloads/kernels/winograd/points.hpp"

#include <cstddef>

namespace roof::kernels {

template <int lanes>
class WinogradTransforms {
  public:
    static constexpr int taps = 9;

    /// `x`: the upper left of the tile's results. The map is padded with zeros.
    static void source(const WinogradTiles& order, const float* x, const WinogradPlace& at, float* v, std::size_t apart)
    {
        const std::size_t line = std::size_t(order.width()) * lanes;
        const float* corner = x - line - lanes;
        fetch_points(v + 2 * lanes, apart);
        fetch_next_source(corner, line);
        if (at.row > 0 && at.column > 0 && at.row + tile < order.height() && at.column + tile < order.width()) {
            both_ways<span, span>(
                [](const auto& d, auto& t) { Points::source(d, t); },
                [=](int row, int column, Floats& d) { Lane::load(corner + row * line + column * lanes, d); },
                storing(v, apart));
        } else {
            source_at_edge(order, corner, at, v, apart);
        }
    }

    /// Also adds the tile's sum to `sums`.
    static void gradient(const WinogradTiles& order, const float* dy, const WinogradPlace& at, float* z,
                         std::size_t apart, float* sums)
    {
        const std::size_t line = std::size_t(order.width()) * lanes;
        fetch_points(z + 2 * lanes, apart);
        Floats sum;
        Lane::load(sums, sum);
        const auto load = [&](int row, int column, Floats& y) {
            Lane::load(dy + row * line + column * lanes, y);
            sum += y;
        };
        const auto one_way = [](const auto& y, auto& t) { Points::gradients(y, t); };
        if (is_whole(at))
            both_ways<tile, span>(one_way, load, storing(z, apart));
        else
            some_ways<tile, span>(one_way, {at.rows, at.columns}, load, {at.rows + 2, at.columns + 2},
                                  storing(z, apart));
        Lane::store(sum, sums);
    }

    /// `next`: distance to the next tile. `bias`: of this channel block, or null.
    static void result(const WinogradTiles& order, const float* m, std::size_t next, std::size_t apart,
                       const WinogradPlace& at, const float* bias, bool relu, float* y)
    {
        const std::size_t line = std::size_t(order.width()) * lanes;
        fetch_points(m + next, apart);
        fetch_next_result(y, line);
        Floats offset{};
        if (bias != nullptr) Lane::load(bias, offset);
        const auto store = [=](int row, int column, const Floats& sum) {
            Floats value = sum + offset;
            if (relu) value = value > 0 ? value : Floats{};
            Lane::store(value, y + row * line + column * lanes);
        };
        const auto one_way = [](const auto& t, auto& four) { Points::results(t, four); };
        if (is_whole(at))
            both_ways<span, tile>(one_way, loading(m, span, apart), store);
        else
            some_ways<span, tile>(one_way, {at.rows + 2, at.columns + 2}, loading(m, span, apart),
                                  {at.rows, at.columns}, store);
    }

    /// `w`: the nine taps of a vector of outputs, `tap_apart` numbers apart.
    static void weights(const float* w, std::size_t tap_apart, float* u, std::size_t apart)
    {
        both_ways<3, span>([](const auto& g, auto& t) { Points::weights(g, t); }, loading(w, 3, tap_apart),
                           storing(u, apart));
    }

    static void weights_gradient(const float* m, std::size_t apart, float* dw, std::size_t tap_apart)
    {
        both_ways<span, 3>(
            [](const auto& t, auto& g) { Points::weights_gradient(t, g); }, loading(m, span, apart),
            [=](int row, int column, const Floats& g) { Lane::store(g, dw + (row * 3 + column) * tap_apart); });
    }

    /// Rotates the window and swaps outputs and inputs of a block: tap [8 - k][o][i] from tap [k][i][o].
    static void turn(const float* w, float* turned)
    {
        for (int tap = 0; tap < taps; ++tap)
            Lane::transpose(w + (taps - 1 - tap) * lanes * lanes, turned + tap * lanes * lanes);
    }

  private:
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;
    using Points = WinogradPoints<Floats>;

    static constexpr int tile = winograd_tile;
    static constexpr int span = winograd_span;

    struct Extent {
        int rows, columns;
    };

    static bool is_whole(const WinogradPlace& at) { return at.rows == tile && at.columns == tile; }

    /// Fetches a tile's points, one cache line each.
    static void fetch_points(const float* v, std::size_t apart)
    {
#pragma GCC unroll 4
        for (int point = 0; point < span * span; ++point) __builtin_prefetch(v + point * apart, 1);
    }

    /// Fetches the four new columns of the tile after the next; the hardware does not prefetch six short lines. Beyond
    /// the map the fetched data is not used.
    static void fetch_next_source(const float* corner, std::size_t line)
    {
#pragma GCC unroll 16
        for (int row = 0; row < span; ++row) {
#pragma GCC unroll 16
            for (int column = span + tile; column < span + 2 * tile; ++column)
                __builtin_prefetch(corner + row * line + column * lanes);
        }
    }

    static void fetch_next_result(const float* y, std::size_t line)
    {
#pragma GCC unroll 16
        for (int row = 0; row < tile; ++row) {
#pragma GCC unroll 16
            for (int column = tile; column < 2 * tile; ++column) __builtin_prefetch(y + row * line + column * lanes, 1);
        }
    }

    static void source_at_edge(const WinogradTiles& order, const float* corner, const WinogradPlace& at, float* v,
                               std::size_t apart)
    {
        const int left = at.column > 0 ? 0 : 1, right = at.columns + (at.column + at.columns < order.width() ? 2 : 1);
        const int above = at.row > 0 ? 0 : 1, below = at.rows + (at.row + at.rows < order.height() ? 2 : 1);
        Floats half[span][span] = {};
        for (int column = left; column < right; ++column) {
            Floats given[span] = {}, made[span];
            const float* from = corner + column * lanes;
#pragma GCC unroll 16
            for (int row = 0; row < span; ++row) {
                if (row >= above && row < below)
                    Lane::load(from + std::size_t(row) * order.width() * lanes, given[row]);
            }
            Points::complete(given, at.rows);
            Points::source(given, made);
#pragma GCC unroll 16
            for (int row = 0; row < span; ++row) half[row][column] = made[row];
        }
        for (int row = 0; row < at.rows + 2; ++row) {
            Floats made[span];
            Points::complete(half[row], at.columns);
            Points::source(half[row], made);
#pragma GCC unroll 16
            for (int column = 0; column < span; ++column) {
                if (column < at.columns + 2) Lane::store(made[column], v + (row * span + column) * apart);
            }
        }
    }

    /// Stores point (row, column) of a vector; the points are `apart` numbers apart.
    static auto storing(float* to, std::size_t apart)
    {
        return
            [=](int row, int column, const Floats& value) { Lane::store(value, to + (row * span + column) * apart); };
    }
    static auto loading(const float* from, int across, std::size_t apart)
    {
        return [=](int row, int column, Floats& value) { Lane::load(from + (row * across + column) * apart, value); };
    }

    /// Transforms each of the `in` columns, then each of the `out` rows of the result.
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

    /// The same for a corner of the input, zeros beyond it, and a corner of the result.
    template <int in, int out, class OneWay, class Load, class Store>
    [[gnu::always_inline]] static void some_ways(const OneWay& one_way, const Extent& from, const Load& load,
                                                 const Extent& to, const Store& store)
    {
        Floats half[out][in] = {};
        for (int column = 0; column < from.columns; ++column) {
            Floats given[in] = {}, made[out];
#pragma GCC unroll 16
            for (int row = 0; row < in; ++row) {
                if (row < from.rows) load(row, column, given[row]);
            }
            one_way(given, made);
#pragma GCC unroll 16
            for (int row = 0; row < out; ++row) half[row][column] = made[row];
        }
        for (int row = 0; row < to.rows; ++row) {
            Floats made[out];
            one_way(half[row], made);
#pragma GCC unroll 16
            for (int column = 0; column < out; ++column) {
                if (column < to.columns) store(row, column, made[column]);
            }
        }
    }
};

}  // namespace roof::kernels

// The transforms of Winograd's F(4x4, 3x3) for vectors of `lanes` channels. Only loops.hpp includes this. Transforms of
// whole tiles are unrolled. Those of tiles that an edge cuts, in the result or the source, take only the rows and
// columns they need.
#pragma once

#include "workloads/kernels/lanes.hpp"
#include "workloads/kernels/winograd/tiles.hpp"

#include <cstddef>

namespace roof::kernels {

/// The transforms along one axis: of a column or a row, with a vector of channels at each position.
/// The evaluation points are 0, +-p, +-q and infinity. The usual points 1 and 2 have three to four times the error.
template <class Floats>
class WinogradPoints {
  public:
    static constexpr int tile = winograd_tile;
    static constexpr int span = winograd_span;

    /// Sets the source beyond the first results + 2 numbers so that the points beyond results + 2 vanish.
    [[gnu::always_inline]] static void complete(Floats (&d)[span], int results)
    {
        if (results < 2) d[3] = p2 * d[1];
        if (results < 3) d[4] = p2 * d[2] + q * (d[3] - p2 * d[1]);
        if (results < 4) d[5] = (p2 + q2) * d[3] - p2 * q2 * d[1];
    }

    [[gnu::always_inline]] static void source(const Floats (&d)[span], Floats (&t)[span])
    {
        const Floats even_p = d[4] - q2 * d[2], odd_p = d[3] - q2 * d[1];
        const Floats even_q = d[4] - p2 * d[2], odd_q = d[3] - p2 * d[1];
        t[0] = d[4] - (p2 + q2) * d[2] + p2 * q2 * d[0];
        t[1] = even_p + p * odd_p;
        t[2] = even_p - p * odd_p;
        t[3] = even_q + q * odd_q;
        t[4] = even_q - q * odd_q;
        t[5] = d[5] - (p2 + q2) * d[3] + p2 * q2 * d[1];
    }

    [[gnu::always_inline]] static void results(const Floats (&m)[span], Floats (&y)[tile])
    {
        const Floats even_p = m[1] + m[2], odd_p = m[1] - m[2];
        const Floats even_q = m[3] + m[4], odd_q = m[3] - m[4];
        y[0] = m[0] + even_p + even_q;
        y[1] = p * odd_p + q * odd_q;
        y[2] = p2 * even_p + q2 * even_q;
        y[3] = m[5] + p2 * p * odd_p + q2 * q * odd_q;
    }

    [[gnu::always_inline]] static void weights(const Floats (&g)[3], Floats (&u)[span])
    {
        const Floats even_p = at_p * g[0] + at_p * p2 * g[2], even_q = at_q * g[0] + at_q * q2 * g[2];
        u[0] = at_0 * g[0];
        u[1] = even_p + at_p * p * g[1];
        u[2] = even_p - at_p * p * g[1];
        u[3] = even_q + at_q * q * g[1];
        u[4] = even_q - at_q * q * g[1];
        u[5] = g[2];
    }

    [[gnu::always_inline]] static void gradients(const Floats (&y)[tile], Floats (&z)[span])
    {
        const Floats even_p = y[0] + p2 * y[2], odd_p = y[1] + p2 * y[3];
        const Floats even_q = y[0] + q2 * y[2], odd_q = y[1] + q2 * y[3];
        z[0] = y[0];
        z[1] = even_p + p * odd_p;
        z[2] = even_p - p * odd_p;
        z[3] = even_q + q * odd_q;
        z[4] = even_q - q * odd_q;
        z[5] = y[3];
    }

    [[gnu::always_inline]] static void weights_gradient(const Floats (&u)[span], Floats (&g)[3])
    {
        const Floats even_p = u[1] + u[2], odd_p = u[1] - u[2];
        const Floats even_q = u[3] + u[4], odd_q = u[3] - u[4];
        g[0] = at_0 * u[0] + at_p * even_p + at_q * even_q;
        g[1] = at_p * p * odd_p + at_q * q * odd_q;
        g[2] = u[5] + at_p * p2 * even_p + at_q * q2 * even_q;
    }

  private:
    static constexpr float p = 0.625F, q = 1.5F;
    static constexpr float p2 = p * p, q2 = q * q;
    static constexpr float at_0 = 1 / (p2 * q2), at_p = 1 / (2 * p2 * (p2 - q2)), at_q = 1 / (2 * q2 * (q2 - p2));
};

template <int lanes>
class WinogradTransforms {
  public:
    static constexpr int taps = 9;

    /// `x`: the upper left of the tile's results. The map is padded with zeros.
    template <class Element>
    static void source(const WinogradTiles& order, const Element* x, const WinogradPlace& at, float* v,
                       std::size_t apart)
    {
        const std::size_t line = std::size_t(order.width()) * lanes;
        const Element* corner = x - line - lanes;
        fetch_points(v + 2 * lanes, apart);
        const auto one_way = [](auto& d, auto& t, int points) {
            Points::complete(d, points - 2);
            Points::source(d, t);
        };
        const auto load = [=](int row, int column, Floats& d) { Lane::load(corner + row * line + column * lanes, d); };
        const int above = at.row > 0 ? 0 : 1, left = at.column > 0 ? 0 : 1;
        const int below = at.rows + (at.row + at.rows < order.height() ? 2 : 1);
        const int right = at.columns + (at.column + at.columns < order.width() ? 2 : 1);
        if (above + left == 0 && below == span && right == span)
            both_ways<span, span>(one_way, {span, span}, load, {span, span}, storing(v, apart));
        else
            both_ways<span, span>(
                one_way, {below, right},
                [=](int row, int column, Floats& d) {
                    if (row >= above && column >= left) load(row, column, d);
                },
                {at.rows + 2, at.columns + 2}, storing(v, apart));
    }

    /// Also adds the tile's sum to `sums`.
    template <class Element>
    static void gradient(const WinogradTiles& order, const Element* dy, const WinogradPlace& at, float* z,
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
        const auto one_way = [](const auto& y, auto& t, int) { Points::gradients(y, t); };
        if (is_whole(at))
            both_ways<tile, span>(one_way, {tile, tile}, load, {span, span}, storing(z, apart));
        else
            both_ways<tile, span>(one_way, {at.rows, at.columns}, load, {at.rows + 2, at.columns + 2},
                                  storing(z, apart));
        Lane::store(sum, sums);
    }

    /// `next`: distance to the next tile. `bias`: of this channel block, or null.
    template <class Element>
    static void result(const WinogradTiles& order, const float* m, std::size_t next, std::size_t apart,
                       const WinogradPlace& at, const float* bias, bool relu, Element* y)
    {
        const std::size_t line = std::size_t(order.width()) * lanes;
        fetch_points(m + next, apart);
        Floats offset{};
        if (bias != nullptr) Lane::load(bias, offset);
        const auto store = [=](int row, int column, const Floats& sum) {
            Floats value = sum + offset;
            if (relu) value = value > 0 ? value : Floats{};
            Lane::store(value, y + row * line + column * lanes);
        };
        const auto one_way = [](const auto& t, auto& four, int) { Points::results(t, four); };
        if (is_whole(at))
            both_ways<span, tile>(one_way, {span, span}, loading(m, span, apart), {tile, tile}, store);
        else
            both_ways<span, tile>(one_way, {at.rows + 2, at.columns + 2}, loading(m, span, apart),
                                  {at.rows, at.columns}, store);
    }

    /// `w`: the nine taps of a vector of outputs, `tap_apart` numbers apart.
    static void weights(const float* w, std::size_t tap_apart, float* u, std::size_t apart)
    {
        both_ways<3, span>([](const auto& g, auto& t, int) { Points::weights(g, t); }, {3, 3}, loading(w, 3, tap_apart),
                           {span, span}, storing(u, apart));
    }

    static void weights_gradient(const float* m, std::size_t apart, float* dw, std::size_t tap_apart)
    {
        both_ways<span, 3>(
            [](const auto& t, auto& g, int) { Points::weights_gradient(t, g); }, {span, span}, loading(m, span, apart),
            {3, 3}, [=](int row, int column, const Floats& g) { Lane::store(g, dw + (row * 3 + column) * tap_apart); });
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

    /// Transforms the columns of a corner of the input, zeros beyond it, then the rows that a corner of the result
    /// needs. Constant corners leave no branches. one_way(given, made, n) makes at least n numbers.
    template <int in, int out, class OneWay, class Load, class Store>
    [[gnu::always_inline]] static void both_ways(const OneWay& one_way, const Extent& from, const Load& load,
                                                 const Extent& to, const Store& store)
    {
        Floats half[out][in] = {};
#pragma GCC unroll 16
        for (int column = 0; column < in; ++column) {
            if (column >= from.columns) break;
            Floats given[in] = {}, made[out];
#pragma GCC unroll 16
            for (int row = 0; row < in; ++row) {
                if (row < from.rows) load(row, column, given[row]);
            }
            one_way(given, made, to.rows);
#pragma GCC unroll 16
            for (int row = 0; row < out; ++row) half[row][column] = made[row];
        }
#pragma GCC unroll 16
        for (int row = 0; row < out; ++row) {
            if (row >= to.rows) break;
            Floats made[out];
            one_way(half[row], made, to.columns);
#pragma GCC unroll 16
            for (int column = 0; column < out; ++column) {
                if (column < to.columns) store(row, column, made[column]);
            }
        }
    }
};

}  // namespace roof::kernels

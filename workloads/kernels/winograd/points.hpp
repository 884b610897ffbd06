// Winograd's F(4x4, 3x3) along one axis: a transform of a column or a row, with a vector of channels at each position.
// Only transforms.hpp includes this.
#pragma once

#include "workloads/kernels/winograd/tiles.hpp"

namespace roof::kernels {

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

}  // namespace roof::kernels

// The loops over the weights of a linear layer. Included last by a source file that has chosen its instruction set with a
// pragma: what stands here is compiled for that set, with vectors of `lanes` fp32 numbers and tiles of `images` images. Nothing of
// the standard library is called: a copy of it compiled for this set could end up serving the whole program.
#pragma once

#include "workloads/onednn/loops/lanes.hpp"
#include "workloads/onednn/loops/linear/isa.hpp"
#include "workloads/onednn/settings.hpp"

#include <cstddef>

namespace roof::onednn {

template <int lanes, int side_rows, int images>
class LinearLoopsFor {
  public:
    static void forward(const LinearShape& shape, const Elements& w, const float* x, float* y, Range rows)
    {
        if (w.precision == Precision::bf16)
            forward_rows(shape, w.as<const BFloat16>(), x, y, rows);
        else
            forward_rows(shape, w.as<const float>(), x, y, rows);
    }

    static void backward_data(const LinearShape& shape, const Elements& w, const float* dy, float* dx, Range columns)
    {
        if (w.precision == Precision::bf16)
            backward_columns(shape, w.as<const BFloat16>(), dy, dx, columns);
        else
            backward_columns(shape, w.as<const float>(), dy, dx, columns);
    }

    static void update(const LinearShape& shape, const float* x, const float* dy, float rate,
                       const LinearTrained& trained, Range rows)
    {
        for_chunks(shape, {0, shape.inputs}, [&](const Range& columns, bool fits) {
            Update job{shape, values_of(shape, x, columns, fits), {}, span * (1 + 16 / shape.batch), rate, trained};
            int row = rows.begin;
            for (; row < rows.end; row += row + side_rows <= rows.end ? side_rows : 1) {
                job.dy = factors_of(shape, dy, row);
                if (row + side_rows <= rows.end)
                    update_rows<side_rows>(job, row, columns);
                else
                    update_rows<1>(job, row, columns);
            }
        });
    }

  private:
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;

    static constexpr int side = 4;             ///< vectors on one side of a tile of sums
    static constexpr int span = side * lanes;  ///< columns of that many vectors
    static constexpr int block = 64;           ///< rows that share a stay of dx in registers

    // ---- chunks of columns, whose values of the whole batch stay in L2 while rows of weights go by ----

    /// Values by image: value i of image n is at[n * stride + i].
    struct Values {
        float* at;
        std::ptrdiff_t stride;
    };

    /// Rows a power of two apart would share a few sets of the cache: so the values are copied to lie together, and apart by this.
    static constexpr int gap = 16;

    /// Calls loop(columns, whether their values fit the scratch memory) for all of the range.
    template <class Loop>
    static void for_chunks(const LinearShape& shape, const Range& all, const Loop& loop)
    {
        const int held = (linear_scratch_floats / shape.batch - gap) / span * span;
        const int width = held > 0 ? held : 8 * span;
        for (int begin = all.begin; begin < all.end; begin += width)
            loop(Range{begin, begin + width < all.end ? begin + width : all.end}, held > 0);
    }

    /// The values of these columns, from a copy if they fit.
    static Values values_of(const LinearShape& shape, const float* x, const Range& columns, bool fits)
    {
        if (!fits) return {const_cast<float*>(x) + columns.begin, shape.inputs};
        const int width = columns.end - columns.begin;
        const Values values{linear_scratch(), width + gap};
        for (int n = 0; n < shape.batch; ++n)
            __builtin_memcpy(values.at + n * values.stride, x + std::ptrdiff_t{n} * shape.inputs + columns.begin,
                             sizeof(float) * static_cast<std::size_t>(width));
        return values;
    }

    // ---- forward: each sum runs along a row ----

    template <class Element>
    static void forward_rows(const LinearShape& shape, const Element* w, const float* x, float* y, const Range& rows)
    {
        for_chunks(shape, {0, shape.inputs}, [&](const Range& columns, bool fits) {
            const Values values = values_of(shape, x, columns, fits);
            const int width = columns.end - columns.begin;
            int row = rows.begin;
            for (; row < rows.end; row += row + side_rows <= rows.end ? side_rows : 1) {
                const Element* weights = w + std::ptrdiff_t{row} * shape.row + columns.begin;
                if (row + side_rows <= rows.end)
                    forward_batch<side_rows>(shape, weights, values, y + row, width);
                else
                    forward_batch<1>(shape, weights, values, y + row, width);
            }
        });
    }

    /// While the images go by, the rows after these are asked for, a few with each tile.
    template <int height, class Element>
    static void forward_batch(const LinearShape& shape, const Element* w, const Values& x, float* y, int width)
    {
        const int tiles = (shape.batch + images - 1) / images;
        const int early = (height + tiles - 1) / tiles;
        const Element* next = w + std::ptrdiff_t{height} * shape.row;
        int n = 0;
        for (; n < shape.batch;
             n += n + images <= shape.batch ? images : 1, next += early * std::ptrdiff_t{shape.row}) {
            const Values values{x.at + n * x.stride, x.stride};
            float* to = y + std::ptrdiff_t{n} * shape.outputs;
            if (n + images <= shape.batch)
                forward_tile<height, images>(shape, w, values, to, width, {next, early});
            else
                forward_tile<height, 1>(shape, w, values, to, width, {next, early});
        }
    }

    template <class Element>
    struct Early {
        const Element* rows;
        int count;
    };

    template <int height, int wide, class Element>
    [[gnu::always_inline]] static void forward_tile(const LinearShape& shape, const Element* w, const Values& x,
                                                    float* y, int width, const Early<Element>& early)
    {
        Floats sums[height][wide] = {};
        int i = 0;
        for (; i + lanes <= width; i += lanes) {
            Floats weights[height];
            for (int r = 0; r < early.count; ++r)
                __builtin_prefetch(early.rows + std::ptrdiff_t{r} * shape.row + i, 0, 2);
#pragma GCC unroll 8
            for (int r = 0; r < height; ++r) Lane::load(w + std::ptrdiff_t{r} * shape.row + i, weights[r]);
#pragma GCC unroll 8
            for (int n = 0; n < wide; ++n) {
                Floats value;
                Lane::load(x.at + n * x.stride + i, value);
#pragma GCC unroll 8
                for (int r = 0; r < height; ++r) sums[r][n] += weights[r] * value;
            }
        }
#pragma GCC unroll 8
        for (int n = 0; n < wide; ++n) {
            float* to = y + std::ptrdiff_t{n} * shape.outputs;
#pragma GCC unroll 8
            for (int r = 0; r < height; ++r) to[r] += Lane::sum(sums[r][n]);
            for (int r = 0; r < height; ++r)
                for (int rest = i; rest < width; ++rest)
                    to[r] += widen(w[std::ptrdiff_t{r} * shape.row + rest]) * x.at[n * x.stride + rest];
        }
    }

    // ---- backward data: a tile of dx stays in registers while rows go by ----

    template <class Element>
    static void backward_columns(const LinearShape& shape, const Element* w, const float* dy, float* dx,
                                 const Range& all)
    {
        for_chunks(shape, all, [&](const Range& columns, bool fits) {
            const int width = columns.end - columns.begin;
            const Values values =
                fits ? Values{linear_scratch(), width + gap} : Values{dx + columns.begin, shape.inputs};
            for (int row = 0; row < shape.outputs; row += block) {
                const Range rows{row, row + block < shape.outputs ? row + block : shape.outputs};
                backward_block(shape, w + columns.begin, dy, values, rows, width);
            }
            for (int n = 0; fits && n < shape.batch; ++n)
                __builtin_memcpy(dx + std::ptrdiff_t{n} * shape.inputs + columns.begin, values.at + n * values.stride,
                                 sizeof(float) * static_cast<std::size_t>(width));
        });
    }

    template <class Element>
    static void backward_block(const LinearShape& shape, const Element* w, const float* dy, const Values& dx,
                               const Range& rows, int width)
    {
        int column = 0;
        for (; column + span <= width; column += span)
            backward_batch<side>(shape, w + column, dy, {dx.at + column, dx.stride}, rows);
        for (; column + lanes <= width; column += lanes)
            backward_batch<1>(shape, w + column, dy, {dx.at + column, dx.stride}, rows);
        for (int n = 0; n < shape.batch; ++n) {
            for (int i = column; i < width; ++i) {
                float sum = rows.begin > 0 ? dx.at[n * dx.stride + i] : 0;
                for (int row = rows.begin; row < rows.end; ++row)
                    sum += widen(w[std::ptrdiff_t{row} * shape.row + i]) * dy[std::ptrdiff_t{n} * shape.outputs + row];
                dx.at[n * dx.stride + i] = sum;
            }
        }
    }

    template <int vectors, class Element>
    static void backward_batch(const LinearShape& shape, const Element* w, const float* dy, const Values& dx,
                               const Range& rows)
    {
        int n = 0;
        for (; n + images <= shape.batch; n += images)
            backward_tile<vectors, images>(shape, w, dy + std::ptrdiff_t{n} * shape.outputs,
                                           {dx.at + n * dx.stride, dx.stride}, rows);
        for (; n < shape.batch; ++n)
            backward_tile<vectors, 1>(shape, w, dy + std::ptrdiff_t{n} * shape.outputs,
                                      {dx.at + n * dx.stride, dx.stride}, rows);
    }

    template <int vectors, int wide, class Element>
    [[gnu::always_inline]] static void backward_tile(const LinearShape& shape, const Element* w, const float* dy,
                                                     const Values& dx, const Range& rows)
    {
        Floats sums[wide][vectors] = {};
        if (rows.begin > 0) {
#pragma GCC unroll 8
            for (int n = 0; n < wide; ++n)
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v) Lane::load(dx.at + n * dx.stride + v * lanes, sums[n][v]);
        }
        for (int row = rows.begin; row < rows.end; ++row) {
            const Element* weights = w + std::ptrdiff_t{row} * shape.row;
            Floats weight[vectors];
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) {
                Lane::load(weights + v * lanes, weight[v]);
                __builtin_prefetch(weights + span + v * lanes);
            }
#pragma GCC unroll 8
            for (int n = 0; n < wide; ++n) {
                const float factor = dy[std::ptrdiff_t{n} * shape.outputs + row];
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v) sums[n][v] += weight[v] * factor;
            }
        }
#pragma GCC unroll 8
        for (int n = 0; n < wide; ++n)
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) Lane::store(sums[n][v], dx.at + n * dx.stride + v * lanes);
    }

    // ---- update: a tile of the gradient is made in registers and used there ----

    struct Update {
        const LinearShape& shape;
        Values x;   ///< of the chunk's columns
        Values dy;  ///< of the rows at work
        int ahead;  ///< columns by which memory is asked for early
        float rate;
        const LinearTrained& trained;
    };

    /// The result's gradients of the rows from here on, image by image; together, if there are few enough.
    static Values factors_of(const LinearShape& shape, const float* dy, int row)
    {
        if (shape.batch * side_rows > linear_factors) return {const_cast<float*>(dy) + row, shape.outputs};
        const Values factors{linear_scratch() + linear_scratch_floats, side_rows};
        const int rows = row + side_rows <= shape.outputs ? side_rows : 1;
        for (int n = 0; n < shape.batch; ++n)
            for (int r = 0; r < rows; ++r)
                factors.at[n * side_rows + r] = dy[std::ptrdiff_t{n} * shape.outputs + row + r];
        return factors;
    }

    template <int height>
    static void update_rows(const Update& job, int row, const Range& columns)
    {
        const int width = columns.end - columns.begin;
        const std::ptrdiff_t at = std::ptrdiff_t{row} * job.shape.row + columns.begin;
        int column = 0;
        for (; column + span <= width; column += span) update_tile<height, side>(job, column, at + column);
        for (; column + lanes <= width; column += lanes) update_tile<height, 1>(job, column, at + column);
        for (int r = 0; r < height; ++r)
            for (int i = column; i < width; ++i) update_one(job, r, i, at + std::ptrdiff_t{r} * job.shape.row + i);
    }

    /// `column`: in the chunk; `at`: of the tile's first weight.
    template <int height, int vectors>
    [[gnu::always_inline]] static void update_tile(const Update& job, int column, std::ptrdiff_t at)
    {
        Floats gradient[height][vectors] = {};
        for (int r = 0; r < height; ++r) {
            for (int v = 0; v < vectors; ++v) {
                const std::ptrdiff_t next = at + std::ptrdiff_t{r} * job.shape.row + v * lanes + job.ahead;
                __builtin_prefetch(job.trained.w + next, 1);
                __builtin_prefetch(job.trained.momentum + next, 1);
            }
        }
        for (int n = 0; n < job.shape.batch; ++n) {
            const float* factors = job.dy.at + n * job.dy.stride;
            Floats value[vectors];
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) Lane::load(job.x.at + n * job.x.stride + column + v * lanes, value[v]);
#pragma GCC unroll 8
            for (int r = 0; r < height; ++r)
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v) gradient[r][v] += value[v] * factors[r];
        }
#pragma GCC unroll 8
        for (int r = 0; r < height; ++r)
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v)
                descend(job, at + std::ptrdiff_t{r} * job.shape.row + v * lanes, gradient[r][v]);
    }

    [[gnu::always_inline]] static void descend(const Update& job, std::ptrdiff_t at, const Floats& gradient)
    {
        Floats w;
        Floats m;
        Lane::load(job.trained.w + at, w);
        Lane::load(job.trained.momentum + at, m);
        m = momentum * m + (gradient + weight_decay * w);
        w -= job.rate * m;
        Lane::store(m, job.trained.momentum + at);
        Lane::store(w, job.trained.w + at);
        if (job.trained.copy != nullptr) Lane::store(w, job.trained.copy + at);
    }

    static void update_one(const Update& job, int row, int column, std::ptrdiff_t at)
    {
        float gradient = 0;
        for (int n = 0; n < job.shape.batch; ++n)
            gradient += job.x.at[n * job.x.stride + column] * job.dy.at[n * job.dy.stride + row];
        float& w = job.trained.w[at];
        float& m = job.trained.momentum[at];
        m = momentum * m + (gradient + weight_decay * w);
        w -= job.rate * m;
        if (job.trained.copy != nullptr) narrow(w, job.trained.copy[at]);
    }
};

}  // namespace roof::onednn

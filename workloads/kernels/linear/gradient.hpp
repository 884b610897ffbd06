// dw = dy' x for vectors of `lanes` columns; each sum runs over the batch. A tile, a few rows of a panel of columns, is
// computed in registers and used there. The packed image values stay in the L2 over all rows of weights.
#pragma once

#include "workloads/engine/recipe.hpp"
#include "workloads/kernels/linear/isa.hpp"
#include "workloads/kernels/linear/operands.hpp"

namespace roof::kernels {

/// Stores the gradient.
template <int lanes>
struct Storing {
    using Floats = typename Lanes<lanes>::Floats;

    [[gnu::always_inline]] void expect(std::ptrdiff_t) const {}
    [[gnu::always_inline]] void put(std::ptrdiff_t at, const Floats& gradient) const
    {
        Lanes<lanes>::store(gradient, to + at);
    }
    [[gnu::always_inline]] void put_one(std::ptrdiff_t at, float gradient) const { to[at] = gradient; }

    float* to;
};

/// Updates the weights with the gradient as sgd.cpp defines it, and does not store the gradient.
template <int lanes>
struct Descending {
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;

    [[gnu::always_inline]] void expect(std::ptrdiff_t at) const
    {
        __builtin_prefetch(trained.w + at, 1);
        __builtin_prefetch(trained.momentum + at, 1);
    }
    [[gnu::always_inline]] void put(std::ptrdiff_t at, const Floats& gradient) const
    {
        Floats w;
        Floats m;
        Lane::load(trained.w + at, w);
        Lane::load(trained.momentum + at, m);
        m = engine::momentum * m + (gradient + engine::weight_decay * w);
        w -= rate * m;
        Lane::store(m, trained.momentum + at);
        Lane::store(w, trained.w + at);
        if (trained.copy != nullptr) Lane::store(w, trained.copy + at);
    }
    [[gnu::always_inline]] void put_one(std::ptrdiff_t at, float gradient) const
    {
        float& w = trained.w[at];
        float& m = trained.momentum[at];
        m = engine::momentum * m + (gradient + engine::weight_decay * w);
        w -= rate * m;
        if (trained.copy != nullptr) narrow(w, trained.copy[at]);
    }

    LinearTrained trained;
    float rate;
};

template <int lanes, class Element, Dot dot>
class LinearGradient {
  public:
    static consteval LinearTile held() { return {height, span, 0}; }
    static void store(const LinearShape& shape, const Elements& x, const Elements& dy, float* g, Range rows)
    {
        give(shape, x.as<const Element>(), dy.as<const Element>(), Storing<lanes>{g}, rows);
    }

    static void update(const LinearShape& shape, const Elements& x, const Elements& dy, float rate,
                       const LinearTrained& trained, Range rows)
    {
        give(shape, x.as<const Element>(), dy.as<const Element>(), Descending<lanes>{trained, rate}, rows);
    }

  private:
    using Word = Words<lanes, Element, dot>;
    using Floats = typename Lanes<lanes>::Floats;
    using Vector = typename Word::Vector;

    /// Passes the gradient of these rows of the weights to the sink.
    template <class Sink>
    static void give(const LinearShape& shape, const Element* x, const Element* dy, const Sink& sink, const Range& rows)
    {
        const int words = (shape.batch + each - 1) / each;
        const int held = (linear_scratch_words - words * height) / (words * span) * span;
        const int most = held > 0 ? held : span;
        for (int begin = 0; begin < shape.inputs; begin += most) {
            const Range columns{begin, begin + most < shape.inputs ? begin + most : shape.inputs};
            const int panels = (columns.end - begin + span - 1) / span;
            std::uint32_t* const factors =
                linear_scratch(static_cast<std::size_t>(words * height + panels * words * span));
            std::uint32_t* const values = factors + std::ptrdiff_t{words} * height;
            pack_values(shape, x, columns, values);
            const Chunk chunk{shape, columns, words, factors, values};
            for (int row = rows.begin; row < rows.end; row += height) {
                const int tall = row + height <= rows.end ? height : rows.end - row;
                pack_factors(shape, dy, {row, row + tall}, factors);
                rows_of(chunk, row, tall, sink);
            }
        }
    }

    static constexpr int each = Word::each;
    static constexpr int vectors = 4;
    static constexpr int height = lanes == 16 ? 6 : 2;
    static constexpr int span = vectors * lanes;  ///< columns per panel
    static constexpr int line = 16;               ///< fp32 numbers

    /// `values`: [panel][words of the batch][span]. `factors` of the current rows: [words of the batch][height].
    struct Chunk {
        const LinearShape& shape;
        Range columns;
        int words;
        const std::uint32_t *factors, *values;
    };

    static void pack_values(const LinearShape& shape, const Element* x, const Range& columns, std::uint32_t* to)
    {
        for (int panel = columns.begin; panel < columns.end; panel += span) {
            const int width = panel + span <= columns.end ? span : columns.end - panel;
            for (int n = 0; n < shape.batch; n += each, to += span) {
                const Element* first = x + std::ptrdiff_t{n} * shape.inputs + panel;
                const Element* second = first + shape.inputs;
                const bool has_second = n + 1 < shape.batch;
                for (int c = 0; c < width; ++c) to[c] = Word::word(first[c], has_second ? second[c] : Element{});
                for (int c = width; c < span; ++c) to[c] = 0;
            }
        }
    }

    static void pack_factors(const LinearShape& shape, const Element* dy, const Range& rows, std::uint32_t* to)
    {
        for (int n = 0; n < shape.batch; n += each, to += height) {
            const Element* first = dy + std::ptrdiff_t{n} * shape.outputs;
            const Element* second = first + shape.outputs;
            for (int row = rows.begin; row < rows.begin + height; ++row) {
                const bool is_row = row < rows.end;
                to[row - rows.begin] =
                    is_row ? Word::word(first[row], n + 1 < shape.batch ? second[row] : Element{}) : 0;
            }
        }
    }

    /// The `tall` rows from `row`.
    template <class Sink>
    static void rows_of(const Chunk& chunk, int row, int tall, const Sink& sink)
    {
        const int ahead = span * (1 + 16 / chunk.shape.batch);
        const std::uint32_t* values = chunk.values;
        for (int column = chunk.columns.begin; column < chunk.columns.end;
             column += span, values += std::ptrdiff_t{chunk.words} * span) {
            const std::ptrdiff_t at = std::ptrdiff_t{row} * chunk.shape.row + column;
            const int width = column + span <= chunk.columns.end ? span : chunk.columns.end - column;
            for (int r = 0; r < tall; ++r)
                for (int c = 0; c < span; c += line) sink.expect(at + std::ptrdiff_t{r} * chunk.shape.row + ahead + c);
            if (tall == height && width == span)
                whole_tile(chunk, values, at, sink);
            else
                part_of_tile(chunk, values, at, tall, width, sink);
        }
    }

    /// `at`: offset of the tile's first weight.
    template <class Sink>
    static void whole_tile(const Chunk& chunk, const std::uint32_t* values, std::ptrdiff_t at, const Sink& sink)
    {
        Floats gradient[height][vectors] = {};
        multiply(chunk, values, gradient);
#pragma GCC unroll 8
        for (int r = 0; r < height; ++r)
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v)
                sink.put(at + r * std::ptrdiff_t{chunk.shape.row} + v * lanes, gradient[r][v]);
    }

    template <class Sink>
    static void part_of_tile(const Chunk& chunk, const std::uint32_t* values, std::ptrdiff_t at, int tall, int width,
                             const Sink& sink)
    {
        Floats gradient[height][vectors] = {};
        multiply(chunk, values, gradient);
        for (int r = 0; r < tall; ++r, at += chunk.shape.row) {
            float row[span];
            __builtin_memcpy(row, gradient[r], sizeof row);
            int c = 0;
            for (; c + lanes <= width; c += lanes) sink.put(at + c, gradient[r][c / lanes]);
            for (; c < width; ++c) sink.put_one(at + c, row[c]);
        }
    }

    [[gnu::always_inline]] static void multiply(const Chunk& chunk, const std::uint32_t* values,
                                                Floats (&gradient)[height][vectors])
    {
        const std::uint32_t* factors = chunk.factors;
        for (int word = 0; word < chunk.words; ++word, values += span, factors += height) {
            Vector value[vectors];
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) Word::load(values + v * lanes, value[v]);
#pragma GCC unroll 8
            for (int r = 0; r < height; ++r) {
                Vector factor;
                Word::broadcast(factors + r, factor);
                Lanes<lanes>::hold(factor);
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v) Word::add_product(value[v], factor, gradient[r][v]);
            }
        }
    }
};

}  // namespace roof::kernels

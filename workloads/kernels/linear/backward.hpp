// dx = dy w for vectors of `lanes` sums; each sum follows a column of the weights. A tile of sums of `wide` images and
// a panel's columns stays in registers over a block of rows. The block's part of the panel stays in the L1 over all
// images, and the panel's sums stay in the L2 over all rows.
#pragma once

#include "workloads/kernels/linear/isa.hpp"
#include "workloads/kernels/linear/operands.hpp"

namespace roof::kernels {

template <int lanes, class Element, Dot dot>
class LinearBackward {
  public:
    static consteval LinearTile held() { return {0, span, wide}; }
    static void run(const LinearShape& shape, const Elements& weights, const Elements& gradients, float* dx,
                    Range columns)
    {
        const auto* const w = weights.as<const Element>();
        const auto* const dy = gradients.as<const Element>();
        const int held = (linear_scratch_words - block * shape.batch) / (shape.batch * span) * span;
        const int most = held > 0 ? held : span;
        for (int begin = columns.begin; begin < columns.end; begin += most)
            columns_of(shape, w, dy, dx, {begin, begin + most < columns.end ? begin + most : columns.end});
    }

  private:
    using Word = Words<lanes, Element, dot>;
    using Floats = typename Lanes<lanes>::Floats;
    using Vector = typename Word::Vector;

    static constexpr int each = Word::each;
    static constexpr int vectors = 4;
    static constexpr int wide = lanes == 16 ? 6 : 2;
    static constexpr int span = vectors * lanes;  ///< columns per panel
    static constexpr int block = linear_block;    ///< words per block of rows

    /// `sums`: [panel][image][span], columns as by Word::load_rows(). `factors` of a block of rows: [image][block].
    static void columns_of(const LinearShape& shape, const Element* w, const Element* dy, float* dx,
                           const Range& columns)
    {
        const int panels = (columns.end - columns.begin + span - 1) / span;
        const std::ptrdiff_t panel_floats = std::ptrdiff_t{shape.batch} * span;
        std::uint32_t* const factors =
            linear_scratch(static_cast<std::size_t>(panel_floats * panels + block * shape.batch));
        float* const sums = reinterpret_cast<float*>(factors + std::ptrdiff_t{block} * shape.batch);
        for (int row = 0; row < shape.outputs; row += block * each) {
            const Range rows{row, row + block * each < shape.outputs ? row + block * each : shape.outputs};
            pack(shape, dy, rows, factors);
            for (int panel = 0; panel < panels; ++panel) {
                const int column = columns.begin + panel * span;
                add_panel(shape, w, rows, column, factors, sums + panel * panel_floats);
            }
        }
        for (int panel = 0; panel < panels; ++panel)
            copy_out(shape, sums + panel * panel_floats, dx, columns.begin + panel * span);
    }

    static void pack(const LinearShape& shape, const Element* dy, const Range& rows, std::uint32_t* factors)
    {
        for (int n = 0; n < shape.batch; ++n) {
            const Element* from = dy + std::ptrdiff_t{n} * shape.outputs;
            for (int row = rows.begin; row < rows.end; row += each)
                factors[n * block + (row - rows.begin) / each] =
                    Word::word(from[row], row + 1 < rows.end ? from[row + 1] : Element{});
        }
    }

    /// Adds the products of these rows to the sums of a panel, or initialises the sums.
    static void add_panel(const LinearShape& shape, const Element* w, const Range& rows, int column,
                          const std::uint32_t* factors, float* sums)
    {
        const Element* from = w + std::ptrdiff_t{rows.begin} * shape.row + column;
        const int count = rows.end - rows.begin;
        if (column + span <= shape.inputs)
            return add_rows(shape, from, shape.row, count, factors, sums, rows.begin == 0);
        alignas(64) Element filled[block * each * span] = {};
        for (int r = 0; r < count; ++r)
            __builtin_memcpy(filled + r * span, from + std::ptrdiff_t{r} * shape.row,
                             sizeof(Element) * static_cast<std::size_t>(shape.inputs - column));
        add_rows(shape, filled, span, count, factors, sums, rows.begin == 0);
    }

    /// A row without a partner is paired with itself and a factor of zero.
    static void add_rows(const LinearShape& shape, const Element* w, std::ptrdiff_t apart, int rows,
                         const std::uint32_t* factors, float* sums, bool begins)
    {
        const int words = rows / each;
        const Rows all{w, apart, words, begins};
        for (int n = 0; n < shape.batch; n += images_at(shape, n))
            images<wide>(shape, all, n, factors + n * block, sums);
        if (rows % each == 0) return;
        const Rows last{w + std::ptrdiff_t{words} * each * apart, 0, 1, begins && words == 0};
        for (int n = 0; n < shape.batch; n += images_at(shape, n))
            images<wide>(shape, last, n, factors + n * block + words, sums);
    }

    struct Rows {
        const Element* w;
        std::ptrdiff_t apart;
        int words;
        bool begins;
    };

    /// Prefers tiles of four and four to six and two: a tile with few sums is bound by latency.
    static int images_at(const LinearShape& shape, int n)
    {
        const int left = shape.batch - n;
        if (left == wide + 2 && wide > 4) return 4;
        return left < wide ? left : wide;
    }

    template <int most>
    [[gnu::always_inline]] static void images(const LinearShape& shape, const Rows& rows, int n,
                                              const std::uint32_t* factors, float* sums)
    {
        if constexpr (most > 1) {
            if (images_at(shape, n) < most) return images<most - 1>(shape, rows, n, factors, sums);
        }
        tile<most>(rows, factors, sums + std::ptrdiff_t{n} * span);
    }

    template <int images>
    static void tile(const Rows& rows, const std::uint32_t* factors, float* to)
    {
        Floats sums[images][vectors] = {};
        if (!rows.begins) {
#pragma GCC unroll 8
            for (int n = 0; n < images; ++n)
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v) Lanes<lanes>::load(to + n * span + v * lanes, sums[n][v]);
        }
        const Element* w = rows.w;
        for (int word = 0; word < rows.words; ++word, w += each * rows.apart) {
            Vector weights[vectors];
            Word::load_rows(w, rows.apart, weights);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v)
                __builtin_prefetch(w + v / (vectors / each) * rows.apart + span + v % (vectors / each) * each * lanes);
#pragma GCC unroll 8
            for (int n = 0; n < images; ++n) {
                Vector factor;
                Word::broadcast(factors + n * block + word, factor);
                Lanes<lanes>::hold(factor);
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v) Word::add_product(weights[v], factor, sums[n][v]);
            }
        }
#pragma GCC unroll 8
        for (int n = 0; n < images; ++n)
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) Lanes<lanes>::store(sums[n][v], to + n * span + v * lanes);
    }

    static void copy_out(const LinearShape& shape, const float* sums, float* dx, int column)
    {
        const int width = column + span <= shape.inputs ? span : shape.inputs - column;
        for (int n = 0; n < shape.batch; ++n) {
            alignas(64) float straight[span];
            for (int v = 0; v < vectors; v += 2) Word::straighten(sums + n * span + v * lanes, straight + v * lanes);
            __builtin_memcpy(dx + std::ptrdiff_t{n} * shape.inputs + column, straight,
                             sizeof(float) * static_cast<std::size_t>(width));
        }
    }
};

}  // namespace roof::kernels

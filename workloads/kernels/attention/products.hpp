// Products of two matrices of 32-bit words for the loops of attention, by vectors: a word is one fp32 number, or a pair
// of bf16 numbers that follow one another along the depth.
#pragma once

#include "workloads/kernels/lanes.hpp"

#include <cstddef>

namespace roof::kernels {

struct ProductSize {
    int rows, columns, depth;  ///< columns: whole vectors; depth: words
};

/// Rows of words, `apart` from one to the next.
struct WordRows {
    const float* at;
    std::ptrdiff_t apart;
};

template <int lanes, class Multiply>
class VectorProducts : public Multiply {
  public:
    static constexpr int grain = 1;  ///< rows, columns and words of depth are rounded up to it

    static void begin() {}
    static void end() {}

    /// to = left right, or to += left right, in fp32.
    static void product(const ProductSize& size, const WordRows& left, const WordRows& right, float* to,
                        std::ptrdiff_t apart, bool adds)
    {
        int column = 0;
        for (; column + wide * lanes <= size.columns; column += wide * lanes)
            rows_of<wide>(size, left, {right.at + column, right.apart}, to + column, apart, adds);
        for (; column < size.columns; column += lanes)
            rows_of<1>(size, left, {right.at + column, right.apart}, to + column, apart, adds);
    }

  private:
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;

    static constexpr int tall = 6;
    static constexpr int wide = lanes == 16 ? 4 : 2;  ///< vectors of a tile, for the registers that there are

    template <int vectors>
    static void rows_of(const ProductSize& size, const WordRows& left, const WordRows& right, float* to,
                        std::ptrdiff_t apart, bool adds)
    {
        int row = 0;
        for (; row + tall <= size.rows; row += tall)
            tile<tall, vectors>(size.depth, {left.at + row * left.apart, left.apart}, right, to + row * apart, apart,
                                adds);
        rest<tall - 1, vectors>(size.rows - row, size.depth, {left.at + row * left.apart, left.apart}, right,
                                to + row * apart, apart, adds);
    }

    /// The rows that are left, at most so many, in one tile.
    template <int most, int vectors>
    [[gnu::always_inline]] static void rest(int rows, int depth, const WordRows& left, const WordRows& right, float* to,
                                            std::ptrdiff_t apart, bool adds)
    {
        if constexpr (most > 0) {
            if (rows < most) return rest<most - 1, vectors>(rows, depth, left, right, to, apart, adds);
            tile<most, vectors>(depth, left, right, to, apart, adds);
        }
    }

    template <int rows, int vectors>
    static void tile(int depth, const WordRows& left, const WordRows& right, float* to, std::ptrdiff_t apart, bool adds)
    {
        Floats sums[rows][vectors] = {};
        if (adds) {
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) Lane::load(to + r * apart + v * lanes, sums[r][v]);
        }
        const float* from = right.at;
        for (int k = 0; k < depth; ++k, from += right.apart) {
            Floats words[vectors];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) Lane::load(from + v * lanes, words[v]);
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r) {
                const float factor = left.at[r * left.apart + k];
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) Multiply::add(factor, words[v], sums[r][v]);
            }
        }
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) Lane::store(sums[r][v], to + r * apart + v * lanes);
    }
};

}  // namespace roof::kernels

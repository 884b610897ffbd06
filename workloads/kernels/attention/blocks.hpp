// A block of positions of a head, copied from the tensors into the four forms that the products of loops.hpp read. Each
// form has as many words as the others; a word is an fp32 number or a pair of bf16 numbers along the depth of a
// product:
//   rows [position][words of channels], columns [words of channels][position],
//   pairs [words of positions][channel], turned pairs [channel][words of positions].
#pragma once

#include "workloads/kernels/attention/isa.hpp"
#include "workloads/kernels/lanes.hpp"

namespace roof::kernels {

template <int lanes, class Products>
class AttentionBlocks {
  protected:
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;
    using Words = typename Lane::Words;
    using Number = typename Products::Number;

    static constexpr int block = attention_block;
    static constexpr int numbers = Products::numbers;
    static constexpr int deep = block / numbers;  ///< words of a block's positions

    static constexpr int least(int a, int b) { return a < b ? a : b; }
    static constexpr int whole(int count, int of) { return (count + of - 1) / of * of; }
    /// Channels of all forms of a block, those behind the last zeros.
    static int width(const AttentionShape& shape) { return whole(shape.channels, 16 * numbers); }
    static int positions(const AttentionShape& shape, int b) { return least(block, shape.positions - b * block); }
    /// Words of a product's depth.
    static int words(int count) { return whole(count, numbers * Products::grain) / numbers; }
    /// Columns of a product, in whole vectors and tiles.
    static int columns(int queries)
    {
        constexpr int tile = numbers * Products::grain;
        return whole(queries, tile > lanes ? tile : lanes);
    }

    /// Rows of a block; zeros behind the last position and channel.
    static void read(const AttentionShape& shape, const AttentionMap& from, int b, float* rows)
    {
        if (positions(shape, b) < block || shape.channels < width(shape))
            __builtin_memset(rows, 0, static_cast<std::size_t>(deep * width(shape)) * sizeof(float));
        Number* const to = reinterpret_cast<Number*>(rows);
        if (from.elements.precision == Precision::bf16)
            for_pieces<true, BFloat16>(shape, from, b, to);
        else
            for_pieces<true, float>(shape, from, b, to);
    }
    static void write(const AttentionShape& shape, const AttentionMap& to, int b, float* rows)
    {
        if (to.elements.precision == Precision::bf16)
            for_pieces<false, BFloat16>(shape, to, b, rows);
        else
            for_pieces<false, float>(shape, to, b, rows);
    }

    /// Makes pairs of rows. Pairs of one number are the rows.
    static const float* paired(const float* rows, int wide, float* pairs)
    {
        if constexpr (numbers == 1) {
            return rows;
        } else {
            for (int j = 0; j < deep; ++j) {
                for (int c = 0; c < wide; c += lanes) {
                    const auto* const even = reinterpret_cast<const Number*>(rows) + 2 * j * wide + c;
                    typename Lane::HalfWords low, high;
                    __builtin_memcpy(&low, even, sizeof low);
                    __builtin_memcpy(&high, even + wide, sizeof high);
                    const Words pair =
                        __builtin_convertvector(low, Words) | (__builtin_convertvector(high, Words) << 16);
                    __builtin_memcpy(pairs + j * wide + c, &pair, sizeof pair);
                }
            }
            return pairs;
        }
    }

    /// to[c][r] = from[r][c]
    static void turn(const float* from, int rows, int columns, float* to)
    {
        for (int r = 0; r < rows; r += lanes)
            for (int c = 0; c < columns; c += lanes)
                Lane::transpose(from + r * columns + c, to + c * rows + r, columns, rows);
    }

  private:
    /// Copies the channels of a block's positions, piece by piece of those that lie together.
    template <bool reads, class Element, class Row>
    static void for_pieces(const AttentionShape& shape, const AttentionMap& map, int b, Row* rows)
    {
        const int wide = width(shape), count = positions(shape, b);
        for (int c = 0, end = 0; c < shape.channels; c = end) {
            end = least(shape.channels, c + map.lanes - (map.channel + c) % map.lanes);
            Element* piece = map.at<Element>(b * block, c);
            for (int p = 0; p < count; ++p, piece += map.position) {
                if constexpr (reads)
                    copy(piece, end - c, rows + p * wide + c);
                else
                    copy(rows + p * wide + c, end - c, piece);
            }
        }
    }

    template <class From, class To>
    [[gnu::always_inline]] static void copy(const From* from, int count, To* to)
    {
        int k = 0;
        for (; k + lanes <= count; k += lanes) {
            if constexpr (sizeof(From) == sizeof(To)) {
                __builtin_memcpy(to + k, from + k, lanes * sizeof(To));
            } else {
                Floats some;
                Lane::load(from + k, some);
                Lane::store(some, to + k);
            }
        }
        for (; k < count; ++k) {
            To number;
            narrow(widen(from[k]), number);
            __builtin_memcpy(to + k, &number, sizeof number);
        }
    }
};

}  // namespace roof::kernels

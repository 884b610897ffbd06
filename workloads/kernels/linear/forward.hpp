// y += w x for vectors of `lanes` words; each sum follows a row of the weights. Sums of `height` rows and `wide` images
// stay in registers, the rows in the L1 over all images, and the packed image values in the L2 over all rows.
#pragma once

#include "workloads/kernels/linear/isa.hpp"
#include "workloads/kernels/linear/operands.hpp"

namespace roof::kernels {

template <int lanes, class Element, Dot dot>
class LinearForward {
  public:
    static consteval LinearTile held() { return {height, 0, wide}; }
    static void run(const LinearShape& shape, const Elements& weights, const Elements& values, float* y, Range rows)
    {
        const auto* const w = weights.as<const Element>();
        const auto* const x = values.as<const Element>();
        const int words = shape.inputs / (lanes * each) * lanes;
        const int most = linear_depth(shape.batch, wide) / lanes * lanes;
        for (int begin = 0; begin < words; begin += most) {
            const int count = begin + most < words ? most : words - begin;
            const Chunk chunk{shape, pack(shape, x + begin * each, count), count};
            int row = rows.begin;
            for (; row + height <= rows.end; row += height) rows_of<height>(chunk, w, begin, row, y);
            for (; row < rows.end; ++row) rows_of<1>(chunk, w, begin, row, y);
        }
        add_rest(shape, w, x, y, rows, words * each);
    }

  private:
    using Word = Words<lanes, Element, dot>;
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;
    using Vector = typename Word::Vector;

    static constexpr int each = Word::each;
    static constexpr int height = lanes == 16 ? 8 : 4;
    static constexpr int wide = lanes == 16 ? 3 : 2;

    /// Words of each image: [group of `wide` images][vector of words][image][lanes]
    struct Chunk {
        const LinearShape& shape;
        const std::uint32_t* x;
        int words;
    };

    static int groups(const LinearShape& shape) { return (shape.batch + wide - 1) / wide; }

    static const std::uint32_t* pack(const LinearShape& shape, const Element* x, int words)
    {
        std::uint32_t* const to = linear_scratch(static_cast<std::size_t>(groups(shape) * wide) * words);
        for (int n = 0; n < shape.batch; ++n) {
            std::uint32_t* image = to + static_cast<std::ptrdiff_t>(n / wide * wide) * words + n % wide * lanes;
            const Element* from = x + std::ptrdiff_t{n} * shape.inputs;
            for (int k = 0; k < words; k += lanes, image += wide * lanes, from += lanes * each) {
                Vector packed;
                Word::load_numbers(from, packed);
                __builtin_memcpy(image, &packed, sizeof packed);
            }
        }
        return to;
    }

    /// Rows that are prefetched while a tile is computed.
    struct Early {
        const Element* rows;
        int count;
    };

    /// Prefetches the next rows while it computes the images, a few with each tile.
    template <int tall>
    static void rows_of(const Chunk& chunk, const Element* w, int begin, int row, float* y)
    {
        const LinearShape& shape = chunk.shape;
        const Element* const weights = w + std::ptrdiff_t{row} * shape.row + begin * each;
        const int share = (tall + groups(shape) - 1) / groups(shape);
        for (int n = 0, asked = 0; n < shape.batch; n += wide, asked += share) {
            const int count = asked + share <= tall ? share : asked < tall ? tall - asked : 0;
            const Early early{weights + std::ptrdiff_t{tall + asked} * shape.row, count};
            float* const to = y + std::ptrdiff_t{n} * shape.outputs + row;
            images<tall, wide>(chunk, weights, n, to, early);
        }
    }

    /// The tile of the remaining images, `most` at most.
    template <int tall, int most>
    [[gnu::always_inline]] static void images(const Chunk& chunk, const Element* w, int n, float* y, const Early& early)
    {
        if constexpr (most > 1) {
            if (chunk.shape.batch - n < most) return images<tall, most - 1>(chunk, w, n, y, early);
        }
        tile<tall, most>(chunk, w, chunk.x + std::ptrdiff_t{n} * chunk.words, y, early);
    }

    template <int tall, int images>
    static void tile(const Chunk& chunk, const Element* w, const std::uint32_t* x, float* y, const Early& early)
    {
        const std::ptrdiff_t row = chunk.shape.row;
        Floats sums[images][tall] = {};
        for (int k = 0; k < chunk.words; k += lanes, x += wide * lanes) {
            for (int r = 0; r < early.count; ++r) __builtin_prefetch(early.rows + r * row + k * each, 0, 2);
            Vector values[images];
#pragma GCC unroll 8
            for (int n = 0; n < images; ++n) Word::load(x + n * lanes, values[n]);
#pragma GCC unroll 8
            for (int r = 0; r < tall; ++r) {
                Vector weights;
                Word::load_numbers(w + r * row + k * each, weights);
                Lane::hold(weights);
#pragma GCC unroll 8
                for (int n = 0; n < images; ++n) Word::add_product(weights, values[n], sums[n][r]);
            }
        }
#pragma GCC unroll 8
        for (int n = 0; n < images; ++n) add<tall>(sums[n], y + std::ptrdiff_t{n} * chunk.shape.outputs);
    }

    template <int tall>
    [[gnu::always_inline]] static void add(const Floats (&sums)[tall], float* y)
    {
        if constexpr (tall == 1) {
            y[0] += Lane::sum(sums[0]);
        } else {
#pragma GCC unroll 8
            for (int r = 0; r < tall; r += 4) {
                const Floats of[4] = {sums[r], sums[r + 1], sums[r + 2], sums[r + 3]};
                typename Lane::Four before, more;
                Lane::sums(of, more);
                __builtin_memcpy(&before, y + r, sizeof before);
                before += more;
                __builtin_memcpy(y + r, &before, sizeof before);
            }
        }
    }

    /// Adds the inputs that do not fill a vector.
    static void add_rest(const LinearShape& shape, const Element* w, const Element* x, float* y, const Range& rows,
                         int begin)
    {
        for (int n = 0; n < shape.batch && begin < shape.inputs; ++n) {
            for (int o = rows.begin; o < rows.end; ++o) {
                float sum = 0;
                for (int i = begin; i < shape.inputs; ++i)
                    sum += widen(w[std::ptrdiff_t{o} * shape.row + i]) * widen(x[std::ptrdiff_t{n} * shape.inputs + i]);
                y[std::ptrdiff_t{n} * shape.outputs + o] += sum;
            }
        }
    }
};

}  // namespace roof::kernels

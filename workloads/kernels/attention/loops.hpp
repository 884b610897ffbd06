// Attention of one head by blocks of queries and keys, whose scores stay in the L1; the formulas are in
// engine/layers/attention.cpp. A later block of keys with a larger score scales down what the earlier ones gave. All products are by one
// function, which keeps a tile of sums in registers. As for other loops, a source file selects its instruction set before it includes
// this, and the code calls nothing of the standard library.
#pragma once

#include "workloads/engine/activations.hpp"
#include "workloads/kernels/attention/isa.hpp"
#include "workloads/kernels/lanes.hpp"

#include <cstddef>

namespace roof::kernels {

template <int lanes>
class AttentionLoopsFor {
  public:
    static void forward(const AttentionShape& shape, const AttentionOperands& of, float* results,
                        const AttentionSums& sums, float* scores)
    {
        const int stored = shape.stored();
        for (int query = 0; query < shape.positions; query += block) {
            const int queries = least(block, shape.positions - query);
            float* const to = results + std::ptrdiff_t{query} * stored;
            const int end = shape.causal ? query + queries : shape.positions;
            for (int key = 0; key < end; key += block) {
                product({queries, block, shape.channels}, {of.queries + std::ptrdiff_t{query} * stored, stored, 1},
                        {of.key_columns + key, shape.padded()}, scores, block, false);
                for (int i = 0; i < queries; ++i)
                    weigh(shape, query + i, key, scores + i * block, to + std::ptrdiff_t{i} * stored, sums);
                product({queries, stored, least(block, shape.positions - key)}, {scores, block, 1},
                        {of.values + std::ptrdiff_t{key} * stored, stored}, to, stored, key > 0);
            }
            for (int i = 0; i < queries; ++i) scale(to + std::ptrdiff_t{i} * stored, stored, 1 / sums.total[query + i]);
        }
    }

    static void backward(const AttentionShape& shape, const AttentionOperands& of, const AttentionGiven& given,
                         const AttentionGradients& to, float* scratch)
    {
        const int stored = shape.stored();
        float* const weights = scratch;
        float* const slopes = scratch + block * block;
        for (int key = 0; key < shape.positions; key += block) {
            const int keys = least(block, shape.positions - key);
            const int first = shape.causal ? key : 0;
            const std::ptrdiff_t key_row = std::ptrdiff_t{key} * stored;
            for (int query = first; query < shape.positions; query += block) {
                const int queries = least(block, shape.positions - query);
                const std::ptrdiff_t row = std::ptrdiff_t{query} * stored;
                product({queries, block, shape.channels}, {of.queries + row, stored, 1},
                        {of.key_columns + key, shape.padded()}, weights, block, false);
                product({queries, block, shape.channels}, {given.gradients + row, stored, 1},
                        {of.value_columns + key, shape.padded()}, slopes, block, false);
                for (int i = 0; i < queries; ++i)
                    slope(shape, given, query + i, key, weights + i * block, slopes + i * block);
                product({keys, stored, queries}, {weights, 1, block}, {given.gradients + row, stored},
                        to.values + key_row, stored, query > first);
                product({keys, stored, queries}, {slopes, 1, block}, {of.queries + row, stored}, to.keys + key_row,
                        stored, query > first);
                product({queries, stored, keys}, {slopes, block, 1}, {of.keys + key_row, stored}, to.queries + row,
                        stored, key > 0);
            }
        }
    }

  private:
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;

    static constexpr int block = attention_block;
    static constexpr int tall = 6;
    static constexpr int wide = lanes == 16 ? 4 : 2;  ///< vectors of a tile, for the registers that there are

    static int least(int a, int b) { return a < b ? a : b; }

    /// Keys of the block that the query reads.
    static int keys_of(const AttentionShape& shape, int query, int key)
    {
        const int count = (shape.causal ? query + 1 : shape.positions) - key;
        return least(count, block);
    }
    static void scale(float* row, int count, float by)
    {
#pragma omp simd
        for (int i = 0; i < count; ++i) row[i] *= by;
    }

    /// Makes weights of a query's scores, and scales its sums and its result where the largest score has changed.
    static void weigh(const AttentionShape& shape, int query, int key, float* scores, float* result,
                      const AttentionSums& sums)
    {
        const int keys = keys_of(shape, query, key);
        for (int j = keys; j < block; ++j) scores[j] = 0;
        float largest = key > 0 ? sums.largest[query] : shape.scale * scores[0];
        const float before = largest;
#pragma omp simd reduction(max : largest)
        for (int j = 0; j < keys; ++j) {
            scores[j] *= shape.scale;
            largest = scores[j] > largest ? scores[j] : largest;
        }
        float total = 0;
#pragma omp simd reduction(+ : total)
        for (int j = 0; j < keys; ++j) {
            scores[j] = engine::exponential(scores[j] - largest);
            total += scores[j];
        }
        sums.largest[query] = largest;
        if (key > 0) {
            const float factor = engine::exponential(before - largest);
            total += sums.total[query] * factor;
            if (largest > before) scale(result, shape.stored(), factor);
        }
        sums.total[query] = total;
    }

    /// Makes weights of a query's scores, and slopes of the gradients of its weights.
    static void slope(const AttentionShape& shape, const AttentionGiven& given, int query, int key, float* weights,
                      float* slopes)
    {
        const int keys = keys_of(shape, query, key);
        const float logarithm = given.logarithms[query];
        const float product = given.products[query];
#pragma omp simd
        for (int j = 0; j < keys; ++j) {
            weights[j] = engine::exponential(weights[j] * shape.scale - logarithm);
            slopes[j] = weights[j] * (slopes[j] - product) * shape.scale;
        }
        for (int j = keys; j < block; ++j) weights[j] = slopes[j] = 0;
    }

    struct Size {
        int rows, columns, depth;  ///< columns: whole vectors
    };
    /// Number (row, k) of the left factor is at[row * row_step + k * step].
    struct Left {
        const float* at;
        std::ptrdiff_t row_step, step;
    };
    struct Right {
        const float* at;
        std::ptrdiff_t step;
    };

    /// to = left right, or to += left right.
    static void product(const Size& size, const Left& left, const Right& right, float* to, std::ptrdiff_t apart,
                        bool adds)
    {
        int column = 0;
        for (; column + wide * lanes <= size.columns; column += wide * lanes)
            rows_of<wide>(size, left, {right.at + column, right.step}, to + column, apart, adds);
        for (; column < size.columns; column += lanes)
            rows_of<1>(size, left, {right.at + column, right.step}, to + column, apart, adds);
    }

    template <int vectors>
    static void rows_of(const Size& size, const Left& left, const Right& right, float* to, std::ptrdiff_t apart,
                        bool adds)
    {
        int row = 0;
        for (; row + tall <= size.rows; row += tall)
            tile<tall, vectors>(size.depth, {left.at + row * left.row_step, left.row_step, left.step}, right,
                                to + row * apart, apart, adds);
        rest<tall - 1, vectors>(size.rows - row, size.depth, {left.at + row * left.row_step, left.row_step, left.step},
                                right, to + row * apart, apart, adds);
    }

    /// The rows that are left, at most so many, in one tile.
    template <int most, int vectors>
    [[gnu::always_inline]] static void rest(int rows, int depth, const Left& left, const Right& right, float* to,
                                            std::ptrdiff_t apart, bool adds)
    {
        if constexpr (most > 0) {
            if (rows < most) return rest<most - 1, vectors>(rows, depth, left, right, to, apart, adds);
            tile<most, vectors>(depth, left, right, to, apart, adds);
        }
    }

    template <int rows, int vectors>
    static void tile(int depth, const Left& left, const Right& right, float* to, std::ptrdiff_t apart, bool adds)
    {
        Floats sums[rows][vectors] = {};
        if (adds) {
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) Lane::load(to + r * apart + v * lanes, sums[r][v]);
        }
        const float* from = right.at;
        const float* factors = left.at;
        for (int k = 0; k < depth; ++k, from += right.step, factors += left.step) {
            Floats numbers[vectors];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) Lane::load(from + v * lanes, numbers[v]);
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r) {
                const float factor = factors[r * left.row_step];
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) sums[r][v] += factor * numbers[v];
            }
        }
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) Lane::store(sums[r][v], to + r * apart + v * lanes);
    }
};

template <int lanes>
consteval AttentionLoops attention_loops(const char* name)
{
    using Loops = AttentionLoopsFor<lanes>;
    return {name, Loops::forward, Loops::backward};
}

}  // namespace roof::kernels

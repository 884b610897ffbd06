// Attention of one head by blocks of queries and keys, whose scores stay in the L1; the formulas are in
// engine/layers/attention.cpp. Scores are [key][query], so that a vector has one key of several queries and sums over
// keys need no shuffles. A later block of keys with a much larger score scales down what the earlier ones gave.
//
// All products are those of `Products`, of the forms in blocks.hpp.
// As for other loops, a source file selects its instruction set before it includes this, and the code calls nothing of
// the standard library.
#pragma once

#include "workloads/kernels/attention/blocks.hpp"
#include "workloads/kernels/attention/products.hpp"

namespace roof::kernels {

template <int lanes, class Products>
class AttentionLoopsFor : AttentionBlocks<lanes, Products> {
  public:
    static std::ptrdiff_t scratch(const AttentionShape& shape) { return Scratch(shape, nullptr).count; }
    static std::ptrdiff_t gradients(const AttentionShape& shape) { return 2 * gradients_of_map(shape); }

    static void forward(const AttentionShape& shape, const AttentionTensors& of, int part, int parts, float* memory)
    {
        const Scratch at(shape, memory);
        const int wide = width(shape);
        for (int b = 0; b < shape.blocks(); ++b) {
            read(shape, of.keys, b, at.keys + b * at.size);
            read(shape, of.values, b, at.rows);
            turn(paired(at.rows, wide, at.pairs), deep, wide, at.columns + b * at.size);
        }
        Products::begin();
        for (int b = part; b < shape.blocks(); b += parts) {
            const int queries = positions(shape, b);
            read(shape, of.queries, b, at.rows);
            turn(at.rows, block, wide / numbers, at.query_columns);
            for (int k = 0; k < (shape.causal ? b + 1 : shape.blocks()); ++k) {
                const int keys = words(positions(shape, k));
                scores(shape, at.keys + k * at.size, at.query_columns, queries, k, at.scores);
                hide(shape, b, k, at.scores);
                if (shape.rows > 0) add_rows(shape, of, b, k, at.scores);
                int column = 0;
                for (; column + group * lanes <= columns(queries); column += group * lanes)
                    weigh<group>(shape, keys, k == 0, at, column);
                for (; column < columns(queries); column += lanes) weigh<1>(shape, keys, k == 0, at, column);
                Products::product({shape.channels, columns(queries), keys}, {at.columns + k * at.size, deep},
                                  {at.weights, block}, at.results, block, k > 0);
            }
            for (int i = 0; i < queries; ++i)
                of.logarithms[b * block + i] = at.largest[i] * shape.scale + __builtin_logf(at.total[i]);
            for (int i = 0; i < columns(queries); i += lanes) scale_by_inverse(shape, at, i);
            turn(at.results, wide, block, at.turned);
            write(shape, of.results, b, at.turned);
        }
        Products::end();
    }

    static void backward(const AttentionShape& shape, const AttentionTensors& of, int part, int parts, float* gradients,
                         float* memory)
    {
        const Scratch at(shape, memory);
        const int wide = width(shape);
        float* const to_keys = gradients;
        float* const to_values = gradients + gradients_of_map(shape);
        __builtin_memset(gradients, 0, static_cast<std::size_t>(AttentionLoopsFor::gradients(shape)) * sizeof(float));
        for (int b = 0; b < shape.blocks(); ++b) {
            read(shape, of.keys, b, at.keys + b * at.size);
            read(shape, of.values, b, at.values + b * at.size);
            turn(paired(at.keys + b * at.size, wide, at.pairs), deep, wide, at.columns + b * at.size);
        }
        Products::begin();
        for (int b = part; b < shape.blocks(); b += parts) {
            const int queries = positions(shape, b);
            read(shape, of.results, b, at.rows);
            turn(at.rows, block, wide / numbers, at.query_columns);
            read(shape, of.gradients, b, at.given_rows);
            turn(at.given_rows, block, wide / numbers, at.given_columns);
            for (int i = 0; i < columns(queries); i += lanes) multiply_results(shape, at, i);
            read(shape, of.queries, b, at.rows);
            turn(at.rows, block, wide / numbers, at.query_columns);
            const float* const query_pairs = paired(at.rows, wide, at.pairs);
            const float* const given_pairs = paired(at.given_rows, wide, at.given_pairs);
            for (int i = 0; i < block; ++i) at.largest[i] = i < queries ? of.logarithms[b * block + i] * log2_of_e : 0;
            for (int k = 0; k < (shape.causal ? b + 1 : shape.blocks()); ++k) {
                const int keys = words(positions(shape, k));
                const std::ptrdiff_t rows = std::ptrdiff_t{k} * block * wide;
                scores(shape, at.keys + k * at.size, at.query_columns, queries, k, at.scores);
                hide(shape, b, k, at.scores);
                if (shape.rows > 0) add_rows(shape, of, b, k, at.scores);
                scores(shape, at.values + k * at.size, at.given_columns, queries, k, at.slopes);
                int column = 0;
                for (; column + pair_group * lanes <= columns(queries); column += pair_group * lanes)
                    slope<pair_group>(shape, keys, at, column);
                for (; column < columns(queries); column += lanes) slope<1>(shape, keys, at, column);
                if (shape.rows > 0) sum_rows(shape, of, b, k, reinterpret_cast<const Number*>(at.slope_rows));
                const ProductSize by_keys{positions(shape, k), whole(shape.channels, lanes), words(queries)};
                Products::product(by_keys, {at.weights, deep}, {given_pairs, wide}, to_values + rows, wide, true);
                Products::product(by_keys, {at.slope_rows, deep}, {query_pairs, wide}, to_keys + rows, wide, true);
                Products::product({shape.channels, columns(queries), keys}, {at.columns + k * at.size, deep},
                                  {at.slope_pairs, block}, at.results, block, k > 0);
            }
            turn(at.results, wide, block, at.turned);
            write(shape, of.to_queries, b, at.turned);
        }
        Products::end();
    }

    static void add_parts(const AttentionShape& shape, const AttentionTensors& of, int parts, float* gradients)
    {
        const std::ptrdiff_t count = AttentionLoopsFor::gradients(shape);
        for (int part = 1; part < parts; ++part) {
            for (std::ptrdiff_t k = 0; k < count; k += lanes) {
                Floats sum, share;
                Lane::load(gradients + k, sum);
                Lane::load(gradients + part * count + k, share);
                Lane::store(sum + share, gradients + k);
            }
        }
        for (int b = 0; b < shape.blocks(); ++b) {
            const std::ptrdiff_t rows = std::ptrdiff_t{b} * block * width(shape);
            write(shape, of.to_keys, b, gradients + rows);
            write(shape, of.to_values, b, gradients + gradients_of_map(shape) + rows);
        }
    }

  private:
    using Blocks = AttentionBlocks<lanes, Products>;
    using Blocks::block, Blocks::deep, Blocks::numbers, Blocks::whole;
    using Blocks::columns, Blocks::positions, Blocks::width, Blocks::words;
    using Blocks::paired, Blocks::read, Blocks::turn, Blocks::write;
    using typename Blocks::Lane, typename Blocks::Floats, typename Blocks::Words, typename Blocks::Number;

    static constexpr int group = 4, pair_group = 4 / numbers;  ///< vectors at once
    static constexpr float log2_of_e = 1.44269504F;
    static constexpr float hidden = -1e30F;  ///< a score that weighs nothing

    static std::ptrdiff_t gradients_of_map(const AttentionShape& shape)
    {
        return std::ptrdiff_t{shape.blocks()} * block * width(shape);
    }

    struct Scratch {
        Scratch(const AttentionShape& shape, float* memory) : next_(memory), size(deep * width(shape))
        {
            const std::ptrdiff_t all = shape.blocks() * size, map = std::ptrdiff_t{block} * width(shape);
            for (float** blocks : {&keys, &values, &columns}) *blocks = take(all);
            for (float** one : {&rows, &pairs, &query_columns, &given_rows, &given_pairs, &given_columns})
                *one = take(size);
            for (float** sums : {&results, &turned}) *sums = take(map);
            for (float** square : {&scores, &slopes}) *square = take(block * block);
            for (float** of_queries : {&largest, &total}) *of_queries = take(block);
            weights = scores;
            slope_rows = slope_pairs = slopes;
            if constexpr (numbers > 1)
                for (float** narrow : {&weights, &slope_rows, &slope_pairs}) *narrow = take(block * deep);
        }
        float* take(std::ptrdiff_t words)
        {
            count += words;
            return next_ == nullptr ? nullptr : next_ + count - words;
        }

        float* next_;
        std::ptrdiff_t size;  ///< words of a block
        std::ptrdiff_t count = 0;
        float *keys, *values, *columns;  ///< rows of all blocks, and turned pairs of values or keys
        float *rows, *pairs, *query_columns, *given_rows, *given_pairs, *given_columns;
        float *results, *turned;                    ///< sums [channel][query], [query][channel]
        float *scores, *slopes;                     ///< [key][query]
        float *weights, *slope_rows, *slope_pairs;  ///< words of what replaces them
        float *largest, *total;                     ///< of each query
    };

    /// [key][query]; also of the zeros that fill the last words of keys.
    static void scores(const AttentionShape& shape, const float* rows, const float* of_queries, int queries, int k,
                       float* to)
    {
        Products::product({words(positions(shape, k)) * numbers, columns(queries), words(shape.channels)},
                          {rows, width(shape) / numbers}, {of_queries, block}, to, block, false);
    }

    /// Hides the keys behind the last one, and of the causal ones those behind their query.
    static void hide(const AttentionShape& shape, int b, int k, float* scores)
    {
        const int keys = positions(shape, k);
        for (int i = keys * block; i < words(keys) * numbers * block; ++i) scores[i] = hidden;
        if (!shape.causal || b != k) return;
        for (int j = 1; j < keys; ++j)
            for (int i = 0; i < j; ++i) scores[j * block + i] = hidden;
    }

    /// Calls use(row of the table, the pair's place in a block of scores) for the pairs of a query and a key.
    template <class Use>
    [[gnu::always_inline]] static void for_rows(const AttentionShape& shape, const AttentionTensors& of, int b, int k,
                                                const Use& use)
    {
        for (int i = 0; i < positions(shape, b); ++i) {
            const int* const places =
                of.places + std::ptrdiff_t{b * block + i} * shape.positions + std::ptrdiff_t{k} * block;
            for (int j = 0; j < positions(shape, k); ++j) use(places[j], j * block + i);
        }
    }
    static void add_rows(const AttentionShape& shape, const AttentionTensors& of, int b, int k, float* scores)
    {
        const float inverse = 1 / shape.scale;  // weigh() multiplies all of a score
        for_rows(
            shape, of, b, k, [&](int row, int pair) __attribute__((always_inline)) {
                scores[pair] = row < 0 ? hidden : scores[pair] + of.added[row * of.apart] * inverse;
            });
    }
    static void sum_rows(const AttentionShape& shape, const AttentionTensors& of, int b, int k, const Number* slopes)
    {
        const float inverse = 1 / shape.scale;
        for_rows(
            shape, of, b, k, [&](int row, int pair) __attribute__((always_inline)) {
                if (row >= 0) of.to_added[row] += widen(slopes[pair]) * inverse;
            });
    }

    /// 2^x to 2e-7 of itself for x < 128: 2^n times a polynomial of the rest, with the least largest error. 0 from -127
    /// down.
    [[gnu::always_inline]] static void power(Floats& x)
    {
        constexpr float rounding = 12582912;  // 1.5 * 2^23
        Lane::raise(-127, x);
        const Floats shifted = x + rounding;
        const Floats rest = x - (shifted - rounding);
        Floats sum = rest * 1.32647272e-3F + 9.67151264e-3F;
        sum = sum * rest + 5.55073374e-2F;
        sum = sum * rest + 2.40222421e-1F;
        sum = sum * rest + 6.93146978e-1F;
        sum = sum * rest + 1;
        Words bits, exponent;
        __builtin_memcpy(&bits, &sum, sizeof bits);
        __builtin_memcpy(&exponent, &shifted, sizeof exponent);
        bits += exponent << 23;
        __builtin_memcpy(&x, &bits, sizeof x);
    }

    /// Makes weights of scores, relative to a score near the largest so far; scales the sums where that has changed.
    template <int vectors>
    static void weigh(const AttentionShape& shape, int keys, bool is_first, const Scratch& at, int column)
    {
        const float scale = shape.scale * log2_of_e;
        const float* const scores = at.scores + column;
        Floats base[vectors], total[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) Lane::load(scores + v * lanes, base[v]);
        for (int j = 1; j < keys * numbers; ++j) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                Floats score;
                Lane::load(scores + j * block + v * lanes, score);
                Lane::raise(score, base[v]);
            }
        }
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            total[v] = Floats{};
            if (!is_first) keep_base(shape, at, column + v * lanes, base[v], total[v]);
            Lane::store(base[v], at.largest + column + v * lanes);
            base[v] *= scale;
        }
        for (int j = 0; j < keys; ++j) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                Floats weights[numbers];
#pragma GCC unroll 2
                for (int n = 0; n < numbers; ++n) {
                    Lane::load(scores + (j * numbers + n) * block + v * lanes, weights[n]);
                    weights[n] = weights[n] * scale - base[v];
                    power(weights[n]);
                    total[v] += weights[n];
                }
                if constexpr (numbers > 1) Products::pair(weights[0], weights[1], weights[0]);
                Lane::store(weights[0], at.weights + j * block + column + v * lanes);
            }
        }
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) Lane::store(total[v], at.total + column + v * lanes);
    }

    /// Takes the earlier base unless `base` is so much larger that weights could exceed 2^10. Sets the total so far.
    static void keep_base(const AttentionShape& shape, const Scratch& at, int column, Floats& base, Floats& total)
    {
        const float scale = shape.scale * log2_of_e;
        Floats before;
        Lane::load(at.largest + column, before);
        Lane::load(at.total + column, total);
        base = (base - before) * scale > 10 ? base : before;
        if (Lane::sum(base - before) == 0) return;
        Floats factor = (before - base) * scale;
        power(factor);
        total *= factor;
        for (int c = 0; c < shape.channels; ++c) {
            Floats sums;
            Lane::load(at.results + c * block + column, sums);
            Lane::store(sums * factor, at.results + c * block + column);
        }
    }

    static void scale_by_inverse(const AttentionShape& shape, const Scratch& at, int column)
    {
        Floats total;
        Lane::load(at.total + column, total);
        const Floats inverse = 1 / total;
        for (int c = 0; c < shape.channels; ++c) {
            Floats sums;
            Lane::load(at.results + c * block + column, sums);
            Lane::store(sums * inverse, at.results + c * block + column);
        }
    }

    /// Of each query its result, in query_columns, times the gradient of that.
    static void multiply_results(const AttentionShape& shape, const Scratch& at, int column)
    {
        Floats sum = {};
        for (int w = 0; w < width(shape) / numbers; ++w) {
            Floats result, given;
            Lane::load(at.query_columns + w * block + column, result);
            Lane::load(at.given_columns + w * block + column, given);
            Products::dot(result, given, sum);
        }
        Lane::store(sum * shape.scale, at.total + column);
    }

    /// Makes weights of scores, and slopes of the scores from the gradients of the weights.
    template <int vectors>
    static void slope(const AttentionShape& shape, int keys, const Scratch& at, int column)
    {
        const float scale = shape.scale * log2_of_e;
        Floats logarithm[vectors], product[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            Lane::load(at.largest + column + v * lanes, logarithm[v]);
            Lane::load(at.total + column + v * lanes, product[v]);
        }
        for (int j = 0; j < keys; ++j) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                const int at_column = column + v * lanes;
                Floats slopes[numbers];
#pragma GCC unroll 2
                for (int n = 0; n < numbers; ++n) {
                    const int row = j * numbers + n;
                    Floats weight;
                    Lane::load(at.scores + row * block + at_column, weight);
                    weight = weight * scale - logarithm[v];
                    power(weight);
                    Lane::load(at.slopes + row * block + at_column, slopes[n]);
                    slopes[n] = weight * (slopes[n] * shape.scale - product[v]);
                    Products::store(weight, reinterpret_cast<Number*>(at.weights) + row * block + at_column);
                    Products::store(slopes[n], reinterpret_cast<Number*>(at.slope_rows) + row * block + at_column);
                }
                if constexpr (numbers > 1) {
                    Products::pair(slopes[0], slopes[1], slopes[0]);
                    Lane::store(slopes[0], at.slope_pairs + j * block + at_column);
                }
            }
        }
    }
};

template <int lanes, class Products = VectorProducts<lanes, MultiplyFloats>>
consteval AttentionLoops attention_loops(const char* name)
{
    using Loops = AttentionLoopsFor<lanes, Products>;
    return {name, Loops::scratch, Loops::gradients, Loops::forward, Loops::backward, Loops::add_parts};
}

}  // namespace roof::kernels

// The table of the attention loops, loops.hpp, as compiled for each instruction set.
#pragma once

#include <cstddef>
#include <span>

namespace roof::kernels {

/// Queries, or keys, that are worked on at once.
inline constexpr int attention_block = 64;
/// Numbers of scratch memory: the scores of a block, and their gradients.
inline constexpr std::ptrdiff_t attention_scratch = 2 * attention_block * attention_block;

/// One head of one image. `scale`: of the scores.
struct AttentionShape {
    int positions = 0;
    int channels = 0;
    float scale = 1;
    bool causal = false;

    /// Numbers of a row: the channels, and zeros up to a whole number of vectors of any width.
    int stored() const { return (channels + 15) / 16 * 16; }
    /// Positions of a transposed row, of which those behind the last have any numbers.
    int padded() const { return (positions + attention_block - 1) / attention_block * attention_block; }
    std::ptrdiff_t rows() const { return std::ptrdiff_t{positions} * stored(); }
    std::ptrdiff_t columns() const { return std::ptrdiff_t{channels} * padded(); }
};

/// Rows [position][stored], and keys and values also as columns [channel][padded].
struct AttentionOperands {
    const float* queries = nullptr;
    const float* keys = nullptr;
    const float* values = nullptr;
    const float* key_columns = nullptr;
    const float* value_columns = nullptr;
};

/// Of each query: the largest score, and the sum of the exponentials of the scores less that.
struct AttentionSums {
    float* largest = nullptr;
    float* total = nullptr;
};

/// Of each query: the gradient of its result, the logarithm of its sum of exponentials, and its result times the gradient.
struct AttentionGiven {
    const float* gradients = nullptr;  ///< rows
    const float* logarithms = nullptr;
    const float* products = nullptr;
};

/// Rows.
struct AttentionGradients {
    float* queries = nullptr;
    float* keys = nullptr;
    float* values = nullptr;
};

struct AttentionLoops {
    const char* name;
    /// Writes the rows of results, and the sums. It reads queries, key_columns and values.
    void (*forward)(const AttentionShape& shape, const AttentionOperands& of, float* results, const AttentionSums& sums,
                    float* scratch);
    /// Writes the gradients.
    void (*backward)(const AttentionShape& shape, const AttentionOperands& of, const AttentionGiven& given,
                     const AttentionGradients& to, float* scratch);
};

extern const AttentionLoops attention_sse;
extern const AttentionLoops attention_avx2;
extern const AttentionLoops attention_avx512;

/// The loops that this processor supports, the widest first.
std::span<const AttentionLoops* const> attention_loops_here();

}  // namespace roof::kernels
